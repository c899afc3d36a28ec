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

enum { HEAD = 64 }; // bytes that a probe may look at

// In the order in which they are probed.
static const struct format *const formats[] = {
    &format_npy, &format_safetensors, &format_kld, &format_json, &format_pairs, &format_f32, &format_f16, &format_bf16,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

struct input {
    const struct input_config *config;
    struct rows wanted, part;    // wanted rows of the whole run, and of this part
    size_t at;                   // index of the range of the part that holds or follows the next row
    uint64_t missed;             // wanted rows before the first of the part
    uint64_t passed;             // with --params: rows with lower numbers belong to earlier parts, but are handed out
    struct notes_file notes;     // with --params
    uint64_t sequences;          // number that the files read so far have named
    bool handed;                 // a row has been handed out
    uint64_t last;               // number of that row
    size_t file;                 // index of the next file to open
    uint64_t shown;              // rows of this part handed out
    uint64_t next_row;           // number of the row that the next call reads
    uint64_t file_start;         // number of the open file's first row
    struct source source;        // of the open file
    const struct format *format; // NULL: no file is open
    void *state;                 // of the format
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

static bool begins_as(const struct format *f, const unsigned char *head, size_t len)
{
    const size_t n = f->magic ? strlen(f->magic) : 0;
    return n ? len >= n && !memcmp(head, f->magic, n) : f->probe && f->probe(head, len);
}

// Finds the format by the content. Waits for HEAD bytes, the end, or a line of JSON: its writer may wait for an answer
// before sending more.
static bool by_content(struct source *s, const struct format **f, const unsigned char **at, size_t *len, struct err *e)
{
    const unsigned char *head;
    for (size_t want = 1; want <= HEAD; want = *len + 1) {
        if (!source_peek(s, want, &head, len, e))
            return false;
        if (*len < want || (*len < HEAD && *head != '\n' && head[*len - 1] == '\n' && format_json.probe(head, *len)))
            break;
    }
    for (size_t i = 0; i < N_FORMATS && !*f; i++)
        if (begins_as(formats[i], head, *len < HEAD ? *len : HEAD))
            *f = formats[i];
    *at = head;
    return true;
}

// Files that hold no rows, by their first bytes. Fewer than four bytes may also be numbers.
static const struct {
    const char *magic;
    size_t len;
    const char *name, *remedy;
} others[] = {
    {"\x1f\x8b", 2, "gzip (1f 8b)", "gzip -dc FILE | sampl -f FMT"},
    {"\x28\xb5\x2f\xfd", 4, "zstd (28 b5 2f fd)", "zstd -dc FILE | sampl -f FMT"},
    {"BZh", 3, "bzip2 (BZh)", "bzip2 -dc FILE | sampl -f FMT"},
    {"\xfd"
     "7zXZ",
     5, "xz (fd 7zXZ)", "xz -dc FILE | sampl -f FMT"},
    {"PK\3\4", 4, "a zip archive (PK), as .npz and .pt are",
     "unzip -p FILE.npz NAME.npy | sampl, or save what torch loads as safetensors or npy"},
    {"\x80\x02", 2, "a pickle (80 02), as old .pt are", "save what torch loads as safetensors or npy"},
    {"GGUF", 4, "a GGUF model",
     "it goes to --vocab; rows come from a run of it, see GETTING LOGITS in sampl-formats(5)"},
    {"PAR1", 4, "parquet (PAR1)", "write its rows as npy, safetensors or JSON arrays"},
};

// Returns false with an error if the first bytes are those of such a file.
static bool no_other(const unsigned char *head, size_t len, size_t least, struct err *e)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].len >= least && len >= others[i].len && !memcmp(head, others[i].magic, others[i].len))
            return err_set(e, STATUS_USAGE, "this is %s: %s", others[i].name, others[i].remedy);
    const unsigned char *p = head;
    while (least < 4 && p < head + len && ((*p >= ' ' && *p <= '~') || *p == '\t') && *p != ',')
        p++;
    if (least < 4 && p > head && p < head + len && *p == ',')
        return err_set(e, STATUS_USAGE,
                       "this looks like CSV: sed 's/.*/[&]/' FILE | sampl makes JSON rows of lines of numbers");
    return true;
}

// Finds the format by --format, by content, or by name. in->format stays NULL for an empty input.
static bool choose_format(struct input *in, struct err *e)
{
    const unsigned char *head = NULL; // looked at, if the format is to be told
    size_t len = 0;
    for (size_t i = 0; i < N_FORMATS; i++)
        if (!strcmp(in->config->format, formats[i]->name))
            in->format = formats[i];
    if (!in->format && !by_content(&in->source, &in->format, &head, &len, e))
        return false;
    if (!in->format && len)
        in->format = by_ending(in->source.name);
    if (head && len && (!in->format || !(in->format->probe || in->format->magic)) &&
        !no_other(head, len, in->format ? 4 : 1, e))
        return false;
    if (!in->format && len)
        return err_set(e, STATUS_USAGE, "cannot tell the format from content or name; say it with --format");
    if (in->format && in->config->params && !in->format->matrix)
        return err_set(e, STATUS_USAGE, "--params: the input is %s, whose rows have no lines of another file",
                       in->format->name);
    return !in->format || !in->config->tensor || in->format == &format_safetensors ||
           err_set(e, STATUS_USAGE, "--tensor: the input is %s, only safetensors files hold tensors", in->format->name);
}

// Closes the open file. Its mapping stays until input_release.
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

void input_release(struct input *in)
{
    while (in->n_retired)
        source_close(&in->retired[--in->n_retired]);
}

// Opens the next file that is not empty, unless a file is open. in->format stays NULL if there is none.
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
            if (ok && in->matrix)
                source_rows(&in->source,
                            &(struct source_rows){in->next_row, 0, in->config->n_files > 1, in->matrix->bytes});
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
        return err_set(e, STATUS_USAGE, "--rows: %s: cannot count from the end, its rows cannot be counted beforehand",
                       name);
    if (in->matrix)
        return err_set(e, STATUS_USAGE,
                       "--shard: %s: rows that come through a pipe cannot be counted; cut it up and use --row-base",
                       name);
    return err_set(e, STATUS_USAGE,
                   "--shard: %s: %s rows cannot be counted beforehand; cut the input up and use --row-base", name,
                   in->format->name);
}

// The number of whole rows left in the open file; 0 without a file; -1 if they must be read to be counted.
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
    const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR); // where standard input goes on after the count
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

// floor(rows * k / n); k <= n < 2^31.
static int64_t shard_bound(int64_t rows, int64_t k, int64_t n)
{
    assert(k >= 0 && k <= n && n <= INT32_MAX);
    return rows / n * k + rows % n * k / n;
}

// Chooses the rows to hand out from an input of so many. False when memory is short.
static bool choose_rows(struct input *in, int64_t rows)
{
    const struct input_config *const c = in->config;
    uint64_t most = UINT64_MAX;
    if (!rows_copy(&in->wanted, c->rows))
        return false;
    rows_tidy(&in->wanted, rows);
    in->missed = rows_below(&in->wanted, c->base);
    if (c->shards) {
        const int64_t n = (int64_t)rows_below(&in->wanted, rows);
        in->missed = (uint64_t)shard_bound(n, c->shard - 1, c->shards);
        if (c->shard < c->shards) // the last one also looks at what follows the rows
            most = (uint64_t)shard_bound(n, c->shard, c->shards) - in->missed;
    }
    in->next_row = (uint64_t)c->base;
    if (!rows_copy(&in->part, &in->wanted))
        return false;
    if (c->params && in->missed) { // what --params says of earlier rows matters, too
        rows_cut(&in->part, in->missed, most);
        in->passed = in->part.n ? (uint64_t)in->part.range[0].first : 0;
        most = in->part.n && most < UINT64_MAX ? most + in->missed : most;
        in->missed = 0;
        if (in->part.n && !rows_copy(&in->part, &in->wanted))
            return false;
    }
    rows_cut(&in->part, in->missed, most);
    return true;
}

struct input *input_open(const struct input_config *config, struct err *e)
{
    int64_t rows = 0;
    assert(config->n_files && (!config->shards || (config->shard > 0 && config->shard <= config->shards)));
    if ((rows_from_end(config->rows) || config->shards) && !count_rows(config, &rows, e))
        return NULL;
    struct input *const in = calloc(1, sizeof *in);
    if (in)
        in->config = config;
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
    input_release(in);
    free(in->retired);
    notes_close(&in->notes);
    free(in->wanted.range);
    free(in->part.range);
    free(in);
}

bool input_format(struct input *in, const char **name, struct err *e)
{
    const bool ok = open_next(in, e);
    *name = ok && in->format ? in->format->name : "";
    return ok;
}

// Can the files be opened twice without losing data? A file that does not exist reports that when it is opened.
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
    const bool last_file = in->file == in->config->n_files;
    int64_t all = last_file ? rows_left(in) : -1;
    if (all < 0 && last_file && in->matrix && in->matrix->rows != MATRIX_OPEN)
        all = (int64_t)in->matrix->rows; // promised
    if (all < 0 && !(all_regular(in->config) && count_rows(in->config, &all, why)))
        return true;
    *rows = (int64_t)rows_below(&in->part, in->config->base + all);
    return true;
}

bool input_blame(const struct input_row *r, struct err *e)
{
    if (r->several)
        return err_prefix(e, "%s: row %" PRIu64 " (row %" PRIu64 " of the run)", r->file, r->in_file, r->number);
    return err_prefix(e, "%s: row %" PRIu64, r->file, r->number);
}

// Completes the origin of a row that the format has read.
static void complete_origin(struct input *in, struct input_row *r)
{
    struct row_origin *const o = &r->origin;
    const int64_t first = (int64_t)(r->number - o->index_in_sequence), part = in->part.range[0].first;
    o->rows_skipped = in->missed;
    if (o->index_in_sequence && first < part)
        o->skipped_of_sequence = rows_below(&in->wanted, part) - rows_below(&in->wanted, first);
    o->rows_unasked = in->handed ? r->number - in->last - 1 : 0;
    o->earlier_part = r->number < in->passed;
    assert(o->index_in_sequence <= r->number && o->skipped_of_sequence <= o->rows_skipped);
    r->fresh =
        r->fresh || (o->index_in_sequence && o->index_in_sequence <= o->rows_unasked); // its first row was left out
    if (o->named) {
        const struct row_range *const at = &in->part.range[in->at];
        const bool more = at->last > (int64_t)r->number + 1 || in->at + 1 < in->part.n;
        const int64_t next = at->last > (int64_t)r->number + 1 ? (int64_t)r->number + 1 : more ? at[1].first : 0;
        r->ends = !more || next - first >= (int64_t)r->length;
        o->sequence += in->sequences;
    }
    in->handed = true;
    in->last = r->number;
}

// Adds what the file of --params says of a row.
static bool note_row(struct input *in, struct input_row *r, struct err *e)
{
    const struct input_row row = *r;
    struct err late;
    const bool noted = notes_read(&in->notes, r, row.bad ? &late : e);
    if (r->seq != row.seq) { // the line names a sequence
        r->origin.named = r->fresh = false;
        r->origin.index_in_sequence = 0;
    } else {
        r->ends = r->ends || row.ends;
    }
    if (row.bad || noted)
        return !row.bad;
    return input_bad_row(r, r->logits.n, e);
}

bool input_next(struct input *in, struct input_row *r, bool *end, struct err *e)
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
        const int64_t left = rows_left(in), before = in->part.range[in->at].first - (int64_t)in->next_row;
        if (left > 0 && before > 0) { // rows that are not wanted need not be read
            const uint64_t rows = (uint64_t)(before < left ? before : left);
            matrix_jump(in->matrix, &in->source, rows);
            in->next_row += rows;
            continue;
        }
        *r = (struct input_row){.file = in->source.name,
                                .number = in->next_row,
                                .several = in->config->n_files > 1,
                                .in_file = in->next_row - in->file_start,
                                .recorded = -1,
                                .forced = -1};
        if (!in->matrix)
            source_rows(&in->source, &(struct source_rows){r->number, r->in_file, r->several, 0});
        const bool ok = in->format->next(in->state, &in->source, r, end, e);
        if (!ok && !r->bad)
            return input_blame(r, e);
        if (*end) {
            close_file(in);
            continue;
        }
        in->next_row++;
        if (before > 0) // not wanted, bad or not
            continue;
        complete_origin(in, r);
        r->index = in->shown;
        in->shown += !r->origin.earlier_part;
        if (in->config->params && !note_row(in, r, e))
            return r->bad ? false : input_blame(r, e);
        return ok;
    }
}
