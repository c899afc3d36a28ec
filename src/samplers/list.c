// SPDX-License-Identifier: MIT
#include "samplers/list.h"

#include "base/names.h"
#include "base/number.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct sampler *const samplers[] = {
#define SAMPLER(name)  &sampler_##name,
#define INTERNAL(name) &sampler_##name,
#include "samplers/list.def"
    NULL,
#undef SAMPLER
#undef INTERNAL
};

bool sampler_internal(size_t place)
{
    static const bool internal[] = {
#define SAMPLER(name)  false,
#define INTERNAL(name) true,
#include "samplers/list.def"
#undef SAMPLER
#undef INTERNAL
    };
    return internal[place];
}

// Parameters that decide which stages there are, and belong to none.
static const struct param of_the_order[] = {
    {"mirostat", "mirostat version 1 or 2 in place of the chain; 0: off", .type = PARAM_INT, RANGE(0, 2),
     CLAMPED(0, 2)},
    {NULL},
};

static bool has_name(const struct sampler *s, const char *name, size_t len)
{
    return name_find(s->name, NAME_LOOSE, name, len) >= 0 ||
           (s->aliases && name_find(s->aliases, NAME_LOOSE, name, len) >= 0);
}

const struct sampler *sampler_by_name(const char *name, size_t len)
{
    for (size_t i = 0; samplers[i]; i++)
        if (!sampler_internal(i) && has_name(samplers[i], name, len))
            return samplers[i];
    return NULL;
}

const struct sampler *sampler_by_letter(char letter)
{
    for (size_t i = 0; samplers[i]; i++)
        if (samplers[i]->letter && samplers[i]->letter == letter)
            return samplers[i];
    return NULL;
}

// Returns whether sampler_by_name finds this sampler by each of these names. names NULL: yes.
static bool owns_names(const struct sampler *s, const char *names, struct err *e)
{
    size_t len;
    for (const char *name; names && name_next(&names, &name, &len);) {
        const struct sampler *const first = sampler_by_name(name, len);
        if (first != s)
            return err_set(e, STATUS_USAGE, "samplers/list.def: samplers %s and %s both have the name '%.*s'",
                           first->name, s->name, (int)len, name);
    }
    return true;
}

bool samplers_differ(struct err *e)
{
    for (size_t i = 0; samplers[i]; i++) {
        const struct sampler *const s = samplers[i], *const first = sampler_by_letter(s->letter);
        if (!sampler_internal(i) && (!owns_names(s, s->name, e) || !owns_names(s, s->aliases, e)))
            return false;
        if (s->letter && first != s)
            return err_set(e, STATUS_USAGE, "samplers/list.def: samplers %s and %s both have the letter '%c'",
                           first->name, s->name, s->letter);
    }
    return true;
}

const struct param *sampler_param(const struct sampler *s, const char *flag)
{
    for (const struct param *row = s->params; row && row->flag; row++)
        if (!strcmp(row->flag, flag))
            return row;
    return NULL;
}

size_t sampler_place(const struct sampler *s)
{
    size_t place = 0;
    while (samplers[place] != s) {
        assert(samplers[place]);
        place++;
    }
    return place;
}

size_t catalog_find(const struct catalog *c, const char *flag)
{
    size_t number = 0;
    while (number < c->n && strcmp(c->param[number]->flag, flag) != 0)
        number++;
    return number;
}

size_t catalog_find_server(const struct catalog *c, const char *name)
{
    size_t number = 0;
    for (; number < c->n; number++) {
        const char *known = c->param[number]->server ? c->param[number]->server : c->param[number]->flag, *at = name;
        for (; *known && *at == (*known == '-' ? '_' : *known); at++)
            known++;
        if (!*known && !*at)
            break;
    }
    return number;
}

// Adds the parameters that these rows are the first to describe.
static void add_params(struct catalog *c, const struct param *row, const char *heading)
{
    for (; row && row->flag; row++) {
        if (!row->help || catalog_find(c, row->flag) < c->n)
            continue;
        assert(c->n < CATALOG_MOST);
        c->heading[c->n] = heading;
        c->param[c->n++] = row;
    }
}

void catalog_make(struct catalog *c)
{
    *c = (struct catalog){0};
    for (size_t i = 0; samplers[i]; i++)
        add_params(c, samplers[i]->params,
                   samplers[i]->in_llama == LLAMA_LACKS ? FOREIGN_HEADING : samplers[i]->heading);
    add_params(c, of_the_order, NULL);
    for (size_t i = 0; samplers[i]; i++) {
        assert(i < CATALOG_SAMPLERS);
        const struct param *const rows = samplers[i]->params;
        for (size_t k = 0; rows && rows[k].flag; k++) {
            assert(k < CATALOG_PARAMS);
            c->number[i][k] = (unsigned char)catalog_find(c, rows[k].flag);
            assert(c->number[i][k] < c->n);
            assert(rows[k].type == c->param[c->number[i][k]]->type || rows[k].type == PARAM_DOUBLE);
        }
    }
    c->mirostat = catalog_find(c, "mirostat");
    c->temp = catalog_find(c, "temp");
}

double param_value(const struct param *row, double value)
{
    char text[NUMBER_TEXT];
    const double typed = row->type == PARAM_FLOAT ? strtod(number_text((float)value, text), NULL) : value;
    return row->type == PARAM_FLOAT && (float)typed != (float)value ? (double)(float)value : typed;
}

void catalog_defaults(const struct catalog *c, double *value)
{
    for (size_t i = 0; i < c->n; i++)
        value[i] = param_value(c->param[i], c->param[i]->def);
}

// A sampler that its defaults enable is disabled by its first parameter. The temperature, also that of engines, is off
// at 1.
void catalog_neutral(const struct catalog *c, double *value)
{
    catalog_defaults(c, value);
    for (size_t i = 0; samplers[i]; i++) {
        double *const first = &value[c->number[i][0]];
        if (samplers[i]->runs.first != ALWAYS && sampler_runs_with(samplers[i], *first))
            *first = samplers[i]->runs.bound;
    }
}

void param_store(const struct param *row, void *params, double value)
{
    void *const at = (char *)params + row->at;
    if (row->type == PARAM_INT)
        *(int32_t *)at = (int32_t)value;
    else if (row->type == PARAM_FLOAT)
        *(float *)at = (float)value;
    else if (row->type == PARAM_DOUBLE)
        *(double *)at = value;
    else
        *(bool *)at = value != 0.0;
}

void catalog_fill(const struct catalog *c, size_t place, const double *value, void *params)
{
    const struct param *const rows = samplers[place]->params;
    for (size_t k = 0; rows && rows[k].flag; k++)
        param_store(&rows[k], params, value[c->number[place][k]]);
}

bool catalog_enables(const struct catalog *c, size_t place, const double *value, const struct context *context)
{
    const struct sampler *const s = samplers[place];
    if (s->params && !sampler_runs_with(s, param_rounded(s->params, value[c->number[place][0]])))
        return false;
    double params[CATALOG_PARAMS] = {0.0}; // room for any sampler's; some tables leave members out
    catalog_fill(c, place, value, params);
    return stage_enabled(&(struct stage){s, params, context});
}
