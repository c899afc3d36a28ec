// SPDX-License-Identifier: MIT
#include "in/misread.h"

// Notes at the first row of a raw file that rows of this width leave numbers at the end. A part of a number is no
// question of the width: the file was cut.
static void note_ragged(const struct input_row *row, size_t width, struct builder *notes)
{
    const size_t size = dtype_size(row->logits.type), bytes = width * size;
    if (row->ragged && !(row->ragged % size))
        note_add(notes, NOTE_PLAIN, "%s: rows of %zu numbers leave %zu bytes at the end%s", row->file, width,
                 row->ragged, size == 4 && row->ragged == bytes / 2 ? "; -f f16 leaves none" : "; is --n-vocab right?");
}

// Notes once that the vocabulary has at most half as many tokens as a dense row.
static void note_small_vocabulary(struct misread *m, const struct vocab *v, const struct input_row *row)
{
    if (!v || m->vocabulary || row->logits.ids || row->bad || row->text)
        return;
    m->vocabulary = true;
    if (2 * v->n <= row->logits.n)
        note_add(&m->notes, NOTE_PLAIN,
                 "--vocab: rows have %zu tokens, the vocabulary has %zu; do they belong together?", row->logits.n,
                 v->n);
}

void misread_note(struct misread *m, const struct vocab *vocab, const struct input_row *row, size_t width)
{
    note_ragged(row, width, &m->notes);
    note_small_vocabulary(m, vocab, row);
}
