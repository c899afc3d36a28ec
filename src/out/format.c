// SPDX-License-Identifier: MIT
#include "out/format.h"

#include "base/names.h"

#include <string.h>

const struct output_format output_formats[] = {
    {"text", FORMAT_TEXT},
    {"tsv", FORMAT_CELLS, .before = "", .between = "\t", .behind = "\n", .below = ""},
    {"json", FORMAT_JSON, .inputs = "json pairs"},
    {"html", FORMAT_PAGE, .counted = true},
    {"f32", FORMAT_ARRAY},
    {"f16", FORMAT_ARRAY, .inputs = "f16", .type = DTYPE_F16},
    {"npy", FORMAT_ARRAY, .inputs = "npy kld safetensors", .counted = true},
    {"safetensors", FORMAT_TENSORS, .counted = true},
    {NULL},
};

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
