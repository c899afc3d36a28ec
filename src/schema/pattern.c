// SPDX-License-Identifier: MIT
#include "schema/regex.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 60 // of groups

void pattern_free(struct pattern *p)
{
    text_free(&p->body);
    text_free(&p->one);
}

bool regex_fail(struct regex *x, enum schema_code code, const char *from)
{
    x->out->code = code;
    x->out->trouble_at = (size_t)(from - x->start);
    x->out->trouble_len = (size_t)(x->p - from);
    return false;
}

// Lengths in characters; UINT64_MAX is no limit, and stays it.
static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

// solid: what is left without the empty string, where `shortest` is 0; empty: nothing is. Loops are made of it, because a grammar may
// not repeat what can be empty.
struct piece_of {
    struct text gbnf, solid;
    uint64_t shortest, longest;
    bool one;        // a single character
    int64_t literal; // which, or -1
};

static void piece_free(struct piece_of *a)
{
    text_free(&a->gbnf);
    text_free(&a->solid);
}

static void bracket(struct text *to, const struct text *inner)
{
    text_string(to, inner->len ? "(" : "");
    text_append(to, inner);
    text_string(to, inner->len ? ")" : "");
}

static bool alternatives(struct regex *x, struct piece_of *whole, bool top);

// From '(' on.
static bool group(struct regex *x, struct piece_of *a)
{
    const char *const from = x->p++;
    if (*x->p == '?') {
        x->p++;
        if (*x->p == ':') {
            x->p++;
        } else if (*x->p == '<' && x->p[1] != '=' && x->p[1] != '!' && strchr(x->p, '>')) {
            x->p = strchr(x->p, '>') + 1;
        } else {
            x->p += *x->p == '<' && x->p[1] ? 2 : *x->p != '\0';
            return regex_fail(x, SCHEMA_PATTERN, from);
        }
    }
    if (x->depth == DEPTH_MOST)
        return regex_fail(x, SCHEMA_TOO_DEEP, from);
    struct piece_of inner;
    x->depth++;
    const bool ok = alternatives(x, &inner, false);
    x->depth--;
    bracket(&a->gbnf, &inner.gbnf);
    bracket(&a->solid, &inner.solid);
    a->shortest = inner.shortest;
    a->longest = inner.longest;
    piece_free(&inner);
    if (ok && *x->p != ')')
        return regex_fail(x, SCHEMA_BAD_PATTERN, from);
    x->p += ok;
    return ok;
}

static bool atom(struct regex *x, struct piece_of *a)
{
    struct charset set = {0};
    const char *const from = x->p;
    bool ok = true;
    *a = (struct piece_of){.literal = -1};
    if (*x->p == '(')
        return group(x, a);
    a->one = true;
    a->shortest = a->longest = 1;
    if (strchr("*+?{}])", *x->p)) {
        x->p++;
        return regex_fail(x, SCHEMA_BAD_PATTERN, from);
    }
    if (strchr("^$", *x->p)) {
        x->p++;
        return regex_fail(x, SCHEMA_PATTERN, from);
    }
    if (*x->p == '\\')
        ok = regex_escape(x, &set, &a->literal, false);
    else if (*x->p == '[')
        ok = regex_class(x, &set);
    else if (*x->p == '.')
        ok = regex_dot(x, &set);
    else
        a->literal = next_character(&x->p);
    if (ok && a->literal < 0 && !charset_write(&set, &a->gbnf)) {
        x->out->code = SCHEMA_MEMORY;
        ok = false;
    }
    charset_free(&set);
    return ok;
}

// Up to ten digits; false when there is none.
static bool count(const char **p, uint64_t *n)
{
    const char *const from = *p;
    for (*n = 0; **p >= '0' && **p <= '9'; ++*p)
        if (*n <= REPEAT_MOST)
            *n = *n * 10 + (uint64_t)(**p - '0');
    return *p > from;
}

// The quantifier here, if any. A lazy one matches the same strings, since the pattern is anchored at both ends.
static bool quantifier(struct regex *x, uint64_t *min, uint64_t *max)
{
    const char *const from = x->p;
    const char q = *x->p;
    *min = *max = 1;
    if (!q || !strchr("*+?{", q))
        return true;
    x->p++;
    *min = q == '+';
    *max = q == '?' ? 1 : UINT64_MAX;
    if (q == '{') {
        bool ok = count(&x->p, min);
        *max = *min;
        if (ok && *x->p == ',') {
            x->p++;
            if (!count(&x->p, max))
                *max = UINT64_MAX;
        }
        ok = ok && *x->p == '}' && *min <= *max;
        x->p += *x->p == '}';
        if (!ok || *min > REPEAT_MOST || (*max > REPEAT_MOST && *max != UINT64_MAX))
            return regex_fail(x, SCHEMA_BAD_PATTERN, from);
    }
    x->p += *x->p == '?';
    return true;
}

// Characters in a row, as GBNF.
static void write_literal(struct text *to, const struct text *characters)
{
    struct text json = {0};
    text_json(&json, characters->p ? characters->p : "");
    if (json.len >= 2) {
        json.p[json.len - 1] = '\0';
        text_literal(to, json.p + 1);
    }
    to->failed = to->failed || json.failed || characters->failed;
    text_free(&json);
}

static void add_with_space(struct text *to, const struct text *more)
{
    text_string(to, to->len && more->len ? " " : "");
    text_append(to, more);
}

// Adds what comes next to a sequence.
static void add_piece(struct piece_of *s, const struct piece_of *a)
{
    if (!s->shortest && !a->shortest) { // (solid of s) a | solid of a
        struct text solid = {0};
        bracket(&solid, &s->solid);
        if (solid.len)
            add_with_space(&solid, &a->gbnf);
        text_string(&solid, solid.len && a->solid.len ? " | " : "");
        text_append(&solid, &a->solid);
        text_free(&s->solid);
        s->solid = solid;
    } else {
        text_free(&s->solid);
    }
    add_with_space(&s->gbnf, &a->gbnf);
    s->shortest = sum(s->shortest, a->shortest);
    s->longest = sum(s->longest, a->longest);
}

// An atom min to max times.
static void repeat_piece(struct piece_of *a, uint64_t min, uint64_t max)
{
    const bool can_be_empty = !a->shortest;
    const struct text once = can_be_empty ? a->solid : a->gbnf;
    struct piece_of r = {.shortest = product(a->shortest, min), .longest = product(a->longest, max), .literal = -1};
    if (once.len && max) {
        text_repeat(&r.gbnf, once.p, can_be_empty ? 0 : min, max);
        if (!r.shortest)
            text_repeat(&r.solid, once.p, 1, max);
    }
    r.gbnf.failed = r.gbnf.failed || once.failed;
    piece_free(a);
    *a = r;
}

// The run of plain characters that has gathered becomes part of the sequence.
static void flush(struct text *run, size_t n, struct piece_of *s)
{
    struct piece_of a = {.shortest = n, .longest = n, .literal = -1};
    if (n) {
        write_literal(&a.gbnf, run);
        add_piece(s, &a);
    }
    piece_free(&a);
    text_free(run);
}

static bool at_end(const struct regex *x, bool top)
{
    return !*x->p || *x->p == '|' || *x->p == ')' || (top && *x->p == '$' && (!x->p[1] || x->p[1] == '|'));
}

// One alternative: atoms in a row.
static bool sequence(struct regex *x, struct piece_of *s, bool top)
{
    struct text run = {0};
    size_t atoms = 0, n = 0; // all of them; the characters of the run
    bool ok = true;
    *s = (struct piece_of){.literal = -1};
    if (top && *x->p != '^')
        return regex_fail(x, SCHEMA_UNANCHORED, x->p);
    for (x->p += top; ok && !at_end(x, top); atoms++) {
        struct piece_of a;
        uint64_t min = 1, max = 1;
        ok = atom(x, &a) && quantifier(x, &min, &max);
        if (ok && a.literal > 0 && min == 1 && max == 1) {
            text_character(&run, (uint32_t)a.literal);
            n++;
        } else if (ok) {
            struct text one = {0};
            if (a.literal > 0)
                text_character(&one, (uint32_t)a.literal), write_literal(&a.gbnf, &one);
            else if (!a.literal) // NUL, which no C string holds
                text_string(&a.gbnf, "\"\\\\u0000\"");
            text_free(&one);
            text_free(&x->out->one);
            text_append(&x->out->one, &a.gbnf);
            x->out->single = top && a.one;
            if (min != 1 || max != 1)
                repeat_piece(&a, min, max);
            flush(&run, n, s);
            n = 0;
            add_piece(s, &a);
        }
        piece_free(&a);
    }
    flush(&run, n, s);
    x->out->single = x->out->single && atoms == 1;
    if (ok && top && *x->p == ')') {
        x->p++;
        return regex_fail(x, SCHEMA_BAD_PATTERN, x->p - 1);
    }
    if (ok && top && *x->p != '$')
        return regex_fail(x, SCHEMA_UNANCHORED, x->p);
    x->p += ok && top;
    return ok;
}

static bool alternatives(struct regex *x, struct piece_of *whole, bool top)
{
    bool ok = true;
    *whole = (struct piece_of){.literal = -1, .shortest = UINT64_MAX};
    for (size_t i = 0; ok; i++) {
        struct piece_of s;
        ok = sequence(x, &s, top);
        const struct text *const solid = s.shortest ? &s.gbnf : &s.solid;
        text_string(&whole->gbnf, i ? " | " : "");
        text_append(&whole->gbnf, &s.gbnf);
        text_string(&whole->gbnf, s.gbnf.len ? "" : "\"\"");
        text_string(&whole->solid, whole->solid.len && solid->len ? " | " : "");
        text_append(&whole->solid, solid);
        whole->shortest = s.shortest < whole->shortest ? s.shortest : whole->shortest;
        whole->longest = s.longest > whole->longest ? s.longest : whole->longest;
        x->out->single = x->out->single && !(i && top);
        piece_free(&s);
        if (!ok || *x->p != '|')
            break;
        x->p++;
    }
    return ok;
}

bool pattern_read(struct pattern *p, const char *text)
{
    *p = (struct pattern){0};
    struct regex x = {text, text, p, 0};
    struct piece_of whole;
    const bool ok = alternatives(&x, &whole, true);
    p->body = whole.gbnf;
    text_free(&whole.solid);
    p->shortest = whole.shortest;
    p->longest = whole.longest;
    if (ok && whole.gbnf.failed)
        p->code = SCHEMA_MEMORY;
    else if (ok && whole.gbnf.full)
        p->code = SCHEMA_TOO_BIG;
    return p->code == SCHEMA_OK;
}
