#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The scripts of samples/tune.
load helper

MATCH=$ROOT/samples/tune/match.sh PARETO=$ROOT/samples/tune/pareto.sh

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export SAMPL
    AUSTEN=("$ROOT/samples/austen.f16" -n 4096 --accept "@$ROOT/samples/austen.tokens")
}

@test "match.sh finds the values at which a column has the value that is asked for" {
    "$MATCH" lost=.05 'top-p min-p top-nsigma=0.1:5' "${AUSTEN[@]}" -O json >table 2>err
    [ ! -s err ]
    jq -es 'length == 4 and all(.[1:][]; (.lost - .05 | fabs) < 1.01 / 256)' table
    jq -es '[.[1:][].options | capture("--neutral --(?<name>[^=]*)=").name] == ["top-p", "min-p", "top-nsigma"]' table
}

# Under top-k, `kept` is the value itself: 20.4 lies between two values.
@test "match.sh takes whole numbers for top-k, and the value that is nearest to a jump" {
    "$MATCH" kept=20 'top-k' "${AUSTEN[@]}" -O json >table
    jq -es '.[1].options == "--neutral --top-k=20" and .[1].kept == 20' table
    "$MATCH" kept=20.4 'top-k' "${AUSTEN[@]}" -O json >table
    jq -es '.[1].options == "--neutral --top-k=20"' table
}

@test "match.sh takes an option whose column falls as its value rises" {
    "$MATCH" mass=.7 'min-p top-p' "${AUSTEN[@]}" -O json >table
    jq -es 'all(.[1:][]; (.mass - .7 | fabs) < .005)' table
}

@test "match.sh names a wrong column, a wrong target and sampl's own errors" {
    run -2 "$MATCH" loss=.05 top-p "${AUSTEN[@]}"
    [[ $output == *"the table has no column 'loss'"* ]]
    run -2 "$MATCH" lost top-p "${AUSTEN[@]}"
    [[ $output == *"'lost=lost' is not COLUMN=VALUE"* ]]
    run ! "$MATCH" kept=2 nucleus "${AUSTEN[@]}"
    [[ $output == *nucleus* ]]
    run -2 "$MATCH" kept=2
    [[ $output == usage:* ]]
}

@test "pareto.sh prints a block for each option, with the numbers of --sweep" {
    "$PARETO" kept lost 'top-p=0.5,0.9 top-k=2:6:2' "${AUSTEN[@]}" >curves
    [ "$(grep -c . curves)" -eq 7 ]
    [ "$(sed -n 1p curves)" = $'top-p\tkept\tlost\tkept_se\tlost_se' ]
    [ "$(awk 'NF == 0' curves | wc -l)" -eq 2 ]
    "$SAMPL" "${AUSTEN[@]}" -s 1 --neutral --sweep top-k=2:6:2 -O json |
        jq -r 'select(.swept != {}) | [.swept["top-k"], .kept, .lost, .kept_se, .lost_se] | @tsv' >want
    tail -n 3 curves | diff - want
    run -2 "$PARETO" kept loss top-k=2 "${AUSTEN[@]}"
    [[ $output == *"loss is no column"* ]]
    run -2 "$PARETO" kept lost top-k "${AUSTEN[@]}"
    [[ $output == *"'top-k' is not OPTION=LIST"* ]]
}
