// SPDX-License-Identifier: MIT
// POSIX functions that Windows lacks, or has in another form. The Makefile includes this file before each source of a
// program for Windows. Paths are UTF-8, with / or \ between folders; /dev/null is NUL,
// and /dev/stdin, /dev/stdout and /dev/stderr are the streams of the program. Functions return -1, or NULL,
// and set errno, as POSIX says. base/platform_windows_posix.c defines them.
#ifndef SAMPL_BASE_WINDOWS_POSIX_H
#define SAMPL_BASE_WINDOWS_POSIX_H

#include <dirent.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#undef PATH_MAX
#define PATH_MAX 4096 // bytes of UTF-8

#ifndef NAME_MAX
#define NAME_MAX 259 // as struct dirent has it
#endif

#define O_CLOEXEC _O_NOINHERIT
#define F_GETFD   1
#define F_GETFL   3
#ifndef O_APPEND
#define O_APPEND _O_APPEND
#endif
#ifndef ELOOP
#define ELOOP 114
#endif

#undef stat
#undef fstat
#define stat   windows_stat
#define fstat  windows_fstat
#define open   windows_open
#define fopen  windows_fopen
#define read   windows_read
#define access windows_access
#define unlink windows_unlink
#define rename windows_rename
#define isatty windows_isatty
#define fcntl  windows_fcntl
#define main   windows_main // the main() of platform_windows_posix.c calls it

#define putc_unlocked _fputc_nolock

// Writes a path as UTF-16. False and errno if that fails.
_Bool windows_path(const char *path, wchar_t wide[PATH_MAX]);

struct windows_stat {
    unsigned st_mode; // only the kind of the file
    int64_t st_size;
};

int windows_stat(const char *path, struct windows_stat *st);
int windows_fstat(int fd, struct windows_stat *st);
int windows_open(const char *path, int flags, ...);
FILE *windows_fopen(const char *path, const char *mode);
ssize_t windows_read(int fd, void *to, size_t n);
int windows_access(const char *path, int mode);
int windows_unlink(const char *path);
int windows_rename(const char *from, const char *to);

// Returns true if fd is a console. NUL is none.
int windows_isatty(int fd);

// F_GETFD and F_GETFL only: fails if fd is closed, and knows no flags.
int windows_fcntl(int fd, int what, ...);

char *strndup(const char *s, size_t n);
char *stpcpy(char *to, const char *from);

// Fails, as if no file were a link: Windows follows links itself.
ssize_t readlink(const char *path, char *to, size_t n);

int scandir(const char *folder, struct dirent ***entries, int (*want)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);

#endif
