#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Counts, with callgrind, the instructions of whole commands and of each chain on a row: such counts do not depend on the load. BASE is
# another build of sampl. Its counts are printed too, and a count above it by more than 1 % is an error. Its chains are counted if unit/bench
# stands beside it. Valgrind has no AVX-512: avx2 is its best tier.
# usage: bench-count.sh BUILD [BASE]. In the environment: ONLY=commands or ONLY=chains, TIER, N (tokens in a row of the chains).
set -eu
build=$1 base=${2:-}
: "${ONLY:=}" "${TIER:=}" "${N:=}"
: "${N:=32000}"
export SAMPL_CPU=$TIER
[ -n "$SAMPL_CPU" ] || unset SAMPL_CPU
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
above=0

# count OPTION... COMMAND...: prints the instructions of the command. Callgrind renames its output file, which must not be /dev/null.
# A status among $differs is that of --expect: 4, and 1 in version 0.2.0.
count() {
    local status=0
    valgrind --tool=callgrind --callgrind-out-file="$dir/counts" "$@" 2>"$dir/notes" >"$dir/out" || status=$?
    [[ " 0 ${differs-} " == *" $status "* ]] || { cat "$dir/notes" >&2; return "$status"; }
    sed -n 's/.*Collected : *//p' "$dir/notes"
}

# head_line FIRST: prints the heading of a table.
head_line() {
    printf '%-26s %5s %14s' "$1" rows instructions/row
    if [ -n "$base" ]; then printf ' %14s %9s' base ratio; fi
    echo
}

# line NAME ROWS COUNT [COUNT_OF_BASE]: prints a line of a table.
line() {
    awk -v name="$1" -v rows="$2" -v new="$3" -v old="${4:-}" 'BEGIN {
        worse = old != "" && new + 0 > 1.01 * old
        printf "%-26s %5d %16.0f", name, rows, new / rows
        if (old != "") printf " %14.0f %9.4f", old / rows, new / old
        print worse ? "  more than 1 % above" : ""
        exit worse }' || above=$((above + 1))
}

# ---- whole commands

# command_line NAME ROWS OPTION...: counts a run of sampl.
command_line() {
    local name=$1 rows=$2 new old=
    shift 2
    new=$(count "$build/sampl" -s 1 "$@")
    [ -z "$base" ] || old=$(count "$base" -s 1 "$@")
    line "$name" "$rows" "$new" "$old"
}

# rows COUNT: writes a file with the first rows, and prints its name. Rows have 1000 logits: then the work around a chain is a large part.
rows() {
    head -c $((4000 * $1)) "$dir/rows.f32" >"$dir/$1.f32"
    echo "$dir/$1.f32"
}

commands() {
    "$build/unit/bench" rows 1000 f32 5000 >"$dir/rows.f32"
    # shellcheck disable=SC2016 # perl's
    perl -e 'binmode STDIN; while (read STDIN, $b, 4000) { print "[", join(",", map { sprintf "%.6g", $_ } unpack("f<*", $b)), "]\n" }' \
        <"$(rows 1000)" >"$dir/rows.json"
    awk 'BEGIN { for (i = 0; i < 1000; i++) printf "{\"seq\": \"p%d\", \"params\": {\"temperature\": %.2f, \"top_k\": %d, \"min_p\": 0.02}}\n",
        i % 7, 0.5 + i % 10 / 10, 20 + i % 30 }' >"$dir/params"
    cat >"$dir/foreign.json" <<-'END'
	{"temp": 0.9, "temperature_last": true, "top_p": 0.97, "top_k": 60, "top_a": 0.02, "tfs": 0.98, "typical_p": 1, "min_p": 0.02,
	"rep_pen": 1.1, "rep_pen_range": 512, "freq_pen": 0.1, "presence_pen": 0, "no_repeat_ngram_size": 0, "encoder_rep_pen": 1, "skew": 0,
	"smoothing_factor": 0.1, "smoothing_curve": 1, "dry_allowed_length": 2, "dry_multiplier": 0.8, "dry_base": 1.75,
	"dry_sequence_breakers": "[\"\\n\"]", "dry_penalty_last_n": 0, "mirostat_mode": 0, "epsilon_cutoff": 0, "eta_cutoff": 0,
	"sampler_priority": ["repetition_penalty", "dry", "temperature", "quadratic_sampling", "top_k", "top_p", "tfs", "top_a", "min_p"]}
	END
    printf 'tok%d\n' $(seq 0 999) >"$dir/vocab"
    "$build/sampl" -s 2 -n 1000 "$(rows 3000)" >"$dir/ids"
    local variants=()
    for ((i = 1; i <= 20; i++)); do variants+=(--vs "--temp $i.5"); done

    head_line 'command, n = 1000'
    command_line 'ids' 5000 -n 1000 "$(rows 5000)"
    command_line '--dump-probs=10' 2000 -n 1000 --dump-probs=10 "$(rows 2000)"
    command_line '-O json' 2000 -n 1000 -O json "$(rows 2000)"
    command_line 'JSON in' 1000 "$dir/rows.json"
    command_line '--params' 1000 -n 1000 --params "$dir/params" "$(rows 1000)"
    command_line 'a foreign preset' 300 -n 1000 --vocab "$dir/vocab" --preset "$dir/foreign.json" "$(rows 300)"
    command_line '20 variants' 300 -n 1000 "${variants[@]}" "$(rows 300)"
    differs='1 4' command_line '--expect' 3000 -n 1000 --expect "$dir/ids" "$(rows 3000)"
    command_line '--emit logits' 1000 -n 1000 --emit logits -O text "$(rows 1000)"
    command_line '-O html' 300 -n 1000 -O html "$(rows 300)"
}

# ---- chains, without what surrounds them

chains() {
    local old_bench='' name new old
    [ ! -x "${base%/*}/unit/bench" ] || old_bench=${base%/*}/unit/bench
    [ -z "$base" ] || [ -n "$old_bench" ] || { echo "no chains: there is no unit/bench beside $base"; return 0; }
    head_line "chain, n = $N"
    while IFS= read -r name; do
        old=
        new=$(count --toggle-collect=run_chain "$build/unit/bench" once "$TIER" "$N" "$name")
        [ -z "$old_bench" ] || old=$(count --toggle-collect=run_chain "$old_bench" once "$TIER" "$N" "$name")
        line "$name" 16 "$new" "$old" # two batches
    done < <("$build/unit/bench" names)
}

[ "$ONLY" = chains ] || commands
[ -n "$ONLY" ] || echo
[ "$ONLY" = commands ] || chains
[ -z "$base" ] || echo "$above counts are more than 1 % above those of $base"
[ "$above" -eq 0 ]
