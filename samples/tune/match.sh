#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares samplers at an equal value of one column of the table, such as lost.
set -euo pipefail

usage() {
    cat <<'END'
usage: match.sh COLUMN=VALUE 'OPTION...' FILE [ARGUMENT...]

For each OPTION, finds the value at which the mean of COLUMN over the rows of FILE comes nearest to VALUE without exceeding it. If several
values give the same mean, it is the one next to those that exceed VALUE. Every chain has that option only: the other samplers are off. Prints
tab-separated lines: the option with its value, COLUMN, gain and kept, with their errors. gain_diff is the difference to the first OPTION's
gain. FILE is read many times and cannot be a pipe. ARGUMENTs are sampl's: --accept @FILE, -n N, or -O for another output. With --preset among
them, each OPTION changes this chain, which stands first in the output as base, and gain_diff is the difference to it.

    match.sh lost=.05 'top-p min-p top-nsigma' rows.f16 -n 4096 --accept @ids --rows :300

OPTION        is searched
top-p         in the usual range of this option of sampl
top-p=.5:.9   from .5 to .9
top-p+temp=2  in a chain with a temperature of 2
xtc-threshold with --xtc-probability=1, unless another part or a preset sets the probability
top-p+min-p   together: both go through their ranges at once, from the end that forbids most to the end that forbids least

COLUMN must rise, or fall, over the whole range of the OPTION. An OPTION that does not reach VALUE is reported. SAMPL names the program to
run; otherwise it is build/sampl of this source tree, or sampl of the PATH.
END
}

die() {
    echo "match.sh: $*" >&2
    exit 2
}

[ "${1-}" != --help ] || { usage && exit; }
[ $# -ge 3 ] || { usage >&2 && exit 2; }
column=${1%%=*} target=${1#*=} options=$2 file=$3
shift 3
[[ $target =~ ^[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$ ]] || die "'$column=$target' is not COLUMN=VALUE"
[[ ! $column =~ ^(same|overlap|js)$|_diff$ ]] || die "$column compares two chains; COLUMN is one of a single chain"
[ -f "$file" ] || die "'$file' is not a file that can be read many times"
built=$(dirname "$(readlink -f "$0")")/../../build/sampl
if [ -z "${SAMPL-}" ] && [ -x "$built" ]; then SAMPL=$built; fi
: "${SAMPL:=sampl}"

# The arguments of the search, and the output of the last run.
arguments=() shown=() output='' preset=''
while [ $# -gt 0 ]; do
    case $#$1 in
    1-[Oo] | 1--output | 1--output-format) die "$1 needs a value" ;;
    esac
    case $1 in
    -O | --output-format) shown=("$1" "$2") && shift ;;
    -O?* | --output-format=*) shown=("$1") ;;
    -o | --output) output=$2 && shift ;;
    --output=*) output=${1#*=} ;;
    -o?*) output=${1#-o} ;;
    --vs | --vs=* | --sweep | --sweep=*) die "'$1' cannot be an ARGUMENT: this script sets the chains" ;;
    --preset | --preset=*) arguments+=("$1") preset=yes ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

neutral=(--neutral) base=()
[ -z "$preset" ] || neutral=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# specs: reads lines of a place from 0 to 1 and an OPTION; prints the options with the values at this place.
specs() {
    awk -v preset="$preset" '
        function range(name) {
            if (name ~ /^(min-p|top-a|epsilon-cutoff|eta-cutoff)$/) return "1:0"
            if (name ~ /-k$|-keep$/) return "1:100000"
            if (name ~ /^top-n-?sigma$/) return "0:20"
            if (name == "xtc-threshold") return "0:0.5"
            return name == "temp" ? "0.01:10" : "0:1"
        }
        {
            n = split($2, part, "+")
            for (i = 1; i <= n; i++) {
                name = value = part[i]
                sub(/=.*/, "", name)
                value = part[i] ~ /=/ ? substr(part[i], length(name) + 2) : range(name)
                if (value ~ /^[-.0-9e]+:[-.0-9e]+$/ && split(value, end, ":")) {
                    x = end[1] + $1 * (end[2] - end[1])
                    value = name ~ /-k$|-keep$/ ? sprintf("%d", x + 0.5) : sprintf("%.6g", x)
                }
                printf "%s--%s=%s", (i == 1 ? "" : " "), name, value
            }
            if ($2 ~ /(^|[+])xtc-threshold([+=]|$)/ && $2 !~ /xtc-probability/ && !preset) printf " --xtc-probability=1"
            print ""
        }'
}

# table SPECS ARGUMENT...: prints sampl's table of the chains in a file's lines. With `name` as a number, this names the first chain.
table() {
    local vs=()
    while read -r spec; do vs+=(--vs "${name:+$((name++)): }$spec"); done <"$1"
    "$SAMPL" -s 1 "${arguments[@]}" "${neutral[@]}" "${vs[@]}" "${@:2}" "$file"
}

# measure SPECS: prints the column of each chain, and its overlap with the neutral chain: 1 if the option is off. Two options may have one
# value: numbers name the chains.
measure() {
    local name=1
    table "$1" -O tsv --columns "$column,overlap" 2>"$work/messages" >"$work/table" || { cat "$work/messages" >&2 && exit 2; }
    awk -F '\t' -v OFS='\t' -v c="$column" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 2 { print $at[c], $at["overlap"] }' "$work/table"
}

# The ends of each OPTION. An end that the option refuses is left out, and so is one that switches it off: the value beside it counts.
INSIDE=0.000001
for word in $options; do
    [ "$(specs <<<"0 $word")" != "$(specs <<<"1 $word")" ] || die "'$word' names no range to search"
    for place in 0 1; do
        beside=$(awk -v p=$place -v d=$INSIDE 'BEGIN { print p ? 1 - d : d }')
        read -ra try < <(echo "$place $word" | specs)
        "$SAMPL" --neutral "${try[@]}" --print-chain >/dev/null 2>&1 || place=$beside
        echo "$place $word"
    done
done >"$work/ends"
[ -s "$work/ends" ] || die "no option is given"
specs <"$work/ends" >"$work/specs"
measure "$work/specs" >"$work/found"
paste -d ' ' "$work/ends" "$work/found" |
    awk -v d=$INSIDE '{ if ($4 == 1 && ($1 == 0 || $1 == 1)) $1 = $1 ? 1 - d : d; print $1, $2 }' >"$work/inside"
specs <"$work/inside" >"$work/specs"
measure "$work/specs" >"$work/found"

# The state, a line for each OPTION: it; both places; whether the column rises between them; the place of the largest column that does not exceed
# the target, and this column; the least and the largest column. The places at which the option is off count for none of these four. Where the
# column has equal values, the last place counts: bisection goes towards the places that exceed the target.
functions='
    function number(x) { return x ~ /^-?[0-9]/ ? x + 0 : 1e300 }
    function consider(place, x, overlap) {
        if (overlap == 1) return
        if (x <= target && (best == "none" || x >= value)) { best = place; value = x }
        if (x < least) least = x
        if (x > most) most = x
    }'
paste -d ' ' "$work/inside" "$work/found" | tr '\t' ' ' | awk -v target="$target" "$functions"'
    NR % 2 { low = $1; first = number($3); off = $4; next }
    {
        best = "none"; value = 0; least = 1e300; most = -1e300
        consider(low, first, off)
        consider($1, number($3), $4)
        print $2, low, $1, (number($3) > first), best, value, least, most
    }' >"$work/state"

# Bisection of all options at once: each step runs sampl once.
for ((step = 0; step < 24; step++)); do
    awk '{ printf "%.9g %s\n", ($2 + $3) / 2, $1 }' "$work/state" >"$work/middle"
    specs <"$work/middle" >"$work/now"
    if cmp -s "$work/now" "$work/specs"; then break; fi
    mv "$work/now" "$work/specs"
    measure "$work/specs" >"$work/found"
    cut -d ' ' -f 1 "$work/middle" | paste -d ' ' "$work/state" - "$work/found" | tr '\t' ' ' | awk -v target="$target" "$functions"'
        {
            best = $5; value = $6; least = $7; most = $8
            consider($9, number($10), $11)
            if ((number($10) <= target) == $4) $2 = $9; else $3 = $9
            print $1, $2, $3, $4, best, value, least, most
        }' >"$work/next"
    mv "$work/next" "$work/state"
done

# Options whose columns are all above the target or all below it do not reach it.
awk -v c="$column" -v t="$target" '$7 > t || $8 < t {
    high = $7 > t
    why = $7 == 1e300 ? "none has a number for " c : sprintf("%s is %.3g at %s", c, high ? $7 : $8, high ? "least" : "most")
    printf("match.sh: %s does not reach %s: of the values tried, %s\n", $1, t, $7 > $8 ? "each one switches it off" : why) }' "$work/state" >&2
awk -v t="$target" '$7 <= t && $8 >= t { print $5, $1 }' "$work/state" | specs | awk '!seen[$0]++' >"$work/specs"
[ -s "$work/specs" ] || exit 1
read -r first <"$work/specs"
hidden=(-e '') # the base is a row of the output if it is a preset
if [ -z "$preset" ]; then base=(--base "$first") hidden=(-e $'/^base[ \t]/d' -e '/^{"name":"base"/d'); fi
columns=$column,${column}_se
if [[ " ${arguments[*]} " == *' --accept'* ]] && [ "$column" != gain ]; then columns+=,gain,gain_se,gain_diff,gain_diff_se; fi
[ "$column" = kept ] || columns+=,kept
fields=1-
[ ${#shown[@]} -gt 0 ] || shown=(-O tsv --columns "$columns") fields=1,3-
[ -z "$output" ] || exec >"$output"
if [[ "${shown[*]}" == *html ]]; then
    table "$work/specs" "${base[@]}" "${shown[@]}"
else
    table "$work/specs" "${base[@]}" "${shown[@]}" | sed "${hidden[@]}" | cut -f "$fields"
fi
