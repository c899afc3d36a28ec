#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A new mode needs one file in src/views/, one line in its list and its option; a new output format of cells needs one row.
load helper

# build_with_histogram: builds a copy of the tree with one more mode and one more output format, from the objects that exist.
build_with_histogram() {
    copy_tree
    cat >tree/src/views/histogram.c <<'EOF'
// SPDX-License-Identifier: MIT
// --histogram: how many chosen tokens have a probability in each tenth of the unit interval.
#include "out/fields.h"
#include "views/view.h"

#include <inttypes.h>

enum { TENTHS = 10 };

struct histogram {
    const struct job *job;
    struct dest *dest;
    uint64_t bad, tenth[TENTHS];
};

static bool row(void *self, const struct seen *s, struct err *e)
{
    struct histogram *const v = self;
    const struct record *const r = &s->result->record;
    const size_t at = r->error ? 0 : (size_t)((double)r->chosen_p * TENTHS);
    if (r->error)
        v->bad++;
    else
        v->tenth[at < TENTHS ? at : TENTHS - 1]++;
    return true;
}

static bool end(void *self, enum ending how, struct err *e)
{
    struct histogram *const v = self;
    struct dest *const d = v->dest;
    if (d->format->kind == FORMAT_TEXT) {
        for (size_t i = 0; i < TENTHS; i++)
            builder_format(&d->text, "%.1f %6" PRIu64 "\n", (double)i / TENTHS, v->tenth[i]);
        return true;
    }
    field_int(d, "bad", (int64_t)v->bad);
    items_begin(d, "tenths");
    for (size_t i = 0; i < TENTHS; i++)
        builder_format(&d->text, i ? ",%" PRIu64 : "%" PRIu64, v->tenth[i]);
    items_end(d);
    fields_end(d, "\n");
    return true;
}

const struct view view_histogram = {.name = "--histogram",
                                    .size = sizeof(struct histogram),
                                    .formats = FORMAT_TEXT | FORMAT_JSON,
                                    .needs = LEAVE_CHOSEN_P,
                                    .pace = PACE_END,
                                    .folds = true,
                                    .row = row,
                                    .end = end};
EOF
    sed -i 's/^extern const struct view /&view_histogram, /; s/^        {a->draws, &view_draws},/        {a->histogram, \&view_histogram},\n&/' tree/src/views/views.c
    sed -i 's/^    bool stats;/    bool histogram;\n&/' tree/src/cli/args.h
    sed -i 's/^    {"stats", COMMON, OUT/    {"histogram", OUT, FLAG(histogram), .help = "count the probabilities of the chosen tokens"},\n&/' tree/src/cli/option_table.c
    printf '%s\n' 'FORMAT(md, FORMAT_CELLS, .before = "| ", .between = " | ", .behind = " |\n", .below = "---", .escaped = '"'|')" >>tree/src/out/formats.def
    build_tree
}

# tenths: reads records of -O json. Prints the object that --histogram should print of them.
tenths() {
    jq -sc '{bad: map(select(.error)) | length, tenths: [range(10) as $i |
        map(select(.error | not) | .prob * 10 | floor | if . > 9 then 9 else . end | select(. == $i)) | length]}'
}

@test "a new mode of one file, one line and one option sums up rows; a format of cells is one row" {
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # the copy is built without sanitizers
    need jq
    build_with_histogram
    local new=tree/build/sampl
    for chain in '--temp 1' '--top-k 3' '--temp 2 --min-p 0.1'; do
        # shellcheck disable=SC2086
        sampl -f f16 -n 4096 -s 3 $chain -O json "$AUSTEN" | tenths >want
        # shellcheck disable=SC2086
        $new -f f16 -n 4096 -s 3 $chain --histogram -O json "$AUSTEN" >have
        diff want have
        # shellcheck disable=SC2086
        $new -f f16 -n 4096 -s 3 $chain --histogram --threads 1 "$AUSTEN" >text
        [ "$(jq -c '.tenths[]' want)" = "$(awk '{ print $2 }' text)" ]
        [ "$(awk '{ s += $2 } END { print s }' text)" -eq "$(sampl -f f16 -n 4096 -s 3 "$AUSTEN" | wc -l)" ]
        [ "$(jq '.tenths | map(select(. > 0)) | length' want)" -ge 3 ]
    done
    printf '[1,2]\n[null,null]\n[2,1]\n' >rows
    sampl --on-error skip -s 1 -f json -O json rows 2>/dev/null | tenths >want
    run -1 --separate-stderr $new --on-error skip -s 1 -f json --histogram -O json rows
    [ "$output" = "$(cat want)" ]
    [ "$(jq .bad want)" = 1 ]
    run -2 $new --histogram -O tsv -s 1 -f json rows
    [ "$output" = 'sampl: --histogram comes as text or json' ]
    run -0 --separate-stderr $new --histogram --stats -s 1 <<<'[1,2]'
    # shellcheck disable=SC2154 # run sets it
    [[ $stderr == *'rows              1'* ]]
    run -0 $new --help=all
    [[ $output == *'--histogram '*'count the probabilities of the chosen tokens'* ]]

    # a table of Markdown has the cells of TSV
    $new -f f16 -n 4096 -s 3 --rows :9 --emit stats -O tsv "$AUSTEN" | sed 's/\t/ | /g; s/.*/| & |/' >want
    $new -f f16 -n 4096 -s 3 --rows :9 --emit stats -O md "$AUSTEN" >have
    sed -i 2d have # the rule
    diff want have
    run -0 $new -s 1 --emit stats -O md -f json <<<'{"logits":[1,2],"seq":"a|b"}'
    [[ ${lines[0]} == '| row | seq | id | prob | '* && ${lines[1]} == '| --- | --- | --- '* && ${lines[2]} == '| 0 | a\|b | '* ]]
}
