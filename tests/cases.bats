#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Runs the cases of tests/*.test: options, rows, and what the program prints. tests/README.md has their form, cases.bash reads them.
load helper
load cases

# reports STATUS OUTPUT LINE...: checks that run_cases for a file with these lines ends with this status and prints this report.
reports() {
    printf '%s\n' "${@:3}" >t.test
    run run_cases t.test
    [ "$status" = "$1" ] && [ "$output" = "$2" ] && return
    printf '%s\n' "${@:3}" "-- status $status:" "$output"
    return 1
}

# rejects NUMBER TEXT LINE...: checks that, for a file with these lines of one case, line NUMBER is reported with this text.
rejects() {
    reports 1 "t.test:$1: $2"$'\nt.test: 1 of 1 cases failed' "${@:3}"
}

@test "reader: a case that prints something else is reported with its line, its command and the difference" {
    unset SAMPL_TEST_CASE RUN_ENV
    local head=$'--- expected\n+++ printed' name=${SAMPL#"$ROOT/"}
    local emit='--emit text --samplers greedy --vocab samples/austen.gguf --rows :1'
    reports 1 "t.test:7: bad
$name --samplers greedy -l '0+9' <<<'[1,3,2] [3,\"'\\''\",1]'
$head
@@ -1,2 +1,2 @@
-1
-2
+0
+! 1 standard input: row 1: byte 11: '\"' where JSON expects a number
t.test: 1 of 3 cases failed" \
        '# good' '-s 1 --temp 0' '[1,3,2]' 1 '' \
        '# bad' "--samplers greedy -l '0+9'" "[1,3,2] [3,\"'\",1]" 1 2 '' \
        '--temp 0' '[1,3,2]' 1
    # another status and message, a last line without an end, rows of a file
    reports 1 "t.test:2: x
$name --top-k x </dev/null
$head
@@ -1 +1 @@
-! 1 --top-k: 'x' is not a whole number
+! 2 --top-k: 'x' is not a whole number from -2147483648 to 2147483647
t.test:6: x
$name $emit samples/austen.f16
$head
@@ -1 +1,2 @@
  was
+\\c
t.test: 2 of 2 cases failed" \
        '# x' '--top-k x' - "! 1 --top-k: 'x' is not a whole number" '' \
        "$emit" samples/austen.f16 ' was'
}

# shellcheck disable=SC1003,SC2059,SC2317 # run_case calls this sampl, whose options are a format of printf
@test "reader: cases can expect no output, empty lines, a last line without a newline, and other text on standard error" {
    unset SAMPL_TEST_CASE
    sampl() { printf "$@"; }
    reports 0 't.test: 0 of 4 cases failed' '# x' \
        "''" - '! 0' '' \
        "'\\n!a\\n\\\\b\\n'" - '\' '\!a' '\\b' '' \
        a - a '\c' '' \
        "'a\\n%s\\n'" - a '\'
    sampl() { printf "$@" >&2; return 3; }
    reports 0 't.test: 0 of 3 cases failed' '# x' \
        "''" - '! 3' '' \
        "'sampl: a\\nsampl: b\\n'" - '! 3 a' '! 3 b' '' \
        "'a 1\\n'" - '!! a 1' '! 3'
}

@test "reader: a line that does not have the form of a case fails with its number" {
    unset SAMPL_TEST_CASE
    local title='a case needs a title, a comment in the line above it'
    local words='the options are not words as a shell splits them'
    local parts='a case needs options, rows, and the lines that are printed or ! 0'
    local rows='rows are JSON, files or -; there is no file'
    local odd='a line that begins with ! or \ has none of the known forms'
    reports 1 't.test: the file has no case' ''
    reports 1 't.test: the file has no case' '# only' '' '# comments'
    rejects 1 "$title" '--temp 0' '[1]' 0
    rejects 3 "$title" '# of the file' '' '--temp 0' '[1]' 0
    rejects 2 "$parts" '# x' '--temp 0'
    rejects 2 "$parts" '# x' '--temp 0' '[1]'
    rejects 2 "$words" '# x' "--temp '0" '[1]' 0
    rejects 2 "$words" '# x' '--samplers top_k;temp' '[1]' 0
    # shellcheck disable=SC2016 # the command must not run
    rejects 2 "$words" '# x' '--temp "$(echo 0)"' '[1]' 0
    rejects 3 "$rows 'none.f16'" '# x' '--temp 0' 'samples/austen.f16 none.f16' 0
    rejects 3 "$rows '1,2'" '# x' '--temp 0' 1,2 0
    rejects 5 "$odd" '# x' '--temp 0' '[1]' 0 '! a note'
    rejects 4 "$odd" '# x' '--temp 0' '[1]' '\n'
    # The cases behind a malformed case run.
    reports 1 "t.test:2: $parts"$'\nt.test: 1 of 2 cases failed' '# x' '--temp 0' '[1]' '' '--temp 0' '[1]' 0
}

# shellcheck disable=SC2154 # run sets lines
@test "reader: SAMPL_TEST_CASE selects cases by title" {
    local cases=('# first title' '--temp 0' '[1]' 0 '' '--temp 0' '[1,2]' 1 '' '# second title' '--temp 0' '[1]' 9)
    SAMPL_TEST_CASE='first' reports 0 't.test: 0 of 2 cases failed' "${cases[@]}"
    SAMPL_TEST_CASE='second' run -1 run_cases t.test
    [ "${lines[-1]}" = 't.test: 1 of 1 cases failed' ]
    SAMPL_TEST_CASE='third' run -0 run_cases t.test
    [ "${lines[0]}" = 't.test: 0 of 0 cases failed' ]
}

@test "reader: make bless writes what a case prints, keeps all other lines, and refuses in CI" {
    unset SAMPL_TEST_CASE CI
    mkdir tests
    cp "$ROOT"/tests/{bless.sh,cases.bash} tests
    local more=('' '# other' '--top-k x' - "! 2 --top-k: 'x' is not a whole number from -2147483648 to 2147483647" '' '# with no lines yet')
    printf '%s\n' '# of the file' '' '# wrong' '--temp 0 -O text' '[1,2] [3,2]' 1 1 1 "${more[@]}" '--temp 0' '[1,2]' '' '--temp 0' '[9,2]' >tests/t.test
    run -2 env CI=1 tests/bless.sh t
    [ "$output" = 'bless.sh: not in CI, where the expected lines decide' ]
    SAMPL_TEST_CASE='no lines' run -0 tests/bless.sh t
    [ "$(grep -cx 1 tests/t.test)" = 4 ]
    run -0 tests/bless.sh t
    [[ $output == *'tests/t.test:4: wrong'*'-1'*'+0'*'0 of 4 cases failed' ]]
    printf '%s\n' '# of the file' '' '# wrong' '--temp 0 -O text' '[1,2] [3,2]' 1 0 "${more[@]}" '--temp 0' '[1,2]' 1 '' '--temp 0' '[9,2]' 0 | diff - tests/t.test
    run -2 tests/bless.sh no-such-file
}

# shellcheck disable=SC2016 # the text of another test
@test "reader: make bless writes what the rows of a table print, and keeps patterns that match" {
    unset SAMPL_TEST_CASE CI
    mkdir tests
    cp "$ROOT"/tests/{bless.sh,cases.bash,judge.bash,helper.bash} tests
    printf '%s\n' 'load helper' 'load judge' 'setup_file() { mkdir "$BATS_FILE_TMPDIR/files"; }' \
        '@test "t: every row (of two) passes" {' '    judge_table t.tsv -vw' '}' '@test "t: other" {' '    false' '}' >tests/t.bats
    local right=$'2\t-\tunknown option {*}\tsampl --bogus'
    printf '%s\n' '# of the file' "$right" $'0\t1 1\t-\tsampl --temp 0 <<<"[1,2] [3,2]"\tseen' '' $'!0\t1\t-\tsampl --bogus=1' \
        $'1\t0\tstandard input: row {*} // x\tsampl --temp 0 <<<"[2,1] x"' $'0\tq\t-\tprintf "q\\tq"' >tests/t.tsv
    SAMPL_TEST_CASE=seen run -0 tests/bless.sh t
    [[ $output == *'+0'$'\t''1 0'$'\t''-'$'\t''sampl --temp 0 '* && $(grep -c '//' tests/t.tsv) = 1 ]]
    run -1 tests/bless.sh tests/t.tsv
    [[ $output == *'which has no form in a table' ]]
    printf '%s\n' '# of the file' "$right" $'0\t1 0\t-\tsampl --temp 0 <<<"[1,2] [3,2]"\tseen' '' $'!0\t1\t-\tsampl --bogus=1' \
        $'1\t0\tstandard input: row {*}\tsampl --temp 0 <<<"[2,1] x"' $'0\tq\t-\tprintf "q\\tq"' | diff - tests/t.tsv
    sed -i '$d' tests/t.tsv
    run -0 tests/bless.sh t
    [ "$output" = '' ]
}

@test "reader: every .test file has a test of its name in cases.bats" {
    local file
    for file in "$ROOT"/tests/*.test; do
        grep -qxF "@test \"${file##*/}\" {" "$BATS_TEST_FILENAME" || { echo "$file is not read"; return 1; }
    done
}

# shellcheck disable=SC2016 # marks of Markdown
@test "reader: the example of tests/README.md passes" {
    unset SAMPL_TEST_CASE
    sed -n '/^## A case in three lines/,$p' "$ROOT/tests/README.md" |
        sed -n '/^```$/,/^```$/{/^```$/d;p}' >t.test
    run -0 run_cases t.test
    [ "$output" = 't.test: 0 of 2 cases failed' ]
}

@test "batch.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "engines.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "draws.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "expect.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "foreign.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "grammar.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "input.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "options.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "output.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "presets.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "reasoning.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "replies.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "scale.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "scatter.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "schema.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "sequences.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "skip.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "sparse.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "stats.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "variants.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}

@test "vocab.test" {
    run_cases "$ROOT/tests/$BATS_TEST_DESCRIPTION"
}
