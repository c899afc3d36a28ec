// SPDX-License-Identifier: MIT
// Records to a stream: the destination, the formats, and what formats share.
#ifndef SAMPL_OUT_OUTPUT_H
#define SAMPL_OUT_OUTPUT_H

#include "base/err.h"
#include "out/record.h"
#include "out/screen.h"
#include "vocab/vocab.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct output {
    // set by the caller
    const char *name; // of the destination; NULL: standard output
    const struct output_format *format;
    enum emit emit;
    enum compared compared;
    const struct compared_chain *chain; // [n_chains], of several
    size_t n_chains;
    const char *const *swept; // [n_swept] the options that are swept
    size_t n_swept;
    bool lists, traces;        // of dumps: candidates, stages
    bool dump;                 // records come with candidates
    bool flush;                // after every record
    bool lines;                // records are lines of text for people, which a window folds
    bool goes_on;              // where another run's text ended: without what comes before the first record
    bool narrow;               // npy takes half floats when the input's are
    bool files;                // records come with files
    bool named;                // any may come with a sequence, whether or not the first does
    const struct vocab *vocab; // what the tokens say, or NULL
    const char *title;         // of a page: where the rows are from
    bool accepts;              // statistics come with the accepted token
    int64_t rows;              // how many records will come, or -1; npy must know it when it cannot go back
    size_t width;              // of the rows, or 0; for when there are none

    // the rest is for out/
    struct screen screen; // that it is shown on
    FILE *f, *stream; // f: records are written to; where they go in the end, the same but on a screen that folds them
    char *sheet;      // [sheet_len] what f holds then: a record
    size_t sheet_len;
    char *path, *temporary; // path is renamed to from temporary; NULL when the stream is written directly
    bool open, begun;       // begun: what comes before the first record is written
    bool heading;           // the names of fields are written, not their values
    size_t fields;          // of the line or object at hand, so far
    bool parted;            // a sheet was shown
    bool tinted;            // the text that is being shown has a colour,
    size_t missing;         // and its last character so many bytes that are to come
    uint64_t differing;     // records that were not as expected
    bool sequences;         // the first record was of a named one: all say of which they are
    uint64_t records;       // so far; of compared chains, rows
    int64_t begin;          // where in a file that can be written again the output starts, or -1
    struct page *page;      // of HTML, else NULL
};

// A format: a file out_NAME.c, which the binary formats share, and a row in output.c. Unless the comment says
// otherwise, a function that is NULL is never called, as the options that would need it are refused. output.c finds
// write errors.
struct output_format {
    const char *name;
    bool binary;  // not for a terminal
    bool counted; // states the number of records first
    bool cells;   // lines of cells, whose columns the first record settles
    bool raw_p;   // candidates show their raw probabilities
    bool page;    // holds more of a row than was asked for
    size_t state; // bytes of out->page, zeroed before begin

    void (*begin)(struct output *out); // before the first record, or the end when there is none; NULL: nothing

    // Write one record. The binary formats only have values.
    void (*id)(struct output *out, const struct record *r);
    void (*dump)(struct output *out, const struct record *r);
    void (*token)(struct output *out, const struct record *r); // its text; NULL: id shows that, too
    void (*stats)(struct output *out, const struct record *r);
    bool (*values)(struct output *out, const struct record *r, struct err *e); // a score or a distribution
    void (*bad)(struct output *out, const struct record *r); // one with an error; NULL: values does that

    // Write what out->compared says of several chains.
    void (*chains[COMPARED_COUNT])(struct output *out, const struct chains_record *r);

    // After the last record, or the last before an error, which has come about if it is not `whole`. NULL: nothing.
    bool (*finish)(struct output *out, bool whole, struct err *e);
};

extern const struct output_format output_text, output_tsv, output_json, output_html, output_f32, output_f16, output_npy,
    output_expect;

// The format of that name, which exists.
const struct output_format *output_format_named(const char *name);

// The format of distributions if no output format was named, by the name of the input's format: the same, or the
// plainest format that can hold the rows.
const struct output_format *output_format_like(const char *input);

// ---- for formats

// The statistics that a record shows.
static inline enum statistic record_stats(const struct output *out)
{
    return out->accepts ? STAT_COUNT : STAT_ACCEPTED;
}

// Numbers in a record: n_vocab or, of a score, one.
static inline size_t record_width(const struct output *out, const struct record *r)
{
    return out->emit == EMIT_SCORE ? 1 : r->n_vocab;
}

// Writes a short text.
static inline void output_short(const struct output *out, const char *text)
{
    for (; *text; text++)
        putc_unlocked(*text, out->f);
}

// Write a text, and behind it a number with the fewest digits that read back to it.
void output_float(const struct output *out, const char *before, float x);
void output_double(const struct output *out, const char *before, double x);

// "DESTINATION: cannot WHAT: ...", or the quiet end, from errno.
static inline bool output_fail(const struct output *out, const char *what, struct err *e)
{
    if (errno == EPIPE)
        return err_quiet(e);
    return err_set(e, STATUS_IO, "%s: cannot %s: %s", out->name, what, strerror(errno));
}

// A text of C's.
static inline struct piece text_piece(const char *text)
{
    return (struct piece){(const unsigned char *)text, strlen(text)};
}

// Returns the text of a token; an empty one without a vocabulary.
static inline struct piece output_token(const struct output *out, uint32_t id)
{
    return out->vocab ? vocab_text(out->vocab, id) : (struct piece){0};
}

// Writes a text of any bytes as part of a line of UTF-8, between quotes unless quote is 0. The escapes are those that
// text_unescape resolves: \n \r \t \\, the quote, and \xHH for each byte of other control and formatting characters and
// of what is not UTF-8. A text of more than `most` columns of a terminal is cut, and ends with TEXT_CUT. Returns how
// many columns the text takes. If f is NULL, nothing is written.
#define TEXT_CUT "..."
size_t text_clip(FILE *f, struct piece text, char quote, size_t most);

// The whole text.
static inline size_t text_put(FILE *f, struct piece text, char quote)
{
    return text_clip(f, text, quote, SIZE_MAX);
}

// Writes a JSON string. U+FFFD replaces each byte that is not UTF-8. page: characters that HTML might take for the end
// of a script, or for more than text, are escaped, too.
void text_put_json(FILE *f, struct piece text, bool page);

// text_clip, with blanks behind it up to `width` columns.
void text_cell(FILE *f, struct piece text, char quote, size_t width, size_t most);

// How many columns the first character of p[0..len) takes, len > 0; *taken: and how many bytes.
size_t text_columns(const unsigned char *p, size_t len, size_t *taken);

enum { TEXT_MOST = 40 }; // columns up to which texts are aligned

// How many columns a token's text may take.
static inline size_t output_text_most(const struct output *out)
{
    const int quarter = out->screen.columns / 4;
    return !quarter ? SIZE_MAX : quarter < TEXT_MOST ? (size_t)quarter : TEXT_MOST;
}

// The larger of `width` and the columns of a token's text, unless those are too many to be aligned.
size_t text_width(const struct output *out, size_t width, uint32_t id);

// Writes a blank and a token's text in so many columns.
void text_of_token(const struct output *out, uint32_t id, size_t width);

// The value of a parameter or a note.
const char *named_text(const struct named *x, char text[NUMBER_TEXT]);

// Writes the id and, with a vocabulary, the text in quotes.
void output_name(const struct output *out, uint32_t token);

// Writes a text, and behind it a JSON string.
void output_string(const struct output *out, const char *before, struct piece string);

// Writes the ids that the chains chose, a line a row.
void output_chain_ids(struct output *out, const struct chains_record *r);

// For people: a number of the table in few digits, and behind a share its standard error.
enum { CELL_TEXT = 40 };
const char *output_cell_text(const struct table_cell *cell, enum column_kind kind, char text[CELL_TEXT]);

// ---- for the run

// Opens the destination; what the caller has not set is zeroed. out must be closed either way.
bool output_open(struct output *out, struct err *e);

// When nobody reads the output any more, the functions below fail with a quiet end (err_quiet).
bool output_record(struct output *out, const struct record *r, struct err *e);

// Uses, from the next record on, the texts that its row told of its tokens. There is no other vocabulary.
void output_tell(struct output *out, const struct vocab *texts);

// Does a page show no more rows?
static inline bool output_full(const struct output *out)
{
    return out->format->page && out->records >= PAGE_ROWS;
}

// Output that is written later.
struct kept_text {
    char *text; // [len], malloc'ed
    size_t len;
};

// Writes a record of several chains. If `kept` is given, the text goes there, for output_kept; the caller frees it.
bool output_chains(struct output *out, enum compared kind, const struct chains_record *r, struct kept_text *kept,
                   struct err *e);
bool output_kept(struct output *out, const struct kept_text *kept, struct err *e);

// Ends the output. With commit, a file takes its name; without commit, the file is removed. Errors of the disk show
// here at the latest. A second call does nothing.
bool output_close(struct output *out, bool commit, struct err *e);

// For signal handlers: removes a file that is being written, and the line that shows progress.
void output_abandon(void);

// From now on a signal that ends the program does so, too.
void output_catch_signals(void);

#endif
