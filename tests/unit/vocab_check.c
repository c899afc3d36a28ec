// SPDX-License-Identifier: MIT
// vocab_check [COUNT]: checks the classes of texts, and compares samplers that use texts with simple versions. The version of infill loops
// over all pairs of candidates, that of DRY's breakers searches every token of every history. Vocabularies, rows and histories are random,
// over two letters, so that texts are prefixes and parts of each other.
#include "random.h"
#include "sample/cand_load.h"
#include "samplers/list.h"
#include "vocab/token_class.h"
#include "vocab/vocab.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80 };

static size_t random_text(char text[8], size_t least, size_t most)
{
    const size_t len = least + random_below(most - least + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = "ab "[random_below(12) < 11 ? random_below(2) : 2];
    return len;
}

static void random_vocab(struct vocab *v, size_t n)
{
    char text[8];
    const bool ends = random_below(3) == 0;
    vocab_init(v);
    for (size_t i = 0; i < n; i++)
        if (!vocab_add(v, text, random_text(text, 0, 5),
                       (random_below(10) == 0 ? VOCAB_SPECIAL : 0u) | (ends && random_below(20) == 0 ? VOCAB_EOG : 0u)))
            exit(3);
    v->eot = random_below(3) ? (uint32_t)random_below(n) : VOCAB_NONE;
    v->eos = random_below(3) ? (uint32_t)random_below(n) : VOCAB_NONE;
    v->space_prefix = random_below(2);
}

// ---- infill

struct item {
    uint32_t id;
    float logit, p;
};

static int by_rank(const void *a, const void *b)
{
    const struct item *const x = a, *const y = b;
    if (x->logit != y->logit)
        return x->logit < y->logit ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static size_t filter(struct item *l, size_t n, const struct vocab *v, float floor, size_t *n_text)
{
    float sum = 0.0f;
    size_t m = 0;
    *n_text = 0;
    for (size_t i = 0; i < n; i++)
        if (l[i].p >= floor || vocab_ends(v, l[i].id)) {
            *n_text += !vocab_ends(v, l[i].id);
            sum += l[i].p;
            l[m++] = l[i];
        }
    for (size_t i = 0; i < m; i++)
        l[i].p /= sum;
    return m;
}

// Applies infill of samplers.md. Returns the number of candidates that are kept, or 0 if the vocabulary lacks the end token it needs.
static size_t plain_infill(struct item *l, size_t n, size_t n_vocab, const struct vocab *v)
{
    float p_end = 0.0f, p_text = 0.0f;
    size_t n_text;
    for (size_t i = 0; i < n; i++)
        if (vocab_ends(v, l[i].id))
            p_end += l[i].p;
        else
            p_text += l[i].p;
    if (3 * p_end * (float)n > p_text)
        return filter(l, n, v, INFINITY, &n_text);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && l[i].logit > -INFINITY; k++) {
            const struct piece x = vocab_output(v, l[i].id), y = vocab_output(v, l[k].id);
            if (i == k || l[k].logit == -INFINITY || !x.len || x.len > y.len || memcmp(x.p, y.p, x.len) != 0)
                continue;
            const size_t to = l[k].p > l[i].p ? k : i, from = to == i ? k : i;
            l[to].p += l[from].p;
            l[from].logit = -INFINITY;
            l[from].p = 0.0f;
        }
    n = filter(l, n, v, 0.2f, &n_text);
    if (!n_text) {
        l[0] = (struct item){v->eot != VOCAB_NONE ? v->eot : v->eos, 1.0f, 1.0f};
        return l[0].id < n_vocab;
    }
    return filter(l, n, v, (float)(1.0 / (double)(n_text + 1)), &n_text);
}

static bool check_infill(void)
{
    struct vocab v;
    struct cand c;
    float row[MOST];
    struct item want[MOST];
    const size_t n = 2 + random_below(MOST - 1), n_text = 1 + random_below(n + 5);
    const float spread = (float)(1 + random_below(8));
    random_vocab(&v, n_text);
    for (size_t i = 0; i < n; i++)
        row[i] = random_below(10) ? spread * (float)random_below(16) / 16.0f : -INFINITY;
    row[random_below(n)] = 1.0f;
    const struct context context = {.vocab = &v};
    const struct stage stage = {&sampler_infill, NULL, &context};
    cand_init(&c, kern_select(NULL));
    if (cand_load(&c, &(struct row){DTYPE_F32, row, n}).code)
        exit(3);
    cand_sort(&c);
    cand_softmax(&c);
    for (size_t i = 0; i < n; i++)
        want[i] = (struct item){c.id[i], c.logit[i], c.p[i]};
    qsort(want, n, sizeof *want, by_rank);
    const size_t left = plain_infill(want, n, n, &v);
    sampler_infill.apply(NULL, &c, &stage);
    bool ok = left ? !c.fault.code && c.n == left : c.fault.code == FAULT_NO_EOT;
    for (size_t i = 0; ok && i < left; i++)
        ok = c.id[i] == want[i].id && c.logit[i] == want[i].logit && c.p[i] == want[i].p;
    cand_free(&c);
    vocab_free(&v);
    return ok;
}

// ---- breakers

static struct piece word_of(const struct vocab *v, uint32_t id)
{
    struct piece t = vocab_text(v, id);
    if (v->space_prefix && t.len && *t.p == ' ')
        t = (struct piece){t.p + 1, t.len - 1};
    return t;
}

static bool contains(struct piece word, struct piece text)
{
    for (size_t i = 0; i + text.len <= word.len; i++)
        if (!memcmp(word.p + i, text.p, text.len))
            return true;
    return false;
}

// Returns the number of tokens, from the i-th newest on, that spell the breaker; the first is its head. Returns 0 if none do.
static size_t spelt_at(const struct vocab *v, struct piece text, const uint32_t *recent, size_t i)
{
    const struct piece head = word_of(v, recent[i]);
    size_t longest = contains(head, text);
    for (size_t cut = 1; !longest && cut < text.len && cut <= head.len; cut++)
        if (!memcmp(head.p + head.len - cut, text.p, cut)) {
            size_t at = cut;
            for (size_t n = 1; n <= i; n++) {
                const struct piece t = vocab_text(v, recent[i - n]);
                if (!t.len || t.len > text.len - at || memcmp(t.p, text.p + at, t.len) != 0)
                    break;
                at += t.len;
                if (at == text.len) {
                    longest = n + 1;
                    return longest; // a shorter head has a longer tail, so the first match is the longest
                }
            }
        }
    return longest;
}

static bool check_breakers(void)
{
    struct vocab v;
    struct piece text[4];
    char room[4][8];
    uint32_t recent[12];
    const size_t n_vocab = 1 + random_below(20), n = 1 + random_below(12), n_texts = random_below(4);
    random_vocab(&v, n_vocab);
    for (size_t i = 0; i < n_texts; i++)
        text[i] = (struct piece){(const unsigned char *)room[i], random_text(room[i], 1, 6)};
    for (size_t i = 0; i < n; i++)
        recent[i] = (uint32_t)random_below(n_vocab + 1); // the id after the last has no text
    struct breakers b = {.text = text, .n_texts = n_texts};
    if (!breakers_find_heads(&b, &v))
        exit(3);
    size_t want = n, want_begin = n, begin;
    for (size_t i = n; i-- > 0;) {
        size_t longest = 0;
        for (size_t k = 0; k < n_texts; k++) {
            const size_t m = spelt_at(&v, text[k], recent, i);
            longest = m > longest ? m : longest;
        }
        want = longest ? i + 1 - longest : want;
        want_begin = longest ? i : want_begin;
    }
    bool ok = breakers_since(&b, recent, n, &begin) == want && begin == want_begin;
    for (uint32_t id = 0; id <= n_vocab; id++) {
        bool single = false;
        for (size_t k = 0; k < n_texts; k++)
            single = single || contains(word_of(&v, id), text[k]);
        ok = ok && breakers_single(&b, id) == single;
    }
    breakers_free(&b);
    vocab_free(&v);
    return ok;
}

// Checks the classes of texts, and of special tokens.
static bool check_classes(void)
{
    static const struct {
        enum token_class class;
        const char *texts; // separated by '|'
    } expected[] = {
        {CLASS_SPACE_WORD, " the| a1| \xc3\xa9t\xc3\xa9|\nThe|  \xe6\x97\xa5|\xe3\x80\x80"
                           "a|\xc2\xa0\xc3\x9f| don't"},
        {CLASS_WORD,
         "the|Z|a1|don't|\xc3\xa9|\xc2\xaa|\xc2\xb5m|\xc2\xba|\xe6\x97\xa5\xe6\x9c\xac|\xef\xbc\xa1|\xf0\x90\x80\x80|"
         "\xd9\xa1|\xf0\x9f\xac\x80|x\n|\xe2\xb0\x80"},
        {CLASS_NUMBER, "1| 12|3.14|1,000|\t7|1.2.3|10,000.5|007"},
        {CLASS_PUNCTUATION,
         ".| ,|!?|(| - |\xe2\x80\x94|\xe3\x80\x82|\xc2\xb2|\xc3\x97|\xc3\xb7|\xc2\xab|\xef\xbc\x81|\xef\xbc\xa0|"
         "\xf0\x9f\x99\x82|\xe2\x82\xac|.\n|_|\xef\xbc\x91|\xe2\xaf\xbf|\xf0\x9f\xab\xbf|\xc2\xbf|@ "},
        {CLASS_SPACE, " |\n|\t  \r\n|\xc2\xa0|\xe3\x80\x80|\xe2\x80\x83"},
        {CLASS_OTHER,
         "1st|'s| 's|_x|1.|.5|1,,2|1. |12 |\xff| \xe2\x80|a\xff|the\xc3|\x01|\xe2\x80\x8b|-1|$5|5\xe2\x82\xac| 1a|"},
    };
    struct vocab v;
    bool ok = true;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (const char *at = expected[i].texts, *end = at; at; at = *end ? end + 1 : NULL) {
            end = at + strcspn(at, "|");
            const enum token_class got = token_class_of((struct piece){(const unsigned char *)at, (size_t)(end - at)});
            if (got != expected[i].class)
                printf("class of '%.*s' is %d\n", (int)(end - at), at, got);
            ok = ok && got == expected[i].class;
        }
    vocab_init(&v);
    ok = ok && vocab_add(&v, "word", 4, VOCAB_SPECIAL) && vocab_add(&v, "word", 4, VOCAB_EOG) &&
         token_class(&v, 0) == CLASS_OTHER && token_class(&v, 1) == CLASS_WORD && token_class(&v, 2) == CLASS_OTHER;
    vocab_free(&v);
    return ok;
}

int main(int argc, char **argv)
{
    if (!check_classes()) {
        puts("classes differ");
        return 1;
    }
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
    for (uint64_t i = 0; i < count; i++) {
        random_state = i;
        if (!check_infill()) {
            printf("infill differs in case %" PRIu64 "\n", i);
            return 1;
        }
        if (!check_breakers()) {
            printf("breakers differ in case %" PRIu64 "\n", i);
            return 1;
        }
    }
    printf("%" PRIu64 " cases\n", count);
    return 0;
}
