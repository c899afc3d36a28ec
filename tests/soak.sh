#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Long runs, and runs in unusual environments: `make soak` (GB=10 from a pipe; SHORT=1 for a small part of each).
# usage: soak.sh SAMPL
set -euo pipefail
sampl=$(realpath "$1")
austen=$(realpath "$(dirname "$0")/../samples/austen.f16")
megabytes=$((${GB:-10} * 1024)) sequences=1000000 rows=4000000 stops=2000
if [ -n "${SHORT-}" ]; then megabytes=512 sequences=100000 rows=400000 stops=200; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export LC_ALL=C

die() {
    echo "soak: $*"
    exit 1
}

# constant_memory NAME ROWS PRODUCER COMMAND...: pipes the output of PRODUCER N into the command, with a quarter of the rows as N and with all
# of them. Fails if the peak memory of the second run is more than 4 MB above the first's. The output is left in the file out.
constant_memory() {
    local what="$2 $1" n=$2 few
    local producer=$3
    shift 3
    "$producer" $((n / 4)) | command time -f %M -o peak "$@" >out || die "$what: status $?, with a quarter of the rows"
    few=$(cat peak)
    "$producer" "$n" | command time -f %M -o peak "$@" >out || die "$what: status $?"
    [ "$(cat peak)" -le $((few + 4096)) ] || die "$what: a quarter takes $few KB, all take $(cat peak) KB"
    echo "$what: $(wc -l <out) rows, $(cat peak) KB; $few KB for a quarter"
}

megabytes_of_a_model() {
    perl -e '
        open my $f, "<:raw", "block" or die;
        read $f, my $block, 1 << 20;
        for (1 .. shift) { print $block or die }' "$1"
}

sequences_that_end() {
    perl -e '
        for my $i (1 .. shift) {
            print qq({"seq":"s$i","logits":[1,2,3],"accept":1}\n{"seq":"s$i","params":{"top_k":2},"logits":[3,2,1],"end":true}\n) or die;
        }' "$1"
}

parentheses() {
    perl -e 'for (1 .. shift) { print pack("f<*", 1, -9e9, 1, -9e9) or die }' "$1"
}

head -c 1048576 "$austen" >block
constant_memory 'MB from a pipe' "$megabytes" megabytes_of_a_model "$sampl" -f f16 -n 4096 -s 1 -t 2
[ "$(wc -l <out)" = $((megabytes * 128)) ] || die "rows are missing"

constant_memory sequences "$sequences" sequences_that_end "$sampl" -f json -s 1 --repeat-penalty 1.1
[ "$(wc -l <out)" = $((sequences * 2)) ] || die "rows are missing"

# a grammar with another state after nearly each row
printf '%s\n' '(' ')' x '</s>' >words
constant_memory 'rows under a grammar' "$rows" parentheses "$sampl" -f f32 -n 4 -s 1 --vocab words --grammar 'root ::= [(x]* "(" [(x]{18}'
[ "$(wc -l <out)" = "$rows" ] || die "rows are missing"

# a run that SIGSTOP and SIGCONT interrupt
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do cat block; done >rows
"$sampl" -f f16 -n 4096 -s 1 --dump-probs=3 rows >want
n=0
while [ "$n" -lt "$stops" ]; do
    # shellcheck disable=SC2002 # a pipe is the point
    cat rows | "$sampl" -f f16 -n 4096 -s 1 -t 2 --dump-probs=3 >got &
    while kill -STOP $! 2>/dev/null && kill -CONT $! 2>/dev/null; do
        n=$((n + 1))
    done
    wait $! || die "stopped and continued: status $?"
    cmp want got || die "stopped and continued: other rows"
done
echo "stopped and continued $n times"

# a locale with decimal commas
"$sampl" -f f16 -n 4096 -s 1 --rows :20 --dump-probs=3 --temp 0.7 -O json "$austen" >want
if localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" 2>/dev/null; then
    export LOCPATH=$dir
    [ "$(LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 1,5')" = 1,5 ] || die "the locale has no comma"
    LC_ALL=de_DE.UTF-8 "$sampl" -f f16 -n 4096 -s 1 --rows :20 --dump-probs=3 --temp 0.7 -O json "$austen" | cmp - want
    [ "$(echo '[1.5,2.25e-1]' | LC_ALL=de_DE.UTF-8 "$sampl" -s 1 --emit logits -O text --temp 1)" = "1.5 0.225" ]
    echo "a locale with decimal commas"
else
    die "a locale with decimal commas: localedef or its sources (Debian's package locales) are missing"
fi

# an empty /proc; skipped where mounting is not allowed
if unshare -rm sh -c 'mount -t tmpfs none /proc' 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell's
    unshare -rm sh -c 'mount -t tmpfs none /proc && [ ! -e /proc/self ] && exec "$0" -f f16 -n 4096 -s 1 -t 2 --rows :20 --dump-probs=3 --temp 0.7 -O json -o got "$1"' \
        "$sampl" "$austen"
    cmp want got
    echo "without /proc"
else
    echo "without /proc: skipped, nothing may be mounted here"
fi
