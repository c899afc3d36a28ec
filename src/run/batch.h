// SPDX-License-Identifier: MIT
// Rows in batches: a batch is read, worked on and written as a whole. In a run without threads it is one row.
#ifndef SAMPL_RUN_BATCH_H
#define SAMPL_RUN_BATCH_H

#include "in/input.h"
#include "run/worker.h"

#include <stdatomic.h>

// A row that has been read; or several of a mapped file, which lie there one behind the other.
struct read_row {
    struct input_row row; // the first
    size_t n;             // number of rows, at least 1
    struct err bad;       // the error of a bad row
    char *copy;           // [copy_cap] memory of what the input does not keep
    size_t copy_cap;
    size_t width; // of a row that was read as text, once it has been worked on
};

enum held { HELD_NOTHING, HELD_ROW, HELD_ERROR };

// The inputs of a run.
struct feed {
    // set by the caller
    const struct job *job;
    struct input_config config[2]; // [inputs]
    struct input *in[2];           // [inputs]
    size_t inputs;                 // 2 with --against, else 1
    unsigned how[2];               // [inputs] how rows are read: bits of enum row_reading

    size_t threads;         // number of threads; 0: the run has one thread, and batches are single rows
    bool by_variant;        // the threads share the variants, not the rows
    struct batch *open;     // the batch that batch_read reads, until it is closed; else NULL
    enum held held;         // what was read last, if it is in no batch yet; HELD_ERROR: no row follows
    struct read_row row[2]; // [inputs] if HELD_ROW
    struct err e;           // if HELD_ERROR: of the input
};

struct batch {
    struct feed *feed;
    struct read_row *item; // [n_items][inputs]
    struct result *result; // [n][variants]
    size_t n_items, n;     // n: number of rows
    size_t most;           // room for items and for rows
    uint64_t finished[2];  // [inputs] number of files that hold no row of a later batch
    bool last;             // no batch follows: the input ends, or the feed holds an error or the next row
};

void feed_free(struct feed *f);

// Makes room for the rows that feed->threads allows. p must be freed either way.
bool batch_init(struct batch *b, struct feed *f, struct err *e);
void batch_free(struct batch *b);

// Reads the next batch. The batch that was in this memory, and all before that one, must be done with. With threads, a
// batch is enough work for all of them; it ends before a row that tells more of itself than its numbers, and the feed
// holds that row.
void batch_read(struct batch *b);

// Ends the batch that batch_read reads, while it waits for a row: the feed will hold that row. batch_read does not use
// the batch's rows any more.
void batch_close(struct feed *f);

// Walks over the rows of a batch. A zeroed struct with its batch stands before the first.
struct walk {
    const struct batch *batch;
    size_t done;          // number of rows walked over; the last one is `row`
    size_t item, k;       // index of the next item; number of rows of this item walked over
    struct read_row *at;  // the row's item
    struct input_row row; // the row
};
bool walk_next(struct walk *w);

// The worker takes the rows through its variants, and fills in their results. Returns false if a row ends the run, or
// soon after *stop becomes true (NULL: never). Several workers may work on a batch at the same time, each on variants
// of its own.
bool batch_work(const struct batch *b, struct worker *worker, const atomic_bool *stop);

// Passes over the rows, which another worker takes, perhaps at this time. Returns false if a row ends the run.
bool batch_skip(const struct batch *b, struct worker *worker);

// Passes over the rows, whose results are there. A worker of all variants then stands as if it had worked on them.
bool batch_follow(const struct batch *b, struct worker *worker, struct err *e);

// Gives back the memory of the rows in mapped files.
void batch_give_back(const struct batch *b);

// Returns whether the run goes on behind a row with this result.
bool row_goes_on(const struct job *j, const struct result *res);

// Returns the row of the variants with --against, else NULL.
static inline const struct input_row *other_row(const struct feed *f, const struct read_row *at)
{
    return f->inputs > 1 ? &at[1].row : NULL;
}

#endif
