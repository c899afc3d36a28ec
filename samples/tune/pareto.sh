#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints two columns of the table over sweeps of several options, for a picture of what each sampler trades for what.
set -euo pipefail

usage() {
    cat <<'END'
usage: pareto.sh X Y 'OPTION=LIST...' FILE [ARGUMENT...]

Prints a block of lines for each OPTION, as gnuplot reads them: the value, the means of the columns X and Y of the chain that has only this
option, and their errors, separated by tabs. LIST is a,b,c or FROM:TO:STEP, as sampl's --sweep has it. ARGUMENTs are sampl's.

    pareto.sh kept lost 'top-p=0.5:0.95:0.05 min-p=0.01,0.02,0.05,0.1,0.2' rows.f16 -n 4096 --accept @ids >curves.tsv
    gnuplot -p -e 'set logscale x; plot for [i = 0:1] "curves.tsv" index i using 2:3:5 with yerrorlines title columnheader(1)'

SAMPL names the program to run.
END
}

[ "${1-}" != --help ] || { usage && exit; }
[ $# -ge 4 ] || { usage >&2 && exit 2; }
command -v jq >/dev/null || { echo 'pareto.sh: jq is missing' >&2 && exit 2; }
: "${SAMPL:=sampl}"
x=$1 y=$2 sweeps=$3 file=$4 between=''
shift 4
for argument; do
    case $argument in
    --vs | --vs=* | --sweep | --sweep=* | -o* | --output | --output=*)
        echo "pareto.sh: '$argument' cannot be an ARGUMENT: this script sets the chains and the output" >&2 && exit 2 ;;
    esac
done
[ -f "$file" ] || [[ $sweeps != *[[:space:]]* ]] || { echo "pareto.sh: '$file' is not a file that each OPTION can read" >&2 && exit 2; }
for sweep in $sweeps; do
    [[ $sweep == *=* ]] || { echo "pareto.sh: '$sweep' is not OPTION=LIST" >&2 && exit 2; }
    printf '%b%s\t%s\t%s\t%s_se\t%s_se\n' "$between" "${sweep%%=*}" "$x" "$y" "$x" "$y"
    "$SAMPL" -s 1 "$@" --neutral --sweep "$sweep" -O json --columns "$x,$y,${x}_se,${y}_se" "$file" |
        jq -r --arg x "$x" --arg y "$y" '
            select(.swept != {}) | [.swept[], .[$x], .[$y], .[$x + "_se"], .[$y + "_se"]] | @tsv'
    between='\n\n'
done
