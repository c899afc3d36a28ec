# SPDX-License-Identifier: MIT
# Loaded by every bats file. A test runs in a scratch folder. ROOT is the project's folder, `sampl` runs the program under test.
# shellcheck shell=bash
bats_require_minimum_version 1.5.0

# Before each command bats records the place in the test. A subshell loses the record, whose making takes longer than most commands:
# subshells skip it. The text of the function gets a first line. Outside of bats there is no such function.
TRACE=$(declare -f bats_debug_trap || :)
# shellcheck disable=SC2016 # the text expands it
eval "${TRACE/\{/'{ [ "$BASH_SUBSHELL" = 0 ] || return 0;'}"

ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
SAMPL=${SAMPL:-$ROOT/build/sampl}
UNITS=${UNITS:-$ROOT/build/unit}
AUSTEN=$ROOT/samples/austen.f16
export ROOT SAMPL UNITS AUSTEN
unset SAMPL_CPU NO_COLOR MAKEFLAGS MAKELEVEL # of `make check`, which does not call the makes of tests
# Tests of all bytes of a file, or of all calls of a run, use each STEP-th one from START on. Random tests run a STEP-th of the cases of
# `make check-long`. START changes with the commit, so that later commits test the other bytes.
STEP=${SAMPL_TEST_STEP:-$([ -n "${SAMPL_TEST_SHORT-}" ] && echo 64 || echo 4)}
START=$((${SAMPL_TEST_TURN:-0} % STEP))
export PYTHONDONTWRITEBYTECODE=1 # into the folders of the sources
export STEP START XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent

# few N [WORD...]: prints the words, or the lines of standard input, one a line. In the short suite only N of them, evenly spread: the commit
# decides which. Use it for loops of many runs that find much the same. `enough COUNT LEAST` is then the check of their number.
few() {
    { if [ $# -gt 1 ]; then printf '%s\n' "${@:2}"; else cat; fi; } | awk -v n="${SAMPL_TEST_SHORT:+$1}" -v turn="${SAMPL_TEST_TURN:-0}" '{ line[NR] = $0 }
        END { if (!n || n > NR) n = NR; for (i = 0; i < n; i++) print line[int(i * NR / n) + turn % int(NR / n) + 1] }'
}

enough() {
    [ "$1" -ge "$([ "${SAMPL_TEST_SHORT-}" ] && echo 1 || echo "$2")" ]
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# With SAMPL_TEST_COSTS=FILE, each test appends a line to the file: its processor seconds, its file and its name.
teardown() {
    [ -n "${SAMPL_TEST_COSTS-}" ] || return 0
    times >"$BATS_TEST_TMPDIR/times"
    awk -v file="${BATS_TEST_FILENAME##*/}" -v name="$BATS_TEST_DESCRIPTION" '{ gsub(/[ms]/, " "); s += 60 * ($1 + $3) + $2 + $4 }
        END { printf "%.2f\t%s\t%s\n", s, file, name }' "$BATS_TEST_TMPDIR/times" >>"$SAMPL_TEST_COSTS"
}

# sampl ARGUMENT...: runs the program. RUN_ENV is a prefix such as "valgrind -q" or "qemu-aarch64".
sampl() {
    # shellcheck disable=SC2086
    ${RUN_ENV-} "$SAMPL" "$@"
}

# tiers: prints the machine's SIMD tiers; without any, one that the program refuses, so that no loop over them tests nothing.
tiers() {
    sampl --version | sed -n 's/^SIMD tier .*(of \(.*\))$/\1/p' | grep . || echo none
}

# missing WHAT WHY: fails the test, which needs WHAT. Skips the test instead in the short suite, or if SAMPL_TEST_WITHOUT names WHAT.
missing() {
    if [[ ${SAMPL_TEST_SHORT-} || " ${SAMPL_TEST_WITHOUT-} " == *" $1 "* ]]; then skip "$1: $2"; fi
    echo "$1 is missing: $2"
    return 1
}

# need PROGRAM, need_numpy, need_own_process: calls `missing` if the program, numpy, or a process of sampl itself is missing.
need() {
    command -v "$1" >/dev/null || missing "$1" "it is not on the path"
}

need_numpy() {
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || missing numpy "Debian's python3-numpy has it"
}

need_own_process() {
    [ -z "${RUN_ENV-}" ] || missing own-process "$RUN_ENV runs the program"
}

# await COMMAND...: waits until the command succeeds. Fails after five minutes.
await() {
    local i
    for ((i = 0; i < 6000; i++)); do
        if "$@"; then return; fi
        sleep 0.05
    done
    echo "waited in vain for: $*"
    return 1
}

# has_bytes N FILE, has_lines N FILE...: succeeds if the file has at least N bytes, or the files together at least N lines.
has_bytes() {
    [ "$(stat -c %s "$2")" -ge "$1" ]
}

has_lines() {
    [ "$(cat "${@:2}" 2>/dev/null | wc -l)" -ge "$1" ]
}

# cmp [-s] A B: the program of this name. It fails, too, if both are empty and B is a file: two runs that end with an error print equally much.
cmp() {
    command cmp "$@" && { [ ! -f "${!#}" ] || [ -s "${!#}" ] || { echo "${!#} is empty"; return 1; }; }
}

# same A B: fails if two files are not equal or both are empty, and prints how they differ. Each may be a pipe; A may be -, standard input.
same() {
    local copy=$BATS_RUN_TMPDIR/same.$BASHPID
    if [ "$1" = - ]; then set -- /dev/stdin "$2"; fi
    command cmp <(tee "$copy" <"$1") "$2" || { diff "$1" "$2" | head -5; return 1; }
    [ -s "$copy" ] || { echo "$1 and $2 are empty"; return 1; }
}

# f32 NUMBER...: prints the numbers as little-endian f32.
f32() {
    perl -e 'print pack("f<*", map { $_ eq "nan" ? "nan" : $_ eq "inf" ? 9**9**9 : $_ eq "-inf" ? -9**9**9 : $_ } @ARGV)' -- "$@"
}

# gguf KEY=TYPE:VALUE...: prints a GGUF file without tensors. Keys without a dot belong to tokenizer.ggml. Types: s string, a array of strings
# separated by commas, i array of i32, u u32, b bool, x the type's number and the value in hex. GGUF_VERSION and GGUF_PAIRS override the
# version and the number of keys in the header.
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

# dump ROWS OPTION...: prints a TSV dump of the first rows of the sample.
dump() {
    local rows=$1
    shift
    sampl -n 4096 --rows ":$rows" --dump-probs -O tsv "$@" "$AUSTEN"
}

# same_output COMMAND LEFT... = RIGHT...: checks that the command prints the same output with two lists of options.
same_output() {
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

# same_dump LEFT... = RIGHT...: checks that two lists of options give the same dump.
same_dump() {
    same_output 'dump 48' "$@" && [ "$(wc -l <left)" -ge 49 ]
}

# other_dump LEFT... = RIGHT...: checks that two lists of options give different dumps.
other_dump() {
    run -1 same_dump "$@"
}

# copy_tree: makes the folder tree/ with the sources of the program and, of build/, the objects that exist.
copy_tree() {
    local build
    build=$(dirname "$SAMPL")
    [ -e "$build/samplers/list.o" ] || missing objects "there are none beside $SAMPL"
    mkdir -p tree/tests tree/build
    cp -a "$ROOT/src" "$ROOT/Makefile" tree
    cp "$ROOT/tests/tests.mk" tree/tests
    if [ "$build" = "$ROOT/build" ]; then # the dependency files have these paths
        (cd "$build" && cp -a --parents ./*.o ./*.d ./*/*.o ./*/*.d flags pkgdatadir "$BATS_TEST_TMPDIR/tree/build") 2>/dev/null || true
    fi
}

# build_tree: builds the program of the folder tree/. Compiles what a change concerns, without optimisation, and keeps the other objects,
# as FLAGS is that of their build. Warnings are errors, except for one that gcc's AVX-512 macros have at -O0.
build_tree() {
    printf '#!/bin/sh\nexec "%s" "$@" -O0 -U_FORTIFY_SOURCE -Werror -Wno-error=sign-conversion\n' "${CC:-cc}" >quick-cc
    chmod +x quick-cc
    make -s -C tree BUILD=build CC="$PWD/quick-cc" FLAGS="$(cat tree/build/flags 2>/dev/null)" all >make.log 2>&1 ||
        { cat make.log; return 1; }
}

# unfold: joins the lines of a printed chain that --print-chain has folded.
unfold() { perl -0pe 's/\n {6,}/ /g'; }

# print_values OPTION...: prints the chain of --print-chain without the origins of values.
print_values() {
    sampl -s 1 --print-chain "$@" | unfold | sed 's/ ([a-z ]*)//g'
    return "${PIPESTATUS[0]}"
}

# same_chain LEFT... = RIGHT...: checks that two lists of options mean the same chain.
same_chain() {
    same_output print_values "$@"
}
