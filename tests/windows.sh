#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# windows.sh SAMPL FOLDER: tests the program for Windows in FOLDER under Wine: C tests, cases of the suite, outputs that must be those of
# SAMPL, and what differs on Windows. `make check-windows` runs this script. In the environment: STEP=10 runs a tenth of the cases of the
# C tests. Prints counts at the end.
set -eu -o pipefail
cd "$(dirname "$0")/.."
here=$1 folder=$PWD/$2 step=${STEP:-4} scratch=$PWD/$2/scratch
unset MAKEFLAGS MAKELEVEL SAMPL_CPU NO_COLOR
export WINEDEBUG=-all WINEPREFIX=$folder/prefix LC_ALL=C.UTF-8 XDG_CONFIG_HOME=Z:/nonexistent
rm -rf "$scratch" && mkdir -p "$scratch"
passed=0 failed=0

windows() {
    wine "$folder/sampl.exe" "$@"
}

# check TITLE COMMAND...: runs the command, and counts whether it succeeds.
check() {
    if "${@:2}" >"$scratch/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$1"
        head -n 40 "$scratch/log"
    fi
}

# ---- the C tests

# unit NAME ARGUMENT...: runs a C test. expf_check, logf_check, libm_check and parity compare with functions of glibc's C library, which
# Windows does not have. Cases of the suite and same_output compare their results with those of SAMPL.
unit() {
    check "unit/$*" wine "$folder/unit/$1" "${@:2}"
}

units() {
    unit kern_check --cases $((100000 / step))
    unit engine_check $((2000 / step))
    unit wide_check $((126 / step + 1))
    unit json_number_check $((200000 / step))
    unit vocab_check $((20000 / step))
    unit number_text_check $((50000 / step))
    unit grammar_check $((1000 / step))
    for name in rng sort gbnf lookup split budget hash base variants; do unit "${name}_check"; done
}

# ---- the cases of tests/*.test

# Every case of the files runs. Each run of the program adds a line to the file `runs`.
suite() {
    local file
    printf '#!/bin/sh\necho >>"%s/runs"\nLC_ALL=C.UTF-8 exec wine "%s/sampl.exe" "$@"\n' "$scratch" "$folder" >"$scratch/sampl"
    chmod +x "$scratch/sampl"
    for file in tests/*.test; do
        file=${file##*/}
        check "cases of $file" env SAMPL="$scratch/sampl" bats --tap -f "^${file%.*}\\.test\$" tests/cases.bats
    done
}

# ---- outputs that must be those of SAMPL

# same ARGUMENT...: both programs print the same output and messages, with the same status.
same() {
    local status=0 want=0
    "$here" "$@" >"$scratch/want" 2>"$scratch/want.err" <samples/austen.f16 || want=$?
    windows "$@" >"$scratch/got" 2>"$scratch/got.err" <samples/austen.f16 || status=$?
    [ "$status" = "$want" ] || { echo "status $status, not $want" && return 1; }
    cmp "$scratch/got" "$scratch/want" && diff "$scratch/got.err" "$scratch/want.err"
}

same_outputs() {
    local words
    while read -ra words; do
        check "${words[*]}" same "${words[@]}"
    done <<'end'
-n 4096 -s 1 samples/austen.f16
-n 4096 -s 1 samples/austen.f16 --dump-probs -O tsv
-n 4096 -s 1 - -O json --trace
-n 4096 -s 1 samples/austen.f16 --samplers skew;typ_p;xtc;temperature --skew 0.4 --typical 0.9 --dynatemp-range 0.5 --dynatemp-exp 1.3 --dump-probs -O tsv
-n 4096 -s 1 samples/austen.f16 --preset samples/presets/scatter-creative.preset --scatter-adaptive -O json --trace
-n 4096 -s 1 samples/austen.f16 --mirostat 2 -O json
-n 4096 -s 1 samples/austen.f16 --engine ollama -O json
-n 4096 -s 1 samples/austen.f16 --engine akunu-gpu -t 2 -O json
-n 4096 -s 1 samples/austen.f16 --emit stats -O tsv
-n 4096 -s 1 samples/austen.f16 --emit logits -O npy
-n 4096 -s 1 samples/austen.f16 --emit logits -O f32
-n 4096 -s 1 samples/austen.f16 --vs --min-p=0.1 --vs --temp=1.5 --vs --samplers=temperature -O tsv
-n 4096 -s 1 samples/austen.f16 --shard 2/3 --threads 3
-s 1 samples/austen.f16 --vocab samples/austen.gguf --vs chat --vs min-p -O html
-s 1 samples/austen.f16 --vocab samples/austen.gguf --dry-multiplier 0.8 --repeat-penalty 1.1 -O json
-s 1 samples/austen.f16 --vocab samples/austen.gguf --grammar root::=("\x20"[a-z]+)+ --emit text
-s 1 --rows :1 --dump-probs=2 samples/reply.json
--help=all
--print-chain --preset chat
--tempp 3
-n 4096 nofile.f16
-n 4096 samples
end
}

# ---- what differs on Windows

run='-n 4096 -s 1 --rows :4'
expected() {
    # shellcheck disable=SC2086
    "$here" $run samples/austen.f16
}

# shellcheck disable=SC2086
utf8_names() {
    cp samples/austen.f16 "$scratch/Größe 測試.f16"
    windows $run "$scratch/Größe 測試.f16" -o "$scratch/Ausgabe ü.txt" && expected | cmp - "$scratch/Ausgabe ü.txt"
    windows $run "$scratch/gibt es nicht ä" 2>&1 | grep "gibt es nicht ä: cannot open: No such file" || [ "${PIPESTATUS[1]}" = 0 ]
}

# shellcheck disable=SC2086
backslashes() {
    mkdir -p "$scratch/a folder"
    windows $run 'samples\austen.f16' -o "${scratch//\//\\}\\a folder\\ids.txt" && expected | cmp - "$scratch/a folder/ids.txt"
    [ "$(ls -A "$scratch/a folder")" = ids.txt ]
}

# Paths beyond the 260 characters of older functions of Windows, with / and with \.
# shellcheck disable=SC2086
long_paths() {
    local deep=$scratch part
    for part in {1..8}; do deep+="/a folder with forty characters in its name $part"; done
    mkdir -p "$deep" && cp samples/austen.f16 "$deep/rows.f16"
    windows $run "$deep/rows.f16" -o "$deep/ids.txt" && expected | cmp - "$deep/ids.txt"
    windows $run "${deep//\//\\}\\rows.f16" | cmp - "$deep/ids.txt"
    local files=("$deep"/*)
    [ "${#files[@]}" = 2 ]
}

# shellcheck disable=SC2086
replaces_a_file() {
    echo old >"$scratch/old.txt"
    windows $run samples/austen.f16 -o "$scratch/old.txt" && expected | cmp - "$scratch/old.txt"
    ! windows -n 4095 samples/austen.f16 -o "$scratch/old.txt" && expected | cmp - "$scratch/old.txt"
}

# A preset that an editor of Windows wrote, with its line ends.
# shellcheck disable=SC2086
crlf_preset() {
    sed 's/$/\r/' samples/presets/chat.preset >"$scratch/crlf.preset"
    windows $run --preset "$scratch/crlf.preset" samples/austen.f16 >"$scratch/got"
    "$here" $run --preset samples/presets/chat.preset samples/austen.f16 | cmp - "$scratch/got"
}

own_preset() {
    mkdir -p "$scratch/settings/sampl/presets"
    echo '--temp 0.125' >"$scratch/settings/sampl/presets/own.preset"
    XDG_CONFIG_HOME=$scratch/settings windows --preset own --print-chain=preset | grep -- '--temp 0.125'
    XDG_CONFIG_HOME=$scratch/settings windows --list-presets | grep '^own'
}

# shellcheck disable=SC2086
pipes() {
    windows -n 4096 -s 1 samples/austen.f16 --emit logits -O f32 --samplers '' | windows -n 4096 -f f32 $run | cmp - <(expected)
    windows -n 4096 samples/austen.f16 -O json --trace 2>"$scratch/log2" | head -n 1 | grep '^{'
    [ ! -s "$scratch/log2" ]
    windows $run samples/austen.f16 -o NUL && windows $run samples/austen.f16 -o /dev/null
}

random_seed() {
    [ "$(windows -n 4096 --print-chain | head -n 1)" = 'seed random' ]
    [ "$(for _ in 1 2 3; do windows -n 4096 -t 3 samples/austen.f16 | md5sum; done | sort -u | wc -l)" = 3 ]
}

differences() {
    local name
    for name in utf8_names backslashes long_paths replaces_a_file crlf_preset own_preset pipes random_seed; do
        check "$name" bash -eu -o pipefail -c "$(declare -f windows expected "$name"); $name"
    done
}

export here folder scratch run
units
suite
same_outputs
differences
echo "Windows under Wine: $passed checks passed, $failed failed; $(wc -l <"$scratch/runs") cases of tests/*.test" | tee "$folder/result"
[ "$failed" -eq 0 ]
