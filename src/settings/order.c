// SPDX-License-Identifier: MIT
// The samplers of a new recipe, in their order.
#include "base/utf8.h"
#include "settings/new_recipe.h"

#include <stdlib.h>
#include <string.h>

// The error for an unknown name or letter: lists those that are known.
static bool unknown_sampler(enum order_form form, const char *name, size_t len, struct err *e)
{
    const bool by_letter = form == ORDER_LETTERS;
    char known[600] = "", *at = known;
    if (!by_letter && memchr(name, ',', len))
        return err_set(e, STATUS_USAGE, "--samplers: '%.*s' is not a sampler; separate names with ';'",
                       err_clip_part(name, len, 40), name);
    for (size_t i = 0; samplers[i]; i++) {
        const struct sampler *const s = samplers[i];
        if (at + strlen(s->name) + 3 > known + sizeof known)
            break;
        if (!by_letter && !sampler_internal(i))
            at = stpcpy(stpcpy(at, at == known ? "" : ", "), s->name);
        if (by_letter && s->letter)
            *at++ = s->letter;
    }
    *at = '\0';
    return err_set(e, STATUS_USAGE, "%s: unknown sampler '%.*s', known are %s",
                   by_letter ? "--sampler-seq" : "--samplers", err_clip_part(name, len, 40), name, known);
}

static bool add_entry(struct order *o, const struct sampler *s, const struct vocab *v, struct err *e)
{
    if (s->needs_vocab && !v)
        return err_set(e, STATUS_USAGE, "--samplers: %s needs --vocab", s->name);
    for (size_t i = 0; s->selector && i < o->n; i++)
        if (entry_sampler(&o->entry[i])->selector)
            return err_set(e, STATUS_USAGE, "--samplers: two selectors, %s and %s", entry_sampler(&o->entry[i])->name,
                           s->name);
    o->entry[o->n++] = (struct order_entry){.place = sampler_place(s)};
    return true;
}

// Reads a entry's own value of its sampler's first parameter.
static bool read_own_value(const struct catalog *c, struct order_entry *entry, const char *value, size_t len,
                           struct err *e)
{
    const struct sampler *const s = entry_sampler(entry);
    char text[64];
    if (!s->params)
        return err_set(e, STATUS_USAGE, "--samplers: %s takes no value", s->name);
    if (len >= sizeof text)
        return err_set(e, STATUS_USAGE, "--samplers: the value of %s is too long", s->name);
    memcpy(text, value, len);
    text[len] = '\0';
    entry->own = true;
    return value_parse(c->param[c->number[entry->place][0]], text, &entry->value, e) || err_prefix(e, "--samplers");
}

static bool has_entry(const struct order *o, const struct sampler *s)
{
    size_t i = 0;
    while (i < o->n && entry_sampler(&o->entry[i]) != s)
        i++;
    return i < o->n;
}

static bool read_order(struct order *o, struct recipes *r, const char *text, enum order_form form, struct err *e)
{
    const bool by_letter = form == ORDER_LETTERS;
    for (const char *at = text; *at;) {
        const size_t len = by_letter ? utf8_step(at) : strcspn(at, ";"), name_len = by_letter ? len : strcspn(at, ";=");
        const struct sampler *const s = by_letter ? sampler_by_letter(*at) : sampler_by_name(at, name_len);
        const bool again = s && s->once && name_len == len && has_entry(o, s);
        if (!s && r->unknown == UNKNOWN_IS_ERROR)
            return unknown_sampler(form, at, name_len, e);
        if (!s)
            note_add(&r->notes, NOTE_WARNING, "%s: unknown sampler '%.*s' is left out",
                     by_letter ? "--sampler-seq" : "--samplers", err_clip_part(at, name_len, 40), at);
        if (s && !again && !add_entry(o, s, r->vocab, e))
            return false;
        if (s && name_len < len &&
            !read_own_value(&r->catalog, &o->entry[o->n - 1], at + name_len + 1, len - name_len - 1, e))
            return false;
        at += len + (!by_letter && at[len] == ';');
    }
    return true;
}

// Returns whether a sampler of another program joins the default chain: the new recipe's values of its own parameters
// enable it.
static bool joins_default(const struct new_recipe *d, size_t place)
{
    const struct sampler *const s = samplers[place];
    return s->joins_default && catalog_enables(&d->of->catalog, place, d->key.value, NULL);
}

// Returns what stands behind the name at the start of a list, or NULL if another name stands there.
static const char *behind_name(const char *list, const char *name)
{
    for (; *name && *name == *list; name++)
        list++;
    return *name || (*list && *list != ';') ? NULL : list + (*list == ';');
}

// Appends the names of the default chain, each with a ';' behind it.
static void default_names(const struct new_recipe *d, struct builder *names)
{
    const char *next = DEFAULT_CHAIN;
    for (size_t i = 0; samplers[i]; i++) {
        const char *const name = samplers[i]->name;
        const char *const behind = behind_name(next, name);
        next = behind ? behind : next;
        if (behind || joins_default(d, i))
            builder_format(names, "%s;", name);
    }
}

bool recipe_set_samplers(struct new_recipe *d, const char *text, enum order_form form, struct err *e)
{
    struct builder key = {0};
    bool ok;
    builder_byte(&key, form == ORDER_LETTERS ? 'l' : text ? 'n' : 'd');
    if (text)
        builder_string(&key, text);
    else
        default_names(d, &key);
    const size_t size =
        sizeof(struct order) + key.len * sizeof(struct order_entry); // a sampler has at least one letter
    struct order *const o = recipe_share(d, PART_ORDER, &key, size, free, &ok, e);
    builder_free(&key);
    return o ? read_order(o, d->of, (const char *)o->shared.key + 1, form, e) : ok;
}
