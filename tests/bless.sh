#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bless.sh FILE...: runs the cases of tests/FILE.test, shows the difference of those that print something else, and writes what they print in
# place of the expected lines. A new case may have no expected lines yet. Read the difference: it is the change that you commit.
# For errors and field, whose rows judge.bash runs, it writes the first three columns of rows that differ; a text that matches its pattern keeps
# the pattern. Rows with ! stay as they are. `make bless FILE=stats` calls it with SAMPL. SAMPL_TEST_CASE selects cases by title, and rows by
# a part of their text.
set -u
[ -z "${CI-}" ] || { echo 'bless.sh: not in CI, where the expected lines decide' >&2; exit 2; }
[ $# -gt 0 ] || { echo 'usage: make bless FILE=stats, for tests/stats.test; or FILE=errors, FILE=field' >&2; exit 2; }
cd "$(dirname "$0")/.." || exit 2
ROOT=$PWD
export LC_ALL=C ROOT XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent
unset SAMPL_CPU NO_COLOR SAMPL_TEST_CASES
BATS_TEST_TMPDIR=$(mktemp -d)
trap 'rm -r "$BATS_TEST_TMPDIR"' EXIT
# shellcheck source=tests/cases.bash
. tests/cases.bash
# shellcheck disable=SC2034 # run_case reads it
BLESS=yes

sampl() {
    # shellcheck disable=SC2086
    ${RUN_ENV-} "$SAMPL" "$@"
}

# A case without a title that SAMPL_TEST_CASE has is no fault.
skip() {
    echo "$1"
}

bless_case() {
    local i
    for ((i = $1; i <= $2; i++)); do unset "blessed[i]"; done
    if [ "$1" -le "$2" ]; then blessed[$1]=$3; else blessed[$2]+=$3; fi # with a newline at its end
}

# bless_table NAME: writes what the rows of tests/NAME.tsv print. Commands are unique in the table, as layering.bats checks. Fails if a row prints
# what the table has no form for, or cannot run.
bless_table() {
    local table=$ROOT/tests/$1.tsv tests
    tests=$(awk -v call="^ *judge_table $1.tsv -v?w?\$" '/^@test/ { split($0, name, "\"") } $0 ~ call { print name[2] }' "tests/$1.bats" |
        sed 's/[][\.*^$+?(){}|]/\\&/g')
    BLESSED=$BATS_TEST_TMPDIR/rows SAMPL_TEST_STEP='' bats --tap -f "^(${tests//$'\n'/|})\$" "tests/$1.bats" >"$BATS_TEST_TMPDIR/tap" 2>&1
    touch "$BATS_TEST_TMPDIR/rows"
    awk -F '\t' -v OFS='\t' -v rows="$BATS_TEST_TMPDIR/rows" 'FILENAME == rows { row[$4] = $1 OFS $2 OFS $3; next }
        !/^(#|!|$|unreachable)/ && $4 in row { rest = ""; for (i = 4; i <= NF; i++) rest = rest OFS $i; $0 = row[$4] rest } { print }' \
        "$BATS_TEST_TMPDIR/rows" "$table" >"$BATS_TEST_TMPDIR/blessed"
    diff -U 0 --label "${table#"$ROOT/"}" --label blessed "$table" "$BATS_TEST_TMPDIR/blessed" || cat "$BATS_TEST_TMPDIR/blessed" >"$table"
    # What the table cannot hold, and other failures.
    ! grep -B 3 'which has no form in a table$' "$BATS_TEST_TMPDIR/tap" || return 1
    [ -s "$BATS_TEST_TMPDIR/rows" ] || ! grep '^not ok' -A 20 "$BATS_TEST_TMPDIR/tap"
}

status=0
for name; do
    name=${name##*/} name=${name%.*}
    if [ -e "$ROOT/tests/$name.tsv" ] && grep -q "judge_table $name.tsv" "$ROOT/tests/$name.bats"; then
        bless_table "$name" || status=1
        [ -e "$ROOT/tests/$name.test" ] || continue
    fi
    file=$ROOT/tests/$name.test
    [ -e "$file" ] || { echo "bless.sh: there is no ${file#"$ROOT/"}" >&2; exit 2; }
    mapfile blessed <"$file"
    run_cases "$file" || status=1
    printf %s "${blessed[@]}" >"$BATS_TEST_TMPDIR/blessed"
    command cmp -s "$BATS_TEST_TMPDIR/blessed" "$file" || cat "$BATS_TEST_TMPDIR/blessed" >"$file"
done
exit "$status"
