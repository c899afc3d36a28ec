#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures whole runs of sampl over a 1 GB dump, and a program that only maps the file and computes the maximum. Both run in turns; the best
# round counts. usage: bench.sh BUILD [ROUNDS [ROWS]]: ROWS of 128256 f32; the JSON files have a part of them
set -eu
build=$1 rounds=${2:-5} rows=${3:-2000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=128256 json_rows=$(((rows + 32) / 33))

# seconds COMMAND...: prints the wall time of the command.
seconds() {
    local start=$EPOCHREALTIME
    "$@" >"$dir/out"
    local end=$EPOCHREALTIME
    awk -v a="$start" -v b="$end" 'BEGIN { printf "%.4f", b - a }'
}

# compare NAME BYTES COMMAND...: prints the best times of the command and of the other program.
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

# from_pipe FILE: runs sampl on the rows of the file through a pipe.
from_pipe() {
    # shellcheck disable=SC2002 # a pipe is the point
    cat "$1" | "$build/sampl" -s 1 -n "$n" -f f32
}

"$build/unit/bench" rows "$n" f32 "$rows" >"$dir/rows.f32"
"$build/unit/bench" rows "$n" f16 "$rows" >"$dir/rows.f16"
# json SEPARATOR EXPRESSION: prints two of the rows as JSON, repeated; the perl expression makes the text of a number. The files below have
# 6 digits as of printf, the fewest digits, the digits of doubles as of Python's json.dumps, and small numbers with exponents.
json() {
    # shellcheck disable=SC2016 # perl's
    perl -e 'my ($file, $n, $rows, $join) = @ARGV; my $text = eval "sub { $ARGV[4] }"; open F, "<", $file; binmode F;
        while ($rows-- && read F, $b, 4 * $n) { print "[", join($join, map { $text->($_) } unpack("f<*", $b)), "]\n" }' \
        "$dir/rows.f32" "$n" 2 "$@" >"$dir/two"
    for ((i = 0; i < (json_rows + 1) / 2; i++)); do cat "$dir/two"; done
}
# shellcheck disable=SC2016 # perl's
fewest='my ($x, $most, $as) = @_; for (1 .. $most) { my $t = sprintf "%.${_}g", $x; return $t if unpack($as, pack($as, $t)) == $x }'
# shellcheck disable=SC2016 # perl's
json , 'sprintf "%.6g", $_[0]' >"$dir/short.json"
json , "my @least = (\$_[0], 9, 'f'); sub { $fewest }->(@least)" >"$dir/fewest.json"
json ', ' "my @least = (\$_[0], 17, 'd'); sub { $fewest }->(@least)" >"$dir/dumps.json"
# shellcheck disable=SC2016 # perl's
json , 'sprintf "%.6g", exp($_[0] - 10)' >"$dir/small.json"
"$build/unit/bench" rows 100 f32 $((50 * rows)) >"$dir/small.f32"
"$build/unit/bench" rows 4096 f32 $((5 * rows)) >"$dir/narrow.f32"
head -c $((4 * n * json_rows)) "$dir/rows.f32" >"$dir/few.f32"
size() { stat -c %s "$dir/$1"; }
variants=()
for ((i = 1; i <= 20; i++)); do
    variants+=(--vs "--temp $i.5")
done

echo "whole runs, default chain, rows of $n"
compare "f32, mapped" "$(size rows.f32)" "$build/sampl" -s 1 -n "$n" "$dir/rows.f32"
compare "f32, pipe" "$(size rows.f32)" from_pipe "$dir/rows.f32"
compare "f16, mapped" "$(size rows.f16)" "$build/sampl" -s 1 -n "$n" "$dir/rows.f16"
for kind in short fewest dumps small; do
    compare "JSON, $kind ($json_rows rows)" "$(size $kind.json)" "$build/sampl" -s 1 "$dir/$kind.json"
done
for kind in f32 f16; do
    compare "$kind, --top-k 256" "$(size rows.$kind)" "$build/sampl" -s 1 -n "$n" --samplers top_k --top-k 256 "$dir/rows.$kind"
    compare "$kind, writing lists of 256" "$(size rows.$kind)" \
        "$build/sampl" -s 1 -n "$n" --neutral --emit list=256 -O safetensors -o "$dir/lists.$kind.safetensors" "$dir/rows.$kind"
    compare "$kind, reading these" "$(size lists.$kind.safetensors)" "$build/sampl" -s 1 "$dir/lists.$kind.safetensors"
done
while read -r file width count; do
    compare "1 chain ($count rows of $width)" "$(size "$file")" "$build/sampl" -s 1 -n "$width" "$dir/$file"
    compare "20 variants of it, ids" "$(size "$file")" "$build/sampl" -s 1 -n "$width" "${variants[@]}" --emit ids "$dir/$file"
    compare "20 variants of it, table" "$(size "$file")" "$build/sampl" -s 1 -n "$width" "${variants[@]}" "$dir/$file"
done <<<"rows.f32 $n $rows
narrow.f32 4096 $((5 * rows))"
# Threads beside two processes with --shard, which take turns; the best of the rounds counts.
shards() {
    "$@" --shard 1/2 >"$dir/one" &
    "$@" --shard 2/2 >"$dir/two"
    wait
}

# threads NAME SHARDS ARGUMENT...: SHARDS is -, or `shards` where rows can be counted.
threads() {
    local name=$1 shards=$2 all=() t i best
    shift 2
    for ((i = 0; i < rounds; i++)); do
        for t in 1 2 0 "$shards"; do
            case $t in
            -) best=- ;;
            shards) best=$(seconds shards "$build/sampl" -s 1 "$@") ;;
            *) best=$(seconds "$build/sampl" -s 1 -t "$t" "$@") ;;
            esac
            all+=("$t $best")
        done
    done
    printf '%s\n' "${all[@]}" | awk -v name="$name" '
        $2 != "-" && (!($1 in best) || $2 < best[$1]) { best[$1] = $2 }
        END {
            printf "%-24s %8.1f %8.1f %8.1f", name, 1000 * best[1], 1000 * best[2], 1000 * best[0]
            printf "shards" in best ? " %8.1f\n" : " %8s\n", "shards" in best ? 1000 * best["shards"] : "-"
        }'
}

echo "threads, ms                 -t 1     -t 2     -t 0   shards   $((rows / 2)) rows of $n f32, and $json_rows rows of JSON"
head -c $((4 * n * (rows / 2))) "$dir/rows.f32" >"$dir/half.f32"
threads default shards -n "$n" "$dir/half.f32"
threads 'top_p 0.9' shards -n "$n" --samplers top_p --top-p .9 "$dir/half.f32"
threads 'typ_p 0.9' shards -n "$n" --samplers typ_p --typical .9 "$dir/half.f32"
threads dist shards -n "$n" --samplers dist "$dir/half.f32"
threads 'top_k 128000' shards -n "$n" --samplers top_k --top-k 128000 "$dir/half.f32"
threads 'default, stats' shards -n "$n" --emit stats "$dir/half.f32"
threads 'default, -O json' shards -n "$n" -O json "$dir/half.f32"
threads 'stats of 5 chains' shards -n "$n" "${variants[@]:0:8}" --emit stats "$dir/half.f32"
threads JSON - "$dir/short.json"
compare "$((50 * rows)) rows of 100" "$(size small.f32)" "$build/sampl" -s 1 -n 100 "$dir/small.f32"
compare "with DRY over all" "$(size small.f32)" "$build/sampl" -s 1 -n 100 --dry-multiplier .8 --dry-penalty-last-n -1 \
    --dry-sequence-breaker none "$dir/small.f32"
compare "with penalties over all" "$(size small.f32)" "$build/sampl" -s 1 -n 100 --repeat-penalty 1.1 --repeat-last-n -1 "$dir/small.f32"
compare "a row of 2^53 and more" "$(size few.f32)" "$build/sampl" -s 1 -n "$n" --row-base 9007199254740000 "$dir/few.f32"
compare "sampl --version" 0 "$build/sampl" --version
