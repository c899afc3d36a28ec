// SPDX-License-Identifier: MIT
#include "settings/list.h"

#include "base/mem.h"
#include "settings/value.h"
#include "vocab/vocab.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const list_options[LISTS] = {
    [LIST_BIASES] = "--logit-bias",
    [LIST_BREAKERS] = "--dry-sequence-breaker",
    [LIST_BREAKER_IDS] = "--dry-breaker-tokens",
    [LIST_BANS] = "--bad-word-tokens",
    [LIST_ENDS] = "--eog-tokens",
    [LIST_START] = "--reasoning-start",
    [LIST_MESSAGE] = "--reasoning-budget-message",
    [LIST_END_TAGS] = "--reasoning-end",
};

void list_begin(struct list *l, const char *name)
{
    l->name = name;
    l->n = 0;
    l->unknown = UNKNOWN_IDS_REFUSED;
    l->later = LATER_ADDS;
    l->entries.len = l->late.len = 0;
}

void list_free(struct list *l)
{
    builder_free(&l->entries);
    builder_free(&l->late);
    *l = (struct list){0};
}

void list_copy(struct list *to, const struct list *from)
{
    to->name = from->name;
    to->n = from->n;
    to->unknown = from->unknown;
    to->later = from->later;
    if (from->n)
        builder_bytes(&to->entries, from->entries.text, from->entries.len);
    if (from->late.len)
        builder_bytes(&to->late, from->late.text, from->late.len);
}

// Adds an entry of that many bytes. Entries are aligned, and zeros stand behind a text.
static void add_entry(struct list *l, const struct list_entry *head, const void *of, size_t bytes)
{
    static const char zeros[sizeof(struct list_entry)];
    enum { ROOM = 240 };
    if (!l->entries.cap && !mem_grow(&l->entries.text, &l->entries.cap, ROOM, 1))
        l->entries.failed = true;
    builder_bytes(&l->entries, head, sizeof *head);
    builder_bytes(&l->entries, of, bytes);
    builder_bytes(&l->entries, zeros, sizeof zeros - bytes % sizeof zeros);
    l->n++;
}

void list_add_ids(struct list *l, const uint32_t *id, size_t n, float bias)
{
    add_entry(l, &(struct list_entry){ENTRY_IDS, bias, n}, id, n * sizeof *id);
}

void list_add_text(struct list *l, enum entry_form form, const char *text, size_t len, float bias)
{
    add_entry(l, &(struct list_entry){form, bias, len}, text, len);
}

void list_defer(struct list *l, const struct err *why)
{
    if (!l->late.len)
        builder_bytes(&l->late, why, sizeof *why);
}

bool list_check(const struct list *l, struct err *e)
{
    if (l->late.len)
        memcpy(e, l->late.text, sizeof *e);
    return !l->late.len;
}

const struct list_entry *list_next_entry(const struct list *l, const struct list_entry *x)
{
    const char *at = l->entries.text;
    if (x) {
        const size_t bytes = x->form == ENTRY_IDS ? x->n * sizeof *x->of : x->n;
        at = (const char *)(x + 1) + bytes + sizeof *x - bytes % sizeof *x;
    }
    return l->n && at < l->entries.text + l->entries.len ? (const struct list_entry *)(const void *)at : NULL;
}

// ---- entries as text

static const char *skip_spaces(const char *text) { return text + strspn(text, " \t\n\v\f\r"); }

// Reads ID(+|-)BIAS or "TEXT"(+|-)BIAS.
static bool read_typed_bias(struct list *l, const char *text, struct err *e)
{
    const char *const first = skip_spaces(text), *const quote = *first == '"' ? strrchr(text, '"') : NULL, *sign = NULL;
    int64_t id = VOCAB_NONE;
    char *end = NULL;
    float amount = NAN;
    bool exact = true; // the amount is not a number that becomes 0
    if (quote) {       // the text ends at the last quote
        sign = skip_spaces(quote + 1);
        if (quote == first || (*sign != '+' && *sign != '-'))
            return err_set(e, STATUS_USAGE, "--logit-bias: '%s' is not \"TEXT\"+BIAS or \"TEXT\"-BIAS", text);
    } else {
        const size_t digits = strspn(first, "+-") > 1 ? 0 : strspn(first + strspn(first, "+-"), "0123456789");
        const char *const behind = first + strspn(first, "+-") + digits;
        if (digits && whole_number(first, behind, INT32_MIN, INT32_MAX, &id))
            sign = skip_spaces(behind);
    }
    if (sign && (*sign == '+' || *sign == '-'))
        exact = value_float(sign + 1, &end, &amount);
    if (!end || end == sign + 1 || *skip_spaces(end) || isnan(amount))
        return err_set(e, STATUS_USAGE, "--logit-bias: '%s' is not ID+BIAS or ID-BIAS", text);
    amount = *sign == '-' ? -amount : amount;
    if (!exact)
        return err_set(e, STATUS_USAGE, "--logit-bias: '%s': the bias rounds to 0 in f32", text);
    if (amount == INFINITY)
        return err_set(e, STATUS_USAGE, "--logit-bias: '%s': only -inf is an infinite bias", text);
    if (quote)
        list_add_text(l, ENTRY_ESCAPED, first + 1, (size_t)(quote - first - 1), amount);
    else
        list_add_ids(l, &(uint32_t){(uint32_t)id}, 1, amount);
    return true;
}

bool list_take_ids(struct list *l, enum list_kind kind, const struct ids *ids, const char *text, struct err *e)
{
    const char *const what = kind == LIST_START || kind == LIST_END_TAGS ? "token" : "token id";
    l->name = list_options[kind];
    list_add_ids(l, ids->id, ids->n, 0.0f);
    return ids->n || err_set(e, STATUS_USAGE, "%s: '%s' holds no %s", l->name, text, what);
}

// Returns whether a text holds only characters of lists of ids, and perhaps quotes.
static bool like_ids(const char *text, const char *characters) { return strspn(text, characters) == strlen(text); }

// Reads a tag: ids, or a text. A text that looks like ids is quoted: "2" is the text 2.
static bool read_tag(struct list *l, enum list_kind kind, const char *text, struct err *e)
{
    const size_t len = strlen(text);
    const bool quoted = len > 2 && *text == '"' && text[len - 1] == '"' && like_ids(text, "0123456789,\"");
    struct ids ids = {0};
    bool ok = true;
    if (quoted || !like_ids(text, "0123456789,"))
        list_add_text(l, ENTRY_TEXT, text + quoted, len - 2 * quoted, 0.0f);
    else
        ok = ids_read(l->name + strlen("--"), text, 0, &ids, e) && list_take_ids(l, kind, &ids, text, e);
    free(ids.id);
    return ok;
}

bool list_read(struct list *l, enum list_kind kind, const char *text, struct err *e)
{
    const char *const option = list_options[kind];
    bool ok = true;
    if (kind == LIST_START || kind == LIST_MESSAGE || (kind == LIST_BREAKERS && !strcmp(text, "none")))
        list_begin(l, option);
    l->name = option;
    if (kind == LIST_BIASES)
        ok = read_typed_bias(l, text, e);
    else if (kind == LIST_START || kind == LIST_END_TAGS)
        ok = read_tag(l, kind, text, e);
    else if (kind == LIST_MESSAGE)
        list_add_text(l, ENTRY_TEXT, text, strlen(text), 0.0f);
    else if (*text && strcmp(text, "none") != 0)
        list_add_text(l, ENTRY_ESCAPED, text, strlen(text), 0.0f);
    return ok && (!l->entries.failed || err_from_fault(e, fault_memory()));
}

void entry_write(struct builder *b, const struct list_entry *x, enum list_kind kind, bool no_escape)
{
    const char *text = entry_text(x);
    const bool tag = kind == LIST_START || kind == LIST_END_TAGS;
    if (x->form == ENTRY_IDS) {
        for (size_t i = 0; i < x->n; i++)
            builder_format(b, "%s%" PRIu32, i ? "," : "", x->of[i]);
    } else if (tag && like_ids(text, "0123456789,\"")) {
        builder_format(b, "\"%s\"", text);
    } else if (kind == LIST_BREAKERS && x->form == ENTRY_TEXT && !no_escape) {
        const bool none = !strcmp(text, "none"); // which means something else to the option
        builder_string(b, none ? "\\x6e" : "");
        for (text += none; *text; text++)
            builder_format(b, *text == '\\' ? "\\%c" : "%c", *text);
    } else {
        builder_string(b, text);
    }
}
