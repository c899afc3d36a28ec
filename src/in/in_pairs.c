// SPDX-License-Identifier: MIT
// The text that llama-debug --save-logits writes: one row, a line `ID: VALUE` for each token. Where ids are missing the
// row is sparse.
#include "base/number.h"
#include "in/input.h"
#include "in/sparse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 }; // longest line; numbers as programs print them are far shorter

struct pairs {
    const struct input_config *config;
    uint64_t line; // number of the one being read, from 1
    struct sparse row;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

// Behind "ID:" and blanks, or NULL: the text does not begin so.
static const char *find_number(const char *p, const char *end)
{
    const char *const stop = skip_digits(p, end);
    return stop > p && stop < end && *stop == ':' ? skip_blanks(stop + 1, end) : NULL;
}

// Finds the next line, *len bytes with its newline, 0 at the end of the input. It is yet to be skipped.
static bool next_pair_line(struct pairs *st, struct source *s, const char **p, size_t *len, struct err *e)
{
    const unsigned char *at, *newline = NULL;
    size_t have = 0;
    for (size_t want = 1; !newline && have <= LINE; want = have + 1) {
        if (!source_peek(s, want, &at, &have, e))
            return false;
        newline = memchr(at, '\n', have <= LINE ? have : LINE + 1);
        if (have < want)
            break;
    }
    st->line++;
    if (!newline && have > LINE)
        return err_set(e, STATUS_DATA, "line %" PRIu64 " is longer than %d bytes", st->line, LINE);
    *p = (const char *)at;
    *len = newline ? (size_t)(newline - at) + 1 : have;
    return true;
}

// Reads the words that C++ and Python print for numbers that JSON does not have.
static bool read_word(const char *p, size_t len, float *x)
{
    static const struct {
        const char *text;
        float x;
    } words[] = {{"-inf", -INFINITY}, {"inf", INFINITY}, {"nan", NAN}, {"-nan", NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (len == strlen(words[i].text) && !memcmp(p, words[i].text, len)) {
            *x = words[i].x;
            return true;
        }
    return false;
}

// A line that is not blank.
static bool read_pair_line(struct pairs *st, const char *p, const char *end, struct err *e)
{
    const char *const number = find_number(p, end), *const stop = skip_digits(p, end);
    float x;
    if (!number || (json_number(number, end, &x) != end && !read_word(number, (size_t)(end - number), &x)))
        return err_set(e, STATUS_DATA, "line %" PRIu64 " is not of the form ID: VALUE", st->line);
    const unsigned long long id = strtoull(p, NULL, 10); // the largest when it is too large; a ':' ends it
    if (id > INT32_MAX)
        return err_set(e, STATUS_DATA, "line %" PRIu64 ": '%.*s' is not a whole number from 0 to 2147483647", st->line,
                       (int)(stop - p < 40 ? stop - p : 40), p);
    return sparse_add(&st->row, (uint32_t)id, x, e);
}

static bool open_pairs(void *self, const struct format *f, struct source *s, const struct input_config *config,
                       struct err *e)
{
    struct pairs *const st = self;
    (void)f;
    (void)s;
    (void)e;
    st->config = config;
    return true;
}

// Dense when the ids are those from 0 on.
static bool make_row(struct pairs *st, struct row *row, struct err *e)
{
    const struct sparse *const s = &st->row;
    const size_t n_vocab = st->config->n_vocab;
    if (!sparse_row(&st->row, n_vocab ? n_vocab : st->config->n_tokens, row, e))
        return false;
    if (s->ids[s->n - 1] >= s->n)
        return true;
    *row = (struct row){DTYPE_F32, s->x, s->n};
    return !n_vocab || s->n == n_vocab ||
           err_set(e, STATUS_DATA, "the row has %zu logits, --n-vocab says %zu", s->n, n_vocab);
}

static bool next_pairs(void *self, struct source *s, struct input_row *r, bool *end, struct err *e)
{
    struct pairs *const st = self;
    size_t len = 0;
    st->row.n = 0;
    do {
        const char *p = NULL;
        if (!next_pair_line(st, s, &p, &len, e))
            return false;
        const char *stop = p + len;
        while (stop > p && (is_blank(stop[-1]) || stop[-1] == '\n'))
            stop--;
        p = skip_blanks(p, stop);
        if (p < stop && !read_pair_line(st, p, stop, e))
            return false;
        source_skip(s, len);
    } while (len);
    *end = !st->row.n;
    return *end || make_row(st, &r->logits, e) || input_bad_row(r, st->config->n_vocab, e);
}

static void close_pairs(void *self)
{
    sparse_free(&((struct pairs *)self)->row);
}

// Is the first line that is not blank, as far as it is here, of the form ID: VALUE?
static bool probe_pairs(const unsigned char *head, size_t len)
{
    const char *p = (const char *)head;
    const char *const end = p + len;
    while (p < end && (is_blank(*p) || *p == '\n'))
        p++;
    const char *const number = p = find_number(p, end);
    while (p && p < end && *p && strchr("-+0123456789.einfa", *p))
        p++;
    if (p == number)
        return false;
    p = skip_blanks(p, end);
    return p == end || *p == '\n';
}

const struct format format_pairs = {.name = "pairs",
                                    .size = sizeof(struct pairs),
                                    .probe = probe_pairs,
                                    .open = open_pairs,
                                    .next = next_pairs,
                                    .close = close_pairs};
