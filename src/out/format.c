// SPDX-License-Identifier: MIT
#include "out/format.h"

#include "base/names.h"

#include <string.h>

#define FORMAT(name, ...) {#name, __VA_ARGS__},
const struct output_format output_formats[] = {
#include "out/formats.def"
    {NULL},
};
#undef FORMAT

#define FORMAT(name, ...) "," #name
const char output_format_choices[] =
#include "out/formats.def"
    ;
#undef FORMAT

const struct output_format *output_format_named(const char *name)
{
    const struct output_format *f = output_formats;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f;
}

const struct output_format *output_format_like(const char *input)
{
    for (const struct output_format *f = output_formats; f->name; f++)
        if (f->inputs && name_find(f->inputs, NAME_EXACT, input, strlen(input)) >= 0)
            return f;
    return output_format_named("f32");
}

const struct output_format *output_format_of(unsigned kinds)
{
    const struct output_format *f = output_formats;
    while (!(f->kind & kinds))
        f++;
    return f;
}
