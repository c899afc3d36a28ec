// SPDX-License-Identifier: MIT
// Text for people and shell scripts: ids, one a line; dumps as an aligned table.
#include "io/output.h"

#include <inttypes.h>

static void id(struct output *out, const struct record *r)
{
    fprintf(out->f, "%" PRIu32 "\n", r->chosen);
}

// A bar of at most 24 cells, in eighths.
static void bar(FILE *f, float p)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const int cells = (int)(p * (24 * 8) + 0.5f);
    fputs("  ", f);
    for (int i = 0; i < cells / 8; i++)
        fputs("█", f);
    fputs(eighth[cells % 8], f);
}

static void dump(struct output *out, const struct record *r)
{
    double sum = 0.0;
    fprintf(out->f, "row %" PRIu64 "  chosen %" PRIu32 " (%.4f)  kept %zu/%zu  entropy %.3f\n", r->row, r->chosen,
            (double)r->chosen_p, r->kept, r->n_vocab, r->entropy);
    fprintf(out->f, "%6s %8s %12s %10s %10s\n", "rank", "id", "logit", "prob", "cum");
    for (size_t i = 0; i < r->shown; i++) {
        const struct ranked *const c = &r->ranked[i];
        const bool chosen = c->id == r->chosen;
        sum += c->p;
        if (chosen && out->color)
            fputs("\033[1m", out->f);
        fprintf(out->f, "%c%5zu %8" PRIu32 " %12.6f %10.6f %10.6f", chosen ? '>' : ' ', i + 1, c->id, (double)c->logit,
                (double)c->p, sum);
        if (out->terminal)
            bar(out->f, c->p);
        fputs(chosen && out->color ? "\033[0m\n" : "\n", out->f);
    }
}

const struct output_format output_text = {.name = "text", .id = id, .dump = dump};
