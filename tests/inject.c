// SPDX-License-Identifier: MIT
// Preloaded into the program under test (LD_PRELOAD). Makes one call of the C library fail that no input can make fail.
//     SAMPL_INJECT=CALL[:N[:ERRNO]]
// The N-th CALL after the start of main fails with ERRNO; by default the first. CALL is a function below, or `memory` for malloc, calloc and
// realloc together, or `made`. With `made`, mkstemp succeeds, and the signal of number ERRNO arrives at once. A failing call creates the file of
// SAMPL_INJECT_LOG, so that a test knows whether there was an N-th call. errors.bats and faults.py build this file.
//     SAMPL_INJECT=sys_NAME[:N[:ERRNO]]
// makes a system call fail (x86-64), also one that the C library makes itself. ERRNO 0: the call reads or writes only half of its bytes.
// N 0: every other call.
// SAMPL_INJECT_LIVE names a file that gets the number of memory blocks in use at the end of the program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>

static const char *name; // of the call that must fail; NULL for none
static long countdown;
static int error = EIO;
static bool every_other;
static atomic_long live;
static void trap(const char *call);

// Runs late among the constructors of libraries, so that calls of other constructors do not count.
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
    every_other = !countdown;
    error = e ? atoi(e) : !strcmp(copy, "memory") ? ENOMEM : EIO;
    name = copy;
    if (!strncmp(name, "sys_", 4))
        trap(name + 4);
}

__attribute__((destructor)) static void tell_live(void)
{
    const char *const at = getenv("SAMPL_INJECT_LIVE");
    char text[20];
    const int fd = at ? open(at, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, text, sprintf(text, "%ld", live)); // a system call that never fails here
    close(fd);
}

static bool fails(const char *call)
{
    if (!name || strcmp(name, call) != 0)
        return false;
    if (every_other ? countdown++ % 2 : --countdown)
        return false;
    const char *const log = getenv("SAMPL_INJECT_LOG");
    if (log)
        close(open(log, O_WRONLY | O_CREAT, 0666));
    errno = error;
    return true;
}

// Finds the function of the C library or of the sanitizer as `next`. A call during the search gets NULL.
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
    void *const p = fails("memory") ? NULL : next(size);
    live += p != NULL;
    return p;
}

void *calloc(size_t n, size_t size)
{
    NEXT(void *, calloc, size_t, size_t)
    void *const p = fails("memory") ? NULL : next(n, size);
    live += p != NULL;
    return p;
}

void *realloc(void *old, size_t size)
{
    NEXT(void *, realloc, void *, size_t)
    void *const p = fails("memory") ? NULL : next(old, size);
    live += !old && p;
    return p;
}

void free(void *p)
{
    NEXT(void, free, void *)
    live -= p != NULL;
    next(p);
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

// Threads are only started where there is more than one core.
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *cores)
{
    (void)process;
    CPU_ZERO_S(size, cores);
    CPU_SET_S(0, size, cores);
    CPU_SET_S(1, size, cores);
    return 0;
}

// ---- system calls: seccomp turns one kind of call into a signal, whose handler makes the call or lets it fail

#ifdef __x86_64__
static const struct {
    const char *name;
    long number;
} calls[] = {{"read", SYS_read},     {"write", SYS_write},       {"openat", SYS_openat},       {"mmap", SYS_mmap},
             {"lseek", SYS_lseek},   {"fstat", SYS_newfstatat},  {"fcntl", SYS_fcntl},         {"rename", SYS_rename},
             {"unlink", SYS_unlink}, {"readlink", SYS_readlink}, {"fchmod", SYS_fchmod},       {"munmap", SYS_munmap},
             {"close", SYS_close},   {"ioctl", SYS_ioctl},       {"getdents", SYS_getdents64}, {"madvise", SYS_madvise},
             {"pread", SYS_pread64}};

static void trapped(int signal, siginfo_t *info, void *context)
{
    greg_t *const r = ((ucontext_t *)context)->uc_mcontext.gregs;
    static atomic_int full = -1; // descriptor of a failed write, to which later writes fail, too
    const int before = errno;
    (void)signal;
    (void)info;
    long result = -1;
    errno = error;
    const bool fail = (r[REG_RAX] == SYS_write && r[REG_RDI] == full) || fails(name);
    if (fail && error && error != EINTR && r[REG_RAX] == SYS_write)
        full = (int)r[REG_RDI];
    if (fail && !error) // half of the bytes
        r[REG_RDX] = (r[REG_RDX] + 1) / 2;
    if (!fail || !error)
        result = syscall(r[REG_RAX], r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
    r[REG_RAX] = result < 0 ? -errno : result;
    errno = before;
}

static void trap(const char *call)
{
    const struct sigaction handler = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    const uintptr_t own = (uintptr_t)syscall; // calls from within this function are allowed
    enum { NUMBER = offsetof(struct seccomp_data, nr), PLACE = offsetof(struct seccomp_data, instruction_pointer) };
    long number = -1;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, call))
            number = calls[i].number;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NUMBER),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, PLACE),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)own, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)own + 64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (number < 0 || sigaction(SIGSYS, &handler, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}
#else
static void trap(const char *call)
{
    fprintf(stderr, "inject.c: sys_%s needs x86-64\n", call);
    abort();
}
#endif
