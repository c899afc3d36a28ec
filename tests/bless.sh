#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bless.sh FILE...: runs the cases of tests/FILE.test, shows the difference of those that print something else, and writes what they print in
# place of the expected lines. A new case may have no expected lines yet. Read the difference: it is the change that you commit.
# `make bless FILE=stats` calls it with SAMPL. SAMPL_TEST_CASE selects cases by title.
set -u
[ -z "${CI-}" ] || { echo 'bless.sh: not in CI, where the expected lines decide' >&2; exit 2; }
[ $# -gt 0 ] || { echo 'usage: make bless FILE=stats, for tests/stats.test' >&2; exit 2; }
cd "$(dirname "$0")/.." || exit 2
ROOT=$PWD
export LC_ALL=C ROOT XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent
unset SAMPL_CPU NO_COLOR
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

status=0
for name; do
    name=${name##*/} file=$ROOT/tests/${name%.*}.test
    [ -e "$file" ] || { echo "bless.sh: there is no ${file#"$ROOT/"}" >&2; exit 2; }
    mapfile blessed <"$file"
    run_cases "$file" || status=1
    printf %s "${blessed[@]}" >"$BATS_TEST_TMPDIR/blessed"
    command cmp -s "$BATS_TEST_TMPDIR/blessed" "$file" || cat "$BATS_TEST_TMPDIR/blessed" >"$file"
done
exit "$status"
