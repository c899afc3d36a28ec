// SPDX-License-Identifier: MIT
// The services in which systems differ. platform.c has them for POSIX, with Linux's own calls where they are better
// (make PORTABLE=1 leaves these out); platform_wasi.c for WebAssembly; platform_windows.c for Windows, with the POSIX
// functions that it lacks in platform_windows_posix.c; platform_common.c what these two have in common. No other file
// asks which system it is built for.
#ifndef SAMPL_BASE_PLATFORM_H
#define SAMPL_BASE_PLATFORM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

// Returns the kind of the build: "native" or "wasm".
const char *platform_build(void);

// Fills n bytes, 256 at most, with random bits of the system. False if the system has none.
bool platform_random(void *bytes, size_t n);

// Returns how many cores there are, at least 1. Cores that this process may not use do not count if the system knows.
size_t platform_cores(void);

// Calls work(arg) on a stack of at least so many bytes: in a thread, if the system limits the stack (ulimit -s) to
// fewer. False if the thread cannot be started.
bool platform_with_stack(size_t bytes, void *(*work)(void *), void *arg);

// ---- mapped files

// Returns whether a map reads its file when a page is touched. Else it would be a copy of the file.
bool platform_maps(void);

// Returns the size of a page of memory in bytes.
size_t platform_page(void);

// Advice on a mapped file, from the start of a page: reads_on says that the bytes will be read in order; has_read says
// that they will not be read again, and need hold no memory.
void platform_reads_on(void *bytes, size_t n);
void platform_has_read(void *bytes, size_t n);

// Calls act(arg). Returns false if act read a page behind the new end of a mapped file that became shorter; *at is then
// the address, and act did not end. Each thread may be inside of one call.
bool platform_guard(void (*act)(void *arg), void *arg, const void **at);

// From now on, calls `end` for such a read outside of platform_guard, with the address. `end` must not return.
void platform_on_shrunk(void (*end)(const void *at));

// ---- files and signals

// From now on, calls `act` when a signal ends the program, unless the signal is ignored or has another handler.
void platform_on_signals(void (*act)(void));

// Makes a new file. Its name ends in XXXXXX, which random letters replace. Returns its descriptor; -1 and errno if that
// fails. Signals are blocked until *unfinished is the name and platform_on_signals(act) has been called.
int platform_temporary(char *name, char *volatile *unfinished, void (*act)(void));

// Returns whether errno says that nobody reads the pipe that was written to.
bool platform_pipe_closed(void);

// Gives a new file the permissions of the file `like`, without setuid and setgid. NULL: the permissions that files made
// by open() have.
void platform_permissions(int fd, const char *like);

// Returns whether reading from a descriptor would wait for another program or for a person.
bool platform_would_wait(int fd);

// Returns whether writing a short text to a descriptor would wait for its reader.
bool platform_would_block(int fd);

// Writes the real path of a file to path. `from` is relative to the folder of the program. False if there is no such
// file, or if the system does not know where the program is.
bool platform_near_program(const char *from, char path[PATH_MAX]);

// Makes the separators between folders slashes, in a path that the system also understands with slashes.
void platform_slashes(char *path);

// Writes the folder of the user's settings to path; "" if the path is unknown or too long.
void platform_settings(char path[PATH_MAX]);

// ---- terminals

// Returns the width of the terminal; 0: unknown.
int platform_columns(int fd);

// Returns whether the character set of the user's locale is UTF-8. The locale of the program does not change.
bool platform_utf8(void);

// Returns whether this process may write on the terminal. A process in the background may not.
bool platform_in_front(int fd);

#endif
