// SPDX-License-Identifier: MIT
#include "in/input.h"

#include "base/mem.h"
#include "in/matrix.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 64 }; // bytes that a probe may look at

// In the order in which they are probed.
static const struct format *const formats[] = {
    &format_npy, &format_safetensors, &format_kld, &format_json, &format_pairs, &format_f32, &format_f16, &format_bf16,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

struct input {
    const struct input_config *config;
    int64_t first, last;         // of the part, neither negative
    uint64_t missed;             // rows of the run before the first of the part
    size_t file;                 // index of the next file to open
    uint64_t next_row;           // number of the row that the next call reads
    uint64_t file_start;         // number of the open file's first row
    struct source source;        // of the open file
    const struct format *format; // NULL: no file is open
    void *state;                 // NULL, too
    struct matrix *matrix;       // the state, if it begins with one, else NULL
    struct source *retired;      // [n_retired] files read to their end, whose rows may still be in use
    size_t n_retired, retired_cap;
};

static const struct format *by_ending(const char *name)
{
    const char *const dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < N_FORMATS; i++)
        for (const char *const *ending = formats[i]->endings; *ending; ending++)
            if (!strcmp(dot, *ending))
                return formats[i];
    return NULL;
}

static bool begins(const struct format *f, const unsigned char *head, size_t len)
{
    const size_t n = f->magic ? strlen(f->magic) : 0;
    return n ? len >= n && !memcmp(head, f->magic, n) : f->probe && f->probe(head, len);
}

// By content. Waits for HEAD bytes, the end, or a line of JSON, which a careful writer may want answered before it sends more.
static bool by_content(struct source *s, const struct format **f, size_t *len, struct err *e)
{
    const unsigned char *head;
    for (size_t want = 1; want <= HEAD; want = *len + 1) {
        if (!source_peek(s, want, &head, len, e))
            return false;
        if (*len < want || (*len < HEAD && *head != '\n' && head[*len - 1] == '\n' && format_json.probe(head, *len)))
            break;
    }
    for (size_t i = 0; i < N_FORMATS && !*f; i++)
        if (begins(formats[i], head, *len < HEAD ? *len : HEAD))
            *f = formats[i];
    return true;
}

// By --format, by content, by name. in->format stays NULL for an empty input, which has no rows in any format.
static bool choose_format(struct input *in, struct err *e)
{
    size_t len = 0;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (!strcmp(in->config->format, formats[i]->name))
            in->format = formats[i];
    if (!in->format && !by_content(&in->source, &in->format, &len, e))
        return false;
    if (!in->format && len)
        in->format = by_ending(in->source.name);
    if (!in->format && len)
        return err_set(e, STATUS_USAGE, "cannot tell the format from content or name; say it with --format");
    return !in->format || !in->config->tensor || in->format == &format_safetensors ||
           err_set(e, STATUS_USAGE, "--tensor: the input is %s, only safetensors files hold tensors", in->format->name);
}

// Forgets the open file. A mapping goes on until input_release.
static void close_file(struct input *in)
{
    if (in->state && in->format && in->format->close)
        in->format->close(in->state);
    if (in->matrix)
        free(in->matrix->row);
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

void input_release(struct input *in)
{
    while (in->n_retired)
        source_close(&in->retired[--in->n_retired]);
}

// Opens the next file, if none is open, that is not empty. in->format stays NULL when there is none.
static bool open_next(struct input *in, struct err *e)
{
    bool ok = true;
    while (ok && !in->format && in->file < in->config->n_files) {
        if (!mem_grow(&in->retired, &in->retired_cap, in->n_retired + 1, sizeof *in->retired)) // for close_file
            return err_from_fault(e, fault_memory());
        ok = source_open(&in->source, in->config->files[in->file++], e) && choose_format(in, e);
        if (ok && in->format) {
            in->file_start = in->next_row;
            in->state = calloc(1, in->format->size);
            in->matrix = in->format->matrix ? in->state : NULL;
            ok = in->state ? in->format->open(in->state, in->format, &in->source, in->config, e)
                           : err_from_fault(e, fault_memory());
        }
        if (!ok || !in->format)
            close_file(in);
    }
    return ok || err_prefix(e, "%s", in->source.name);
}

// The rows of the open file, if any, cannot be counted.
static bool no_count(const struct input *in, struct err *e)
{
    const char *const name = in->source.name;
    if (!in->config->shards)
        return err_set(e, STATUS_USAGE, "--rows: %s: cannot count from the end, its rows cannot be counted beforehand", name);
    if (in->matrix)
        return err_set(e, STATUS_USAGE,
                       "--shard: %s: rows that come through a pipe cannot be counted; cut it up and use --row-base", name);
    return err_set(e, STATUS_USAGE, "--shard: %s: %s rows cannot be counted beforehand; cut the input up and use --row-base",
                   name, in->format->name);
}

// How many whole rows of the open file are left, -1: not known without reading them. Without a file there are none.
static int64_t rows_left(const struct input *in)
{
    const struct matrix *const m = in->matrix;
    if (!in->format)
        return 0;
    const int64_t bytes = m ? source_left(&in->source) : -1;
    if (bytes < 0)
        return -1;
    const uint64_t rows = (uint64_t)bytes / m->bytes;
    return (int64_t)(rows < m->rows ? rows : m->rows);
}

// Counts the rows of all files, to place negative bounds and shards.
static bool count_rows(const struct input_config *config, int64_t *rows, struct err *e)
{
    struct input all = {.config = config};
    *rows = 0;
    const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR); // where standard input is to be found again
    bool ok = open_next(&all, e);
    while (ok && all.format) {
        const int64_t left = rows_left(&all);
        *rows += left;
        ok = left >= 0 || no_count(&all, e);
        if (ok)
            source_skip(&all.source, (size_t)source_left(&all.source));
        close_file(&all);
        input_release(&all);
        ok = ok && open_next(&all, e);
    }
    free(all.retired);
    if (at >= 0)
        lseek(STDIN_FILENO, at, SEEK_SET);
    return ok;
}

static int64_t from_start(int64_t bound, int64_t rows)
{
    const int64_t at = bound < 0 ? bound + rows : bound;
    return at > 0 ? at : 0;
}

// floor(rows * k / n); k <= n < 2^31.
static int64_t share(int64_t rows, int64_t k, int64_t n)
{
    assert(k >= 0 && k <= n && n <= INT32_MAX);
    return rows / n * k + rows % n * k / n;
}

// Which rows to hand out, of so many.
static void choose_rows(struct input *in, int64_t rows)
{
    const struct input_config *const c = in->config;
    const int64_t first = from_start(c->first, rows), last = from_start(c->last, rows);
    in->first = first > c->base ? first : c->base;
    in->last = last;
    if (c->shards) {
        const int64_t stop = last < rows ? last : rows, wanted = stop > first ? stop - first : 0;
        in->first = first + share(wanted, c->shard - 1, c->shards);
        if (c->shard < c->shards) // the last one also looks at what follows the rows
            in->last = first + share(wanted, c->shard, c->shards);
    }
    in->missed = (uint64_t)(in->first - first);
    in->next_row = (uint64_t)c->base;
}

struct input *input_open(const struct input_config *config, struct err *e)
{
    int64_t rows = 0;
    assert(config->n_files && (!config->shards || (config->shard > 0 && config->shard <= config->shards)));
    if ((config->first < 0 || config->last < 0 || config->shards) && !count_rows(config, &rows, e))
        return NULL;
    struct input *const in = calloc(1, sizeof *in);
    if (!in) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    in->config = config;
    choose_rows(in, rows);
    return in;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    if (in->format)
        close_file(in);
    input_release(in);
    free(in->retired);
    free(in);
}

bool input_format(struct input *in, const char **name, struct err *e)
{
    const bool ok = open_next(in, e);
    *name = ok && in->format ? in->format->name : "";
    return ok;
}

// Can the files be opened once more without anything being lost?
static bool all_regular(const struct input_config *config)
{
    struct stat st;
    for (size_t i = 0; i < config->n_files; i++)
        if (!strcmp(config->files[i], "-") || stat(config->files[i], &st) || !S_ISREG(st.st_mode))
            return false;
    return true;
}

bool input_rows(struct input *in, int64_t *rows, struct err *e)
{
    struct err none;
    *rows = -1;
    if (!open_next(in, e))
        return false;
    const bool last_file = in->file == in->config->n_files;
    int64_t all = last_file ? rows_left(in) : -1;
    if (all < 0 && last_file && in->matrix && in->matrix->rows != MATRIX_OPEN)
        all = (int64_t)in->matrix->rows; // promised
    if (all < 0 && !(all_regular(in->config) && count_rows(in->config, &all, &none)))
        return true;
    const int64_t end = in->config->base + all, last = end < in->last ? end : in->last;
    *rows = last > in->first ? last - in->first : 0;
    return true;
}

bool input_blame(const struct input_row *r, struct err *e)
{
    if (r->several)
        return err_prefix(e, "%s: row %" PRIu64 " (row %" PRIu64 " of the run)", r->file, r->in_file, r->number);
    return err_prefix(e, "%s: row %" PRIu64, r->file, r->number);
}

bool input_next(struct input *in, struct input_row *r, bool *end, struct err *e)
{
    for (;;) {
        *end = (int64_t)in->next_row >= in->last;
        if (!*end && !open_next(in, e))
            return false;
        *end = *end || !in->format;
        if (*end)
            return true;
        const int64_t left = rows_left(in), before = in->first - (int64_t)in->next_row;
        if (left > 0 && before > 0) { // rows that nobody asked for and that need not be read
            const uint64_t rows = (uint64_t)(before < left ? before : left);
            matrix_jump(in->matrix, &in->source, rows);
            in->next_row += rows;
            continue;
        }
        *r = (struct input_row){.file = in->source.name,
                                .number = in->next_row,
                                .several = in->config->n_files > 1,
                                .in_file = in->next_row - in->file_start,
                                .missed = in->missed,
                                .recorded = -1,
                                .forced = -1};
        const bool ok = in->format->next(in->state, &in->source, r, end, e);
        if (!ok && !r->bad)
            return input_blame(r, e);
        if (*end) {
            close_file(in);
            continue;
        }
        in->next_row++;
        if ((int64_t)r->number >= in->first) // nobody asked for those before it, bad or not
            return ok;
    }
}
