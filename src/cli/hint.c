// SPDX-License-Identifier: MIT
#include "cli/hint.h"

#include "base/builder.h"
#include "base/names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NO_MODEL "sampl runs no model; leave it out"
#define NO_CHAT  "sampl holds no conversation; leave it out"
#define NO_SERVE "sampl is not a server; leave it out"
#define VOCAB    "sampl runs no model; --vocab reads its vocabulary"
#define PROMPT   "sampl has no tokenizer; --prompt-tokens takes the prompt's ids"
#define PREDICT  "sampl samples each row once; --rows :N ends after N"

// A hint that several options share.
struct known {
    const char *names; // separated by spaces, with their dashes; NULL after the last row of a table
    const char *hint;
};

// Options of llama-cli and llama-server that many command lines have, and that do not concern sampling. A short option
// cannot be among them if its first letter is an option of sampl that takes any text as its value.
static const struct known others[] = {
    {"-m --model -mu --model-url -hf -hfr --hf-repo -hff --hf-file", VOCAB},
    {"-p --prompt --file -bf --binary-file -sys --system-prompt -sysf --system-prompt-file", PROMPT},
    {"--predict --n-predict", PREDICT},
    {"-c --ctx-size -b --batch-size -ub --ubatch-size -fa --flash-attn --keep --no-context-shift --context-shift "
     "--swa-full -ngl --gpu-layers --n-gpu-layers -sm --split-mode -ts --tensor-split -mg --main-gpu -dev --device "
     "--override-tensor -ctk --cache-type-k -ctv --cache-type-v -nkvo --no-kv-offload -kvu --kv-unified -cmoe "
     "--cpu-moe -ncmoe --n-cpu-moe --mlock --mmap --no-mmap --numa --no-warmup --warmup -tb --threads-batch -C "
     "--cpu-mask --prio --poll --repack -nr --rope-scaling --rope-scale --rope-freq-base --rope-freq-scale "
     "--yarn-orig-ctx --yarn-ext-factor --lora --lora-scaled -md --model-draft -ngld --draft --draft-max --draft-min "
     "--draft-p-min -mm --mmproj --image --override-kv",
     NO_MODEL},
    {"-cnv --conversation -no-cnv --no-conversation -st --single-turn -i --interactive -if --interactive-first -sp "
     "--special --chat-template --chat-template-file --chat-template-kwargs --jinja --no-jinja -r --reverse-prompt "
     "--in-prefix --color -co --no-display-prompt --display-prompt --simple-io --log-disable "
     "--reasoning-format",
     NO_CHAT},
    {"--host --port --api-key --path -np --parallel -cb --cont-batching --metrics --slots --no-slots --props -a "
     "--alias --cache-reuse --cache-prompt --no-cache-prompt -cram --cache-ram --timeout --embedding --embeddings "
     "--no-webui",
     NO_SERVE},
    {NULL},
};

// Options of other programs, and slips of the pen, that are spelled otherwise here.
static const struct known spellings[] = {
    {"-k", "--top-k"},
    {"--rep-pen --repetition-penalty --repetition_penalty --rep_pen --repeat", "--repeat-penalty"},
    {"--rep-pen-range --rep_pen_range --penalty-last-n", "--repeat-last-n"},
    {"--xtc", "--xtc-probability"},
    {"--dry", "--dry-multiplier"},
    {"--tau", "--mirostat-ent"},
    {"--eta", "--mirostat-lr"},
    {"--epsilon", "--epsilon-cutoff"},
    {"--html", "-O html"},
    {"--json", "-O json"},
    {"--compare --versus", "--vs"},
    {"--sampler", "--samplers"},
    {"--model-vocab --tokenizer", "--vocab"},
    {NULL},
};

// Returns the hint of a table for a word[0..len). NULL: the table lacks the word.
static const char *hint_of(const struct known *table, const char *word, size_t len)
{
    while (table->names && name_find(table->names, NAME_EXACT, word, len) < 0)
        table++;
    return table->hint;
}

bool hint_is_known(const char *word, size_t len) { return hint_of(others, word, len); }

enum {
    LONGEST = 40,  // bytes of a name that is compared; every option is shorter
    NEAR_MOST = 3, // names that a message suggests
    NEAR_LEAST = 2 // distance of a name of a preset that a message suggests, at most
};

// Returns the edit distance of two names: how many characters must be inserted, deleted or replaced to make one of the
// other. '_' is equal to '-'. The name a[0..len) has at most LONGEST characters. The loop fills the usual table row by
// row, and keeps one row.
static size_t distance(const char *a, size_t len, const char *b)
{
    size_t row[LONGEST + 1]; // [i]: the distance of the first i characters of a and the part of b before the loop
    for (size_t i = 0; i <= len; i++)
        row[i] = i;
    for (; *b; b++) {
        size_t before = row[0]++; // row[i - 1] of the row before
        for (size_t i = 1; i <= len; i++) {
            const size_t replaced = before + ((a[i - 1] == '_' ? '-' : a[i - 1]) != *b);
            before = row[i];
            row[i]++;
            if (row[i - 1] + 1 < row[i])
                row[i] = row[i - 1] + 1;
            if (replaced < row[i])
                row[i] = replaced;
        }
    }
    return row[len];
}

// Finds the long names of options that are nearest to name[0..len). Returns their number, 0 if none is near.
static size_t near_names(const struct options *o, const char *name, size_t len, const char *near[NEAR_MOST])
{
    size_t n = 0, least = len > 9 ? 3 : len / 3;
    if (len > LONGEST || !least)
        return 0;
    for (const struct option_row *row = o->row; row->name; row++) {
        const char *const names[] = {row->name, row->also};
        for (size_t i = 0; i < 2 && names[i] && row->group != GROUP_HIDDEN; i++) {
            const size_t d = distance(name, len, names[i]);
            if (d < least)
                n = 0;
            if (d <= least && n < NEAR_MOST)
                near[n++] = names[i];
            if (d < least)
                least = d;
        }
    }
    return n;
}

void hint_near(struct near_name *n, const char *word, const char *name)
{
    const size_t d = strlen(word) > LONGEST ? SIZE_MAX : distance(word, strlen(word), name);
    if (d > n->least || (d == n->least && strcmp(name, n->name) > 0) || strlen(name) >= sizeof n->name)
        return;
    n->least = d;
    snprintf(n->name, sizeof n->name, "%s", name);
}

bool hint_unknown(const struct options *o, const char *word, size_t len, struct err *e)
{
    const char *const hint = hint_of(others, word, len), *const here = hint_of(spellings, word, len), *near[NEAR_MOST];
    const size_t n = hint || here ? 0 : near_names(o, word + 2, len - 2, near);
    struct builder names = {0};
    if (here)
        builder_format(&names, ", did you mean %s", here);
    for (size_t i = 0; i < n; i++)
        builder_format(&names, "%s--%s", !i ? ", did you mean " : i + 1 < n ? ", " : " or ", near[i]);
    err_set(e, STATUS_USAGE, "unknown option '%.*s'%s%s%s", (int)len, word,
            hint         ? ": "
            : names.text ? names.text
                         : "",
            hint ? hint : "", names.text ? "?" : "");
    builder_free(&names);
    return false;
}

// ---- values

// Appends a text to an error, if there is room for it. Returns false.
__attribute__((format(printf, 2, 3))) static bool add_hint(struct err *e, const char *format, ...)
{
    const size_t len = strlen(e->text), room = sizeof e->text - len;
    va_list args;
    va_start(args, format);
    const int more = vsnprintf(e->text + len, room, format, args);
    va_end(args);
    if (more < 0 || (size_t)more >= room)
        e->text[len] = '\0';
    return false;
}

// Options of whole numbers that are taken for another, whose numbers have a fraction.
static const struct {
    const char *name, *hint;
} fractions[] = {
    {"threads", "; temperature is --temp"},
    {"top-k", "; --top-p takes a probability"},
    {"n-vocab", "; -n is the width of a row"},
};

bool hint_value(const struct option_row *row, const char *value, struct err *e)
{
    char *end;
    for (size_t i = 0; value && i < sizeof fractions / sizeof *fractions; i++)
        if (!strcmp(row->name, fractions[i].name) && strchr(value, '.') && (strtod(value, &end), !*end))
            add_hint(e, "%s", fractions[i].hint);
    return false;
}

bool hint_preset(const char *name, bool option, const struct near_name *near, struct err *e)
{
    if (option)
        add_hint(e, "; options begin with '-': --%s", name);
    else if (near->least && near->least <= NEAR_LEAST && 3 * near->least <= strlen(name))
        add_hint(e, "; did you mean '%s'?", near->name);
    return false;
}

static bool file_exists(const char *path)
{
    struct stat st;
    return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

bool hint_file(const char *text, const char *how, struct err *e)
{
    return file_exists(text) && add_hint(e, "; %s%s reads the file of that name", how, text);
}

bool hint_detached_number(const struct args *a, struct err *e)
{
    const char *const name = a->dump == NO_NUMBER    ? "dump-probs"
                             : a->trace == NO_NUMBER ? "trace"
                             : a->diff == NO_NUMBER  ? "diff"
                                                     : NULL;
    for (size_t i = 0; name && i < a->files.n; i++) {
        const char *const file = a->files.word[i];
        if (*file && !file[strspn(file, "0123456789")] && !file_exists(file))
            return err_set(e, STATUS_USAGE, "'%s' is not a file; the number of --%s follows an '=': --%s=%s", file,
                           name, name, file);
    }
    return true;
}
