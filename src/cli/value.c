// SPDX-License-Identifier: MIT
#include "cli/value.h"

#include "cli/hint.h"
#include "in/source.h"

#include <stdlib.h>
#include <string.h>

// If *text is @FILE, reads the file: *text and *content become its content, which the caller frees through *content.
static bool list_content(const char *flag, const char **text, char **content, struct err *e)
{
    size_t len;
    if (**text != '@')
        return true;
    if (!file_slurp(*text + 1, 0, content, &len, e))
        return err_prefix(e, "--%s", flag);
    *text = *content;
    return strlen(*content) == len || err_set(e, STATUS_USAGE, "--%s: not a text: there is a NUL byte", flag);
}

// Adds to the error of a list the file that it was read from, or @ if the list is the name of a file. Returns false.
static bool refuse_list(const char *flag, const char *given, struct err *e)
{
    const struct err why = *e; // "--FLAG: CAUSE"
    if (*given == '@' && why.status == STATUS_USAGE)
        err_set(e, STATUS_USAGE, "--%s: %s%s", flag, given + 1, why.text + strlen("--") + strlen(flag));
    return hint_file(given, "@", e);
}

bool value_ids(const char *flag, const char *text, int64_t least, struct ids *ids, struct err *e)
{
    char *content = NULL;
    const char *const given = text;
    const bool ok = list_content(flag, &text, &content, e) && ids_read(flag, text, least, ids, e);
    free(content);
    return ok || refuse_list(flag, given, e);
}

// Adds a row, or the rows A:B. The row -1 alone is the range from -1 to the end of the input.
static bool add_rows(const char *flag, const char *text, size_t len, struct rows *rows, struct err *e)
{
    const char *const end = text + len, *const colon = memchr(text, ':', len);
    int64_t first = 0, last = ROWS_OPEN;
    bool ok = len;
    if (!colon || colon > text)
        ok = whole_number(text, colon ? colon : end, INT64_MIN, INT64_MAX, &first) && (colon || first < INT64_MAX);
    if (colon && colon + 1 < end)
        ok = ok && whole_number(colon + 1, end, INT64_MIN, INT64_MAX, &last);
    if (ok && !colon && first != -1)
        last = first + 1;
    if (!ok)
        return err_set(e, STATUS_USAGE, "--%s: '%.*s' is neither a row nor A:B with whole numbers", flag,
                       err_clip_part(text, len, 40), text);
    return rows_add(rows, first, last) || err_from_fault(e, fault_memory());
}

bool value_rows(const char *flag, const char *text, struct rows *rows, struct err *e)
{
    const char *item;
    size_t len;
    char *content = NULL;
    const char *const given = text;
    bool ok = *text ? list_content(flag, &text, &content, e) : add_rows(flag, text, 0, rows, e);
    while (ok && list_next(&text, &item, &len))
        ok = add_rows(flag, item, len, rows, e);
    free(content);
    return ok || refuse_list(flag, given, e);
}
