// SPDX-License-Identifier: MIT
// The modes of the driver; driver.cpp has the usage of each. A mode returns the exit status, or throws std::exception.
#ifndef SAMPL_TESTS_LLAMA_MODES_H
#define SAMPL_TESTS_LLAMA_MODES_H

#include "judge.h"

#include <cstdint>

int mode_chains(const words &word);
int mode_masks(const words &word);
int mode_texts(const words &word);
int mode_generate(const words &word);
int mode_accepts(const words &word);

// splitmix64: the random numbers of a check, which a seed repeats.
struct dice {
    uint64_t state;

    uint64_t bits();
    size_t below(size_t n);
    double uniform(); // [0, 1)
    double normal();
    template <typename T> T pick(std::initializer_list<T> of) { return of.begin()[below(of.size())]; }
    template <typename T> T pick(const std::vector<T> &of) { return of[below(of.size())]; }
};

// Returns the words quoted for a shell.
std::string quoted(const words &word);

// Runs a program. Returns its standard output. Sets *error to its standard error if it failed, otherwise to "".
std::string run(const words &word, std::string *error);

// "1,2,3"
std::string joined(const llama_tokens &ids);

// Prints to the original standard output, which the library does not use.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
