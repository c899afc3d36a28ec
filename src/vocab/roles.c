// SPDX-License-Identifier: MIT
#include "vocab/roles.h"

#include <string.h>

// Those that may be the end of a turn, or of a sequence, stand by preference: the first that a vocabulary has is it.
static const struct {
    const char *text;
    enum role role;
} roles[] = {
    {"<|eot_id|>", ROLE_EOT},
    {"<|im_end|>", ROLE_EOT},
    {"<|end|>", ROLE_EOT},
    {"<end_of_turn>", ROLE_EOT},
    {"<|endoftext|>", ROLE_EOT},
    {"<|end_of_text|>", ROLE_EOT},
    {"<EOT>", ROLE_EOT},
    {"_<EOT>", ROLE_EOT},
    {"[EOT]", ROLE_EOT},
    {"<｜end▁of▁sentence｜>", ROLE_EOT},
    {"<end_of_utterance>", ROLE_EOT},
    {"</s>", ROLE_EOS},
    {"<eos>", ROLE_EOS},
    {"[EOS]", ROLE_EOS},
    {"<|return|>", ROLE_EOG},
    {"<|call|>", ROLE_EOG},
    {"<|flush|>", ROLE_EOG},
    {"<|calls|>", ROLE_EOG},
    {"<|eom_id|>", ROLE_EOG},
    {"<turn|>", ROLE_EOG},
    {"<|tool_response>", ROLE_EOG},
    {"[e~[", ROLE_EOG},
    // padding, repository and file marks of fill-in-the-middle
    {"<|fim_pad|>", ROLE_EOG},
    {"<fim-pad>", ROLE_EOG},
    {"<fim_pad>", ROLE_EOG},
    {"<PAD>", ROLE_EOG},
    {"[PAD]", ROLE_EOG},
    {"<|fim_repo|>", ROLE_EOG},
    {"<|repo_name|>", ROLE_EOG},
    {"<fim-repo>", ROLE_EOG},
    {"<REPO>", ROLE_EOG},
    {"<reponame>", ROLE_EOG},
    {"<|file_sep|>", ROLE_EOG},
    // of the harmony format
    {"<|channel|>", ROLE_SHOWN},
    {"<|message|>", ROLE_SHOWN},
    {"<|start|>", ROLE_SHOWN},
    {"<|constrain|>", ROLE_SHOWN},
};

enum { ROLES = sizeof roles / sizeof *roles };

static bool equal(const void *text, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(text, word, len);
}

static size_t place(const void *text, size_t len)
{
    if (len < 4 || !strchr("<_[", *(const char *)text) || !*(const char *)text)
        return ROLES; // most tokens
    size_t i = 0;
    while (i < ROLES && !equal(text, len, roles[i].text))
        i++;
    return i;
}

enum role role_of(const void *text, size_t len)
{
    const size_t i = place(text, len);
    return i < ROLES ? roles[i].role : ROLE_NONE;
}

void vocab_mark_end(struct vocab *v, uint32_t id)
{
    if (id < v->n)
        v->flags[id] |= VOCAB_EOG;
}

// The end-of-generation token with this text, or VOCAB_NONE.
static uint32_t ending(const struct vocab *v, const char *word)
{
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        if (v->flags[id] & VOCAB_EOG && equal(t.p, t.len, word))
            return id;
    }
    return VOCAB_NONE;
}

static bool has(const struct vocab *v, const char *word)
{
    return ending(v, word) != VOCAB_NONE;
}

static void except(struct vocab *v, const char *word)
{
    const uint32_t id = ending(v, word);
    if (id != VOCAB_NONE)
        v->flags[id] &= (unsigned char)~(VOCAB_EOG | VOCAB_SPECIAL);
}

// The preferred token of a role, or VOCAB_NONE.
static uint32_t find_role(const struct vocab *v, enum role role)
{
    uint32_t found = VOCAB_NONE;
    size_t best = ROLES;
    for (uint32_t id = 0; id < v->n; id++) {
        const struct piece t = vocab_text(v, id);
        const size_t i = v->flags[id] & VOCAB_EOG ? place(t.p, t.len) : ROLES;
        if (i < best && roles[i].role == role) {
            best = i;
            found = id;
        }
    }
    return found;
}

void vocab_finish(struct vocab *v)
{
    v->eos = v->eos < v->n ? v->eos : VOCAB_NONE;
    v->eot = v->eot < v->n ? v->eot : VOCAB_NONE;
    if (v->eos == VOCAB_NONE)
        v->eos = find_role(v, ROLE_EOS);
    if (v->eot == VOCAB_NONE)
        v->eot = find_role(v, ROLE_EOT);
    vocab_mark_end(v, v->eos);
    vocab_mark_end(v, v->eot);
    if ((has(v, "<|return|>") && has(v, "<|call|>")) || (has(v, "<|flush|>") && (has(v, "<|call|>") || has(v, "<|calls|>"))))
        except(v, "<|end|>");
    if (has(v, "<|tool_response>"))
        except(v, "</s>");
    for (uint32_t id = 0; id < v->n; id++)
        v->any |= v->flags[id];
}
