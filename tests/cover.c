// SPDX-License-Identifier: MIT
// Linked into a program that was compiled with -fsanitize-coverage=trace-pc, for mutants.py. Records the basic blocks that ran in the file
// SAMPL_COVER/TEST.PROGRAM: one byte at the address of each block. Runs of the same test share the file. The file is mapped, so that it is
// complete even if the run crashes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char __executable_start, etext; // the linker's

static volatile unsigned char *seen;

__attribute__((constructor(101))) static void begin(void)
{
    const char *const dir = getenv("SAMPL_COVER"), *const number = getenv("BATS_TEST_NUMBER");
    const size_t len = (size_t)(&etext - &__executable_start);
    char path[4096];
    if (!dir || snprintf(path, sizeof path, "%s/%s.%s", dir, number ? number : "0", program_invocation_short_name) >=
                    (int)sizeof path)
        return;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    void *const map =
        ftruncate(fd, (off_t)len) ? MAP_FAILED : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    seen = map == MAP_FAILED ? NULL : map;
}

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    if (seen)
        seen[(const char *)__builtin_return_address(0) - &__executable_start] = 1;
}
