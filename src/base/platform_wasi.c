// SPDX-License-Identifier: MIT
// WebAssembly with the system interface WASI, preview 1: no threads, no signals. The files stand below one folder, /.
#include "base/platform.h"

#ifdef __wasi__

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// WASI has no current folder. Before main begins, enters the folder that PWD names.
__attribute__((constructor)) static void enter_folder(void)
{
    const char *const folder = getenv("PWD");
    if (folder)
        (void)!chdir(folder);
}

const char *platform_build(void) { return "wasm"; }

bool platform_random(void *bytes, size_t n) { return getentropy(bytes, n) == 0; }

bool platform_with_stack(size_t bytes, void *(*work)(void *), void *arg)
{
    (void)bytes;
    work(arg);
    return true;
}

size_t platform_cores(void) { return 1; }

bool platform_maps(void) { return false; }

// Memory grows in units of this size.
size_t platform_page(void) { return 65536; }

void platform_reads_on(void *bytes, size_t n) {}

void platform_has_read(void *bytes, size_t n) {}

bool platform_guard(void (*act)(void *arg), void *arg, const void **at)
{
    act(arg);
    return true;
}

void platform_on_shrunk(void (*end)(const void *at)) {}

void platform_on_signals(void (*act)(void)) {}

int platform_temporary(char *name, char *volatile *unfinished, void (*act)(void))
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    enum { RANDOM = 6, TRIES = 100 };
    char *const end = name + strlen(name) - RANDOM;
    for (int i = 0; i < TRIES; i++) {
        unsigned char bits[RANDOM];
        if (!platform_random(bits, sizeof bits))
            return -1;
        for (size_t k = 0; k < RANDOM; k++)
            end[k] = letters[bits[k] % 32];
        const int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
            *unfinished = name;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool platform_pipe_closed(void) { return errno == EPIPE; }

void platform_permissions(int fd, const char *like) {}

bool platform_near_program(const char *from, char path[PATH_MAX]) { return false; }

void platform_slashes(char *path) {}

void platform_settings(char path[PATH_MAX])
{
    const char *const config = getenv("XDG_CONFIG_HOME"), *const home = getenv("HOME");
    const int len = config && *config ? snprintf(path, PATH_MAX, "%s", config)
                                      : snprintf(path, PATH_MAX, "%s/.config", home ? home : "");
    if (len < 0 || len >= PATH_MAX)
        *path = '\0';
}

int platform_columns(int fd) { return 0; }

bool platform_utf8(void) { return true; }

// WASI's poll would wait for a pipe. The program therefore answers before each read that is not of a file.
bool platform_would_wait(int fd)
{
    struct stat st;
    return fstat(fd, &st) || !S_ISREG(st.st_mode);
}

bool platform_would_block(int fd) { return false; }
bool platform_in_front(int fd) { return true; }

#endif
