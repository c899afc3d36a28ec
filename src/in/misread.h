// SPDX-License-Identifier: MIT
// Notes on rows that were probably read in another way than they were written.
#ifndef SAMPL_IN_MISREAD_H
#define SAMPL_IN_MISREAD_H

#include "base/note.h"
#include "in/input.h"

// The notes of a run so far. A zeroed struct is ready; builder_free frees its notes.
struct misread {
    bool vocabulary;      // the sizes of the vocabulary and of a row were compared
    struct builder notes; // to print
};

// Adds notes, once each: at the first row of a raw file, that rows of this width leave numbers at the end; and that the
// vocabulary (NULL: none) is too small for a dense row. width: of the row, also if it is lazy.
void misread_note(struct misread *m, const struct vocab *vocab, const struct input_row *row, size_t width);

#endif
