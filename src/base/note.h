// SPDX-License-Identifier: MIT
// Notes and warnings as values. The core cannot print: it appends them to a text, which the program prints and clears.
#ifndef SAMPL_BASE_NOTE_H
#define SAMPL_BASE_NOTE_H

#include "base/builder.h"

// The first byte of each entry of such a text. The note or warning follows, then a NUL.
enum note_kind { NOTE_PLAIN = 'n', NOTE_WARNING = 'w' };

// Appends an entry, shortened as the text of an error is (err_text).
__attribute__((format(printf, 3, 4))) void note_add(struct builder *notes, enum note_kind kind, const char *format,
                                                    ...);

// Moves all entries to the end of another text.
void notes_move(struct builder *to, struct builder *from);

#endif
