// SPDX-License-Identifier: MIT
#include "views/page_parts.h"

#include "cli/help.h"
#include "cli/words.h"
#include "out/token_text.h"
#include "trace/trace.h"

#include <inttypes.h>

extern const unsigned char page_css[], page_js[];
extern const size_t page_css_len, page_js_len;

void html_text(struct builder *b, struct piece text, bool reads)
{
    static const char *const entity[] = {['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    for (size_t at = 0, bytes; at < text.len; at += bytes) {
        const unsigned char c = text.p[at];
        text_columns(text.p + at, text.len - at, &bytes);
        if (c < sizeof entity / sizeof *entity && entity[c])
            builder_string(b, entity[c]);
        else if (reads && c == '\n')
            builder_string(b, "\xe2\x86\xb5\n"); // an arrow, and the new line
        else if (reads && (c == '\t' || c == '\\'))
            builder_byte(b, (char)c);
        else
            text_write(b, (struct piece){text.p + at, bytes}, 0);
    }
}

// Writes the command line as a shell takes it.
static void write_command(struct builder *b, const struct args *a)
{
    struct builder command = {0};
    builder_string(&command, "sampl");
    for (size_t i = 0; i < a->n_words; i++) {
        builder_byte(&command, ' ');
        word_quote(&command, a->word[i], true);
    }
    html_text(b, text_piece(command.text ? command.text : ""), false);
    b->failed = b->failed || command.failed;
    builder_free(&command);
}

// ---- the stages of a chain

// Writes a text in quotes behind a few words.
static void quote_html(struct builder *b, const char *before, struct piece text)
{
    builder_format(b, "%s&quot;", before);
    html_text(b, text, false);
    builder_format(b, "&quot;");
}

// Writes tokens behind a few words: their texts in quotes, or without a vocabulary their ids.
static void tokens_html(struct builder *b, const struct dest *d, const char *before, const struct tokens *t)
{
    for (size_t i = 0; i < t->n; i++, before = " ") {
        const struct piece text = token_text(d, t->id[i]);
        if (text.len)
            quote_html(b, before, text);
        else
            builder_format(b, "%s%" PRIu32, before, t->id[i]);
    }
}

// Writes the lists that a stage uses.
static void lists_html(struct builder *b, const struct dest *d, const struct recipe *r, const struct sampler *s)
{
    const struct biases *const biases = r->key.biases;
    const struct breakers *const breakers = &r->key.breakers->breakers;
    const struct bans *const bans = &r->key.bans->bans;
    char text[NUMBER_TEXT];
    for (size_t i = 0; s->lists == LISTS_BIASES && i < biases->n; i++) {
        tokens_html(b, d, i ? ", " : " ", &(struct tokens){&biases->bias[i].id, 1});
        builder_format(b, " %s%s", biases->bias[i].bias > 0.0f ? "+" : "", number_text(biases->bias[i].bias, text));
    }
    for (size_t i = 0; s->lists == LISTS_BREAKERS && i < breakers->n_texts; i++)
        quote_html(b, i ? " " : ", breakers ", breakers->text[i]);
    for (size_t i = 0; s->lists == LISTS_BREAKERS && i < breakers->n_sequences; i++)
        tokens_html(b, d, ", breaker ", &breakers->sequence[i]);
    if (s->lists != LISTS_BANS)
        return;
    for (size_t i = 0; i < bans->n; i++)
        tokens_html(b, d, ", banned ", &bans->sequence[i]);
    if (bans->n_ends)
        tokens_html(b, d, ", ends ", &(struct tokens){bans->end, bans->n_ends});
}

bool page_lists(const struct recipe *r, size_t i, const struct stage **stage)
{
    *stage = i ? &r->stage[i - 1] : NULL;
    return i ? stage_enabled(*stage) : r->key.rules != NULL;
}

void stage_html(struct builder *b, const struct dest *d, const struct recipe *r, const struct stage *stage)
{
    char text[NUMBER_TEXT];
    if (!stage) {
        builder_format(b, "<details><summary>grammar%s</summary><pre>",
                       r->key.grammar_first ? ", before the chain" : "");
        html_text(b, rules_text(r->key.rules), true);
        builder_string(b, "</pre></details>");
        return;
    }
    const struct trace_line t = trace_line_of(r, stage);
    builder_format(b, trace_line_main(&t) ? "%s %s" : "%s", t.name,
                   trace_line_main(&t) ? named_plain(t.param, text) : "");
    for (size_t k = trace_line_main(&t); k < t.n_params; k++)
        if (!t.param[k].usual)
            builder_format(b, ", %s %s", t.param[k].name, named_plain(&t.param[k], text));
    lists_html(b, d, r, stage->sampler);
}

// ---- the page

// Writes what the page is about. A chain that gets accepted tokens reads a text.
static void title(struct builder *b, const struct job *j)
{
    static const char *const number[] = {"no",    "a",     "two",  "three", "four",   "five",  "six",
                                         "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    const size_t n = j->variants->n;
    builder_string(b, job_accepts(j) ? "How " : "What ");
    if (n < sizeof number / sizeof *number)
        builder_string(b, number[n]);
    else
        builder_format(b, "%zu", n);
    builder_string(b, n == 1 ? " chain " : " chains ");
    builder_string(b, job_accepts(j) ? n == 1 ? "reads this text" : "read this text" : n == 1 ? "chooses" : "choose");
}

// Writes the name of the first file, and how many follow.
static void files_html(struct builder *b, const struct job *j)
{
    const size_t n = j->args->files.n;
    html_text(b, text_piece(n ? j->args->files.word[0] : "standard input"), false);
    if (n > 1)
        builder_format(b, " and %zu more file%s", n - 1, n == 2 ? "" : "s");
}

// Writes the page from the doctype to its heading and a sentence that tells what to do.
static void head(const struct page *p)
{
    struct builder *const b = &p->columns.dest->text;
    const struct job *const j = p->columns.job;
    builder_string(
        b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
           "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    title(b, j);
    builder_string(b, ": ");
    files_html(b, j);
    builder_string(b, " \xe2\x80\x93 sampl</title>\n<style>\n");
    builder_bytes(b, page_css, page_css_len);
    builder_string(b, "</style>\n</head>\n<body>\n<header>\n<h1>");
    title(b, j);
    builder_string(b, "</h1>\n<p class=\"first\">Each word is tinted by how surprised the model was. Click one.</p>\n");
}

// Writes what the page is, and what it was made of. r: the first record; NULL: there is none.
static void about(const struct page *p, const struct record *r)
{
    const struct job *const j = p->columns.job;
    const struct dest *const d = p->columns.dest;
    struct builder *const b = &p->columns.dest->text;
    builder_string(b, "<p class=\"about\"><b>");
    files_html(b, j);
    builder_format(b, "</b>: each row is replayed on the recorded text; no text is generated.%s ",
                   job_accepts(j) ? " The text has the accepted tokens." : "");
    if (d->rows >= 0)
        builder_format(b, "%" PRId64 " row%s", d->rows, d->rows == 1 ? "" : "s");
    else
        builder_string(b, r ? "Rows" : "No rows");
    const bool one_width = d->rows >= 0 && r && !r->file; // rows of JSON, and of several files, may differ in width
    if (r && !r->error)
        builder_format(b, one_width ? " of %zu tokens" : ", the first of %zu tokens", r->n_vocab);
    builder_format(b, ", sampl %s, seed %" PRIu64 ".</p>\n<p class=\"command\"><code>", SAMPL_VERSION,
                   j->variants->recipe[0]->key.seed);
    write_command(b, j->args);
    builder_string(b, "</code></p>\n");
}

// Writes the list of the chain's stages.
static void stage_list(const struct job *j, struct dest *d)
{
    const struct recipe *const r = j->variants->recipe[0];
    const struct stage *stage;
    builder_string(&d->text, "<ol class=\"chain\" aria-label=\"The chain\">");
    for (size_t i = 0; i <= r->n_stages; i++)
        if (page_lists(r, i, &stage)) {
            builder_string(&d->text, "<li>");
            stage_html(&d->text, d, r, stage);
            builder_string(&d->text, "</li> ");
        }
    builder_string(&d->text, "</ol>\n");
}

void page_begin(struct page *p, const struct record *r, enum ending how)
{
    const struct job *const j = p->columns.job;
    struct builder *const b = &p->columns.dest->text;
    if (p->columns.begun)
        return;
    p->columns.begun = true;
    head(p);
    if (how == ENDING_NO_ROWS)
        return;
    about(p, r);
    if (j->variants->n == 1)
        stage_list(j, p->columns.dest);
    builder_format(b, "</header>\n<main class=\"%s\">\n", j->variants->n > 1 ? "beside" : "plain");
    builder_string(b, "<section id=\"reading\" aria-labelledby=\"reading-head\">\n<h2 id=\"reading-head\">Text</h2>\n"
                      "<div id=\"texts\"><div class=\"text\" id=\"text\">");
}

void page_token(const struct page *p, const struct record *r)
{
    const struct job *const j = p->columns.job;
    const struct dest *const d = p->columns.dest;
    struct builder *const b = &p->columns.dest->text;
    static const double below[] = {0.5, 0.2, 0.08, 0.03, 0.01};
    const bool accepted = !r->error && job_accepts(j) && r->stat[STAT_ACCEPTED] >= 0.0;
    const uint32_t id = accepted ? (uint32_t)r->stat[STAT_ACCEPTED] : r->chosen;
    const struct piece text = token_text(d, id);
    const double prob = r->error ? 1.0 : r->stat[accepted ? STAT_ACCEPTED_RAW_PROB : STAT_RAW_PROB];
    int tint = 0;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        tint += prob < below[i];
    if (j->variants->n > 1)
        builder_string(b, "<a class=\"");
    else
        builder_format(b, "<a href=\"#r%" PRIu64 "\" class=\"", r->row);
    if (r->error)
        builder_string(b, "bad\">[bad row]");
    else
        builder_format(b, "t%d%s", tint, text.len ? "" : " id");
    if (!r->error && id != r->chosen && j->variants->n == 1) {
        const struct piece drawn = token_text(d, r->chosen);
        builder_string(b, " other\" data-drawn=\"");
        if (drawn.len)
            html_text(b, drawn, false);
        else
            builder_format(b, "%" PRIu32, r->chosen);
    }
    if (!r->error)
        builder_string(b, "\">");
    if (!r->error && !text.len)
        builder_format(b, "%" PRIu32, id);
    else if (!r->error)
        html_text(b, text, true);
    builder_string(b, "</a>");
}

void page_reading_end(const struct page *p)
{
    struct builder *const b = &p->columns.dest->text;
    builder_string(b, "</div></div>\n");
    if (p->rows > PAGE_ROWS)
        builder_format(b,
                       "<p class=\"note\">The first %d of %" PRIu64 " rows; <code>--rows</code> chooses others.</p>\n",
                       PAGE_ROWS, p->rows);
    if (!p->rows)
        builder_string(b, "<p class=\"note\">There are no rows.</p>\n");
    else if (!p->columns.dest->vocab)
        builder_string(b,
                       "<p class=\"note\">The numbers are token ids: add <code>--vocab</code> to see the texts.</p>\n");
    builder_string(b, "</section>\n");
}

void page_end(const struct page *p)
{
    struct builder *const b = &p->columns.dest->text;
    builder_string(b, "</main>\n<script>\n");
    builder_bytes(b, page_js, page_js_len);
    builder_string(b, "</script>\n</body>\n</html>\n");
}
