#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# systems.sh SAMPL SYSTEM...: builds the program for these systems, with their headers and every warning an error. Where an emulator runs
# the program, checks that it prints the output of SAMPL. `make check-systems` runs this script, with Zig's compiler in build/zig.
set -eu -o pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL
here=$1
shift

# print_chains PROGRAM...: prints dumps, records and statistics of several chains, and a table of variants.
print_chains() {
    local chain
    while read -ra chain; do
        "$@" -n 4096 -s 1 --rows :12 samples/austen.f16 "${chain[@]}"
    done <<'end'
--dump-probs -O tsv
--dump-probs -O tsv --samplers skew;typ_p;xtc;temperature --skew 0.4 --typical 0.9 --dynatemp-range 0.5 --dynatemp-exp 1.3
--preset samples/presets/scatter-creative.preset --scatter-adaptive -O json --trace
--mirostat 2 -O json
--vocab samples/austen.gguf --dry-multiplier 0.8 --repeat-penalty 1.1 -O json
--engine ollama -O json
--engine akunu-gpu -t 2 -O json
--emit stats -O tsv
--vs --min-p=0.1 --vs --temp=1.5 --vs --samplers=temperature -O tsv
--vocab samples/austen.gguf --grammar root::=("\x20"[a-z]+)+ --emit text
end
}

for system; do
    build=build/systems/$system emulator=''
    targets=("$build/sampl")
    case $system in
    riscv64-linux-*) emulator=qemu-riscv64 && targets+=("$build/unit/libm_check") ;;
    esac
    make -s -j"$(nproc)" SYSTEM="$system" CFLAGS='-O0 -fno-sanitize=all' WERROR=1 "${targets[@]}" >/dev/null
    echo "$system: built, $(stat -c %s "$build/sampl") bytes"
    [ "$emulator" ] || continue
    "$emulator" "$build/unit/libm_check" 4000000000 20000
    print_chains "$here" >build/systems/want
    print_chains "$emulator" "$build/sampl" | cmp - build/systems/want
    echo "$system: prints the $(wc -l <build/systems/want) lines of $here"
done
