#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Instructions per row of each chain, counted by callgrind: the same for the same binary, whatever else the machine does. Valgrind knows no
# AVX-512, so the best tier it sees is avx2. Its file is renamed, which /dev/null must not be. usage: bench-count.sh BENCH [TIER [N_VOCAB]]
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
