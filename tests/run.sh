#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs files of the suite, several at a time, and prints the counts of passed, failed and skipped tests at the end. `make check` calls run.sh
# with SAMPL, UNITS and SAMPL_TEST_SHORT. usage: run.sh [FILE...]
# FILE is NAME or tests/NAME.bats, which includes tests/NAME.test; without FILE, all files run. In the environment:
#   CASE='part of a name'        only tests whose name or title contains this text
#   SAMPL_TEST_SHORT=yes         the short suite: random tests run few cases, and a test that needs a missing program is skipped
#   SAMPL_TEST_WITHOUT='nm zsh'  tests that need a program or feature of this list are skipped; otherwise they fail
#   SAMPL_TEST_STEP=4            tests of every byte or call try every fourth, random tests run a fourth of their cases (helper.bash)
#   SAMPL_TEST_TURN=N            the byte or call that such tests begin with; by default the commit's hash
#   SAMPL_TEST_CASES=10          only each tenth case of tests/*.test, and the first of each file
#   SAMPL_TEST_PART=2/3          only each third test, from the second on
#   SAMPL_TEST_DOCUMENTS=no      without the files that compare documents and sources with the program
#   SAMPL_TEST_JOBS=1            the number of files that run in parallel; by default the number of processors
#   SAMPL_TEST_COSTS=FILE        a line for each test goes to this file: its processor seconds, its file and its name
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
slow=(tests/{formats,vectors,scatter,errors,lists,engines,man,input,units,layering}.bats)
[ $# -gt 0 ] || for file in "${slow[@]}" $(printf '%s\n' tests/*.bats | grep -vxF "$(printf '%s\n' "${slow[@]}")"); do
    name=${file##*/}
    [[ ${SAMPL_TEST_DOCUMENTS-} == no && $documents == *" ${name%.bats} "* ]] || files+=("$file")
done
# literal: turns each line of standard input into a regular expression that matches only this line.
literal() {
    sed 's/[][\.*^$+?(){}|]/\\&/g'
}

options=()
jobs=${SAMPL_TEST_JOBS:-$(nproc)}
if [ -n "${SAMPL_TEST_PART-}" ]; then
    names=$(sed -n 's/^@test "\(.*\)" {.*/\1/p' "${files[@]}" | awk -v part="$SAMPL_TEST_PART" 'split(part, p, "/") && NR % p[2] == p[1] % p[2]' | literal)
    options+=(--filter "^(${names//$'\n'/|})\$")
elif [ -n "${CASE-}" ]; then
    options+=(--filter "$(literal <<<"$CASE")")
fi

# suite [FILE...]: runs bats, a process for each file. tests/cases.bats has a test for each .test file.
suite() {
    local chosen=() name
    if [ $# -gt 0 ] || [ -n "${CASE-}" ]; then
        chosen=("${tables[@]/#/^}")
        [ $# -gt 0 ] || chosen=('')
        [ ${#chosen[@]} -eq 0 ] || for name in "${chosen[@]}"; do
            SAMPL_TEST_CASE=${CASE-} bats --tap --filter "$name\\.test\$" "$far/tests/cases.bats" | grep -v "# skip no title in"
        done
    fi
    # bats prints a file's results once the file has ended, so that those of two files do not mix.
    # shellcheck disable=SC2016 # of the inner shell
    [ ${#files[@]} -eq 0 ] || printf '%s\0' "${files[@]/#/$far/}" | xargs -0 -P "$jobs" -I{} bash -c \
        'out=$(bats --tap "${@:2}" "$1" 2>&1) || [[ $out == *"not ok "* ]] || out+="${out:+$'\''\n'\''}not ok $1: bats ended with status $?"
        flock "$0" printf "%s\n" "$out"' "$lock" {} ${options[@]+"${options[@]}"}
}

# The tests run below a long path, the same length everywhere: none may depend on where the project is, as tables with wide names do.
# What is printed has the true path.
scratch=$(mktemp -d) lock=$scratch/lock far=$scratch/a-folder-whose-name-is-longer-than-that-of-any-folder-of-a-contributor
trap 'rm -r "$scratch"' EXIT
ln -s "${PWD%/*}/" "$far"
far+=/${PWD##*/}
for name in SAMPL UNITS; do [ -z "${!name-}" ] || export "$name=${!name/#"$PWD/"/"$far/"}"; done
suite "$@" | {
    passed=0 failed=0 skipped=0
    while IFS= read -r line; do
        case $line in
        "not ok "*) failed=$((failed + 1)) ;;
        "ok "*" # skip"*) skipped=$((skipped + 1)) ;;
        "ok "*) passed=$((passed + 1)) ;;
        esac
        printf '%s\n' "${line//"$far"/$PWD}"
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
