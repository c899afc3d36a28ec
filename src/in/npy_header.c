// SPDX-License-Identifier: MIT
#include "in/npy_header.h"

#include "in/matrix.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Skips white space and returns the current character then; 0 at the end.
static char next_byte(struct npy_header *h)
{
    h->p += strspn(h->p, " \n\t");
    return *h->p;
}

// If the text goes on with a word, skips the word and returns true.
static bool accept_word(struct npy_header *h, const char *word)
{
    next_byte(h);
    const bool here = !strncmp(h->p, word, strlen(word));
    h->p += here ? strlen(word) : 0;
    return here;
}

// Reads a string in quotes. Returns NULL if there is none.
static const char *quoted(struct npy_header *h)
{
    const char quote = next_byte(h), *const text = h->p + 1;
    char *const close = quote == '\'' || quote == '"' ? strchr(text, quote) : NULL;
    if (!close)
        return NULL;
    *close = '\0';
    h->p = close + 1;
    return text;
}

// Reads the tuple of a shape. A number that is too large becomes UINT64_MAX, which matrix_set_shape refuses.
static bool shape(struct npy_header *h)
{
    if (!accept_word(h, "("))
        return false;
    h->shape = h->p - 1;
    while (next_byte(h) != ')') {
        if (!isdigit((unsigned char)*h->p))
            return false;
        const uint64_t v = strtoull(h->p, &h->p, 10);
        if (h->dims < NPY_DIMS)
            h->dim[h->dims] = v;
        h->dims++;
        if (!accept_word(h, ",") && next_byte(h) != ')')
            return false;
    }
    while (h->dims > 3 && h->dims <= NPY_DIMS && h->dim[0] == 1)
        memmove(h->dim, h->dim + 1, --h->dims * sizeof *h->dim);
    h->p++;
    h->shape_len = (int)(h->p - h->shape);
    return true;
}

// Reads a key, which must be one of the three and not have come before, and its value.
static bool pair(struct npy_header *h)
{
    const char *const key = quoted(h);
    if (!key || !accept_word(h, ":"))
        return false;
    if (!strcmp(key, "fortran_order") && !h->has_fortran) {
        h->fortran = accept_word(h, "True");
        h->has_fortran = h->fortran || accept_word(h, "False");
        return h->has_fortran;
    }
    if (!strcmp(key, "shape") && !h->shape)
        return shape(h);
    if (strcmp(key, "descr") != 0 || h->descr)
        return false;
    h->descr = next_byte(h) == '[' ? h->p : quoted(h);
    return h->descr;
}

// Reads the dict. If descr is a list, of a structured type, stops there, since set_type refuses such a type.
static bool parse(struct npy_header *h)
{
    assert(h->p);
    if (!accept_word(h, "{"))
        return false;
    while (!accept_word(h, "}")) {
        if (!pair(h))
            return false;
        if (h->descr && *h->descr == '[')
            return true;
        if (!accept_word(h, ",") && next_byte(h) != '}')
            return false;
    }
    return next_byte(h) == '\0' && h->at + (size_t)(h->p - h->text) == h->end && h->descr && h->has_fortran && h->shape;
}

// Copies the header's text to h and skips the header.
static bool find_header(const struct format *f, struct source *s, struct npy_header *h, struct err *e)
{
    const unsigned char *p;
    uint32_t len;
    if (!matrix_header(f, s, 12, &p, e))
        return false;
    if (p[6] < 1 || p[6] > 3 || p[7])
        return err_set(e, STATUS_DATA, "npy version %d.%d is unknown, known are 1.0, 2.0 and 3.0", p[6], p[7]);
    memcpy(&len, p + 8, sizeof len);
    len &= p[6] == 1 ? 0xffff : UINT32_MAX;
    if (len > NPY_HEADER_MAX)
        return err_set(e, STATUS_DATA, "the npy header has %" PRIu32 " bytes, more than the %d that numpy reads", len,
                       NPY_HEADER_MAX);
    h->at = p[6] == 1 ? 10 : 12;
    h->end = h->at + len;
    if (!matrix_header(f, s, h->end, &p, e))
        return false;
    memcpy(h->text, p + h->at, len);
    h->p = h->text;
    source_skip(s, h->end);
    return true;
}

bool npy_header_read(struct npy_header *h, const struct format *f, struct source *s, struct err *e)
{
    return find_header(f, s, h, e) &&
           (parse(h) ||
            err_set(e, STATUS_DATA, "byte %zu: the npy header is not a dict of descr, fortran_order and shape",
                    h->at + (size_t)(h->p - h->text)));
}
