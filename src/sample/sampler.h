// SPDX-License-Identifier: MIT
// A sampler: one file in samplers/ that defines a struct sampler, and one line in samplers/list.def. The struct
// says all that the rest of the program needs to know: its names, its parameters with their options, and its functions.
#ifndef SAMPL_SAMPLE_SAMPLER_H
#define SAMPL_SAMPLE_SAMPLER_H

#include "base/err.h"
#include "sample/account.h"
#include "sample/cand.h"
#include "sample/compared.h"
#include "sample/context.h"
#include "sample/history.h"
#include "sample/rng.h"

#include <float.h>
#include <math.h>

enum param_type {
    PARAM_INT,    // int32_t
    PARAM_FLOAT,  // float
    PARAM_DOUBLE, // double: the value as given, for engines that compute with it in f64
    PARAM_FLAG,   // bool
};

// Rules of llama-server for a request's number that is outside of its range.
enum server_rule {
    SERVER_TAKES_ALL,
    SERVER_CLAMPS,
    SERVER_REFUSES,
    SERVER_TAKES_DEFAULT,
};

// One parameter. A parameter of several samplers (min-keep, temp) is described in the table of one sampler; the rows of
// the other samplers have only flag, type and offset.
struct param {
    const char *flag; // the option's long name, without dashes
    const char *help; // one line for --help; NULL: another sampler's row describes the parameter
    enum param_type type;
    size_t at;             // offset in the sampler's parameter struct
    double def, low, high; // default; range that the option accepts
    bool common;           // --help lists the option; else only --help=all does
    bool ignores_low;      // the option ignores a number below the range, as llama.cpp does
    const char *metavar;   // what --help calls the value; NULL: N or X, nothing for PARAM_FLAG
    const char *also;      // another long name, or NULL
    const char *server;    // llama-server's name; NULL: the flag with '_' for '-'
    struct {
        enum server_rule rule;
        double low, high;
    } request;
    struct {
        double low, high, step; // values that are worth trying; high 0: no hint
        bool logarithmic;       // equal distances on the slider are equal ratios
    } slider;                   // hint for programs that show the parameter as a slider
};

// For rows of a table of parameters: type and place; range of the option; the server's range.
#define INT_AT(tag, member)            .type = PARAM_INT, .at = offsetof(struct tag, member)
#define FLOAT_AT(tag, member)          .type = PARAM_FLOAT, .at = offsetof(struct tag, member)
#define DOUBLE_AT(tag, member)         .type = PARAM_DOUBLE, .at = offsetof(struct tag, member)
#define FLAG_AT(tag, member)           .type = PARAM_FLAG, .at = offsetof(struct tag, member)
#define RANGE(least, most)             .low = (least), .high = (most)
#define ANY_INT                        RANGE(INT32_MIN, INT32_MAX)
#define FINITE                         RANGE(-FLT_MAX, FLT_MAX)
#define CLAMPED(least, most)           .request = {SERVER_CLAMPS, (least), (most)}
#define REFUSED(least, most)           .request = {SERVER_REFUSES, (least), (most)}
#define SLIDER(least, most, step_)     .slider = {(least), (most), (step_), false}
#define LOG_SLIDER(least, most, step_) .slider = {(least), (most), (step_), true}
#define DEFAULTED(least, most)         .request = {SERVER_TAKES_DEFAULT, (least), (most)}

// For a sampler: its table of parameters, and the struct that the table describes.
#define PARAMS(table, tag) .params = (table), .params_size = sizeof(struct tag)

// For a sampler whose state is a generator.
#define RNG_STATE .size = sizeof(struct rng), .reset = reset_rng, .release = release_rng

// The parameters of a sampler that has one number, or one number and --min-keep.
struct value_params {
    float value;
    int32_t min_keep;
};

// The parameters of a sampler that has one number of tokens.
struct count_params {
    int32_t count;
};

#define MIN_KEEP                                   \
    {                                              \
        "min-keep", INT_AT(value_params, min_keep) \
    }

// Reads a parameter in a sampler's struct. Every int32_t and float is a double exactly.
double param_load(const struct param *row, const void *params);

// Returns what param_load returns after param_store of this value.
double param_rounded(const struct param *row, double value);

// The number of a candidate that a sampler compares with its first parameter.
enum limit_kind {
    LIMITS_NOTHING,
    LIMITS_OTHERWISE, // a number that is not among these
    LIMITS_RANK,
    LIMITS_RATIO, // the probability, divided by the largest
    LIMITS_SUM,   // the cumulative probability by rank
};

// The probabilities that a stage leaves for the stages behind it, where those do not take a softmax of their own.
enum handing {
    HANDS_NOTHING,
    HANDS_SAME,    // those that it was handed, of the candidates that it keeps
    HANDS_SOFTMAX, // the softmax of the logits
    HANDS_DIVIDED, // the softmax of the logits, each divided by the first parameter
};

static inline bool hands_softmax(enum handing hands) { return hands == HANDS_SOFTMAX || hands == HANDS_DIVIDED; }

// A number of a row that a sampler leaves for statistics: the name of its column, and one line that explains it.
struct row_measure {
    const char *name, *help;
};

// How a selector that adds noise compares the candidates.
enum selection {
    SELECTS_OTHERWISE, // without noise
    SELECTS_LOGIT,     // the largest logit + T * noise wins: the selector multiplies the noise by the temperature
    SELECTS_SCORE,     // the largest logit / T + noise wins
    SELECTS_PLACE,     // the largest ln p + noise wins; in a sorted list, the noise belongs to the place, not the token
    SELECTS_QUOTIENT,  // the largest p / noise wins
};

// A sampler with its parameters, as a chain runs it.
struct stage {
    const struct sampler *sampler;
    const void *params; // the struct that sampler->params describes
    const struct context *context;
    bool own; // the chain names the value of the first parameter, whatever the option says
};

// Which lists of its context a sampler uses.
enum sampler_lists { LISTS_NONE, LISTS_BIASES, LISTS_BREAKERS, LISTS_BANS, LISTS_VECTORS };

// A sampler. Members that are 0 or NULL say no; of the functions, only apply must be there.
struct sampler {
    // ---- what it is

    const char *name;
    const char *aliases; // more names, comma-separated; NULL: none
    char letter;         // for --sampler-seq; 0: none
    unsigned variant;    // which of the samplers of one file it is, for the functions that they share
    const char *heading; // of its options in --help; NULL: the chain's
    enum in_llama {
        LLAMA_HAS,
        LLAMA_SOME_BUILDS, // only some builds of llama.cpp have it
        LLAMA_INSIDE,      // its library has it, and no option of its programs
        LLAMA_IMPLIES,     // its chains have it, and do not name it
        LLAMA_LACKS,
    } in_llama;
    bool joins_default; // it joins the default chain if its own parameter enables it (recipe_set_samplers)
    bool once;          // llama.cpp runs it once, however often the chain names it
    int mirostat;       // the version of mirostat, which takes the place of a chain; 0: it is none

    // ---- its parameters

    const struct param *params; // rows up to one without a flag; NULL: none. NAME=VALUE in a chain sets the first
    size_t params_size;         // bytes of the parameter struct
    enum sampler_lists lists;   // of the context, which are parameters, too
    bool any_enables;           // each of them can enable it, not only the first
    bool needs_vocab;           // looks at the tokens' texts

    // Whether the sampler runs: always, or if its first parameter is above, below, or other than a bound. With other
    // parameters, it would change nothing.
    struct {
        enum { ALWAYS, ABOVE, BELOW, OTHER_THAN } first;
        double bound;
    } runs;

    // Whether the sampler runs, if that depends on more. NULL: it does not.
    bool (*enabled)(const struct stage *stage);

    // Returns what is wrong with parameters that are in their ranges one by one, or NULL.
    const char *(*conflict)(const void *params);

    // Checks that an enabled stage has the data of the context that its parameters need. False with *e (STATUS_USAGE).
    bool (*check)(const struct stage *stage, struct err *e);

    // Returns why a parameter has no effect beside the others and the context, or takes the sampler's effect away, as a
    // phrase that follows its name; NULL if it does neither.
    const char *(*idle)(const struct stage *stage, const struct param *row);

    // Returns what a first parameter above 1 does, as a phrase that follows the value. NULL: nothing of note.
    const char *(*above_one)(const struct stage *stage);

    // ---- what it does to a row

    // Works on one row. c has no fault and at least one candidate; apply leaves at least one candidate, or a fault. The
    // parameters may differ from those of the row before. All other functions may be NULL.
    void (*apply)(void *self, struct cand *c, const struct stage *stage);

    // How the stage works on a partial row whose unlisted tokens may be candidates.
    struct {
        // Works on the row in place of the sampler's apply, which it may call. It states what the stage does to the
        // unlisted tokens, by the functions of sample/unlisted.h. NULL: the stage depends on the unlisted tokens.
        void (*apply)(void *self, struct cand *c, const struct stage *stage);

        // Returns whether a list of the likeliest tokens, if it is long enough, tells what the stage keeps of the full
        // row. NULL: no list does.
        bool (*ends)(const struct stage *stage);

        size_t best;    // for keep_best_partial: the number of the best candidates that decide what the stage does
        bool of_logits; // a list of log-probabilities does not tell what apply needs
    } partial;

    // How the stage uses the size and the sign of the row's logits, which log-probabilities do not tell: not at all;
    // or its outcome depends on them; or it writes ln p, so that no later stage sees them.
    enum { IGNORES_SCALE, READS_LOGITS, WRITES_LOGPROBS } scale;

    enum odds {
        WITH_ODDS,
        REMOVES_LIKELY, // removes likely tokens, on purpose
        RAISES_UNLIKELY,
    } odds;

    bool needs_two;         // a single candidate stays as it is: apply is not called
    bool takes_deferred;    // works on candidates as cand_defer leaves them
    bool selector;          // sets chosen and chosen_p, and ends the chain
    enum selection selects; // of a selector with cand_keep_noise: what its values are
    enum handing hands;     // for traces

    // ---- what it remembers

    size_t size;         // bytes of state, which each sequence begins with zeroed; 0: none, and self is NULL
    bool learns;         // the state has numbers of earlier rows' distributions
    bool reads_prompt;   // looks at the prompt in the history
    bool counts_tokens;  // its outcome depends on the number of accepted tokens
    bool skips_by_width; // skip needs the width of each row

    // Returns how many of the accepted tokens, c->history, the sampler reads. NULL: none.
    size_t (*window)(const struct stage *stage);

    // Returns whether the state is right only if all rows before a row have been sampled. NULL: it always is.
    bool (*needs_rows)(const struct stage *stage);

    // Returns whether the distribution that the chain leaves depends on numbers that the sampler drew: in this row
    // before the selector's own draw, or in earlier rows. NULL: it never does.
    bool (*by_chance)(const struct stage *stage);

    // Sets what is not 0 at the start of a sequence, or when its seed changes: generators are seeded with seed.
    // draw_pcg, gumbel_philox and gumbel_murmur use all 64 bits of the seed; other samplers use the low 32.
    void (*reset)(void *self, const struct stage *stage, uint64_t seed);

    // The parameters or lists may differ from here on: the sampler forgets what it made of them.
    void (*change)(void *self);

    // Called when a token is accepted and in the history.
    void (*accept)(void *self, uint32_t token, const struct stage *stage);

    // Advances the state as if so many rows of `width` tokens had been sampled; also called for a row with a fault,
    // because apply draws before it can fail. NULL with needs_rows.
    void (*skip)(void *self, uint64_t rows, uint64_t width);

    // Frees what the state points to, not the state: before the state is zeroed, and at last.
    void (*release)(void *self);

    // ---- what it tells

    // Numbers that apply leaves by cand_measure: up to MEASURES_MOST rows, and one without a name; NULL: none
    const struct row_measure *measures;

    enum limit_kind limits; // the first parameter says what it keeps

    // Returns the number by which the stage divides every logit; 0: it leaves only the largest logit; NaN: the number
    // depends on the row. NULL: the stage does not divide.
    double (*temperature)(const struct stage *stage);

    // Returns the distance of a candidate from the limit that the stage computes of its candidates (sample/compared.h).
    // NULL: the limit is the first parameter, or is not known.
    double (*distance)(const struct stage *stage, const struct compared *of);

    // Says what the stage saw, or why it left the row as it was (sample/account.h). It may write nothing, or be NULL:
    // account_take finds words for a row that stayed as it was.
    void (*explain)(struct account *a);
};

// For a sampler of another program that llama.cpp does not have.
#define FOREIGN .in_llama = LLAMA_LACKS, .needs_two = true

// Records a number that explains what the sampler did with the row, such as its "draw" from [0, 1). O(1).
static inline void cand_note(struct cand *c, const char *name, double value)
{
    if (c->n_notes < NOTES_MOST)
        c->note[c->n_notes++] = (struct note){name, value};
}

// Leaves a number of the row, by its place in the sampler's measures. O(1).
static inline void cand_measure(struct cand *c, size_t i, double value)
{
    if (c->measure)
        c->measure[i] = value;
}

// Returns whether a sampler runs by `runs`, if its first parameter has this value.
bool sampler_runs_with(const struct sampler *s, double first);

// Returns the value of a stage's first parameter.
double stage_first(const struct stage *stage);

// Returns whether a stage changes anything, with its parameters.
bool stage_enabled(const struct stage *stage);

// Returns whether a stage leaves only the largest logit: its choice needs no draw.
bool stage_is_greedy(const struct stage *stage);

// A needs_rows or by_chance that is true with any parameters.
bool stage_always(const struct stage *stage);

// A partial.apply for a sampler that only edits logits with cand_edit, by additions, and for one whose apply calls the
// functions of sample/unlisted.h itself.
void apply_partial(void *self, struct cand *c, const struct stage *stage);

// The partial.apply of a sampler that keeps none but its best candidates: at most as many as partial.best says.
void keep_best_partial(void *self, struct cand *c, const struct stage *stage);

// A partial.apply for a sampler that divides all logits by its first parameter.
void divide_partial(void *self, struct cand *c, const struct stage *stage);

// A reset for a state that is a struct rng, or begins with one.
void reset_rng(void *self, const struct stage *stage, uint64_t seed);

// A release for such a state.
void release_rng(void *self);

// Returns the window of a count of tokens; -1 is the whole history.
static inline size_t window_of(int32_t last_n) { return last_n < 0 ? HISTORY_ALL : (size_t)last_n; }

#endif
