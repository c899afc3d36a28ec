// SPDX-License-Identifier: MIT
// Hints for words that are no options.
#include "base/names.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#define NO_MODEL "sampl runs no model; leave it out"
#define NO_CHAT  "sampl holds no conversation; leave it out"
#define NO_SERVE "sampl is no server; leave it out"
#define VOCAB    "sampl runs no model; --vocab reads its vocabulary"
#define PROMPT   "sampl has no tokenizer; --prompt-tokens takes the prompt's ids"
#define PREDICT  "sampl samples each row once; --rows :N ends after N"

// Options of llama-cli and llama-server that many command lines have, and that do not concern sampling. A short option
// cannot be among them if its first letter is an option of sampl that takes any text as its value.
static const struct {
    const char *names; // separated by spaces, with their dashes
    const char *hint;
} others[] = {
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
     "--in-prefix -e --escape --no-escape --color -co --no-display-prompt --display-prompt --simple-io --log-disable "
     "--reasoning-format",
     NO_CHAT},
    {"--host --port --api-key --path -np --parallel -cb --cont-batching --metrics --slots --no-slots --props -a "
     "--alias --cache-reuse --cache-prompt --no-cache-prompt -cram --cache-ram --timeout --embedding --embeddings "
     "--no-webui",
     NO_SERVE},
};

const char *option_hint(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (name_find(others[i].names, NAME_EXACT, word, len) >= 0)
            return others[i].hint;
    return NULL;
}

enum { LONGEST = 40 }; // bytes of a name that is compared; every option is shorter

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

size_t options_near(const struct options *o, const char *name, size_t len, const char *near[OPTIONS_NEAR])
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
            if (d <= least && n < OPTIONS_NEAR)
                near[n++] = names[i];
            if (d < least)
                least = d;
        }
    }
    return n;
}
