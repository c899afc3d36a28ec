// SPDX-License-Identifier: MIT
// What the driver does, a function each: driver.cpp has the usage of each. They return the exit status, and throw std::exception.
#ifndef SAMPL_TESTS_LLAMA_MODES_H
#define SAMPL_TESTS_LLAMA_MODES_H

#include "judge.h"

#include <cstdint>

int mode_chains(const words &word);
int mode_masks(const words &word);
int mode_texts(const words &word);
int mode_generate(const words &word);

// splitmix64: what a check draws from, so that a number repeats it.
struct dice {
    uint64_t state;

    uint64_t bits();
    size_t below(size_t n);
    double uniform(); // [0, 1)
    double normal();
    template <typename T> T pick(std::initializer_list<T> of)
    {
        return of.begin()[below(of.size())];
    }
    template <typename T> T pick(const std::vector<T> &of)
    {
        return of[below(of.size())];
    }
};

// The words as a shell takes them.
std::string quoted(const words &word);

// Runs a program; its standard output, and in *error what it said on standard error when it failed ("" otherwise).
std::string run(const words &word, std::string *error);

// "1,2,3"
std::string joined(const llama_tokens &ids);

// Prints to standard output, whatever the library does with that.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
