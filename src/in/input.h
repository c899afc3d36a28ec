// SPDX-License-Identifier: MIT
// Rows from files: opens the files in turn, finds out their formats, and returns the rows that a run needs.
#ifndef SAMPL_IN_INPUT_H
#define SAMPL_IN_INPUT_H

#include "in/rows.h"
#include "in/source.h"
#include "sample/cand.h"
#include "sample/history.h"
#include "vocab/vocab.h"

enum reply_ids { IDS_GIVEN, IDS_RANK };       // the reply's own, or ranks within the row
enum reply_need { NEEDS_LIST, NEEDS_CHOSEN }; // a list of tokens, or just the chosen one's log-probability
enum json_probs { PROBS_TO_LOGITS, PROBS_STAY };
enum on_error { ERROR_STOPS, ERROR_SKIPS }; // ERROR_SKIPS: a row that is no JSON is bad, and ends with its line

// The input as the command line describes it.
struct input_config {
    const char *const *files; // [n_files], at least one; "-" is standard input
    size_t n_files;
    const struct kern *kern;   // the SIMD tier
    const char *format;        // a format's name or "auto"
    size_t n_vocab;            // --n-vocab; 0: not given
    size_t n_tokens;           // size of the vocabulary; 0: there is none
    const struct vocab *vocab; // texts of tokens, or NULL
    struct vocab *texts;       // receives the texts that a reply lists for its tokens (vocab_set_text), or NULL
    enum reply_ids ids;        // of the tokens in servers' replies
    bool recorded;             // the chunks of kld files, and replies, are sequences
    enum reply_need reply;     // what a position of a reply must have; else its row is bad
    enum json_probs probs;     // what becomes of the probabilities of JSON rows
    const char *tensor;        // name of the tensor in files that hold several; NULL: the only one that fits
    int64_t first;             // the run's first row; a negative number counts from the end
    const struct rows *rows;   // that the run shows
    enum on_error on_error;
    struct source_idle idle; // may change from row to row
    const char *params;      // name of a file with notes on each row (row_notes.h), one line a row; or NULL

    // A part of a longer run. Either the shard-th, from 1, of `shards` contiguous parts of the shown rows; or files
    // whose first row has number `base` in the longer run.
    int64_t shard, shards; // 0: all rows
    int64_t base;          // else 0
};

// How a row is read, as bits.
enum row_reading {
    // Whether rows before the last shown one are returned, too; the same for all rows of an input. Otherwise rows of
    // mapped files are skipped unread, and the next row's place tells how many.
    READ_ALL = 1,    // all, even if only to tell of their sequences
    READ_UNSEEN = 2, // the rows of the run, which are to be sampled although they are not shown

    READ_SHARED = 4, // who works on a mapped row gives back its memory, with source_give_back
    READ_TEXT = 8    // the row may be returned as text, for input_read
};

// The use of a returned row. A row that is not sampled only tells of its sequence: parameters, tokens, ends.
enum row_use {
    ROW_SHOWN,
    ROW_UNSEEN,  // sampled for the rows behind it, and not shown
    ROW_PASSED,  // a row of the run that is not sampled, as the rows behind it do not need that
    ROW_EARLIER, // before the first row of the run
    ROW_PROMPT   // of the prompt, as the row says: no token is chosen from it
};

// Returns whether a row of this use is sampled.
static inline bool row_is_sampled(enum row_use use) { return use == ROW_SHOWN || use == ROW_UNSEEN; }

// Returns true if a row of this use is no row of the run.
static inline bool row_is_left_out(enum row_use use) { return use == ROW_EARLIER || use == ROW_PROMPT; }

// Where a row stands: its sequence, and the rows before it. A format that knows sequences sets `first`, and if it names
// them also `named` and `sequence`; the notes of a row may set `use` to ROW_PROMPT. input_next sets the other members.
// Rows have their numbers over all files of the whole run.
//
// Example: a kld file has chunks of three rows, 0 to 2, 3 to 5 and 6 to 8. With --accept recorded --first 1 --rows
// 2,4,5 the input returns these rows. The run has the rows from 1 on.
//
//                first  left_out           drawn      before
//     row 2      0      2 (rows 0 and 1)   1 (row 1)  0
//     row 4      3      1 (row 3)          1 (row 3)  2 (rows 1 and 2)
//     row 5      3      0                  0          2
struct place {
    bool named;        // the format names the sequence
    uint64_t sequence; // if named: index of the sequence in the input
    uint64_t first;    // number of the sequence's first row; 0 if the format does not tell sequences apart
    uint64_t left_out; // rows of the sequence directly before this one that the input has not returned
    uint64_t drawn;    // how many of these the run has; of a sequence that only rows name, how many rows it has before
                       // this part
    uint64_t before;   // rows of the whole run before the sequence's first row
    enum row_use use;
};

// Facts about the numbers and texts of a row that its format knows, as bits.
enum row_fact {
    ROW_RAW = 1,              // they are of a raw file, which does not tell their type
    ROW_MASKED = 2,           // a reply has a sampling mask, which is not read
    ROW_TWO_NUMBERS = 4,      // a reply lists the chosen token with two numbers, of which the larger one counts
    ROW_TEXTS = 8,            // config->texts holds texts of the row's tokens
    ROW_ASIDE = 16,           // a reply has positions of its reasoning or refusal beside those of its content
    ROW_IDS_UNUSED = 32,      // a reply has ids beside its tokens, but not as many
    ROW_ONE_LIST = 64,        // arrays of ids and numbers side by side were read as one list
    ROW_PROMPT_NUMBERS = 128, // the prompt of a reply has log-probabilities, but none that are read
    ROW_AFTER_SAMPLING = 256, // the probabilities are those that the server's own chain left
    ROW_PROBABILITIES = 512,  // numbers named log-probabilities are read as probabilities
    ROW_CHOSEN_IDS = 1024,    // the list is one of tokens that the request named
    ROW_UNREAD = 2048,        // a reply has tokens beside those of the output, in a member that no shape has
    ROW_OTHER_NUMBER = 4096   // a reply gives the chosen token another number than its list, which counts
};

// A row and what its format knows about it.
struct input_row {
    struct row logits; // valid until the next row is read
    const char *file;  // name of the file, for messages
    uint64_t number;   // over all files, from 0
    bool several;      // there are several files
    uint64_t in_file;  // number of the row in its file, from 0
    uint64_t index;    // over the rows that are shown, from 0
    bool mapped;       // the logits, or the text, lie in a mapped file, until input_release
    bool fresh;        // begins a sequence, after the tokens `before`
    struct tokens before;
    uint64_t length; // rows of its sequence, if place.named
    struct place place;
    int64_t recorded; // the token that was chosen from this row, or -1
    unsigned facts;   // bits of enum row_fact
    size_t ragged;    // of the first row of a raw file: bytes behind the file's last whole row
    bool bad;         // the row has an error, but the rows after it can be read; logits then has at most a width

    // A row that is returned as text, whose logits are not known before input_read; else NULL.
    const char *text; // [n_text], valid as long as logits would be
    size_t n_text;
    uint64_t text_at; // offset in the file

    // Notes of a JSON row, or of the row's line of --params; valid until the next row is read.
    bool may_change;            // input_tells
    const char *seq;            // name of its sequence, or NULL
    struct tokens prompt;       // before the sequence's first row; id NULL: the row does not say
    int64_t forced;             // the token to accept after the row, or -1
    int64_t position;           // of the row in its sequence, prompt included, from 0; -1: the row does not say
    bool ends;                  // the row is the last of its sequence
    const struct cJSON *params; // llama-server's parameters, from this row on, or NULL
};

// A format: one file in_NAME.c and one line in formats.def.
struct format {
    const char *name;
    const char *endings[4]; // of file names: ".f32", ".bin", NULL
    int kind;               // for formats that share their functions
    size_t size;            // bytes of state, zeroed before open
    bool matrix;            // the state begins with a struct matrix: rows can be counted, and skipped unread
    bool names;             // its rows can name a sequence

    // An input is of this format if it begins with magic; without magic, if probe returns true for its first 64 bytes,
    // or all. A format may have neither.
    const char *magic;
    bool (*probe)(const unsigned char *head, size_t len);

    // Reads what precedes the rows. NULL: nothing precedes them.
    bool (*open)(void *self, const struct format *f, struct source *s, const struct input_config *config,
                 struct err *e);

    // Reads the next row, valid until the next call. The caller zeroes *r, sets r->recorded and r->forced to -1 and
    // *end to false; source and config are those of each call. After the last row, sets *end. An error needs no file
    // name. If the next call can go on behind the row, an error also sets r->bad.
    bool (*next)(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                 struct err *e);

    // Like next, but may return the row as text, for input_read. NULL: the format has no such rows.
    bool (*next_text)(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                      struct err *e);

    void (*close)(void *self); // frees the memory of the state, except the state and the row of a matrix; or NULL
};

#define FORMAT(name) extern const struct format format_##name;
#include "in/formats.def"
#undef FORMAT

// "auto" and the formats' names, with commas.
extern const char format_choices[];

// For formats, after an error of a row that was read to its end: marks the row as bad if the error has STATUS_DATA. A
// bad row has its number, and the width that it should have (0: unknown). Returns false.
static inline bool input_bad_row(struct input_row *r, size_t width, const struct err *e)
{
    r->bad = e->status == STATUS_DATA;
    if (r->bad) {
        r->logits = (struct row){DTYPE_F32, NULL, width};
        r->params = NULL;
        r->prompt.id = NULL;
    }
    return false;
}

// Returns true if rows of the input may have params, and this row carries more than its numbers.
static inline bool input_says_more(const struct input_row *r)
{
    return r->may_change &&
           (r->seq || r->params || r->prompt.id || r->forced >= 0 || r->recorded >= 0 || r->before.n || r->fresh ||
            r->place.named || r->ends || r->place.use == ROW_PROMPT || r->facts & ROW_TEXTS);
}

// The size of the vocabulary as far as it is known before the rows: --n-vocab, else the vocabulary's; 0: unknown.
static inline size_t input_n_vocab(const struct input_config *config)
{
    return config->n_vocab ? config->n_vocab : config->n_tokens;
}

// For formats: fails with STATUS_DATA if --n-vocab is given and a dense row has another width.
static inline bool input_check_width(const struct input_config *config, size_t n, struct err *e)
{
    return !config->n_vocab || n == config->n_vocab ||
           err_set(e, STATUS_DATA, "the row has %zu logits, --n-vocab is %zu", n, config->n_vocab);
}

// Finds the format of an open file by --format, by its content, or by its name. *f is NULL, and stays so for an empty
// file. Errors name neither the file nor the row.
bool format_choose(const struct input_config *c, struct source *s, const struct format **f, struct err *e);

// Returns true if head[0..len), the beginning of a file, has the format's magic, or satisfies its probe if it has none.
bool format_begins(const struct format *f, const unsigned char *head, size_t len);

// Names the kind of a file that holds neither rows nor a vocabulary, by its first bytes: "zstd (28 b5 2f fd)". NULL: it
// is none that is known. A model in GGUF is such a file, too.
const char *input_other_file(const unsigned char *head, size_t len);

// Fails with STATUS_DATA if the first bytes are those of a Git LFS pointer, which stands for a file that is not there.
bool input_no_pointer(const unsigned char *head, size_t len, struct err *e);

struct input;

// Opens no file yet. config must outlive the input. Returns NULL on failure. The caller frees the input with
// input_close.
struct input *input_open(const struct input_config *config, struct err *e);
void input_close(struct input *in);

// Opens the first file that is not empty, unless it is open. *name: its format; "" if all files are empty.
bool input_format(struct input *in, const char **name, struct err *e);

// Returns whether rows of the input can name a sequence. True also for files whose formats only reading can tell. Opens
// a file as input_format does.
bool input_names(struct input *in, bool *names, struct err *e);

// Returns whether rows of the input can say more of themselves than their numbers. Opens a file as input_format does.
bool input_tells(struct input *in, bool *tells, struct err *e);

// Counts the rows that will be shown: *rows, or -1 if only reading can tell. *why then has the error of a file
// that could not be counted, or STATUS_OK. Opens a file as input_format does. Only before the first input_next.
bool input_rows(struct input *in, int64_t *rows, struct err *why, struct err *e);

// Finds the type and the width of the rows when no row was returned: *like, without logits. They are known from the
// options, from a header, or from a row that is not shown. False with *e if they are not known.
bool input_width(struct input *in, struct row *like, struct err *e);

// Reads the next row, valid until the next call. how: bits of enum row_reading. Sets *end after the last row. On
// an error with r->bad, the next call may follow, and *e names no file and row; input_blame adds them. Other errors
// name them, and end the input.
bool input_next(struct input *in, unsigned how, struct input_row *r, bool *end, struct err *e);

// Reads the logits of a row of text, with the errors of input_next. *reader holds them until the next call. The caller
// sets *reader to NULL before the first call, and frees it with input_reader_free.
struct input_reader;
bool input_read(struct input_reader **reader, const struct input_config *config, struct input_row *r, struct err *e);
void input_reader_free(struct input_reader *reader);

// After the last row: the first row of a range of shown rows that lies wholly behind the input; -1: there is none.
int64_t input_first_beyond(const struct input *in);

// Returns the number of rows of all files if --rows or --first counts from the end, or with --shard; else 0.
int64_t input_counted(const struct input *in);

// The number of the row that was read last; the row before the input's first if none was.
int64_t input_last_row(const struct input *in);

// How many rows follow r, the row read last, that have its use and differ from it in their place only: they lie behind
// it in a mapped file. 0: the next one must be read to know. input_pass passes over n of them; who works on them gives
// back their memory.
uint64_t input_alike(const struct input *in, const struct input_row *r);
void input_pass(struct input *in, const struct input_row *r, uint64_t n);

// Moves r to the n-th row behind it, which is like it (input_alike).
static inline void input_step(struct input_row *r, uint64_t n)
{
    if (!n)
        return; // a row that cannot be read has no data
    r->logits.data = (const char *)r->logits.data + n * r->logits.n * dtype_size(r->logits.type);
    r->number += n;
    r->in_file += n;
    r->index += n;
    r->place.left_out = 0;
    r->place.drawn = 0;
}

// The number of files that have been read to their end. input_release closes the first n of them, and ends their rows
// that are mapped.
uint64_t input_finished(const struct input *in);
void input_release(struct input *in, uint64_t n);

// Puts "FILE: row N: " before an error of a row; with several files "FILE: row N (row M of the run): ". Returns false.
bool input_blame(const struct input_row *r, struct err *e);

#endif
