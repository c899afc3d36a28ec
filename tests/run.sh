#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs files of the suite, and prints the counts of passed, failed and skipped tests at the end. `make check` calls run.sh with SAMPL and
# UNITS. usage: run.sh [FILE...]    FILE is NAME or tests/NAME.bats, which includes tests/NAME.test; without FILE, all files run.
# In the environment:
#   CASE='part of a name'        only tests whose name or title contains this text
#   SAMPL_TEST_WITHOUT='nm zsh'  tests that need a program or feature of this list are skipped; otherwise they fail
#   SAMPL_TEST_STEP=4            tests of all bytes or calls use each fourth one, random tests run a fourth of their cases (helper.bash)
#   SAMPL_TEST_TURN=N            the byte or call that such tests begin with; by default the commit's hash
#   SAMPL_TEST_CASES=10          only each tenth case of tests/*.test, and the first of each file
#   SAMPL_TEST_PART=2/3          only each third test, from the second on
#   SAMPL_TEST_DOCUMENTS=no      without the files that compare documents and sources with the program
#   SAMPL_TEST_JOBS=1            the number of files that run in parallel; by default the number of processors
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
documents=' install layering man pages readme shells '
: "${SAMPL_TEST_TURN:=$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0)))}"
export SAMPL_TEST_TURN

files=() tables=()
for name in "$@"; do
    name=${name##*/} name=${name%.*}
    [ ! -e "tests/$name.test" ] || tables+=("$name")
    [ ! -e "tests/$name.bats" ] || files+=("tests/$name.bats")
    [ -e "tests/$name.test" ] || [ -e "tests/$name.bats" ] || { echo "run.sh: there is no tests/$name.bats or $name.test"; exit 2; }
done
# The files that take longest begin first, as a long file that begins last leaves a processor without work.
[ $# -gt 0 ] || for file in tests/{errors,vectors,scatter,units,lists,formats}.bats $(printf '%s\n' tests/*.bats | grep -vE '/(errors|vectors|scatter|units|lists|formats)\.bats'); do
    name=${file##*/}
    [[ ${SAMPL_TEST_DOCUMENTS-} == no && $documents == *" ${name%.bats} "* ]] || files+=("$file")
done
# literal: turns each line of standard input into a regular expression that matches only this line.
literal() {
    sed 's/[][\.*^$+?(){}|]/\\&/g'
}

# Files run in parallel if there are several processors and GNU parallel, which bats needs.
options=()
jobs=${SAMPL_TEST_JOBS:-$(nproc)}
if [ "$jobs" -gt 1 ] && parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    options+=(--jobs "$jobs" --no-parallelize-within-files)
fi
if [ -n "${SAMPL_TEST_PART-}" ]; then
    names=$(sed -n 's/^@test "\(.*\)" {.*/\1/p' "${files[@]}" | awk -v part="$SAMPL_TEST_PART" 'split(part, p, "/") && NR % p[2] == p[1] % p[2]' | literal)
    options+=(--filter "^(${names//$'\n'/|})\$")
elif [ -n "${CASE-}" ]; then
    options+=(--filter "$(literal <<<"$CASE")")
fi

# suite [FILE...]: runs bats. tests/cases.bats has a test for each .test file.
suite() {
    local chosen=()
    if [ $# -gt 0 ] || [ -n "${CASE-}" ]; then
        chosen=("${tables[@]/#/^}")
        [ $# -gt 0 ] || chosen=('')
        [ ${#chosen[@]} -eq 0 ] || for name in "${chosen[@]}"; do
            SAMPL_TEST_CASE=${CASE-} bats --tap --filter "$name\\.test\$" tests/cases.bats | grep -v "# skip no title in"
        done
    fi
    [ ${#files[@]} -eq 0 ] || bats --tap ${options[@]+"${options[@]}"} "${files[@]}"
}

suite "$@" | {
    passed=0 failed=0 skipped=0
    while IFS= read -r line; do
        case $line in
        "not ok "*) failed=$((failed + 1)) ;;
        "ok "*" # skip"*) skipped=$((skipped + 1)) ;;
        "ok "*) passed=$((passed + 1)) ;;
        esac
        printf '%s\n' "$line"
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
