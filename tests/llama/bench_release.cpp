// SPDX-License-Identifier: MIT
#include "bench.h"
#include "judge.h"

#include <cstdio>
#include <cstdlib>

struct release {
    judge j;
    release(const llama_model *model, const command &c) : j(model, c) {}
};

void release_start(void) { llama_start(); }

void release_vocab(const char *path, int n) { write_vocab(path, n); }

struct release *release_open(int argc, char **argv)
{
    try {
        const command c(words(argv + 1, argv + argc));
        return new release(load_vocab(c.vocab), c);
    } catch (const std::exception &e) {
        fprintf(stderr, "bench-llama: %s\n", e.what());
        exit(1);
    }
}

void release_close(struct release *r) { delete r; }

int32_t release_row(struct release *r, const float *row) { return r->j.choose(row); }

void release_accept(struct release *r, int32_t token) { r->j.accept(token); }
