#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the instructions per row of each chain, which callgrind counts. They do not depend on the machine's load. Valgrind has no AVX-512:
# avx2 is its best tier. Callgrind renames its output file, which must not be /dev/null. usage: bench-count.sh BENCH [TIER [N_VOCAB]]
set -eu
bench=$1 tier=${2:-} n=${3:-32000}
rows=16 # two batches
: "${n:=32000}"
printf '%-26s %14s %12s\n' "chain, n = $n" instructions/row per-logit
counts=$(mktemp)
trap 'rm -f "$counts" "$counts".*' EXIT
"$bench" names | while IFS= read -r chain; do
    collected=$(valgrind --tool=callgrind --callgrind-out-file="$counts" --toggle-collect=run_chain "$bench" once "$tier" "$n" "$chain" 2>&1 |
        sed -n 's/.*Collected : *//p')
    awk -v c="$chain" -v i="$collected" -v r="$rows" -v n="$n" 'BEGIN { printf "%-26s %14.0f %12.2f\n", c, i / r, i / r / n }'
done
