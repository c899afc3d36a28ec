# SPDX-License-Identifier: MIT
# Loaded by every bats file. Tests run in a scratch folder; ROOT is the project, `sampl` the program under test.
# shellcheck shell=bash
bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
SAMPL=${SAMPL:-$ROOT/build/sampl}
UNITS=${UNITS:-$ROOT/build/unit}
AUSTEN=$ROOT/samples/austen.f16
export ROOT SAMPL UNITS AUSTEN
unset SAMPL_CPU NO_COLOR
# Cases that go through all bytes of a file, or all calls of a run, take each STEP-th from START on, and random cases do a STEP-th of
# what they do in `make check-long`. START changes with the commit, so that in time every byte is looked at.
STEP=${SAMPL_TEST_STEP:-4}
START=$((${SAMPL_TEST_TURN:-0} % STEP))
export STEP START XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# RUN_ENV is a prefix such as "valgrind -q" or "qemu-aarch64".
sampl() {
    # shellcheck disable=SC2086
    ${RUN_ENV-} "$SAMPL" "$@"
}

# missing WHAT WHY: the case cannot run here, and fails. It is skipped instead if SAMPL_TEST_WITHOUT names WHAT.
missing() {
    if [[ " ${SAMPL_TEST_WITHOUT-} " == *" $1 "* ]]; then skip "$1: $2"; fi
    echo "$1 is missing: $2"
    return 1
}

# need PROGRAM, need_numpy, need_own_process: for cases that work only with them.
need() {
    command -v "$1" >/dev/null || missing "$1" "it is not on the path"
}

need_numpy() {
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || missing numpy "Debian's python3-numpy has it"
}

need_own_process() {
    [ -z "${RUN_ENV-}" ] || missing own-process "$RUN_ENV runs the program"
}

# await COMMAND...: waits until the command succeeds. It gives up after five minutes, which no load explains.
await() {
    local i
    for ((i = 0; i < 6000; i++)); do
        if "$@"; then return; fi
        sleep 0.05
    done
    echo "waited in vain for: $*"
    return 1
}

# has_bytes N FILE, has_lines N FILE...: the file has grown to so many bytes, the files together to so many lines.
has_bytes() {
    [ "$(stat -c %s "$2")" -ge "$1" ]
}

has_lines() {
    [ "$(cat "${@:2}" 2>/dev/null | wc -l)" -ge "$1" ]
}

# same A B: two files are equal byte for byte, or the test fails and shows how they differ.
same() {
    cmp "$1" "$2" || { diff "$1" "$2" | head -5; return 1; }
}

# f32 NUMBER...: writes them as little-endian floats, by way of printf; needs no other program than perl.
f32() {
    perl -e 'print pack("f<*", map { $_ eq "nan" ? "nan" : $_ eq "inf" ? 9**9**9 : $_ eq "-inf" ? -9**9**9 : $_ } @ARGV)' -- "$@"
}

# gguf KEY=TYPE:VALUE...: writes a GGUF file without tensors. Keys without a dot belong to tokenizer.ggml. Types: s string, a array of strings
# separated by commas, i array of i32, u u32, b bool, x the type's number and the value in hex. GGUF_VERSION, GGUF_PAIRS: other than true.
gguf() {
    perl -e '
        sub str { pack("Q<", length $_[0]) . $_[0] }
        my %make = (s => sub { pack("V", 8) . str($_[0]) }, u => sub { pack("VV", 4, $_[0]) }, b => sub { pack("VC", 7, $_[0]) },
            a => sub { my @s = split /,/, $_[0], -1; join "", pack("VVQ<", 9, 8, scalar @s), map { str($_) } @s },
            i => sub { my @n = split /,/, $_[0]; pack("VVQ<l<*", 9, 5, scalar @n, @n) }, x => sub { pack("H*", $_[0]) });
        print "GGUF", pack("VQ<Q<", $ENV{GGUF_VERSION} // 3, 7, $ENV{GGUF_PAIRS} // scalar @ARGV);
        for (@ARGV) {
            my ($key, $type, $value) = /^(.*?)=(\w):(.*)$/s or die $_;
            print str($key =~ /\./ ? $key : "tokenizer.ggml.$key"), $make{$type}->($value);
        }' -- "$@"
}

# dump ROWS ARGUMENT...: the candidates of the first rows, every bit of them.
dump() {
    local rows=$1
    shift
    sampl -n 4096 --rows ":$rows" --dump-probs -O tsv "$@" "$AUSTEN"
}

# alike COMMAND LEFT... = RIGHT...: COMMAND prints the same with two lists of options.
alike() {
    local command=$1 left=()
    shift
    while [ "$1" != = ]; do
        left+=("$1")
        shift
    done
    shift
    $command "${left[@]}" >left || return 1
    $command "$@" >right || return 1
    same left right || { echo "of: ${left[*]} | $*"; return 1; }
}

# equal LEFT... = RIGHT...: two lists of options give the same dump.
equal() {
    alike 'dump 48' "$@" && [ "$(wc -l <left)" -ge 49 ]
}

# unlike LEFT... = RIGHT...: they do not.
unlike() {
    run -1 equal "$@"
}

# effective ARGUMENT...: what --print-chain says of them, wherever the values are from.
effective() {
    sampl -s 1 --print-chain "$@" | sed 's/ ([a-z ]*)//g'
    return "${PIPESTATUS[0]}"
}

# spelt A... = B...: two lists of options mean the same chain.
spelt() {
    alike effective "$@"
}
