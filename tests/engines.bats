#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --engine: the pipelines of other programs. tests/cases/engines.tsv holds recorded answers (from a NumPy program; import.py made the
# table); the rest are the pitfalls that the engines' documents name, each with a row in which it shows.

load helper

CASES() {
    cut -f1-10 "$ROOT/tests/cases/engines.tsv"
}

@test "ids and counts of every recorded case, on one thread and on three" {
    local failed=0 cases=0 name file dtype n rows args prompt accept ids kept words threads
    while IFS=$'\t' read -r name file dtype n rows args prompt accept ids kept; do
        eval "words=($args)"
        [ "$prompt" = - ] || words+=(--prompt-tokens "$prompt")
        [ "$accept" = - ] || words+=(--accept "$accept")
        for threads in 1 3; do
            sampl -f "$dtype" -n "$n" --rows ":$rows" -t "$threads" "${words[@]}" -O tsv "$ROOT/tests/cases/$file" | sed 1d >got
            [ "$(cut -f2 got | paste -sd,)" = "$ids" ] && [ "$(cut -f4 got | paste -sd,)" = "$kept" ] || { echo "$name"; failed=1; }
            sampl -f "$dtype" -n "$n" --rows ":$rows" -t "$threads" "${words[@]}" "$ROOT/tests/cases/$file" >ids
            [ "$(paste -sd, ids)" = "$ids" ] || { echo "$name, ids alone"; failed=1; }
        done
        cases=$((cases + 1))
    done < <(CASES)
    echo "$cases cases"
    [ "$failed" -eq 0 ]
    [ "$cases" -ge 41 ]
}

# ids ARGS...: over a real model's rows, one line.
ids() {
    sampl -n 4096 -s 3 "$@" "$AUSTEN" | paste -sd' '
}

@test "akunu-gpu: a row's answer depends on its number and the seed, on nothing else" {
    local gpu=(--engine akunu-gpu --temp 1.3 -n 4096 -s 9 -f f16)
    sampl "${gpu[@]}" "$AUSTEN" "$AUSTEN" >want
    [ "$(wc -l <want)" -eq 512 ]
    ! cmp -s <(head -256 want) <(tail -256 want) || return 1 # the second half has other numbers
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
    # seed and row number add up
    same <(sampl "${gpu[@]}" -s 10 --rows :255 "$AUSTEN" | head -1) <(head -c "$((4096 * 2))" "$AUSTEN" | cat <(head -c "$((4096 * 2))" "$AUSTEN") - | sampl "${gpu[@]}" - | tail -1)
}

@test "akunu: f32 and bf16 rows are rounded to f16 first" {
    local engine
    perl -e 'srand 5; print pack("f<*", map { rand(30) - 15 } 1 .. 40 * 999)' >x.f32
    perl -e 'srand 5; print pack("v*", map { unpack("V", pack("f<", rand(30) - 15)) >> 16 } 1 .. 40 * 999)' >x.bf16
    for type in f32 bf16; do
        for engine in akunu akunu-gpu; do
            for temp in 0 0.9; do
                sampl --engine $engine --temp $temp -s 4 -n 999 -f $type x.$type >wide
                [ "$(wc -l <wide)" -eq 40 ]
            done
        done
        # widened, f16 has 13 zero bits at the end
        sampl --engine akunu -n 999 -s 1 -f $type --dump-probs -O tsv x.$type | sed 1d | cut -f4 |
            perl -ne '$n++; die $_ if unpack("V", pack("f<", $_)) & 0x1fff; END { die unless $n == 40 }'
    done
}

# sets ARGS...: of each row the ids that are kept, rising.
sets() {
    sampl -n 4096 -s 5 --dump-probs -O tsv "$@" "$AUSTEN" | sed 1d | cut -f1,3 | sort -n -k1,1 -k2,2
}

@test "akunu-gpu filters as akunu does: the document's use cases keep the same tokens on every row" {
    local use filters
    # akunu's 256 for top-k 0 is a guard of that path
    for use in '' '--temp 0.7 --top-k 40 --top-p 0.95 --min-p 0.05' '--temp 1 --top-k 4095 --top-p 0.9' \
        '--temp 1.2 --top-k 4095 --top-p 0.95' '--temp 0.2 --top-k 40 --top-p 0.95 --min-p 0.1'; do
        read -ra filters <<<"$use"
        sets --engine akunu "${filters[@]}" >want
        [ "$(cut -f1 want | uniq | wc -l)" -eq 256 ]
        same want <(sets --engine akunu-gpu "${filters[@]/4095/0}")
    done
}

@test "akunu-gpu: a filter at its off value leaves the ids as they are" {
    same <(ids --engine akunu-gpu --temp 0.9 --top-k 4096) <(ids --engine akunu-gpu --temp 0.9) # ranked, not cut
    same <(ids --engine akunu-gpu --temp 0.9 --top-k -1 --top-p 2 --min-p -1) <(ids --engine akunu-gpu --temp 0.9)
}

@test "akunu-gpu: logits, scores and statistics are of the distribution it draws from, as in a dump" {
    local gpu=(--engine akunu-gpu -s 1 -f f32 -n 3)
    f32 1 2 4 >row.f32
    same <(sampl "${gpu[@]}" --temp 0.5 --emit logits -O f32 row.f32) <(f32 2 4 8)
    sampl "${gpu[@]}" --temp 0.5 --stats row.f32 2>got
    sampl -s 1 -f f32 -n 3 --samplers temperature --temp 0.5 --stats row.f32 2>want
    same <(grep -E '^(n|entropy|kl_raw)' want) <(grep -E '^(n|entropy|kl_raw)' got)
}

@test "temperature 0 is greedy, whatever the seed" {
    local engine
    for engine in ollama akunu akunu-gpu batch; do
        same <(ids --engine $engine --temp 0) <(ids --samplers greedy)
        same <(ids --engine $engine --temp 0 -s 99) <(ids --samplers greedy)
    done
}

@test "batch: each knob at its off value changes nothing, to the last bit" {
    local on=(--engine batch -n 4096 -s 3 --temp 0.9 --top-k 50 --top-p 0.9 --repeat-penalty 1.2 --prompt-tokens '5,6,286,304')
    # the chain of llama.cpp's samplers that is left when a knob's stage is taken out
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

@test "ollama and akunu: off values leave the ids as they are" {
    same <(ids --engine ollama --min-p 0) <(ids --engine ollama)
    same <(ids --engine ollama --top-p 7) <(ids --engine ollama --top-p 1)
    same <(ids --engine ollama --min-p -1) <(ids --engine ollama)
    same <(ids --engine ollama --top-p -0.5) <(ids --engine ollama --top-p 0)
    same <(ids --engine akunu --temp 0.9 --top-p 1 --min-p 0 --repeat-penalty 1) <(ids --engine akunu --temp 0.9)
    same <(ids --engine akunu --temp 0.9 --repeat-penalty 2 --repeat-last-n 0) <(ids --engine akunu --temp 0.9)
    ! cmp -s <(ids --engine akunu --temp 0.9 --repeat-penalty 2) <(ids --engine akunu --temp 0.9) || return 1
}

@test "each engine's defaults hold unless given, whatever the order, and in presets" {
    local engine
    for engine in akunu akunu-gpu batch; do
        same <(ids --engine $engine) <(ids --engine $engine --temp 0 --top-k 0 --top-p 1)
    done
    echo '--engine akunu --temp 0.9 --top-k 7' >preset
    same <(ids --preset ./preset) <(ids --top-k 7 --temp 0.9 --engine akunu)
    same <(ids --engine llama) <(ids)
    same <(ids --engine akunu --engine llama --min-keep 2) <(ids --min-keep 2) # the last one counts
    echo '--xtc-probability 0.5' >preset
    run -2 sampl --engine akunu --preset ./preset
    [[ $output == 'sampl: --xtc-probability: engine akunu has no stage for it' ]]
}

@test "every option of the chain is either an engine's or refused by name" {
    local engine option n=0
    sampl --help=all | sed -n '/^Chain/,/^Output/p' |
        perl -ne 'print "--$1 ", $2 // "", "\n" if /^ {2,6}(?:-\w+, )?--([\w-]+)(?:, --[\w-]+)*(?: ([A-Z]\S*))?/' >options
    [ "$(wc -l <options)" -ge 45 ]
    for engine in ollama akunu akunu-gpu batch; do
        sampl --engine $engine -s 1 --temp 1 --print-chain=json | grep -oE '"[a-z_]+":' | tr -d '":' | sed 'y/_/-/; s/^/--/' >taken
        while read -r option value; do
            case $option in
            --engine | --seed | --neutral | --backend-sampling) continue ;;
            --samplers | --sampler-seq | --logit-bias | --ignore-eos | --*grammar* | --json* | --dry-sequence-breaker) continue ;;
            esac
            [[ $option != --*-cutoff ]] || value=0.5 # 1 is out of their range
            run sampl --engine $engine "$option" ${value:+"${value/[A-Z]*/1}"} --print-chain
            if grep -qx -e "$option" taken; then
                [ "$status" -eq 0 ]
            else
                [ "$output" = "sampl: $option: engine $engine has no stage for it" ] || { echo "$engine $option: $output"; return 1; }
                n=$((n + 1))
            fi
        done <options
    done
    [ "$n" -ge 120 ]
}

@test "the printed chain of an engine, given again, makes the same run" {
    local engine
    for engine in ollama akunu akunu-gpu batch; do
        sampl -s 5 --engine $engine --temp 0.7 --top-p 0.8 --print-chain=preset >flags
        grep -qE -- "^--engine $engine --neutral .*--seed 5" flags
        # shellcheck disable=SC2046
        same <(ids $(cat flags)) <(ids -s 5 --engine $engine --temp 0.7 --top-p 0.8)
        sampl -s 5 --engine $engine --print-chain=json | grep -q "^{\"engine\":\"$engine\",\"seed\":5,\"chain\":\[{\"name\":"
    done
}

@test "dumps, traces and every tier: an engine looks the same from all sides" {
    local engine tier
    for engine in ollama akunu akunu-gpu batch; do
        sampl --engine $engine --temp 0.9 --top-p 0.9 -n 4096 -s 2 "$AUSTEN" >want
        sampl --engine $engine --temp 0.9 --top-p 0.9 -n 4096 -s 2 --dump-probs=1 --trace -O json "$AUSTEN" >dump
        same want <(grep -oE '"id":[0-9]+,"prob":[^,]*,"n"' dump | grep -oE '^"id":[0-9]+' | cut -d: -f2)
        # probabilities sum to 1, and the chosen token's is among them
        sampl --engine $engine --temp 0.9 --top-p 0.9 -n 4096 -s 2 --dump-probs -O tsv "$AUSTEN" | sed 1d | awk -F'\t' '
            { sum[$1] += $5; chosen[$1] += $7 } END { for (r in sum) { n++; if (sum[r] < 0.9999 || sum[r] > 1.0001 || chosen[r] != 1) exit 1 }
            exit n != 256 }'
        sampl --engine $engine --temp 0.9 --top-p 0.9 -n 4096 -s 2 -O tsv "$AUSTEN" | sed 1d | cut -f3 >p
        same p <(sampl --engine $engine --temp 0.9 --top-p 0.9 -n 4096 -s 2 --dump-probs -O tsv "$AUSTEN" | awk -F'\t' '$7 == 1 { print $5 }')
        for tier in $(sampl --version | sed -n 's/^SIMD tier.*(of \(.*\))/\1/p'); do
            same want <(SAMPL_CPU=$tier sampl --engine $engine --temp 0.9 --top-p 0.9 -n 4096 -s 2 "$AUSTEN")
        done
    done
}

@test "a masked token is never chosen, whatever the noise" {
    local engine
    perl -e 'print pack("f<*", map { map { $_ % 3 ? -9**9**9 : 0.5 * ($_ % 5) } 0 .. 599 } 1 .. 50)' >x.f32
    for engine in ollama akunu akunu-gpu batch; do
        sampl --engine $engine --temp 50 --top-k 0 --top-p 1 -n 600 -s 1 x.f32 | awk '$1 % 3 { exit 1 } { n++ } END { exit n != 50 }'
    done
}

@test "known tokens let any engine run on more threads, and a sequence start anew" {
    local engine
    for engine in ollama akunu akunu-gpu batch; do
        local args=(--engine "$engine" --temp 0.9 --accept @"$ROOT/samples/austen.tokens" -n 4096 -s 2)
        case $engine in akunu | batch) args+=(--repeat-penalty 1.3) ;; esac
        sampl "${args[@]}" "$AUSTEN" >want
        same want <(sampl "${args[@]}" -t 3 "$AUSTEN")
        same <(sampl "${args[@]}" --independent "$AUSTEN" | sed -n 8p) <(sampl "${args[@]}" --independent --rows 7:8 "$AUSTEN")
    done
}

# A row of equal logits: n of 64 equal shares. The share that a run without a grammar picks tells the uniform number drawn.
shares() {
    perl -e 'print pack("f<*", (1) x $ARGV[0]) x 40' "$1"
}

@test "under a grammar ollama draws, and draws again where its token does not fit" {
    local vocab=(--vocab letters --grammar 'root ::= [ab]*')
    printf '%s\n' a b c d >letters
    shares 64 >fine.f32 && cat fine.f32 fine.f32 | sampl --engine ollama --top-k 0 --top-p 1 -f f32 -n 64 -s 6 >draws
    shares 4 | sampl --engine ollama --top-k 0 --top-p 1 -f f32 -n 4 -s 6 "${vocab[@]}" >got
    # of four tokens, then of the two that fit
    awk 'BEGIN { for (r = 0; r < 40; r++) { getline u; t = int(u / 16); if (t > 1) { getline u; t = int(u / 32); n++ } print t }
        exit n < 5 }' <draws >want
    same want got
    run ! cmp -s got <(awk '{ print int($1 / 32) }' draws | head -40)
}

@test "under a grammar akunu masks first and draws once" {
    local vocab=(--vocab letters --grammar 'root ::= [bd]*')
    printf '%s\n' a b c d >letters
    shares 64 | sampl --engine akunu --temp 0.7 -f f32 -n 64 -s 6 | awk '{ print $1 < 32 ? 1 : 3 }' >want
    shares 4 | sampl --engine akunu --temp 0.7 -f f32 -n 4 -s 6 "${vocab[@]}" >got
    same want got
}

@test "batch: requests of all kinds in one call, each as it would be alone" {
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

@test "akunu refuses a preset's penalty under a grammar by name" {
    local option
    printf '%s\n' a b >letters
    for option in --repeat-penalty --repeat-last-n; do
        echo "$option 2 --json-schema {}" >preset
        run -2 sampl --engine akunu --vocab letters --preset ./preset --print-chain
        [ "$output" = "sampl: $option: engine akunu has no stage for it under a grammar" ]
    done
}

# flat LINE...: JSON rows of 1000 equal logits with these members before them; a line that begins with N*: N such rows.
flat() {
    perl -e 'for my $t (@ARGV) { my $n = $t =~ s/^(\d+)\*// ? $1 : 1; print "{$t\"logits\":[", join(",", (0) x 1000), "]}\n" for 1 .. $n }' "$@"
}

@test "batch: the k-th sequence to appear is seeded with seed + k, unless its params name a seed" {
    local batch=(sampl --engine batch --temp 1 -s 4294967294)
    draws() { flat 2\* | sampl --engine batch --temp 1 -s "$1" | paste -sd' '; } # the first two of a seed
    # b comes again after its end; the unnamed sequence counts when its first row appears, not before
    flat '"seq":"a",' '"seq":"b",' '"seq":"a",' '"seq":"b","end":true,' '"seq":"b",' '' '"seq":"b",' '' |
        "${batch[@]}" >got
    same <(sed -n '1p;3p' got | paste -sd' ') <(draws 4294967294)
    same <(sed -n '5p;7p' got | paste -sd' ') <(draws 0) # mod 2^32
    same <(sed -n '6p;8p' got | paste -sd' ') <(draws 1)
    # -1 is an option for a random seed; as the sum it is a seed like any other
    [ "$(sed -n '2p;4p' got)" = "$(flat '"seq":"a",' '2*"seq":"b",' | sampl --engine batch --temp 1 -s 4294967294 | tail -2)" ]
    # a seed that is named, also where it is the common one, and one that is named later; each sequence counts
    flat '2*"seq":"a",' '"params":{"seed":7},"seq":"b",' '"seq":"b",' '2*"seq":"c",' '"seq":"b","params":{"seed":8},' '"seq":"b",' |
        sampl --engine batch --temp 1 -s 7 >got
    same <(sed -n 1,2p got | paste -sd' ') <(draws 7)
    same <(sed -n 3,4p got | paste -sd' ') <(draws 7)
    same <(sed -n 5,6p got | paste -sd' ') <(draws 9)
    same <(sed -n 7,8p got | paste -sd' ') <(draws 8)
    # parameters that change are no new sequence, and no new start
    same <(flat '"seq":"a",' '"seq":"b",' '"seq":"b","params":{"top_k":900},' | sampl --engine batch --temp 1 -s 7 | tail -2 | head -1) \
        <(draws 8 | cut -d' ' -f1)
    # with --independent each row has its own already; other engines seed all alike
    same <(flat '"seq":"a",' '"seq":"b",' | sampl --engine batch --temp 1 -s 7 --independent) \
        <(flat 2\* | sampl --engine batch --temp 1 -s 7 --independent)
    flat '"seq":"a",' '"seq":"b",' | sampl --engine akunu --temp 1 -s 7 >got
    [ "$(uniq got | wc -l)" -eq 1 ]
    # a sequence appears with its first row, whatever comes of it
    flat '"seq":"a",' '"seq":"b","params":{"temperature":"x"},' '2*"seq":"c",' >rows
    run -1 --separate-stderr sampl --engine batch --temp 1 -s 7 --on-error skip rows
    [ "$(tail -2 <<<"$output" | paste -sd' ')" = "$(draws 9)" ]
}

@test "a row at temperature 0 draws nothing, and the generator goes on behind it" {
    local engine
    sampl -n 4096 --rows :12 --samplers '' --emit logits -O json -s 1 "$AUSTEN" >rows
    sed '4s/^{/{"params":{"temperature":0},/; 6s/^{/{"params":{"temperature":1.5},/' rows >rest.json
    for engine in ollama akunu; do
        sampl --engine $engine --temp 1.5 --top-p 1 -s 7 rest.json | sed 4,5d >got
        sed 4,5d rows | sampl --engine $engine --temp 1.5 --top-p 1 -s 7 >want
        same want got
        # not so behind another seed, though it is the first again
        sed '4s/0}/0,"seed":8}/; 6s/1.5}/1.5,"seed":7}/' rest.json | sampl --engine $engine --temp 1.5 --top-p 1 -s 7 | sed 1,5d >got
        sed 1,5d rows | sampl --engine $engine --temp 1.5 --top-p 1 -s 7 >want
        same want got
    done
}

@test "ollama takes seeds of 64 bits, and only -1 is random" {
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
    # the row's number is added mod 2^64
    for seed in 4294967294 -3; do
        go -s $seed --independent --rows 5:6 in.f32 >got
        go -s $((seed + 5)) row5.f32 | cmp - got
    done
}
