// SPDX-License-Identifier: MIT
// Services that are alike on WebAssembly and Windows, which limit no stack and have neither POSIX signals nor modes of
// files.
#include "base/platform.h"

#if defined __wasi__ || defined _WIN32

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool platform_with_stack(size_t bytes, void *(*work)(void *), void *arg)
{
    (void)bytes;
    work(arg);
    return true;
}

// Windows reads ahead without advice; WebAssembly has no maps.
void platform_reads_on(void *bytes, size_t n) {}

// Windows lets nobody shorten a file that is mapped.
bool platform_guard(void (*act)(void *arg), void *arg, const void **at)
{
    act(arg);
    return true;
}

void platform_on_shrunk(void (*end)(const void *at)) {}

int platform_temporary(char *name, char *volatile *unfinished, void (*act)(void))
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    enum { RANDOM = 6, TRIES = 100 };
    char *const end = name + strlen(name) - RANDOM;
    platform_on_signals(act);
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

// The folder decides who may read a new file.
void platform_permissions(int fd, const char *like) {}

bool platform_would_block(int fd) { return false; }

bool platform_in_front(int fd) { return true; }

#endif
