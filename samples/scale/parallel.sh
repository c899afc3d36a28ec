#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs sampl over a dump of raw rows on all cores, or on other machines, by way of GNU parallel.
set -u

usage() {
    cat <<'END'
usage: parallel.sh [-f FORMAT] [-j JOBS] [-S LOGINS] [-b ROWS] -n N FILE [OPTION...]

Cuts FILE, rows of N numbers in FORMAT (f32, f16 or bf16; without -f what its name ends with), into blocks of whole rows, runs
`sampl OPTION...` on each block, and prints what one run over the whole file prints.

  -j JOBS    runs at a time, on each machine; without it one for each core
  -S LOGINS  machines to run on, as parallel's --sshlogin takes them: host,user@host,8/host; ':' is this one. Each must have sampl, and
             the files that OPTIONs name. FILE is needed here only: its blocks are sent.
  -b ROWS    rows in a block; without it 64 MiB of them, or less where that leaves cores without work

The chain must not carry state from row to row, unless it needs only tokens and OPTIONs give them with --accept, or rows are
--independent; sampl says so. Without --seed among the OPTIONs a random one is chosen, the same for all blocks.
SAMPL names the program to run, PARALLEL adds options to those of parallel.
END
}

die() {
    echo "parallel.sh: $*" >&2
    exit 2
}

# A word for the shell of another machine. parallel would put things in place of {}, {#} and their like, so no '{' stays beside what
# follows it.
quote() {
    printf " '%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g; s/{/{''/g")"
}

# whole NAME VALUE: is it a number above 0?
whole() {
    case $2 in
    '' | *[!0-9]* | 0*) die "$1 '$2' is not a whole number from 1" ;;
    esac
}

format='' width='' jobs='' logins='' rows=''
while getopts f:n:j:S:b:h option; do
    case $option in
    f) format=$OPTARG ;;
    n) width=$OPTARG ;;
    j) jobs=$OPTARG ;;
    S) logins=$OPTARG ;;
    b) rows=$OPTARG ;;
    h) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ] || [ -z "$width" ]; then
    usage >&2
    exit 2
fi
file=$1
shift

case ${format:-${file##*.}} in
f32) format=f32 size=4 ;;
f16 | bf16) format=${format:-${file##*.}} size=2 ;;
*) die "'${format:-$file}' is none of the raw formats f32, f16 and bf16" ;;
esac
whole -n "$width"
skip='' last=''
for option; do
    case $last,$option in
    *,--on[-_]error=skip | --on[-_]error,skip) skip=yes ;;
    *,--on[-_]error=stop | --on[-_]error,stop) skip='' ;;
    esac
    last=$option
    case $option in
    -o* | --output | --output=*) die "'$option' would be written by all blocks; redirect the output" ;;
    esac
done
parallel --version 2>/dev/null | grep -q '^GNU parallel' || die "GNU parallel is not installed"
if [ ! -f "$file" ] || [ ! -r "$file" ]; then
    die "'$file' is no file that can be read"
fi

row=$((width * size))
bytes=$(($(wc -c <"$file")))
[ $((bytes % row)) -eq 0 ] || die "$file: $bytes bytes are no whole number of rows of $row bytes"
all=$((bytes / row))
if [ -z "$rows" ]; then
    share=$((all / (4 * $(getconf _NPROCESSORS_ONLN)) + 1))
    rows=$(((64 << 20) / row + 1))
    [ "$rows" -le "$share" ] || rows=$share
fi
whole -b "$rows"

seed=$(($(od -An -N3 -tu4 /dev/urandom)))
command="$(quote "${SAMPL:-sampl}") -f $format -n $width -s $seed"
for option; do
    command="$command$(quote "$option")"
done

# parallel runs nothing for an empty file. For others, bad options are found before it runs anything, if the program is here.
if [ "$all" -eq 0 ]; then
    eval "$command" </dev/null
    exit
fi
if command -v "${SAMPL:-sampl}" >/dev/null; then
    eval "$command --row-base $((all > rows))" </dev/null >/dev/null || exit
fi

# The jobs are counted from 1. Their outputs come in order (-k).
blocks() {
    parallel ${jobs:+-j "$jobs"} ${logins:+--sshlogin "$logins"} --pipepart -a "$file" --recend '' --block $((rows * row)) -k "$@" \
        "$command --row-base {= \$_ = (seq() - 1) * $rows =}"
}

# After one has failed no other begins; but a block of which only bad rows were skipped has not, and the greatest status is that of all.
if [ -z "$skip" ]; then
    blocks --halt soon,fail=1
    exit
fi
log=$(mktemp) || exit 3
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM HUP
blocks --joblog "$log"
status=$?
awk -F '\t' -v least=$((status > 0)) 'NR > 1 && $7 + $8 > most { most = $7 + $8 } END { exit most > least ? most : least }' "$log"
