// SPDX-License-Identifier: MIT
// The texts, names and stages that the rows of a page refer to. Each of them stands in the page once.
#include "out/token_text.h"
#include "trace/trace.h"
#include "views/page_parts.h"

#include <inttypes.h>
#include <math.h>

void page_free(struct page *p)
{
    idmap_free(&p->texts);
    builder_free(&p->new_texts);
    builder_free(&p->reasons);
    builder_free(&p->new_reasons);
    builder_free(&p->stages);
}

void page_id(struct page *p, uint32_t id)
{
    struct dest *const d = p->columns.dest;
    builder_format(&d->text, "%" PRIu32, id);
    const struct piece text = token_text(d, id);
    const size_t known = p->texts.n;
    if (!text.len)
        return;
    if (idmap_add(&p->texts, id) == IDMAP_NONE)
        d->text.failed = true;
    if (p->texts.n == known)
        return;
    builder_format(&p->new_texts, "%s\"%" PRIu32 "\":", p->new_texts.len ? "," : "", id);
    builder_json_page(&p->new_texts, text.p, text.len);
}

size_t page_reason(struct page *p, const char *name)
{
    const size_t len = strlen(name);
    size_t n = 1;
    for (const char *at = p->reasons.text, *end; at && *at; at = end + 1, n++) {
        end = strchr(at, '\n');
        if ((size_t)(end - at) == len && !memcmp(at, name, len))
            return n;
    }
    builder_format(&p->reasons, "%s\n", name);
    builder_string(&p->new_reasons, p->new_reasons.len ? "," : "");
    builder_json_page(&p->new_reasons, name, len);
    return n;
}

void page_number(struct builder *b, double x)
{
    if (isfinite(x))
        builder_format(b, "%.6g", x);
    else
        builder_string(b, "null");
}

// Writes an id and numbers in brackets.
static void numbers(struct page *p, uint32_t id, const double *x, size_t n)
{
    struct builder *const b = &p->columns.dest->text;
    builder_byte(b, '[');
    page_id(p, id);
    for (size_t i = 0; i < n; i++) {
        builder_byte(b, ',');
        page_number(b, x[i]);
    }
    builder_byte(b, ']');
}

void page_chain(struct page *p, const struct record *r, double overlap)
{
    const double *const s = r->stat;
    const double x[] = {s[STAT_PROB], s[STAT_N], s[STAT_ENTROPY], overlap, s[STAT_RAW_PROB], s[STAT_RAW_RANK]};
    numbers(p, r->chosen, x, sizeof x / sizeof *x);
}

void page_accepted(struct page *p, const struct record *r)
{
    const double *const s = r->stat;
    const double x[] = {s[STAT_ACCEPTED_RAW_PROB], s[STAT_ACCEPTED_RAW_RANK], s[STAT_ACCEPTED_PROB]};
    if (!job_accepts(p->columns.job) || !(s[STAT_ACCEPTED] >= 0.0))
        return;
    builder_string(&p->columns.dest->text, ",\"accepted\":");
    numbers(p, (uint32_t)s[STAT_ACCEPTED], x, sizeof x / sizeof *x);
}

// Moves a text to the page, between two others, if it has bytes.
static void move(struct builder *to, const char *before, struct builder *from, char after)
{
    to->failed = to->failed || from->failed;
    if (!from->len)
        return;
    builder_string(to, before);
    builder_bytes(to, from->text, from->len);
    builder_byte(to, after);
    builder_clear(from);
}

void page_names(struct page *p)
{
    struct builder *const b = &p->columns.dest->text;
    b->failed = b->failed || p->reasons.failed;
    move(b, "\n,\"texts\":{", &p->new_texts, '}');
    move(b, "\n,\"reasons\":[", &p->new_reasons, ']');
}

static void stage_shape(struct builder *b, const struct trace_line *t)
{
    char text[NUMBER_TEXT];
    builder_format(b, "{\"name\":\"%s\",\"enabled\":%s,\"params\":{", t->name, t->enabled ? "true" : "false");
    for (size_t i = 0; i < t->n_params; i++)
        builder_format(b, "%s\"%s\":%s", i ? "," : "", t->param[i].name,
                       isfinite(t->param[i].value) ? named_text(&t->param[i], text) : "null");
    builder_string(b, "},\"notes\":[");
    for (size_t i = 0; t->enabled && i < t->n_notes; i++)
        builder_format(b, "%s\"%s\"", i ? "," : "", t->note[i].name);
    builder_string(b, "]}");
}

void page_stages(struct page *p, const struct record *r)
{
    struct builder *const b = &p->columns.dest->text, shape = {0};
    builder_byte(&shape, '[');
    for (size_t i = 0; i < r->n_trace; i++) {
        builder_string(&shape, i ? "," : "");
        stage_shape(&shape, &r->trace[i]);
    }
    builder_byte(&shape, ']');
    if (!builder_whole(&shape)) {
        b->failed = true;
    } else if (!p->stages.len || strcmp(shape.text, p->stages.text) != 0) {
        builder_clear(&p->stages);
        builder_string(&p->stages, shape.text);
        b->failed = b->failed || p->stages.failed;
        builder_format(b, "\n,\"stages\":%s", shape.text);
    }
    builder_free(&shape);
}
