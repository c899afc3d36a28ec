// SPDX-License-Identifier: MIT
// llama.cpp's side of bench.c.
#ifndef SAMPL_TESTS_LLAMA_BENCH_H
#define SAMPL_TESTS_LLAMA_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct release; // a chain of llama.cpp's

void release_start(void);

// Writes a vocabulary of n tokens.
void release_vocab(const char *path, int n);

// Makes a chain from sampl's command line, the program's name first. Ends the program if this fails.
struct release *release_open(int argc, char **argv);
void release_close(struct release *r);

// Chooses a token of a row. Does not accept it.
int32_t release_row(struct release *r, const float *row);
void release_accept(struct release *r, int32_t token);

#ifdef __cplusplus
}
#endif

#endif
