// SPDX-License-Identifier: MIT
#include "io/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64 }; // bytes that a probe may look at

static bool probe_npy(const unsigned char *head, size_t len)
{
    return len >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

// A little-endian header length, then JSON.
static bool probe_safetensors(const unsigned char *head, size_t len)
{
    return len > 8 && head[8] == '{' && !head[4] && !head[5] && !head[6] && !head[7];
}

static bool probe_kld(const unsigned char *head, size_t len)
{
    return len >= 8 && !memcmp(head, "_logits_", 8);
}

static const struct format format_npy = {.name = "npy", .probe = probe_npy};
static const struct format format_safetensors = {.name = "safetensors", .probe = probe_safetensors};
static const struct format format_kld = {.name = "kld", .probe = probe_kld};

// In the order in which they are probed.
static const struct format *const formats[] = {
    &format_npy, &format_safetensors, &format_kld, &format_json, &format_f32, &format_f16, &format_bf16,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

struct input {
    const struct input_config *config;
    int64_t first, last;         // as in config, neither negative
    size_t file;                 // index of the next file to open
    uint64_t next_row;           // number of the row that the next call reads
    struct source source;        // of the open file
    const struct format *format; // NULL: no file is open
    void *state;
};

static bool ends_with(const char *name, const char *ending, size_t len)
{
    const size_t n = strlen(name);
    return n >= len && !strncmp(name + n - len, ending, len);
}

static const struct format *by_ending(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        for (const char *at = formats[i]->endings; at && *at; at += strspn(at, " ")) {
            const size_t len = strcspn(at, " ");
            if (ends_with(name, at, len))
                return formats[i];
            at += len;
        }
    return NULL;
}

static const struct format *by_name(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (!strcmp(name, formats[i]->name))
            return formats[i];
    return NULL;
}

// Waits for HEAD bytes, the end, or a line of JSON, which a careful writer may want answered before it sends more.
static bool by_content(struct source *s, const struct format **f, size_t *len, struct err *e)
{
    const unsigned char *head;
    *len = 0;
    for (size_t want = 1; want <= HEAD; want = *len + 1) {
        if (!source_peek(s, want, &head, len, e))
            return false;
        if (*len < want || (*head != '\n' && head[*len - 1] == '\n' && format_json.probe(head, *len)))
            break;
    }
    for (size_t i = 0; i < N_FORMATS && !*f; i++)
        if (formats[i]->probe && formats[i]->probe(head, *len < HEAD ? *len : HEAD))
            *f = formats[i];
    return true;
}

// By --format, by content, by name. *f stays NULL for an empty input, which has no rows in any format.
static bool choose_format(struct input *in, const struct format **f, struct err *e)
{
    size_t len;
    *f = by_name(in->config->format);
    if (*f)
        return true;
    if (!by_content(&in->source, f, &len, e))
        return false;
    if (!*f && len)
        *f = by_ending(in->source.name);
    if (!*f && len)
        return err_set(e, STATUS_USAGE, "%s: cannot tell the format from content or name; say it with --format", in->source.name);
    return true;
}

static void close_file(struct input *in)
{
    if (in->format && in->format->close)
        in->format->close(in->state);
    free(in->state);
    source_close(&in->source);
    in->state = NULL;
    in->format = NULL;
}

// Opens the next file. in->format stays NULL when it is empty.
static bool open_file(struct input *in, struct err *e)
{
    const struct format *f;
    if (!source_open(&in->source, in->config->files[in->file++], e))
        return false;
    const bool known = choose_format(in, &f, e);
    if (!f) { // an error, or an empty file
        source_close(&in->source);
        return known;
    }
    in->format = f;
    if (!f->open)
        return err_set(e, STATUS_USAGE, "%s: format %s is not available yet", in->source.name, f->name);
    in->state = calloc(1, f->size);
    if (!in->state)
        return err_from_fault(e, fault_memory());
    return f->open(in->state, f, &in->source, in->config, e) || err_prefix(e, "%s", in->source.name);
}

// Counts the rows of all files, to place negative bounds.
static bool count_rows(const struct input_config *config, int64_t *rows, struct err *e)
{
    struct input all = {.config = config};
    bool ok = true;
    *rows = 0;
    while (ok && all.file < config->n_files) {
        ok = open_file(&all, e);
        const int64_t left = ok && all.format ? (all.format->left ? all.format->left(all.state, &all.source) : -1) : 0;
        if (left < 0)
            ok = err_set(e, STATUS_USAGE, "--rows: %s: cannot count from the end, its rows cannot be counted beforehand",
                         all.source.name);
        *rows += left;
        if (all.format)
            close_file(&all);
    }
    return ok;
}

static int64_t from_start(int64_t bound, int64_t rows)
{
    return bound >= 0 ? bound : bound + rows > 0 ? bound + rows : 0;
}

struct input *input_open(const struct input_config *config, struct err *e)
{
    int64_t rows = 0;
    if ((config->first < 0 || config->last < 0) && !count_rows(config, &rows, e))
        return NULL;
    struct input *const in = calloc(1, sizeof *in);
    if (!in) {
        err_from_fault(e, fault_memory());
        return NULL;
    }
    in->config = config;
    in->first = from_start(config->first, rows);
    in->last = from_start(config->last, rows);
    return in;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    if (in->format)
        close_file(in);
    free(in);
}

bool input_blame(const struct input *in, struct err *e)
{
    return err_prefix(e, "%s: row %" PRIu64, in->source.name, in->next_row - 1);
}

bool input_next(struct input *in, struct input_row *r, bool *end, struct err *e)
{
    *end = false;
    for (;;) {
        if ((int64_t)in->next_row >= in->last || (!in->format && in->file == in->config->n_files)) {
            *end = true;
            return true;
        }
        if (!in->format) {
            if (!open_file(in, e))
                return false;
            continue;
        }
        bool file_end = false;
        *r = (struct input_row){.number = in->next_row++, .recorded = -1};
        if (!in->format->next(in->state, &in->source, r, &file_end, e))
            return input_blame(in, e);
        if (file_end) {
            in->next_row--;
            close_file(in);
        } else if ((int64_t)r->number >= in->first) {
            return true;
        }
    }
}
