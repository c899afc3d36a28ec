// SPDX-License-Identifier: MIT
#include "run/serial.h"

static bool one(struct worker *w, const struct input_row *row, struct sink *sink, struct result *res, struct err *e)
{
    const bool ok = worker_row(w, row, res, e);
    return sink_take(sink, row, res, ok, e);
}

static bool rest(struct worker *w, struct input *in, struct sink *sink, struct result *res, struct err *e)
{
    for (;;) {
        struct input_row row = {0};
        bool end;
        input_release(in);
        const bool read = input_next(in, &row, &end, e);
        if (!read && !row.bad)
            return false;
        if (end)
            return true;
        if (!one(w, &row, sink, res, e))
            return false;
    }
}

bool serial_run(struct worker *w, struct input *in, struct sink *sink, const struct input_row *first, struct err *e)
{
    struct result res = {0};
    const bool ok = (!first || one(w, first, sink, &res, e)) && rest(w, in, sink, &res, e);
    result_free(&res);
    return ok;
}
