// SPDX-License-Identifier: MIT
// --emit stats: the statistics of each row, in each variant.
#include "views/record_fields.h"
#include "views/view.h"

static void statistics_heading(struct columns *c, const struct record *none) { record_all_statistics(c, none, NULL); }

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct columns *const c = self;
    const struct job *const j = c->job;
    columns_begin(c, &s->result->record, statistics_heading);
    for (size_t i = 0; i < j->variants->n; i++) {
        const struct record *const r = &s->result[i].record;
        const char *const variant = j->variants->n > 1 ? j->variants->of[i].name : NULL;
        if (r->error && !has_cells(c->dest))
            record_json_bad(c, r, "id", variant);
        else
            record_all_statistics(c, r, variant);
    }
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    columns_begin(self, NULL, statistics_heading);
    return true;
}

static unsigned pairs(const struct job *j, const struct dest *d) { return j->args->against ? RECORD_PAIRS : 0; }

const struct view view_statistics = {.name = "--emit stats",
                                     .size = sizeof(struct columns),
                                     .formats = FORMAT_CELLS | FORMAT_JSON,
                                     .prepare = columns_open,
                                     .needs = NEED_STATS,
                                     .more = pairs,
                                     .row = row,
                                     .end = end};
