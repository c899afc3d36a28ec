// SPDX-License-Identifier: MIT
// Tab-separated values with a line of names on top.
#include "io/output.h"

#include <inttypes.h>

static void begin(struct output *out)
{
    fputs(out->dump ? "row\trank\tid\tlogit\tprob\tcum\tchosen\n" : "row\tid\tprob\tn\n", out->f);
}

static void id(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    fprintf(out->f, "%" PRIu64 "\t%" PRIu32 "\t%s\t%zu\n", r->row, r->chosen, number_text(r->chosen_p, p), r->kept);
}

static void dump(struct output *out, const struct record *r)
{
    char logit[NUMBER_TEXT], p[NUMBER_TEXT], cum[NUMBER_TEXT];
    double sum = 0.0;
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        sum += c->p;
        fprintf(out->f, "%" PRIu64 "\t%zu\t%" PRIu32 "\t%s\t%s\t%s\t%d\n", r->row, i + 1, c->id, number_text(c->logit, logit),
                number_text(c->p, p), number_text((float)sum, cum), c->id == r->chosen);
    }
}

const struct output_format output_tsv = {.name = "tsv", .begin = begin, .id = id, .dump = dump};
