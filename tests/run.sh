#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the bats files given (all without any) and ends with one line of counts. Called by `make check`, which sets SAMPL and UNITS.
set -u
cd "$(dirname "$0")/.." || exit 2
if [ $# -eq 0 ]; then set -- tests/*.bats; fi
export LC_ALL=C
# Files run side by side where there are cores for it, and GNU parallel, which bats asks for.
side=()
if [ "$(nproc)" -gt 1 ] && parallel --version 2>/dev/null | grep -q '^GNU parallel'; then side=(--jobs "$(nproc)" --no-parallelize-within-files); fi
# SAMPL_TEST_EACH=10: only every tenth case.
some=()
if [ "${SAMPL_TEST_EACH:-1}" -gt 1 ]; then
    names=$(sed -n 's/^@test "\(.*\)" {$/\1/p' "$@" | awk -v n="$SAMPL_TEST_EACH" 'NR % n == 1' | sed 's/[][\.*^$+?(){}|]/\\&/g')
    some=(--filter "^(${names//$'\n'/|})\$")
fi
bats --tap ${side[@]+"${side[@]}"} ${some[@]+"${some[@]}"} "$@" | {
    passed=0 failed=0 skipped=0
    while IFS= read -r line; do
        case $line in
        "not ok "*) failed=$((failed + 1)) ;;
        "ok "*" # skip"*) skipped=$((skipped + 1)) ;;
        "ok "*) passed=$((passed + 1)) ;;
        esac
        printf '%s\n' "$line"
    done
    # A skip is a hole: with SAMPL_TEST_STRICT (CI) it counts as a failure.
    if [ -n "${SAMPL_TEST_STRICT-}" ] && [ "$skipped" -gt 0 ]; then failed=$((failed + skipped)); fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
