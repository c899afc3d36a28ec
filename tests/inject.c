// SPDX-License-Identifier: MIT
// Preloaded into the program under test (LD_PRELOAD), makes one call into the C library fail that no input can make fail.
//     SAMPL_INJECT=CALL[:N[:ERRNO]]
// The N-th CALL after the start of main fails (default: the first) with that errno. CALL is a name of the list below or `memory`:
// malloc, calloc and realloc, counted together; or `made`, a mkstemp that succeeds, and the signal of number ERRNO comes at once. When the call fails, the file that SAMPL_INJECT_LOG names is made, so that a test
// can tell whether there was an N-th call. Built by errors.bats; not part of the program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static const char *name; // of the call that is to fail; NULL: none
static long countdown;
static int error = EIO;

// Runs late among the libraries' constructors, so that their own calls do not count.
__attribute__((constructor)) static void arm(void)
{
    const char *at = getenv("SAMPL_INJECT");
    static char copy[40];
    if (!at || strlen(at) >= sizeof copy)
        return;
    strcpy(copy, at);
    strtok(copy, ":");
    const char *const n = strtok(NULL, ":"), *const e = strtok(NULL, ":");
    countdown = n ? atol(n) : 1;
    error = e ? atoi(e) : !strcmp(copy, "memory") ? ENOMEM : EIO;
    name = copy;
}

static bool fails(const char *call)
{
    if (!name || strcmp(name, call) != 0 || --countdown)
        return false;
    const char *const log = getenv("SAMPL_INJECT_LOG");
    if (log)
        close(open(log, O_WRONLY | O_CREAT, 0666));
    errno = error;
    return true;
}

// The C library's own function (or the sanitizer's). A call made while it is being looked up gets NULL.
#define NEXT(type, call, ...)                        \
    static type (*next)(__VA_ARGS__);                \
    if (!next) {                                     \
        static bool looking;                         \
        if (looking)                                 \
            return (type)0;                          \
        looking = true;                              \
        void *const found = dlsym(RTLD_NEXT, #call); \
        memcpy(&next, &found, sizeof next);          \
    }

void *malloc(size_t size)
{
    NEXT(void *, malloc, size_t)
    return fails("memory") ? NULL : next(size);
}

void *calloc(size_t n, size_t size)
{
    NEXT(void *, calloc, size_t, size_t)
    return fails("memory") ? NULL : next(n, size);
}

void *realloc(void *old, size_t size)
{
    NEXT(void *, realloc, void *, size_t)
    return fails("memory") ? NULL : next(old, size);
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    NEXT(ssize_t, getrandom, void *, size_t, unsigned)
    return fails("getrandom") ? -1 : next(to, size, flags);
}

ssize_t read(int fd, void *to, size_t size)
{
    NEXT(ssize_t, read, int, void *, size_t)
    return fails("read") ? -1 : next(fd, to, size);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    NEXT(int, open, const char *, int, ...)
    return fails("open") ? -1 : next(path, flags, mode);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t from)
{
    NEXT(void *, mmap, void *, size_t, int, int, int, off_t)
    return fails("mmap") ? MAP_FAILED : next(at, size, protection, flags, fd, from);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(FILE *, fopen, const char *, const char *)
    return fails("fopen") ? NULL : next(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
    NEXT(FILE *, fdopen, int, const char *)
    return fails("fdopen") ? NULL : next(fd, mode);
}

int fclose(FILE *f)
{
    NEXT(int, fclose, FILE *)
    const int result = next(f);
    if (!fails("fclose"))
        return result;
    return EOF;
}

int access(const char *path, int mode)
{
    NEXT(int, access, const char *, int)
    return fails("access") ? -1 : next(path, mode);
}

int mkstemp(char *template)
{
    NEXT(int, mkstemp, char *)
    if (fails("mkstemp"))
        return -1;
    const int fd = next(template);
    if (fails("made"))
        raise(error);
    return fd;
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
    NEXT(ssize_t, pwrite, int, const void *, size_t, off_t)
    return fails("pwrite") ? -1 : next(fd, from, size, at);
}

int rename(const char *from, const char *to)
{
    NEXT(int, rename, const char *, const char *)
    return fails("rename") ? -1 : next(from, to);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    return fails("pthread_create") ? error : next(thread, attributes, start, argument);
}
