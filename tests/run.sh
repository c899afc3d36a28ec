#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs files of the suite and ends with one line of counts. `make check` calls it, and sets SAMPL and UNITS.
# usage: run.sh [FILE...]    FILE is tests/NAME.bats or NAME, and tests/NAME.test with it; without any, all files run. In the environment:
#   CASE='part of a name'        only cases whose name or title contains this text
#   SAMPL_TEST_WITHOUT='nm zsh'  what is not here: cases that need it are skipped; otherwise they fail
#   SAMPL_TEST_STEP=4            cases that go through all bytes or calls take each fourth; random ones do a fourth (helper.bash)
#   SAMPL_TEST_TURN=N            where such cases begin; the commit's hash if it is not set
#   SAMPL_TEST_EACH=10           only each tenth case
#   SAMPL_TEST_HALF=0 or 1       only each second file; 0 and 1 are all files together
#   SAMPL_TEST_DOCUMENTS=no      without the files that hold documents against the program, and do not test how it runs
#   SAMPL_TEST_JOBS=1            how many files run side by side; without it, as many as there are processors
set -u
cd "$(dirname "$0")/.." || exit 2
export LC_ALL=C
documents=' install layering man readme shells '
: "${SAMPL_TEST_TURN:=$((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0)))}"
export SAMPL_TEST_TURN

files=() tables=()
for name in "$@"; do
    name=${name##*/} name=${name%.*}
    [ ! -e "tests/$name.test" ] || tables+=("$name")
    [ ! -e "tests/$name.bats" ] || files+=("tests/$name.bats")
    [ -e "tests/$name.test" ] || [ -e "tests/$name.bats" ] || { echo "run.sh: there is no tests/$name.bats or $name.test"; exit 2; }
done
[ $# -gt 0 ] || for file in tests/*.bats; do
    name=${file##*/}
    [[ ${SAMPL_TEST_DOCUMENTS-} == no && $documents == *" ${name%.bats} "* ]] || files+=("$file")
done
if [ -n "${SAMPL_TEST_HALF-}" ]; then
    all=("${files[@]}") files=()
    for ((i = SAMPL_TEST_HALF; i < ${#all[@]}; i += 2)); do files+=("${all[i]}"); done
fi

# literal: each line of the input as a regular expression that matches just that text.
literal() {
    sed 's/[][\.*^$+?(){}|]/\\&/g'
}

# Files run side by side where there are processors for it, and GNU parallel, which bats asks for.
options=()
jobs=${SAMPL_TEST_JOBS:-$(nproc)}
if [ "$jobs" -gt 1 ] && parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    options+=(--jobs "$jobs" --no-parallelize-within-files)
fi
if [ "${SAMPL_TEST_EACH:-1}" -gt 1 ]; then
    names=$(sed -n 's/^@test "\(.*\)" {$/\1/p' "${files[@]}" | awk -v n="$SAMPL_TEST_EACH" 'NR % n == 1' | literal)
    options+=(--filter "^(${names//$'\n'/|})\$")
elif [ -n "${CASE-}" ]; then
    options+=(--filter "$(literal <<<"$CASE")")
fi

# The cases of .test files belong to tests/cases.bats, which has a case for each such file.
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
