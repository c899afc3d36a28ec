// SPDX-License-Identifier: MIT
// The window that people look through: how wide it is, what it can show, and lines that fit into it.
#ifndef SAMPL_OUT_SCREEN_H
#define SAMPL_OUT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct screen {
    int columns; // 0: there is none, and lines may be as long as they like
    bool utf8;   // can show more than ASCII
    bool color;  // is to show colours
    bool dumb;   // takes no escape sequences at all
};

// The screen that a descriptor leads to, by the environment (COLUMNS, NO_COLOR, TERM, the locale) and the terminal.
struct screen screen_of(int fd);

// Colours that can be read on white and on black, and by those who see red as green.
#define COLOR_BLUE   "\033[38;5;63m"
#define COLOR_ORANGE "\033[38;5;130m"
#define COLOR_NONE   "\033[39m"

// Writes lines, which may have colours, and folds those that are longer than the window, within quotes only if they
// must.
void screen_fold(FILE *f, const char *text, size_t len, int columns);

// A bar of share (0 to 1) times `cells`, and blanks up to that many if it is to be filled up.
void screen_bar(FILE *f, const struct screen *s, double share, int cells, bool fill);

#endif
