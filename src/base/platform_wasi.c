// SPDX-License-Identifier: MIT
// WebAssembly with the system interface WASI, preview 1: no threads, no signals. The files stand below one folder, /.
#include "base/platform.h"

#ifdef __wasi__

#include <stdlib.h>
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

size_t platform_cores(void) { return 1; }

bool platform_maps(void) { return false; }

// Memory grows in units of this size.
size_t platform_page(void) { return 65536; }

void platform_has_read(void *bytes, size_t n) {}

void platform_on_signals(void (*act)(void)) {}

bool platform_near_program(const char *from, char path[PATH_MAX]) { return false; }

int platform_columns(int fd) { return 0; }

bool platform_utf8(void) { return true; }

// WASI's poll would wait for a pipe. The program therefore answers before each read that is not of a file.
bool platform_would_wait(int fd)
{
    struct stat st;
    return fstat(fd, &st) || !S_ISREG(st.st_mode);
}

#endif
