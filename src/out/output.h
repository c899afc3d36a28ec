// SPDX-License-Identifier: MIT
// Records to a stream: the destination, the formats, and what formats share.
#ifndef SAMPL_OUT_OUTPUT_H
#define SAMPL_OUT_OUTPUT_H

#include "base/err.h"
#include "base/platform.h"
#include "out/record.h"
#include "out/screen.h"
#include "vocab/vocab.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// A file in memory.
struct memory_file {
    FILE *f;    // NULL: closed
    char *text; // [len] once the file is closed; the caller frees it
    size_t len;
};

struct output {
    // set by the caller
    const char *name; // of the destination; NULL: standard output
    const struct output_format *format;
    enum emit emit;
    enum compared compared;
    const struct chains *chains;     // if compared
    bool variants;                   // records name their variant
    bool lists, traces;              // dumps hold candidates, and lines of stages
    bool dump;                       // records are dumps
    bool flush;                      // each record is flushed
    bool lines;                      // records are lines of text, which are folded in a window
    bool goes_on;                    // the output continues that of another run: begin writes no heading
    bool narrow;                     // npy: the numbers are f16 if the input's are
    bool files;                      // records name their file
    bool any_sequence;               // any record may name a sequence, whether or not the first one does
    const struct vocab *vocab;       // texts of the tokens, or NULL
    const struct draw_report *draws; // set before output_close, or NULL
    const char *title;               // HTML: title of the page
    const char *version;             // HTML: of the program
    const char *command;             // HTML: the command line, quoted for a shell; NULL: not shown
    uint64_t seed;                   // HTML: of the base
    size_t most_chains;              // HTML: number of chains that a row shows at most
    bool accepts;                    // statistics include those of the accepted token
    const char *const *measures;     // more statistics of the chains' samplers, NULL behind the last; or NULL
    bool pairs;                      // statistics include those of the comparison with the base
    int64_t rows;                    // number of records that will come, or -1: not known
    size_t width;                    // numbers in a row, from --n-vocab; 0: the first good row decides

    // the rest is for out/
    struct screen screen;     // the window that shows the output
    FILE *f;                  // the writers of records write to it: stream, sheet.f, or a file of output_chains
    FILE *stream;             // the destination
    struct memory_file sheet; // with lines: the record that is being written
    char *path, *temporary;   // at the end, temporary is renamed to path; NULL: stream is the destination itself
    bool open;                // output_open has succeeded
    bool begun;               // format->begin has been called
    bool heading;             // fields write their names, not their values
    size_t fields;            // number of fields in the line or object so far
    bool sheet_shown;         // a sheet was shown
    bool sequences;           // records name their sequence: the first one did, or any may
    bool rests;               // cells: records have the rest, because the first one is of a partial row
    uint64_t records;         // number of records so far; of compared chains, of rows
    int64_t begin;            // offset in a regular file at which the output begins; -1: it cannot be written again

    // text
    bool tinted;    // the last token's text has a style that has not ended
    bool errors;    // the table has room for the errors of means
    size_t missing; // bytes that the last character lacks: later tokens have them

    // expect
    uint64_t differing; // number of records that were not as expected
    uint64_t within;    // number of other records that were not, but whose margin is within the tolerance

    // HTML
    struct memory_file table; // rows of the table that ends the page
    uint32_t sequence;        // hash of the name of the last row's sequence
};

// A format: a file out_NAME.c, and a row of the table in output.c; the binary formats share a file. Unless the comment
// says otherwise, a function that is NULL is never called, because the options that would call it are refused. Writers
// ignore errors of out->f, which output.c finds.
struct output_format {
    const char *name;
    const char *inputs; // names of input formats: it writes their distributions if no output format is named
    bool binary;        // refused by a terminal
    bool counted;       // the number of records comes first
    bool cells;         // lines of cells; the first record decides which columns there are
    bool page;          // records hold more of a row than was asked for

    // Writes what precedes the records. Called before the first record, or at the end if there is none. NULL: nothing.
    void (*begin)(struct output *out);

    // Returns false if the record cannot be written. NULL: every record can.
    bool (*check)(struct output *out, const struct record *r, struct err *e);

    // Write a record. The binary formats have only values.
    void (*id)(struct output *out, const struct record *r);
    void (*dump)(struct output *out, const struct record *r);
    void (*token)(struct output *out, const struct record *r); // the token's text; NULL: id writes it
    void (*stats)(struct output *out, const struct record *r);
    void (*values)(struct output *out, const struct record *r); // a score or a distribution
    void (*bad)(struct output *out, const struct record *r);    // a record with an error; NULL: values writes it

    // Write the forms of several chains.
    void (*chains[COMPARED_COUNT])(struct output *out, const struct chains *all);

    // Writes what follows the last record. whole: the run ended without an error. NULL: nothing.
    bool (*finish)(struct output *out, bool whole, struct err *e);
};

extern const struct output_format output_text, output_tsv, output_json, output_html, output_f32, output_f16, output_npy,
    output_expect, output_draws, output_draws_json;

// Returns the format with a name that exists.
const struct output_format *output_format_named(const char *name);

// Returns the format of distributions if no output format is named. input: the name of the input's format.
const struct output_format *output_format_like(const char *input);

// ---- for formats

// Returns the number of values in a record.
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

// Open and close a file in memory. They fail if memory is short; text is to be freed either way.
bool memory_open(struct memory_file *m, struct err *e);
bool memory_close(struct memory_file *m, struct err *e);

// Writes `before`, and behind it a number with the fewest digits that read back to it.
void output_float(const struct output *out, const char *before, float x);

// Sets the error "DESTINATION: cannot WHAT: ...", or a quiet end, from errno. Returns false.
static inline bool output_fail(const struct output *out, const char *what, struct err *e)
{
    if (platform_pipe_closed())
        return err_silent(e, STATUS_OK);
    return err_set(e, STATUS_IO, "%s: cannot %s: %s", out->name, what, strerror(errno));
}

// Returns the bytes of a string.
static inline struct piece text_piece(const char *text)
{
    return (struct piece){(const unsigned char *)text, strlen(text)};
}

// Returns the text of a token; an empty one without a vocabulary.
static inline struct piece output_token(const struct output *out, uint32_t id)
{
    return out->vocab ? vocab_text(out->vocab, id) : (struct piece){0};
}

// Writes a text of any bytes as part of a line of UTF-8, between quotes unless quote is 0. Escapes are those that
// text_unescape reads: \n \r \t \\, the quote, and \xHH for each byte that is not UTF-8 or belongs to another control
// or formatting character. If the text takes more than `most` columns of a terminal, cuts it and ends it with "...".
// Returns the number of columns that were taken. If f is NULL, writes nothing.
size_t text_clip(FILE *f, struct piece text, char quote, size_t most);

// Writes the whole text in the same way.
static inline void text_write(FILE *f, struct piece text, char quote) { text_clip(f, text, quote, SIZE_MAX); }

// Writes as text_clip does, and blanks up to `width` columns.
void text_cell(FILE *f, struct piece text, char quote, size_t width, size_t most);

// Writes a JSON string. U+FFFD replaces each byte that is not UTF-8. page: also escapes the characters < > & and hidden
// ones, so that HTML takes the string for no tag.
void text_write_json(FILE *f, struct piece text, bool page);

// Returns the number of columns that the first character of p[0..len) takes, len > 0. *bytes: its length.
size_t text_columns(const unsigned char *p, size_t len, size_t *bytes);

enum { TEXT_MOST = 40 }; // columns up to which texts are aligned

// Returns the larger of `width` and the number of columns of a token's text. Texts above TEXT_MOST do not count.
size_t text_width(const struct output *out, size_t width, uint32_t id);

// Writes a blank and a token's text in quotes, with blanks up to `width` columns. Writes nothing without a vocabulary.
void text_of_token(const struct output *out, uint32_t id, size_t width);

// Returns the value of a parameter or a note.
const char *named_text(const struct named *x, char text[NUMBER_TEXT]);

// Writes the id and, with a vocabulary, the text in quotes.
void output_name(const struct output *out, uint32_t token);

// Writes `before`, and behind it a JSON string.
void output_string(const struct output *out, const char *before, struct piece string);

// Writes the ids that the chains chose from a row, as a line.
void output_chain_ids(struct output *out, const struct chains *all);

// Returns a number of the table in few digits. Behind a share stands its standard error; with `errors`, behind a mean,
// too.
enum { CELL_TEXT = 64 };
const char *output_cell_text(const struct table_cell *cell, enum column_kind kind, bool errors, char text[CELL_TEXT]);

// ---- for the run

// Opens the destination. Members that the caller has not set are zero. The caller closes out even if this fails.
bool output_open(struct output *out, struct err *e);

// Lets the reader of the output have what was written so far.
bool output_flush(struct output *out, struct err *e);

// Writes a record. If nobody reads the output any more, this and the functions below fail with a quiet end
// (err_silent).
bool output_record(struct output *out, const struct record *r, struct err *e);

// Sets the vocabulary of a run that has none, from the next record on: the texts that a row has for its tokens. Does
// nothing if the columns of the output are decided.
void output_set_texts(struct output *out, const struct vocab *texts);

// Does a page show no more rows?
static inline bool output_full(const struct output *out) { return out->format->page && out->records >= PAGE_ROWS; }

// Writes out->chains. If `kept` is given, the text goes there, for output_kept.
bool output_chains(struct output *out, enum compared kind, struct memory_file *kept, struct err *e);
bool output_kept(struct output *out, const struct memory_file *kept, struct err *e);

// Ends the output. With commit, a file gets its name; without, the file is removed. Errors of the disk are found here
// at the latest. A second call does nothing.
bool output_close(struct output *out, bool commit, struct err *e);

// For signal handlers: removes a file that is being written, and the line of message_progress.
void output_abandon(void);

// Makes signals that end the program call output_abandon first.
void output_catch_signals(void);

#endif
