// SPDX-License-Identifier: MIT
// bench_grammar [TOKENS [GRAMMAR TEXT...]]: measures a grammar in microseconds. Measures the mask of all tokens in a state that is new to a
// new matcher, and in a known state. Measures the test of one token, and a naive mask, which tests each token against the sets of stacks.
// The vocabulary is random, in about the proportions of real ones. It has words with and without a leading space, numbers, punctuation,
// code, three other scripts, and all single bytes. Each state is the state after a text.
#include "grammar/dfa.h"
#include "grammar/matcher.h"
#include "random.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t utf8(unsigned c, char *to)
{
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 0x3f));
    to[2] = (char)(0x80 | (c & 0x3f));
    return 3;
}

// Makes a word from a few hundred syllables, so that words share prefixes as in a language.
static size_t word(char *to)
{
    static const char *const onset[] = {"b", "c", "d", "f", "g", "h",  "l",  "m",  "n",  "p",
                                        "r", "s", "t", "v", "w", "st", "tr", "ch", "pr", "con"};
    static const char *const rest[] = {"a",  "e",  "i",   "o",  "u",  "an", "er",  "in",  "on",
                                       "en", "al", "ing", "ed", "es", "or", "ent", "ion", "ate"};
    char *at = to;
    for (unsigned k = 1 + random_below(2) + random_below(3); k--;)
        at = stpcpy(stpcpy(at, onset[random_below(20) * random_below(20) / 20]),
                    rest[random_below(18) * random_below(18) / 18]);
    return (size_t)(at - to);
}

static size_t made_up(char *to)
{
    static const char signs[] = " \n\t!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    const unsigned kind = random_below(100);
    size_t n = 0;
    if (kind < 66) { // words
        if (kind < 40)
            to[n++] = ' ';
        const size_t first = n;
        n += word(to + n);
        if (!random_below(3))
            to[first] = (char)(to[first] - 32);
    } else if (kind < 72) { // code
        n = word(to);
        to[n++] = random_below(2) ? '_' : '.';
        n += word(to + n);
    } else if (kind < 75) {
        for (unsigned k = 1 + random_below(3); k--;)
            to[n++] = (char)('0' + random_below(10));
    } else if (kind < 82) { // punctuation, some repeated
        for (unsigned k = 1 + random_below(4); k--;)
            to[n++] = signs[random_below(sizeof signs - 1)];
        const char last = to[n - 1];
        for (unsigned k = random_below(4) ? 0 : random_below(40); k--;)
            to[n++] = last;
    } else { // Cyrillic, Arabic, Han
        const unsigned base = kind < 89 ? 0x430 : kind < 92 ? 0x627 : 0x4e00, size = kind < 92 ? 32 : 3000;
        if (kind < 92 && random_below(2))
            to[n++] = ' ';
        for (unsigned k = kind < 92 ? 1 + random_below(6) : 1 + random_below(3); k--;)
            n += utf8(base + random_below(size), to + n);
    }
    return n;
}

static bool fill(struct vocab *v, size_t n)
{
    bool ok = true;
    vocab_init(v);
    for (unsigned i = 0; ok && i < 256; i++)
        ok = vocab_add(v, &(unsigned char){(unsigned char)i}, 1, 0);
    while (ok && v->n + 2 < n) {
        char t[200];
        ok = vocab_add(v, t, made_up(t), 0);
    }
    return ok && vocab_add(v, "<s>", 3, VOCAB_SPECIAL) && vocab_add(v, "</s>", 4, VOCAB_SPECIAL | VOCAB_EOG);
}

static bool go(struct matcher *m, const char *text)
{
    bool fits = true;
    for (; fits && *text; text++)
        if (matcher_accept(m, (unsigned char)*text, &fits).code)
            return false;
    return fits;
}

// Returns the number of tokens in the mask, found without trie and automaton. Grammars may have classes of whole characters only.
static size_t naive(const struct grammar *g, const struct vocab *v, const char *text)
{
    struct stacks s;
    size_t count = 0;
    if (!stacks_init(&s, g))
        return 0;
    uint32_t start = stacks_start(&s);
    for (uint32_t id = 0; id <= v->n; id++) {
        const struct piece t = id ? vocab_text(v, id - 1) : (struct piece){(const unsigned char *)text, strlen(text)};
        uint32_t set = start;
        for (size_t i = 0; i < t.len && set != STACKS_NONE;) {
            const unsigned more = t.p[i] < 0xc0 ? 0 : t.p[i] < 0xe0 ? 1 : t.p[i] < 0xf0 ? 2 : 3;
            uint32_t c = t.p[i] < 0x80 ? t.p[i] : t.p[i] & (0x7fu >> more);
            for (unsigned k = 1; k <= more; k++)
                c = c << 6 | (i + k < t.len ? t.p[i + k] & 0x3fu : 0);
            s.n_top = 0;
            size_t ranges;
            const struct frames f = stacks_frames(&s, set);
            for (size_t k = 0; k < f.n; k++) {
                const struct element e = g->element[f.frame[k].at];
                const struct range *const range = e.type == ELEMENT_CLASS ? class_ranges(g, e.value, &ranges) : NULL;
                if (range && ranges_have(range, ranges, c))
                    stacks_pick(&s, f.frame[k]);
            }
            set = stacks_after(&s);
            i += more + 1;
        }
        if (!id)
            start = set;
        else
            count += set != STACKS_NONE;
    }
    stacks_free(&s);
    return count;
}

static void measure(const char *name, const char *gbnf, const struct vocab *v, const struct trie *t, const char *text)
{
    struct grammar_refusal refusal;
    struct err e;
    struct fault fault;
    const uint64_t *mask;
    double best[4] = {1e30, 1e30, 1e30, 1e30};
    size_t allowed = 0;
    struct grammar *const g = grammar_parse(gbnf, strlen(gbnf), v, &refusal, &e);
    for (int round = 0; g && round < 9; round++) {
        struct matcher *const m = matcher_new(g, t, &fault);
        bool fits;
        if (!m || !go(m, text)) {
            printf("%s: the text does not fit: %s\n", name, text);
            matcher_free(m);
            break;
        }
        double at[5];
        at[0] = now();
        if (matcher_mask(m, &mask).code)
            return;
        at[1] = now();
        for (int i = 0; i < 1000; i++)
            matcher_mask(m, &mask);
        at[2] = now();
        for (uint32_t i = 0; i < v->n; i++)
            matcher_fits(m, i, &fits);
        at[3] = now();
        if (round < 3)
            naive(g, v, text);
        at[4] = now();
        allowed = 0;
        for (size_t i = 0; i < (v->n + 63) / 64; i++)
            allowed += (size_t)__builtin_popcountll(mask[i]);
        const double took[] = {at[1] - at[0], (at[2] - at[1]) / 1000, (at[3] - at[2]) / (double)v->n,
                               at[4] - at[3]}; // s
        for (int i = 0; i < 4; i++)
            best[i] = took[i] < best[i] && (i < 3 || round < 3) ? took[i] : best[i];
        matcher_free(m);
    }
    printf("%-10s after %-22.22s %7zu allowed %9.1f first %8.3f seen %8.3f one token %10.1f naive\n", name, text,
           allowed, 1e6 * best[0], 1e6 * best[1], 1e6 * best[2], 1e6 * best[3]);
    grammar_free(g);
}

int main(int argc, char **argv)
{
    static const char json[] =
        "root ::= object\n"
        "value ::= object | array | string | number | (\"true\" | \"false\" | \"null\") ws\n"
        "object ::= \"{\" ws ( string \":\" ws value (\",\" ws string \":\" ws value)* )? \"}\" ws\n"
        "array ::= \"[\" ws ( value (\",\" ws value)* )? \"]\" ws\n"
        "string ::= \"\\\"\" ( [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt] | \"u\" [0-9a-fA-F]{4}) )* \"\\\"\" ws\n"
        "number ::= (\"-\"? ([0-9] | [1-9] [0-9]{0,15})) (\".\" [0-9]+)? ([eE] [-+]? [1-9] [0-9]{0,15})? ws\n"
        "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";
    static const char *const after_json[] = {
        "", "{", "{\"", "{\"a\": ", "{\"a\": \"b c", "{\"a\": [1, 2", "{\"a\": [[[[\"x\", {\"y"};
    static const char limited[] = "root ::= \"\\\"\" [^\"\\\\\\x00-\\x1f]{0,500} \"\\\"\"";
    static const char *const after_limited[] = {"\"", "\"abcdefgh"};
    const size_t n = argc > 1 && *argv[1] ? strtoul(argv[1], NULL, 10) : 128256;
    struct vocab v;
    if (n < 258 || !fill(&v, n))
        return 1;
    const double start = now();
    struct trie *const t = trie_new(&v);
    if (!t)
        return 1;
    printf("masks of %zu tokens, microseconds; trie of %zu nodes built in %.1f ms\n", v.n, t->n, 1e3 * (now() - start));
    for (int i = 3; i < argc; i++)
        measure("given", argv[2], &v, t, argv[i]);
    for (size_t i = 0; argc < 4 && i < sizeof after_json / sizeof *after_json; i++)
        measure("json", json, &v, t, after_json[i]);
    for (size_t i = 0; argc < 4 && i < sizeof after_limited / sizeof *after_limited; i++)
        measure("{0,500}", limited, &v, t, after_limited[i]);
    if (argc < 4)
        measure(".*", "root ::= .*", &v, t, "");
    trie_free(t);
    vocab_free(&v);
    return 0;
}
