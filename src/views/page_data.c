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
    field_int(d, NULL, id);
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

void page_number(struct dest *d, const char *name, double x)
{
    if (!field_begin(d, name))
        return;
    if (isfinite(x))
        builder_format(&d->text, "%.6g", x);
    else
        builder_string(&d->text, "null");
}

void page_list(struct dest *d, const char *name)
{
    builder_byte(&d->text, '\n');
    items_begin(d, name);
}

// Writes a list of an id and numbers.
static void numbers(struct page *p, const char *name, uint32_t id, const double *x, size_t n)
{
    struct dest *const d = p->columns.dest;
    items_begin(d, name);
    page_id(p, id);
    for (size_t i = 0; i < n; i++)
        page_number(d, NULL, x[i]);
    items_end(d);
}

void page_chain(struct page *p, const struct record *r, double overlap)
{
    const double *const s = r->stat;
    const double x[] = {s[STAT_PROB], s[STAT_N], s[STAT_ENTROPY], overlap, s[STAT_RAW_PROB], s[STAT_RAW_RANK]};
    numbers(p, NULL, r->chosen, x, sizeof x / sizeof *x);
}

void page_accepted(struct page *p, const struct record *r)
{
    const double *const s = r->stat;
    const double x[] = {s[STAT_ACCEPTED_RAW_PROB], s[STAT_ACCEPTED_RAW_RANK], s[STAT_ACCEPTED_PROB],
                        s[STAT_LOST] > 0.0};
    if (job_accepts(p->columns.job) && s[STAT_ACCEPTED] >= 0.0)
        numbers(p, "accepted", (uint32_t)s[STAT_ACCEPTED], x, sizeof x / sizeof *x);
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

static void stage_shape(struct dest *d, const struct trace_line *t)
{
    object_begin(d, NULL);
    field_text(d, "name", t->name, true);
    field_bool(d, "enabled", t->enabled);
    object_begin(d, "params");
    for (size_t i = 0; i < t->n_params; i++)
        field_named(d, t->param[i].name, &t->param[i]);
    object_end(d);
    items_begin(d, "notes");
    for (size_t i = 0; t->enabled && i < t->n_notes; i++)
        field_text(d, NULL, t->note[i].name, true);
    items_end(d);
    object_end(d);
}

void page_stages(struct page *p, const struct record *r)
{
    struct dest *const d = p->columns.dest;
    struct builder *const b = &d->text, *const last = &p->stages;
    const size_t begin = b->len;
    page_list(d, "stages");
    for (size_t i = 0; i < r->n_trace; i++)
        stage_shape(d, &r->trace[i]);
    items_end(d);
    const size_t len = b->len - begin;
    if (!builder_whole(b))
        return;
    if (last->len == len && !memcmp(last->text, b->text + begin, len)) {
        b->text[b->len = begin] = '\0';
        return;
    }
    builder_clear(last);
    builder_bytes(last, b->text + begin, len);
    b->failed = last->failed;
}
