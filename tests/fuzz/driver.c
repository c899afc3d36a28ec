// SPDX-License-Identifier: MIT
// The fuzzer (clang's libFuzzer; `make fuzz`) runs the whole program in this process, on a file of arbitrary bytes. SAMPL_FUZZ names a row
// of the table below: the arguments, and the other runs that must print the same output. For any bytes, a run must end with a valid status
// and without leaks, and with an error line if the status is not 0.
#define main sampl_main
#include "../../src/main.c"
#undef main

#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

// The file with the fuzzer's bytes. Its name is the program's name of a pipe, so that messages of files and pipes are equal.
#define IN "standard input"

enum {
    TIERS = 1,     // SAMPL_CPU
    THREADS = 2,   // -t
    PIPE = 4,      // IN from a pipe
    SHARDS = 8,    // --shard: the outputs concatenate to one run, unless a shard is refused
    AGAIN = 16,    // the printed text, given to the row's `option`, prints itself
    LINES = 32,    // the bytes are words, one a line, that follow the arguments
    MATRIX = 64,   // the bytes choose a chain and a width, and are stretched to rows
    OPENS = 128,   // may name missing files: status 3
    REPORTS = 256, // standard output says why the status is 4
    ROWS = TIERS | THREADS | PIPE,
    MOST_WORDS = 60,
    MOST_TEXT = 1 << 20, // longest output that is compared
};

struct target {
    const char *name;
    unsigned oracles;
    const char *before, *after; // text before and after the bytes
    const char *option;         // for AGAIN; for LINES, before each word, or NULL
    const char *word[16];
};

static const struct target targets[] = {
    {"f32", ROWS | SHARDS, "", "", NULL, {"-f", "f32", "-n", "5", IN}},
    {"auto", ROWS, "", "", NULL, {"-n", "3", "--on-error", "skip", IN}},
    {"npy", ROWS | SHARDS, "", "", NULL, {"-f", "npy", "--dump-probs=3", IN}},
    {"safetensors", ROWS | SHARDS, "", "", NULL, {"-f", "safetensors", "--emit", "logprobs", "-O", "f32", IN}},
    {"kld", ROWS | SHARDS, "", "", NULL, {"-f", "kld", "--accept", "recorded", "--emit", "score", "-O", "tsv", IN}},
    {"pairs", ROWS, "", "", NULL, {"-f", "pairs", "-O", "json", "--dump-probs", IN}},
    {"json", ROWS, "", "", NULL, {"-f", "json", "-O", "json", "--dump-probs=3", "--stats", "--on-error", "skip", IN}},
    {"replies",
     PIPE | THREADS,
     "",
     "",
     NULL,
     {"-f", "json", "-O", "json", "--ids", "rank", "--accept", "recorded", IN}},
    {"params",
     TIERS,
     "{\"logits\":[1,3,2],\"params\":",
     "}{\"logits\":[2,2,1]}",
     NULL,
     {"-f", "json", "--vocab", "words", IN}},
    {"vocab", PIPE, "", "", NULL, {"--vocab", IN, "--dump-probs", "-O", "json", "words.json"}},
    {"recommends", PIPE, "", "", NULL, {"--vocab", IN, "--ignore-eos", "--print-chain=json"}},
    {"gbnf", 0, "", "", NULL, {"--vocab", "words", "--grammar-file", IN, "--dump-probs", "words.json"}},
    {"schema", AGAIN, "", "", "--grammar-file", {"--vocab", "words", "--print-grammar", "-jf", IN}},
    {"matches", 0, "", "", NULL, {"--vocab", "words", "-jf", IN, "--emit", "text", "words.json"}},
    {"preset", AGAIN | OPENS, "", "", "--preset", {"--print-chain=llama", "--preset", IN}},
    {"options", LINES | OPENS, "", "", NULL, {"--print-chain=json"}},
    {"ids",
     0,
     "",
     "",
     NULL,
     {"--print-chain", "--prompt-tokens", "@" IN, "--dry-breaker-tokens", "@" IN, "--accept", "@" IN}},
    {"biases", LINES, "", "", "-l", {"--vocab", "words", "--print-chain"}},
    {"vs", LINES | OPENS, "", "", "--vs", {"--temp", "1", "-O", "json", "words.json"}},
    {"sweep", LINES, "", "", "--sweep", {"--temp", "1", "-O", "tsv", "words.json"}},
    {"lines", TIERS | THREADS, "", "", NULL, {"-n", "20", "--vocab", "words", "--params", IN, "words.f32"}},
    {"rows", TIERS | THREADS, "", "", NULL, {"--rows", "@" IN, "words.json"}},
    {"expect", TIERS | THREADS | REPORTS, "", "", NULL, {"--expect", "@" IN, "words.json"}},
    {"against", TIERS | THREADS, "", "", NULL, {"--against", IN, "--temp", "2", "-O", "tsv", "words.json"}},
    {"page", TIERS, "", "", NULL, {"-f", "json", "-O", "html", "--on-error", "skip", IN}}, // a page shows -t
    {"panels", TIERS, "", "", NULL, {"-f", "json", "-O", "html", "--vs", "a: --temp 2 --top-k 2", IN}},
    {"figures",
     TIERS | THREADS,
     "",
     "",
     NULL,
     {"-f", "json", "--emit", "stats", "-O", "tsv", "--stats", "--vs", "a: --temp 2", "--vs", "b: --mirostat 2", IN}},
    {"differ", ROWS, "", "", NULL, {"-f", "json", "--vs", "a: --temp 2", "--vs", "b: --mirostat 2", "--diff=3", IN}},
    {"budget",
     TIERS | THREADS,
     "",
     "",
     NULL,
     {"--vocab", "words", "--reasoning-start", "a", "--reasoning-end", "b", "--reasoning-budget", "2",
      "--reasoning-budget-message", "c", "--vs", "--temp 3", "-O", "json", IN}},
    {"filter", ROWS | SHARDS | MATRIX, "", "", NULL, {IN}},
};

// The chains of MATRIX.
static const char *const chains[] = {
    "--top-k 0 --top-p 0.9 --min-p 0",
    "--top-k 0 --dump-probs=9",
    "--samplers typ_p --typical 0.8 --dump-probs=5",
    "--samplers top_n_sigma;temperature --top-nsigma 1 --temp 0.7 --stats",
    "--samplers xtc --xtc-probability 0.5 --xtc-threshold 0.01",
    "--repeat-penalty 1.2 --frequency-penalty 0.1 --prompt-tokens 0,0",
    "--dry-multiplier 0.8 --dry-allowed-length 1 --dump-probs=3",
    "--mirostat 2",
    "--mirostat 1 --top-k 0",
    "--samplers adaptive_p --adaptive-target 0.3",
    "--samplers scatter=0.5;temperature --dump-probs=3",
    "--dynatemp-range 0.5 --top-k 0 --emit probs -O f32",
    "--emit logprobs -O f32 --top-k 0 --independent",
    "--engine ollama --dump-probs=3",
    "--engine akunu --temp 1",
    "--engine akunu-gpu --temp 1",
    "--engine batch --temp 1",
    "--neutral --samplers tfs;top_h;temperature --tfs 0.9 --top-h 0.5 --emit stats -O tsv",
    "--neutral --samplers min_k;p_step;top_a --min-k 3 --p-step 0.1 --top-a 0.1 --dump-probs=4",
    "--neutral --samplers smoothing;skew;epsilon_cutoff;eta_cutoff --smoothing-factor 0.2 --skew 0.5 --epsilon-cutoff 0.01 --eta-cutoff 0.01",
    "--neutral --samplers p_less;dist --emit stats -O json",
    "--samplers greedy --on-error skip",
    "--no-repeat-ngram-size 2 --bad-word-tokens 1,2 --bad-word-tokens 0",
    "--min-tokens 3 --eog-tokens 1 --no-repeat-ngram-size 3 --dump-probs=3",
    "--samplers top_k;dist --top-k 64 --independent --on-error skip -O json",
};
static const unsigned widths[] = {1, 2, 3, 7, 17, 64, 65, 300, 1025, 5000, 33000};
static const char *const types[] = {"f32", "f16", "bf16"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

// The result of a run.
struct outcome {
    int status;
    size_t n_out, n_err;
    char out[MOST_TEXT], err[1 << 16];
};

static const struct target *target;
static int captured[2]; // files that replace standard output and standard error

static _Noreturn void die(const char *what, const struct outcome *got, const struct outcome *want)
{
    dprintf(STDERR_FILENO, "== %s: %s\n== got status %d\n%.2000s%.2000s\n", target->name, what, got->status, got->out,
            got->err);
    if (want)
        dprintf(STDERR_FILENO, "== want status %d\n%.2000s%.2000s\n", want->status, want->out, want->err);
    abort();
}

// Reads a captured file and empties it.
static size_t caught(int fd, char *text, size_t room)
{
    const ssize_t n = pread(fd, text, room - 1, 0);
    assert(n >= 0);
    text[n] = '\0';
    const int emptied = ftruncate(fd, 0);
    assert(!emptied);
    lseek(fd, 0, SEEK_SET);
    return (size_t)n;
}

// Checks that a failed run has at least one line, and that no line has control characters.
static void check_messages(const struct outcome *o)
{
    for (size_t i = 0; i < o->n_err; i++)
        if (((unsigned char)o->err[i] < ' ' && o->err[i] != '\n') || o->err[i] == 127)
            die("a control character in a message", o, NULL);
    if (o->status == STATUS_IO && !(target->oracles & OPENS))
        die("an error of the system", o, NULL);
    if (o->status < 0 || o->status > STATUS_DIFFERS || (o->status == STATUS_DIFFERS && !(target->oracles & REPORTS)))
        die("no status of the program's", o, NULL);
    const bool reported = o->status == STATUS_DIFFERS && !o->n_err;
    if (o->status && !reported && (!strstr(o->err, "sampl: ") || o->err[o->n_err - 1] != '\n'))
        die("an error without a message", o, NULL);
}

// Removes the lines of o->err that start with `start`.
static void drop_lines(struct outcome *o, const char *start)
{
    for (char *line = o->err; *line;) {
        char *next = line + strcspn(line, "\n");
        next += *next != '\0';
        if (strncmp(line, start, strlen(start)) != 0) {
            line = next;
            continue;
        }
        memmove(line, next, strlen(next) + 1);
        o->n_err -= (size_t)(next - line);
    }
}

// Runs the program with the words of `more`, if any, and `words`.
static void run_words(struct outcome *o, const char *const *words, const char *const *more)
{
    char *argv[2 * MOST_WORDS] = {(char *)(uintptr_t) "sampl"};
    int argc = 1;
    for (; more && *more; more++)
        argv[argc++] = (char *)(uintptr_t)*more;
    for (; *words; words++)
        argv[argc++] = (char *)(uintptr_t)*words;
    fflush(stdout);
    o->status = sampl_main(argc, argv);
    fflush(stdout);
    fflush(stderr);
    o->n_out = caught(captured[0], o->out, sizeof o->out);
    o->n_err = caught(captured[1], o->err, sizeof o->err);
    char *const speed = strstr(o->err, "rows_per_second"); // the speed in --stats differs
    if (speed) {
        const size_t len = strcspn(speed, "\n");
        o->n_err -= len;
        memmove(speed, speed + len, strlen(speed + len) + 1);
    }
    clearerr(stdout);
    check_messages(o);
    drop_lines(o, "sampl: note: "); // some notes are of files only
}

static void put_file(const char *name, const char *before, const uint8_t *data, size_t n, const char *after)
{
    FILE *const f = fopen(name, "wb");
    assert(f);
    fputs(before, f);
    fwrite(data, 1, n, f);
    fputs(after, f);
    const int failed = fclose(f);
    assert(!failed);
}

static void must_agree(const char *what, const struct outcome *got, const struct outcome *want)
{
    if (got->status != want->status || got->n_out != want->n_out || memcmp(got->out, want->out, got->n_out) != 0)
        die(what, got, want);
    if (got->status && strcmp(got->err, want->err) != 0)
        die(what, got, want);
}

// ---- runs that must print the same output

static struct outcome first, other;

static void try_tiers(const char *const *words)
{
    for (size_t i = 0; kern_tier(i); i++) {
        setenv("SAMPL_CPU", kern_tier(i)->name, 1);
        run_words(&other, words, NULL);
        must_agree(kern_tier(i)->name, &other, &first);
    }
    unsetenv("SAMPL_CPU");
}

static void try_threads(const char *const *words)
{
    static const char *const threads[][3] = {{"-t", "2", NULL}, {"-t", "5", NULL}};
    for (size_t i = 0; i < COUNT(threads); i++) {
        run_words(&other, words, threads[i]);
        must_agree("-t", &other, &first);
    }
}

// Runs with IN from a pipe that holds all bytes. A file may be a pointer of Git LFS in place of another file; a pipe
// whose format is given is not searched for one, as that would wait for its bytes.
static void try_pipe(const char *const *words)
{
    static const char pointer[] = "version https://git-lfs.github.com/spec/";
    const char *changed[MOST_WORDS];
    static char bytes[1 << 16];
    int fd[2], n = 0;
    const int in = open(IN, O_RDONLY);
    const ssize_t len = read(in, bytes, sizeof bytes);
    close(in);
    if (len >= (ssize_t)strlen(pointer) && !memcmp(bytes, pointer, strlen(pointer)))
        return;
    if (len < 0 || len == sizeof bytes || pipe(fd))
        return;
    const ssize_t put = write(fd[1], bytes, (size_t)len);
    assert(put == len);
    close(fd[1]);
    dup2(fd[0], STDIN_FILENO);
    close(fd[0]);
    for (; *words; words++)
        changed[n++] = strcmp(*words, IN) != 0 ? *words : "-";
    changed[n] = NULL;
    run_words(&other, changed, NULL);
    must_agree("a pipe", &other, &first);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    close(null);
}

static void try_shards(const char *const *words)
{
    static const char *const shards[][3] = {
        {"--shard", "1/3", NULL}, {"--shard", "2/3", NULL}, {"--shard", "3/3", NULL}};
    size_t at = 0;
    if (first.status || strstr(first.err, "warning"))
        return;
    for (size_t i = 0; i < COUNT(shards); i++) {
        run_words(&other, words, shards[i]);
        if (other.status == STATUS_USAGE)
            return;
        if (other.status || other.n_out > first.n_out - at || memcmp(other.out, first.out + at, other.n_out) != 0)
            die("--shard", &other, &first);
        at += other.n_out;
    }
    if (at != first.n_out)
        die("--shard: all of them", &other, &first);
}

static void try_again(const char *const *words)
{
    const char *changed[MOST_WORDS];
    int n = 0;
    if (first.status)
        return;
    for (; *words && strcmp(words[1] ? words[1] : "", IN) != 0; words++)
        changed[n++] = *words;
    changed[n++] = target->option;
    changed[n++] = "printed";
    changed[n] = NULL;
    put_file("printed", "", (const uint8_t *)first.out, first.n_out, "");
    run_words(&other, changed, NULL);
    must_agree("printed again", &other, &first);
}

// Makes one comparison for each input, so that more inputs run. The bytes select it, so that a finding repeats. Threads, the slowest, are
// selected least often.
static void try_one(const char *const *words, const uint8_t *data, size_t n)
{
    static const struct {
        unsigned oracle;
        void (*try)(const char *const *words);
    } tries[] = {{TIERS, try_tiers}, {PIPE, try_pipe},   {SHARDS, try_shards}, {TIERS, try_tiers},
                 {PIPE, try_pipe},   {TIERS, try_tiers}, {SHARDS, try_shards}, {THREADS, try_threads}};
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ data[i]) * 16777619;
    const size_t i = hash % COUNT(tries);
    if (target->oracles & AGAIN)
        try_again(words);
    if (target->oracles & tries[i].oracle)
        tries[i].try(words);
}

// ---- arguments and rows from the bytes

// Splits the text in place and appends its lines, each after the option unless this is NULL.
static int split(char *text, const char *at, const char *option, const char **words, int n)
{
    char *rest;
    for (char *word = strtok_r(text, at, &rest); word && n < MOST_WORDS - 8; word = strtok_r(NULL, at, &rest)) {
        if (option)
            words[n++] = option;
        words[n++] = word;
    }
    return n;
}

// Three bytes select the chain, width and type. The other bytes become rows; noise fills the last row.
static int make_matrix(const uint8_t *data, size_t n, const char **words, int n_words)
{
    static char chain[200], width[12];
    static uint8_t bytes[1 << 18];
    if (n < 4)
        return n_words;
    const size_t chosen = widths[data[1] % COUNT(widths)], type = data[2] % COUNT(types);
    const size_t row = chosen * (type ? 2 : 4);
    snprintf(chain, sizeof chain, "%s", chains[data[0] % COUNT(chains)]);
    snprintf(width, sizeof width, "%zu", chosen);
    data += 3;
    n -= 3;
    const size_t size = n > sizeof bytes ? sizeof bytes : n < row ? row : n;
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = data[i % n];
        if (i >= n && i % (type ? 2 : 4) < (type ? 1 : 3)) { // not the byte with sign and exponent
            state = state * 1664525 + 1013904223;
            bytes[i] = (uint8_t)(bytes[i] ^ state >> 24);
        }
    }
    put_file(IN, "", bytes, size, "");
    words[n_words++] = "-f";
    words[n_words++] = types[type];
    words[n_words++] = "-n";
    words[n_words++] = width;
    return split(chain, " ", NULL, words, n_words);
}

// ---- functions that libFuzzer calls

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int capture(const char *name)
{
    const int fd = memfd_create(name, 0);
    assert(fd >= 0);
    return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *const name = getenv("SAMPL_FUZZ");
    for (size_t i = 0; name && i < COUNT(targets); i++)
        if (!strcmp(targets[i].name, name))
            target = &targets[i];
    if (!target) {
        for (size_t i = 0; i < COUNT(targets); i++)
            puts(targets[i].name);
        exit(name != NULL);
    }
    for (int i = 0; i < 2; i++)
        captured[i] = capture(name);
    dup2(captured[0], STDOUT_FILENO);
    stderr = fdopen(captured[1], "w"); // libFuzzer and the sanitizers keep the original
    assert(stderr);
    setvbuf(stderr, NULL, _IONBF, 0);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    close(null);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char text[1 << 16];
    const char *words[MOST_WORDS] = {"-s", "1"};
    int n_words = 2;
    for (const char *const *word = target->word; *word; word++)
        words[n_words++] = *word;
    if (n >= sizeof text / 2)
        return -1;
    if (target->oracles & LINES) { // file names of this folder only
        memcpy(text, data, n);
        text[n] = '\0';
        if (memchr(data, '/', n))
            return -1;
        n_words = split(text, "\n", target->option, words, n_words);
    } else if (target->oracles & MATRIX) {
        put_file(IN, "", data, n, "");
        n_words = make_matrix(data, n, words, n_words);
    } else {
        put_file(IN, target->before, data, n, target->after);
    }
    words[n_words] = NULL;
    run_words(&first, words, NULL);
    if (first.n_out == sizeof first.out - 1)
        return 0;
    try_one(words, data, n);
    return 0;
}
