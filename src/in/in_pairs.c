// SPDX-License-Identifier: MIT
// The text that llama-debug --save-logits writes: one row, with a line `ID: VALUE` for each token. If ids are missing,
// the row is sparse.
#include "base/number.h"
#include "in/input.h"
#include "in/sparse.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINE = 1024 }; // most bytes of a line

struct pairs {
    uint64_t line; // number of the current line, from 1
    struct sparse row;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

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

// Returns what follows "ID:" and blanks; NULL if the text does not begin with an id and a colon.
static const char *find_number(const char *p, const char *end)
{
    const char *const stop = skip_digits(p, end);
    return stop > p && stop < end && *stop == ':' ? skip_blanks(stop + 1, end) : NULL;
}

// Reads inf or nan, which JSON does not have, as C++ and Python print them.
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

// Adds the token of a line, which is not blank, to the row.
static bool read_pair_line(struct pairs *st, const char *p, const char *end, struct err *e)
{
    const char *const number = find_number(p, end), *const stop = skip_digits(p, end);
    float x;
    if (!number || (json_number(number, end, &x) != end && !read_word(number, (size_t)(end - number), &x)))
        return err_set(e, STATUS_DATA, "line %" PRIu64 " is not of the form ID: VALUE", st->line);
    const int64_t id = written_id(p, stop);
    if (id < 0)
        return err_set(e, STATUS_DATA, "line %" PRIu64 ": '%.*s' is not a whole number from 0 to 2147483647", st->line,
                       (int)(stop - p < 40 ? stop - p : 40), p);
    return sparse_add(&st->row, (uint32_t)id, x, e);
}

// Makes *row the row of the tokens read: dense if their ids are 0 to n - 1, else sparse.
static bool make_row(struct sparse *s, const struct input_config *config, struct row *row, struct err *e)
{
    if (!sparse_row(s, input_n_vocab(config), row, e))
        return false;
    if (s->ids[s->n - 1] >= s->n)
        return true;
    *row = (struct row){DTYPE_F32, s->x, s->n};
    return input_check_width(config, s->n, e);
}

static bool next_pairs(void *self, struct source *s, const struct input_config *config, struct input_row *r, bool *end,
                       struct err *e)
{
    struct pairs *const st = self;
    const char *p;
    size_t len;
    st->row.n = 0;
    for (;;) {
        if (!source_line(s, LINE, &p, &len, e))
            return false;
        if (!p)
            break;
        st->line++;
        if (len > LINE)
            return err_set(e, STATUS_DATA, "line %" PRIu64 " is longer than %d bytes", st->line, LINE);
        const char *stop = p + len;
        while (stop > p && is_blank(stop[-1]))
            stop--;
        p = skip_blanks(p, stop);
        if (p < stop && !read_pair_line(st, p, stop, e))
            return false;
    }
    *end = !st->row.n;
    return *end || make_row(&st->row, config, &r->logits, e) || input_bad_row(r, config->n_vocab, e);
}

static void close_pairs(void *self) { sparse_free(&((struct pairs *)self)->row); }

// Returns true if the first line that is not blank, as far as the head has it, is of the form ID: VALUE.
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

const struct format format_pairs = {
    .name = "pairs", .size = sizeof(struct pairs), .probe = probe_pairs, .next = next_pairs, .close = close_pairs};
