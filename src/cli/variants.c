// SPDX-License-Identifier: MIT
#include "cli/variants.h"

#include "base/mem.h"
#include "base/number.h"
#include "cli/from_args.h"
#include "cli/hint.h"
#include "cli/remarks.h"
#include "out/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TWIN_NOTES = 3 }; // on variants with the same chain

static bool too_many(struct err *e)
{
    return err_set(e, STATUS_USAGE, "--vs and --sweep make more than %d variants", VARIANTS_MOST);
}

// ---- the values of a sweep

// FROM:TO:STEP is computed in whole numbers, in units of the last decimal place of the three numbers: sums of floats
// would round, so that a value is not the number that one would type. A double holds whole numbers of 15 digits.
enum { DIGITS_MOST = 15 };

// Reads FROM:TO:STEP as three whole numbers in units of 10^-*places. False if it is none, or STEP does not lead from
// FROM to TO, or a number has too many digits.
static bool read_range(const char *list, double number[3], int *places)
{
    static const char digits[] = "0123456789";
    const char *at = list;
    *places = 0;
    for (size_t i = 0; i < 3; i++, at++) {
        const char *const whole = at + (*at == '-' || *at == '+'), *const point = whole + strspn(whole, digits);
        const int decimals = *point == '.' ? (int)strspn(point + 1, digits) : 0, n = (int)(point - whole) + decimals;
        number[i] = strtod(at, NULL);
        at = point + (*point == '.') + decimals;
        *places = decimals > *places ? decimals : *places;
        if (!n || n > DIGITS_MOST || *at != (i < 2 ? ':' : '\0'))
            return false;
    }
    bool whole = true;
    for (size_t i = 0; i < 3; i++) {
        number[i] = rint(number[i] * number_powers[NUMBER_POWER + *places]) + 0.0; // no -0
        whole = whole && fabs(number[i]) < number_powers[NUMBER_POWER + DIGITS_MOST];
    }
    const double way = number[1] - number[0], step = number[2];
    return whole && step != 0.0 && (way == 0.0 || (way > 0.0) == (step > 0.0));
}

// Adds the values of FROM:TO:STEP, without zeros at the end of their decimals.
static bool add_range_values(struct sweep *s, const char *list, struct err *e)
{
    double number[3];
    int places;
    if (!read_range(list, number, &places))
        return err_set(e, STATUS_USAGE,
                       "--sweep: %s=%.*s: expected FROM:TO:STEP, with STEP leading from FROM towards TO", s->row->name,
                       err_clip(list, 60), list);
    const double n = floor((number[1] - number[0]) / number[2]) + 1.0;
    if (n > VARIANTS_MOST)
        return too_many(e);
    for (int i = 0; i < (int)n; i++) {
        char text[40];
        size_t len = (size_t)snprintf(text, sizeof text, "%.*f", places,
                                      (number[0] + i * number[2]) / number_powers[NUMBER_POWER + places]);
        while (places && text[len - 1] == '0')
            len--;
        if (!words_own(&s->values, strndup(text, len - (text[len - 1] == '.')), e))
            return false;
    }
    return true;
}

// Adds the values of a,b,c. A flag may have 0 and 1 for false and true.
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

// Sets an error that writes a list a,b of presets as it must stand: "WHY --vs a --vs b". Returns false.
static bool suggest_vs(const char *why, const char *list, struct err *e)
{
    struct builder text = {0};
    for (size_t len; len = strcspn(list, ","), *list; list += len + (list[len] == ',')) {
        builder_string(&text, " --vs ");
        builder_bytes(&text, list, len);
    }
    err_set(e, STATUS_USAGE, "%s%s", why, text.text ? text.text : " --vs");
    builder_free(&text);
    return false;
}

static bool read_sweep(struct sweep *s, const struct options *o, const char *word, struct err *e)
{
    word += strspn(word, "-");
    const size_t len = strcspn(word, "=");
    char option[64];
    if (!word[len])
        return err_set(e, STATUS_USAGE, "--sweep: '%s' is not OPTION=LIST", word);
    s->row = option_by_name(o, word, len);
    if (s->row && s->row->kind == OPTION_PRESET)
        return suggest_vs("--sweep: presets are compared with", word + len + 1, e);
    if (!s->row) {
        hint_unknown(o, option, (size_t)snprintf(option, sizeof option, "--%.*s", err_clip_part(word, len, 40), word),
                     e);
        return err_prefix(e, "--sweep");
    }
    if (s->row->group != GROUP_CHAIN)
        return err_set(e, STATUS_USAGE, "--sweep: --%s is not part of a chain: it is the same for all", s->row->name);
    const char *const list = word + len + 1;
    const bool number = !s->row->choices && strchr(list, ':') && (s->row->param || !strcmp(s->row->name, "seed"));
    return number ? add_range_values(s, list, e) : add_list_values(s, list, e);
}

// ---- the arguments of a variant

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

// Appends the options of a SPEC as words.
static bool spec_words(struct variants *v, const struct spec *spec, struct words *words, struct err *e)
{
    const char *const preset[] = {"--preset", "default", "--preset", spec->preset};
    if (!spec->preset) {
        char *const text = words_own(&v->texts, strdup(spec->options), e);
        return text && words_split(text, words, e);
    }
    const char *const space = strstr(spec->preset, " -");
    if (space && space > spec->preset && space[-1] == ':')
        return err_set(e, STATUS_USAGE, "a variant's name has letters, digits, '_', '.' and '-' only");
    if (space)
        return err_set(e, STATUS_USAGE, "a colon ends the name of a variant: '%.*s:%s'", (int)(space - spec->preset),
                       spec->preset, space);
    if (strchr(spec->preset, ',') && !strchr(spec->preset, '/'))
        return suggest_vs("one preset each:", spec->preset, e);
    for (size_t i = 0; i < sizeof preset / sizeof *preset; i++)
        if (!words_add(words, preset[i], e))
            return false;
    return true;
}

// Fills the arguments of a variant: the base's, the words, and the values of the sweeps. The base's recipe is there.
// quiet: prints no notes on presets.
static bool fill_args(const struct variants *v, struct variant *x, const struct args *base, const struct words *words,
                      bool quiet, struct err *e)
{
    bool ok = args_extend(&x->args, base, words, quiet, e);
    if (x->args.typed.seed == base->typed.seed)
        x->args.typed.seed = (int64_t)v->recipe[0]->key.seed;
    for (size_t i = 0; ok && x->swept && i < v->n_sweeps; i++)
        ok = args_set(&x->args, x->swept[i].row, x->swept[i].value, NULL, e);
    return ok;
}

// Writes the name of a variant, and its options as a shell reads them. False if memory is short.
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

// Adds the variant of a SPEC with this combination of the sweeps' values. Combinations count from 0, and the values of
// the last sweep change fastest. swept false: without the sweeps.
static bool add_variant(struct variants *v, const struct args *base, const struct spec *spec, bool swept,
                        size_t combination, struct err *e)
{
    struct words words = {0};
    const bool quiet = combination; // the first printed the notes
    if (v->n > VARIANTS_MOST)
        return too_many(e);
    if (!mem_grow(&v->of, &v->cap, v->n + 1, sizeof *v->of))
        return err_from_fault(e, fault_memory());
    struct variant *const x = &v->of[v->n++];
    *x = (struct variant){.swept = swept ? calloc(v->n_sweeps, sizeof *x->swept) : NULL};
    for (size_t i = v->n_sweeps; x->swept && i-- > 0; combination /= v->sweep[i].values.n) {
        const size_t index = combination % v->sweep[i].values.n;
        x->swept[i] = (struct swept){v->sweep[i].row, v->sweep[i].values.word[index], index};
    }
    bool ok = spec_words(v, spec, &words, e);
    if ((swept && !x->swept) || !describe_variant(x, spec, &words, v->n_sweeps))
        ok = err_from_fault(e, fault_memory());
    else
        ok = (ok && fill_args(v, x, base, &words, quiet, e)) || err_prefix(e, "variant '%.*s'", VARIANT_NAME(x));
    free(words.word);
    return ok;
}

// Adds the variants of a SPEC, one for each combination of the sweeps' values.
static bool add_product(struct variants *v, const struct args *base, const struct spec *spec, struct err *e)
{
    size_t n = 1;
    for (size_t i = 0; i < v->n_sweeps && n <= VARIANTS_MOST; i++) // add_variant refuses what is beyond
        n *= v->sweep[i].values.n;
    for (size_t i = 0; i < n; i++)
        if (!add_variant(v, base, spec, v->n_sweeps, i, e))
            return false;
    return true;
}

static bool refuse_twins(const struct variants *v, struct err *e)
{
    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(v->of[i].name, v->of[k].name))
                return err_set(e, STATUS_USAGE, "two variants are named '%.*s'", VARIANT_NAME(&v->of[i]));
    return true;
}

// Names a variant that is the path of a preset by the file's name, unless that is also the end of another path.
static struct spec name_by_file(struct spec s, const struct words *all)
{
    const char *const slash = s.preset ? strrchr(s.preset, '/') : NULL;
    size_t same = 0;
    for (size_t i = 0; slash && i < all->n; i++) {
        const char *const other = strrchr(all->word[i], '/');
        same += !strcmp(other ? other + 1 : all->word[i], slash + 1);
    }
    if (same == 1 && slash[1]) {
        s.name = slash + 1;
        s.name_len = strlen(slash + 1);
    }
    return s;
}

static bool add_variants(struct variants *v, const struct args *base, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < base->sweeps.n; i++)
        ok = read_sweep(&v->sweep[v->n_sweeps++], base->typed.options, base->sweeps.word[i], e);
    ok = ok && add_variant(v, base, &(struct spec){.name = "base", .name_len = 4, .options = ""}, false, 0, e) &&
         (!v->n_sweeps || add_product(v, base, &(struct spec){.name = "", .options = ""}, e));
    const char *const other = base->against ? base->against : base->trusted ? "trusted" : NULL;
    if (ok && other)
        ok = add_variant(v, base, &(struct spec){other, strlen(other), NULL, ""}, false, 0, e);
    for (size_t i = 0; ok && i < base->vs.n; i++) {
        const struct spec spec = name_by_file(read_spec(base->vs.word[i]), &base->vs);
        ok = add_product(v, base, &spec, e);
    }
    return ok && refuse_twins(v, e);
}

// ---- variants with the same chain

// Returns whether two recipes choose the same token from any row without parameters, in any sequence. Their enabled
// stages must be equal, and so must all that acts beside the stages: the lists, the grammar, the reasoning budget, the
// seeds. Such a recipe may have another order, or other values of stages that are off.
static bool same_chain(const struct recipe *a, const struct recipe *b)
{
    const struct stage *s = NULL, *t = NULL;
    const struct recipe_key *const p = &a->key, *const q = &b->key;
    const struct engine *const x = p->engine, *const y = q->engine;
    for (size_t part = 0; part < PARTS; part++)
        if (part != PART_ORDER && p->part[part] != q->part[part])
            return false;
    if (p->seed != q->seed || p->grammar_first != q->grammar_first || p->grammar_prefilled != q->grammar_prefilled ||
        x->seeds_each != y->seeds_each || x->wide_seed != y->wide_seed || x->masks_first != y->masks_first ||
        x->ignores_unknown != y->ignores_unknown || (p->rules && x != y))
        return false;
    for (;;) {
        s = recipe_next(a, s);
        t = recipe_next(b, t);
        if (!s || !t)
            return s == t;
        if (s->sampler != t->sampler ||
            (s->sampler->params_size && memcmp(s->params, t->params, s->sampler->params_size) != 0))
            return false;
    }
}

static void note_same_chains(const struct variants *v)
{
    size_t twins = 0;
    for (size_t i = 1; i < v->n; i++) {
        size_t k = 0;
        while (k < i && !same_chain(v->recipe[i], v->recipe[k]))
            k++;
        twins += k < i;
        if (k < i && twins <= TWIN_NOTES)
            message_note("variants '%.*s' and '%.*s' come to the same chain%s", VARIANT_NAME(&v->of[k]),
                         VARIANT_NAME(&v->of[i]), v->recipe[i] == v->recipe[k] ? "" : " for rows without parameters");
    }
    if (twins > TWIN_NOTES)
        message_note("%zu more variant%s to the same chain as another", twins - TWIN_NOTES,
                     twins - TWIN_NOTES == 1 ? " comes" : "s come");
}

// ---- recipes

// Returns whether a sampler of the chain has its own value in place of the option's.
static bool chain_fixes(const struct recipe *r, const struct option_row *row)
{
    const struct order *const order = r->key.order;
    for (size_t i = 0; row->param && order && i < order->n; i++) {
        const struct order_entry *const c = &order->entry[i];
        if (c->own && r->of->catalog.number[c->place][c->param] == row->number)
            return true;
    }
    return false;
}

// Makes the recipe of a variant.
static const struct recipe *make_recipe(struct recipes *r, const struct variants *v, struct variant *x, struct err *e)
{
    struct builder names = {.most = 300};
    // If several variants differ in swept values only, the one with the first of each prints the notes for all.
    bool engine = false, first = true;
    for (size_t i = 0; i < v->n_sweeps && x->swept; i++) {
        const bool is_engine = !strcmp(x->swept[i].row->name, "engine");
        engine = engine || is_engine;
        first = first && (is_engine || !x->swept[i].index);
    }
    const bool ok = !engine || args_leave_out(&x->args, NULL, &names, e);
    if (ok && first && names.len)
        message_note("variant '%.*s': engine %s has no stage for %s%s, which it ignores", VARIANT_NAME(x),
                     x->args.typed.engine, names.text, names.full ? ", ..." : "");
    builder_free(&names);
    const struct recipe *const recipe = ok ? recipe_from_args(r, &x->args, e) : NULL;
    for (size_t i = 0; recipe && i < v->n_sweeps && x->swept; i++)
        if (chain_fixes(recipe, x->swept[i].row)) {
            err_set(e, STATUS_USAGE, "--sweep: the chain has a value of its own for --%s", x->swept[i].row->name);
            recipe_drop(recipe);
            return NULL;
        }
    if (recipe && first)
        note_idle_options(recipe, x, &v->of[0].args);
    return recipe;
}

static bool make_recipes(struct variants *v, struct recipes *r, struct err *e)
{
    note_idle_options(v->recipe[0], &v->of[0], NULL);
    if (v->of[0].args.verbose && v->of[0].args.action == ACTION_RUN)
        remarks_add(&r->notes, v->recipe[0]);
    if (r->notes.failed)
        return err_from_fault(e, fault_memory());
    message_notes(&r->notes);
    for (size_t i = 1; i < v->n; i++) {
        v->recipe[i] = make_recipe(r, v, &v->of[i], e);
        if (!v->recipe[i])
            return err_prefix(e, "variant '%.*s'", VARIANT_NAME(&v->of[i]));
    }
    if (!v->of[0].args.against && !v->of[0].args.trusted)
        note_same_chains(v);
    return true;
}

// Moves the chain that --base names to the first place.
static bool choose_base(struct variants *v, const char *name, struct err *e)
{
    struct builder names = {.most = 300};
    size_t i = 0;
    for (; i < v->n && strcmp(v->of[i].name, name) != 0; i++)
        builder_format(&names, i ? ", %s" : "%s", v->of[i].name);
    if (i < v->n) {
        const struct variant base = v->of[i];
        const struct recipe *const recipe = v->recipe[i];
        memmove(v->of + 1, v->of, i * sizeof *v->of);
        memmove(v->recipe + 1, v->recipe, i * sizeof(*v->recipe));
        v->of[0] = base;
        v->recipe[0] = recipe;
    } else {
        err_set(e, STATUS_USAGE, "--base: '%.*s' is not one of %s%s", err_clip(name, 80), name,
                names.text ? names.text : "", names.full ? ", ..." : "");
    }
    builder_free(&names);
    return i < v->n;
}

bool variants_make(struct variants *v, struct recipes *r, const struct args *base, struct err *e)
{
    v->recipe = calloc(VARIANTS_MOST + 1, sizeof *v->recipe);
    v->sweep = calloc(base->sweeps.n + 1, sizeof *v->sweep);
    if (!v->recipe || !v->sweep)
        return err_from_fault(e, fault_memory());
    v->recipe[0] = recipe_from_args(r, base, e);
    return v->recipe[0] && add_variants(v, base, e) && make_recipes(v, r, e) &&
           (!base->base || choose_base(v, base->base, e));
}

const char *variant_label(const struct variants *v, size_t i)
{
    const char *const name = v->of[i].name, *const file = v->of[i].args.against;
    const char *const slash = file && !strcmp(name, file) ? strrchr(name, '/') : NULL;
    return slash && slash[1] && strcmp(slash + 1, "base") != 0 ? slash + 1 : name;
}

void variants_free(struct variants *v)
{
    for (size_t i = 0; v->recipe && i <= VARIANTS_MOST; i++)
        recipe_drop(v->recipe[i]);
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
    free(v->recipe);
    free(v->of);
}
