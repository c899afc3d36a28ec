// SPDX-License-Identifier: MIT
// A page to look at, in one file: the text with its tokens, a table, and each row's record as -O json has it. The
// script draws the records; without the script the page still has text and table. The Makefile makes html/page.css and
// html/page.js into the two arrays.
#include "base/hash.h"
#include "base/utf8.h"
#include "out/fields.h"

#include <inttypes.h>

extern const unsigned char page_css[], page_js[];
extern const size_t page_css_len, page_js_len;

// The cells of the first PAGE_ROWS rows for the table at the end of a page of one chain.
struct page {
    uint32_t sequence; // of the last row: a hash of its name
    struct page_row {
        uint64_t row;
        uint32_t id;
        bool bad;
        unsigned char text[32], len; // how the token's text begins, as texts may be those of one row; 0: there is none
        size_t kept;
        float prob;
        double raw_prob, raw_rank, entropy;
    } row[PAGE_ROWS];
};

// Writes a text of any bytes as HTML, with the escapes of text_clip. reads: the text is part of a longer one, and its
// line breaks, tabs and backslashes stay.
static void html_text(const struct output *out, struct piece text, bool reads)
{
    static const char *const entity[] = {['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    for (size_t at = 0, taken; at < text.len; at += taken) {
        const unsigned char c = text.p[at];
        text_columns(text.p + at, text.len - at, &taken);
        if (c < sizeof entity / sizeof *entity && entity[c])
            fputs(entity[c], out->f);
        else if (reads && c == '\n')
            fputs("\xe2\x86\xb5\n", out->f); // an arrow, and the new line
        else if (reads && (c == '\t' || c == '\\'))
            putc(c, out->f);
        else
            text_put(out->f, (struct piece){text.p + at, taken}, 0);
    }
}

// ---- the parts of a page

static void reading_begin(const struct output *out, const char *class)
{
    fprintf(out->f, "</header>\n<main class=\"%s\">\n", class);
    if (out->lists)
        fputs("<section id=\"reading\" aria-labelledby=\"reading-head\">\n<h2 id=\"reading-head\">Text</h2>\n"
              "<div id=\"text\">",
              out->f);
}

// Writes the page from the doctype to its heading, and with several chains to the beginning of the text. With one chain
// the first row knows the stages, and goes on.
static void begin(struct output *out)
{
    const struct piece title = text_piece(out->title);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out->f);
    html_text(out, title, false);
    fputs(" \xe2\x80\x93 sampl</title>\n<style>\n", out->f);
    fwrite(page_css, 1, page_css_len, out->f);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", out->f);
    html_text(out, title, false);
    fputs("</h1>\n", out->f);
    if (out->compared) {
        fprintf(out->f, "<p class=\"chain\">%zu chains on the same rows</p>\n", out->n_chains);
        reading_begin(out, "beside");
    }
}

// Writes a chosen token, in the tint of its raw probability; a likely token has none. A script of data may follow.
static void html_token(const struct output *out, const struct record *r)
{
    static const double below[] = {0.5, 0.2, 0.08, 0.03, 0.01};
    const struct piece text = output_token(out, r->chosen);
    int tint = 0;
    for (size_t i = 0; !r->error && i < sizeof below / sizeof *below; i++)
        tint += r->stat[STAT_RAW_PROB] < below[i];
    if (out->compared)
        fputs("<a class=\"", out->f);
    else
        fprintf(out->f, "<a href=\"#r%" PRIu64 "\" class=\"", r->row);
    if (r->error)
        fputs("bad\">[bad row]", out->f);
    else if (!text.len)
        fprintf(out->f, "t%d id\">%" PRIu32, tint, r->chosen);
    else
        fprintf(out->f, "t%d\">", tint);
    if (!r->error)
        html_text(out, text, true);
    fputs("</a>", out->f);
}

static void reading_end(const struct output *out)
{
    fputs("</div>\n", out->f);
    if (out->records > PAGE_ROWS)
        fprintf(out->f, "<p class=\"note\">The first %d of %" PRIu64 " rows; <code>--rows</code> chooses others.</p>\n",
                PAGE_ROWS, out->records);
    if (!out->records)
        fputs("<p class=\"note\">There are no rows.</p>\n", out->f);
    fputs("</section>\n", out->f);
}

static void page_end(const struct output *out)
{
    fputs("</main>\n<script>\n", out->f);
    fwrite(page_js, 1, page_js_len, out->f);
    fputs("</script>\n</body>\n</html>\n", out->f);
}

// ---- the page of one chain

static void stage_list(const struct output *out, const struct record *r)
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

// Names the sequence where another one goes on.
static void sequence_mark(const struct output *out, const struct record *r)
{
    const uint32_t sequence = r->seq ? hash_bytes(r->seq, strlen(r->seq)) : 0;
    if (r->seq && (!out->records || sequence != out->page->sequence)) {
        fputs("<span class=\"seq\">", out->f);
        html_text(out, text_piece(r->seq), false);
        fputs("</span>", out->f);
    }
    out->page->sequence = sequence;
}

// Writes the followed tokens, each as [id, text, low, high, [probability after each step]]; null: the token is removed.
static void followed_members(const struct output *out, const struct record *r)
{
    fputs("\n,\"followed\":[", out->f);
    for (size_t i = 0; i < r->n_followed; i++) {
        const struct followed *const t = &r->followed[i];
        fprintf(out->f, "%s[%" PRIu32, i ? "," : "", t->id);
        output_string(out, ",", output_token(out, t->id));
        fprintf(out->f, ",%.9g,%.9g,[", t->share.low, t->share.high);
        for (size_t k = 0; k <= r->n_trace; k++)
            fprintf(out->f, t->p[k] < 0.0f ? "%snull" : "%s%.6g", k ? "," : "", (double)t->p[k]);
        fputs("]]", out->f);
    }
    putc(']', out->f);
}

// Keeps of a row what the table says, with as many whole characters of the token's text as there is room for.
static void keep_page_row(const struct output *out, struct page_row *row, const struct record *r)
{
    *row = (struct page_row){.row = r->row, .bad = r->error};
    if (r->error)
        return;
    const struct piece text = output_token(out, r->chosen);
    uint32_t point;
    row->id = r->chosen;
    row->kept = r->kept;
    row->prob = r->chosen_p;
    row->raw_prob = r->stat[STAT_RAW_PROB];
    row->raw_rank = r->stat[STAT_RAW_RANK];
    row->entropy = r->entropy;
    for (size_t n; text.p && row->len < text.len; row->len = (unsigned char)(row->len + n)) {
        n = utf8_decode(text.p + row->len, text.len - row->len, &point);
        n += !n;
        if (row->len + n > sizeof row->text)
            return;
        memcpy(row->text + row->len, text.p + row->len, n);
    }
}

static void row(struct output *out, const struct record *r)
{
    if (!out->records) {
        if (r->n_trace)
            stage_list(out, r);
        reading_begin(out, "plain");
    }
    if (output_full(out))
        return;
    sequence_mark(out, r);
    keep_page_row(out, &out->page->row[out->records], r);
    html_token(out, r);
    fputs("<script type=\"application/json\">\n{\"record\":", out->f);
    if (r->error) {
        output_json.bad(out, r);
    } else {
        output_json.dump(out, r);
        fputs(",\"stats\":", out->f);
        fields_statistics(out, r);
        fields_end(out, "");
        followed_members(out, r);
    }
    fputs("}\n</script>", out->f);
}

static void table_of_rows(const struct output *out)
{
    fputs("<details open id=\"all\">\n<summary>Table of all rows</summary>\n<table>\n"
          "<thead><tr><th scope=\"col\">row</th><th scope=\"col\">token</th><th scope=\"col\">prob</th>"
          "<th scope=\"col\">raw prob</th><th scope=\"col\">raw rank</th><th scope=\"col\">kept</th>"
          "<th scope=\"col\">entropy</th></tr></thead>\n<tbody>\n",
          out->f);
    for (size_t i = 0; i < out->records && i < PAGE_ROWS; i++) {
        const struct page_row *const r = &out->page->row[i];
        fprintf(out->f, "<tr id=\"r%" PRIu64 "\"><th scope=\"row\">%" PRIu64 "</th><td>", r->row, r->row);
        if (r->bad) {
            fputs("bad row</td><td></td><td></td><td></td><td></td><td></td></tr>\n", out->f);
            continue;
        }
        if (r->len) {
            putc('"', out->f);
            html_text(out, (struct piece){r->text, r->len}, false);
            putc('"', out->f);
        } else {
            fprintf(out->f, "%" PRIu32, r->id);
        }
        fprintf(out->f, "</td><td>%.4f</td><td>%.4f</td><td>%.0f</td><td>%zu</td><td>%.3f</td></tr>\n", (double)r->prob,
                r->raw_prob, r->raw_rank, r->kept, r->entropy);
    }
    fputs("</tbody>\n</table>\n</details>\n", out->f);
}

// The page of several chains ends with its table.
static bool finish(struct output *out, bool whole, struct err *e)
{
    (void)e;
    if (out->compared || (!whole && !out->records))
        return true;
    if (!out->records)
        reading_begin(out, "plain");
    reading_end(out);
    table_of_rows(out);
    page_end(out);
    return true;
}

// ---- the page of several chains

// The base's token, and behind it what -O json would print of the row and a few numbers of each chain.
static void candidates(struct output *out, const struct chains_record *r)
{
    const bool base = !out->chain[0].record->error;
    if (output_full(out))
        return;
    html_token(out, out->chain[0].record);
    fputs("<script type=\"application/json\">\n{\"record\":", out->f);
    output_json.chains[COMPARED_CANDIDATES](out, r);
    fputs(",\"of\":[", out->f);
    for (size_t i = 0; i < out->n_chains; i++) {
        const struct record *const of = out->chain[i].record;
        fputs(i ? "," : "", out->f);
        if (of->error) {
            fputs("null", out->f);
            continue;
        }
        fprintf(out->f, "[%.5g,%.0f,%.5g,%.5g,%" PRIu32, of->stat[STAT_PROB], of->stat[STAT_N], of->stat[STAT_ENTROPY],
                base ? of->overlap : 0.0, of->chosen);
        output_string(out, ",", output_token(out, of->chosen));
        putc(']', out->f);
    }
    fputs("]}\n</script>", out->f);
}

static void table(struct output *out, const struct chains_record *r)
{
    char text[CELL_TEXT];
    if (out->lists)
        reading_end(out);
    fputs("<section id=\"means\" aria-labelledby=\"means-head\">\n<h2 id=\"means-head\">Means over the rows</h2>\n"
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The table\"><table>\n"
          "<thead><tr><th scope=\"col\">chain</th>",
          out->f);
    for (size_t k = 0; k < r->n_columns; k++)
        fprintf(out->f, "<th scope=\"col\">%s</th>", r->column[k].name);
    fputs("</tr></thead>\n<tbody>\n", out->f);
    for (size_t i = 0; i < out->n_chains; i++) {
        fputs("<tr><th scope=\"row\">", out->f);
        html_text(out, text_piece(out->chain[i].name), false);
        fputs("</th>", out->f);
        for (size_t k = 0; k < r->n_columns; k++)
            fprintf(out->f, "<td>%s</td>", output_cell_text(&out->chain[i].cell[k], r->column[k].kind, text));
        fputs("</tr>\n", out->f);
    }
    fputs("</tbody>\n</table></div>\n</section>\n<script type=\"application/json\" id=\"variants\">\n[", out->f);
    output_json.chains[COMPARED_TABLE](out, r);
    fputs("]\n</script>\n", out->f);
    page_end(out);
}

const struct output_format output_html = {.name = "html",
                                          .page = true,
                                          .state = sizeof(struct page),
                                          .begin = begin,
                                          .dump = row,
                                          .bad = row,
                                          .chains = {[COMPARED_CANDIDATES] = candidates, [COMPARED_TABLE] = table},
                                          .finish = finish};
