// SPDX-License-Identifier: MIT
// WebAssembly with the system interface WASI, preview 1: no threads, no signals. The files stand below one folder, /.
#include "base/platform.h"

#ifdef __wasi__

#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

// WASI has no locales. A browser names none, and its text is UTF-8; npm's package passes the environment of the shell.
bool platform_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const name = getenv(variables[i]), *const charset = name ? strchr(name, '.') : NULL;
        if (name && *name)
            return charset ? !strncasecmp(charset + 1, "utf", 3) : strcmp(name, "C") && strcmp(name, "POSIX");
    }
    return true;
}

// WASI's poll would wait for a pipe. The program therefore answers before each read that is not of a file.
bool platform_would_wait(int fd)
{
    struct stat st;
    return fstat(fd, &st) || !S_ISREG(st.st_mode);
}

#endif
