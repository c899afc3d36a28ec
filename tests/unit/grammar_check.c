// SPDX-License-Identifier: MIT
// grammar_check [CASES [SEED]]: compares the matcher with a slow one over random grammars and vocabularies. The slow matcher uses the
// random syntax tree, not its text, keeps every stack as a list, and tests each token alone. Both must agree on every token in every
// state of random walks, and on the grammars that are left-recursive. Some tokens begin or end inside characters, or are not UTF-8.
#include "grammar/matcher.h"
#include "random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The random syntax tree

enum kind { TEXT, CLASS, ANY, RULE, SEQUENCE, CHOICE, REPEAT, TOKEN, NOT_TOKEN };
enum { RULES = 5, PARTS = 4, POOL = 400 };

struct node {
    enum kind kind;
    struct node *part[PARTS];
    unsigned n, rule, id;
    int least, most;          // REPEAT; most -1: unbounded
    uint32_t range[PARTS][2]; // CLASS; characters of TEXT
    bool negated;
};

static struct node pool[POOL];
static unsigned used;
static struct node *rule[RULES];
static unsigned n_rules;
static struct vocab vocab;

static const uint32_t alphabet[] = {'a', 'b', 'c', 'c', '!', 'x', 0xe9, 0xe8, 0x3b1, 0x65e5, 0x672c, 0x1f600, 0x1f601};
enum { LETTERS = sizeof alphabet / sizeof *alphabet };

static struct node *make(unsigned depth)
{
    struct node *const x = &pool[used++];
    *x = (struct node){.kind = (enum kind)random_below(depth && used + PARTS < POOL ? 9 : 3)};
    if (x->kind >= TOKEN && random_below(3))
        x->kind = SEQUENCE;
    x->n = x->kind == TEXT && !random_below(12) ? 0 : 1 + random_below(x->kind == REPEAT ? 1 : PARTS - 1);
    x->rule = random_below(n_rules);
    x->id = random_below((unsigned)vocab.n);
    x->negated = !random_below(3);
    for (unsigned i = 0; i < x->n; i++) {
        const uint32_t a = alphabet[random_below(LETTERS)], b = alphabet[random_below(LETTERS)];
        x->range[i][0] = a < b ? a : b;
        x->range[i][1] = x->kind == CLASS && random_below(2) ? (a < b ? b : a) : x->range[i][0];
        if (x->kind == SEQUENCE || x->kind == CHOICE || x->kind == REPEAT)
            x->part[i] = make(depth - 1);
    }
    x->least = (int)random_below(3);
    x->most = random_below(2) ? -1 : x->least + (int)random_below(3);
    return x;
}

// The text of the tree

static char text[1 << 16];
static size_t text_len;

static void put(const char *s)
{
    const size_t n = strlen(s);
    if (text_len + n < sizeof text)
        memcpy(text + text_len, s, n + 1), text_len += n;
}

static unsigned utf8(uint32_t c, char *to)
{
    if (c < 0x80)
        return *to = (char)c, 1;
    const unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = n; --i; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    *to = (char)(c | (0xf00u >> n & 0xf0u));
    return n;
}

static void put_char(uint32_t c)
{
    char s[16];
    if (random_below(3)) {
        s[utf8(c, s)] = '\0';
    } else {
        const unsigned form = random_below(3);
        snprintf(s, sizeof s,
                 c < 0x100 && !form        ? "\\x%02X"
                 : c < 0x10000 && form < 2 ? "\\u%04x"
                                           : "\\U%08x",
                 (unsigned)c);
    }
    put(s);
}

static void blank(void) { put(random_below(4) ? " " : random_below(2) ? "" : "\t  "); }

static void spell(const struct node *x);

static void spell_parts(const struct node *x, const char *between)
{
    put("(");
    put(random_below(5) ? " " : " # a remark\n ");
    for (unsigned i = 0; i < x->n; i++) {
        if (i)
            put(between);
        spell(x->part[i]);
    }
    put(random_below(5) ? " )" : "\n)");
}

static void spell_repeat(const struct node *x)
{
    char s[32];
    spell(x->part[0]);
    blank();
    if (x->least < 2 && x->most < 0)
        put(x->least ? "+" : "*");
    else if (!x->least && x->most == 1)
        put("?");
    else {
        snprintf(s, sizeof s,
                 x->most < 0                              ? "{%d,}"
                 : x->most == x->least && random_below(2) ? "{%d}"
                                                          : "{ %d , %d }",
                 x->least, x->most);
        put(s);
    }
}

static void spell_token(const struct node *x)
{
    char s[32];
    snprintf(s, sizeof s, "%s<[%u]>", x->kind == TOKEN ? "" : "!", x->id);
    put(s);
}

static void spell(const struct node *x)
{
    static const char *const names[RULES] = {"root", "r1", "R-two", "3", "a-"};
    switch (x->kind) {
    case TEXT:
        put(x->n ? "\"" : "(\"");
        for (unsigned i = 0; i < x->n; i++)
            put_char(x->range[i][0]);
        put(x->n ? "\"" : "\")");
        break;
    case CLASS:
        put(x->negated ? "[^" : "[");
        for (unsigned i = 0; i < x->n; i++) {
            put_char(x->range[i][0]);
            if (x->range[i][1] != x->range[i][0]) {
                put("-");
                put_char(x->range[i][1]);
            }
        }
        put("]");
        break;
    case ANY:
        put(".");
        break;
    case RULE:
        put(names[x->rule]);
        break;
    case SEQUENCE:
        spell_parts(x, " ");
        break;
    case CHOICE:
        spell_parts(x, random_below(2) ? "|" : " |\n ");
        break;
    case REPEAT:
        put("(");
        spell_repeat(x);
        put(")");
        break;
    case TOKEN:
    case NOT_TOKEN:
        spell_token(x);
        break;
    }
}

static void spell_rules(void)
{
    static const char *const heads[RULES] = {"root ::= ", "r1 ::=", "R-two\t::= ", "3 ::=\n ", "a- ::= # so\n\n"};
    text_len = 0;
    put(random_below(2) ? "# about\n\n" : "");
    for (unsigned i = n_rules; i--;) {
        put(heads[i]);
        spell(rule[i]);
        put(i || random_below(2) ? "\n" : "");
    }
}

// A rule is left-recursive if it refers to itself at the beginning of alternatives. It is also left-recursive if such a reference leaves a
// rest to match, or if the rule has no other beginning.

enum way {
    AT_FIRST = 1, // at the beginning of an alternative
    LEFT = 2,     // after parts that can be empty
    GROWING = 4,  // as LEFT, and a rest may follow
};

static bool empty[RULES];
static unsigned first[RULES][RULES]; // flags of enum way: how one rule leads to another

static bool can_be_empty(const struct node *x)
{
    bool all = true, any = false;
    for (unsigned i = 0; i < x->n && x->part[i]; i++) {
        const bool e = can_be_empty(x->part[i]);
        all = all && e;
        any = any || e;
    }
    switch (x->kind) {
    case TEXT:
        return !x->n;
    case RULE:
        return empty[x->rule];
    case SEQUENCE:
        return all;
    case CHOICE:
        return any;
    case REPEAT:
        return !x->least || all;
    default:
        return false;
    }
}

static void find_first(const struct node *x, unsigned how, unsigned *f)
{
    if (x->kind == RULE)
        f[x->rule] |= how;
    for (unsigned i = 0; i < x->n && x->part[i] && !(x->kind == REPEAT && !x->most); i++) {
        const bool last = x->kind == SEQUENCE ? i + 1 == x->n : x->kind == REPEAT ? x->most == 1 : true;
        find_first(x->part[i], how | (last ? 0 : GROWING), f);
        if (x->kind == SEQUENCE && !can_be_empty(x->part[i]))
            break;
        how &= x->kind == SEQUENCE ? ~(unsigned)AT_FIRST : ~0u;
    }
}

static bool begins[RULES];

static bool can_begin(const struct node *x)
{
    if (x->kind != RULE && x->kind != SEQUENCE && x->kind != CHOICE && x->kind != REPEAT)
        return x->kind != TEXT || x->n;
    bool any = x->kind == RULE && begins[x->rule];
    for (unsigned i = 0; i < x->n && x->part[i] && !(x->kind == REPEAT && !x->most); i++) {
        any = any || can_begin(x->part[i]);
        if (x->kind == SEQUENCE && !can_be_empty(x->part[i]))
            break;
    }
    return any;
}

static bool left_recursive(void)
{
    memset(begins, 0, sizeof begins);
    memset(empty, 0, sizeof empty);
    memset(first, 0, sizeof first);
    for (unsigned round = 0; round <= n_rules; round++)
        for (unsigned i = 0; i < n_rules; i++)
            empty[i] = can_be_empty(rule[i]) || empty[i];
    for (unsigned i = 0; i < n_rules; i++)
        find_first(rule[i], AT_FIRST | LEFT, first[i]);
    for (unsigned round = 0; round <= n_rules; round++)
        for (unsigned k = 0; k < n_rules; k++)
            for (unsigned i = 0; i < n_rules; i++)
                for (unsigned j = 0; j < n_rules; j++) {
                    const unsigned a = first[i][k], b = first[k][j];
                    first[i][j] |= a && b ? (a & b & (AT_FIRST | LEFT)) | ((a | b) & GROWING) : 0;
                }
    for (unsigned round = 0; round <= n_rules; round++)
        for (unsigned i = 0; i < n_rules; i++)
            begins[i] = begins[i] || can_begin(rule[i]);
    bool is = false;
    for (unsigned i = 0; i < n_rules; i++)
        is = is || first[i][i] & (AT_FIRST | GROWING) || !(begins[i] || empty[i]);
    return is;
}

// The slow matcher: lists of goals that are still to match

struct goal {
    const struct node *x;
    unsigned done; // matched characters of a TEXT, rounds of a REPEAT
    const struct goal *then;
};

enum { GOALS = 1 << 18, STACKS = 300 };
static struct goal goals[GOALS];
static unsigned n_goals;

struct set {
    const struct goal *top[STACKS]; // NULL: the end
    unsigned n;
};

struct stand {
    struct set set;
    uint32_t value; // of the character that has begun
    int more;       // number of missing bytes of the character
};

static bool overflow;

static const struct goal *goal(const struct node *x, unsigned done, const struct goal *then)
{
    if (n_goals == GOALS) {
        overflow = true;
        return NULL;
    }
    goals[n_goals] = (struct goal){x, done, then};
    return &goals[n_goals++];
}

static bool same(const struct goal *a, const struct goal *b)
{
    for (; a && b && a != b; a = a->then, b = b->then)
        if (a->x != b->x || a->done != b->done)
            return false;
    return a == b;
}

// Goals that have been expanded since the last character or token: expanding one again adds nothing.
static const struct goal *met[STACKS * 8];
static unsigned n_met;

static bool met_before(const struct goal *g)
{
    for (unsigned i = 0; i < n_met; i++)
        if (same(met[i], g))
            return true;
    if (n_met == sizeof met / sizeof *met)
        overflow = true;
    else
        met[n_met++] = g;
    return overflow;
}

static void expand_on(struct set *s, const struct goal *g)
{
    if (overflow || met_before(g))
        return;
    const struct node *const x = g ? g->x : NULL;
    if (x && (x->kind == SEQUENCE || (x->kind == TEXT && g->done == x->n))) {
        const struct goal *then = g->then;
        for (unsigned i = x->kind == TEXT ? 0 : x->n; i--;)
            then = goal(x->part[i], 0, then);
        expand_on(s, then);
    } else if (x && x->kind == CHOICE) {
        for (unsigned i = 0; i < x->n; i++)
            expand_on(s, goal(x->part[i], 0, g->then));
    } else if (x && x->kind == RULE) {
        expand_on(s, goal(rule[x->rule], 0, g->then));
    } else if (x && x->kind == REPEAT) {
        const bool more = (int)g->done < x->least || x->most < 0 || (int)g->done < x->most;
        if ((int)g->done >= x->least)
            expand_on(s, g->then);
        if (more)
            expand_on(s, goal(x->part[0], 0,
                              goal(x, (int)g->done < x->least || x->most >= 0 ? g->done + 1 : g->done, g->then)));
    } else {
        for (unsigned i = 0; i < s->n; i++)
            if (same(s->top[i], g))
                return;
        if (s->n == STACKS)
            overflow = true;
        else
            s->top[s->n++] = g;
    }
}

static void expand(struct set *s, const struct goal *g)
{
    n_met = 0;
    expand_on(s, g);
}

static bool matches(const struct goal *g, uint32_t c)
{
    const struct node *const x = g->x;
    if (x->kind == ANY)
        return c;
    if (x->kind == TEXT)
        return x->range[g->done][0] == c;
    if (x->kind != CLASS)
        return false;
    bool in = false;
    for (unsigned i = 0; i < x->n; i++)
        in = in || (x->range[i][0] <= c && c <= x->range[i][1]);
    return c && in != x->negated;
}

static void advance(struct set *s, uint32_t c)
{
    struct set to = {.n = 0};
    for (unsigned i = 0; i < s->n; i++)
        if (s->top[i] && matches(s->top[i], c))
            expand(&to, s->top[i]->x->kind == TEXT ? goal(s->top[i]->x, s->top[i]->done + 1, s->top[i]->then)
                                                   : s->top[i]->then);
    *s = to;
}

// Returns whether a valid character with these first bytes matches.
static bool completes(const struct stand *s)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const uint32_t low = s->value << 6 * s->more, high = low | ((1u << 6 * s->more) - 1);
    if (s->more == 1 && s->value < 2)
        return false;
    for (uint32_t c = low ? low : least[s->more]; c <= high; c++)
        for (unsigned i = 0; i < s->set.n; i++)
            if (s->set.top[i] && matches(s->set.top[i], c))
                return true;
    return false;
}

static bool feed(struct stand *s, struct piece t)
{
    size_t i = 0;
    for (; i < t.len && t.p[i] && s->more; i++) {
        if (t.p[i] >> 6 != 2)
            return false;
        s->value = s->value << 6 | (t.p[i] & 0x3f);
        if (!--s->more)
            advance(&s->set, s->value);
    }
    while (i < t.len && t.p[i]) {
        const unsigned char lead = t.p[i++];
        if (lead >= 0x80 && lead < 0xc0)
            return false;
        s->more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        s->value = lead < 0x80 ? lead : lead & (0x7fu >> s->more);
        for (; s->more && i < t.len && t.p[i]; s->more--)
            s->value = s->value << 6 | (t.p[i++] & 0x3f);
        if (!s->more)
            advance(&s->set, s->value);
    }
    return s->set.n && (!s->more || completes(s));
}

static bool ends(const struct stand *s)
{
    for (unsigned i = 0; i < s->set.n && !s->more; i++)
        if (!s->set.top[i])
            return true;
    return false;
}

// Accepts a token if it fits.
static bool slow_accept(struct stand *s, uint32_t id)
{
    const struct piece t = vocab_text(&vocab, id);
    struct set named = {.n = 0};
    struct stand to = *s;
    if (vocab_ends(&vocab, id))
        return ends(s);
    if (!t.len || !t.p[0])
        return false;
    for (unsigned i = 0; i < s->set.n && !s->more; i++) {
        const struct goal *const g = s->set.top[i];
        if (g && ((g->x->kind == TOKEN && g->x->id == id) || (g->x->kind == NOT_TOKEN && g->x->id != id)))
            expand(&named, g->then);
    }
    const bool fits = feed(&to, t), by_id = named.n;
    if (!fits && !by_id)
        return false;
    if (fits && to.more && !by_id) {
        *s = to;
        return true;
    }
    for (unsigned i = 0; fits && !to.more && i < to.set.n; i++)
        expand(&named, to.set.top[i]);
    *s = (struct stand){.set = named};
    return true;
}

// One case

static unsigned parsed, refused, states, tokens, wrong;

static void complain(const char *what, uint32_t id)
{
    if (wrong++ < 10)
        printf("%s (token %u) in the grammar\n%s\n", what, (unsigned)id, text);
}

static void make_vocab(void)
{
    vocab_free(&vocab);
    const bool wide = !random_below(4); // many letters in long texts, so that walks use their shortcuts
    const unsigned n = wide ? 400 : 10 + random_below(120);
    for (unsigned i = 0; i < n; i++) {
        char t[64];
        unsigned len = 0;
        for (unsigned k = random_below(12) ? 1 + random_below(wide ? 7 : 4) : 0; k--;)
            len +=
                utf8(wide && random_below(30) ? 0x21 + random_below(0x5d) : alphabet[random_below(LETTERS)], t + len);
        const unsigned from = len && !random_below(3) ? random_below(len) : 0;
        if (len > from && !random_below(3))
            len -= random_below(len - from);
        if (len && !random_below(20))
            t[random_below(len)] = (char)(random_below(4) ? 128 + random_below(128) : random_below(2) ? 0 : 'a');
        if (!vocab_add(&vocab, t + from, len - from, random_below(25) ? 0 : VOCAB_EOG | VOCAB_SPECIAL))
            exit(2);
    }
}

// Compares the masks and flags of a state, and accepts a token that fits. Returns false if no token fits.
static bool compare_state(struct matcher *m, struct stand *slow)
{
    const uint64_t *mask;
    uint32_t next = VOCAB_NONE;
    unsigned seen = 0;
    struct builder expected = {0};
    if (matcher_mask(m, &mask).code)
        exit(2);
    if (matcher_can_end(m) != ends(slow))
        complain("the end", 0);
    matcher_print_next(m, &expected);
    if ((expected.len > 0) != (slow->set.n > 0))
        complain("nothing is expected", 0);
    builder_free(&expected);
    for (uint32_t id = 0; id < vocab.n && !overflow; id++, tokens++) {
        struct stand to = *slow;
        bool fits;
        const bool want = slow_accept(&to, id), in = mask[id / 64] >> id % 64 & 1;
        if (overflow)
            break;
        if (in != want)
            complain(want ? "masked wrongly" : "not masked", id);
        if (matcher_fits(m, id, &fits).code || fits != want)
            complain("fits", id);
        if (want && !random_below(++seen))
            next = id;
    }
    if (overflow || next == VOCAB_NONE)
        return false;
    bool fits;
    slow_accept(slow, next);
    if (matcher_accept(m, next, &fits).code || !fits)
        complain("accept", next);
    states++;
    return !overflow;
}

static void compare(struct matcher *m)
{
    for (unsigned round = 0; round < 3 && !overflow; round++) {
        struct stand slow = {.more = 0};
        matcher_reset(m);
        expand(&slow.set, goal(rule[0], 0, NULL));
        for (unsigned step = 0; step < 10 && compare_state(m, &slow); step++)
            ;
    }
}

// Checks that the bytes of siblings in the trie rise, so that a common prefix is stored once.
static void check_siblings(const struct trie *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct trie_node here = t->node[i], next = t->node[here.skip];
        if (here.skip < t->n && next.depth == here.depth && next.byte <= here.byte)
            complain("siblings", i);
    }
}

static void one(void)
{
    struct grammar_refusal refusal;
    struct err e;
    struct fault why;
    make_vocab();
    used = n_goals = 0;
    overflow = false;
    n_rules = 1 + random_below(RULES);
    for (unsigned i = 0; i < n_rules; i++)
        rule[i] = make(1 + random_below(4));
    spell_rules();
    const bool bad = left_recursive();
    struct grammar *const g = grammar_parse(text, text_len, &vocab, &refusal, &e);
    if (!g != bad || (bad && !strstr(e.text, "left-recursive"))) {
        complain(g ? "left recursion is not refused" : e.text, (uint32_t)e.status);
    } else if (g) {
        struct trie *const t = trie_new(&vocab);
        struct matcher *const m = t ? matcher_new(g, t, &why) : NULL;
        if (!m)
            exit(2);
        check_siblings(t);
        compare(m);
        matcher_free(m);
        trie_free(t);
    }
    parsed += g != NULL;
    refused += !g;
    grammar_free(g);
}

int main(int argc, char **argv)
{
    const unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    random_state = argc > 2 ? strtoull(argv[2], NULL, 10) * 2 + 1 : 1;
    vocab_init(&vocab);
    for (unsigned i = 0; i < cases; i++)
        one();
    vocab_free(&vocab);
    printf("%u grammars, %u refused, %u states, %u tokens, %u wrong\n", parsed, refused, states, tokens, wrong);
    return wrong || parsed < cases / 4 || refused < cases / 50 || states < cases;
}
