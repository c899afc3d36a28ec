// SPDX-License-Identifier: MIT
// Patterns as llama.cpp's converter writes them: byte by byte, with no care for characters of several bytes.
#include "base/mem.h"
#include "base/utf8.h"
#include "schema/release.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST_GROUP 100
#define MOST_REPEATED 2000 // texts that are repeated in a pattern; with more, release.full is set

enum pattern_end { PATTERN_READ, PATTERN_LOOSE, PATTERN_INVALID };

// A part of a sequence: a literal without its quotes, or text of a grammar.
struct piece_text {
    struct builder text;
    bool literal;
};

struct release_pattern {
    struct release *r;
    const cJSON *item;
    const char *name; // of the rule
    const char *at, *end;
    struct piece_text *part; // [n] of the sequences that are open, those of the innermost last
    size_t n, cap;
    size_t open[DEEPEST_GROUP + 1]; // where each open sequence begins in part
    size_t depth;
    size_t n_repeated;       // texts that are repeated and have a rule
    struct builder repeated; // the name of each, and the text, each with a NUL
    const char *reason;      // release_rule.reason
};

static void pattern_free(struct release_pattern *p)
{
    while (p->n)
        builder_free(&p->part[--p->n].text);
    free(p->part);
    builder_free(&p->repeated);
}

static void add_part(struct release_pattern *p, const void *text, size_t len, bool literal)
{
    struct piece_text part = {.literal = literal};
    builder_bytes(&part.text, text, len);
    if (!mem_push(&p->part, &p->n, &p->cap, &part, sizeof part)) {
        builder_free(&part.text);
        p->r->failed = true;
    }
}

// Appends a part with its quotes.
static void quote_part(struct builder *to, const struct piece_text *part)
{
    if (part->literal)
        builder_byte(to, '"');
    builder_bytes(to, part->text.text, part->text.len);
    if (part->literal)
        builder_byte(to, '"');
}

// Replaces the parts from `from` on by one, in which neighbouring literals are one. In a group it gets parentheses.
static void join(struct release_pattern *p, size_t from, bool group)
{
    struct piece_text all = {.literal = false};
    if (group)
        builder_byte(&all.text, '(');
    for (size_t i = from; i < p->n; i++) {
        const bool joined = i > from && p->part[i].literal && p->part[i - 1].literal;
        if (i > from && !joined)
            builder_byte(&all.text, ' ');
        if (p->part[i].literal && !joined)
            builder_byte(&all.text, '"');
        builder_bytes(&all.text, p->part[i].text.text, p->part[i].text.len);
        if (p->part[i].literal && (i + 1 == p->n || !p->part[i + 1].literal))
            builder_byte(&all.text, '"');
    }
    if (group)
        builder_byte(&all.text, ')');
    while (p->n > from)
        builder_free(&p->part[--p->n].text);
    p->r->failed = p->r->failed || all.text.failed || !mem_push(&p->part, &p->n, &p->cap, &all, sizeof all);
    if (p->r->failed)
        builder_free(&all.text);
}

// Says why the parser will refuse a repetition of the last part.
static void blame_repetition(struct release_pattern *p)
{
    const struct builder *const text = &p->part[p->n - 1].text;
    const bool literal = p->part[p->n - 1].literal;
    if (!p->reason && literal && text->len && (unsigned char)text->text[text->len - 1] >= 0x80)
        p->reason = "it repeats the last byte of a character that is not ASCII, and not the character";
    if (!p->reason && text->len == 1 && *text->text == '|' && !literal)
        p->reason = "it repeats the | of an empty alternative";
}

// Applies * + or ? to the last part. False: there is none.
static bool repeat_by_sign(struct release_pattern *p, char sign)
{
    struct builder text = {0};
    if (p->n == p->open[p->depth])
        return false;
    struct piece_text *const last = &p->part[p->n - 1];
    blame_repetition(p);
    quote_part(&text, last);
    builder_byte(&text, sign);
    builder_free(&last->text);
    *last = (struct piece_text){.text = text};
    return true;
}

// Returns the name of the rule of a part that is repeated: equal parts have one.
static const char *repeated_rule(struct release_pattern *p, struct builder *text)
{
    struct builder name = {0};
    const char *known = p->repeated.text;
    size_t i = 0;
    for (; i < p->n_repeated && strcmp(known + strlen(known) + 1, text->text) != 0; i++) {
        known += strlen(known) + 1;
        known += strlen(known) + 1;
    }
    if (i == MOST_REPEATED)
        p->r->full = true;
    if (i == p->n_repeated) {
        // llama.cpp counts the new entry before it gives it a number
        builder_format(&name, "%s-%zu", p->name, ++p->n_repeated);
        struct builder copy = {0};
        builder_bytes(&copy, text->text, text->len);
        const size_t start = p->repeated.len;
        const uint32_t rule = release_add(p->r, name.failed ? "" : name.text, &copy, p->item, p->reason);
        builder_string(&p->repeated, release_name(p->r, rule));
        builder_byte(&p->repeated, '\0');
        builder_bytes(&p->repeated, text->text, text->len + 1);
        p->r->failed = p->r->failed || name.failed || p->repeated.failed;
        known = p->repeated.text ? p->repeated.text + start : "";
    }
    builder_free(&name);
    return known;
}

// Reads {n}, {n,}, {,m}, {,} or {n,m} behind the brace.
static enum pattern_end repeat_by_count(struct release_pattern *p)
{
    long min, max;
    struct builder text = {0};
    if (!pattern_counts(&p->at, p->end, &min, &max))
        return PATTERN_LOOSE;
    if (p->n == p->open[p->depth])
        return PATTERN_INVALID;
    struct piece_text *const last = &p->part[p->n - 1];
    blame_repetition(p);
    if (last->literal) {
        quote_part(&text, last);
    } else {
        builder_bytes(&last->text, "", 0);
        const char *const rule = last->text.failed ? "" : repeated_rule(p, &last->text);
        builder_string(&text, rule);
    }
    p->r->failed = p->r->failed || text.failed;
    builder_clear(&last->text);
    if (!p->r->failed)
        release_repeat(&last->text, text.text, min, max);
    last->literal = false;
    builder_free(&text);
    return PATTERN_READ;
}

// Returns the length of an escape of GBNF at a backslash, 0: it is none.
static size_t escape_length(const char *at, const char *end)
{
    const char kind = end - at > 1 ? at[1] : 0;
    size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (kind && strchr("trn\\\"[]-", kind))
        return 2;
    if (!digits || (size_t)(end - at) < 2 + digits)
        return 0;
    for (size_t i = 0; i < digits; i++)
        if (hex_value((unsigned char)at[2 + i]) < 0)
            return 0;
    return 2 + digits;
}

// Reads a class, from its bracket on.
static enum pattern_end read_class(struct release_pattern *p)
{
    const char *const start = p->at++;
    while (p->at < p->end && *p->at != ']') {
        const size_t escape = *p->at == '\\' ? escape_length(p->at, p->end) : 1;
        if (!escape)
            return PATTERN_LOOSE;
        p->at += escape;
    }
    if (p->at == p->end)
        return PATTERN_INVALID;
    p->at++;
    add_part(p, start, (size_t)(p->at - start), false);
    return PATTERN_READ;
}

static bool special(char c) { return c && strchr("|.()[]{}*+?^$", c); }

// Reads a run of literals: up to a special character, or to the byte before that byte to which an operator applies.
static enum pattern_end read_literals(struct release_pattern *p)
{
    struct builder text = {0};
    enum pattern_end outcome = PATTERN_READ;
    while (p->at < p->end && outcome == PATTERN_READ) {
        const char *const at = p->at;
        const bool last = at + 1 == p->end;
        if (*at == '\\' && last) {
            outcome = PATTERN_INVALID;
        } else if (*at == '\\' && special(at[1])) {
            builder_byte(&text, at[1]);
            p->at += 2;
        } else if (*at == '\\') {
            const size_t n = escape_length(at, p->end);
            builder_bytes(&text, at, n);
            p->at += n;
            outcome = n ? PATTERN_READ : PATTERN_LOOSE;
        } else if (*at == '"') {
            builder_string(&text, "\\\"");
            p->at++;
        } else if (!special(*at) && (last || !text.len || at[1] == '.' || !special(at[1]))) {
            builder_byte(&text, *at);
            p->at++;
        } else {
            break;
        }
    }
    if (outcome == PATTERN_READ && !text.len)
        outcome = PATTERN_LOOSE;
    if (outcome == PATTERN_READ)
        add_part(p, text.text, text.len, true);
    p->r->failed = p->r->failed || text.failed;
    builder_free(&text);
    return outcome;
}

static enum pattern_end open_pattern_group(struct release_pattern *p)
{
    p->at++;
    if (p->at < p->end && *p->at == '?') {
        if (p->end - p->at < 2 || p->at[1] != ':')
            return PATTERN_LOOSE;
        p->at += 2;
    }
    if (p->depth == DEEPEST_GROUP)
        return PATTERN_LOOSE;
    p->open[++p->depth] = p->n;
    return PATTERN_READ;
}

static enum pattern_end read_part(struct release_pattern *p)
{
    const char c = *p->at;
    if (c == '.') {
        struct builder dot = {0};
        builder_string(&dot, "[^\\x0A\\x0D]");
        const char *const name = release_name(p->r, release_add(p->r, "dot", &dot, NULL, NULL));
        add_part(p, name, strlen(name), false);
        p->at++;
    } else if (c == '(') {
        return open_pattern_group(p);
    } else if (c == ')') {
        if (!p->depth)
            return PATTERN_INVALID;
        p->at++;
        join(p, p->open[p->depth--], true);
    } else if (c == '^' || c == '$') {
        return PATTERN_LOOSE;
    } else if (c == '[') {
        return read_class(p);
    } else if (c == '|') {
        add_part(p, "|", 1, false);
        p->at++;
    } else if (c == '*' || c == '+' || c == '?') {
        p->at++;
        return repeat_by_sign(p, c) ? PATTERN_READ : PATTERN_INVALID;
    } else if (c == '{') {
        p->at++;
        return repeat_by_count(p);
    } else {
        return read_literals(p);
    }
    return PATTERN_READ;
}

uint32_t release_pattern(struct release *r, const cJSON *item, const char *name)
{
    const char *const text = item->valuestring;
    const size_t len = strlen(text), before = r->n_rules;
    struct release_pattern p = {.r = r, .item = item, .name = name, .at = text + 1, .end = text + len - 1};
    enum pattern_end outcome = len > 1 && *text == '^' && text[len - 1] == '$' ? PATTERN_READ : PATTERN_LOOSE;
    uint32_t rule = 0;
    while (outcome == PATTERN_READ && p.at < p.end && !r->failed && !r->full)
        outcome = read_part(&p);
    if (outcome == PATTERN_READ && !r->failed) {
        struct builder all = {0};
        join(&p, 0, true);
        builder_string(&all, "\"\\\"\" ");
        if (!r->failed)
            builder_bytes(&all, p.part[0].text.text, p.part[0].text.len);
        builder_string(&all, " \"\\\"\"");
        rule = release_add(r, name, &all, item, p.reason);
    } else if (!r->failed) {
        struct builder string = {0};
        release_forget(r, before);
        builder_string(&string, release_name(r, release_builtin(r, "string", "string")));
        rule = release_add(r, name, &string, item, NULL);
    }
    pattern_free(&p);
    return rule;
}
