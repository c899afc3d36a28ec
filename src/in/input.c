// SPDX-License-Identifier: MIT
#include "in/input.h"

#include "base/mem.h"
#include "in/matrix.h"
#include "in/row_notes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct input {
    const struct input_config *config;
    struct input_config lenient; // for rows that are not shown: what is no JSON is a bad row
    uint64_t first;              // number of the run's first row
    struct rows part;            // the rows that this part of the run shows
    size_t at;                   // index of the range of part that holds the next row, or follows it
    struct notes_file notes;     // of --params
    uint64_t sequences;          // sequences named by the files that were read to their end
    uint64_t behind;             // number of the row that was returned last, plus 1
    size_t file;                 // index of the next file to open
    uint64_t shown;              // rows of this part that were returned to be shown
    uint64_t next_row;           // number of the row that is read next
    uint64_t file_start;         // number of the open file's first row
    struct source source;        // of the open file
    const struct format *format; // NULL: no file is open
    void *state;                 // of the format
    struct matrix *matrix;       // the state, if it begins with one, else NULL
    struct source *retired;      // [n_retired] files read to their end, whose rows may still be in use
    size_t n_retired, retired_cap;
    struct row like;    // type and width of the rows, without logits; width 0: not known yet
    bool tried;         // note_width has been called
    bool looked, tells; // tells: rows may carry more than their numbers; once looked is set
    uint64_t released;  // number of files that were retired and are closed
    int64_t counted;    // rows of all files, if they were counted; else 0
};

// Closes the open file. The mapping of a mapped file stays until input_release.
static void close_file(struct input *in)
{
    if (in->state && in->format && in->format->close)
        in->format->close(in->state);
    if (in->matrix) {
        in->sequences += in->matrix->sequences;
        free(in->matrix->row);
    }
    free(in->state);
    if (in->source.mapped) {
        assert(in->n_retired < in->retired_cap);
        source_close_fd(&in->source);
        in->retired[in->n_retired++] = in->source;
    } else {
        source_close(&in->source);
    }
    in->state = in->matrix = NULL;
    in->format = NULL;
}

uint64_t input_finished(const struct input *in) { return in->released + in->n_retired; }

void input_release(struct input *in, uint64_t n)
{
    const size_t gone = n > in->released ? (size_t)(n - in->released) : 0;
    assert(gone <= in->n_retired);
    for (size_t i = 0; i < gone; i++)
        source_close(&in->retired[i]);
    if (gone)
        memmove(in->retired, in->retired + gone, (in->n_retired - gone) * sizeof *in->retired);
    in->n_retired -= gone;
    in->released += gone;
}

// Opens the next file that is not empty, unless a file is open. in->format stays NULL if there is none.
static bool open_next(struct input *in, struct err *e)
{
    bool ok = true;
    while (ok && !in->format && in->file < in->config->n_files) {
        if (!mem_grow(&in->retired, &in->retired_cap, in->n_retired + 1, sizeof *in->retired)) // for close_file
            return err_from_fault(e, fault_memory());
        ok = source_open(&in->source, in->config->files[in->file++], e);
        in->source.idle = &in->config->idle;
        ok = ok && format_choose(in->config, &in->source, &in->format, e);
        if (ok && in->format) {
            in->file_start = in->next_row;
            in->state = calloc(1, in->format->size);
            in->matrix = in->format->matrix ? in->state : NULL;
            if (!in->state)
                ok = err_from_fault(e, fault_memory());
            else if (in->format->open)
                ok = in->format->open(in->state, in->format, &in->source, in->config, e);
            const bool dense = ok && in->matrix && !in->matrix->listed;
            in->like = dense ? (struct row){in->matrix->type, NULL, in->matrix->n} : in->like;
            if (ok && in->matrix)
                source_rows(&in->source, &(struct source_rows){in->next_row, 0, in->config->n_files > 1,
                                                               dense ? in->matrix->bytes : 0});
        }
        if (!ok || !in->format)
            close_file(in);
    }
    return ok || err_prefix(e, "%s", in->source.name);
}

// Sets the error for rows that cannot be counted. Returns false.
static bool no_count(const struct input *in, struct err *e)
{
    const char *const name = in->source.name;
    if (!in->config->shards)
        return err_set(e, STATUS_USAGE, "--%s: %s: cannot count from the end, its rows cannot be counted beforehand",
                       rows_from_end(in->config->rows) ? "rows" : "first", name);
    if (in->matrix)
        return err_set(e, STATUS_USAGE,
                       "--shard: %s: rows that come through a pipe cannot be counted; cut it up and use --row-base",
                       name);
    return err_set(e, STATUS_USAGE,
                   "--shard: %s: %s rows cannot be counted beforehand; cut the input up and use --row-base", name,
                   in->format->name);
}

// Returns the number of whole rows left in the open file; 0 if no file is open, -1 if only reading can tell.
static int64_t rows_left(const struct input *in)
{
    const struct matrix *const m = in->matrix;
    if (!in->format)
        return 0;
    const int64_t bytes = m ? source_left(&in->source) : -1;
    if (bytes < 0)
        return -1;
    const uint64_t rows = m->listed ? m->rows : (uint64_t)bytes / m->bytes;
    return (int64_t)(rows < m->rows ? rows : m->rows);
}

// Counts the rows of all files, which negative bounds and shards need. Standard input then stands where it stood.
static bool count_rows(const struct input_config *config, int64_t *rows, struct err *e)
{
    struct input all = {.config = config};
    *rows = 0;
    const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    bool ok = open_next(&all, e);
    while (ok && all.format) {
        const int64_t left = rows_left(&all);
        *rows += left;
        ok = left >= 0 || no_count(&all, e);
        if (ok)
            source_skip(&all.source, (uint64_t)source_left(&all.source));
        close_file(&all);
        input_release(&all, input_finished(&all));
        ok = ok && open_next(&all, e);
    }
    free(all.retired);
    if (at >= 0)
        lseek(STDIN_FILENO, at, SEEK_SET);
    return ok;
}

// floor(rows * k / n); k <= n < 2^31.
static int64_t shard_bound(int64_t rows, int64_t k, int64_t n)
{
    assert(k >= 0 && k <= n && n <= INT32_MAX);
    return rows / n * k + rows % n * k / n;
}

// Chooses the rows to show of an input of `rows` rows (0: not counted). Returns false if memory is short.
static bool choose_rows(struct input *in, int64_t rows)
{
    const struct input_config *const c = in->config;
    uint64_t most = UINT64_MAX;
    if (!rows_copy(&in->part, c->rows))
        return false;
    rows_tidy(&in->part, rows);
    const int64_t first = c->first < 0 ? c->first + rows : c->first;
    in->first = first > 0 ? (uint64_t)first : 0;
    rows_cut(&in->part, rows_below(&in->part, (int64_t)in->first), most);
    in->next_row = (uint64_t)c->base;
    uint64_t skipped = rows_below(&in->part, c->base);
    if (c->shards) {
        const int64_t n = (int64_t)rows_below(&in->part, rows);
        skipped = (uint64_t)shard_bound(n, c->shard - 1, c->shards);
        if (c->shard < c->shards) // the last shard reads on to the end, where errors may be
            most = (uint64_t)shard_bound(n, c->shard, c->shards) - skipped;
    }
    rows_cut(&in->part, skipped, most);
    return true;
}

struct input *input_open(const struct input_config *config, struct err *e)
{
    int64_t rows = 0;
    assert(config->n_files && (!config->shards || (config->shard > 0 && config->shard <= config->shards)));
    if ((rows_from_end(config->rows) || config->first < 0 || config->shards) && !count_rows(config, &rows, e))
        return NULL;
    struct input *const in = calloc(1, sizeof *in);
    if (in) {
        in->config = config;
        in->lenient = *config;
        in->lenient.on_error = ERROR_SKIPS;
        in->counted = rows;
    }
    if (!in || !choose_rows(in, rows))
        err_from_fault(e, fault_memory());
    else if (!config->params || notes_open(&in->notes, config->params, e))
        return in;
    input_close(in);
    return NULL;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    if (in->format)
        close_file(in);
    input_release(in, input_finished(in));
    free(in->retired);
    notes_close(&in->notes);
    free(in->part.range);
    free(in);
}

bool input_format(struct input *in, const char **name, struct err *e)
{
    const bool ok = open_next(in, e);
    *name = ok && in->format ? in->format->name : "";
    return ok;
}

// Returns true if no file loses data by being opened twice. A missing file counts as regular: opening it reports it.
static bool all_regular(const struct input_config *config)
{
    struct stat st;
    for (size_t i = 0; i < config->n_files; i++)
        if (!strcmp(config->files[i], "-") || (!stat(config->files[i], &st) && !S_ISREG(st.st_mode)))
            return false;
    return true;
}

bool input_rows(struct input *in, int64_t *rows, struct err *why, struct err *e)
{
    *rows = -1;
    why->status = STATUS_OK;
    if (!open_next(in, e))
        return false;
    if (in->config->params) // only the lines tell which rows are sampled
        return true;
    const bool last_file = in->file == in->config->n_files;
    int64_t all = last_file ? rows_left(in) : -1;
    if (all < 0 && last_file && in->matrix && in->matrix->rows != MATRIX_OPEN)
        all = (int64_t)in->matrix->rows; // as the header says
    if (all < 0 && !(all_regular(in->config) && count_rows(in->config, &all, why)))
        return true;
    *rows = (int64_t)rows_below(&in->part, in->config->base + all);
    return true;
}

// Returns whether rows of a file that is not open yet can name a sequence. An error is left to the run that opens the
// file.
static bool file_names(const struct input_config *config, const char *path)
{
    struct input one = {.config = config};
    struct err ignored;
    struct stat st;
    if (!strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
        return true;
    (void)(source_open(&one.source, path, &ignored) && format_choose(one.config, &one.source, &one.format, &ignored));
    source_close(&one.source);
    return one.format && one.format->names;
}

bool input_names(struct input *in, bool *names, struct err *e)
{
    if (!open_next(in, e) || !input_tells(in, names, e))
        return false;
    *names = *names || (in->matrix && in->matrix->sequences);
    return true;
}

// Looks at the files that are not open yet, too: the history of a sequence must be whole when the first params come.
bool input_tells(struct input *in, bool *tells, struct err *e)
{
    if (!in->looked && !open_next(in, e))
        return false;
    if (!in->looked)
        in->tells = in->config->params || (in->format && in->format->names);
    for (size_t i = in->file; !in->looked && !in->tells && i < in->config->n_files; i++)
        in->tells = file_names(in->config, in->config->files[i]);
    in->looked = true;
    *tells = in->tells;
    return true;
}

// Remembers the width of the rows from the first row that is not shown, unless the row is bad.
static void note_width(struct input *in, const struct input_row *row)
{
    struct input_row r = *row;
    struct input_reader *reader = NULL;
    struct err ignored = {0};
    if (in->like.n || in->tried)
        return;
    in->tried = true;
    if ((!r.text || input_read(&reader, in->config, &r, &ignored)) && !r.logits.ids)
        in->like = (struct row){r.logits.type, NULL, r.logits.n};
    input_reader_free(reader);
}

bool input_width(struct input *in, struct row *like, struct err *e)
{
    const size_t n = input_n_vocab(in->config);
    struct input_row r = {.recorded = -1, .forced = -1};
    bool end = false;
    if (!in->like.n && !open_next(in, e))
        return false;
    if (!in->like.n && !n && in->format) { // no row was read yet
        r.file = in->source.name;
        if (!in->format->next(in->state, &in->source, in->config, &r, &end, e) && !r.bad)
            return input_blame(&r, e);
        if (!end)
            note_width(in, &r);
    }
    *like = in->like.n ? in->like : (struct row){DTYPE_F32, NULL, n};
    return like->n || err_set(e, STATUS_DATA, "there is no row, and its width is not known; give it with --n-vocab");
}

bool input_blame(const struct input_row *r, struct err *e)
{
    if (r->several)
        return err_prefix(e, "%s: row %" PRIu64 " (row %" PRIu64 " of the run)", r->file, r->in_file, r->number);
    return err_prefix(e, "%s: row %" PRIu64, r->file, r->number);
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Sets what a format cannot know of a row's place, its index, and whether it begins or ends a sequence.
static void complete_place(struct input *in, struct input_row *r, unsigned how, bool shown)
{
    struct place *const p = &r->place;
    const uint64_t base = (uint64_t)in->config->base;
    r->fresh = r->fresh || (in->behind && p->first >= in->behind); // its first row was passed over
    if (!p->named && !in->config->recorded)
        p->first = 0;
    const uint64_t from = larger(in->behind, p->first), drawn_from = larger(from, in->first);
    p->left_out = r->number - from;
    p->drawn = r->number > drawn_from ? r->number - drawn_from : 0;
    if (r->seq && !p->named)
        p->drawn = base > in->first ? base - in->first : 0;
    p->before = p->first > in->first ? p->first - in->first : 0;
    if (p->use != ROW_PROMPT)
        p->use = shown ? ROW_SHOWN : r->number < in->first ? ROW_EARLIER : how & READ_UNSEEN ? ROW_UNSEEN : ROW_PASSED;
    r->index = in->shown;
    in->shown += p->use == ROW_SHOWN;
    assert(p->first <= r->number && in->behind <= r->number);
    if (p->named) {
        const struct row_range *const at = &in->part.range[in->at];
        int64_t next = (int64_t)r->number + 1; // row to return
        if (next == at->last && !(how & (READ_ALL | READ_UNSEEN)))
            next = in->at + 1 < in->part.n ? at[1].first : ROWS_OPEN;
        r->ends = r->ends || next - (int64_t)p->first >= (int64_t)r->length;
        p->sequence += in->sequences;
    }
    in->behind = r->number + 1;
}

// Reads the notes on a row from the file of --params. An error of a bad row comes before one of its notes.
static bool note_row(struct input *in, struct input_row *r, struct err *e)
{
    const struct input_row row = *r;
    struct err late;
    const bool noted = notes_read(&in->notes, r, row.bad ? &late : e);
    if (r->seq != row.seq) { // the notes name a sequence
        r->place = (struct place){.use = r->place.use};
        r->fresh = false;
    }
    if (row.bad || noted)
        return !row.bad;
    return input_bad_row(r, r->logits.n, e);
}

// The memory of a row in a map is left to who works on it.
static void leave_row(struct input *in, const struct input_row *r)
{
    const void *const from = r->text ? (const void *)r->text : r->logits.data;
    source_leave(&in->source, from, r->text ? r->n_text : in->matrix->bytes);
}

uint64_t input_alike(const struct input *in, const struct input_row *r)
{
    if (!in->matrix || !r->mapped || r->seq || in->config->params || !row_is_sampled(r->place.use))
        return 0;
    assert(!r->before.id && r->recorded < 0);
    const struct row_range *const range = &in->part.range[in->at];
    const uint64_t left = (uint64_t)rows_left(in),
                   last = (uint64_t)(r->place.use == ROW_SHOWN ? range->last : range->first),
                   alike = last - in->next_row;
    assert(in->next_row == r->number + 1 && last >= in->next_row);
    return left < alike ? left : alike;
}

int64_t input_first_beyond(const struct input *in)
{
    const int64_t first = in->at < in->part.n ? in->part.range[in->at].first : -1;
    return first >= (int64_t)in->next_row ? first : -1;
}

int64_t input_counted(const struct input *in) { return in->counted; }

int64_t input_last_row(const struct input *in) { return (int64_t)in->next_row - 1; }

void input_pass(struct input *in, const struct input_row *r, uint64_t n)
{
    source_leave(&in->source, r->logits.data, (size_t)(n + 1) * in->matrix->bytes);
    matrix_jump(in->matrix, &in->source, n);
    in->next_row += n;
    in->behind += n;
    in->shown += r->place.use == ROW_SHOWN ? n : 0;
}

// Returns how many of the next rows, which are not shown, can be skipped unread.
static uint64_t rows_to_skip(const struct input *in, unsigned how)
{
    const int64_t left = rows_left(in), first = in->part.range[in->at].first,
                  run = (int64_t)in->first < first ? (int64_t)in->first : first,
                  before = (how & READ_UNSEEN ? run : first) - (int64_t)in->next_row;
    if (left <= 0 || before <= 0 || how & READ_ALL)
        return 0;
    return (uint64_t)(before < left ? before : left);
}

bool input_next(struct input *in, unsigned how, struct input_row *r, bool *end, struct err *e)
{
    for (;;) {
        while (in->at < in->part.n && in->part.range[in->at].last <= (int64_t)in->next_row)
            in->at++;
        *end = in->at == in->part.n;
        if (!*end && !open_next(in, e))
            return false;
        *end = *end || !in->format;
        if (*end)
            return true;
        const uint64_t skipped = rows_to_skip(in, how);
        if (skipped) {
            matrix_jump(in->matrix, &in->source, skipped);
            in->next_row += skipped;
            continue;
        }
        const bool shown = in->part.range[in->at].first <= (int64_t)in->next_row,
                   returned = shown || how & READ_ALL || (how & READ_UNSEEN && in->next_row >= in->first);
        *r = (struct input_row){.file = in->source.name,
                                .number = in->next_row,
                                .several = in->config->n_files > 1,
                                .in_file = in->next_row - in->file_start,
                                .recorded = -1,
                                .forced = -1,
                                .position = -1};
        if (!input_tells(in, &r->may_change, e))
            return false;
        if (!in->matrix)
            source_rows(&in->source, &(struct source_rows){r->number, r->in_file, r->several, 0});
        const struct input_config *const config = shown ? in->config : &in->lenient;
        const bool text = how & READ_TEXT && in->format->next_text;
        const bool ok = (text ? in->format->next_text : in->format->next)(in->state, &in->source, config, r, end, e);
        if (!ok && !r->bad)
            return input_blame(r, e);
        if (*end) {
            close_file(in);
            continue;
        }
        in->next_row++;
        if (how & READ_SHARED && r->mapped)
            leave_row(in, r);
        if (!shown) // even a bad one
            note_width(in, r);
        if (!returned)
            continue;
        const bool noted = !in->config->params || note_row(in, r, e);
        complete_place(in, r, how, shown);
        if (!noted && !r->bad)
            return input_blame(r, e);
        return (ok && noted) || !shown;
    }
}
