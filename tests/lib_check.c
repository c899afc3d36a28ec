// SPDX-License-Identifier: MIT
// Calls of libsampl that no random run makes. tests/lib.bats links it with the library.
//     lib_check errors        checks the errors of each function
//     lib_check threads       two chains in two threads choose the ids of one thread
//     lib_check once WORD...  makes a chain, samples three rows, and prints the ids; or the error, with status 3 if
//                             memory is short
#include <sampl.h>

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 500, ROWS = 40 };

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "lib_check: %s\n", what);
    exit(1);
}

// Does the error of a chain contain a text? NULL: there is no error.
static bool says(const struct sampl_chain *chain, const char *text)
{
    const char *const error = sampl_error(chain);
    return text ? error && strstr(error, text) : !error;
}

static void fill(float *logits, unsigned turn)
{
    for (unsigned i = 0; i < WIDTH; i++)
        logits[i] = (float)((i * 7919u + turn * 104729u) % 1009u) / 100.0f;
}

// ---- errors

static void check_words(void)
{
    static const struct {
        const char *words[3], *params, *error;
    } cases[] = {
        {{"--top-p", "x"}, NULL, "--top-p: 'x' is not a number"},
        {{"--top-p"}, NULL, "--top-p needs a value"},
        {{"top-p", "0.5"}, NULL, "'top-p' is not an option"},
        {{""}, NULL, "'' is not an option"},
        {{"-"}, NULL, "'-' is not an option"},
        {{"--"}, NULL, "'--' is not an option"},
        {{"--=1"}, NULL, "'--=1' is not an option"},
        {{"--rows", "1"}, NULL, "'--rows' is not an option of a chain"},
        {{"-n", "1"}, NULL, "'-n' is not an option of a chain"},
        {{"-es7"}, NULL, "'-es7': give --escape by a word of its own"},
        {{"-efalse"}, NULL, "'-efalse': give --escape by a word of its own"},
        {{"--preset", "chat"}, NULL, "'--preset': a chain opens no file and no preset"},
        {{"--grammar-file=x"}, NULL, "'--grammar-file=x': a chain opens no file and no preset"},
        {{"-jf", "x"}, NULL, "'-jf': a chain opens no file and no preset"},
        {{"--scatter-embeddings", "x"}, NULL, "a chain opens no file and no preset"},
        {{"--dry-breaker-tokens", "@x"}, NULL, "'@x' is not a token id"},
        {{"--engine", "x"}, NULL, "--engine: 'x' is not one of llama,"},
        {{"--engine=vllm", "--xtc-probability=1"}, NULL, "--xtc-probability: engine vllm has no stage for it"},
        {{"--grammar", "root ::= \"a\""}, NULL, "--grammar needs a vocabulary"},
        {{"--logit-bias", "\"a\"+1"}, NULL, "--logit-bias"},
        {{"--samplers", "x"}, NULL, "x"},
        {{NULL}, "{\"temperature\":\"x\"}", "params: temperature is not a number"},
        {{NULL}, "{\"none\":1}", "params: unknown parameter 'none'"},
        {{NULL}, "{\"json_schema\":{\"const\":1e400}}", "params: --json-schema: /const is not within the range"},
        {{NULL}, "[1]", "params: not a JSON object"},
        {{NULL}, "{", "params: byte 0: not JSON"},
        {{NULL}, "", "params: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 0;
        while (n < 3 && cases[i].words[n])
            n++;
        struct sampl_chain *const chain = sampl_chain(NULL, cases[i].words, n, cases[i].params);
        check(chain, "a chain");
        if (!says(chain, cases[i].error))
            fprintf(stderr, "case %zu: %s\n", i, sampl_error(chain) ? sampl_error(chain) : "no error");
        check(says(chain, cases[i].error), cases[i].error);
        check(!sampl_sequence(chain, 0) && says(chain, cases[i].error), "no sequence of a wrong chain");
        sampl_chain_free(chain);
    }
    check(says(NULL, "out of memory") && !sampl_sequence(NULL, 0), "no chain");
    sampl_chain_free(NULL);
    sampl_sequence_free(NULL);
    sampl_vocab_free(NULL);
}

static void check_rows(void)
{
    float logits[WIDTH];
    uint32_t ids[] = {3, 9, 9};
    struct sampl_token token = {77, 0};
    size_t n = 1;
    const char *const words[] = {"--temp", "0.7", "--top-k", "5", "--seed", "3"};
    struct sampl_chain *const chain = sampl_chain(NULL, words, 6, "{\"top_p\":0.9}");
    struct sampl_sequence *const sequence = sampl_sequence(chain, 0);
    check(sequence && says(chain, NULL), "a sequence");
    fill(logits, 1);
    check(!sampl_kept(chain, &n) && !n, "nothing is kept yet");
    struct sampl_row row = {.logits = logits, .n = WIDTH, .flags = SAMPL_WANT_KEPT};
    check(sampl_row(sequence, &row, &token) == SAMPL_OK && token.p > 0, "a row");
    const struct sampl_token *const kept = sampl_kept(chain, &n);
    float sum = 0;
    bool has = false;
    for (size_t i = 0; i < n; i++) {
        sum += kept[i].p;
        has = has || (kept[i].id == token.id && kept[i].p == token.p);
        check(!i || kept[i - 1].p > kept[i].p || (kept[i - 1].p == kept[i].p && kept[i - 1].id < kept[i].id), "order");
    }
    check(n > 1 && n <= 5 && has && fabsf(sum - 1.0f) < 1e-6f, "kept candidates");
    row.flags = 0;
    check(!sampl_row(sequence, &row, &token) && isnan(token.p) && !sampl_kept(chain, &n), "a row without wishes");
    const struct sampl_token before = token = (struct sampl_token){77, 0.5f};
    const struct {
        struct sampl_row row;
        int status;
        const char *error;
    } wrong[] = {
        {{.logits = logits, .n = 0}, SAMPL_USAGE, "a row of 0 logits"},
        {{.logits = logits, .n = (size_t)1 << 40}, SAMPL_USAGE, "a row of 1099511627776 logits"},
        {{.logits = logits, .n = WIDTH, .type = 3}, SAMPL_USAGE, "enum sampl_type"},
        {{.logits = logits, .n = 3, .ids = ids}, SAMPL_USAGE, "ids[2]"},
        {{.logits = logits, .n = 2, .ids = ids, .n_vocab = 9}, SAMPL_USAGE, "ids[1]"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check(sampl_row(sequence, &wrong[i].row, &token) == wrong[i].status && says(chain, wrong[i].error) &&
                  token.id == before.id,
              wrong[i].error);
    logits[7] = NAN;
    check(sampl_row(sequence, &row, &token) == SAMPL_DATA && says(chain, "logit 7 is NaN"), "NaN");
    check(sampl_params(sequence, "{\"top_k\":1.5e9}") == SAMPL_OK && says(chain, NULL), "params");
    check(sampl_params(sequence, NULL) == SAMPL_OK && says(chain, NULL), "no params");
    check(sampl_params(sequence, "{\"top_k\":\"1\"}") == SAMPL_DATA && says(chain, "params: top_k"), "wrong params");
    check(sampl_prompt(sequence, ids, 3) == SAMPL_OK && sampl_accept(sequence, UINT32_MAX) == SAMPL_OK, "tokens");
    sampl_sequence_free(sequence);
    sampl_chain_free(chain);
}

// A token that does not fit the grammar is refused, and the sequence stays as it is.
static void check_grammar(void)
{
    const char *const texts[] = {"a", "b", "ab", NULL, "</s>"};
    const char *const words[] = {"--grammar", "root ::= \"a\" \"b\"", "--temp", "0"};
    const float logits[5] = {1, 2, 0.5f, 9, 0};
    struct sampl_vocab *const vocab = sampl_vocab(texts, NULL, 5);
    struct sampl_chain *const chain = sampl_chain(vocab, words, 4, NULL);
    struct sampl_sequence *const sequence = sampl_sequence(chain, 0);
    const struct sampl_row row = {.logits = logits, .n = 5};
    struct sampl_token token;
    check(sequence && !sampl_row(sequence, &row, &token) && token.id == 0, "the token a");
    check(sampl_accept(sequence, 1) == SAMPL_DATA && says(chain, "token 1, 'b', does not fit the grammar"), "not b");
    check(!sampl_accept(sequence, 0) && !sampl_row(sequence, &row, &token) && token.id == 1, "the token b");
    check(!sampl_accept(sequence, 1) && !sampl_row(sequence, &row, &token) && token.id == 4, "the end");
    sampl_sequence_free(sequence);
    sampl_chain_free(chain);
    sampl_vocab_free(vocab);
}

// The grammar of a schema in params has the spelling of the schema's numbers.
static void check_schema(void)
{
    const char *const texts[] = {"9007199254740992", "9007199254740993", "9007199254740994", "</s>"};
    const char *const params = "{\"top_k\":1,\"json_schema\":{\"const\":9007199254740993}}";
    const float logits[4] = {3, 2, 4, 1};
    struct sampl_vocab *const vocab = sampl_vocab(texts, NULL, 4);
    struct sampl_chain *const chains[] = {sampl_chain(vocab, NULL, 0, params), sampl_chain(vocab, NULL, 0, NULL)};
    const struct sampl_row row = {.logits = logits, .n = 4};
    struct sampl_token token;
    for (size_t i = 0; i < 2; i++) {
        struct sampl_sequence *const sequence = sampl_sequence(chains[i], 0);
        check(!sampl_params(sequence, i ? params : NULL), "params with a schema, or none");
        check(!sampl_row(sequence, &row, &token) && token.id == 1, "the number of the schema");
        sampl_sequence_free(sequence);
        sampl_chain_free(chains[i]);
    }
    sampl_vocab_free(vocab);
}

// ---- threads

static const char *const thread_words[] = {
    "--repeat-penalty",  "1.2", "--dry-multiplier", "0.8", "--dry-breaker-tokens", "1",
    "--xtc-probability", "0.5", "--seed",           "7"};

// Writes the ids of ROWS rows to ids[].
static void *sample_rows(void *ids)
{
    uint32_t *const to = ids;
    float logits[WIDTH];
    const struct sampl_row row = {.logits = logits, .n = WIDTH};
    struct sampl_token token;
    for (unsigned k = 0; k < 20; k++) {
        struct sampl_chain *const chain = sampl_chain(NULL, thread_words, 10, "{\"top_k\":30}");
        struct sampl_sequence *const sequence = sampl_sequence(chain, 0);
        for (unsigned i = 0; i < ROWS; i++) {
            fill(logits, i / 2);
            check(!sampl_row(sequence, &row, &token) && !sampl_accept(sequence, token.id), "a row of a thread");
            check(!k || to[i] == token.id, "each chain chooses the same ids");
            to[i] = token.id;
        }
        sampl_sequence_free(sequence);
        sampl_chain_free(chain);
    }
    return NULL;
}

static void check_threads(void)
{
    uint32_t ids[3][ROWS];
    pthread_t thread[2];
    sample_rows(ids[2]);
    for (size_t i = 0; i < 2; i++)
        check(!pthread_create(&thread[i], NULL, sample_rows, ids[i]), "a thread");
    for (size_t i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        check(!memcmp(ids[i], ids[2], sizeof *ids), "the ids of a thread");
    }
}

// ---- once, with a vocabulary

static int sample_once(struct sampl_sequence *sequence)
{
    float logits[WIDTH];
    const struct sampl_row row = {.logits = logits, .n = WIDTH, .flags = SAMPL_WANT_KEPT};
    struct sampl_token token;
    const uint32_t prompt[] = {1, 2, 3};
    int status = sampl_prompt(sequence, prompt, 3);
    for (unsigned i = 0; !status && i < 3; i++) {
        fill(logits, i);
        if (i == 1)
            status = sampl_params(sequence, "{\"top_k\":20,\"dry_multiplier\":1}");
        if (!status)
            status = sampl_row(sequence, &row, &token);
        if (!status)
            status = sampl_accept(sequence, token.id);
        if (!status)
            printf("%u\n", (unsigned)token.id);
    }
    return status;
}

static int run_once(const char *const *words, size_t n)
{
    static char texts[WIDTH][8];
    static const char *text[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        snprintf(texts[i], sizeof texts[i], "t%d", i);
        text[i] = texts[i];
    }
    struct sampl_vocab *const vocab = sampl_vocab(text, NULL, WIDTH);
    struct sampl_chain *const chain = vocab ? sampl_chain(vocab, words, n, "{\"min_p\":0.001}") : NULL;
    struct sampl_sequence *const sequence = sampl_sequence(chain, 0);
    const int status = sequence ? sample_once(sequence) : SAMPL_SYSTEM;
    if (status)
        fprintf(stderr, "%s\n", sampl_error(chain));
    sampl_sequence_free(sequence);
    sampl_chain_free(chain);
    sampl_vocab_free(vocab);
    return status;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    setlocale(LC_ALL, "");
    if (argc > 1 && !strcmp(argv[1], "once"))
        return run_once((const char *const *)argv + 2, (size_t)argc - 2);
    if (argc > 1 && !strcmp(argv[1], "threads")) {
        check_threads();
        return 0;
    }
    check_words();
    check_rows();
    check_grammar();
    check_schema();
    return 0;
}
