#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs libFuzzer on each target of driver.c for SECONDS, JOBS targets at a time. It starts from the inputs of seeds.sh, the kept inputs, and
# earlier findings in tests/fuzz/found/TARGET-*. usage: run.sh DRIVER SAMPL SECONDS [TARGET...]
# New findings stay in build/fuzz/crashes; `SAMPL_FUZZ=TARGET build/fuzz/driver FILE`, in a folder with the files words, words.json and words.f32,
# repeats one. With 0 seconds only kept inputs run. In the environment: SEED of the fuzzer, MORE options of libFuzzer.
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

# run_target TARGET: runs libFuzzer on the target and prints a line. After a finding, prints the end of libFuzzer's log.
run_target() {
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
export -f run_target
export here driver work crashes seconds
printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -I{} bash -c 'run_target {}'
