// SPDX-License-Identifier: MIT
// POSIX, and Linux.
#include "base/platform.h"

#ifndef _WIN32 // WebAssembly, too

#include <errno.h>
#include <stdlib.h>

bool platform_pipe_closed(void) { return errno == EPIPE; }

void platform_slashes(char *path) {}

void platform_settings(char path[PATH_MAX])
{
    const char *const config = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");
    const int len = config && *config ? snprintf(path, PATH_MAX, "%s", config)
                                      : snprintf(path, PATH_MAX, "%s/.config", home ? home : "");
    if (len < 0 || len >= PATH_MAX)
        *path = '\0';
}

#endif

#if !defined __wasi__ && !defined _WIN32

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h> // nl_langinfo_l, which POSIX has in langinfo.h
#endif

const char *platform_build(void) { return "native"; }

#if defined __linux__ && !defined SAMPL_PORTABLE

#include <sched.h>
#include <sys/random.h>

bool platform_random(void *bytes, size_t n) { return getrandom(bytes, n, 0) == (ssize_t)n; }

size_t platform_cores(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof cores, &cores) ? 1 : (size_t)CPU_COUNT(&cores);
}

// posix_madvise would not release memory here.
void platform_reads_on(void *bytes, size_t n) { madvise(bytes, n, MADV_SEQUENTIAL); }

void platform_has_read(void *bytes, size_t n) { madvise(bytes, n, MADV_DONTNEED); }

#else

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

bool platform_with_stack(size_t bytes, void *(*work)(void *), void *arg)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    pthread_t thread;
    // rlim_t is signed on FreeBSD.
    if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur == RLIM_INFINITY || (uintmax_t)limit.rlim_cur >= bytes) {
        work(arg);
        return true;
    }
    if (pthread_attr_init(&attributes))
        return false;
    const bool runs =
        !pthread_attr_setstacksize(&attributes, bytes) && !pthread_create(&thread, &attributes, work, arg);
    pthread_attr_destroy(&attributes);
    if (runs)
        pthread_join(thread, NULL);
    return runs;
}

bool platform_maps(void) { return true; }

size_t platform_page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

// ---- mapped files that become shorter

// Where the guarded part of a thread began; the address of the read that ended it.
static _Thread_local sigjmp_buf *guard;
static _Thread_local const void *fault_at;

static void (*on_shrunk)(const void *at);

static void page_is_gone(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    fault_at = info->si_addr;
    if (guard)
        siglongjmp(*guard, 1);
    on_shrunk(fault_at);
}

bool platform_guard(void (*act)(void *arg), void *arg, const void **at)
{
    sigjmp_buf here, *const outer = guard;
    if (sigsetjmp(here, 1) == 0) {
        guard = &here;
        act(arg);
        guard = outer;
        return true;
    }
    guard = outer;
    *at = fault_at;
    return false;
}

void platform_on_shrunk(void (*end)(const void *at))
{
    on_shrunk = end;
    sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = page_is_gone, .sa_flags = SA_SIGINFO}, NULL);
}

// ---- files and signals

static void (*on_signal)(void);

static void signal_ends(int signal)
{
    on_signal();
    raise(signal); // SA_RESETHAND has restored the default action
}

// Sets the handler of a signal, unless it is ignored or has another handler.
static void catch_signal(int signal)
{
    const struct sigaction handler = {.sa_handler = signal_ends, .sa_flags = (int)SA_RESETHAND};
    struct sigaction old;
    if (!sigaction(signal, NULL, &old) && old.sa_handler == SIG_DFL)
        sigaction(signal, &handler, NULL);
}

void platform_on_signals(void (*act)(void))
{
    static const int deadly[] = {
        SIGHUP,    SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,   SIGFPE,  SIGBUS,  SIGSEGV, SIGSYS,
        SIGPIPE,   SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ,
#ifdef __linux__ // elsewhere SIGIO is ignored
        SIGIO,     SIGPWR,
#endif
#ifdef SIGSTKFLT
        SIGSTKFLT,
#endif
    };
    on_signal = act;
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        catch_signal(deadly[i]);
#ifdef SIGRTMIN
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++)
        catch_signal(signal);
#endif
}

int platform_temporary(char *name, char *volatile *unfinished, void (*act)(void))
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const int fd = mkstemp(name);
    if (fd >= 0) {
        platform_on_signals(act);
        *unfinished = name;
    }
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

void platform_permissions(int fd, const char *like)
{
    struct stat st;
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, like && !stat(like, &st) ? st.st_mode & 0777 : 0666 & ~mask);
}

bool platform_near_program(const char *from, char path[PATH_MAX])
{
    char self[PATH_MAX] = "";
    const ssize_t len = readlink("/proc/self/exe", self, sizeof self);
    char *const slash = len < PATH_MAX ? strrchr(self, '/') : NULL;
    const size_t left = slash ? sizeof self - (size_t)(slash - self) : 0;
    return slash && (size_t)snprintf(slash, left, "/%s", from) < left && realpath(self, path);
}

// ---- terminals

int platform_columns(int fd)
{
    struct winsize w = {0};
    return ioctl(fd, TIOCGWINSZ, &w) ? 0 : w.ws_col;
}

bool platform_utf8(void)
{
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
    if (locale)
        freelocale(locale);
    return utf8;
}

bool platform_would_wait(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return !poll(&p, 1, 0);
}

bool platform_would_block(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return !poll(&p, 1, 0);
}

bool platform_in_front(int fd)
{
    const pid_t front = tcgetpgrp(fd);
    return front < 0 || front == getpgrp();
}

#endif
