// SPDX-License-Identifier: MIT
// Tab-separated values with a line of names on top.
#include "io/output.h"
#include "io/token_text.h"

#include <inttypes.h>

static void begin(struct output *out)
{
    fputs(out->dump ? "row\trank\tid\tlogit\tprob\tcum\tchosen" : "row\tid\tprob\tn", out->f);
    fputs(out->vocab ? "\ttext\n" : "\n", out->f);
}

// The last column, if there is a vocabulary, and the end of the line.
static void finish(struct output *out, uint32_t token)
{
    if (out->vocab) {
        putc('\t', out->f);
        text_put(out->f, vocab_text(out->vocab, token), 0);
    }
    putc('\n', out->f);
}

static void id(struct output *out, const struct record *r)
{
    char p[NUMBER_TEXT];
    fprintf(out->f, "%" PRIu64 "\t%" PRIu32 "\t%s\t%zu", r->row, r->chosen, number_text(r->chosen_p, p), r->kept);
    finish(out, r->chosen);
}

static void dump(struct output *out, const struct record *r)
{
    char logit[NUMBER_TEXT], p[NUMBER_TEXT], cum[NUMBER_TEXT];
    double sum = 0.0;
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        sum += c->p;
        fprintf(out->f, "%" PRIu64 "\t%zu\t%" PRIu32 "\t%s\t%s\t%s\t%d", r->row, i + 1, c->id, number_text(c->logit, logit),
                number_text(c->p, p), number_text((float)sum, cum), c->id == r->chosen);
        finish(out, c->id);
    }
}

const struct output_format output_tsv = {.name = "tsv", .begin = begin, .id = id, .dump = dump};
