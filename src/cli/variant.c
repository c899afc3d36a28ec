// SPDX-License-Identifier: MIT
#include "cli/variant.h"

#include "base/mem.h"
#include "cli/preset.h"
#include "out/message.h"
#include "samplers/engine.h"

#include <stdlib.h>
#include <string.h>

// A copy of text[0..len), which is added to the list that frees it; NULL with *e.
static char *keep_text(struct words *list, const char *text, size_t len, struct err *e)
{
    struct builder copy = {0};
    builder_bytes(&copy, text, len);
    if (copy.failed)
        err_from_fault(e, fault_memory());
    if (!copy.failed && words_add(list, copy.text, e))
        return copy.text;
    builder_free(&copy);
    return NULL;
}

// ---- the values of a sweep

// A decimal number: value * 10^-places.
struct decimal {
    int64_t value;
    int places;
};

enum { DIGITS_MOST = 15 };

// Reads text[0..len).
static bool decimal_read(const char *text, size_t len, struct decimal *d)
{
    size_t at = len && (*text == '-' || *text == '+'), digits = 0;
    bool point = false;
    *d = (struct decimal){0};
    for (; at < len; at++) {
        if (text[at] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9' || ++digits > DIGITS_MOST)
            return false;
        d->value = d->value * 10 + (text[at] - '0');
        d->places += point;
    }
    if (len && *text == '-')
        d->value = -d->value;
    return digits;
}

// The value in units of 10^-places. False where that takes too many digits.
static bool decimal_scale(const struct decimal *d, int places, int64_t *value)
{
    static const int64_t most = 1000000000000000000 / 10;
    *value = d->value;
    for (int i = d->places; i < places; i++) {
        if (*value > most || *value < -most)
            return false;
        *value *= 10;
    }
    return true;
}

// With as few decimals as say it.
static void decimal_write(struct builder *b, int64_t value, int places)
{
    int64_t unit = 1;
    for (; places && value % 10 == 0; places--)
        value /= 10;
    for (int i = 0; i < places; i++)
        unit *= 10;
    const int64_t size = value < 0 ? -value : value;
    builder_format(b, "%s%lld", value < 0 ? "-" : "", (long long)(size / unit));
    if (places)
        builder_format(b, ".%0*lld", places, (long long)(size % unit));
}

static bool bad_range(const struct option_row *row, const char *list, struct err *e)
{
    return err_set(e, STATUS_USAGE, "--sweep: %s=%.*s: not FROM:TO:STEP of decimal numbers that STEP leads through",
                   row->name, err_clip(list, 60), list);
}

static bool too_many(struct err *e)
{
    return err_set(e, STATUS_USAGE, "--vs and --sweep make more than %d variants", VARIANTS_MOST);
}

// Adds the values of FROM:TO:STEP.
static bool add_range(struct sweep *s, const char *list, struct err *e)
{
    const char *part[3] = {list};
    struct decimal d[3];
    int64_t x[3];
    int places = 0;
    for (size_t i = 0; i < 3; i++) {
        const size_t len = strcspn(part[i], ":");
        if ((i < 2) != (part[i][len] == ':') || !decimal_read(part[i], len, &d[i]))
            return bad_range(s->row, list, e);
        places = d[i].places > places ? d[i].places : places;
        if (i < 2)
            part[i + 1] = part[i] + len + 1;
    }
    for (size_t i = 0; i < 3; i++)
        if (!decimal_scale(&d[i], places, &x[i]))
            return bad_range(s->row, list, e);
    if (!x[2] || (x[1] - x[0]) / x[2] < 0 || (x[1] != x[0] && (x[1] > x[0]) != (x[2] > 0)))
        return bad_range(s->row, list, e);
    const int64_t n = (x[1] - x[0]) / x[2] + 1;
    if (n > VARIANTS_MOST)
        return too_many(e);
    for (int64_t i = 0; i < n; i++) {
        struct builder b = {0};
        decimal_write(&b, x[0] + i * x[2], places);
        const bool ok = b.failed ? err_from_fault(e, fault_memory()) : keep_text(&s->values, b.text, b.len, e) != NULL;
        builder_free(&b);
        if (!ok)
            return false;
    }
    return true;
}

// Takes a,b,c apart; 0 and 1 are what flags take.
static bool add_list(struct sweep *s, const char *list, struct err *e)
{
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        const bool digit = s->row->flag && len == 1 && (*at == '0' || *at == '1');
        const char *const text = !digit ? at : *at == '0' ? "false" : "true";
        if (s->values.n == VARIANTS_MOST)
            return too_many(e);
        if (!keep_text(&s->values, text, digit ? strlen(text) : len, e))
            return false;
        at += len;
        if (!*at)
            return true;
    }
}

static bool read_sweep(struct sweep *s, const struct options *o, const char *word, struct err *e)
{
    const size_t len = strcspn(word, "=");
    if (!word[len])
        return err_set(e, STATUS_USAGE, "--sweep: '%s' is not OPTION=LIST", word);
    s->row = option_by_name(o, word, len);
    if (!s->row)
        return err_set(e, STATUS_USAGE, "--sweep: there is no option '%.*s'", err_clip_part(word, len, 40), word);
    if (s->row->group != GROUP_CHAIN)
        return err_set(e, STATUS_USAGE, "--sweep: --%s is no part of a chain: it is the same for all", s->row->name);
    const char *const list = word + len + 1;
    const bool number = !s->row->choices && strchr(list, ':') && (s->row->param || !strcmp(s->row->name, "seed"));
    return number ? add_range(s, list, e) : add_list(s, list, e);
}

// ---- variants

// A word as a shell takes it.
static void put_word(struct builder *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,+/@:%=-";
    const char *const quote = *word && !word[strspn(word, plain)] ? "" : strchr(word, '\'') ? "\"" : "'";
    builder_format(b, "%s%s%s", quote, word, quote);
}

// What a SPEC says.
struct spec {
    const char *name; // [name_len]
    size_t name_len;
    const char *preset; // NULL: options
    const char *options;
};

static struct spec read_spec(const char *text)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t len = strspn(text, of_names);
    const char *const rest = text + len + (text[len] == ':');
    if (*text == '-')
        return (struct spec){text, strlen(text), NULL, text};
    if (len && text[len] == ':' && (!*rest || *rest == ' ' || *rest == '-'))
        return (struct spec){text, len, NULL, rest + strspn(rest, " ")};
    return (struct spec){text, strlen(text), text, ""};
}

// Its options as words.
static bool spec_words(struct variants *v, const struct spec *spec, struct words *words, struct err *e)
{
    if (spec->preset)
        return words_add(words, "--preset", e) && words_add(words, "default", e) && words_add(words, "--preset", e) &&
               words_add(words, spec->preset, e);
    char *const text = keep_text(&v->texts, spec->options, strlen(spec->options), e);
    return text && words_split(text, words, e);
}

// The name and the options of a variant.
static bool describe(struct variant *x, const struct spec *spec, size_t n_sweeps, struct err *e)
{
    struct builder name = {0}, options = {0};
    builder_bytes(&name, spec->name, spec->name_len);
    builder_string(&options, spec->preset ? "--preset default --preset " : spec->options);
    if (spec->preset)
        put_word(&options, spec->preset);
    for (size_t i = 0; i < n_sweeps; i++) {
        const char *const option = x->swept[i].row->name;
        builder_format(&name, "%s%s=%s", name.len ? " " : "", option, x->swept[i].value);
        builder_format(&options, "%s--%s=", options.len ? " " : "", option);
        put_word(&options, x->swept[i].value);
    }
    x->name = name.text;
    x->options = options.text;
    return (!name.failed && !options.failed) || err_from_fault(e, fault_memory());
}

// The sweeps' values for the variant are those at at[0..n_sweeps).
static bool choose_values(const struct variants *v, struct variant *x, const size_t *at, struct err *e)
{
    x->swept = calloc(v->n_sweeps, sizeof *x->swept);
    for (size_t i = 0; x->swept && i < v->n_sweeps; i++)
        x->swept[i] = (struct swept){v->sweep[i].row, v->sweep[i].values.word[at[i]], at[i]};
    return x->swept || err_from_fault(e, fault_memory());
}

static bool fill_args(struct variants *v, struct variant *x, const struct args *base, int64_t seed,
                      const struct spec *spec, struct err *e)
{
    struct words words = {0};
    bool ok = spec_words(v, spec, &words, e) && args_extend(&x->args, base, &words, e);
    free(words.word);
    if (x->args.seed == base->seed)
        x->args.seed = seed;
    for (size_t i = 0; ok && x->swept && i < v->n_sweeps; i++) {
        const struct option_row *const row = x->swept[i].row;
        x->args.given[row - base->options->row] = ORIGIN_COMMAND_LINE;
        ok = row->set(row, x->swept[i].value, &x->args, e);
    }
    return ok || err_prefix(e, "variant '%.*s'", err_clip(x->name, 80), x->name);
}

// at NULL: without the sweeps.
static bool add_variant(struct variants *v, const struct args *base, int64_t seed, const struct spec *spec,
                        const size_t *at, struct err *e)
{
    if (v->n > VARIANTS_MOST)
        return too_many(e);
    if (!mem_grow(&v->of, &v->cap, v->n + 1, sizeof *v->of))
        return err_from_fault(e, fault_memory());
    struct variant *const x = &v->of[v->n++];
    *x = (struct variant){0};
    return (!at || choose_values(v, x, at, e)) && describe(x, spec, at ? v->n_sweeps : 0, e) &&
           fill_args(v, x, base, seed, spec, e);
}

// The product of the sweeps' values, those of the last fastest.
static bool add_product(struct variants *v, const struct args *base, int64_t seed, const struct spec *spec,
                        struct err *e)
{
    size_t *const at = calloc(v->n_sweeps, sizeof *at);
    bool ok = true;
    if (!at)
        return err_from_fault(e, fault_memory());
    for (size_t i = v->n_sweeps; ok && i;) {
        ok = add_variant(v, base, seed, spec, at, e);
        for (i = v->n_sweeps; i && ++at[i - 1] == v->sweep[i - 1].values.n; i--)
            at[i - 1] = 0;
    }
    free(at);
    return ok;
}

static bool refuse_twins(const struct variants *v, struct err *e)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(v->of[i].name, v->of[k].name))
                return err_set(e, STATUS_USAGE, "two variants are named '%.*s'", err_clip(v->of[i].name, 80),
                               v->of[i].name);
    return true;
}

bool variants_make(struct variants *v, const struct args *base, int64_t seed, struct err *e)
{
    static const struct spec of_base = {.name = "base", .name_len = 4, .options = ""},
                             of_sweeps = {.name = "", .options = ""};
    v->sweep = calloc(base->sweeps.n + 1, sizeof *v->sweep);
    if (!v->sweep)
        return err_from_fault(e, fault_memory());
    bool ok = true;
    for (size_t i = 0; ok && i < base->sweeps.n; i++)
        ok = read_sweep(&v->sweep[v->n_sweeps++], base->options, base->sweeps.word[i], e);
    ok = ok && add_variant(v, base, seed, &of_base, NULL, e) &&
         (!v->n_sweeps || add_product(v, base, seed, &of_sweeps, e));
    if (ok && base->against) {
        const struct spec spec = {.name = base->against, .name_len = strlen(base->against), .options = ""};
        ok = add_variant(v, base, seed, &spec, NULL, e);
    }
    for (size_t i = 0; ok && i < base->vs.n; i++) {
        const struct spec spec = read_spec(base->vs.word[i]);
        ok = v->n_sweeps ? add_product(v, base, seed, &spec, e) : add_variant(v, base, seed, &spec, NULL, e);
    }
    return ok && refuse_twins(v, e);
}

static void texts_free(struct words *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free((void *)(uintptr_t)texts->word[i]);
    free(texts->word);
}

void variants_free(struct variants *v)
{
    for (size_t i = 0; i < v->n; i++) {
        free(v->of[i].name);
        free(v->of[i].options);
        free(v->of[i].swept);
        args_free(&v->of[i].args);
    }
    for (size_t i = 0; i < v->n_sweeps; i++)
        texts_free(&v->sweep[i].values);
    texts_free(&v->texts);
    free(v->sweep);
    free(v->of);
}
