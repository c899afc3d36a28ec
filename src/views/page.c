// SPDX-License-Identifier: MIT
// A page in one file: the text with its tokens, a table, and the record of each row as -O json writes it. The script
// draws the records. A browser without scripts shows the text and the table. The Makefile turns out/html/*.css and
// out/html/*.js into two arrays.
#include "base/hash.h"
#include "out/token_text.h"
#include "views/page_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct one_page {
    struct page page;
    struct builder table; // rows of the table that ends the page
    uint32_t sequence;    // hash of the name of the last row's sequence
};

// Writes the name of the row's sequence unless the last row was of the same sequence.
static void sequence_mark(struct one_page *v, const struct record *r)
{
    struct builder *const b = &v->page.columns.dest->text;
    const uint32_t sequence = r->seq ? hash_bytes(r->seq, strlen(r->seq)) : 0;
    if (r->seq && (!v->page.rows || sequence != v->sequence)) {
        builder_string(b, "<span class=\"seq\">");
        html_text(b, text_piece(r->seq), false);
        builder_string(b, "</span>");
    }
    v->sequence = sequence;
}

// Writes the words of an account, or null.
static void page_words(struct dest *d, const char *name, const char *words)
{
    struct builder text = {0};
    account_text(&text, d, words);
    field_begin(d, name);
    if (text.len)
        builder_json_page(&d->text, text.text, text.len);
    else
        builder_string(&d->text, "null");
    d->text.failed = d->text.failed || text.failed;
    builder_free(&text);
}

// Writes what each enabled stage did, as [after, mass, entropy, removed, [id, probability, ...] of the likeliest
// removed tokens, [note, ...], rest or null, words or null], and of the first stage before.
static void stages_members(struct page *p, const struct record *r)
{
    struct dest *const d = p->columns.dest;
    bool first = true;
    if (r->first_choice)
        page_words(d, "grammar", r->first_choice);
    page_list(d, "by");
    for (const struct trace_line *t = r->trace; t < r->trace + r->n_trace; t++) {
        if (!t->enabled)
            continue;
        items_begin(d, NULL);
        field_int(d, NULL, (int64_t)t->after);
        page_number(d, NULL, t->mass);
        page_number(d, NULL, t->entropy);
        field_int(d, NULL, (int64_t)t->n_removed);
        items_begin(d, NULL);
        for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++) {
            page_id(p, t->removed[k].id);
            page_number(d, NULL, (double)t->removed[k].p);
        }
        items_end(d);
        items_begin(d, NULL);
        for (size_t k = 0; k < t->n_notes; k++)
            page_number(d, NULL, t->note[k].value);
        items_end(d);
        field_text_or_null(d, NULL, t->unlisted);
        page_words(d, NULL, t->words);
        if (first)
            field_int(d, NULL, (int64_t)t->before);
        items_end(d);
        first = false;
    }
    items_end(d);
}

// Writes the followed tokens, each as [id, low, high, probability after each step, ...]. If the token is removed, the
// probability is null; the nulls at the end are left out.
static void followed_members(struct page *p, const struct record *r)
{
    struct dest *const d = p->columns.dest;
    page_list(d, "followed");
    for (const struct followed *t = r->followed; t < r->followed + r->n_followed; t++) {
        size_t n = r->n_trace + 1;
        while (n && t->p[n - 1] < 0.0f)
            n--;
        items_begin(d, NULL);
        page_id(p, t->id);
        page_number(d, NULL, t->share.low);
        page_number(d, NULL, t->share.high);
        for (size_t k = 0; k < n; k++)
            page_number(d, NULL, t->p[k] < 0.0f ? NAN : (double)t->p[k]);
        items_end(d);
    }
    items_end(d);
}

// Writes the numbers of a row that concern the whole row, the chosen token and the accepted one.
static void row_members(struct page *p, const struct record *r)
{
    struct dest *const d = p->columns.dest;
    page_list(d, "of");
    page_chain(p, r, NAN);
    items_end(d);
    page_number(d, "entropy_raw", r->stat[STAT_ENTROPY_RAW]);
    page_number(d, "draw", r->stat[STAT_DRAW]);
    page_accepted(p, r);
}

// Writes a row of the table. A long text is cut, between characters.
static void table_row(struct builder *b, struct dest *d, const struct record *r)
{
    enum { BYTES_MOST = 32 };
    struct piece text = token_text(d, r->chosen);
    size_t len = 0;
    builder_format(b, "<tr id=\"r%" PRIu64 "\"><th scope=\"row\">%" PRIu64 "</th><td>", r->row, r->row);
    if (r->error) {
        builder_string(b, "bad row</td><td></td><td></td><td></td><td></td><td></td></tr>\n");
        return;
    }
    for (size_t bytes; len < text.len; len += bytes) {
        text_columns(text.p + len, text.len - len, &bytes);
        if (len + bytes > BYTES_MOST)
            break;
    }
    text.len = len;
    if (text.len) {
        builder_byte(b, '"');
        html_text(b, text, false);
        builder_byte(b, '"');
    } else {
        builder_format(b, "%" PRIu32, r->chosen);
    }
    builder_format(b, "</td><td>%.4f</td><td>%.4f</td><td>", (double)r->chosen_p, r->stat[STAT_RAW_PROB]);
    if (!isnan(r->stat[STAT_RAW_RANK])) // else unlisted tokens may rank before it
        builder_format(b, "%.0f", r->stat[STAT_RAW_RANK]);
    builder_format(b, "</td><td>%zu</td><td>%.3f</td></tr>\n", r->kept, r->entropy);
}

static void page_row(struct one_page *v, const struct record *r)
{
    struct columns *const c = &v->page.columns;
    struct dest *const d = c->dest;
    sequence_mark(v, r);
    table_row(&v->table, d, r);
    page_token(&v->page, r);
    builder_string(&d->text, "<script type=\"application/json\">\n{\"record\":");
    if (r->error) {
        record_json_bad(c, r, "id", NULL);
    } else {
        field_int(d, "row", (int64_t)r->row);
        field_int(d, "id", r->chosen);
        record_end(c, r);
        d->fields = 1; // the record is a member of the row
        page_stages(&v->page, r);
        row_members(&v->page, r);
        stages_members(&v->page, r);
        followed_members(&v->page, r);
        page_names(&v->page);
    }
    fields_end(d, "\n</script>");
}

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct one_page *const v = self;
    const struct record *const r = &s->result->record;
    page_begin(&v->page, r, ENDING_RAN);
    if (v->page.rows < PAGE_ROWS)
        page_row(v, r);
    v->page.rows++;
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct one_page *const v = self;
    struct builder *const b = &v->page.columns.dest->text;
    page_begin(&v->page, NULL, how);
    if (how == ENDING_NO_ROWS)
        return true;
    page_reading_end(&v->page);
    builder_string(b, "<details open id=\"all\">\n<summary>Table of all rows</summary>\n<table>\n"
                      "<thead><tr><th scope=\"col\">row</th><th scope=\"col\">token</th><th scope=\"col\">prob</th>"
                      "<th scope=\"col\">raw prob</th><th scope=\"col\">raw rank</th><th scope=\"col\">kept</th>"
                      "<th scope=\"col\">entropy</th></tr></thead>\n<tbody>\n");
    builder_bytes(b, v->table.text, v->table.len);
    builder_string(b, "</tbody>\n</table>\n</details>\n");
    page_end(&v->page);
    return !v->table.failed || err_from_fault(e, fault_memory());
}

static void page_view_free(void *self)
{
    struct one_page *const v = self;
    builder_free(&v->table);
    page_free(&v->page);
}

const struct view view_page = {.name = "-O html",
                               .size = sizeof(struct one_page),
                               .formats = FORMAT_PAGE,
                               .prepare = columns_open,
                               .needs = NEED_LINES | NEED_STATS | RECORD_ACCEPTED | RECORD_SHOWN | RECORD_FOLLOWED,
                               .row = row,
                               .end = end,
                               .free = page_view_free};
