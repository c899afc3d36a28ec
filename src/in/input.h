// SPDX-License-Identifier: MIT
// Rows from files: opens them in turn, finds out their formats, and hands out the rows that were asked for.
#ifndef SAMPL_IN_INPUT_H
#define SAMPL_IN_INPUT_H

#include "in/rows.h"
#include "in/source.h"
#include "sample/cand.h"
#include "vocab/vocab.h"

// The input as the command line describes it.
struct input_config {
    const char *const *files; // [n_files], at least one; "-" is standard input
    size_t n_files;
    const struct kern *kern; // the SIMD tier
    const char *format;      // a format's name or "auto"
    size_t n_vocab;          // 0: not given
    size_t n_tokens;         // size of the vocabulary, and width of raw rows if n_vocab is not given; 0: no vocabulary
    const struct vocab *vocab; // token texts, or NULL
    struct vocab *texts;     // receives the texts that a row has for its tokens (vocab_tell); NULL: they are not wanted
    bool ranks;              // tokens of servers' replies get their ranks as ids
    bool keep_probs;         // JSON's probabilities do not become logits
    const char *tensor;      // name of the tensor in files that hold several; NULL: the only one that fits
    const struct rows *rows; // that are wanted
    bool lazy;               // rows may come as text, for input_read; looked at for each row
    const char *params; // a file with a line for each row, which says what JSON rows may say of themselves; or NULL

    // A part of a longer run: the shard-th, from 1, of `shards` contiguous parts of the wanted rows; or files whose
    // first row has number `base` in the longer run.
    int64_t shard, shards; // 0: all rows
    int64_t base;          // else 0
};

// Where a row stands: in its sequence, and among the rows of the run. A format sets the first three; input_next the
// rest.
struct row_origin {
    bool named;                   // the format names the sequence and tells where it begins
    uint64_t index_in_sequence;   // with named or before[]: number of rows of its sequence that precede the row; else 0
    uint64_t sequence;            // with named: index of the sequence in the input; else 0
    uint64_t rows_skipped;        // rows of the run that precede this part: other parts sample them
    uint64_t skipped_of_sequence; // how many of those are of the row's sequence
    uint64_t rows_unasked;        // rows between this one and the one handed out before, which --rows leaves out
    bool earlier_part;            // the row itself belongs to an earlier part: only what it says of its sequence counts
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
    uint64_t length; // of its sequence, if origin.named
    struct row_origin origin;
    int64_t recorded; // the token that was chosen from this row, or -1
    bool told;        // config.texts has texts of this row
    bool bad;         // the row has an error, but the rows after it can be read; logits then holds at most a width

    // A lazy row, whose logits are not known before input_read; else NULL.
    const char *text; // [n_text]; stays as long as logits would
    size_t n_text;
    uint64_t text_at; // offset in its file

    // Members of a JSON row, or of its line of --params; valid until the next row is read.
    bool may_change;        // later rows of the input can come with params
    const char *seq;        // name of its sequence, or NULL
    const uint32_t *prompt; // [n_prompt] tokens before the sequence's first row, or NULL
    size_t n_prompt;
    int64_t forced;             // the token that follows the row, or -1
    bool ends;                  // its sequence ends after the row
    const struct cJSON *params; // llama-server's parameters, from this row on, or NULL
};

// A format: one file in_NAME.c and one row in input.c.
struct format {
    const char *name;
    const char *endings[4]; // of file names: ".f32", ".bin", NULL
    int kind;               // for formats that share their functions
    size_t size;            // bytes of state, zeroed before open
    bool matrix; // the state begins with a struct matrix: rows can be counted, and passed over without reading them

    // An input is of this format if it begins with magic, or if probe returns true for its first 64 bytes, or all. A
    // format may have neither.
    const char *magic;
    bool (*probe)(const unsigned char *head, size_t len);

    // Reads what precedes the rows.
    bool (*open)(void *self, const struct format *f, struct source *s, const struct input_config *config,
                 struct err *e);

    // Reads the next row, valid until the next call. r is zeroed before, but for recorded and forced, which are -1.
    // After the last row, sets *end, which is false before. Errors need no file name. If the next call can go on behind
    // the row, an error also sets r->bad.
    bool (*next)(void *self, struct source *s, struct input_row *r, bool *end, struct err *e);

    void (*close)(void *self); // frees what the state holds, but for a matrix's row; or NULL
};

extern const struct format format_f32, format_f16, format_bf16, format_json, format_npy, format_safetensors, format_kld,
    format_pairs;

// For formats: if the error is one of data, marks a row as bad. The row then has nothing but its number and the width
// (0: unknown) that it should have. Returns false.
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
                             r->fresh || r->origin.named || r->ends || r->told || r->origin.earlier_part);
}

struct input;

// config must outlive the input. NULL and *e on failure.
struct input *input_open(const struct input_config *config, struct err *e);
void input_close(struct input *in);

// Opens the first file that is not empty, and names its format; "" if there is no such file.
bool input_format(struct input *in, const char **name, struct err *e);

// Counts the rows that will come; -1 if that cannot be known beforehand. *why then has the error of a file that could
// not be counted, or STATUS_OK. Only before the first input_next; opens a file as input_format does.
bool input_rows(struct input *in, int64_t *rows, struct err *why, struct err *e);

// Reads the next wanted row, valid until the next call. Sets *end after the last. Errors name file and row, except
// those of a bad row (r->bad): after these the next call may follow, and input_blame adds the names.
bool input_next(struct input *in, struct input_row *r, bool *end, struct err *e);

// Reads a lazy row as input_next would have. The reader keeps its numbers until the next row. *reader is NULL before
// the first row.
struct input_reader;
bool input_read(struct input_reader **reader, const struct input_config *config, struct input_row *r, struct err *e);
void input_reader_free(struct input_reader *reader);

// Releases files that have been read to their end, and with them the rows that `stays` marks.
void input_release(struct input *in);

// Puts "FILE: row N" before an error found while working on a row; with several files "FILE: row N (row M of the run)".
bool input_blame(const struct input_row *r, struct err *e);

#endif
