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

static void dump(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    head(out, r);
    fputs(",\"top_probs\":[", out->f);
    for (size_t i = 0; i < r->shown; i++)
        fprintf(out->f, "%s{\"id\":%" PRIu32 ",\"prob\":%s}", i ? "," : "", r->ranked[i].id, number_text(r->ranked[i].p, p));
    fputs("]}\n", out->f);
}

const struct output_format output_json = {.name = "json", .id = id, .dump = dump};
