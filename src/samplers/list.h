// SPDX-License-Identifier: MIT
// The list of samplers, and the catalog of their parameters. Each parameter has a number in the catalog, and values are
// kept in arrays by these numbers.
#ifndef SAMPL_SAMPLERS_LIST_H
#define SAMPL_SAMPLERS_LIST_H

#include "base/err.h"
#include "sample/sampler.h"

#define SAMPLER(name)  extern const struct sampler sampler_##name;
#define INTERNAL(name) extern const struct sampler sampler_##name;
#include "samplers/list.def"
#undef SAMPLER
#undef INTERNAL

extern const struct sampler *const samplers[]; // ends with NULL

// Returns whether the sampler at this place comes by other options, so that a chain cannot name it.
bool sampler_internal(size_t place);

// llama.cpp's default chain, with scatter before temperature.
#define DEFAULT_CHAIN "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;scatter;temperature"

// Find a sampler by name[0..len), in which case, '_' and '-' do not count; or by its letter. NULL: there is none, or it
// is internal.
const struct sampler *sampler_by_name(const char *name, size_t len);
const struct sampler *sampler_by_letter(char letter);

// Checks that no two samplers that a chain may name share a name or a letter: a chain would silently run the first of
// the list. False with *e, which names both: a mistake of whoever adds a sampler.
bool samplers_differ(struct err *e);

// Finds the row of a sampler's parameter by its flag. NULL: the sampler lacks it.
const struct param *sampler_param(const struct sampler *s, const char *flag);

// Returns the index of a sampler in the list.
size_t sampler_place(const struct sampler *s);

#define FOREIGN_HEADING "Samplers of other programs" // of their options

enum {
    CATALOG_MOST = 120,    // parameters
    CATALOG_SAMPLERS = 80, // samplers
    CATALOG_PARAMS = 16    // parameters of one sampler
};

struct catalog {
    const struct param *param[CATALOG_MOST]; // [n] the rows that describe them
    const char *heading[CATALOG_MOST];       // [n] of the samplers whose rows they are
    size_t n;
    unsigned char number[CATALOG_SAMPLERS][CATALOG_PARAMS]; // of a sampler's parameters, by its place in the list
    size_t mirostat, temp;                                  // numbers that the plan of a chain depends on
};

void catalog_make(struct catalog *c);

// Return the number of a parameter by its flag, or by llama-server's name for it. c->n: there is none.
size_t catalog_find(const struct catalog *c, const char *flag);
size_t catalog_find_server(const struct catalog *c, const char *name);

// Returns a parameter's value as it would be typed: of a float the f64 that its fewest digits denote. A value keeps the
// f64 of its text, because some engines compute with that; param_store rounds it.
double param_value(const struct param *row, double value);

// Fill value[0..c->n): with every default; or with the defaults, but every sampler disabled.
void catalog_defaults(const struct catalog *c, double *value);
void catalog_neutral(const struct catalog *c, double *value);

// Writes a parameter to a sampler's struct.
void param_store(const struct param *row, void *params, double value);

// Fills the parameter struct of the sampler at that place from value[0..c->n).
void catalog_fill(const struct catalog *c, size_t place, const double *value, void *params);

// Returns true if a stage of the sampler at that place would run with value[0..c->n). context: of the stage, or NULL.
bool catalog_enables(const struct catalog *c, size_t place, const double *value, const struct context *context);

#endif
