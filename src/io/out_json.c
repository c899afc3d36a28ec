// SPDX-License-Identifier: MIT
// JSON, one object a line, with llama-server's field names.
#include "io/output.h"

#include <inttypes.h>

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

const struct output_format output_json = {.name = "json", .id = id, .dump = dump};
