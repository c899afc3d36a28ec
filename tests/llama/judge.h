// SPDX-License-Identifier: MIT
// judge: runs llama.cpp's flags, sampler chain, grammar and reasoning budget over given rows of logits.
//
// A judge chooses twice. `plain` is the unchanged release. `by_id` runs the release's samplers one by one, and orders equal logits by id
// before each that sorts, which is sampl's rule. Without ties both agree. top-p and typical sort and cut in one call, so that judge.cpp has
// versions of its own. These are right, as `plain` agrees on rows without ties.
#ifndef SAMPL_TESTS_LLAMA_JUDGE_H
#define SAMPL_TESTS_LLAMA_JUDGE_H

#include "common.h"
#include "llama.h"
#include "sampling.h"

#include <climits>
#include <stdexcept>
#include <string>
#include <vector>

typedef std::vector<std::string> words;

// A parsed command line of sampl. The constructor throws std::runtime_error for an option that llama.cpp lacks.
struct command {
    words chain; // flags of llama.cpp
    words breakers;
    bool has_breakers = false;
    std::string format = "f32", vocab, file;
    int n_vocab = 0, first_row = 0, last_row = INT_MAX, min_keep = 0;
    llama_tokens prompt, accept;
    llama_tokens budget_start;
    std::vector<llama_tokens> budget_ends;
    std::string budget_message, generation;
    bool tool_calls = false, forces_nothing = false;

    explicit command(const words &word);
};

// Starts the library, without its log unless SAMPL_LLAMA_LOG is set.
void llama_start();

// Returns the vocabulary of a GGUF file. Later calls return the same object.
const llama_model *load_vocab(const std::string &path);

// Writes an SPM vocabulary of n tokens: the 256 bytes, </s>, and, if n is at least 259, <s>, <unk> and words.
void write_vocab(const std::string &path, int n);

// Returns the ids of a text with commas, or of @FILE.
llama_tokens read_ids(const std::string &text);

// Returns the bytes of a file. Throws if the file is missing.
std::string read_file(const std::string &path);

// Returns rows of a raw file as f32.
struct rows {
    std::string data;
    bool half;
    size_t n;

    rows(const std::string &path, const std::string &format, size_t n_vocab);
    size_t count() const;
    void get(size_t i, std::vector<float> &row) const;
};

// Properties of a row of by_id that explain a difference from plain.
struct oddities {
    bool tie;  // equal logits whose order matters
    bool nan;  // typical has a probability of 0, which becomes NaN in the release
    bool huge; // a logit that the release's bucket sort cannot sort
};

struct judge {
    judge(const llama_model *model, const command &c);
    judge(const judge &) = delete;
    ~judge();

    // by_id and plain have generators of their own.
    llama_token plain(const std::vector<float> &row);
    llama_token choose(const float *row); // as plain, without a distribution
    llama_token by_id(const std::vector<float> &row);
    bool fits(llama_token token) const; // fits the grammar; the release aborts if it accepts an end that does not fit
    void accept(llama_token token);     // to both; throws if the token does not fit the grammar

    // Copies the state of `by_id` to `plain` after they chose different tokens. Returns false if this is not possible: a clone of the
    // release's adaptive_p restarts its generator.
    bool follow();

    // Returns the probability of every token after the last call; 0 for removed or masked tokens. *kept: number of kept tokens.
    void distribution(std::vector<float> &p, size_t *kept) const;

    // Returns the state of the reasoning budget, "" without one.
    const char *budget_state() const;

    bool is_end(llama_token token) const;
    std::string print() const; // the chain, as llama.cpp prints it

    common_params params;
    oddities odd = {};

  private:
    void prefill(const std::string &prompt);
    void begin(const std::vector<float> &row);
    void apply_chain();
    void apply_stage(llama_sampler *stage);
    void sort();
    void top_p();
    void typical();

    const llama_vocab *vocab;
    common_sampler *real, *release;                      // by_id's chain, and plain's
    llama_sampler *grammar = nullptr, *budget = nullptr; // by_id's own
    std::vector<llama_token_data> cur;
    llama_token_data_array list = {};
    std::vector<llama_token_data> last; // the candidates at the end of the last call
};

#endif
