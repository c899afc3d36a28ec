// SPDX-License-Identifier: MIT
#include "in/vocab_file.h"

#include <string.h>

// The last one takes whatever the others leave.
static const struct vocab_format *const formats[] = {&vocab_gguf, &vocab_json, &vocab_lines};

enum { FORMATS = sizeof formats / sizeof *formats };

static const struct vocab_format *choose(const unsigned char *head, size_t len, const char *path)
{
    const char *const dot = strrchr(path, '.');
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->probe(head, len))
            return formats[i];
    for (size_t i = 0; i < FORMATS; i++)
        if (dot && formats[i]->ending && !strcmp(dot, formats[i]->ending))
            return formats[i];
    return formats[FORMATS - 1];
}

static bool load(struct vocab *v, struct source *s, const char *path, struct err *e)
{
    const unsigned char *p;
    size_t have;
    if (!source_peek(s, 64, &p, &have, e))
        return false;
    if (!have)
        return err_set(e, STATUS_DATA, "the vocabulary is empty");
    return choose(p, have < 64 ? have : 64, path)->load(v, s, e);
}

bool vocab_load(struct vocab *v, const char *path, struct err *e)
{
    struct source s;
    vocab_init(v);
    const bool opened = source_open(&s, path, e), ok = opened && load(v, &s, path, e);
    source_close(&s);
    return ok || err_prefix(e, "%s", s.name);
}
