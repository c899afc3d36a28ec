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

bool token_list_has_logits(const char *name) { return is_among("logits", name); }

// ln x; -inf if x is not positive.
static double log_or_none(double x) { return x > 0.0 ? libm_log(x) : -INFINITY; }

struct row_unlisted token_list_unlisted(const float *x, size_t n, float least, double unit)
{
    double sum = 0.0, error = 1e-6;
    for (size_t i = 0; i < n; i++) {
        const double p = kern_exp(x[i]);
        sum += p;
        error += p > 0.0 ? p * fabs((double)x[i]) * unit : 0.0;
    }
    if (!(sum <= 1.02) || least == -INFINITY)
        return (struct row_unlisted){.scale = sum <= 1.02 ? SCALE_LOGPROBS : SCALE_LOGITS, .logits = sum > 1.02};
    const double weight = fmax(0.0, 1.0 - sum), most = libm_log(weight + error); // of one token
    const float ceiling = most < least ? nextafterf((float)most, INFINITY) : least;
    return (struct row_unlisted){.scale = SCALE_LOGPROBS,
                                 .partial = true,
                                 .ceiling = ceiling,
                                 .weight = weight,
                                 .sum = log_or_none(weight),
                                 .low = log_or_none(weight - error),
                                 .high = most,
                                 .mean = log_or_none(weight),
                                 .most = INFINITY};
}

struct row_unlisted token_list_complete(struct row_unlisted unlisted)
{
    return (struct row_unlisted){.scale = unlisted.scale};
}

bool token_list_row(struct sparse *s, bool logits, double unit, size_t n_vocab, struct row *row, struct err *e)
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
    if (!logits && least < INFINITY)
        row->unlisted = token_list_unlisted(s->x, s->n, least, unit);
    if (s->n == n_vocab)
        row->unlisted = token_list_complete(row->unlisted);
    return true;
}
