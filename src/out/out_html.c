// SPDX-License-Identifier: MIT
// A page in one file: the text with its tokens, a table, and the record of each row as -O json writes it. The script
// draws the records. A browser without scripts shows the text and the table. The Makefile turns html/page.css and
// html/page.js into the two arrays.
#include "base/hash.h"
#include "base/utf8.h"
#include "out/fields.h"

#include <inttypes.h>

extern const unsigned char page_css[], page_js[];
extern const size_t page_css_len, page_js_len;

// Writes a text of any bytes as HTML, with the escapes of text_clip. reads: the text is a part of the text that the
// page shows, so its line breaks, tabs and backslashes stay.
static void html_text(FILE *f, struct piece text, bool reads)
{
    static const char *const entity[] = {['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    for (size_t at = 0, bytes; at < text.len; at += bytes) {
        const unsigned char c = text.p[at];
        text_columns(text.p + at, text.len - at, &bytes);
        if (c < sizeof entity / sizeof *entity && entity[c])
            fputs(entity[c], f);
        else if (reads && c == '\n')
            fputs("\xe2\x86\xb5\n", f); // an arrow, and the new line
        else if (reads && (c == '\t' || c == '\\'))
            putc(c, f);
        else
            text_write(f, (struct piece){text.p + at, bytes}, 0);
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

// Writes the page from the doctype to its heading. The first record continues, because it knows the stages.
static void begin(struct output *out)
{
    const struct piece title = text_piece(out->title);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
          "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out->f);
    html_text(out->f, title, false);
    fputs(" \xe2\x80\x93 sampl</title>\n<style>\n", out->f);
    fwrite(page_css, 1, page_css_len, out->f);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", out->f);
    html_text(out->f, title, false);
    fputs("</h1>\n", out->f);
}

// Writes what the page is, and what it was made of. r: the first record; NULL: there is none.
static void about(const struct output *out, const struct record *r)
{
    fprintf(out->f, "<p class=\"about\">Each row is replayed on the recorded text; this is no generation.%s ",
            !out->accepts   ? ""
            : out->compared ? " The text has the accepted tokens, tinted by the base's probability after the chain."
                            : " The text has the accepted tokens.");
    if (out->rows >= 0)
        fprintf(out->f, "%" PRId64 " row%s", out->rows, out->rows == 1 ? "" : "s");
    else
        fputs(r ? "Rows" : "No rows", out->f);
    if (r && !r->error)
        fprintf(out->f, " of %zu tokens", r->n_vocab);
    fprintf(out->f, ", sampl %s, seed %" PRIu64 ".</p>\n<p class=\"command\"><code>", out->version, out->seed);
    html_text(out->f, text_piece(out->command), false);
    fputs("</code></p>\n", out->f);
    if (out->compared)
        fprintf(out->f, "<p class=\"chain\">%zu chains on the same rows</p>\n", out->chains->n);
}

// Writes a token in the tint of a probability; a likely token has no tint. The token is the accepted one if that is
// known, else the chosen one. The probability is raw. If a page of several chains shows an accepted token, the
// probability is the base's after the chain. The caller may add a script with data.
static void html_token(const struct output *out, const struct record *r)
{
    static const double below[] = {0.5, 0.2, 0.08, 0.03, 0.01};
    const bool accepted = !r->error && out->accepts && r->stat[STAT_ACCEPTED] >= 0.0;
    const uint32_t id = accepted ? (uint32_t)r->stat[STAT_ACCEPTED] : r->chosen;
    const struct piece text = output_token(out, id);
    double p = r->error ? 1.0 : accepted ? r->stat[STAT_ACCEPTED_PROB] : r->stat[STAT_RAW_PROB];
    for (size_t i = 0; accepted && i < r->n_followed; i++)
        if (r->followed[i].id == id)
            p = (double)r->followed[i].p[0];
    int tint = 0;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        tint += p < below[i];
    if (out->compared)
        fputs("<a class=\"", out->f);
    else
        fprintf(out->f, "<a href=\"#r%" PRIu64 "\" class=\"", r->row);
    if (r->error)
        fputs("bad\">[bad row]", out->f);
    else
        fprintf(out->f, "t%d%s", tint, text.len ? "" : " id");
    if (!r->error && id != r->chosen) {
        const struct piece drawn = output_token(out, r->chosen);
        fputs(" other\" data-drawn=\"", out->f);
        if (drawn.len)
            html_text(out->f, drawn, false);
        else
            fprintf(out->f, "%" PRIu32, r->chosen);
    }
    if (!r->error)
        fputs("\">", out->f);
    if (!r->error && !text.len)
        fprintf(out->f, "%" PRIu32, id);
    else if (!r->error)
        html_text(out->f, text, true);
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
    else if (!out->vocab)
        fputs("<p class=\"note\">The numbers are token ids: add <code>--vocab</code> to see the texts.</p>\n", out->f);
    fputs("</section>\n", out->f);
}

// Returns the number of chains that rows show.
static size_t chains_shown(const struct output *out)
{
    return out->chains->n < out->most_chains ? out->chains->n : out->most_chains;
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

// Writes the name of the row's sequence unless the last row was of the same sequence.
static void sequence_mark(struct output *out, const struct record *r)
{
    const uint32_t sequence = r->seq ? hash_bytes(r->seq, strlen(r->seq)) : 0;
    if (r->seq && (!out->records || sequence != out->sequence)) {
        fputs("<span class=\"seq\">", out->f);
        html_text(out->f, text_piece(r->seq), false);
        fputs("</span>", out->f);
    }
    out->sequence = sequence;
}

// Writes the followed tokens, each as [id, text, low, high, [probability after each step]]. If the token is removed,
// the probability is null.
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

// Writes a row of the table. A long text is cut, between characters.
static void table_row(FILE *f, const struct output *out, const struct record *r)
{
    enum { BYTES_MOST = 32 };
    struct piece text = output_token(out, r->chosen);
    size_t len = 0;
    fprintf(f, "<tr id=\"r%" PRIu64 "\"><th scope=\"row\">%" PRIu64 "</th><td>", r->row, r->row);
    if (r->error) {
        fputs("bad row</td><td></td><td></td><td></td><td></td><td></td></tr>\n", f);
        return;
    }
    for (size_t bytes; len < text.len; len += bytes) {
        text_columns(text.p + len, text.len - len, &bytes);
        if (len + bytes > BYTES_MOST)
            break;
    }
    text.len = len;
    if (text.len) {
        putc('"', f);
        html_text(f, text, false);
        putc('"', f);
    } else {
        fprintf(f, "%" PRIu32, r->chosen);
    }
    fprintf(f, "</td><td>%.4f</td><td>%.4f</td><td>%.0f</td><td>%zu</td><td>%.3f</td></tr>\n", (double)r->chosen_p,
            r->stat[STAT_RAW_PROB], r->stat[STAT_RAW_RANK], r->kept, r->entropy);
}

static void row(struct output *out, const struct record *r)
{
    if (!out->records) {
        about(out, r);
        if (r->n_trace)
            stage_list(out, r);
        reading_begin(out, "plain");
    }
    if (output_full(out))
        return;
    sequence_mark(out, r);
    table_row(out->table.f, out, r);
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

// Ends the page of one chain. The page of several chains ends with its table.
static bool finish(struct output *out, bool whole, struct err *e)
{
    if (out->compared || (!whole && !out->records))
        return true;
    if (!out->records) {
        about(out, NULL);
        reading_begin(out, "plain");
    }
    reading_end(out);
    fputs("<details open id=\"all\">\n<summary>Table of all rows</summary>\n<table>\n"
          "<thead><tr><th scope=\"col\">row</th><th scope=\"col\">token</th><th scope=\"col\">prob</th>"
          "<th scope=\"col\">raw prob</th><th scope=\"col\">raw rank</th><th scope=\"col\">kept</th>"
          "<th scope=\"col\">entropy</th></tr></thead>\n<tbody>\n",
          out->f);
    if (!memory_close(&out->table, e))
        return false;
    fwrite(out->table.text, 1, out->table.len, out->f);
    fputs("</tbody>\n</table>\n</details>\n", out->f);
    page_end(out);
    return true;
}

// ---- the page of several chains

static void begin_beside(const struct output *out, const struct record *r)
{
    about(out, r);
    reading_begin(out, "beside");
}

static bool same_line(const struct trace_line *a, const struct trace_line *b)
{
    bool same = !strcmp(a->name, b->name) && a->n_params == b->n_params;
    for (size_t i = 0; same && i < a->n_params; i++)
        same = !strcmp(a->param[i].name, b->param[i].name) && a->param[i].value == b->param[i].value;
    return same;
}

// Has the chain this stage, with the same parameters, or if `named` with any?
static bool has_line(const struct compared_chain *c, const struct trace_line *line, bool named)
{
    for (size_t i = 0; i < c->n_stages; i++)
        if (named ? !strcmp(c->stage[i].name, line->name) : same_line(&c->stage[i], line))
            return true;
    return false;
}

// Writes a stage with its main parameter, and with the others that are not at their defaults.
static void stage_text(FILE *f, const struct trace_line *t)
{
    char text[NUMBER_TEXT];
    fprintf(f, t->n_params ? "%s %s" : "%s", t->name, t->n_params ? named_text(t->param, text) : "");
    for (size_t k = 1; k < t->n_params; k++)
        if (!t->param[k].usual)
            fprintf(f, ", %s %s", t->param[k].name, named_text(&t->param[k], text));
}

// Writes the stages of each shown chain: bold those that the base has not or has otherwise, and at the end those that
// only the base has.
static void stage_lists(const struct output *out, const struct chains *all)
{
    fputs("<dl class=\"chains\" aria-label=\"The stages; bold: not in the base\">\n", out->f);
    for (size_t i = 0; i < chains_shown(out); i++) {
        const struct compared_chain *const c = &all->chain[i], *const base = all->chain;
        fputs("<dt>", out->f);
        html_text(out->f, text_piece(c->name), false);
        fputs("</dt><dd><ol class=\"chain\">", out->f);
        for (size_t k = 0; k < c->n_stages; k++) {
            const bool own = !has_line(base, &c->stage[k], false);
            fputs(own ? "<li><b>" : "<li>", out->f);
            stage_text(out->f, &c->stage[k]);
            fputs(own ? "</b></li> " : "</li> ", out->f);
        }
        fputs("</ol>", out->f);
        size_t n = 0;
        for (size_t k = 0; k < base->n_stages; k++)
            if (!has_line(c, &base->stage[k], true)) {
                fputs(n++ ? ", " : "<p class=\"note\">without ", out->f);
                stage_text(out->f, &base->stage[k]);
            }
        fputs(n ? "</p></dd>\n" : "</dd>\n", out->f);
    }
    fputs("</dl>\n", out->f);
}

// Writes the base's token, and behind it the record of -O json and a few numbers of each chain.
static void candidates(struct output *out, const struct chains *all)
{
    const bool base = !all->chain->result->record.error;
    struct chains shown = *all;
    shown.n = chains_shown(out);
    if (!out->records)
        begin_beside(out, &all->chain->result->record);
    if (output_full(out))
        return;
    html_token(out, &all->chain->result->record);
    fputs("<script type=\"application/json\">\n{\"record\":", out->f);
    output_json.chains[COMPARED_CANDIDATES](out, &shown);
    fputs(",\"of\":[", out->f);
    for (size_t i = 0; i < shown.n; i++) {
        const struct record *const of = &all->chain[i].result->record;
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
    putc(']', out->f);
    if (base && out->accepts && all->chain->result->record.stat[STAT_ACCEPTED] >= 0.0)
        fprintf(out->f, ",\"accepted\":%.0f", all->chain->result->record.stat[STAT_ACCEPTED]);
    fputs("}\n</script>", out->f);
}

static void table(struct output *out, const struct chains *all)
{
    char text[CELL_TEXT];
    if (!out->records)
        begin_beside(out, NULL);
    if (out->lists)
        reading_end(out);
    if (out->lists && chains_shown(out) < all->n)
        fprintf(out->f,
                "<p class=\"note wide\">The rows show the base and the first %zu of %zu variants; "
                "<code>--dump-probs</code> shows all.</p>\n",
                chains_shown(out) - 1, all->n - 1);
    fputs("<section id=\"means\" aria-labelledby=\"means-head\">\n<h2 id=\"means-head\">Means over the rows</h2>\n"
          "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The table\"><table>\n"
          "<thead><tr><th scope=\"col\">chain</th>",
          out->f);
    for (size_t k = 0; k < all->n_columns; k++)
        fprintf(out->f, "<th scope=\"col\">%s</th>", all->column[k].name);
    fputs("</tr></thead>\n<tbody>\n", out->f);
    for (size_t i = 0; i < all->n; i++) {
        fputs("<tr><th scope=\"row\">", out->f);
        html_text(out->f, text_piece(all->chain[i].name), false);
        fputs(all->chain[i].by_chance ? " (of the draw)</th>" : "</th>", out->f);
        for (size_t k = 0; k < all->n_columns; k++)
            fprintf(out->f, "<td>%s</td>", output_cell_text(&all->chain[i].cell[k], all->column[k].kind, false, text));
        fputs("</tr>\n", out->f);
    }
    fputs("</tbody>\n</table></div>\n", out->f);
    stage_lists(out, all);
    fputs("</section>\n<script type=\"application/json\" id=\"variants\">\n[", out->f);
    output_json.chains[COMPARED_TABLE](out, all);
    fputs("]\n</script>\n", out->f);
    page_end(out);
}

const struct output_format output_html = {.name = "html",
                                          .page = true,
                                          .begin = begin,
                                          .dump = row,
                                          .bad = row,
                                          .chains = {[COMPARED_CANDIDATES] = candidates, [COMPARED_TABLE] = table},
                                          .finish = finish};
