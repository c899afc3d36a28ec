// SPDX-License-Identifier: MIT
#include "in/safetensors.h"

#include "base/bits.h"
#include "in/matrix.h"
#include "json/json.h"

#include <inttypes.h>
#include <string.h>

#define HEADER_MAX 100000000 // bytes, as in the format's own library
#define EXACT_MAX  0x1p53    // cJSON's numbers are doubles, which hold each whole number up to this one

const struct tensor_type *tensor_type_named(const char *name)
{
    static const struct tensor_type types[] = {
        {"F32", 4, DTYPE_F32, TENSOR_REAL},     {"F16", 2, DTYPE_F16, TENSOR_REAL},
        {"BF16", 2, DTYPE_BF16, TENSOR_REAL},   {"F64", 8, DTYPE_F32, TENSOR_REAL},
        {"I64", 8, DTYPE_F32, TENSOR_SIGNED},   {"I32", 4, DTYPE_F32, TENSOR_SIGNED},
        {"I16", 2, DTYPE_F32, TENSOR_SIGNED},   {"I8", 1, DTYPE_F32, TENSOR_SIGNED},
        {"U64", 8, DTYPE_F32, TENSOR_UNSIGNED}, {"U32", 4, DTYPE_F32, TENSOR_UNSIGNED},
        {"U16", 2, DTYPE_F32, TENSOR_UNSIGNED}, {"U8", 1, DTYPE_F32, TENSOR_UNSIGNED}};
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(name, types[i].name))
            return &types[i];
    return NULL;
}

const struct tensor_type *tensor_type_of(const cJSON *tensor)
{
    return tensor_type_named(cJSON_GetStringValue(json_member(tensor, "dtype")));
}

double tensor_real(const struct tensor_type *type, const unsigned char *array, uint64_t i)
{
    if (type->kind != TENSOR_REAL)
        return (double)tensor_whole(type, array, i);
    if (type->size < sizeof(double))
        return row_logit(&(struct row){type->dtype, array, SIZE_MAX}, (size_t)i);
    uint64_t bits;
    memcpy(&bits, array + i * sizeof bits, sizeof bits);
    return f64_of_bits(bits);
}

bool safetensors_whole(const cJSON *array, int i, uint64_t *v)
{
    const cJSON *const item = cJSON_GetArrayItem(array, i);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.0 && item->valuedouble <= EXACT_MAX))
        return false;
    *v = (uint64_t)item->valuedouble;
    return (double)*v == item->valuedouble;
}

bool safetensors_data(const cJSON *tensor, uint64_t want, uint64_t *begin, struct err *e)
{
    const cJSON *const offsets = json_member(tensor, "data_offsets");
    uint64_t end;
    if (!cJSON_IsArray(offsets) || !safetensors_whole(offsets, 0, begin) || !safetensors_whole(offsets, 1, &end) ||
        cJSON_GetArraySize(offsets) != 2)
        return err_set(e, STATUS_DATA, "tensor '%.*s': data_offsets are not two whole numbers", SHOWN(tensor->string));
    if (*begin > end || end - *begin != want)
        return err_set(e, STATUS_DATA,
                       "tensor '%.*s': data_offsets %" PRIu64 " to %" PRIu64 " are not the %" PRIu64
                       " bytes of its shape",
                       SHOWN(tensor->string), *begin, end, want);
    return true;
}

bool safetensors_header(const struct format *f, struct source *s, cJSON **root, struct err *e)
{
    const size_t before = 8;
    const unsigned char *p;
    uint64_t len;
    if (!matrix_header(f, s, before + 1, &p, e))
        return false;
    memcpy(&len, p, sizeof len);
    if (p[before] != '{')
        return err_set(e, STATUS_DATA, "the input does not begin as safetensors files do");
    if (len > HEADER_MAX)
        return err_set(e, STATUS_DATA, "the safetensors header has %" PRIu64 " bytes, more than the format's %d", len,
                       HEADER_MAX);
    if (!matrix_header(f, s, before + (size_t)len, &p, e))
        return false;
    *root = json_parse_object(p + before, (size_t)len, "the safetensors header", e);
    source_skip(s, before + (size_t)len);
    return *root && (json_refuse_nul(*root, STATUS_DATA, e) || err_prefix(e, "the safetensors header"));
}
