// SPDX-License-Identifier: MIT
#include "trace/repeats.h"

#include <stdlib.h>
#include <string.h>

void repeats_free(struct repeats *r)
{
    free(r->window);
    free(r->end);
    hash_free(&r->places);
    *r = (struct repeats){0};
}

// Counts a run, and puts it into the window, in place of the oldest one, unless it is there.
static bool count_run(struct repeats *r, const struct token_run *run)
{
    const uint32_t hash = hash_bytes(run, sizeof *run);
    r->runs++;
    for (size_t at = hash, i; (i = hash_next(&r->places, hash, &at)) != HASH_NONE;)
        if (!memcmp(&r->window[i], run, sizeof *run)) {
            r->repeated++;
            return true;
        }
    struct token_run *const oldest = &r->window[r->next];
    if (r->n == REPEATS_WINDOW)
        hash_remove(&r->places, hash_bytes(oldest, sizeof *oldest), (uint32_t)r->next);
    else
        r->n++;
    *oldest = *run;
    const size_t place = r->next;
    r->next = (r->next + 1) % REPEATS_WINDOW;
    return hash_add(&r->places, hash, (uint32_t)place);
}

bool repeats_add(struct repeats *r, uint64_t sequence, bool begins, bool ends, uint32_t id)
{
    if (!r->window && (!(r->window = calloc(REPEATS_WINDOW, sizeof *r->window)) ||
                       !(r->end = calloc(REPEATS_SEQUENCES, sizeof *r->end))))
        return false;
    struct sequence_end *const end = &r->end[sequence % REPEATS_SEQUENCES];
    if (begins || end->key != sequence)
        *end = (struct sequence_end){.key = sequence};
    bool ok = true;
    if (end->n == REPEATS_LENGTH - 1) {
        struct token_run run;
        memcpy(run.id, end->id, sizeof end->id);
        run.id[REPEATS_LENGTH - 1] = id;
        ok = count_run(r, &run);
        memmove(end->id, end->id + 1, sizeof end->id - sizeof *end->id);
        end->n--;
    }
    end->id[end->n++] = id;
    if (ends)
        end->n = 0;
    return ok;
}

void repeats_break(struct repeats *r, uint64_t sequence)
{
    struct sequence_end *const end = r->end ? &r->end[sequence % REPEATS_SEQUENCES] : NULL;
    if (end && end->key == sequence)
        end->n = 0;
}
