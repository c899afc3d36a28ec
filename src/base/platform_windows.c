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

// VirtualUnlock fails for pages that are not locked, and removes them from the memory of the process.
void platform_has_read(void *bytes, size_t n) { VirtualUnlock(bytes, n); }

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

// The C library has no errno for some errors of pipes.
bool platform_pipe_closed(void)
{
    const unsigned long error = _doserrno;
    return errno == EPIPE || (errno == EINVAL && (error == ERROR_NO_DATA || error == ERROR_PIPE_NOT_CONNECTED));
}

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

#endif
