#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check.sh SAMPL DIR: compares SAMPL with the llama.cpp in DIR, which `make check-llama` fetches, and for which it builds the driver. Prints a
# line for each part and a summary. Exit status 1 after any difference. In the environment: SHORT=1 runs a tenth, SEED=N sets the seed.
set -u
sampl=$1 dir=$2
cd "$(dirname "$0")/../.." || exit 2
export ROOT=. # the tables name files relative to ROOT
driver=$dir/driver scratch=$dir/scratch models=$dir/src/models
seed=${SEED:-1} chains=20000 steps=60
if [ -n "${SHORT-}" ]; then chains=1500 steps=15; fi
if [ -n "${COUNT-}" ]; then chains=$COUNT; fi
austen=samples/austen.gguf
failed=()
rm -rf "$scratch"
mkdir -p "$scratch/grammars"
head -c $((257 * 300 * 4)) /dev/zero >"$scratch/flat.f32"

# vocab_of N: prints the name of a vocabulary for rows of N logits.
vocab_of() {
    case $1 in
    4096) echo "$austen" ;;
    32000) echo "$models/ggml-vocab-llama-spm.gguf" ;;
    *) echo "$scratch/vocab-$1.gguf"
        [ -e "$scratch/vocab-$1.gguf" ] || "$driver" vocab "$1" "$scratch/vocab-$1.gguf" ;;
    esac
}

# one_case NAME FILE DTYPE N ROWS IDS OPTION...: compares the ids of the release, of sampl and of the record. Counts a difference.
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
    *" --dry-"*) ids= ;; # recorded without a vocabulary; with one, texts are breakers
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

# cases: compares the recorded cases of chains, grammars and schemas.
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
        if [ "$args" = - ]; then # the bytes of a text
            one_case "$name" "$scratch/flat.f32" f32 257 "$rows" '' -s 1 --accept "$ids" -j "$schema"
        else
            one_case "$name" json4096.f32 f32 4096 "$rows" "$ids" "${words[@]}" -j "$schema"
        fi
    done <tests/cases/schemas.tsv
    echo "cases: $total recorded ones ($others of samplers that llama.cpp does not have): $differ differ"
    [ "$differ" = 0 ]
}

# flags: compares forms and values of options that few use.
flags() {
    local flags words total=0 others=0 differ=0
    while read -r flags; do
        eval "words=($flags)"
        total=$((total + 1))
        one_case "flags $total" austen.f16 f16 4096 30 '' "${words[@]}"
    done <<'END'
-s 1 --grammar ''
-s 1 --dry-multiplier 1 --dry-sequence-breaker '\n' --no-escape --temp 1.5
-s 1 --dry-multiplier 1 --dry-sequence-breaker '\n' -e --temp 1.5
-s 1 --dry-multiplier 1 --dry-sequence-breaker ' the' --dry-sequence-breaker '\x2c' --escape
-s 1 --perf
-s 1 --no-perf
-s 1 -l 5+-1 -l ' 258 + 2' -l '13  --1' -l 7-+1
-s 1 -l 5000+1 -l -5+1 -l 258-inf
-s 1 --dry-base 0.5 --dry-multiplier 1
-s 1 --dry-base 1.2 --dry-base 0.5 --dry-multiplier 1
-s 1 --dry-allowed-length -3 --dry-multiplier 0.5 --temp 1.5
-s 1 --dry-allowed-length -1 --dry-multiplier 0.1 --dry-base 1.1 --temp 1.2
-s 1 --dry-allowed-length -300 --dry-multiplier 0.1 --dry-base 1 --temp 1.2
-s 1 --typical -0.5
-s 1 --typical -1e30 --top-k 0
-s 1 --xtc-threshold -0.5 --xtc-probability 1
-s 1 --xtc-threshold -0.5 --xtc-probability 0.5 --top-k 0 --top-p 1 --min-p 0
-s 1 --samplers adaptive_p --adaptive-target 1.5
-s 1 --samplers 'top_k;adaptive_p' --adaptive-target 50 --adaptive-decay 0.5
-s 1 --samplers 'top_k;adaptive_p;temperature;adaptive_p' --adaptive-target 0.3
-s 1 --sampler-seq kaat --adaptive-target 0.3
-s -5
-s 4294967296
-s 4294967301
END
    echo "flags: $total lists of options: $differ differ"
    [ "$differ" = 0 ]
}

# grammars: compares the texts of grammar.bats. The release refuses grammars that recurse without reading a byte, and needs hours for some
# others. For a negated class with characters of several bytes, it masks every first byte that these characters have.
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

# collect: writes every grammar and schema of the suite and of the release to a file of its own.
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

# generation: llama.cpp runs a model. Checks that sampl chooses the same tokens from its logits.
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

# budgets: compares reasoning budgets. Tags are tokens that a run without a budget chooses. Messages are whole words, which every tokenizer
# splits equally. A fourth of the runs has byte tokens, which mostly end inside a character.
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
    echo "budgets: $n runs from seed $seed, $forced of them with forced tokens: $differ differ"
    [ "$differ" = 0 ] && [ "$forced" -gt 0 ]
}

# one_budget: compares one run with the options `all`. If a forced token does not fit the grammar, sampl ends with an error, and llama.cpp
# chooses any token.
one_budget() {
    local want got
    n=$((n + 1))
    want=$("$driver" run "${all[@]}" 2>"$scratch/said")
    got=$("$sampl" "${all[@]}" 2>"$scratch/said.sampl")
    if [ "$got" != "$(printf '%s\n' "${ids[@]}")" ]; then forced=$((forced + 1)); fi
    if [ "$want" = "$got" ]; then return; fi
    if grep -q 'the reasoning budget: token' "$scratch/said.sampl" && [ "${want:0:${#got}}" = "$got" ]; then return; fi
    differ=$((differ + 1))
    echo "budgets: sampl chooses other ids: $(<"$scratch/said") $(<"$scratch/said.sampl")"
    printf '    %q' "$sampl" "${all[@]}" && echo
}

# compare_prompt PARAMS OPTION...: compares three rows of sampl with these parameters, and of the driver with these options.
compare_prompt() {
    local params=$1 want got
    shift
    printf '%s\n' "$params" '{}' '{}' >"$scratch/params"
    want=$("$driver" run -f f32 -n 4096 -s "$seed" --vocab "$austen" --rows :3 "$@" samples/austen-gen.f32 2>"$scratch/said")
    got=$("$sampl" -f f32 -n 4096 -s "$seed" --vocab "$austen" --rows :3 --params "$scratch/params" samples/austen-gen.f32 2>"$scratch/said.sampl")
    n=$((n + 1))
    if [ -n "$want" ] && [ "$want" = "$got" ]; then return; fi
    differ=$((differ + 1))
    echo "prompts: $params: llama.cpp ${want//$'\n'/ } $(<"$scratch/said"), sampl ${got//$'\n'/ } $(<"$scratch/said.sampl")"
}

# prompts: compares generation prompts, which move a grammar and a reasoning budget.
prompts() {
    local n=0 differ=0 budget tags prompt='{"name": "' schema='{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'
    local text='"generation_prompt":"{\"name\": \""' grammar='root ::= "{" [^z]*'
    compare_prompt "{\"params\":{\"json_schema\":$schema,$text}}" -j "$schema" --generation-prompt "$prompt"
    compare_prompt "{\"params\":{\"json_schema\":$schema}}" -j "$schema"
    compare_prompt "{\"params\":{\"grammar\":\"${grammar//\"/\\\"}\",$text}}" --grammar "$grammar" --generation-prompt "$prompt"
    compare_prompt "{\"params\":{\"grammar\":\"${grammar//\"/\\\"}\",\"grammar_type\":\"tool_calls\",$text}}" --grammar "$grammar" \
        --generation-prompt "$prompt" --tool-calls
    budget="\"reasoning_budget_tokens\":0,\"reasoning_budget_start_tag\":\"\\\"\",\"reasoning_budget_end_tag\":\"?\""
    tags=(--reasoning-budget 0 --reasoning-start 1 --reasoning-end 30)
    compare_prompt "{\"params\":{$budget,\"reasoning_budget_message\":\"\",\"generation_prompt\":\"\\\"\"}}" "${tags[@]}" --generation-prompt '"'
    compare_prompt "{\"params\":{$budget,\"generation_prompt\":\"\\\"\"}}" "${tags[@]}" --generation-prompt '"' --forces-nothing
    echo "prompts: $n rows' parameters: $differ differ"
    [ "$differ" = 0 ]
}

# library: checks that sampl chooses llama.cpp's tokens from the rows that samples/get/libllama.c writes.
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

# live: checks that samples/live/libllama.c generates the text of llama.cpp's own samplers, and one with a sampler that llama.cpp lacks.
live() {
    local cc=${CC:-cc} prompt ids
    prompt=$(tr -s ' \n' , <samples/austen.prompt)
    if ! "$cc" -o "$scratch/live" -isystem "$dir/src/include" -isystem "$dir/src/ggml/include" samples/live/libllama.c "$dir"/lib/libllama.v*.so \
        "$dir"/lib/libggml.v*.so "$dir"/lib/libggml-base.so -Xlinker -rpath -Xlinker "$(realpath "$dir/lib")" -Xlinker --allow-shlib-undefined; then
        echo "live: samples/live/libllama.c cannot be built"
        return 1
    fi
    generate() { SAMPL=$sampl GGML_BACKENDS=$dir/lib timeout 120 "$scratch/live" "$austen" "${prompt%,}" 32 "$@" 2>"$scratch/said"; }
    ids=$(generate -s 2)
    if [ "$ids" != "$(<samples/austen-gen.tokens)" ]; then
        echo "live: ${ids//$'\n'/ }, llama.cpp $(paste -sd' ' samples/austen-gen.tokens); $(tail -n 3 "$scratch/said")"
        return 1
    fi
    ids=$(generate -s 2 --temp 1.5 --top-h 0.4)
    echo "live: 32 tokens are llama.cpp's; $(wc -l <<<"$ids") tokens with top-h"
    [ "$(wc -l <<<"$ids")" = 32 ]
}

"$driver" chains --sampl "$sampl" --count "$chains" --seed "$seed" --scratch "$scratch" --vocabs "$models" || failed+=(chains)
cases || failed+=(cases)
flags || failed+=(flags)
"$driver" texts tests/schemas.tsv 2>"$scratch/said" || failed+=(texts)
grammars || failed+=(grammars)
masks || failed+=(masks)
generation || failed+=(generation)
budgets || failed+=(budgets)
prompts || failed+=(prompts)
library || failed+=(library)
live || failed+=(live)
tests/llama/accepts.py "$sampl" "$driver" "$austen" "$((steps * 50))" "$seed" || failed+=(accepts)
if [ ${#failed[@]} -gt 0 ]; then
    echo "check-llama: differences in ${failed[*]}"
    exit 1
fi
echo "check-llama: sampl and $(basename "$dir"/lib/libllama.*.so .so) agree; the lines above count ties and known deviations"
