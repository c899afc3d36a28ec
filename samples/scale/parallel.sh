#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs sampl over a file whose rows can be counted on all cores, or on other machines, by way of GNU parallel.
set -u

usage() {
    cat <<'END'
usage: parallel.sh [-f FORMAT] [-j JOBS] [-S LOGINS] [-b ROWS] -n N FILE [OPTION...]
       parallel.sh [-f FORMAT] [-j JOBS] [-S LOGINS] FILE [OPTION...]

Cuts FILE, in FORMAT (without -f what its name ends with), into blocks of whole rows, runs `sampl OPTION...` on each block, and prints
what one run over the whole file prints. Pages and --stats come for each block. Raw rows, f32, f16 or bf16, have N numbers each. Those of
npy, safetensors and kld are counted by sampl, see --shard.

  -j JOBS    runs at a time, on each machine; without it one for each core
  -S LOGINS  machines to run on, as parallel's --sshlogin takes them: host,user@host,8/host; ':' is this one. Each must have sampl, and
             the files that OPTIONs name. A raw FILE is needed here only: its blocks are sent. Another one must be there, too.
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
file=${1-}
format=${format:-${file##*.}}
case $format in
f32) size=4 ;;
f16 | bf16) size=2 ;;
*) size='' ;;
esac
if [ $# -eq 0 ] || [ "$size" != "${width:+$size}" ]; then
    usage >&2
    exit 2
fi
shift

case $format in
f32 | f16 | bf16) ;;
npy | safetensors | kld) [ -z "$rows" ] || die "-b is for raw rows" ;;
*) die "'$format' is not one of the formats whose rows can be counted: f32, f16, bf16, npy, safetensors and kld" ;;
esac
[ -z "$width" ] || whole -n "$width"
skip='' last=''
for option; do
    case $last,$option in
    *,--on[-_]error=skip | --on[-_]error,skip) skip=yes ;;
    *,--on[-_]error=stop | --on[-_]error,stop) skip='' ;;
    esac
    last=$option
    case $option in
    --expect | --expect=* | --draws | --draws=* | --report) die "'${option%%=*}' reports on one run, not on blocks" ;;
    -o* | --output | --output=*) die "'$option' would be written by all blocks; redirect the output" ;;
    esac
done
parallel --version 2>/dev/null | grep -q '^GNU parallel' || die "GNU parallel is not installed"
if [ ! -f "$file" ] || [ ! -r "$file" ]; then
    die "cannot read '$file'"
fi

seed=$(($(od -An -N3 -tu4 /dev/urandom)))
command="$(quote "${SAMPL:-sampl}") -f $format${width:+ -n $width} -s $seed"
for option; do
    command="$command$(quote "$option")"
done

# check OPTION...: bad options are found before parallel runs anything, if the program is here.
check() {
    ! command -v "${SAMPL:-sampl}" >/dev/null || eval "$command $*" </dev/null >/dev/null || exit
}

# The jobs are counted from 1. Their outputs come in order (-k).
in_parallel() {
    parallel ${jobs:+-j "$jobs"} ${logins:+--sshlogin "$logins"} -k "$@"
}

bytes=$(($(wc -c <"$file")))
share=$((4 * $(getconf _NPROCESSORS_ONLN))) # blocks, so that all cores have work to the end
if [ -n "$size" ]; then
    row=$((width * size))
    [ $((bytes % row)) -eq 0 ] || die "$file: $bytes bytes are not a whole number of rows of $row bytes"
    all=$((bytes / row))
    if [ -z "$rows" ]; then
        rows=$(((64 << 20) / row + 1))
        [ "$rows" -le $((all / share + 1)) ] || rows=$((all / share + 1))
    fi
    whole -b "$rows"
    if [ "$all" -eq 0 ]; then # for which parallel would run nothing
        eval "$command" </dev/null
        exit
    fi
    check --row-base $((all > rows))
    [ "$all" -le "$rows" ] || check -f auto --shard 2/2 # refuses tables of blocks
    blocks() {
        in_parallel "$@" --pipepart -a "$file" --recend '' --block $((rows * row)) \
            "$command --row-base {= \$_ = (seq() - 1) * $rows =}"
    }
else
    shards=$((bytes >> 26))
    [ "$shards" -gt "$share" ] || shards=$share
    check -f auto --shard 2/2 # of an input without rows
    blocks() {
        seq "$shards" | in_parallel "$@" "$command --shard {}/$shards --$(quote "$file")"
    }
fi

# After one has failed no other begins; but a block of which only bad rows were skipped has not, and the worst status is that of all:
# 0 < 4 < 1 < 2 < 3, and others above them.
if [ -z "$skip" ]; then
    blocks --halt soon,fail=1
    exit
fi
log=$(mktemp) || exit 3
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM HUP
blocks --joblog "$log"
status=$?
awk -F '\t' -v least=$((status > 0)) 'function rank(s) { return s == 4 ? .5 : s }
    NR > 1 && rank($7 + $8) > rank(most) { most = $7 + $8 } END { exit most ? most : least }' "$log"
