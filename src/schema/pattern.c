// SPDX-License-Identifier: MIT
// The patterns that llama.cpp's converter follows: literals, classes, groups, alternatives and repetitions, between ^
// and $.
#include "base/err.h"
#include "base/utf8.h"
#include "schema/convert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST_GROUP 100
#define MOST_SHOWN    40   // bytes of a construct in a note
#define MOST_REPEATS  2000 // a greater upper limit is no limit

enum outcome { READ, LOOSE, INVALID, TOO_MANY };

struct pattern {
    struct exprs *x;
    const char *at, *end;
    const char *start;    // start of the part being read, for messages
    enum outcome outcome; // reading ends when it is not READ
    enum outcome late;    // a fault that llama.cpp finds only after reading the whole pattern
    const char *blame;    // where that fault is
    const char *loose;    // what LOOSE is about, and its text
    const char *loose_at;
    size_t loose_len;
    unsigned depth; // of nested groups
};

// The run of literals read last. Its items are on top of the stack.
struct run {
    size_t from;  // where the run begins
    size_t last;  // where the last item begins, behind which the stack ends
    bool literal; // the last item is a literal
    bool first;   // no other alternative stands before
    bool whole;   // the literal is an escape or a quote, so that a repetition applies to the run
};

static bool stop_pattern(struct pattern *p, enum outcome outcome)
{
    if (p->outcome == READ)
        p->outcome = outcome;
    return false;
}

// Stops at a construct that llama.cpp does not follow: its name, and the text from `from` on, n bytes of it.
static bool stop_loose(struct pattern *p, const char *what, const char *from, size_t n)
{
    if (p->outcome == READ) {
        p->loose = what;
        p->loose_at = from;
        p->loose_len = from + n < p->end ? n : (size_t)(p->end - from);
    }
    return stop_pattern(p, LOOSE);
}

// Records a fault that llama.cpp finds only in the grammar that it makes of the whole pattern.
static void fail_late(struct pattern *p, enum outcome outcome)
{
    if (p->late != READ)
        return;
    p->blame = p->start;
    p->late = outcome;
}

static uint32_t current_character(const struct pattern *p) { return p->at < p->end ? (unsigned char)*p->at : 0; }

// Reads a character that stands for itself.
static uint32_t plain(struct pattern *p)
{
    uint32_t c = 0;
    const size_t n = utf8_decode((const unsigned char *)p->at, (size_t)(p->end - p->at), &c);
    p->at += n ? n : 1;
    return c;
}

// Returns the length of the character at `at`.
static int character_length(const char *at, const char *end)
{
    uint32_t c;
    return (int)utf8_decode((const unsigned char *)at, (size_t)(end - at), &c);
}

// Reads an escape of GBNF, or a backslash followed by one of `more`.
static bool escape(struct pattern *p, const char *more, uint32_t *c)
{
    static const char letters[] = "trn\\\"-", meaning[] = "\t\r\n\\\"-", sized[] = "xuU";
    static const int sizes[] = {2, 4, 8};
    if (p->end - p->at < 2)
        return stop_pattern(p, INVALID);
    const char *const start = p->at,
                      kind = p->at[1], *const letter = strchr(letters, kind), *const size = strchr(sized, kind);
    p->at += 2;
    *c = letter ? (uint32_t)meaning[letter - letters] : (unsigned char)kind;
    if (letter || strchr(more, kind))
        return true;
    if (!size)
        return stop_loose(p, "the escape", start, 1 + (size_t)character_length(start + 1, p->end));
    *c = 0;
    for (int i = 0; i < sizes[size - sized]; i++) {
        const int v = hex_value((unsigned char)current_character(p));
        if (v < 0)
            return stop_loose(p, "the escape", start, 2);
        *c = *c << 4 | (uint32_t)v;
        p->at++;
    }
    return true;
}

static bool in_class(struct pattern *p, uint32_t *c)
{
    if (current_character(p) == '\\')
        return escape(p, "[]", c);
    *c = plain(p);
    return true;
}

// Reads a class, behind its opening bracket. A range from a high to a low character is empty. A class without a
// character or range is an empty text for llama.cpp, even with ^.
static bool class(struct pattern *p)
{
    struct ranges set = {0};
    const bool others = current_character(p) == '^';
    bool empty = true, ok = true;
    p->at += others;
    while (ok && p->at < p->end && *p->at != ']') {
        uint32_t first, last;
        ok = in_class(p, &first);
        last = first;
        if (ok && p->end - p->at > 1 && *p->at == '-' && p->at[1] != ']') {
            p->at++;
            ok = in_class(p, &last);
        }
        if (ok && first <= last)
            p->x->failed = p->x->failed || !ranges_add(&set, first, last);
        empty = false;
    }
    if (ok && p->at == p->end)
        ok = stop_pattern(p, INVALID);
    p->at += ok;
    uint32_t expr = expr_class(p->x, set.range, set.n, others);
    if (empty)
        expr = expr_literal(p->x, "");
    else if (!set.n)
        expr = others ? expr_character(p->x, 1, 0x10ffff) : expr_impossible(p->x);
    expr_push(p->x, expr);
    ranges_free(&set);
    return ok;
}

static bool alternatives(struct pattern *p);

// The beginnings of groups, behind "(?", that llama.cpp does not follow.
static const char *const marks[][2] = {
    {"=", "the lookahead"},    {"!", "the negative lookahead"},
    {"<=", "the lookbehind"},  {"<!", "the negative lookbehind"},
    {"<", "the named group"},  {"P<", "the named group"},
    {">", "the atomic group"}, {"", "the group"},
};

static size_t mark_index(const char *at, const char *end)
{
    size_t i = 0;
    while ((size_t)(end - at) < strlen(marks[i][0]) || strncmp(at, marks[i][0], strlen(marks[i][0])) != 0)
        i++;
    return i;
}

static const char *group_kind(const char *at, const char *end) { return marks[mark_index(at, end)][1]; }

static size_t group_mark(const char *at, const char *end)
{
    const size_t n = strlen(marks[mark_index(at, end)][0]);
    return n || at == end ? n : (size_t)character_length(at, end);
}

// Reads a group, behind its opening parenthesis.
static bool group(struct pattern *p)
{
    const char *const open = p->start;
    if (++p->depth > DEEPEST_GROUP)
        return stop_loose(p, "the group within 100 others, at", open, 1);
    if (current_character(p) == '?') {
        if (p->end - p->at < 2 || p->at[1] != ':')
            return stop_loose(p, group_kind(p->at + 1, p->end), open, group_mark(p->at + 1, p->end) + 2);
        p->at += 2;
    }
    if (!alternatives(p))
        return false;
    if (current_character(p) != ')') {
        p->start = open;
        return stop_pattern(p, INVALID);
    }
    p->at++;
    p->depth--;
    return true;
}

// Reads the text up to `end` as C's atoi does.
static bool number(const char *at, const char *end, long *value)
{
    char *stopped;
    *value = strtol(at, &stopped, 10);
    return stopped != at && stopped <= end && *value >= INT32_MIN && *value <= INT32_MAX;
}

bool pattern_counts(const char **at, const char *end, long *min, long *max)
{
    const char *const close = memchr(*at, '}', (size_t)(end - *at));
    const char *const comma = close ? memchr(*at, ',', (size_t)(close - *at)) : NULL;
    const char *const from = *at;
    if (!close || (comma && memchr(comma + 1, ',', (size_t)(close - comma - 1))))
        return false;
    *at = close + 1;
    *min = 0;
    *max = INT32_MAX;
    if (!comma)
        return number(from, close, min) && number(from, close, max);
    return (comma == from || number(from, comma, min)) && (comma + 1 == close || number(comma + 1, close, max));
}

// Reads a repetition, at one of * + ? {
static bool repeat(struct pattern *p, struct run *r)
{
    const char sign = *p->at++;
    long min = sign == '+', max = sign == '?' ? 1 : INT32_MAX;
    const char *const start = p->at - 1;
    if (sign == '{' && !pattern_counts(&p->at, p->end, &min, &max))
        return stop_loose(p, "the repetition", start, 1 + strcspn(start, "}"));
    if (p->x->n_stack == r->last) {
        if (r->first)
            return stop_pattern(p, INVALID);
        fail_late(p, INVALID);
        return true;
    }
    if (max && (min < 0 || min > max))
        fail_late(p, INVALID);
    else if (max && min > MOST_REPEATS)
        fail_late(p, TOO_MANY);
    if (p->late != READ)
        max = min = 0;
    const size_t from = r->literal && r->whole ? r->from : r->last;
    const uint32_t item = expr_pop(p->x, EXPR_SEQUENCE, from);
    const uint32_t most = max > MOST_REPEATS ? EXPR_UNBOUNDED : (uint32_t)max;
    expr_push(p->x, expr_repeat(p->x, item, max ? (uint32_t)min : 0, most));
    r->last = from;
    r->literal = false;
    return true;
}

// Adds a literal to the run, or begins a run with it.
static bool literal(struct pattern *p, struct run *r)
{
    uint32_t c = 0;
    const bool escaped = current_character(p) == '\\';
    const bool whole = escaped || current_character(p) == '"';
    if (!escaped)
        c = plain(p);
    else if (!escape(p, "^$.[]()|{}*+?", &c))
        return false;
    const size_t last = p->x->n_stack;
    *r = (struct run){.from = r->literal ? r->from : last, .last = last, .literal = true, .whole = whole};
    expr_push(p->x, expr_character(p->x, c, c));
    return true;
}

// Reads one item, or applies a repetition to the item before.
static bool item(struct pattern *p, struct run *r)
{
    static const struct range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}};
    const uint32_t c = current_character(p);
    p->start = p->at;
    if (c && strchr("*+?{", (int)c))
        return repeat(p, r);
    if (c && strchr("]}^$", (int)c))
        return stop_loose(p, c == '^' || c == '$' ? "the anchor" : "the stray", p->at, 1);
    if (!strchr(".[(", (int)c))
        return literal(p, r);
    *r = (struct run){.last = p->x->n_stack};
    p->at++;
    if (c == '[')
        return class(p);
    if (c == '(')
        return group(p);
    expr_push(p->x, expr_class(p->x, line_ends, 2, true));
    return true;
}

// Pushes one expression: the alternatives up to a closing parenthesis or the end. The depth of groups is limited, and
// so is the recursion.
static bool alternatives(struct pattern *p)
{
    const size_t from = p->x->n_stack;
    for (;;) {
        const size_t start = p->x->n_stack;
        struct run r = {.from = start, .last = start, .first = start == from};
        while (p->at < p->end && *p->at != '|' && *p->at != ')')
            if (!item(p, &r))
                return false;
        expr_push(p->x, expr_pop(p->x, EXPR_SEQUENCE, start));
        if (current_character(p) != '|')
            break;
        p->at++;
    }
    expr_push(p->x, expr_pop(p->x, EXPR_CHOICE, from));
    return true;
}

// Notes what llama.cpp does not follow.
static void note_loose(struct convert *c, const cJSON *pattern, const struct pattern *p)
{
    struct builder *const to = &c->out->loose.paths;
    schema_note(c, pattern, &c->out->loose);
    if (c->out->loose.n > SCHEMA_MOST_NOTES)
        return;
    builder_string(to, p->loose);
    if (p->loose_len)
        builder_format(to, " '%.*s'", err_clip_part(p->loose_at, p->loose_len, MOST_SHOWN), p->loose_at);
    builder_byte(to, '\0');
    c->x.failed = c->x.failed || to->failed;
}

uint32_t pattern_expr(struct convert *c, const cJSON *pattern)
{
    struct exprs *const x = &c->x;
    const char *const text = pattern->valuestring;
    assert(*text);
    const size_t len = strlen(text), from = x->n_stack;
    struct pattern p = {.x = x, .at = text + 1, .end = text + len - 1, .start = text};
    const bool anchored = len > 1 && text[0] == '^' && text[len - 1] == '$';
    const uint32_t quote = expr_literal(x, "\"");
    if (!anchored)
        stop_loose(&p, "a pattern without ^ and $ around it", text, 0);
    else if (alternatives(&p) && p.at < p.end) {
        p.start = p.at; // a closing parenthesis without an opening one
        stop_pattern(&p, INVALID);
    }
    const uint32_t inner = expr_pop(x, EXPR_SEQUENCE, from);
    if (p.outcome == READ && p.late != READ)
        p.start = p.blame;
    if (!exprs_whole(x))
        return EXPR_NOTHING;
    switch (p.outcome == READ ? p.late : p.outcome) {
    case READ:
        return EXPR_SEQUENCE_OF(x, quote, inner, quote);
    case LOOSE:
        note_loose(c, pattern, &p);
        return expr_rule(x, RULE_STRING);
    case INVALID:
        return schema_fail_late(c, pattern, "%s: not a pattern at '%s'", p.start);
    case TOO_MANY:
        return schema_fail_late(c, pattern, "%s asks for more repetitions than llama.cpp allows", NULL);
    }
    return EXPR_NOTHING;
}
