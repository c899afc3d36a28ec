// SPDX-License-Identifier: MIT
#include "schema/emit.h"

#include "schema/pattern.h"

#include <string.h>

static bool emit_format(struct conv *c, const struct facts *f, struct text *to)
{
    static const struct {
        const char *name;
        enum primitive p;
    } formats[] = {{"date", P_DATE}, {"time", P_TIME}, {"date-time", P_DATETIME}, {"uuid", P_UUID}};
    const char *const name = keyword(f->format->node, "format")->valuestring;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name)) {
            if (f->length_from)
                return conv_fail(c, SCHEMA_TOGETHER, f->length_from->at, f->length_word, "format");
            rule_primitive(c, to, formats[i].p);
            return true;
        }
    return conv_fail(c, SCHEMA_FORMAT, f->format->at, "format", name);
}

static bool blame_pattern(struct conv *c, const struct pattern *p, const struct member *m, const char *text)
{
    char part[80] = "";
    if (p->code == SCHEMA_MEMORY)
        return conv_memory(c);
    memcpy(part, text + p->trouble_at, p->trouble_len < sizeof part ? p->trouble_len : sizeof part - 1);
    return conv_fail(c, p->code, m->at, "pattern", part);
}

// A pattern and the lengths that are asked for beside it.
static bool emit_bounded(struct conv *c, const struct facts *f, const struct pattern *p, const struct place *at, struct text *to)
{
    const uint64_t min = p->shortest > f->min_length ? p->shortest : f->min_length;
    const uint64_t max = p->longest < f->max_length ? p->longest : f->max_length;
    const bool bound = min > p->shortest || max < p->longest;
    if (min > max)
        return conv_fail(c, SCHEMA_NOTHING, at, NULL, "");
    if (bound && !p->single)
        return conv_fail(c, SCHEMA_TOGETHER, f->length_from->at, f->length_word, "pattern");
    if (bound) {
        text_repeat(to, p->one.p ? p->one.p : "", min, max);
        to->failed = to->failed || p->one.failed;
    } else {
        text_append(to, &p->body);
    }
    return true;
}

static bool emit_pattern(struct conv *c, const struct facts *f, const struct place *at, struct text *to)
{
    const char *const text = keyword(f->pattern->node, "pattern")->valuestring;
    struct pattern p;
    bool ok = pattern_read(&p, text) || blame_pattern(c, &p, f->pattern, text);
    if (ok && f->format)
        ok = conv_fail(c, SCHEMA_TOGETHER, f->pattern->at, "pattern", "format");
    text_string(to, "(");
    ok = ok && emit_bounded(c, f, &p, at, to);
    text_string(to, ")");
    pattern_free(&p);
    return ok;
}

bool emit_string(struct conv *c, const struct facts *f, const struct place *at, struct text *to)
{
    bool ok = true;
    if (!f->pattern && !f->format && !f->length_from) {
        rule_primitive(c, to, P_STRING);
        return true;
    }
    text_string(to, "\"\\\"\" ");
    if (f->pattern) {
        ok = emit_pattern(c, f, at, to);
    } else if (f->format) {
        ok = emit_format(c, f, to);
    } else {
        struct text one = {0};
        rule_primitive(c, &one, P_CHAR);
        text_repeat(to, one.p ? one.p : "", f->min_length, f->max_length);
        to->failed = to->failed || one.failed;
        text_free(&one);
    }
    text_string(to, " \"\\\"\" ");
    rule_primitive(c, to, P_SPACE);
    return ok;
}
