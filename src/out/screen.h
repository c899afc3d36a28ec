// SPDX-License-Identifier: MIT
// The window of a terminal: its width, its abilities, and lines folded to its width.
#ifndef SAMPL_OUT_SCREEN_H
#define SAMPL_OUT_SCREEN_H

#include "base/builder.h"

#include <stdbool.h>
#include <stddef.h>

enum { SCREEN_USUAL = 80, SCREEN_INDENT = 4 }; // columns of a window of unknown width; of the parts of a folded line

struct screen {
    int columns; // 0: no window; lines may have any length
    bool utf8;   // it can show more than ASCII
    bool color;  // colours are wanted
    bool dumb;   // it understands no escape sequences
};

// Returns the window that a descriptor leads to. The terminal and the environment (COLUMNS, NO_COLOR, TERM, the locale)
// decide what it can do.
struct screen screen_of(int fd);

// Colours that are readable on white and on black, and for readers who do not tell red from green.
#define COLOR_BLUE   "\033[38;5;63m"
#define COLOR_ORANGE "\033[38;5;130m"
#define COLOR_NONE   "\033[39m"

// Adds lines, which may have colours, to b. Folds lines that are longer than the window, within quotes only if there is
// no other place.
void screen_fold(struct builder *b, const char *text, size_t len, int columns);

#endif
