// SPDX-License-Identifier: MIT
#include "run/expectation.h"

#include "base/utf8.h"
#include "grammar/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 6 };

// A string of bounded length. Writes that do not fit whole are left out, and so is all after them.
struct writer {
    char *to;
    size_t n, room;
    bool full;
};

static void put_n(struct writer *w, const char *s, size_t n)
{
    w->full = w->full || n >= w->room - w->n;
    if (w->full)
        return;
    memcpy(w->to + w->n, s, n);
    w->n += n;
    w->to[w->n] = '\0';
}

static void put(struct writer *w, const char *s)
{
    put_n(w, s, strlen(s));
}

static void put_point(struct writer *w, uint32_t c)
{
    char s[16];
    size_t n = 1;
    if (c == '\n' || c == '\r' || c == '\t')
        n = (size_t)snprintf(s, sizeof s, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        n = (size_t)snprintf(s, sizeof s, "\\x%02" PRIX32, c);
    else if (c < 0x80)
        s[0] = (char)c;
    else if (c < 0x10000)
        n = (size_t)snprintf(s, sizeof s, "\\u%04" PRIX32, c);
    else
        n = (size_t)snprintf(s, sizeof s, "\\U%08" PRIX32, c);
    put_n(w, s, n);
}

static void put_in_class(struct writer *w, uint32_t c)
{
    if (c == '[' || c == ']' || c == '\\')
        put(w, "\\");
    put_point(w, c);
}

static void put_range(struct writer *w, uint32_t low, uint32_t high)
{
    if (low > high)
        return;
    put_in_class(w, low);
    if (high > low + 1)
        put(w, "-");
    if (high > low)
        put_in_class(w, high);
}

// A class that goes up to the last character is shown by what it leaves out.
static void put_class(struct writer *w, const struct expected *x)
{
    if (!x->more && x->n && x->range[x->n - 1][1] == CHAR_MAX_VALUE) {
        uint32_t next = 1;
        put(w, x->n == 1 && x->range[0][0] == 1 ? "any character" : "[^");
        for (size_t i = 0; i < x->n; next = x->range[i++][1] + 1)
            put_range(w, next, x->range[i][0] - 1);
        put(w, x->n == 1 && x->range[0][0] == 1 ? "" : "]");
        return;
    }
    put(w, "[");
    for (size_t i = 0; i < x->n; i++)
        put_range(w, x->range[i][0], x->range[i][1]);
    put(w, x->more ? "...]" : "]");
}

static void put_expected(struct writer *w, const struct expected *x)
{
    char s[32];
    switch (x->kind) {
    case EXPECTED_END:
        put(w, "the end of the text");
        break;
    case EXPECTED_REST:
        put(w, "the rest of a character");
        break;
    case EXPECTED_TEXT:
        put(w, "'");
        for (size_t i = 0; i < x->n; i++)
            put_point(w, x->range[i][0]);
        put(w, x->more ? "...'" : "'");
        break;
    case EXPECTED_CLASS:
        put_class(w, x);
        break;
    case EXPECTED_TOKEN:
    case EXPECTED_NOT_TOKEN:
        snprintf(s, sizeof s, "%s<[%" PRIu32 "]>", x->kind == EXPECTED_TOKEN ? "" : "!", x->id);
        put(w, s);
        break;
    }
}

const char *expectation_text(const struct matcher *m, char text[EXPECTATION_TEXT])
{
    struct expected x[MOST];
    struct writer w = {text, 0, EXPECTATION_TEXT - 16, false};
    const size_t n = matcher_next(m, x, MOST), shown = n < MOST ? n : MOST;
    *text = '\0';
    for (size_t i = 0; i < shown; i++) {
        put(&w, !i ? "" : i + 1 < n ? ", " : " or ");
        put_expected(&w, &x[i]);
    }
    if (w.full || n > shown)
        strcpy(text + w.n, ", ...");
    return text;
}

const char *token_text(struct piece p, char text[TOKEN_TEXT])
{
    struct writer w = {text, 0, TOKEN_TEXT - 8, false};
    *text = '\0';
    for (size_t i = 0; i < p.len && !w.full;) {
        uint32_t c;
        char s[8];
        const size_t n = utf8_decode(p.p + i, p.len - i, &c);
        if (n > 1)
            put_n(&w, (const char *)p.p + i, n);
        else if (n)
            put_point(&w, c);
        else
            put_n(&w, s, (size_t)snprintf(s, sizeof s, "\\x%02X", p.p[i]));
        i += n ? n : 1;
    }
    if (w.full)
        strcpy(text + w.n, "...");
    return text;
}
