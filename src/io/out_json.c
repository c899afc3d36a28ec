// SPDX-License-Identifier: MIT
// JSON, one object a line, with llama-server's field names.
#include "io/output.h"

#include <inttypes.h>
#include <math.h>

static void head(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"id\":%" PRIu32 ",\"prob\":%s,\"n\":%zu", r->row, r->chosen,
            number_text(r->chosen_p, p), r->kept);
}

static void id(struct output *out, const struct record *r)
{
    head(out, r);
    fputs("}\n", out->f);
}

static void stages(FILE *f, const struct record *r)
{
    char mass[NUMBER_TEXT], entropy[NUMBER_TEXT], p[NUMBER_TEXT];
    fputs(",\"stages\":[", f);
    for (size_t i = 0; i < r->n_trace; i++) {
        const struct trace_line *const t = &r->trace[i];
        fprintf(f, "%s{\"name\":\"%s\",\"enabled\":%s", i ? "," : "", t->name, t->enabled ? "true" : "false");
        if (t->enabled)
            fprintf(f,
                    ",\"before\":%zu,\"after\":%zu,\"mass\":%s,\"entropy\":%s,\"top_before\":%" PRIu32 ",\"top_after\":%" PRIu32
                    ",\"removed\":%zu,\"likeliest_removed\":[",
                    t->before, t->after, number_text((float)t->mass, mass), number_text((float)t->entropy, entropy),
                    t->top_before, t->top_after, t->n_removed);
        for (size_t k = 0; k < t->n_removed && k < TRACE_REMOVED; k++)
            fprintf(f, "%s{\"id\":%" PRIu32 ",\"prob\":%s}", k ? "," : "", t->removed[k].id, number_text(t->removed[k].p, p));
        fputs(t->enabled ? "]}" : "}", f);
    }
    fputs("]", f);
}

static void dump(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    head(out, r);
    fputs(",\"top_probs\":[", out->f);
    for (size_t i = 0; i < r->shown; i++)
        fprintf(out->f, "%s{\"id\":%" PRIu32 ",\"prob\":%s}", i ? "," : "", r->ranked[i].id, number_text(r->ranked[i].p, p));
    fputs("]", out->f);
    if (r->trace)
        stages(out->f, r);
    fputs("}\n", out->f);
}

// JSON has no -inf; our reader takes null for it.
static const char *json_text(float x, char text[NUMBER_TEXT])
{
    return x > -INFINITY ? number_text(x, text) : "null";
}

static void score(struct output *out, const struct record *r)
{
    char x[NUMBER_TEXT];
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"id\":%" PRIu32 ",\"logprob\":%s}\n", r->row, r->scored, json_text(*r->values, x));
}

static bool values(struct output *out, const struct record *r, struct err *e)
{
    char x[NUMBER_TEXT];
    (void)e;
    fprintf(out->f, "{\"row\":%" PRIu64 ",\"%s\":[", r->row, emit_name[out->emit]);
    for (size_t i = 0; i < r->n_vocab; i++) {
        if (i)
            putc_unlocked(',', out->f);
        fputs_unlocked(json_text(r->values[i], x), out->f);
    }
    fputs("]}\n", out->f);
    return true;
}

// A JSON string. Messages may quote the input, so whatever is not plain ASCII becomes '?', as in err_print.
static void quoted(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else
            putc(*text >= ' ' && *text <= '~' ? *text : '?', f);
    putc('"', f);
}

// An empty distribution, so that the next sampl finds the row bad, too, and no more than that.
static void bad(struct output *out, const struct record *r)
{
    const char *const value = out->emit == EMIT_SCORE ? "\"logprob\":null" : "\"id\":null";
    fprintf(out->f, "{\"row\":%" PRIu64 ",", r->row);
    if (emit_distribution(out->emit))
        fprintf(out->f, "\"%s\":[]", emit_name[out->emit]);
    else
        fputs(value, out->f);
    fputs(",\"error\":", out->f);
    quoted(out->f, r->error);
    fputs("}\n", out->f);
}

const struct output_format output_json = {.name = "json", .id = id, .dump = dump, .score = score, .values = values, .bad = bad};
