// SPDX-License-Identifier: MIT
// Rows from files: opens them in turn, finds out their formats, and hands out the rows that were asked for.
#ifndef SAMPL_IN_INPUT_H
#define SAMPL_IN_INPUT_H

#include "in/rows.h"
#include "in/source.h"
#include "sample/cand.h"
#include "vocab/vocab.h"

// What the user said about the input.
struct input_config {
    const char *const *files; // [n_files], at least one; "-" is standard input
    size_t n_files;
    const struct kern *kern;   // the SIMD tier
    const char *format;        // a format's name or "auto"
    size_t n_vocab;            // 0: not given
    size_t n_tokens;           // of the vocabulary, the width of raw rows when n_vocab is not given; 0: there is none
    const struct vocab *vocab; // token texts, or NULL
    struct vocab *texts;     // takes in the texts that a row tells of its tokens (vocab_tell); NULL: nobody wants them
    bool ranks;              // tokens of servers' replies are numbered by rank, whatever their ids
    bool keep_probs;         // JSON's probabilities stay what they are, instead of becoming logits
    const char *tensor;      // which one, in files that hold several; NULL: the only one that fits
    const struct rows *rows; // those wanted
    bool lazy;               // rows may come as text, for others to read; asked for each row
    const char *params;      // a file with a line for each row, of what JSON rows may say of themselves; NULL: none

    // A part of a run that others work on, too: of the rows wanted the shard-th of so many contiguous parts, counted from 1; or with
    // files that begin in mid-run, at row number base.
    int64_t shard, shards; // 0: all rows
    int64_t base;          // else 0
};

// A row and what its format knows about it.
struct input_row {
    struct row logits; // valid until the next one is read
    const char *file;  // its name, for messages
    uint64_t number;   // from 0 over all files
    bool several;      // files there are
    uint64_t in_file;  // its number in this one
    uint64_t index;    // from 0 over the rows that are handed out
    bool stays;        // the logits (and ids) stay where they are until input_release
    bool fresh;        // starts a sequence of its own, preceded by the tokens before[0..n_before)
    const uint32_t *before;
    size_t n_before;
    uint64_t place;   // with before or own: rows of its sequence that precede it
    bool own;         // the format names the sequence, and tells where it begins
    uint64_t nth;     // it is this one of those in the input so far, from 0
    uint64_t length;  // rows that it has
    bool passed;      // it belongs to an earlier part; only what is said of it counts
    uint64_t missed;  // rows of the run that are before this part
    uint64_t left_at; // with place: how many of them are of this row's sequence
    uint64_t gap;     // rows between it and the one handed out before that nobody asked for
    int64_t recorded; // the token that was chosen from this row, or -1
    bool told;        // it has told texts
    bool bad;         // it came with an error, but the rows after it can be read; logits then has a width at most

    // A lazy row: nothing is known of its logits before input_read; else NULL.
    const char *text; // [n_text], which may stay
    size_t n_text;
    uint64_t text_at; // where it stands in its file

    // What a JSON row may say of itself, or another file says of it; valid until the next one is read.
    bool may_change;        // later rows of the input can come with params
    const char *seq;        // the sequence it belongs to, or NULL
    const uint32_t *prompt; // [n_prompt] tokens before the sequence's first row, or NULL
    size_t n_prompt;
    int64_t forced;             // the token that follows it, or -1
    bool ends;                  // its sequence ends after it
    const struct cJSON *params; // llama-server's parameters, from this row on, or NULL
};

// A format: one file in_NAME.c and one row in input.c.
struct format {
    const char *name;
    const char *endings[4]; // of file names: ".f32", ".bin", NULL
    int kind;               // for formats that share their functions
    size_t size;            // bytes of state, zeroed before open
    bool matrix; // the state begins with a struct matrix: rows can be counted, and passed over without reading them

    // How an input tells by its first bytes, 64 or all, that it is of this format: it begins with magic, or probe says so. Neither: it
    // does not tell.
    const char *magic;
    bool (*probe)(const unsigned char *head, size_t len);

    // Reads what precedes the rows.
    bool (*open)(void *self, const struct format *f, struct source *s, const struct input_config *config,
                 struct err *e);

    // The next row, valid until the next call; r comes zeroed but for recorded and forced, which are -1. *end, which comes false, without
    // a row after the last. Errors need no file name; when the next call can go on behind the row, r->bad is set with them.
    bool (*next)(void *self, struct source *s, struct input_row *r, bool *end, struct err *e);

    void (*close)(void *self); // frees what the state holds, but for a matrix's row; NULL: nothing
};

extern const struct format format_f32, format_f16, format_bf16, format_json, format_npy, format_safetensors, format_kld,
    format_pairs;

// For formats: if the error is one of data, marks a row that has been read as bad: it is nothing but its place and the width (0: unknown)
// that it should have. Returns false.
static inline bool input_bad_row(struct input_row *r, size_t width, const struct err *e)
{
    r->bad = e->status == STATUS_DATA;
    if (r->bad) {
        r->logits = (struct row){DTYPE_F32, NULL, width};
        r->params = NULL;
        r->prompt = NULL;
    }
    return false;
}

// Does a row of an input whose rows can come with params say more of itself than its numbers?
static inline bool input_says_more(const struct input_row *r)
{
    return r->may_change && (r->seq || r->params || r->prompt || r->forced >= 0 || r->recorded >= 0 || r->n_before ||
                             r->fresh || r->own || r->ends || r->told || r->passed);
}

struct input;

// config must outlive the input. NULL and *e on failure.
struct input *input_open(const struct input_config *config, struct err *e);
void input_close(struct input *in);

// The name of the format of the first file that is not empty, which is opened for it; "" when there is no such file.
bool input_format(struct input *in, const char **name, struct err *e);

// How many rows will come, or -1 when that cannot be known beforehand; *why then has the error of a file that could not be looked at, if
// its status is not STATUS_OK. Only before the first input_next; opens a file as above.
bool input_rows(struct input *in, int64_t *rows, struct err *why, struct err *e);

// The next wanted row, valid until the next call. *end without a row after the last. Errors name file and row, except those of a bad
// row (r->bad), after which one may go on; input_blame adds the name.
bool input_next(struct input *in, struct input_row *r, bool *end, struct err *e);

// Reads a lazy row, as input_next would have; its numbers are the reader's until the next one. *reader is NULL at first; free frees it.
struct input_reader;
bool input_read(struct input_reader **reader, const struct input_config *config, struct input_row *r, struct err *e);
void input_reader_free(struct input_reader *reader);

// Lets go of files that have been read to their end: rows that stay do so until here.
void input_release(struct input *in);

// Puts "FILE: row N" before an error found while working on a row; with several files "FILE: row N (row M of the run)".
bool input_blame(const struct input_row *r, struct err *e);

#endif
