// SPDX-License-Identifier: MIT
// Finds the kind of a vocabulary file. Reads plain text.
#include "in/vocab_file.h"

#include "in/input.h"

#include "vocab/spelling.h"

#include <string.h>

// Reads plain text: line i, from 0, is the text of token i, with the escapes of text_unescape. A line <0xNN> is a byte
// token, as in SPM vocabularies.
static bool load_lines(struct vocab *v, struct source *s, struct err *e)
{
    const char *p;
    size_t len;
    while (source_line(s, SIZE_MAX, &p, &len, e)) {
        if (!p)
            return true;
        if (memchr(p, '\0', len))
            return err_set(e, STATUS_DATA, "neither GGUF, JSON nor text: there is a NUL byte");
        if (v->n >= INT32_MAX)
            return err_set(e, STATUS_DATA, "more than %d tokens", INT32_MAX);
        if (!vocab_add_spelt(v, SPELLING_C, spelling_is_byte(p, len) ? TOKEN_BYTE : TOKEN_NORMAL, p, len))
            return err_from_fault(e, fault_memory());
    }
    return false;
}

static const struct vocab_format vocab_lines = {.load = load_lines};
static const struct vocab_format *const formats[] = {&vocab_gguf, &vocab_json};

// Returns the kind that the content tells, else that of the name's ending, else plain text. A .txt file is never JSON:
// its first line may be a token such as '{'.
static const struct vocab_format *choose(const unsigned char *head, size_t len, const char *path)
{
    const char *const dot = strrchr(path, '.');
    const struct vocab_format *named = &vocab_lines;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i]->probe(head, len) && !(formats[i] == &vocab_json && dot && !strcmp(dot, ".txt")))
            return formats[i];
        if (dot && !strcmp(dot, formats[i]->ending))
            named = formats[i];
    }
    return named;
}

bool vocab_load(struct vocab *v, const char *path, struct err *e)
{
    struct source s;
    const unsigned char *p;
    size_t have;
    vocab_init(v);
    bool ok = source_open(&s, path, e) && source_peek(&s, 64, &p, &have, e) && input_no_pointer(p, have, e);
    const char *const other = ok && !vocab_gguf.probe(p, have) ? input_other_file(p, have) : NULL;
    if (other)
        ok = err_set(e, STATUS_DATA, "this is %s, not a vocabulary", other);
    if (ok)
        ok = have ? choose(p, have < 64 ? have : 64, path)->load(v, &s, e)
                  : err_set(e, STATUS_DATA, "the vocabulary is empty");
    if (ok)
        vocab_finish(v);
    source_close(&s);
    return ok || err_prefix(e, "%s", s.name);
}
