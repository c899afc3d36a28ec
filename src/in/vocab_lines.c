// SPDX-License-Identifier: MIT
// Plain text: the i-th line is the text of token i. \n, \r, \t, \\ and \xHH stand for bytes, so that any token can be written; a whole
// line <0xNN> is that byte, as in SPM vocabularies.
#include "in/vocab_file.h"
#include "vocab/roles.h"
#include "vocab/spelling.h"

#include <string.h>

// Whatever is neither of the other kinds may be lines.
static bool probe_lines(const unsigned char *head, size_t len)
{
    (void)head, (void)len;
    return false;
}

static bool load_lines(struct vocab *v, struct source *s, struct err *e)
{
    const unsigned char *p;
    size_t left;
    if (!source_peek(s, SIZE_MAX, &p, &left, e))
        return false;
    if (memchr(p, '\0', left))
        return err_set(e, STATUS_DATA, "neither GGUF, JSON nor text: there is a NUL byte");
    while (left) {
        const unsigned char *const end = memchr(p, '\n', left);
        const size_t len = end ? (size_t)(end - p) : left;
        if (v->n >= INT32_MAX)
            return err_set(e, STATUS_DATA, "more than %d tokens", INT32_MAX);
        const unsigned type = spelling_is_byte((const char *)p, len) ? TOKEN_BYTE : TOKEN_NORMAL;
        if (!vocab_add_spelt(v, SPELLING_C, type, p, len))
            return err_from_fault(e, fault_memory());
        p += len + (end != NULL);
        left -= len + (end != NULL);
    }
    vocab_finish(v);
    return true;
}

const struct vocab_format vocab_lines = {.probe = probe_lines, .load = load_lines};
