#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whole runs of sampl over a 1 GB dump, beside a program that only maps the file and takes the max. Each is run in turns with the floor and
# the best of the rounds counts. usage: bench.sh BUILD [ROUNDS]
set -eu
build=$1 rounds=${2:-5}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=128256 rows=2000 json_rows=60

# seconds COMMAND...: user and system time and wall time are about the same here; wall time is what a user waits.
seconds() {
    local start=$EPOCHREALTIME
    "$@" >"$dir/out"
    local end=$EPOCHREALTIME
    awk -v a="$start" -v b="$end" 'BEGIN { printf "%.4f", b - a }'
}

# compare NAME BYTES COMMAND...
compare() {
    local name=$1 bytes=$2 best='' floor='' t
    shift 2
    for ((i = 0; i < rounds; i++)); do
        t=$(seconds "$build/unit/bench" max "$dir/rows.f32")
        floor=$(printf '%s\n%s\n' "${floor:-$t}" "$t" | sort -n | head -1)
        t=$(seconds "$@")
        best=$(printf '%s\n%s\n' "${best:-$t}" "$t" | sort -n | head -1)
    done
    awk -v name="$name" -v t="$best" -v f="$floor" -v b="$bytes" \
        'BEGIN { printf "%-34s %8.3f s %8.2f GB/s   map + max of 1 GB %.3f s\n", name, t, b / t / 1e9, f }'
}

from_pipe() {
    # shellcheck disable=SC2002 # a pipe is the point
    cat "$1" | "$build/sampl" -s 1 -n "$n" -f f32
}

"$build/unit/bench" rows "$n" f32 "$rows" >"$dir/rows.f32"
"$build/unit/bench" rows "$n" f16 "$rows" >"$dir/rows.f16"
perl -e 'open F, "<", $ARGV[0]; binmode F; while ($ARGV[2]-- && read F, $b, 4 * $ARGV[1]) { print "[", join(",", map { sprintf "%.6g", $_ } unpack("f<*", $b)), "]\n" }' \
    "$dir/rows.f32" "$n" "$json_rows" >"$dir/rows.json"

echo "whole runs, default chain, rows of $n"
compare "f32, mapped" "$(stat -c %s "$dir/rows.f32")" "$build/sampl" -s 1 -n "$n" "$dir/rows.f32"
compare "f32, pipe" "$(stat -c %s "$dir/rows.f32")" from_pipe "$dir/rows.f32"
compare "f16, mapped" "$(stat -c %s "$dir/rows.f16")" "$build/sampl" -s 1 -n "$n" "$dir/rows.f16"
compare "JSON ($json_rows rows)" "$(stat -c %s "$dir/rows.json")" "$build/sampl" -s 1 "$dir/rows.json"
compare "sampl --version" 0 "$build/sampl" --version
