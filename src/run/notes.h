// SPDX-License-Identifier: MIT
// Notes on the settings of a run, and on what is special in its rows.
#ifndef SAMPL_RUN_NOTES_H
#define SAMPL_RUN_NOTES_H

#include "run/totals.h"
#include "views/view.h"

// Called before the rows.
void note_settings(const struct job *j);

// Called for each row that is shown: prints the notes that are not in the set *noted, and adds them to it. width: of
// the row.
void note_seen(const struct job *j, unsigned *noted, const struct seen *s, size_t width);

// Called for each row that is not shown: keeps what the notes on later rows depend on.
void note_unseen(unsigned *noted, const struct seen *s);

// Called after the last row: notes that rows of --rows lie behind it.
void note_rows_beyond(const struct job *j);

// Notes how many outcomes of lists are not exact, in the chain that needs the longest list, and how long it must be.
void note_partial(const struct job *j, const struct totals *t);

#endif
