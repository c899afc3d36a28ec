// SPDX-License-Identifier: MIT
// Chooses tokens with libsampl: reads rows of f16 logits from standard input, and prints the id and its probability.
//
//     cc -o embed embed.c -lsampl
//     embed 4096 --seed 1 --repeat-penalty 1.1 --dry-multiplier 0.8 --xtc-probability 0.5 <austen.f16
//
// Arguments: the number of tokens of a row, and options of the chain as sampl(1) has them.
#include <sampl.h>

#include <stdio.h>
#include <stdlib.h>

// Samples rows until the input ends. Returns the status of the last row.
static int sample(struct sampl_sequence *sequence, size_t n, uint16_t *logits)
{
    struct sampl_row row = {.logits = logits, .n = n, .type = SAMPL_F16, .flags = SAMPL_WANT_P};
    struct sampl_token token;
    int status = SAMPL_OK;
    while (!status && fread(logits, sizeof *logits, n, stdin) == n) {
        status = sampl_row(sequence, &row, &token);
        if (!status)
            status = sampl_accept(sequence, token.id); // the token joins the history
        if (!status)
            printf("%u\t%.3f\n", (unsigned)token.id, token.p);
    }
    return status;
}

int main(int argc, char **argv)
{
    const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    if (n < 1) {
        fputs("usage: embed N OPTION... <ROWS\n", stderr);
        return 2;
    }
    uint16_t *const logits = malloc((size_t)n * sizeof *logits);
    struct sampl_chain *const chain = sampl_chain(NULL, (const char *const *)argv + 2, (size_t)argc - 2, NULL);
    struct sampl_sequence *const sequence = sampl_sequence(chain, 0);
    const int status = sequence && logits ? sample(sequence, (size_t)n, logits) : 2;
    if (status)
        fprintf(stderr, "embed: %s\n", logits ? sampl_error(chain) : "out of memory");
    sampl_sequence_free(sequence);
    sampl_chain_free(chain);
    free(logits);
    return status;
}
