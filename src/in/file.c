// SPDX-License-Identifier: MIT
#include "in/file.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool file_slurp(const char *path, char **text, size_t *len, struct err *e)
{
    FILE *const f = fopen(path, "rb");
    if (!f)
        return err_set(e, STATUS_IO, "cannot open '%s': %s", path, strerror(errno));
    size_t cap = 0, got;
    *text = NULL;
    *len = 0;
    bool ok;
    do {
        ok = mem_grow(text, &cap, *len + 4096 + 1, 1);
        got = ok ? fread(*text + *len, 1, cap - *len - 1, f) : 0;
        *len += got;
    } while (got);
    if (!ok)
        err_from_fault(e, fault_memory());
    else if (ferror(f))
        ok = err_set(e, STATUS_IO, "cannot read '%s': %s", path, strerror(errno));
    fclose(f);
    if (ok) {
        (*text)[*len] = '\0';
        return true;
    }
    free(*text);
    *text = NULL;
    return false;
}
