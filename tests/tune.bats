#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The scripts of samples/tune.
load helper

MATCH=$ROOT/samples/tune/match.sh PARETO=$ROOT/samples/tune/pareto.sh

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export SAMPL
    ROWS=$([ "${SAMPL_TEST_SHORT-}" ] && echo 64 || echo 256)
    AUSTEN=("$ROOT/samples/austen.f16" -n 4096 --accept "@$ROOT/samples/austen.tokens" --rows ":$ROWS")
}

@test "match.sh finds the values at which a column comes nearest to the target without exceeding it" {
    "$MATCH" lost=.05 'top-p min-p top-nsigma=0.1:5 epsilon-cutoff' "${AUSTEN[@]}" -O json >table 2>err
    [ ! -s err ]
    jq -es --argjson n "$ROWS" 'length == 4 and all(.[]; .lost <= .05 and .lost > .05 - 1.01 / $n)' table
    jq -es '[.[].name | capture("--(?<name>[^=]*)=").name] == ["top-p", "min-p", "top-nsigma", "epsilon-cutoff"]' table
    # The neutral chain's line is left out, also of tsv and text. Differences are those to the first option.
    jq -es '.[0].gain_diff == null and all(.[1:][]; .gain_diff_se > 0)' table
    "$MATCH" lost=.02 'min-p top-k' "${AUSTEN[@]}" >table
    [ "$(head -n 1 table | tr '\t' ' ')" = 'name lost lost_se gain gain_se gain_diff gain_diff_se kept' ]
    [ "$(cut -d = -f 1 table | tail -n +2 | paste -sd,)" = '--min-p,--top-k' ]
    awk -F '\t' 'NR > 1 && !($2 <= .02 && $4 > 0 && $5 > 0) { exit 1 }' table
    "$MATCH" lost=.02 'min-p top-k' "${AUSTEN[@]}" -O text --columns lost,gain -o text
    [ "$(grep -c '^--' text)" = 2 ]
    run ! grep -q '^base' text
}

@test "match.sh changes the chain of a preset, which is the base, and gives xtc-threshold its probability" {
    echo '--samplers top_k;top_p;temperature --top-k 60 --top-p .97 --temp .9' >mine.preset
    "$MATCH" lost=.06 'top-p top-k' "${AUSTEN[@]}" --preset ./mine.preset >table
    "$SAMPL" -s 1 "${AUSTEN[@]}" --preset ./mine.preset --vs "$(sed -n 3p table | cut -f 1)" -O json |
        jq -r '[.name, .lost, .gain_diff // "nan"] | @tsv' >want
    diff want <(sed -n '2p;3p' table | cut -f 1,2,6)
    [ "$(cut -f 1 table | sed 's/=.*//' | paste -sd ' ')" = 'name base --top-p --top-k' ]
    "$MATCH" lost=.06 'xtc-threshold xtc-threshold+xtc-probability=.9' "${AUSTEN[@]}" >table 2>/dev/null
    [ "$(tail -n +2 table | cut -f 1 | sed 's/=0[0-9.]*//' | paste -sd,)" = '--xtc-threshold --xtc-probability=1,--xtc-threshold --xtc-probability=.9' ]
    awk -F '\t' 'NR > 1 && !($2 > .02 && $2 <= .06) { exit 1 }' table
}

# Under top-k, `kept` is the value itself: 20.4 lies between two values.
@test "match.sh takes whole numbers for top-k, and the value below a jump" {
    "$MATCH" kept=20 'top-k' "${AUSTEN[@]}" -O json >table
    jq -es 'length == 1 and .[0].options == "--top-k=20" and .[0].kept == 20' table
    "$MATCH" kept=20.9 'top-k' "${AUSTEN[@]}" -O json >table
    jq -es '.[0].options == "--top-k=20"' table
}

# `lost` is a step function: a chain that loses no token may keep nearly all candidates, or nearly lose one.
@test "match.sh finds, among values that give the same column, the one next to those that exceed the target" {
    local name value
    "$MATCH" lost=0 'top-p min-p top-k' "${AUSTEN[@]}" >table
    while IFS=$'=\t' read -r name value _; do
        "$SAMPL" "${AUSTEN[@]}" -s 1 --neutral --vs "at: $name $value" \
            --vs "beside: $name $(awk -v v="$value" -v n="$name" 'BEGIN { print v + (n == "--top-k" ? -1 : n == "--top-p" ? -2e-6 : 2e-6) }')" \
            -O json --columns lost | jq -es '.[1].lost == 0 and .[2].lost > 0' || { echo "$name $value"; return 1; }
    done < <(tail -n +2 table)
    [ "$(wc -l <table)" = 4 ]
}

@test "match.sh takes an option whose column falls as its value rises" {
    "$MATCH" mass=.7 'min-p top-p' "${AUSTEN[@]}" -O json >table
    jq -es 'length == 2 and all(.[]; .mass <= .7 and .mass > .695)' table
}

@test "match.sh searches two options at once, or beside one that stays" {
    "$MATCH" lost=.05 'top-p top-p+temp=1.5 top-p+min-p=.2:0' "${AUSTEN[@]}" -O json >table
    jq -es '[.[].name | test("^--top-p=[.0-9]*$"), test("^--top-p=[.0-9]* --temp=1.5$"), test("^--top-p=[.0-9]* --min-p=[.0-9]*$")] | . as $a
        | $a[0] and $a[4] and $a[8]' table
    jq -es --argjson n "$ROWS" 'all(.[]; .lost <= .05 and .lost > .05 - 1.01 / $n) and .[1].entropy > .[0].entropy' table
}

# Both ranges have the place where they meet, and the value that is found.
@test "match.sh searches one option in two ranges that meet" {
    "$MATCH" entropy=3 'temp=0.5:1 temp=1:0.6 temp=1.1:1' "${AUSTEN[@]}" --rows :256 -O json >table 2>err
    jq -es 'length == 1 and .[0].entropy <= 3 and .[0].entropy > 2.99' table
    [ "$(cat err)" = 'match.sh: temp=1.1:1 does not reach 3: of the values tried, entropy is 3.66 at least' ]
}

@test "match.sh says how near an option comes that cannot reach the target" {
    # 0 switches top-h off: it loses nothing there, and most of the text beside it.
    "$SAMPL" "${AUSTEN[@]}" -s 1 --neutral --vs '--top-h 0.3' -O json | jq -r 'select(.name != "base").lost * 1000 | round / 1000' >lost
    "$MATCH" lost=.1 'top-h=0:0.3 top-k' "${AUSTEN[@]}" -O json >table 2>err
    [ "$(cat err)" = "match.sh: top-h=0:0.3 does not reach .1: of the values tried, lost is $(cat lost) at least" ]
    jq -es 'length == 1 and (.[0].name | startswith("--top-k="))' table
    run -1 "$MATCH" lost=.5 'top-p=.9:1 dry-base=1.1:2' "${AUSTEN[@]}"
    [[ ${lines[0]} == 'match.sh: top-p=.9:1 does not reach .5: of the values tried, lost is '*' at most' ]]
    [ "${lines[1]}" = 'match.sh: dry-base=1.1:2 does not reach .5: of the values tried, each one switches it off' ]
}

@test "match.sh runs the program that SAMPL names, that of its source tree, or that of the PATH" {
    mkdir -p tree/samples/tune tree/build bin
    cp "$MATCH" tree/samples/tune
    printf '#!/bin/sh\necho tree >>ran\nexec "%s" "$@"\n' "$SAMPL" >tree/build/sampl
    printf '#!/bin/sh\necho path >>ran\nexec "%s" "$@"\n' "$SAMPL" >bin/sampl
    chmod +x tree/build/sampl bin/sampl
    PATH=$PWD/bin:$PATH tree/samples/tune/match.sh kept=3 top-k "${AUSTEN[@]}" --rows :5 >table
    [ ! -e ran ] # SAMPL is set here
    SAMPL='' PATH=$PWD/bin:$PATH tree/samples/tune/match.sh kept=3 top-k "${AUSTEN[@]}" --rows :5 >table
    [ "$(sort -u ran)" = tree ]
    rm tree/build/sampl ran
    SAMPL='' PATH=$PWD/bin:$PATH tree/samples/tune/match.sh kept=3 top-k "${AUSTEN[@]}" --rows :5 >table
    [ "$(sort -u ran)" = path ]
}

@test "match.sh names a wrong column, a wrong target and sampl's own errors" {
    run -2 "$MATCH" loss=.05 top-p "${AUSTEN[@]}"
    [[ $output == *"--columns: 'loss' is not one of kept"* ]]
    run -2 "$MATCH" lost top-p "${AUSTEN[@]}"
    [[ $output == *"'lost=lost' is not COLUMN=VALUE"* ]]
    run ! "$MATCH" kept=2 nucleus "${AUSTEN[@]}"
    [[ $output == *nucleus* ]]
    run -2 "$MATCH" kept=2
    [[ $output == usage:* ]]
    run -2 "$MATCH" kept=2 top-p=.5 "${AUSTEN[@]}"
    [[ $output == "match.sh: 'top-p=.5' names no range to search" ]]
    run -2 "$MATCH" kept=2 top-p=.5:x "${AUSTEN[@]}"
    [[ $output == "match.sh: 'top-p=.5:x' names no range to search" ]]
    run -2 "$MATCH" kept=2 top-p "${AUSTEN[@]}" -O
    [[ $output == "match.sh: -O needs a value" ]]
    run -2 "$MATCH" kept=2 top-p - "${AUSTEN[@]:1}" <"$ROOT/samples/austen.f16"
    [[ $output == "match.sh: '-' is not a file that can be read many times" ]]
}

@test "match.sh says that a column has no numbers, and refuses columns that compare two chains" {
    run -1 "$MATCH" exact=.9 top-p "${AUSTEN[@]}" --rows :60
    [ "$output" = 'match.sh: top-p does not reach .9: of the values tried, none has a number for exact' ]
    run -1 "$MATCH" rows=61 top-p "${AUSTEN[@]}" --rows :60
    [ "$output" = 'match.sh: top-p does not reach 61: of the values tried, rows is 60 at most' ]
    : >empty.f16
    run -1 "$MATCH" kept=2 top-p empty.f16 -n 4096
    [[ ${lines[-1]} == 'match.sh: top-p does not reach 2: of the values tried, none has a number for kept' ]]
    # The last table compares with the first option, the search with the neutral chain.
    for column in $(few 1 same overlap js kept_diff); do
        run -2 "$MATCH" "$column"=.9 top-p "${AUSTEN[@]}"
        [ "$output" = "match.sh: $column compares two chains; COLUMN is one of a single chain" ]
    done
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
    [[ $output == *"--columns: 'loss' is not one of kept,"* ]]
    run -2 "$PARETO" kept lost top-k=2 "${AUSTEN[0]}" -n 4096
    [[ $output == *"--columns: 'lost' needs --accept" ]]
    run -2 "$PARETO" kept lost top-k "${AUSTEN[@]}"
    [[ $output == *"'top-k' is not OPTION=LIST"* ]]
    # sampl takes option names with underscores, too.
    "$PARETO" kept lost 'top_p=0.5,0.9' "${AUSTEN[@]}" | tail -n +2 | diff - <(sed -n 2,3p curves)
    "$PARETO" kept lost 'top-k=2:6:2' - "${AUSTEN[@]:1}" -f f16 <"${AUSTEN[0]}" | tail -n 3 | diff - want
    run -2 "$PARETO" kept lost 'top-p=0.5 top-k=2' - "${AUSTEN[@]:1}" -f f16 <"${AUSTEN[0]}"
    [ "$output" = "pareto.sh: '-' is not a file that each OPTION can read" ]
    local word
    for word in --vs '--vs=--temp 2' '--sweep=top-k=5' '-o' '--output=x'; do
        run -2 "$PARETO" kept e_prob top-k=2 "${AUSTEN[@]}" "$word" x
        [ "$output" = "pareto.sh: '$word' cannot be an ARGUMENT: this script sets the chains and the output" ]
        [[ $word == *-o* ]] && continue
        run -2 "$MATCH" kept=3 top-k "${AUSTEN[@]}" "$word" x
        [ "$output" = "match.sh: '$word' cannot be an ARGUMENT: this script sets the chains" ]
    done
}
