// SPDX-License-Identifier: MIT
#include "recipe/vocab_options.h"

#include "base/mem.h"
#include "in/vocab_file.h"
#include "out/message.h"
#include "recipe/advice.h"
#include "vocab/spelling.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BREAKER_MAX = 40 }; // bytes of one, as in llama.cpp

static bool load(struct options *o, struct err *e)
{
    if (!o->vocab_file)
        return true;
    if (!vocab_load(&o->texts, o->vocab_file, e))
        return err_prefix(e, "--vocab");
    o->vocab = o->params.vocab = &o->texts;
    return true;
}

// The one token that says what was given as a text.
static bool find_token(const struct options *o, const struct bias_text *b, uint32_t *id, struct err *e)
{
    const int shown = b->len < 40 ? (int)b->len : 40;
    uint32_t other;
    if (!o->vocab)
        return err_set(e, STATUS_USAGE, "--logit-bias: the text '%.*s' needs --vocab", shown, b->text);
    unsigned char *const text = malloc(b->len + 1);
    if (!text)
        return err_from_fault(e, fault_memory());
    const size_t len = text_unescape(text, b->text, b->len);
    *id = len ? vocab_find_only(o->vocab, text, len, &other) : VOCAB_NONE;
    free(text);
    if (*id == VOCAB_NONE)
        return err_set(e, STATUS_USAGE, "--logit-bias: no token of the vocabulary says '%.*s'", shown, b->text);
    if (other != VOCAB_NONE)
        return err_set(e, STATUS_USAGE, "--logit-bias: tokens %" PRIu32 " and %" PRIu32 " both say '%.*s'; name one by its id",
                       *id, other, shown, b->text);
    return true;
}

static bool ban_tokens(struct options *o, struct err *e)
{
    if (!o->vocab)
        return !o->ignore_eos || err_set(e, STATUS_USAGE, "--ignore-eos needs --vocab");
    const size_t before = o->params.n_bias;
    const unsigned unwanted = VOCAB_BANNED | (o->ignore_eos ? VOCAB_EOG : 0u);
    for (uint32_t id = 0; o->vocab->any & unwanted && id < o->vocab->n; id++) {
        if (!(o->vocab->flags[id] & unwanted))
            continue;
        if (!mem_grow(&o->bias, &o->bias_cap, o->params.n_bias + 1, sizeof *o->bias))
            return err_from_fault(e, fault_memory());
        o->bias[o->params.n_bias++] = (struct bias){id, -INFINITY};
    }
    o->params.bias = o->bias;
    o->n_vocab_bias = o->params.n_bias - before;
    return true;
}

// DRY's texts, escapes resolved: those given, or the defaults.
static bool breakers(struct options *o, struct err *e)
{
    static const char *const defaults[] = {"\n", ":", "\"", "*"};
    const bool given = o->dry_text_given || o->dry_ids_given;
    const char *const *const text = given ? o->dry_text : defaults;
    const size_t n = given ? o->n_dry_texts : sizeof defaults / sizeof *defaults;
    size_t room = n * sizeof *o->dry_piece;
    for (size_t i = 0; i < n; i++)
        room += strlen(text[i]);
    o->dry_piece = malloc(room + 1); // the texts stand behind the pieces
    if (!o->dry_piece)
        return err_from_fault(e, fault_memory());
    unsigned char *at = (unsigned char *)(o->dry_piece + n);
    for (size_t i = 0; i < n; i++) {
        size_t len = text_unescape(at, text[i], strlen(text[i]));
        if (len > BREAKER_MAX) {
            message_warn("--dry-sequence-breaker: '%.*s...' is cut after %d bytes", BREAKER_MAX, text[i], BREAKER_MAX);
            len = BREAKER_MAX;
        }
        o->dry_piece[i] = (struct piece){at, len};
        at += len;
    }
    o->params.dry_texts = o->dry_piece;
    o->params.n_dry_texts = n;
    return true;
}

bool vocab_options_apply(struct options *o, struct err *e)
{
    if (!load(o, e) || !advice_take(o, e) || !vocab_options_resolve(o, e))
        return false;
    if (o->ignore_eos && !(o->vocab->any & VOCAB_EOG))
        message_warn("--ignore-eos: the vocabulary has no end-of-generation token");
    return true;
}

bool vocab_options_resolve(struct options *o, struct err *e)
{
    for (size_t i = 0; i < o->n_bias_texts; i++)
        if (!find_token(o, &o->bias_text[i], &o->bias[o->bias_text[i].bias].id, e))
            return false;
    return ban_tokens(o, e) && breakers(o, e);
}

void vocab_options_warn(const struct options *o)
{
    for (size_t i = 0; !o->vocab && o->params.n_dry_texts && i < o->n_plan; i++)
        if (o->plan[i].row->sampler == &sampler_dry && chain_enabled(&o->plan[i])) {
            message_warn("without a vocabulary dry's text breakers match nothing; --dry-breaker-tokens gives them as ids");
            return;
        }
}
