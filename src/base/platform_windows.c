// SPDX-License-Identifier: MIT
// Windows 10 and later. The POSIX functions that other files call are in platform_windows_posix.c.
#include "base/platform.h"

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// windows.h first
#include <bcrypt.h>
#include <errno.h>
#include <io.h>
#include <stdint.h>
#include <stdlib.h>

const char *platform_build(void) { return "native"; }

bool platform_random(void *bytes, size_t n)
{
    return BCryptGenRandom(NULL, bytes, (ULONG)n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

bool platform_with_stack(size_t bytes, void *(*work)(void *), void *arg)
{
    (void)bytes;
    work(arg);
    return true;
}

// A process without its own mask of cores may use those of its group, 64 at most.
size_t platform_cores(void)
{
    DWORD_PTR own, all;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all) || !own)
        return 1;
    return (size_t)__builtin_popcountll(own);
}

// ---- mapped files

bool platform_maps(void) { return true; }

size_t platform_page(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

// Windows reads ahead without advice.
void platform_reads_on(void *bytes, size_t n) {}

// VirtualUnlock fails for pages that are not locked, and removes them from the memory of the process.
void platform_has_read(void *bytes, size_t n) { VirtualUnlock(bytes, n); }

// Windows lets nobody shorten a file that is mapped.
bool platform_guard(void (*act)(void *arg), void *arg, const void **at)
{
    act(arg);
    return true;
}

void platform_on_shrunk(void (*end)(const void *at)) {}

// ---- files and signals

static void (*on_end)(void);

// Called in a thread of the system for Ctrl-C, for a window that is closed, and for the end of the user's session.
static BOOL WINAPI console_ends(DWORD event)
{
    on_end();
    return FALSE; // the next handler ends the program
}

void platform_on_signals(void (*act)(void))
{
    if (!on_end)
        SetConsoleCtrlHandler(console_ends, TRUE);
    on_end = act;
}

// The file may be deleted while it is open, so that the handler of Ctrl-C can delete it.
static int create_new(const wchar_t *name)
{
    const HANDLE file =
        CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        const DWORD error = GetLastError();
        errno = error == ERROR_FILE_EXISTS                                     ? EEXIST
                : error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME ? ENOENT
                                                                               : EACCES;
        return -1;
    }
    return _open_osfhandle((intptr_t)file, _O_RDWR | _O_BINARY | _O_NOINHERIT);
}

int platform_temporary(char *name, char *volatile *unfinished, void (*act)(void))
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    enum { RANDOM = 6, TRIES = 100 };
    char *const end = name + strlen(name) - RANDOM;
    wchar_t wide[PATH_MAX];
    platform_on_signals(act);
    for (int i = 0; i < TRIES; i++) {
        unsigned char bits[RANDOM];
        if (!platform_random(bits, sizeof bits))
            return -1;
        for (size_t k = 0; k < RANDOM; k++)
            end[k] = letters[bits[k] % 32];
        if (!windows_path(name, wide))
            return -1;
        const int fd = create_new(wide);
        if (fd >= 0)
            *unfinished = name;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

// The C library has no errno for some errors of pipes.
bool platform_pipe_closed(void)
{
    const unsigned long error = _doserrno;
    return errno == EPIPE || (errno == EINVAL && (error == ERROR_NO_DATA || error == ERROR_PIPE_NOT_CONNECTED));
}

// The folder decides who may read a new file.
void platform_permissions(int fd, const char *like) {}

void platform_slashes(char *path)
{
    for (; *path; path++)
        *path = *path == '\\' ? '/' : *path;
}

// Writes UTF-16 as UTF-8, with slashes. False if there is no room.
static bool put_path(const wchar_t *from, char path[PATH_MAX])
{
    if (!WideCharToMultiByte(CP_UTF8, 0, from, -1, path, PATH_MAX, NULL, NULL))
        return false;
    platform_slashes(path);
    return true;
}

bool platform_near_program(const char *from, char path[PATH_MAX])
{
    wchar_t self[PATH_MAX], whole[PATH_MAX];
    char name[PATH_MAX];
    struct stat st;
    const DWORD len = GetModuleFileNameW(NULL, self, PATH_MAX);
    if (!len || len == PATH_MAX || !put_path(self, name))
        return false;
    char *const slash = strrchr(name, '/');
    const size_t left = slash ? sizeof name - (size_t)(slash - name) : 0;
    if (!slash || (size_t)snprintf(slash, left, "/%s", from) >= left || !windows_path(name, self))
        return false;
    const DWORD n = GetFullPathNameW(self, PATH_MAX, whole, NULL);
    return n && n < PATH_MAX && put_path(whole, path) && !stat(path, &st);
}

void platform_settings(char path[PATH_MAX])
{
    const wchar_t *const config = _wgetenv(L"XDG_CONFIG_HOME"), *const data = _wgetenv(L"APPDATA");
    const wchar_t *const folder = config && *config ? config : data;
    if (!folder || !put_path(folder, path))
        *path = '\0';
}

// ---- terminals

int platform_columns(int fd)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &info))
        return 0;
    return info.srWindow.Right - info.srWindow.Left + 1;
}

bool platform_utf8(void) { return GetConsoleOutputCP() == CP_UTF8; }

// Only a pipe tells.
bool platform_would_wait(int fd)
{
    DWORD there = 0;
    return PeekNamedPipe((HANDLE)_get_osfhandle(fd), NULL, 0, NULL, &there, NULL) && !there;
}

bool platform_would_block(int fd) { return false; }

bool platform_in_front(int fd) { return true; }

#endif
