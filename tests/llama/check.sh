#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check.sh SAMPL DIR: compares SAMPL with the llama.cpp in DIR, which `make check-llama` has fetched and built the driver for. Prints a line a
# part and one that sums up; exit status 1 on any difference. In the environment: SHORT=1 takes a tenth, SEED=N another start.
set -u
sampl=$1 dir=$2
cd "$(dirname "$0")/../.." || exit 2
export ROOT=. # the tables name files by it
driver=$dir/driver scratch=$dir/scratch models=$dir/src/models
seed=${SEED:-1} chains=20000 steps=60
if [ -n "${SHORT-}" ]; then chains=1500 steps=15; fi
if [ -n "${COUNT-}" ]; then chains=$COUNT; fi
austen=samples/austen.gguf
failed=()
rm -rf "$scratch"
mkdir -p "$scratch/grammars"
head -c $((257 * 300 * 4)) /dev/zero >"$scratch/flat.f32"

# The vocabulary for rows of a width.
vocab_of() {
    case $1 in
    4096) echo "$austen" ;;
    32000) echo "$models/ggml-vocab-llama-spm.gguf" ;;
    *) echo "$scratch/vocab-$1.gguf"
        [ -e "$scratch/vocab-$1.gguf" ] || "$driver" vocab "$1" "$scratch/vocab-$1.gguf" ;;
    esac
}

# one_case NAME FILE DTYPE N ROWS IDS OPTION...: the release, sampl and the recorded ids agree. Counts it.
one_case() {
    local name=$1 file=$2 dtype=$3 n=$4 rows=$5 ids=$6 said
    shift 6
    if [ -e "tests/cases/$file" ]; then file=tests/cases/$file; elif [ -e "samples/$file" ]; then file=samples/$file; fi
    local all=(-f "$dtype" -n "$n" --rows ":$rows" "$@")
    case " $* " in
    *" --vocab "*) ;;
    *) all+=(--vocab "$(vocab_of "$n")") ;;
    esac
    case " $* " in
    *" --dry-"*) ids= ;; # recorded without a vocabulary, whose texts break sequences
    esac
    said=$("$driver" run "${all[@]}" "$file" 2>"$scratch/said")
    case $? in
    0) ;;
    3) others=$((others + 1)) && return ;;
    *) echo "case $name: $(<"$scratch/said")" && differ=$((differ + 1)) && return ;;
    esac
    if [ "$said" != "$("$sampl" "${all[@]}" "$file" 2>/dev/null)" ]; then
        echo "case $name: sampl chooses other ids"
        printf '    %q' "$sampl" "${all[@]}" "$file" && echo
    elif [ -n "$ids" ] && [ "$(paste -sd, <<<"$said")" != "$ids" ]; then
        echo "case $name: the recorded ids are others"
    else
        return
    fi
    differ=$((differ + 1))
}

# The recorded cases: chains, grammars, schemas.
cases() {
    local name file dtype n rows args prompt accept ids schema words total=0 others=0 differ=0
    while IFS=$'\t' read -r name file dtype n rows args prompt accept ids _; do
        eval "words=($args)"
        [ "$prompt" = - ] || words+=(--prompt-tokens "$prompt")
        [ "$accept" = - ] || words+=(--accept "$accept")
        total=$((total + 1))
        one_case "$name" "$file" "$dtype" "$n" "$rows" "$ids" "${words[@]}"
    done < <(cat tests/cases/llama.tsv tests/cases/grammars.tsv)
    while IFS=$'\t' read -r name args ids schema; do
        eval "words=($args)"
        total=$((total + 1))
        rows=$(($(tr -cd , <<<"$ids" | wc -c) + 1))
        if [ "$args" = - ]; then # a text, byte by byte
            one_case "$name" "$scratch/flat.f32" f32 257 "$rows" '' -s 1 --accept "$ids" -j "$schema"
        else
            one_case "$name" json4096.f32 f32 4096 "$rows" "$ids" "${words[@]}" -j "$schema"
        fi
    done <tests/cases/schemas.tsv
    echo "cases: $total recorded ones ($others of samplers that llama.cpp does not have): $differ differ"
    [ "$differ" = 0 ]
}

# The texts of grammar.bats. The release refuses grammars that come to themselves without a byte read, and takes a day over some others;
# of a negated class that leaves out characters of several bytes it lets no first byte through that they share.
grammars() {
    local status ids grammar total=0 differ=0 refused=0 long=0 cut=0 verdict
    LISTEN=$(realpath "$scratch")/heard LISTEN_SAMPL=$(realpath "$sampl") SAMPL=$PWD/tests/llama/listen.sh bats tests/grammar.bats >"$scratch/said" 2>&1
    "$driver" vocab 257 "$scratch/vocab-257.gguf"
    head -c $((257 * 4 * 4000)) /dev/zero >"$scratch/long.f32"
    while IFS=$'\t' read -r status ids grammar; do
        eval "grammar=$grammar"
        total=$((total + 1))
        verdict=0
        (ulimit -v 4000000 && exec timeout 5 "$driver" run --vocab "$scratch/vocab-257.gguf" --grammar "$grammar" --accept "$ids" \
            --rows ":$(($(tr -cd , <<<"$ids" | wc -c) + 1))" "$scratch/long.f32") >/dev/null 2>"$scratch/said" || verdict=$?
        if [ "$verdict" = "$status" ]; then
            continue
        elif grep -q 'failed to parse grammar' "$scratch/said"; then
            refused=$((refused + 1))
        elif [ "$verdict" -gt 1 ] || grep -q bad_alloc "$scratch/said"; then
            long=$((long + 1))
        elif [ "$status$verdict" = 01 ] && [[ $grammar == *'[^'* ]] && grep -q 'does not fit' "$scratch/said"; then
            cut=$((cut + 1))
        else
            printf 'grammars: sampl says %s, llama.cpp %s: --accept %.200s --grammar %q\n' "$status" "$verdict" "$ids" "$grammar"
            differ=$((differ + 1))
        fi
    done <"$scratch/heard"
    echo "grammars: $total texts of grammar.bats: $differ differ; the release refuses the grammar of $refused, has no time or memory for $long, no part of" \
        "a character for $cut"
    [ "$differ" = 0 ] && [ "$total" -gt 0 ]
}

# Every grammar and schema of the suite and of the release, a file each.
collect() {
    local name args schema words i n=0
    cp "$dir"/src/grammars/*.gbnf "$scratch/grammars"
    while IFS=$'\t' read -r name _ _ _ _ args _; do
        eval "words=($args)"
        for ((i = 0; i < ${#words[@]}; i++)); do
            if [ "${words[i]}" = --grammar ]; then printf %s "${words[i + 1]}" >"$scratch/grammars/${name%[ab]}.gbnf"; fi
        done
    done <tests/cases/grammars.tsv
    while IFS= read -r schema; do
        n=$((n + 1))
        printf %s "$schema" >"$scratch/grammars/schema-$n.json"
    done < <(cut -f4 tests/cases/schemas.tsv && grep -v $'^[-+#]\|^$' tests/schemas.tsv)
}

masks() {
    collect
    printf '%s\0' "$austen" "$models"/ggml-vocab-{gpt-2,llama-spm,phi-3}.gguf |
        xargs -0 -P "$(nproc)" -I{} "$driver" masks --sampl "$sampl" --vocab {} --steps "$steps" --seed "$seed" --scratch "$scratch" \
            "$scratch"/grammars/* 2>"$scratch/said"
}

# llama.cpp runs the model; its logits through sampl come to the same tokens.
generation() {
    local rows=200 tokens=0 runs=0 differ=0 flags words prompt
    prompt=$(tr -s ' \n' , <samples/austen.prompt)
    if [ -n "${SHORT-}" ]; then rows=60; fi
    while read -r flags; do
        eval "words=($flags)"
        words+=(-s $((seed + runs)) --prompt-tokens "${prompt%,}")
        runs=$((runs + 1))
        if ! "$driver" generate --model samples/austen.gguf --libraries "$dir/lib" --rows "$rows" --out "$scratch/rows.f32" "${words[@]}" \
            >"$scratch/want" 2>"$scratch/said"; then
            echo "generation: $(<"$scratch/said")"
            differ=$((differ + 1))
        elif ! "$sampl" -f f32 -n 4096 --vocab samples/austen.gguf "${words[@]}" "$scratch/rows.f32" 2>"$scratch/said" | cmp -s - "$scratch/want"; then
            echo "generation: other tokens with ${words[*]} $(<"$scratch/said")"
            differ=$((differ + 1))
        fi
        tokens=$((tokens + $(wc -l <"$scratch/want")))
    done <<'END'

--temp 0
--temp 1.5 --top-k 0 --top-p 1 --min-p 0
--repeat-penalty 1.2 --frequency-penalty 0.1 --dry-multiplier 0.8
--mirostat 1
--mirostat 2 --mirostat-ent 3
--samplers 'top_k;temperature;adaptive_p' --adaptive-target 0.3
--dynatemp-range 0.5 --xtc-probability 0.5 --top-nsigma 1.5
--typical 0.9 --top-k 0
--samplers 'top_k;infill;temperature'
-l 13-inf -l 11+1 --samplers 'xtc;min_p' --xtc-probability 1
--ignore-eos --temp 2
-j '{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"]}'
--grammar 'root ::= ([A-Z] [a-z ,;]+ "." " "?)+' --temp 1.2 --repeat-penalty 1.1
END
    echo "generation: $runs settings from seed $seed, $tokens tokens: $differ differ"
    [ "$differ" = 0 ]
}

# Budgets of reasoning: tags out of what is chosen without one, messages of whole words, on which every tokenizer agrees; and bytes, which mostly end
# inside a character.
budgets() {
    local runs=100 i at n=0 differ=0 forced=0 ids all words=(' very' ' so' ' was' ' be' ' that' ' and' . '?')
    if [ -n "${SHORT-}" ]; then runs=30; fi
    RANDOM=$seed
    "$driver" vocab 257 "$scratch/vocab-257.gguf"
    for ((i = 0; i < runs; i++)); do
        all=(-s $((seed + i)) --rows ":$((20 + RANDOM % 80))" --top-k 0 --temp 1.$((RANDOM % 10)))
        if ((i % 4)); then all+=(-f f16 -n 4096 --vocab "$austen" samples/austen.f16); else all+=(-f f32 -n 257 --vocab "$scratch/vocab-257.gguf" "$scratch/flat.f32"); fi
        mapfile -t ids < <("$sampl" "${all[@]}")
        tag() { at=$((RANDOM % (${#ids[@]} - 1))) && tag=${ids[at]} && if ((RANDOM % 3 == 0)); then tag+=,${ids[at + 1]}; fi; }
        all+=(--reasoning-budget $((RANDOM % 6)))
        tag && all+=(--reasoning-start "$tag")
        for ((at = RANDOM % 3; at >= 0; at--)); do
            local left=$at
            tag && all+=(--reasoning-end "$tag")
            at=$left
        done
        if ((i % 4)); then all+=(--reasoning-budget-message "${words[RANDOM % 6]}${words[RANDOM % 8]}"); fi
        case $((RANDOM % 4)) in
        0) all+=(--repeat-penalty 1.3 --dry-multiplier 1) ;;
        1) all+=(--ignore-eos --grammar 'root ::= [^q]*') ;;
        2) all+=(--mirostat 2) ;;
        esac
        one_budget
    done
    echo "budgets: $n runs from seed $seed, $forced of them otherwise than without one: $differ differ"
    [ "$differ" = 0 ] && [ "$forced" -gt 0 ]
}

# The command of `all`. Of a forced token that the grammar does not take sampl says so; llama.cpp then has none left and takes any.
one_budget() {
    local want got
    n=$((n + 1))
    want=$("$driver" run "${all[@]}" 2>"$scratch/said")
    got=$("$sampl" "${all[@]}" 2>"$scratch/said.sampl")
    if [ "$got" != "$(printf '%s\n' "${ids[@]}")" ]; then forced=$((forced + 1)); fi
    if [ "$want" = "$got" ]; then return; fi
    if grep -q 'the reasoning budget: token' "$scratch/said.sampl" && [ "${want:0:${#got}}" = "$got" ]; then return; fi
    differ=$((differ + 1))
    echo "budgets: sampl says otherwise: $(<"$scratch/said") $(<"$scratch/said.sampl")"
    printf '    %q' "$sampl" "${all[@]}" && echo
}

# The rows that the program of samples/get writes.
library() {
    local cc=${CC:-cc} flags ids
    flags=("$dir"/lib/libllama.v*.so "$dir"/lib/libggml.v*.so "$dir"/lib/libggml-base.so -Xlinker -rpath -Xlinker "$(realpath "$dir/lib")"
        -Xlinker --allow-shlib-undefined)
    if ! "$cc" -o "$scratch/libllama" -isystem "$dir/src/include" -isystem "$dir/src/ggml/include" samples/get/libllama.c "${flags[@]}" ||
        ! GGML_BACKENDS=$dir/lib "$scratch/libllama" "$austen" "$(head -1 samples/austen.txt)" 40 >"$scratch/rows.f32" 2>"$scratch/ids"; then
        echo "library: samples/get/libllama.c cannot be built, or fails: $(head -c 400 "$scratch/ids")"
        return 1
    fi
    ids=$("$sampl" --vocab "$austen" -f f32 -s 1 --temp 0 --prompt-tokens "$(sed -n 1p "$scratch/ids")" "$scratch/rows.f32" | paste -sd,)
    echo "library: $(tr , '\n' <<<"$ids" | wc -l) rows from samples/get/libllama.c"
    if [ -z "$ids" ] || [ "$ids" != "$(sed -n 2p "$scratch/ids")" ]; then
        echo "library: sampl chooses $ids, llama.cpp $(sed -n 2p "$scratch/ids")"
        return 1
    fi
}

"$driver" chains --sampl "$sampl" --count "$chains" --seed "$seed" --scratch "$scratch" --vocabs "$models" || failed+=(chains)
cases || failed+=(cases)
"$driver" texts tests/schemas.tsv 2>"$scratch/said" || failed+=(texts)
grammars || failed+=(grammars)
masks || failed+=(masks)
generation || failed+=(generation)
budgets || failed+=(budgets)
library || failed+=(library)
if [ ${#failed[@]} -gt 0 ]; then
    echo "check-llama: differences in ${failed[*]}"
    exit 1
fi
echo "check-llama: sampl and $(basename "$dir"/lib/libllama.*.so .so) agree; see above for what ties and known deviations come to"
