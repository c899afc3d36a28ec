// SPDX-License-Identifier: MIT
#include "in/id_file.h"

#include "base/mem.h"
#include "in/npy_header.h"
#include "in/sparse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void id_file_free(struct id_file *f)
{
    free(f->id);
    free(f->end);
}

static bool add_id(struct id_file *f, uint32_t id, struct err *e)
{
    return mem_push(&f->id, &f->n, &f->cap, &id, sizeof id) || err_from_fault(e, fault_memory());
}

static bool end_line(struct id_file *f, struct err *e)
{
    return mem_push(&f->end, &f->lines, &f->end_cap, &f->n, sizeof f->n) || err_from_fault(e, fault_memory());
}

// ---- text

static bool separates(char c) { return c == ' ' || c == ',' || (c >= '\t' && c <= '\r'); }

static bool read_id_line(struct id_file *f, const char *p, const char *end, int64_t least, struct err *e)
{
    while (p < end) {
        const char *const from = p;
        while (p < end && !separates(*p))
            p++;
        const size_t n = (size_t)(p - from);
        const int64_t id = written_id(from, p);
        if (n && id < 0 && !(least < 0 && n == 2 && !memcmp(from, "-1", 2)))
            return err_set(e, STATUS_DATA, "line %zu: '%.*s' is not a token id", f->lines + 1,
                           err_clip_part(from, n, 40), from);
        if (n && !add_id(f, (uint32_t)id, e))
            return false;
        p += p < end;
    }
    return end_line(f, e);
}

static bool read_text(struct id_file *f, struct source *s, int64_t least, struct err *e)
{
    const char *p;
    size_t n;
    while (source_line(s, SIZE_MAX, &p, &n, e))
        if (!p || !read_id_line(f, p, p + n, least, e))
            return !p;
    return false;
}

// ---- arrays

// Reads a number of 1, 2, 4 or 8 bytes. Returns false if it is no token id.
static bool array_id(const unsigned char *p, size_t size, bool big, bool is_signed, int64_t least, uint32_t *id)
{
    uint64_t x = 0;
    const uint64_t none = UINT64_MAX >> (64 - 8 * size);
    for (size_t i = 0; i < size; i++)
        x = x << 8 | p[big ? i : size - 1 - i];
    *id = is_signed && x == none ? UINT32_MAX : (uint32_t)x;
    return (x <= INT32_MAX && !(is_signed && x >> (8 * size - 1))) || (least < 0 && is_signed && x == none);
}

static bool read_id_array(struct id_file *f, struct source *s, int64_t least, struct err *e)
{
    struct npy_header h = {0};
    const unsigned char *p;
    size_t have;
    if (!npy_header_read(&h, &format_npy, s, e))
        return false;
    const char *const d = h.descr;
    if (strlen(d) != 3 || !strchr("<>=|", d[0]) || !strchr("iu", d[1]) || !strchr("1248", d[2]))
        return err_set(e, STATUS_DATA,
                       "npy descr '%.40s' has no token ids, which are whole numbers: i or u of 1 to 8 bytes", d);
    if (h.dims < 1 || h.dims > 2 || (h.fortran && h.dims == 2 && h.dim[0] > 1 && h.dim[1] > 1))
        return err_set(e, STATUS_DATA, "npy shape %.*s: ids have the shape (N,) or (N, K), in C order", NPY_SHAPE(&h));
    const uint64_t size = (uint64_t)(d[2] - '0'), width = h.dims == 2 ? h.dim[1] : 1;
    if (!source_peek(s, SIZE_MAX, &p, &have, e))
        return false;
    if (width && h.dim[0] > UINT64_MAX / 8 / width)
        return err_set(e, STATUS_DATA, "npy shape %.*s is too large", NPY_SHAPE(&h));
    if (have != h.dim[0] * width * size)
        return err_set(e, STATUS_DATA, "npy shape %.*s needs %" PRIu64 " bytes, there are %zu", NPY_SHAPE(&h),
                       h.dim[0] * width * size, have);
    for (uint64_t row = 0; have && row < h.dim[0]; row++) {
        for (uint64_t k = 0; k < width; k++, p += size) {
            uint32_t id;
            if (!array_id(p, (size_t)size, d[0] == '>', d[1] == 'i', least, &id))
                return err_set(e, STATUS_DATA, "row %" PRIu64 " of the array: a number is not a token id", row);
            if (!add_id(f, id, e))
                return false;
        }
        if (!end_line(f, e))
            return false;
    }
    return true;
}

bool id_file_read(struct id_file *f, const char *path, int64_t least, struct err *e)
{
    struct source s;
    const unsigned char *p;
    size_t have;
    bool ok = source_open(&s, path, e) && source_peek(&s, strlen(format_npy.magic), &p, &have, e);
    if (ok && format_begins(&format_npy, p, have))
        ok = read_id_array(f, &s, least, e);
    else
        ok = ok && read_text(f, &s, least, e);
    source_close(&s);
    return ok || err_prefix(e, "%s", s.name);
}
