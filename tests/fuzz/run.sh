#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lets libFuzzer work on each target of driver.c for so many seconds, as many side by side as JOBS says, from the seeds that seeds.sh makes
# and the findings of earlier days in tests/fuzz/found/TARGET-*. usage: run.sh DRIVER SAMPL SECONDS [TARGET...]
# Findings are left in build/fuzz/crashes; `SAMPL_FUZZ=TARGET build/fuzz/driver FILE`, in a folder with the files words and words.json,
# runs it again. In 0 seconds only what is kept is run. SEED= of the fuzzer; MORE=options of libFuzzer's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
driver=$(realpath "$1") sampl=$(realpath "$2") seconds=$3
shift 3
work=$(dirname "$driver")
crashes=$work/crashes
mkdir -p "$crashes" "$work/corpus"
"$here/seeds.sh" "$sampl" "$work/seeds"
if [ $# -eq 0 ]; then
    mapfile -t < <(env -u SAMPL_FUZZ "$driver")
    set -- "${MAPFILE[@]}"
fi

# one TARGET: prints a line, and what libFuzzer said if it found something.
one() {
    local target=$1 dir status=0 seeds=("$work/seeds/$1") log=$work/$1.log
    dir=$(mktemp -d)
    mkdir -p "$work/corpus/$target" "$work/seeds/$target"
    cp "$work"/seeds/words* "$dir"
    cp "$here/found/$target"-* "$work/seeds/$target" 2>/dev/null || :
    [ ! -e "$here/corpus/$target.tar.gz" ] || tar -xzf "$here/corpus/$target.tar.gz" -C "$work/seeds/$target"
    local how="-max_total_time=$seconds -seed=${SEED:-0}"
    [ "$seconds" != 0 ] || how=-runs=0
    # shellcheck disable=SC2086
    (cd "$dir" && SAMPL_FUZZ=$target UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 "$driver" $how \
        -timeout=20 -rss_limit_mb=4096 -max_len=8192 -print_final_stats=1 -artifact_prefix="$crashes/$target-" ${MORE-} \
        "$work/corpus/$target" "${seeds[@]}" >"$log" 2>&1) || status=$?
    rm -rf "$dir"
    printf '%-12s %s runs, %s\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
        "$([ $status = 0 ] && echo nothing found || echo "FOUND, see $log")"
    [ $status = 0 ] || { tail -n 60 "$log"; return 1; }
}
export -f one
export here driver work crashes seconds
printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -I{} bash -c 'one {}'
