#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# systems.sh SAMPL SYSTEM...: does the program build for these systems, with their own headers and every warning an error? And what runs
# under an emulator, does it print what SAMPL prints? `make check-systems` runs it, with Zig's compiler in build/zig.
set -eu -o pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL
here=$1
shift

# Prints what each chain makes of some rows, to the last bit, statistics, and a table of variants.
say() {
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
    say "$here" >build/systems/want
    say "$emulator" "$build/sampl" | cmp - build/systems/want
    echo "$system: prints what $here does, $(wc -l <build/systems/want) lines"
done
