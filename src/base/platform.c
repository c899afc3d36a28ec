// SPDX-License-Identifier: MIT
#include "base/platform.h"

#if defined __linux__ && !defined SAMPL_PORTABLE

#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>

bool platform_random(void *bytes, size_t n) { return getrandom(bytes, n, 0) == (ssize_t)n; }

size_t platform_cores(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof cores, &cores) ? 1 : (size_t)CPU_COUNT(&cores);
}

// posix_madvise would not let go of memory here.
void platform_reads_on(void *bytes, size_t n) { madvise(bytes, n, MADV_SEQUENTIAL); }

void platform_has_read(void *bytes, size_t n) { madvise(bytes, n, MADV_DONTNEED); }

#else

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

bool platform_random(void *bytes, size_t n)
{
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && read(fd, bytes, n) == (ssize_t)n;
    if (fd >= 0)
        close(fd);
    return ok;
}

size_t platform_cores(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}

void platform_reads_on(void *bytes, size_t n) { posix_madvise(bytes, n, POSIX_MADV_SEQUENTIAL); }

void platform_has_read(void *bytes, size_t n) { posix_madvise(bytes, n, POSIX_MADV_DONTNEED); }

#endif
