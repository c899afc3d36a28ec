// SPDX-License-Identifier: MIT
// A page to look at, in one file: the text with its tokens, a table, and each row's record as -O json has it, for the script to draw. It reads
// without the script, too. Style and script are html/page.css and html/page.js, which the Makefile makes into the two arrays.
#include "out/html.h"

#include "base/hash.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

extern const unsigned char page_css[], page_js[];
extern const size_t page_css_len, page_js_len;

// What the table at the end says of the rows above it, the first PAGE_ROWS of all.
struct page {
    uint64_t rows;
    uint32_t sequence; // of the last row: a hash of its name
    struct page_row {
        uint64_t row;
        uint32_t id;
        bool bad;
        unsigned char text[32],
            len; // the beginning of what the token says, as texts may be those of one row; 0: there is none
        size_t kept;
        float prob;
        double raw_prob, raw_rank, entropy;
    } row[PAGE_ROWS];
};

struct page *html_page(void)
{
    return calloc(1, sizeof(struct page));
}

// ---- parts

void html_begin(struct output *out)
{
    FILE *const f = out->f;
    const struct piece title = text_piece(out->title);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          f);
    text_put_html(f, title, false);
    fputs(" \xe2\x80\x93 sampl</title>\n<style>\n", f);
    fwrite(page_css, 1, page_css_len, f);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", f);
    text_put_html(f, title, false);
    fputs("</h1>\n", f);
}

void html_end(const struct output *out)
{
    fputs("</main>\n<script>\n", out->f);
    fwrite(page_js, 1, page_js_len, out->f);
    fputs("</script>\n</body>\n</html>\n", out->f);
}

void html_text_begin(const struct output *out)
{
    fputs(
        "<section id=\"reading\" aria-labelledby=\"reading-head\">\n<h2 id=\"reading-head\">Text</h2>\n<div id=\"text\">",
        out->f);
}

// The step of a token's tint: none where it was likely.
static int tint(double p)
{
    static const double below[] = {0.5, 0.2, 0.08, 0.03, 0.01};
    int step = 0;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        step += p < below[i];
    return step;
}

void html_text_token(const struct output *out, const struct record *r, double raw_p)
{
    const struct piece text = out->vocab ? vocab_text(out->vocab, r->chosen) : (struct piece){0};
    if (out->variants)
        fputs("<a class=\"", out->f);
    else
        fprintf(out->f, "<a href=\"#r%" PRIu64 "\" class=\"", r->row);
    if (r->error)
        fputs("bad\">[bad row]", out->f);
    else if (!text.len)
        fprintf(out->f, "t%d id\">%" PRIu32, tint(raw_p), r->chosen);
    else
        fprintf(out->f, "t%d\">", tint(raw_p));
    if (!r->error)
        text_put_html(out->f, text, true);
    fputs("</a>", out->f);
}

void html_text_end(const struct output *out, uint64_t rows)
{
    fputs("</div>\n", out->f);
    if (rows > PAGE_ROWS)
        fprintf(out->f, "<p class=\"note\">The first %d of %" PRIu64 " rows; <code>--rows</code> chooses others.</p>\n",
                PAGE_ROWS, rows);
    if (!rows)
        fputs("<p class=\"note\">There are no rows.</p>\n", out->f);
    fputs("</section>\n", out->f);
}

// ---- the page of one chain

static void put_chain(const struct output *out, const struct record *r)
{
    char text[NUMBER_TEXT];
    fputs("<ol class=\"chain\" aria-label=\"The chain\">", out->f);
    for (size_t i = 0; i < r->n_trace; i++) {
        const struct trace_line *const t = &r->trace[i];
        if (!t->enabled)
            continue;
        fprintf(out->f, "<li>%s", t->name);
        if (t->n_params)
            fprintf(out->f, " <b>%s</b>", named_text(t->param, text));
        fputs("</li> ", out->f);
    }
    fputs("</ol>\n", out->f);
}

static void begin_text(struct output *out, const struct record *r)
{
    if (r && r->n_trace)
        put_chain(out, r);
    fputs("</header>\n<main class=\"plain\">\n", out->f);
    html_text_begin(out);
}

// Where another sequence goes on, it says so.
static void put_sequence(const struct output *out, const struct record *r)
{
    const uint32_t sequence = r->seq ? hash_bytes(r->seq, strlen(r->seq)) : 0;
    if (r->seq && (!out->page->rows || sequence != out->page->sequence)) {
        fputs("<span class=\"seq\">", out->f);
        text_put_html(out->f, text_piece(r->seq), false);
        fputs("</span>", out->f);
    }
    out->page->sequence = sequence;
}

static void put_statistics(const struct output *out, const struct record *r)
{
    char x[NUMBER_TEXT];
    fputs(",\"stats\":{", out->f);
    for (enum statistic i = 0; i < record_stats(out); i++)
        fprintf(out->f, "%s\"%s\":%s", i ? "," : "", statistic_name(i),
                isfinite(r->stat[i]) ? number_text_wide(r->stat[i], x) : "null");
    putc('}', out->f);
}

// The tokens that are followed: each as [id, text, low, high, the probabilities from step to step], null where it is gone.
static void put_followed(const struct output *out, const struct record *r)
{
    char x[NUMBER_TEXT];
    fputs("\n,\"followed\":[", out->f);
    for (size_t i = 0; i < r->n_followed; i++) {
        const struct followed *const t = &r->followed[i];
        fprintf(out->f, "%s[%" PRIu32 ",", i ? "," : "", t->id);
        output_string(out, out->f, out->vocab ? vocab_text(out->vocab, t->id) : (struct piece){0});
        fprintf(out->f, ",%.9g,%.9g,[", t->share.low, t->share.high);
        for (size_t k = 0; k <= r->n_trace; k++)
            fprintf(out->f, "%s%s", k ? "," : "",
                    t->p[k] < 0.0f ? "null" : (snprintf(x, sizeof x, "%.6g", (double)t->p[k]), x));
        fputs("]]", out->f);
    }
    putc(']', out->f);
}

// As many whole characters of the token's text as there is room for.
static void keep_text(const struct output *out, struct page_row *row, uint32_t token)
{
    const struct piece text = out->vocab ? vocab_text(out->vocab, token) : (struct piece){0};
    uint32_t point;
    for (size_t n; row->len < text.len; row->len = (unsigned char)(row->len + n)) {
        n = utf8_decode(text.p + row->len, text.len - row->len, &point);
        n += !n;
        if (row->len + n > sizeof row->text)
            return;
        memcpy(row->text + row->len, text.p + row->len, n);
    }
}

static void put_row(struct output *out, const struct record *r)
{
    struct page *const page = out->page;
    if (!page->rows)
        begin_text(out, r);
    if (page->rows < PAGE_ROWS) {
        put_sequence(out, r);
        page->row[page->rows] = (struct page_row){.row = r->row, .bad = true};
        if (!r->error)
            page->row[page->rows] = (struct page_row){.row = r->row,
                                                      .id = r->chosen,
                                                      .kept = r->kept,
                                                      .prob = r->chosen_p,
                                                      .raw_prob = r->stat[STAT_RAW_PROB],
                                                      .raw_rank = r->stat[STAT_RAW_RANK],
                                                      .entropy = r->entropy};
        if (!r->error)
            keep_text(out, &page->row[page->rows], r->chosen);
        html_text_token(out, r, r->error ? 0.0 : r->stat[STAT_RAW_PROB]);
        fputs("<script type=\"application/json\">\n{\"record\":", out->f);
        if (r->error)
            output_json.bad(out, r);
        else
            output_json.dump(out, r);
        if (!r->error) {
            put_statistics(out, r);
            put_followed(out, r);
        }
        fputs("}\n</script>", out->f);
    }
    page->rows++;
}

static void put_table(const struct output *out)
{
    const struct page *const page = out->page;
    FILE *const f = out->f;
    fputs(
        "<details open id=\"all\">\n<summary>Table of all rows</summary>\n<table>\n<thead><tr><th scope=\"col\">row</th>"
        "<th scope=\"col\">token</th><th scope=\"col\">prob</th><th scope=\"col\">raw prob</th><th scope=\"col\">raw rank</th>"
        "<th scope=\"col\">kept</th><th scope=\"col\">entropy</th></tr></thead>\n<tbody>\n",
        f);
    for (size_t i = 0; i < page->rows && i < PAGE_ROWS; i++) {
        const struct page_row *const r = &page->row[i];
        fprintf(f, "<tr id=\"r%" PRIu64 "\"><th scope=\"row\">%" PRIu64 "</th><td>", r->row, r->row);
        if (r->bad) {
            fputs("bad row</td><td></td><td></td><td></td><td></td><td></td></tr>\n", f);
            continue;
        }
        if (r->len) {
            putc('"', f);
            text_put_html(f, (struct piece){r->text, r->len}, false);
            putc('"', f);
        } else {
            fprintf(f, "%" PRIu32, r->id);
        }
        fprintf(f, "</td><td>%.4f</td><td>%.4f</td><td>%.0f</td><td>%zu</td><td>%.3f</td></tr>\n", (double)r->prob,
                r->raw_prob, r->raw_rank, r->kept, r->entropy);
    }
    fputs("</tbody>\n</table>\n</details>\n", f);
}

static bool finish(struct output *out, bool whole, struct err *e)
{
    (void)e;
    if (!whole && !out->page->rows)
        return true;
    if (!out->page->rows)
        begin_text(out, NULL);
    html_text_end(out, out->page->rows);
    put_table(out);
    html_end(out);
    return true;
}

const struct output_format output_html = {
    .name = "html", .begin = html_begin, .dump = put_row, .bad = put_row, .finish = finish};
