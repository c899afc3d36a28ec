// SPDX-License-Identifier: MIT
// fnmatch() of POSIX, with * and ? only, for Windows.
#ifndef SAMPL_BASE_WINDOWS_FNMATCH_H
#define SAMPL_BASE_WINDOWS_FNMATCH_H

// Returns 0 if the text matches the pattern. `flags` must be 0.
int fnmatch(const char *pattern, const char *text, int flags);

#endif
