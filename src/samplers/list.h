// SPDX-License-Identifier: MIT
// The samplers that there are, and the catalog of their parameters: each once, under a number, by which the rest of the program keeps
// values.
#ifndef SAMPL_SAMPLERS_LIST_H
#define SAMPL_SAMPLERS_LIST_H

#include "sample/sampler.h"

#define SAMPLER(name) extern const struct sampler sampler_##name;
#include "samplers/list.def"
#undef SAMPLER

extern const struct sampler *const samplers[]; // ends with NULL

// llama.cpp's default chain, with scatter before temperature.
#define DEFAULT_CHAIN "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;scatter;temperature"

// By name (any case; '_' and '-' do not count), len characters long, or by letter; NULL when there is none or it is internal.
const struct sampler *sampler_by_name(const char *name, size_t len);
const struct sampler *sampler_by_letter(char letter);

#define FOREIGN_HEADING "Samplers of other programs" // of their options

enum {
    CATALOG_MOST = 120,
    CATALOG_SAMPLERS = 80,
    CATALOG_PARAMS = 16
}; // parameters; samplers; parameters of one sampler

struct catalog {
    const struct param *param[CATALOG_MOST]; // [n] the rows that describe them
    const char *heading[CATALOG_MOST];       // [n] of the samplers whose rows they are
    size_t n;
    unsigned char number[CATALOG_SAMPLERS][CATALOG_PARAMS]; // of a sampler's parameters, by its place in the list
    size_t mirostat, temp;                                  // numbers that the chain's plan depends on
};

void catalog_make(struct catalog *c);

// The number of the parameter with this flag, len characters long, or c->n.
size_t catalog_find(const struct catalog *c, const char *flag, size_t len);

// The same by llama-server's name for it.
size_t catalog_find_server(const struct catalog *c, const char *name);

// The value as its parameter keeps it, every parameter's default among them: value[0..c->n).
double param_value(const struct param *row, double value);
void catalog_defaults(const struct catalog *c, double *value);

// The same with values that switch off the samplers that would run.
void catalog_neutral(const struct catalog *c, double *value);

// The place of a sampler in the list.
size_t sampler_place(const struct sampler *s);

// Fills the parameter struct of the sampler at that place from value[0..c->n).
void catalog_fill(const struct catalog *c, size_t place, const double *value, void *params);

#endif
