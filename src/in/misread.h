// SPDX-License-Identifier: MIT
// Notes on rows that were probably read in another way than they were written.
#ifndef SAMPL_IN_MISREAD_H
#define SAMPL_IN_MISREAD_H

#include "base/note.h"
#include "in/input.h"

// The notes of a run so far. A zeroed struct is ready; builder_free frees its notes.
struct misread {
    bool type;            // the type of a row was examined
    bool texts;           // the texts of a reply and of the vocabulary were compared
    bool own_texts;       // most of them differed
    bool vocabulary;      // the sizes of the vocabulary and of a row were compared
    struct builder notes; // to print
};

// Adds notes, once each: at the first row of a raw file, that rows of this width leave numbers at the end; at the first
// raw row, that its numbers have another type; and that the vocabulary (NULL: none) is too small for a dense row.
// width: of the row, also if it is returned as text.
void misread_note(struct misread *m, const struct vocab *vocab, const struct input_row *row, size_t width);

// Compares the texts of a row's tokens in a reply with those of the vocabulary, until a row has texts. Returns whether
// most of them differed; a note then says so, once.
bool misread_texts(struct misread *m, const struct vocab *vocab, const struct vocab *texts,
                   const struct input_row *row);

#endif
