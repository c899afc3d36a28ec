// SPDX-License-Identifier: MIT
#include "in/token_list.h"

#include "base/names.h"
#include "kern/expf.h"
#include "kern/kern.h"
#include "kern/libm.h"

#include <math.h>
#include <string.h>

// Skips "topk_" or "top_" at the beginning of a name.
static const char *behind_mark(const char *name)
{
    static const char *const marks[] = {"topk_", "top_"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(name, marks[i], strlen(marks[i])))
            return name + strlen(marks[i]);
    return name;
}

static bool is_among(const char *names, const char *name)
{
    const char *const part = behind_mark(name);
    return name_find(names, NAME_EXACT, part, strlen(part)) >= 0;
}

bool token_list_is_marked(const char *name) { return behind_mark(name) != name; }

bool token_list_has_ids(const char *name) { return is_among("ids indices token_ids", name); }

bool token_list_has_numbers(const char *name) { return is_among("logprobs log_probs logits values", name); }

enum list_numbers token_list_numbers(const char *name)
{
    return is_among("logits", name) ? LIST_LOGITS : !strcmp(name, "probs") ? LIST_PROBS : LIST_LOGPROBS;
}

// ln x; -inf if x is not positive.
static double log_or_none(double x) { return x > 0.0 ? libm_log(x) : -INFINITY; }

// Returns the unit, zeroed if LIST_SLACK covers all its half steps.
static struct list_unit coarse_unit(const float *x, size_t n, const struct list_unit *unit)
{
    for (size_t i = 0; i < n; i++)
        if (list_unit_half(unit, (double)x[i]) > 0x1p-20)
            return *unit;
    return (struct list_unit){0};
}

struct row_unlisted token_list_unlisted(const float *x, size_t n, float least, const struct list_unit *of)
{
    const struct list_unit own = coarse_unit(x, n, of), *const unit = &own;
    double sum = 0.0, error = 1e-6, coarse = 0.0; // how far the sum may be off, for f32 and for the unit
    bool masked = false;
    for (size_t i = 0; i < n; i++) {
        const double p = kern_exp(x[i]), half = list_unit_half(unit, (double)x[i]);
        sum += p;
        error += p > 0.0 ? p * fabs((double)x[i]) * 0x1p-24 : 0.0;
        coarse += half > 0.0 && p > 0.0 ? p * (libm_exp(half) - 1.0) : 0.0;
        masked = masked || x[i] == -INFINITY;
    }
    if (!(sum <= 1.02 + coarse))
        return (struct row_unlisted){.scale = SCALE_LOGITS, .logits = sum > 1.02};
    struct row_unlisted r = {.scale = SCALE_LOGPROBS, .unit = *unit};
    error += coarse;
    if (least == -INFINITY || (masked && 1.0 - sum <= error))
        return r;
    if (masked)
        r.unit.decimal = INFINITY;
    const double weight = fmax(0.0, 1.0 - sum),
                 most = error < INFINITY ? libm_log(weight + error) : INFINITY; // of one token
    const double end = (double)least + list_unit_half(unit, (double)least);
    r.partial = true;
    r.gaps = masked;
    r.ceiling = most < end ? (float)most : (float)end;
    r.ceiling = most < end || (double)r.ceiling < end ? nextafterf(r.ceiling, INFINITY) : r.ceiling;
    r.weight = weight;
    r.sum = log_or_none(weight);
    r.low = log_or_none(weight - error);
    r.high = most;
    r.mean = log_or_none(weight);
    r.most = INFINITY;
    return r;
}

struct row_unlisted token_list_complete(struct row_unlisted unlisted)
{
    return (struct row_unlisted){.scale = unlisted.scale, .unit = unlisted.unit};
}

bool token_list_row(struct sparse *s, enum list_numbers numbers, const struct list_unit *unit, size_t n_vocab,
                    struct row *row, struct err *e)
{
    if (s->n && !sparse_drop_padding(s, e))
        return false;
    if (!s->n)
        return err_set(e, STATUS_DATA, "the row is empty");
    if (!sparse_row(s, n_vocab, row, e))
        return false;
    float least = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        least = s->x[i] > -INFINITY && s->x[i] < least ? s->x[i] : least;
    if (numbers != LIST_LOGITS && least < INFINITY)
        row->unlisted = token_list_unlisted(s->x, s->n, least, unit);
    if (s->n == n_vocab)
        row->unlisted = token_list_complete(row->unlisted);
    return true;
}
