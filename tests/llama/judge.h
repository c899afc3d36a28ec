// SPDX-License-Identifier: MIT
// The real llama.cpp over rows of logits that come from elsewhere: its own flags, sampler chain, grammar and reasoning budget.
//
// A judge answers twice. `plain` is the release as it is. `by_id` takes the release's samplers one by one and orders equal logits by id
// before each that sorts, which is sampl's rule; where a row has no ties, both are the same. Two samplers cannot be helped from outside,
// as they sort and cut in one go: top-p and typical are written out in judge.cpp, and hold because `plain` says the same on rows without ties.
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

// A command line for sampl, taken apart. The constructor throws std::runtime_error for what llama.cpp does not have.
struct command {
    words chain; // flags that are llama.cpp's own
    words breakers;
    bool has_breakers = false;
    std::string format = "f32", vocab, file;
    int n_vocab = 0, first_row = 0, last_row = INT_MAX, min_keep = 0;
    llama_tokens prompt, accept;
    llama_tokens budget_start;
    std::vector<llama_tokens> budget_ends;
    std::string budget_message;

    explicit command(const words &word);
};

// Starts the library; it keeps quiet unless SAMPL_LLAMA_LOG is set.
void llama_start();

// The vocabulary of a GGUF file. It stays for later calls.
const llama_model *load_vocab(const std::string &path);

// Writes an SPM vocabulary: the 256 bytes, </s>, and from 259 on <s>, <unk> and as many words as it takes to be n wide.
void write_vocab(const std::string &path, int n);

// Ids between commas, or @FILE with ids.
llama_tokens read_ids(const std::string &text);

// The bytes of a file; throws when there is none.
std::string read_file(const std::string &path);

// Rows of a raw dump, as f32.
struct rows {
    std::string data;
    bool half;
    size_t n;

    rows(const std::string &path, const std::string &format, size_t n_vocab);
    size_t count() const;
    void get(size_t i, std::vector<float> &row) const;
};

// What set one of by_id's rows apart from any other.
struct oddities {
    bool tie;  // equal logits where their order counts
    bool nan;  // typical met a probability of 0, which is NaN to the release
    bool huge; // a logit that the release's bucket sort cannot place
};

struct judge {
    judge(const llama_model *model, const command &c);
    judge(const judge &) = delete;
    ~judge();

    // The two stand apart: each draws from generators of its own.
    llama_token plain(const std::vector<float> &row);
    llama_token choose(const float *row); // as plain, for who wants no distribution
    llama_token by_id(const std::vector<float> &row);
    bool fits(llama_token token) const; // the grammar; the release aborts where it accepts an end that does not
    void accept(llama_token token);     // to both; throws when the grammar does not allow it

    // Has `plain` go on from where `by_id` stands, after they came to different ends. False if it cannot: a clone of the release's adaptive_p
    // starts its generator anew.
    bool follow();

    // Of the last call: the probability of every token; 0 for those that were dropped or masked. *kept: how many were not.
    void distribution(std::vector<float> &p, size_t *kept) const;

    // What has become of the reasoning budget: "" when there is none.
    const char *budget_state() const;

    bool is_end(llama_token token) const;
    std::string print() const; // the chain, as llama.cpp prints it

    common_params params;
    oddities odd = {};

  private:
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
