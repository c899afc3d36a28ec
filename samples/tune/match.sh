#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares samplers at an equal value of one column of the table, such as the share of lost tokens.
set -euo pipefail

usage() {
    cat <<'END'
usage: match.sh COLUMN=VALUE 'OPTION...' FILE [ARGUMENT...]

For each OPTION, finds the value at which the mean of COLUMN over the rows of FILE is VALUE, and prints the table of the chains with these
values. Every chain has that option only: --neutral switches the other samplers off. An OPTION is the name of one of sampl's options, such
as top-p, or NAME=FROM:TO where its values lie outside the usual range. ARGUMENTs are sampl's: --accept @FILE, -n N, or an output format.

    match.sh lost=.05 'top-p min-p top-nsigma' rows.f16 -n 4096 --accept @ids

A column that jumps past VALUE, as every column does for whole numbers such as top-k, gets the value next to the jump. SAMPL names the
program to run.
END
}

die() {
    echo "match.sh: $*" >&2
    exit 2
}

[ "${1-}" != --help ] || { usage && exit; }
[ $# -ge 3 ] || { usage >&2 && exit 2; }
: "${SAMPL:=sampl}"
column=${1%%=*} target=${1#*=} options=$2 file=$3
shift 3
command -v jq >/dev/null || die "jq is missing"
[[ $target =~ ^[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$ ]] || die "'$column=$target' is not COLUMN=VALUE"

# range NAME: prints the values that an option is searched in, FROM:TO.
range() {
    case $1 in
    *=*:*) echo "${1#*=}" ;;
    top-k | min-k | min-keep) echo 1:100000 ;;
    top-nsigma | top-n-sigma) echo 0:20 ;;
    temp) echo 0.01:10 ;;
    *) echo 0:1 ;;
    esac
}

# columns ARRAY NAME=VALUE...: sets the array to the column's mean for each of the options at its value.
columns() {
    local word vs=()
    for word in "${@:2}"; do vs+=(--vs "--neutral --$word"); done
    "$SAMPL" -s 1 "${arguments[@]}" "${vs[@]}" -O json "$file" 2>"$work/messages" >"$work/table" || { cat "$work/messages" >&2 && exit 1; }
    jq -r --arg c "$column" 'select(.options != "") | if has($c) then .[$c] // "none" else error("no such column: \($c)") end' "$work/table" \
        >"$work/column" 2>"$work/messages" || die "the table has no column '$column'"
    mapfile -t "$1" <"$work/column"
}

# The arguments of the search, and the output format of the last run.
arguments=() shown=()
while [ $# -gt 0 ]; do
    case $1 in
    -O | --output-format | -o | --output) shown+=("$1" "${2-}") && shift ;;
    -O?* | --output-format=* | -o?* | --output=*) shown+=("$1") ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names=() low=() high=() first=() last=() found=()
for word in $options; do
    ends=$(range "$word")
    names+=("${word%%=*}") low+=("${ends%%:*}") high+=("${ends#*:}")
done
[ ${#names[@]} -gt 0 ] || die "no option is given"

# at VALUE...: the options with these values, in words.
at() {
    words=()
    for value; do words+=("${names[${#words[@]}]}=$value"); done
}

# Does the column rise with the option? It is told by both ends.
at "${low[@]}" && columns first "${words[@]}"
at "${high[@]}" && columns last "${words[@]}"

# Bisection of all options at once: each step runs sampl once, with a variant for each option.
for ((step = 0; step < 20; step++)); do
    mapfile -t middle < <(for i in "${!names[@]}"; do
        awk -v a="${low[i]}" -v b="${high[i]}" -v n="${names[i]}" 'BEGIN { m = (a + b) / 2; printf n ~ /-k$|-keep$/ ? "%d\n" : "%.6g\n", m }'
    done)
    at "${middle[@]}" && columns found "${words[@]}"
    moved=no
    for i in "${!names[@]}"; do
        if [ "${middle[i]}" = "${low[i]}" ] || [ "${middle[i]}" = "${high[i]}" ]; then continue; fi
        moved=yes
        if awk -v x="${found[i]}" -v t="$target" -v a="${first[i]}" -v b="${last[i]}" 'BEGIN { exit !((x + 0 < t + 0) == (a + 0 < b + 0)) }'; then
            low[i]=${middle[i]}
        else
            high[i]=${middle[i]}
        fi
    done
    [ $moved = yes ] || break
done

# Of the two ends that are left, the one whose column is nearer to the target.
at "${low[@]}" && columns first "${words[@]}"
at "${high[@]}" && columns last "${words[@]}"
mapfile -t best < <(for i in "${!names[@]}"; do
    awk -v x="${first[i]}" -v y="${last[i]}" -v t="$target" -v a="${low[i]}" -v b="${high[i]}" '
        function far(v) { return v == "none" ? 1e300 : v > t ? v - t : t - v }
        BEGIN { print far(x + 0) <= far(y + 0) ? a : b }'
done)
at "${best[@]}"
vs=()
for word in "${words[@]}"; do vs+=(--vs "--neutral --$word"); done
"$SAMPL" -s 1 "${arguments[@]}" "${vs[@]}" "${shown[@]}" "$file"
