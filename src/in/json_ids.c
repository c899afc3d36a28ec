// SPDX-License-Identifier: MIT
// Arrays of token ids.
#include "base/mem.h"
#include "in/json_text.h"

#include <string.h>

enum { ID_MAX = 40 }; // characters looked at; an id has at most ten

int64_t json_id(const char *p, const char *stop)
{
    int64_t id = 0;
    if (p == stop || (*p == '0' && stop - p > 1))
        return -1;
    for (; p < stop; p++) {
        if (*p < '0' || *p > '9')
            return -1;
        id = id * 10 + (*p - '0');
        if (id > INT32_MAX)
            return -1;
    }
    return id;
}

// One element. As with other numbers, more input is asked for only when what is in view may be cut off.
static bool id(struct json_text *t, size_t index, uint32_t *x, struct err *e)
{
    for (size_t want = 1;; want++) {
        if (!json_view(t, want, e))
            return false;
        const size_t have = (size_t)(t->end - t->p), most = have < ID_MAX ? have : ID_MAX;
        size_t len = 0;
        while (len < most && t->p[len] && strchr("+-.0123456789Ee", t->p[len]))
            len++;
        if (!len && have)
            return json_syntax(t, "a token id", e);
        if (len == have && have >= want && len < ID_MAX) {
            want = have;
            continue;
        }
        if (!len)
            return json_syntax(t, "a token id", e);
        const int64_t v = json_id(t->p, t->p + len);
        if (v < 0)
            return err_set(e, STATUS_DATA, "ids: element %zu, '%.*s', is not a whole number from 0 to 2147483647", index,
                           (int)len, t->p);
        t->p += len;
        *x = (uint32_t)v;
        return true;
    }
}

bool json_read_ids(struct json_text *t, struct json_ids *a, struct err *e)
{
    char c;
    a->n = 0;
    t->p++;
    if (!json_next_byte(t, &c, e))
        return false;
    for (bool more = c != ']'; more; more = c == ',') {
        if (a->n >= INT32_MAX)
            return err_set(e, STATUS_DATA, "the row is wider than %d", INT32_MAX);
        if (!mem_grow(&a->id, &a->cap, a->n + 1, sizeof *a->id))
            return err_from_fault(e, fault_memory());
        if (!json_next_byte(t, &c, e) || !id(t, a->n, &a->id[a->n], e) || !json_next_byte(t, &c, e))
            return false;
        a->n++;
        if (c != ',' && c != ']')
            return json_syntax(t, "',' or ']'", e);
        t->p += c == ',';
    }
    t->p++;
    return true;
}
