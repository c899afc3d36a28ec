// SPDX-License-Identifier: MIT
#include "cli/variant.h"

#include "base/mem.h"
#include "samplers/engine.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool too_many(struct err *e)
{
    return err_set(e, STATUS_USAGE, "--vs and --sweep make more than %d variants", VARIANTS_MOST);
}

// ---- the values of a sweep

// A decimal number: value * 10^-places.
struct decimal {
    int64_t value;
    int places;
};

enum { DIGITS_MOST = 15, NUMBER_MOST = 40 }; // digits of a number that is read; characters of one that is written

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

// Makes the number one of so many places. False if that takes too many digits.
static bool decimal_scale(struct decimal *d, int places)
{
    static const int64_t most = 1000000000000000000 / 10;
    for (; d->places < places && llabs(d->value) <= most; d->places++)
        d->value *= 10;
    return d->places == places;
}

// Writes the number without zeros at the end of its decimals.
static void decimal_write(struct decimal d, char text[NUMBER_MOST])
{
    int64_t unit = 1;
    for (; d.places && d.value % 10 == 0; d.places--)
        d.value /= 10;
    for (int i = 0; i < d.places; i++)
        unit *= 10;
    const long long size = llabs(d.value);
    const int len = snprintf(text, NUMBER_MOST, "%s%lld", d.value < 0 ? "-" : "", size / unit);
    if (d.places)
        snprintf(text + len, NUMBER_MOST - (size_t)len, ".%0*lld", d.places, size % unit);
}

// Reads FROM:TO:STEP as three numbers of the same places. False if it is none, or STEP does not lead from FROM to TO.
static bool range_read(const char *list, struct decimal d[3])
{
    int places = 0;
    for (size_t i = 0; i < 3; i++) {
        const size_t len = strcspn(list, ":");
        if ((i < 2) != (list[len] == ':') || !decimal_read(list, len, &d[i]))
            return false;
        places = d[i].places > places ? d[i].places : places;
        list += len + 1;
    }
    for (size_t i = 0; i < 3; i++)
        if (!decimal_scale(&d[i], places))
            return false;
    const int64_t way = d[1].value - d[0].value, step = d[2].value;
    return step && (!way || (way > 0) == (step > 0));
}

// Adds the values of FROM:TO:STEP.
static bool add_range_values(struct sweep *s, const char *list, struct err *e)
{
    struct decimal d[3];
    if (!range_read(list, d))
        return err_set(e, STATUS_USAGE, "--sweep: %s=%.*s: not FROM:TO:STEP of decimal numbers that STEP leads through",
                       s->row->name, err_clip(list, 60), list);
    const int64_t n = (d[1].value - d[0].value) / d[2].value + 1;
    if (n > VARIANTS_MOST)
        return too_many(e);
    for (int64_t i = 0; i < n; i++, d[0].value += d[2].value) {
        char text[NUMBER_MOST];
        decimal_write(d[0], text);
        if (!words_own(&s->values, strdup(text), e))
            return false;
    }
    return true;
}

// Adds the values of a,b,c. A flag takes 0 and 1 for false and true.
static bool add_list_values(struct sweep *s, const char *list, struct err *e)
{
    for (const char *at = list;; at++) {
        const size_t len = strcspn(at, ",");
        const bool digit = s->row->flag && len == 1 && (*at == '0' || *at == '1');
        if (s->values.n == VARIANTS_MOST)
            return too_many(e);
        if (!words_own(&s->values, digit ? strdup(*at == '0' ? "false" : "true") : strndup(at, len), e))
            return false;
        at += len;
        if (!*at)
            return true;
    }
}

static bool read_sweep(struct sweep *s, const struct options *o, const char *word, struct err *e)
{
    const size_t len = strcspn(word, "=");
    assert(s);
    if (!word[len])
        return err_set(e, STATUS_USAGE, "--sweep: '%s' is not OPTION=LIST", word);
    s->row = option_by_name(o, word, len);
    if (!s->row)
        return err_set(e, STATUS_USAGE, "--sweep: there is no option '%.*s'", err_clip_part(word, len, 40), word);
    if (s->row->group != GROUP_CHAIN)
        return err_set(e, STATUS_USAGE, "--sweep: --%s is no part of a chain: it is the same for all", s->row->name);
    const char *const list = word + len + 1;
    const bool number = !s->row->choices && strchr(list, ':') && (s->row->param || !strcmp(s->row->name, "seed"));
    return number ? add_range_values(s, list, e) : add_list_values(s, list, e);
}

// ---- variants

// A SPEC of --vs.
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

// Variants in the making.
struct making {
    struct variants *v;
    const struct args *base;
    int64_t seed; // the base's
    struct err *e;
};

// Appends the options of a SPEC as words.
static bool spec_words(const struct making *m, const struct spec *spec, struct words *words)
{
    const char *const preset[] = {"--preset", "default", "--preset", spec->preset};
    if (!spec->preset) {
        char *const text = words_own(&m->v->texts, strdup(spec->options), m->e);
        return text && words_split(text, words, m->e);
    }
    for (size_t i = 0; i < sizeof preset / sizeof *preset; i++)
        if (!words_add(words, preset[i], m->e))
            return false;
    return true;
}

// Fills the arguments of a variant: the base's, the words, and the values of the sweeps.
static bool fill_args(const struct making *m, struct variant *x, const struct words *words)
{
    bool ok = args_extend(&x->args, m->base, words, m->e);
    if (x->args.seed == m->base->seed)
        x->args.seed = m->seed;
    for (size_t i = 0; ok && x->swept && i < m->v->n_sweeps; i++) {
        const struct option_row *const row = x->swept[i].row;
        x->args.given[row - m->base->options->row] = ORIGIN_COMMAND_LINE;
        ok = row->set(row, x->swept[i].value, &x->args, m->e);
    }
    return ok;
}

// Writes the name of a variant, and its options as a shell takes them. False if memory is short.
static bool describe_variant(struct variant *x, const struct spec *spec, const struct words *words, size_t n_sweeps)
{
    struct builder name = {0}, options = {0};
    builder_bytes(&name, spec->name, spec->name_len);
    builder_string(&options, "");
    for (size_t i = 0; i < words->n; i++) {
        builder_string(&options, i ? " " : "");
        word_quote(&options, words->word[i], true);
    }
    for (size_t i = 0; x->swept && i < n_sweeps; i++) {
        const char *const option = x->swept[i].row->name;
        builder_format(&name, "%s%s=%s", name.len ? " " : "", option, x->swept[i].value);
        builder_format(&options, "%s--%s=", options.len ? " " : "", option);
        word_quote(&options, x->swept[i].value, true);
    }
    x->name = name.text;
    x->options = options.text;
    return !name.failed && !options.failed;
}

// Adds the variant of a SPEC with the at[i]-th value of each sweep. at NULL: without the sweeps.
static bool add_variant(const struct making *m, const struct spec *spec, const size_t *at)
{
    struct variants *const v = m->v;
    struct words words = {0};
    if (v->n > VARIANTS_MOST)
        return too_many(m->e);
    if (!mem_grow(&v->of, &v->cap, v->n + 1, sizeof *v->of))
        return err_from_fault(m->e, fault_memory());
    struct variant *const x = &v->of[v->n++];
    *x = (struct variant){.swept = at ? calloc(v->n_sweeps, sizeof *x->swept) : NULL};
    for (size_t i = 0; x->swept && i < v->n_sweeps; i++)
        x->swept[i] = (struct swept){v->sweep[i].row, v->sweep[i].values.word[at[i]], at[i]};
    bool ok = spec_words(m, spec, &words);
    if ((at && !x->swept) || !describe_variant(x, spec, &words, v->n_sweeps))
        ok = err_from_fault(m->e, fault_memory());
    else
        ok = (ok && fill_args(m, x, &words)) || err_prefix(m->e, "variant '%.*s'", err_clip(x->name, 80), x->name);
    free(words.word);
    return ok;
}

// Adds the variants of a SPEC: one for each combination of the sweeps' values, the values of the last sweep changing
// fastest.
static bool add_product(const struct making *m, const struct spec *spec)
{
    const struct variants *const v = m->v;
    size_t *const at = calloc(v->n_sweeps + 1, sizeof *at);
    bool ok = true;
    if (!at)
        return err_from_fault(m->e, fault_memory());
    for (size_t i = 1; ok && i;) {
        ok = add_variant(m, spec, v->n_sweeps ? at : NULL);
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
    const struct making m = {v, base, seed, e};
    v->sweep = calloc(base->sweeps.n + 1, sizeof *v->sweep);
    bool ok = v->sweep || err_from_fault(e, fault_memory());
    for (size_t i = 0; ok && i < base->sweeps.n; i++)
        ok = read_sweep(&v->sweep[v->n_sweeps++], base->options, base->sweeps.word[i], e);
    ok = ok && add_variant(&m, &(struct spec){.name = "base", .name_len = 4, .options = ""}, NULL) &&
         (!v->n_sweeps || add_product(&m, &(struct spec){.name = "", .options = ""}));
    if (ok && base->against)
        ok = add_variant(&m, &(struct spec){base->against, strlen(base->against), NULL, ""}, NULL);
    for (size_t i = 0; ok && i < base->vs.n; i++) {
        const struct spec spec = read_spec(base->vs.word[i]);
        ok = add_product(&m, &spec);
    }
    return ok && refuse_twins(v, e);
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
        words_free(&v->sweep[i].values);
    words_free(&v->texts);
    free(v->sweep);
    free(v->of);
}
