// SPDX-License-Identifier: MIT
// Maps of whole files that are only read, for Windows.
#ifndef SAMPL_BASE_WINDOWS_SYS_MMAN_H
#define SAMPL_BASE_WINDOWS_SYS_MMAN_H

#include <stddef.h>
#include <stdint.h>

#define PROT_READ   1
#define MAP_PRIVATE 2
#define MAP_FAILED  ((void *)-1)

// `at` must be NULL, `offset` 0, prot PROT_READ and flags MAP_PRIVATE.
void *mmap(void *at, size_t n, int prot, int flags, int fd, int64_t offset);
int munmap(void *map, size_t n);

#endif
