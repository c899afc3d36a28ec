// SPDX-License-Identifier: MIT
// Services that each system has in its own way: Linux's way, and one that needs only POSIX, which make
// PORTABLE=1 takes everywhere.
#ifndef SAMPL_BASE_PLATFORM_H
#define SAMPL_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#ifdef __APPLE__
#include <xlocale.h> // nl_langinfo_l, which POSIX has in langinfo.h
#endif

// Fills n bytes, 256 at most, with random bits of the system's. False when there are none to be had.
bool platform_random(void *bytes, size_t n);

// How many cores there are, without those that this process may not use where the system tells; at least 1.
size_t platform_cores(void);

// Advice on a mapped file, from a page's start on: it is read from its begin to its end; it is not read again, and need
// hold no memory.
void platform_reads_on(void *bytes, size_t n);
void platform_has_read(void *bytes, size_t n);

#endif
