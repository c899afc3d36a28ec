// SPDX-License-Identifier: MIT
// gbnf_check: grammars that the reader refuses, with the place of the error; hostile grammars; and grammars that it must accept.
#include "base/utf8.h"
#include "grammar/matcher.h"
#include "grammar/rules.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct vocab vocab;
static int passed, failed;

static void expect(bool ok, const char *what, const char *text)
{
    passed += ok;
    failed += !ok;
    if (!ok)
        printf("%s: %.200s\n", what, text);
}

// The sentences. A name is quoted in them as %s.
#define GRAMMAR_CLASS          "this character class has no closing ']'"
#define GRAMMAR_DEFINES        "'::=' is expected here"
#define GRAMMAR_EMPTY_CLASS    "'%s' holds no character: llama.cpp takes it for an empty text"
#define GRAMMAR_ESCAPE         "'%s' is not one of \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH"
#define GRAMMAR_GROUP          "this group has no closing ')'"
#define GRAMMAR_LARGE          "the grammar has more than 4194304 elements once its repetitions are written out"
#define GRAMMAR_LEFT_RECURSION "the rule '%s' is left-recursive: it can begin with itself"
#define GRAMMAR_LITERAL        "this literal has no closing '\"'"
#define GRAMMAR_NAME           "the name of a rule is expected here"
#define GRAMMAR_NOTHING        "there is nothing to repeat before '%s'"
#define GRAMMAR_NO_ROOT        "no rule is named root"
#define GRAMMAR_RANGE          "the range '%s' ends before it begins: it holds no character"
#define GRAMMAR_REPEAT         "a repetition is {m}, {m,} or {m,n}"
#define GRAMMAR_REPEAT_LARGE   "at least '%s' repetitions are too many, the most is 2000"
#define GRAMMAR_REPEAT_ORDER   "the repetition '%s' has its bounds in the wrong order"
#define GRAMMAR_TOKEN          "a token is <[id]> or <text>"
#define GRAMMAR_TOKEN_ID       "'%s' is no token's id"
#define GRAMMAR_TOKEN_BEYOND   "the vocabulary has no token '%s'"
#define GRAMMAR_TOKEN_UNKNOWN  "no token of the vocabulary has the text '%s'"
#define GRAMMAR_TWICE          "the rule '%s' is defined again; the last definition is used"
#define GRAMMAR_UNDEFINED      "the rule '%s' is not defined"
#define GRAMMAR_UNEXPECTED     "'%s' is not expected here"
#define GRAMMAR_UTF8           "not UTF-8"
#define GRAMMAR_OK             ""

// Lines and columns count as in an editor. A name is quoted without change.
static const struct {
    const char *sentence;
    size_t line, column;
    const char *name, *text;
} bad[] = {
    {GRAMMAR_NO_ROOT, 0, 0, "", ""},
    {GRAMMAR_NO_ROOT, 0, 0, "", "# nothing\n"},
    {GRAMMAR_NO_ROOT, 0, 0, "", "Root ::= \"a\""},
    {GRAMMAR_NAME, 1, 1, "", "::= \"a\""},
    {GRAMMAR_NAME, 2, 1, "", "root ::= \"a\"\n| \"b\""},
    {GRAMMAR_NAME, 1, 1, "", "_a ::= \"a\""},
    {GRAMMAR_DEFINES, 1, 6, "", "root = \"a\""},
    {GRAMMAR_DEFINES, 1, 5, "", "root"},
    {GRAMMAR_DEFINES, 1, 5, "", "root\n::= \"a\""},
    {GRAMMAR_UNEXPECTED, 1, 14, ")", "root ::= \"a\" ) \"b\""},
    {GRAMMAR_UNEXPECTED, 1, 14, "é", "root ::= \"a\" é"},
    {GRAMMAR_UNEXPECTED, 2, 3, ":", "root ::= (\"a\"\nb ::= \"c\""},
    {GRAMMAR_UNEXPECTED, 1, 11, "_", "root ::= a_b"},
    {GRAMMAR_LITERAL, 1, 10, "", "root ::= \"abc"},
    {GRAMMAR_LITERAL, 1, 15, "", "root ::= \"é\" (\"\\\""},
    {GRAMMAR_CLASS, 1, 10, "", "root ::= [abc"},
    {GRAMMAR_CLASS, 1, 10, "", "root ::= [^"},
    {GRAMMAR_GROUP, 1, 10, "", "root ::= (\"a\" | "},
    {GRAMMAR_GROUP, 1, 11, "", "root ::= ((\"a\""},
    {GRAMMAR_ESCAPE, 1, 12, "\\q", "root ::= \"a\\q\""},
    {GRAMMAR_ESCAPE, 1, 11, "\\x1", "root ::= \"\\x1g\""},
    {GRAMMAR_ESCAPE, 1, 11, "\\u12", "root ::= \"\\u12\""},
    {GRAMMAR_ESCAPE, 1, 11, "\\U0001f60", "root ::= [\\U0001f60]"},
    {GRAMMAR_ESCAPE, 1, 11, "\\", "root ::= \"\\"},
    {GRAMMAR_NOTHING, 1, 10, "*", "root ::= * \"a\""},
    {GRAMMAR_NOTHING, 1, 16, "?", "root ::= \"a\" | ?"},
    {GRAMMAR_NOTHING, 1, 12, "+", "root ::= \"\"+"},
    {GRAMMAR_NOTHING, 1, 10, "{", "root ::= {2}"},
    {GRAMMAR_REPEAT, 1, 14, "", "root ::= \"a\"{}"},
    {GRAMMAR_REPEAT, 1, 14, "", "root ::= \"a\"{,3}"},
    {GRAMMAR_REPEAT, 1, 15, "", "root ::= \"a\"{1"},
    {GRAMMAR_REPEAT, 1, 16, "", "root ::= \"a\"{1,x}"},
    {GRAMMAR_REPEAT, 1, 17, "", "root ::= \"a\"{1,2"},
    {GRAMMAR_REPEAT, 1, 14, "", "root ::= \"a\"{-1}"},
    {GRAMMAR_REPEAT_ORDER, 1, 13, "{3,2}", "root ::= \"a\"{3,2}"},
    {GRAMMAR_REPEAT_LARGE, 1, 14, "2001", "root ::= \"a\"{2001}"},
    {GRAMMAR_REPEAT_LARGE, 1, 14, "99999999999999999999", "root ::= \"a\"{99999999999999999999,}"},
    {GRAMMAR_REPEAT_LARGE, 1, 14, "3000", "root ::= \"a\"{3000,4000}"},
    {GRAMMAR_TOKEN, 1, 10, "", "root ::= <[1>"},
    {GRAMMAR_TOKEN, 1, 10, "", "root ::= <[]>"},
    {GRAMMAR_TOKEN, 1, 10, "", "root ::= <[1]"},
    {GRAMMAR_TOKEN, 1, 10, "", "root ::= <think"},
    {GRAMMAR_TOKEN, 1, 11, "", "root ::= !\"a\""},
    {GRAMMAR_TOKEN_UNKNOWN, 1, 11, "<thick>", "root ::= !<thick>"},
    {GRAMMAR_TOKEN_ID, 1, 10, "<[99999999999]>", "root ::= <[99999999999]>"},
    {GRAMMAR_UNDEFINED, 1, 14, "b", "root ::= \"a\" b b"},
    {GRAMMAR_UNDEFINED, 3, 7, "c", "root ::= a\na ::= \"x\"\nd ::= c"},
    {GRAMMAR_UTF8, 1, 12, "", "root ::= \"a\xff\""},
    {GRAMMAR_UTF8, 1, 11, "", "root ::= [\xe6\x97]"},
    {GRAMMAR_LEFT_RECURSION, 1, 1, "root", "root ::= root \"a\" | \"b\""},
    {GRAMMAR_LEFT_RECURSION, 1, 1, "root", "root ::= a\na ::= \"x\" | b\nb ::= root"},
    {GRAMMAR_LEFT_RECURSION, 2, 1, "a", "root ::= \"x\" a\na ::= b b a \"z\"\nb ::= c?\nc ::= \"y\" | \"\""},
    {GRAMMAR_LEFT_RECURSION, 4, 1, "c", "root ::= \"x\" a\na ::= b? c\nb ::= \"y\"\nc ::= \"y\" | a b?"},
    {GRAMMAR_LEFT_RECURSION, 1, 1, "root", "root ::= root*"},
    {GRAMMAR_LEFT_RECURSION, 1, 1, "root", "root ::= () root"},
    {GRAMMAR_LEFT_RECURSION, 3, 1, "b", "root ::= \"x\" | \"y\" a\na ::= () b\nb ::= () (a)"},
    {GRAMMAR_LEFT_RECURSION, 1, 1, "root", "root ::= (\"a\"? root \"b\")*"},
    {GRAMMAR_LEFT_RECURSION, 2, 1, "unused", "root ::= \"x\"\nunused ::= (unused \"x\")"},
    {GRAMMAR_LEFT_RECURSION, 1, 1, "root", "root ::= \"a\"{0} root"},
};

// Grammars that must be accepted although other readers of GBNF may refuse them.
static const struct {
    const char *warning;
    size_t line, column;
    const char *text;
    const char *name;
} good[] = {
    {GRAMMAR_OK, 0, 0, "root ::= a*\na ::= \"\""},
    {GRAMMAR_OK, 0, 0, "root ::= (\"a\"?)+"},
    {GRAMMAR_OK, 0, 0, "root ::= \"a\"*{2,}"},
    {GRAMMAR_OK, 0, 0, "root ::= ((\"a\"* | b)* b?)*\nb ::= ()*"},
    {GRAMMAR_OK, 0, 0, "root ::= \"x\" a\na ::= b b a | \"\"\nb ::= c?\nc ::= \"y\" | \"\""},
    {GRAMMAR_OK, 0, 0, "root ::= c? root\nc ::= \"y\""},
    {GRAMMAR_OK, 0, 0, "root ::= b? a | \"x\"\na ::= b? root | \"y\"\nb ::= \"z\""},
    {GRAMMAR_OK, 0, 0, "root ::= \"a\"{0,2001} [b]{2000,99999999999999999999}"},
    {GRAMMAR_OK, 0, 0, "root ::= \"\\-\" [\\--a\\-]"},
    {GRAMMAR_EMPTY_CLASS, 1, 10, "root ::= []", "[]"},
    {GRAMMAR_EMPTY_CLASS, 1, 10, "root ::= [^] \"a\"", "[^]"},
    {GRAMMAR_RANGE, 1, 14, "root ::= [0-9z-a]", "z-a"},
    {GRAMMAR_RANGE, 1, 12, "root ::= [az-\\x61]", "z-\\x61"},
    {GRAMMAR_TOKEN_BEYOND, 1, 10, "root ::= <[7]> | \"a\"", "<[7]>"},
    {GRAMMAR_TWICE, 3, 1, "root ::= \"a\"\n\nroot ::= \"b\"", "root"},
    {GRAMMAR_TWICE, 3, 1, "a ::= nothing\nroot ::= a\na ::= \"b\"\nroot ::= \"c\" a\na ::= \"d\"", "a"},
};

// Checks an error: the place, unless the line is 0, and the sentence, in which a name of at most 60 bytes is quoted.
static void expect_error(const struct err *e, size_t line, size_t column, const char *sentence, const char *name,
                         const char *text)
{
    char want[900] = "", *at = want;
    if (line)
        at += sprintf(at, "line %zu, column %zu: ", line, column);
    const char *const quote = strstr(sentence, "%s");
    if (quote)
        sprintf(at, "%.*s%s%s", (int)(quote - sentence), sentence, name, quote + 2);
    else
        strcpy(at, sentence);
    if (strcmp(want, e->text) != 0)
        printf("'%s', not '%s' ", e->text, want);
    expect(!strcmp(want, e->text), "another error", text);
}

static void check_accepted(void)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct grammar_refusal refusal;
        struct err e;
        struct grammar *const g = grammar_parse(good[i].text, strlen(good[i].text), &vocab, &refusal, &e);
        expect(g && (e.status == STATUS_USAGE) == (good[i].line > 0), "accepted or refused wrongly", good[i].text);
        expect_error(&e, good[i].line, good[i].column, good[i].warning, good[i].name ? good[i].name : "", good[i].text);
        grammar_free(g);
    }
}

// Grammars that sampl reads, and whether llama.cpp v0.5.0 refuses them: asked with tests/llama/accepts.py.
static const struct {
    const char *text, *place, *reason;
} asked[] = {
    {"root ::= ([a-z]{0,40} \"x\"){0,48}", "", ""},
    {"root ::= ([a-z]{0,40} \"x\"){0,49}", "line 1, column 27, in the rule root",
     "49 repetitions of a group of 41 rules are more than 2000"},
    {"root ::= a\na ::= ([a-z]{0,40} \"x\"){60,}", "line 2, column 24, in the rule a",
     "60 repetitions of a group of 41 rules are more than 2000"},
    {"root ::= a{0,60}\na ::= [a-z]{0,40}", "", ""},
    {"root ::= ((\"a\" b?){0,1998} c)?\nb ::= \"b\"\nc ::= \"c\"", "line 1, column 19, in the rule root",
     "1998 repetitions of a group of 3 rules are more than 2000"},
    {"root ::= b c ((\"a\" b){0,1998} c)?\nb ::= \"b\"\nc ::= \"c\"", "", ""},
    {"root ::= b ((\"a\" b){0,1998} c)?\nb ::= \"b\"\nc ::= \"c\"", "line 1, column 31, in the rule root",
     "1 repetition of a group of 2001 rules is more than 2000"},
    {"root ::= \"a\"{44}{45}", "", ""},
    {"root ::= \"a\"{45}{45}", "line 1, column 17, in the rule root",
     "45 repetitions of a group of 45 rules are more than 2000"},
    {"root ::= \"a\"**", "line 1, column 1, in the rule root",
     "a repetition or rule that can come back to itself before it reads anything counts as left recursion"},
    {"root ::= (\"a\"*)*", "", ""},
    {"root ::= (\"a\" |)*", "line 1, column 1, in the rule root",
     "a repetition or rule that can come back to itself before it reads anything counts as left recursion"},
    {"root ::= x*{2}*\nx ::= \"x\"", "line 1, column 1, in the rule root",
     "a repetition or rule that can come back to itself before it reads anything counts as left recursion"},
    {"root ::= \"a\"\ny ::= x y \"b\" | \"c\"\nx ::= \"x\"?", "", ""},
    {"root ::= (x*){2}*\nx ::= \"x\"", "", ""},
    {"root ::= x\nx ::= y? x | \"z\"\ny ::= \"\"", "line 2, column 1, in the rule x",
     "a repetition or rule that can come back to itself before it reads anything counts as left recursion"},
};

static void check_refusals(void)
{
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct grammar_refusal refusal;
        struct err e;
        struct grammar *const g = grammar_parse(asked[i].text, strlen(asked[i].text), &vocab, &refusal, &e);
        expect(g && !refusal.err.status == !*asked[i].reason, "llama.cpp answers otherwise", asked[i].text);
        if (strcmp(refusal.err.text, asked[i].reason) != 0 || strcmp(refusal.place, asked[i].place) != 0)
            printf("'%s': '%s' ", refusal.place, refusal.err.text);
        expect(!strcmp(refusal.err.text, asked[i].reason), "another reason", asked[i].text);
        expect(!strcmp(refusal.place, asked[i].place), "another place", asked[i].text);
        grammar_free(g);
    }
}

static void check_refused(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct grammar_refusal refusal;
        struct err e;
        struct grammar *const g = grammar_parse(bad[i].text, strlen(bad[i].text), &vocab, &refusal, &e);
        expect(!g && e.status == STATUS_USAGE, "accepted", bad[i].text);
        expect_error(&e, bad[i].line, bad[i].column, bad[i].sentence, bad[i].name, bad[i].text);
        grammar_free(g);
    }
}

static struct grammar *parse(const char *text, size_t len)
{
    struct grammar_refusal refusal;
    struct err e;
    return grammar_parse(text, len, &vocab, &refusal, &e);
}

static bool same(const struct grammar *a, const struct grammar *b)
{
    return a->n_elements == b->n_elements && a->class.words == b->class.words &&
           !memcmp(a->element, b->element, a->n_elements * sizeof *a->element) &&
           !memcmp(a->class.word, b->class.word, a->class.words * sizeof *a->class.word);
}

// Checks that a printed grammar reads back as the same grammar, and has no control characters.
static void show(const char *text, size_t len)
{
    struct grammar *const g = parse(text, len);
    struct builder shown = {0};
    if (g) {
        grammar_show(&shown, text, len, &vocab);
        struct grammar *const h = parse(shown.text, shown.len);
        if (!h || !same(g, h) || !text_is_safe(shown.text, shown.len))
            expect(false, "printed as another grammar", shown.text);
        grammar_free(h);
    }
    builder_free(&shown);
    grammar_free(g);
}

// Reads every prefix of a grammar, and the grammar with any byte changed: the reader must accept or refuse each.
static void break_up(void)
{
    static const char text[] =
        "# all there is\nroot ::= \"a\\x41\\u00e9\" [^a-z\\n]{0,3} ( b | <[1]> |\n !<think> )* <\x1b>? # so\xc2\x9b\nb ::= "
        "\"\\U0001F600\" root? |\n \"x\"{2}{1,} \r\n";
    char copy[sizeof text];
    struct grammar *const whole = parse(text, sizeof text - 1);
    expect(whole, "refused", text);
    grammar_free(whole);
    for (size_t n = 0; n < sizeof text; n++)
        grammar_free(parse(text, n));
    for (size_t at = 0; at < sizeof text - 1; at++)
        for (int c = 0; c < 256; c++) {
            memcpy(copy, text, sizeof text);
            copy[at] = (char)c;
            show(copy, sizeof text - 1);
        }
    passed++;
}

// Returns a text with the middle repeated n times.
static char *repeat(const char *head, const char *middle, size_t n, const char *tail)
{
    char *const s = malloc(strlen(head) + n * strlen(middle) + strlen(tail) + 1), *at = s;
    if (!s)
        exit(2);
    at = stpcpy(at, head);
    while (n--)
        at = stpcpy(at, middle);
    stpcpy(at, tail);
    return s;
}

// Takes ownership of the text.
static void check_hostile(char *text, const char *sentence)
{
    struct grammar_refusal refusal;
    struct err e;
    struct grammar *const g = grammar_parse(text, strlen(text), &vocab, &refusal, &e);
    const char *const quote = strstr(sentence, "%s"), *const end = quote ? quote + 2 : sentence;
    expect(*sentence ? strstr(e.text, end) != NULL : !*e.text, "another error", text);
    grammar_free(g);
    free(text);
}

// Returns root ::= r0, r0 ::= r1, ... with `end` as the last rule, and rules in rising or falling order.
static char *chain(unsigned n, const char *end, bool falling)
{
    char *const s = malloc((size_t)n * 24 + 40), *at = s;
    if (!s)
        exit(2);
    at = stpcpy(at, "root ::= r0\n");
    for (unsigned i = 0; i < n; i++) {
        const unsigned r = falling ? n - 1 - i : i;
        at += r + 1 < n ? sprintf(at, "r%u ::= r%u\n", r, r + 1) : sprintf(at, "r%u ::= %s\n", r, end);
    }
    return s;
}

// Grammars that are valid, but have very many derivations of a text: the matcher must report this or match, in bounded time and memory.
static void check_ambiguous(const char *gbnf, bool copes)
{
    struct fault fault;
    struct grammar *const g = parse(gbnf, strlen(gbnf));
    struct trie *const t = trie_new(&vocab);
    struct matcher *const m = g && t ? matcher_new(g, t, &fault) : NULL;
    expect(g && t, "refused", gbnf);
    bool fits = true;
    const uint64_t *mask;
    for (int i = 0; m && !fault.code && fits && i < 2000; i++)
        if (!(fault = matcher_accept(m, (uint32_t)(i % 7 == 6), &fits)).code && i % 100 == 0)
            fault = matcher_mask(m, &mask);
    expect(copes ? !fault.code : fault.code == FAULT_GRAMMAR,
           copes ? "the matcher reports an overflow" : "the matcher reports no overflow", gbnf);
    matcher_free(m);
    trie_free(t);
    grammar_free(g);
}

int main(void)
{
    static const char *const text[] = {"a", "b", "ab", "<think>", "x", "</s>", "<\x1b>"};
    vocab_init(&vocab);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!vocab_add(&vocab, text[i], strlen(text[i]), i == 5 ? VOCAB_EOG : 0))
            return 2;
    char *const deep = repeat("root ::= ", "(", 300000, "\"a\"");
    check_refused();
    check_accepted();
    check_refusals();
    break_up();
    check_hostile(repeat("root ::= ", "(", 200, "\"a\" "), GRAMMAR_GROUP);
    check_hostile(repeat("root ::= ", "(", 1000000, ""), GRAMMAR_GROUP);
    check_hostile(repeat(deep, ")", 300000, " | \"a\""), GRAMMAR_OK);
    free(deep);
    check_hostile(repeat("root ::= \"a\"", "{2000}", 9, ""),
                  GRAMMAR_OK); // small, as rules refer to rules, although no text matches
    check_hostile(repeat("root ::= ", "[a-z]{0,2000} ", 600, ""), GRAMMAR_LARGE);
    check_hostile(repeat("root ::= \"", "a", 5000000, "\""), GRAMMAR_LARGE);
    check_hostile(repeat("root ::= [", "a-z", 300000, "]"), GRAMMAR_OK);
    check_hostile(repeat("root ::= \"x\" | ", "a", 1000000, ""), GRAMMAR_UNDEFINED);
    check_hostile(repeat("root ::= \"a\"", " | \"a\"", 100000, ""), GRAMMAR_OK);
    check_hostile(chain(30000, "\"a\"", false), GRAMMAR_OK);
    check_hostile(chain(30000, "\"\"", true), GRAMMAR_OK);
    check_hostile(chain(30000, "root", false), GRAMMAR_LEFT_RECURSION);
    check_hostile(chain(30000, "\"\" root", true), GRAMMAR_LEFT_RECURSION);
    check_ambiguous("root ::= s*\ns ::= \"a\" s \"b\" | \"a\" s \"x\" | \"a\" s | \"a\" | \"b\"", true);
    check_ambiguous("root ::= ([ab]* \"x\" | [ab]* \"b\" | [a] root)", true);
    check_ambiguous("root ::= ((((\"a\"?){60}){60}){60}){60} \"b\"*", true);
    check_ambiguous("root ::= ((((\"a\"?)*)*)*)* \"b\"*", true);
    check_ambiguous("root ::= \"a\" root \"b\"? | \"\"", true);
    check_ambiguous("root ::= (\"a\"{0,50} \"b\"{0,50}){2000}", true);
    check_ambiguous("root ::= \"a\" root root | \"b\"", true);
    vocab_free(&vocab);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
