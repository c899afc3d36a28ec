#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --engine: the chains of other programs. tests/cases/engines.tsv holds the ids and counts that a NumPy program gave, and engines3.tsv those
# of transformers, vLLM and SGLang themselves, and of a reading of vllm-v2 and mlx; import.py made the tables. engines.py compares random
# rows. The other tests have a row for each pitfall that the engines' documents name.

load helper

# rows_of FILE DTYPE ROWS: prints the name of a file with the rows of a case. Of dtype json FILE is the row, which comes ROWS times.
rows_of() {
    if [ "$2" = json ]; then
        for ((i = 0; i < $3; i++)); do echo "$1"; done >rows.json
        echo rows.json
    elif [ -f "$ROOT/tests/cases/$1" ]; then
        echo "$ROOT/tests/cases/$1"
    else # the f32 rows of this name, rounded
        [ -f "$1" ] || sampl -n 32000 --samplers '' --emit logits -O f16 "$ROOT/tests/cases/${1%.f16}.f32" >"$1"
        echo "$1"
    fi
}

# check_cases TABLE LEAST: checks the ids and counts of every case of the table, which has at least LEAST cases, on 1 and 3 threads.
check_cases() {
    local failed=0 cases=0 name file dtype n rows args prompt accept ids kept words threads
    while IFS=$'\t' read -r name file dtype n rows args prompt accept ids kept; do
        eval "words=($args)"
        [ "$prompt" = - ] || words+=(--prompt-tokens "$prompt")
        [ "$accept" = - ] || words+=(--accept "$accept")
        file=$(rows_of "$file" "$dtype" "$rows")
        for threads in $(few 1 1 3); do
            sampl -f "$dtype" -n "$n" --rows ":$rows" -t "$threads" "${words[@]}" -O tsv "$file" |
                awk -F '\t' 'NR > 1 { ids = ids "," $2; kept = kept "," $4 } END { print substr(ids, 2), substr(kept, 2) }' >got
            [ "$(<got)" = "$ids $kept" ] || { echo "$name"; failed=1; }
            mapfile -t got < <(sampl -f "$dtype" -n "$n" --rows ":$rows" -t "$threads" "${words[@]}" "$file")
            [ "$(IFS=, && echo "${got[*]}")" = "$ids" ] || { echo "$name, ids alone"; failed=1; }
        done
        cases=$((cases + 1))
    done < <(cut -f1-10 "$ROOT/tests/cases/$1")
    echo "$cases cases"
    [ "$failed" -eq 0 ]
    [ "$cases" -ge "$2" ]
}

@test "every recorded case of ollama, akunu and batch gives its ids and counts, on 1 and 3 threads" {
    check_cases engines.tsv 41
}

@test "every recorded case of transformers, vllm, sglang and mlx gives its ids and counts, on 1 and 3 threads" {
    check_cases engines3.tsv 66
}

later_engines=(transformers vllm vllm-v2 sglang mlx)
all_engines=(ollama akunu akunu-gpu batch "${later_engines[@]}")

# ids OPTION...: prints the ids of the sample's rows in one line.
ids() {
    sampl -n 4096 -s 3 "$@" "$AUSTEN" | paste -sd' ' | grep .
}

@test "akunu-gpu: the id of a row depends only on the row, its number and the seed" {
    local gpu=(--engine akunu-gpu --temp 1.3 -n 4096 -s 9 -f f16)
    sampl "${gpu[@]}" "$AUSTEN" "$AUSTEN" >want
    [ "$(wc -l <want)" -eq 512 ]
    ! cmp -s <(head -256 want) <(tail -256 want) || return 1 # the same rows with other numbers
    for t in 2 5; do
        sampl "${gpu[@]}" -t $t "$AUSTEN" "$AUSTEN" >got
        same want got
    done
    sampl "${gpu[@]}" --independent -t 2 "$AUSTEN" "$AUSTEN" >got
    same want got
    sampl "${gpu[@]}" --rows 100:140 "$AUSTEN" >got
    same <(sed -n 101,140p want) got
    sampl "${gpu[@]}" --rows 100:140 --independent --accept @"$ROOT/samples/austen.tokens" "$AUSTEN" >got
    same <(sed -n 101,140p want) got
    # shellcheck disable=SC2002 # a pipe is the point
    cat "$AUSTEN" "$AUSTEN" | sampl "${gpu[@]}" - >got
    same want got
    ! cmp -s want <(sampl "${gpu[@]}" -s 10 "$AUSTEN" "$AUSTEN") || return 1
    # The generator is seeded with the sum of seed and row number.
    same <(sampl "${gpu[@]}" -s 10 --rows :255 "$AUSTEN" | head -1) <(head -c "$((4096 * 2))" "$AUSTEN" | cat <(head -c "$((4096 * 2))" "$AUSTEN") - | sampl "${gpu[@]}" - | tail -1)
}

@test "akunu rounds f32 and bf16 rows to f16" {
    local engine
    perl -e 'srand 5; print pack("f<*", map { rand(30) - 15 } 1 .. 40 * 999)' >x.f32
    perl -e 'srand 5; print pack("v*", map { unpack("V", pack("f<", rand(30) - 15)) >> 16 } 1 .. 40 * 999)' >x.bf16
    for type in f32 bf16; do
        for engine in akunu akunu-gpu; do
            for temp in 0 0.9; do
                sampl --engine "$engine" --temp "$temp" -s 4 -n 999 -f $type x.$type >wide
                [ "$(wc -l <wide)" -eq 40 ]
            done
        done
        # An f16 number as f32 ends in 13 zero bits.
        sampl --engine akunu -n 999 -s 1 -f $type --dump-probs -O tsv x.$type | sed 1d | cut -f4 |
            perl -ne '$n++; die $_ if unpack("V", pack("f<", $_)) & 0x1fff; END { die unless $n == 40 }'
    done
}

# kept_sets OPTION...: prints the row and id of each candidate that is kept, by row and id.
kept_sets() {
    sampl -n 4096 -s 5 --dump-probs -O tsv "$@" "$AUSTEN" | sed 1d | cut -f1,3 | sort -n -k1,1 -k2,2
}

@test "akunu-gpu and akunu keep the same candidates for the documented use cases" {
    local use filters
    # akunu keeps 256 candidates for top-k 0, akunu-gpu all: akunu gets 4095 instead.
    for use in '' '--temp 0.7 --top-k 40 --top-p 0.95 --min-p 0.05' '--temp 1 --top-k 4095 --top-p 0.9' \
        '--temp 1.2 --top-k 4095 --top-p 0.95' '--temp 0.2 --top-k 40 --top-p 0.95 --min-p 0.1'; do
        read -ra filters <<<"$use"
        kept_sets --engine akunu "${filters[@]}" >want
        [ "$(cut -f1 want | uniq | wc -l)" -eq 256 ]
        same want <(kept_sets --engine akunu-gpu "${filters[@]/4095/0}")
    done
}

@test "akunu-gpu: a filter at its off value changes no id" {
    same <(ids --engine akunu-gpu --temp 0.9 --top-k 4096) <(ids --engine akunu-gpu --temp 0.9) # top-k keeps every candidate
    same <(ids --engine akunu-gpu --temp 0.9 --top-k -1 --top-p 2 --min-p -1) <(ids --engine akunu-gpu --temp 0.9)
}

@test "akunu-gpu: --emit logits and --stats report the distribution that it draws from" {
    local gpu=(--engine akunu-gpu -s 1 -f f32 -n 3)
    f32 1 2 4 >row.f32
    same <(sampl "${gpu[@]}" --temp 0.5 --emit logits -O f32 row.f32) <(f32 2 4 8)
    sampl "${gpu[@]}" --temp 0.5 --stats row.f32 2>got
    sampl -s 1 -f f32 -n 3 --samplers temperature --temp 0.5 --stats row.f32 2>want
    same <(grep -E '^(n|entropy|kl_raw)' want) <(grep -E '^(n|entropy|kl_raw)' got)
}

@test "every engine is greedy at temperature 0, with any seed" {
    local engine
    for engine in "${all_engines[@]}"; do
        same <(ids --engine "$engine" --temp 0) <(ids --samplers greedy)
        same <(ids --engine "$engine" --temp 0 -s 99) <(ids --samplers greedy)
    done
}

@test "batch: a parameter at its off value gives the dump of llama.cpp's chain without the stage" {
    local on=(--engine batch -n 4096 -s 3 --temp 0.9 --top-k 50 --top-p 0.9 --repeat-penalty 1.2 --prompt-tokens '5,6,286,304')
    # llama.cpp's samplers in the engine's order; each line below leaves one of them out
    local chain=(-n 4096 -s 3 --temp 0.9 --top-k 50 --top-p 0.9 --repeat-penalty 1.2 --prompt-tokens '5,6,286,304' --dump-probs)
    same <(sampl "${on[@]}" --dump-probs "$AUSTEN") <(sampl "${chain[@]}" --repeat-last-n -1 --sampler-seq etkp "$AUSTEN")
    same <(sampl "${on[@]}" --repeat-penalty 1 --dump-probs "$AUSTEN") <(sampl "${chain[@]}" --sampler-seq tkp "$AUSTEN")
    same <(sampl "${on[@]}" --temp 1 --dump-probs "$AUSTEN") <(sampl "${chain[@]}" --repeat-last-n -1 --sampler-seq ekp "$AUSTEN")
    same <(sampl "${on[@]}" --top-k 0 --dump-probs "$AUSTEN") <(sampl "${chain[@]}" --repeat-last-n -1 --sampler-seq etp "$AUSTEN")
    same <(sampl "${on[@]}" --top-p 1 --dump-probs "$AUSTEN") <(sampl "${chain[@]}" --repeat-last-n -1 --sampler-seq etk "$AUSTEN")
    same <(sampl "${on[@]}" --temp 1 --top-k 0 --top-p 1 --repeat-penalty 1 --dump-probs "$AUSTEN") \
        <(sampl "${chain[@]}" --samplers '' "$AUSTEN")
    ! cmp -s <(sampl "${on[@]}" "$AUSTEN") <(sampl "${on[@]}" --repeat-penalty 1 "$AUSTEN") || return 1
}

@test "ollama and akunu: a parameter at its off value changes no id" {
    same <(ids --engine ollama --min-p 0) <(ids --engine ollama)
    same <(ids --engine ollama --top-p 7) <(ids --engine ollama --top-p 1)
    same <(ids --engine ollama --min-p -1) <(ids --engine ollama)
    same <(ids --engine ollama --top-p -0.5) <(ids --engine ollama --top-p 0)
    same <(ids --engine akunu --temp 0.9 --top-p 1 --min-p 0 --repeat-penalty 1) <(ids --engine akunu --temp 0.9)
    same <(ids --engine akunu --temp 0.9 --repeat-penalty 2 --repeat-last-n 0) <(ids --engine akunu --temp 0.9)
    ! cmp -s <(ids --engine akunu --temp 0.9 --repeat-penalty 2) <(ids --engine akunu --temp 0.9) || return 1
}

@test "an engine's defaults hold for options that are not given, in any order and with presets" {
    local engine
    for engine in akunu akunu-gpu batch; do
        same <(ids --engine "$engine") <(ids --engine "$engine" --temp 0 --top-k 0 --top-p 1)
    done
    echo '--engine akunu --temp 0.9 --top-k 7' >preset
    same <(ids --preset ./preset) <(ids --top-k 7 --temp 0.9 --engine akunu)
    same <(ids --engine llama) <(ids)
    same <(ids --engine akunu --engine llama --min-keep 2) <(ids --min-keep 2) # the last --engine holds
    echo '--xtc-probability 0.5' >preset
    # An option of a preset is left out with a note, a typed one is refused.
    run -0 --separate-stderr sampl --engine akunu --preset ./preset --print-chain=preset
    # shellcheck disable=SC2154
    [ "$stderr" = 'sampl: note: --preset: ./preset: engine akunu has no stage for --xtc-probability, which it ignores' ]
    [ "$output" = "$(sampl --engine akunu --print-chain=preset)" ]
    run -2 sampl --engine akunu --xtc-probability 0.5 rows
    [[ $output == 'sampl: --xtc-probability: engine akunu has no stage for it' ]]
}

@test "every engine either has a stage for an option or refuses the option by name" {
    local engine option n=0
    sampl --help=all | sed -n '/^Samplers:/,/^Output/p' |
        perl -ne 'print "--$1 ", $2 // "", "\n" if /^ {2,6}(?:-\w+, )?--([\w-]+)(?:, --[\w-]+)*(?: ([A-Z]\S*))?/' >options
    [ "$(wc -l <options)" -ge 45 ]
    for engine in "${all_engines[@]}"; do
        sampl --engine "$engine" -s 1 --temp 1 --print-chain=json | grep -oE '"[a-z_]+":' | tr -d '":' | sed 'y/_/-/; s/^/--/' >taken
        while read -r option value; do
            case $option in
            --engine | --seed | --neutral | --backend-sampling) continue ;;
            --perf | --no-perf | --escape | --no-escape | --gpt-oss-*) continue ;;
            --samplers | --sampler-seq | --logit-bias | --bad-word-tokens | --eog-tokens | --min-tokens | --ignore-eos | --*grammar* | --json* | --dry-sequence-breaker) continue ;;
            esac
            [[ $option != --*-cutoff ]] || value=0.5 # 1 is out of the range of cut-offs
            [[ $option != --scatter-metric ]] || value=l2
            run sampl --engine "$engine" "$option" ${value:+"${value/[A-Z]*/1}"} --print-chain
            if grep -qx -e "$option" taken; then
                [ "$status" -eq 0 ] || { echo "$engine $option: $output"; return 1; }
            else
                [ "$output" = "sampl: $option: engine $engine has no stage for it" ] || { echo "$engine $option: $output"; return 1; }
                n=$((n + 1))
            fi
        done < <(few 10 <options)
    done
    enough "$n" 120
}

@test "--print-chain=preset with --engine: the printed options make the same run" {
    local engine
    for engine in "${all_engines[@]}"; do
        sampl -s 5 --engine "$engine" --temp 0.7 --top-p 0.8 --print-chain=preset >flags
        grep -qE -- "^--engine $engine --neutral .*--seed 5" flags
        # shellcheck disable=SC2046
        same <(ids $(cat flags)) <(ids -s 5 --engine "$engine" --temp 0.7 --top-p 0.8)
        sampl -s 5 --engine "$engine" --print-chain=json | grep -q "^{\"version\":\"[0-9.]*\",\"llama_cpp\":\"v[0-9.]*\",\"engine\":\"$engine\",\"seed\":5,\"chain\":\[{\"name\":"
    done
}

@test "every engine gives the same ids in dumps, traces and records, on every tier" {
    local engine tier
    for engine in $(few 3 "${all_engines[@]}"); do
        sampl --engine "$engine" --temp 0.9 --top-p 0.9 -n 4096 -s 2 "$AUSTEN" >want
        sampl --engine "$engine" --temp 0.9 --top-p 0.9 -n 4096 -s 2 --dump-probs=1 --trace -O json "$AUSTEN" >dump
        same want <(grep -oE '"id":[0-9]+,"prob":[^,]*,"n"' dump | grep -oE '^"id":[0-9]+' | cut -d: -f2)
        # Probabilities sum to 1, and one token is chosen.
        sampl --engine "$engine" --temp 0.9 --top-p 0.9 -n 4096 -s 2 --dump-probs -O tsv "$AUSTEN" | sed 1d | awk -F'\t' '
            { sum[$1] += $5; chosen[$1] += $7 } END { for (r in sum) { n++; if (sum[r] < 0.9999 || sum[r] > 1.0001 || chosen[r] != 1) exit 1 }
            exit n != 256 }'
        sampl --engine "$engine" --temp 0.9 --top-p 0.9 -n 4096 -s 2 -O tsv "$AUSTEN" | sed 1d | cut -f3 >p
        same p <(sampl --engine "$engine" --temp 0.9 --top-p 0.9 -n 4096 -s 2 --dump-probs -O tsv "$AUSTEN" | awk -F'\t' '$7 == 1 { print $5 }')
        for tier in $(tiers); do
            same want <(SAMPL_CPU=$tier sampl --engine "$engine" --temp 0.9 --top-p 0.9 -n 4096 -s 2 "$AUSTEN")
        done
    done
}

@test "no engine chooses a masked token at a high temperature" {
    local engine hot all
    perl -e 'print pack("f<*", map { map { $_ % 3 ? -9**9**9 : 0.5 * ($_ % 5) } 0 .. 599 } 1 .. 50)' >x.f32
    for engine in "${all_engines[@]}"; do
        hot=50 all=0
        case $engine in vllm*) hot=2 ;; sglang) all=-1 ;; esac
        sampl --engine "$engine" --temp $hot --top-k $all --top-p 1 -n 600 -s 1 x.f32 | awk '$1 % 3 { exit 1 } { n++ } END { exit n != 50 }'
    done
}

@test "with --accept every engine gives the same ids on 3 threads and with --independent --rows" {
    local engine
    for engine in "${all_engines[@]}"; do
        local args=(--engine "$engine" --temp 0.9 --accept @"$ROOT/samples/austen.tokens" -n 4096 -s 2)
        case $engine in akunu | batch) args+=(--repeat-penalty 1.3) ;; esac
        sampl "${args[@]}" "$AUSTEN" >want
        same want <(sampl "${args[@]}" -t 3 "$AUSTEN")
        same <(sampl "${args[@]}" --independent "$AUSTEN" | sed -n 8p) <(sampl "${args[@]}" --independent --rows 7:8 "$AUSTEN")
    done
}

# equal_rows N: prints 40 f32 rows of N equal logits. The chosen id is the uniform number of the draw, in steps of 1 / N.
equal_rows() {
    perl -e 'print pack("f<*", (1) x $ARGV[0]) x 40' "$1"
}

@test "under a grammar ollama draws again if its first token does not fit" {
    local vocab=(--vocab letters --grammar 'root ::= [ab]*')
    printf '%s\n' a b c d >letters
    equal_rows 64 >fine.f32 && cat fine.f32 fine.f32 | sampl --engine ollama --top-k 0 --top-p 1 -f f32 -n 64 -s 6 >draws
    equal_rows 4 | sampl --engine ollama --top-k 0 --top-p 1 -f f32 -n 4 -s 6 "${vocab[@]}" >got
    # The first draw is from four tokens, the second from the two that fit.
    awk 'BEGIN { for (r = 0; r < 40; r++) { getline u; t = int(u / 16); if (t > 1) { getline u; t = int(u / 32); n++ } print t }
        exit n < 5 }' <draws >want
    same want got
    run ! cmp -s got <(awk '{ print int($1 / 32) }' draws | head -40)
}

@test "under a grammar akunu masks tokens before its chain and draws once" {
    local vocab=(--vocab letters --grammar 'root ::= [bd]*')
    printf '%s\n' a b c d >letters
    equal_rows 64 | sampl --engine akunu --temp 0.7 -f f32 -n 64 -s 6 | awk '{ print $1 < 32 ? 1 : 3 }' >want
    equal_rows 4 | sampl --engine akunu --temp 0.7 -f f32 -n 4 -s 6 "${vocab[@]}" >got
    same want got
}

@test "batch: requests with different parameters in one run give the ids of separate runs" {
    local knobs=('"temperature":0' '"temperature":0.9' '"temperature":0.9,"top_k":5' '"temperature":0.9,"top_p":0.5'
        '"temperature":0.9,"repeat_penalty":1.5' '"temperature":0,"top_k":7,"top_p":0.1' '"temperature":2,"top_p":0' '"seed":12,"temperature":1')
    local flags=('--temp 0' '--temp 0.9' '--temp 0.9 --top-k 5' '--temp 0.9 --top-p 0.5' '--temp 0.9 --repeat-penalty 1.5' '--temp 0'
        '--temp 2 --top-k 1' '--temp 1 -s 12')
    local common=(--engine batch --prompt-tokens '5,6,286,304') i
    sampl -n 4096 --rows :8 --samplers '' --emit logits -O json -s 1 "$AUSTEN" >rows
    for i in "${!knobs[@]}"; do
        sed -n $((i + 1))p rows | sed "s/^{/{\"seq\":$i,\"params\":{${knobs[i]}},/"
    done >batch.json
    sampl "${common[@]}" -s 4 batch.json >got
    for i in "${!flags[@]}"; do
        # shellcheck disable=SC2086
        sed -n $((i + 1))p rows | sampl "${common[@]}" -s $((4 + i)) ${flags[i]}
    done >want
    same want got
    [ "$(sed -n '1p;6p' got)" = "$(sampl --engine batch --prompt-tokens 5 -n 4096 --rows :6 "$AUSTEN" | sed -n '1p;6p')" ]
}

@test "under a grammar akunu ignores a preset's penalty, and refuses a typed one by name" {
    local option
    printf '%s\n' a b >letters
    for option in --repeat-penalty --repeat-last-n; do
        run -2 sampl --engine akunu --vocab letters $option 2 --json-schema '{}' --print-chain
        [ "$output" = "sampl: $option: engine akunu has no stage for it under a grammar" ]
    done
    echo '--repeat-penalty 2 --json-schema {}' >preset
    run -0 --separate-stderr sampl --engine akunu --vocab letters --preset ./preset --print-chain
    # shellcheck disable=SC2154
    [ "$stderr" = 'sampl: note: --preset: ./preset: engine akunu has no stage for --repeat-penalty, which it ignores' ]
}

# equal_json_rows MEMBERS...: prints a JSON row of 1000 equal logits for each argument, with these members. N* before the members makes N
# rows.
equal_json_rows() {
    perl -e 'for my $t (@ARGV) { my $n = $t =~ s/^(\d+)\*// ? $1 : 1; print "{$t\"logits\":[", join(",", (0) x 1000), "]}\n" for 1 .. $n }' "$@"
}

@test "batch: the k-th sequence to appear has the generator of seed + k, unless its params name a seed" {
    local batch=(sampl --engine batch --temp 1 -s 4294967294)
    # draws SEED: prints the first two ids of a run with this seed.
    draws() { equal_json_rows 2\* | sampl --engine batch --temp 1 -s "$1" | paste -sd' '; }
    # Sequence b begins again after its end. The unnamed sequence is counted when its first row appears.
    equal_json_rows '"seq":"a",' '"seq":"b",' '"seq":"a",' '"seq":"b","end":true,' '"seq":"b",' '' '"seq":"b",' '' |
        "${batch[@]}" >got
    same <(sed -n '1p;3p' got | paste -sd' ') <(draws 4294967294)
    same <(sed -n '5p;7p' got | paste -sd' ') <(draws 0) # the seed wraps at 2^32
    same <(sed -n '6p;8p' got | paste -sd' ') <(draws 1)
    # --seed -1 means a random seed; a sum of -1 is a seed as any other.
    [ "$(sed -n '2p;4p' got)" = "$(equal_json_rows '"seq":"a",' '2*"seq":"b",' | sampl --engine batch --temp 1 -s 4294967294 | tail -2)" ]
    # Sequences with a seed of their own are counted, too.
    equal_json_rows '2*"seq":"a",' '"params":{"seed":7},"seq":"b",' '"seq":"b",' '2*"seq":"c",' '"seq":"b","params":{"seed":8},' '"seq":"b",' |
        sampl --engine batch --temp 1 -s 7 >got
    same <(sed -n 1,2p got | paste -sd' ') <(draws 7)
    same <(sed -n 3,4p got | paste -sd' ') <(draws 7)
    same <(sed -n 5,6p got | paste -sd' ') <(draws 9)
    same <(sed -n 7,8p got | paste -sd' ') <(draws 8)
    # Parameters that change do not restart a sequence.
    same <(equal_json_rows '"seq":"a",' '"seq":"b",' '"seq":"b","params":{"top_k":900},' | sampl --engine batch --temp 1 -s 7 | tail -2 | head -1) \
        <(draws 8 | cut -d' ' -f1)
    # With --independent each row has a seed of its own. Other engines give every sequence the same seed.
    same <(equal_json_rows '"seq":"a",' '"seq":"b",' | sampl --engine batch --temp 1 -s 7 --independent) \
        <(equal_json_rows 2\* | sampl --engine batch --temp 1 -s 7 --independent)
    equal_json_rows '"seq":"a",' '"seq":"b",' | sampl --engine akunu --temp 1 -s 7 >got
    [ "$(uniq got | wc -l)" -eq 1 ]
    # A sequence is counted although its first row is bad.
    equal_json_rows '"seq":"a",' '"seq":"b","params":{"temperature":"x"},' '2*"seq":"c",' >rows
    run -1 --separate-stderr sampl --engine batch --temp 1 -s 7 --on-error skip rows
    [ "$(tail -2 <<<"$output" | paste -sd' ')" = "$(draws 9)" ]
}

@test "ollama and akunu: a row at temperature 0 uses no random number" {
    local engine
    sampl -n 4096 --rows :12 --samplers '' --emit logits -O json -s 1 "$AUSTEN" >rows
    sed '4s/^{/{"params":{"temperature":0},/; 6s/^{/{"params":{"temperature":1.5},/' rows >rest.json
    for engine in ollama akunu; do
        sampl --engine "$engine" --temp 1.5 --top-p 1 -s 7 rest.json | sed 4,5d >got
        sed 4,5d rows | sampl --engine "$engine" --temp 1.5 --top-p 1 -s 7 >want
        same want got
        # Another seed in between restarts the generator.
        sed '4s/0}/0,"seed":8}/; 6s/1.5}/1.5,"seed":7}/' rest.json | sampl --engine "$engine" --temp 1.5 --top-p 1 -s 7 | sed 1,5d >got
        sed 1,5d rows | sampl --engine "$engine" --temp 1.5 --top-p 1 -s 7 >want
        same want got
    done
}

@test "ollama: seeds have 64 bits, and only seed -1 is random" {
    perl -e 'print pack("f<*", map { $_ * 7 % 11 } 0 .. 639)' >in.f32
    perl -e 'print pack("f<*", map { $_ * 7 % 11 } 160 .. 191)' >row5.f32
    local seed
    go() { sampl --engine ollama -n 32 --temp 5 "$@"; }
    go -s 5 in.f32 >five
    for seed in 4294967301 -4294967291 4294967295 -2 9223372036854775807; do
        go -s $seed in.f32 >got
        run -1 cmp -s got five
        sampl --engine ollama -s $seed --print-chain | grep -qx "seed $seed (command line)"
        # shellcheck disable=SC2046
        go $(sampl --engine ollama -s $seed --temp 5 --print-chain=preset) in.f32 | cmp - got
    done
    [ "$(go -s -1 -v in.f32 2>&1 >/dev/null | grep -c random)" = 1 ]
    [ "$(go -s 4294967295 -v in.f32 2>&1 >/dev/null | grep -c random)" = 0 ]
    # The sum of seed and row number wraps at 2^64.
    for seed in 4294967294 -3; do
        go -s $seed --independent --rows 5:6 in.f32 >got
        go -s $((seed + 5)) row5.f32 | cmp - got
    done
}

@test "random rows of transformers, vllm, vllm-v2, sglang and mlx are those of a numpy program" {
    need_numpy
    run -0 "$BATS_TEST_DIRNAME/engines.py" "$SAMPL" $((2000 / STEP)) 2
    [[ $output == *' rows compared, '* ]]
}

# sampled ENGINE OPTION...: prints the ids of the sample's rows, drawn at temperature 1.
sampled() {
    sampl --engine "$1" --temp 1 -n 4096 -s 5 "${@:2}"
}

@test "transformers, vllm, vllm-v2, sglang and mlx: threads, shards and parts of the input give the ids of one run" {
    local engine t k tokens=@$ROOT/samples/austen.tokens
    for engine in "${later_engines[@]}"; do
        local args=("$engine" --repeat-penalty 1.3 --top-p 0.95 --accept "$tokens")
        sampled "${args[@]}" "$AUSTEN" >want
        [ "$(wc -l <want)" -eq 256 ]
        for t in 2 3; do same want <(sampled "${args[@]}" -t $t "$AUSTEN"); done
        for k in 1 2 3; do sampled "${args[@]}" --shard $k/3 "$AUSTEN"; done >got
        same want got
        tail -c +$((100 * 8192 + 1)) "$AUSTEN" | sampled "${args[@]}" -f f16 --row-base 100 - >got
        same <(tail -n +101 want) got
        # Each row alone is the row of a whole run with --independent.
        sampled "$engine" --independent "$AUSTEN" >want
        same <(sed -n 41,45p want) <(sampled "$engine" --independent --rows 40:45 "$AUSTEN")
        same want <(sampled "$engine" --independent -t 3 "$AUSTEN")
        # A row's seed is the sum of seed and row number. The noise of vllm-v2 and sglang also depends on the position, which is 0 here.
        same <(sed -n 8p want) <(sampled "$engine" -s 12 --first 7 --rows 7:8 "$AUSTEN") || [[ $engine == vllm-v2 || $engine == sglang ]]
    done
}

@test "transformers and vllm: JSON rows of several widths give the same ids on any number of threads" {
    local engine t
    perl -e 'srand 3; print "[", join(",", map { sprintf "%.3f", rand 4 } 0 .. rand 9), "]\n" for 1 .. 60' >rows.json
    for engine in transformers vllm; do
        sampl --engine "$engine" -s 1 rows.json >want
        for t in 2 3 5; do same want <(sampl --engine "$engine" -s 1 -t $t rows.json); done
        # A row takes two words of mt19937 for each of its tokens, whatever the filters kept.
        same <(tail -n 1 want) <(sed 's/.*\[/[/; $!s/[0-9.]\{1,\}/0/2g' rows.json | sampl --engine "$engine" -s 1 | tail -n 1)
    done
}

@test "transformers, vllm, vllm-v2 and sglang: seeds have 64 bits, and only seed -1 is random" {
    local engine seed
    for engine in transformers vllm vllm-v2 sglang; do
        go() { sampl --engine "$engine" -n 4096 --rows :40 "$@" "$AUSTEN"; }
        go -s 5 >five
        for seed in -4294967291 4294967301 9223372036854775807 -2; do
            go -s $seed >got
            case $engine$seed in
            transformers*67291 | transformers*67301 | vllm-4294967291 | vllm4294967301) same got five ;; # mt19937 takes the low 32 bits
            *) ! cmp -s got five || return 1 ;;
            esac
            sampl --engine "$engine" -s $seed --print-chain | grep -qx "seed $seed (command line)"
        done
        [ "$(go -s -1 -v 2>&1 >/dev/null | grep -c random)" = 1 ]
        [ "$(go -s 4294967295 -v 2>&1 >/dev/null | grep -c random)" = 0 ]
    done
    run -2 sampl --engine mlx -s 4294967296 --print-chain
}

@test "--sweep, --vs, --expect and --params run the later engines as runs of their own" {
    local engine column=1
    sampl -n 4096 -s 3 --rows :50 --temp 0.9 --vs '--engine sglang --temp 0.9' --sweep engine=llama,transformers,vllm,sglang --emit ids "$AUSTEN" >table 2>notes
    for engine in llama llama transformers vllm sglang llama transformers vllm sglang; do
        same <(cut -f $column table) <(sampl -n 4096 -s 3 --rows :50 --temp 0.9 --engine "$engine" "$AUSTEN")
        column=$((column + 1))
    done
    printf '{"params":{%s}}\n' '"temperature":0.9' '"temperature":0' '"top_k":1' >params
    for engine in "${later_engines[@]}"; do
        sampled "$engine" >ids "$AUSTEN"
        [ -z "$(sampled "$engine" --expect @ids "$AUSTEN")" ]
        sampled "$engine" --rows :20 "$AUSTEN" >want
        sampl -n 4096 --rows :20 --samplers '' --emit logits -O json -s 1 "$AUSTEN" | sed '1s/^{/{"params":{"temperature":1},/' >rows.json
        same want <(sampl --engine "$engine" --temp 0.5 -s 5 rows.json)
        same <(sampled "$engine" --temp 0.9 --rows :1 "$AUSTEN"; sampled "$engine" --temp 0 --rows 1:2 "$AUSTEN"; sampled "$engine" --top-k 1 --rows 2:3 "$AUSTEN") \
            <(sampled "$engine" --rows :3 --params params "$AUSTEN")
        # Behind the first stages the row is as it was read.
        same <(sampl -n 4096 --rows :1 --samplers '' --emit logits -s 1 "$AUSTEN") <(sampled "$engine" --rows :1 --after logit_bias --emit logits "$AUSTEN")
    done
}

# Noise goes by the position of a row in its sequence, in the whole input.
@test "akunu-gpu, vllm-v2 and sglang: sequences that take turns equal each alone, whatever --rows selects" {
    local engine i t
    perl -e 'srand 5; for my $i (0 .. 23) { printf qq({"seq":"%s"%s,"logits":[%s]}\n), substr("abc", $i % 3, 1), $i == 16 ? q(,"end":true) : "", join ",", map { sprintf "%.3f", rand 3 } 0 .. 8 }' >turns.json
    jq -c '{seq, "end": .end}' turns.json >turns.params
    perl -ne 'print pack "f<*", /\[(.*)\]/ ? split /,/, $1 : ()' turns.json >turns.f32
    for engine in akunu-gpu vllm-v2 sglang; do
        go() { sampl --engine "$engine" -s 7 --temp 1 "$@"; }
        go turns.json >want
        for i in a c; do
            same <(grep "\"$i\"" turns.json | go) <(paste want <(jq -r .seq turns.json) | sed -n "s/\t$i\$//p")
        done
        for t in 1 3; do
            same <(sed -n '8,20p' want) <(go -t $t --rows 7:20 turns.json)
            same <(sed -n '3p; 6,9p; 23p' want) <(go -t $t --rows 2,5:9,22 turns.json)
            same <(sed -n '3p; 6,9p; 23p' want) <(go -t $t --rows 2,5:9,22 -n 9 --params turns.params turns.f32)
            same <(sed -n '8,20p' want) <(for i in 1 2 3; do go -t $t --rows 7:20 --shard $i/3 -n 9 --params turns.params turns.f32; done)
        done
    done
}

@test "transformers and vllm: a sparse row needs a width to draw, but none at temperature 0" {
    local engine row='{"ids":[1,5,7],"logits":[2,2.5,3]}'
    for engine in transformers vllm; do
        run -1 sampl --engine "$engine" -s 1 <<<"$row"
        [[ $output == *'give --n-vocab' ]]
        [ "$(sampl --engine "$engine" -s 1 --temp 0 <<<"$row")" = 7 ]
        # Missing tokens are masked, and take their random numbers.
        same <(sampl --engine "$engine" -s 1 -n 9 <<<"$row$row$row") \
            <(sampl --engine "$engine" -s 1 <<<'[null,2,null,null,null,2.5,null,3,null][null,2,null,null,null,2.5,null,3,null][null,2,null,null,null,2.5,null,3,null]')
    done
    for engine in vllm-v2 sglang mlx; do
        same <(sampl --engine "$engine" -s 1 --temp 1 <<<"$row$row") \
            <(sampl --engine "$engine" -s 1 --temp 1 <<<'[null,2,null,null,null,2.5,null,3,null][null,2,null,null,null,2.5,null,3,null]')
    done
}

@test "--dump-probs and --trace show the noise of each candidate; the chosen token has the largest value, the same as without them" {
    local engine options ids
    for engine in akunu-gpu vllm-v2 sglang transformers vllm; do
        while read -r options; do
            # shellcheck disable=SC2086
            set -- --engine $engine $options --temp 0.9 -s 4 -n 4096 --rows :12 "$AUSTEN"
            ids=$(sampl "$@" | paste -sd ' ')
            sampl "$@" --dump-probs --trace=3 -O json >dump
            [ "$(jq .id dump | paste -sd ' ')" = "$ids" ]
            [ "$(jq '.top_probs | max_by(.value).id' dump | paste -sd ' ')" = "$ids" ]
            jq -e -s 'all(.[]; (.top_probs[:3] | map({id, noise, value})) == (.stages[-1].top_probs | map({id, noise, value})))' dump
        done < <(few 1 '' '--top-p 0.8' '--min-p 0.1')
    done
    # No other engine, and no greedy chain, has noise.
    [ "$(sampl --engine akunu --temp 0.9 -s 4 --dump-probs -O json <<<'[1,2]' | grep -c noise)" = 0 ]
    [ "$(sampl --engine vllm --temp 0 -s 4 --dump-probs -O json <<<'[1,2]' | grep -c noise)" = 0 ]
    # The text has the noise and the value in place of the sums.
    run -0 sampl --engine vllm-v2 -s 1 --dump-probs=1 <<<'[3,2,1]'
    [[ ${lines[1]} == *' prob '*' noise '*' value' ]]
    [[ ${lines[2]} == *'  -0.3548   2.6452' ]]
}

@test "--expect reports the values with noise, and --tolerance leaves out rows where they are near" {
    run -4 sampl --engine vllm-v2 -s 1 --expect 1 --tolerance 0.755 <<<'[3,2,1]'
    [[ $output == *$'\n  1 row  another draw\n'* ]]
    run -0 sampl --engine vllm-v2 -s 1 --expect 1 --tolerance 0.756 <<<'[3,2,1]'
    [ "$output" = '0 of 1 rows differ, 1 more within the tolerance' ]
}
