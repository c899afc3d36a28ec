#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The reasoning budget with threads, shards, draws and printed chains. reasoning.test has the tokens that it forces. `make check-llama`
# compares whole runs with llama.cpp.

# shellcheck disable=SC1003,SC2054,SC2128,SC2178
load helper

# words: writes a vocabulary of 8 tokens; é is tokens 5 and 6.
words() {
    printf '%s\n' a b '<t>' '</t>' '<end' '\xC3' '\xA9' '>' >v
}

@test "reasoning budget: ids and traces are the same with threads, shards and the scalar tier" {
    local budget=(-n 4096 -s 3 --reasoning-budget 3 --reasoning-start 304 --reasoning-end 13,220 --reasoning-end 11 --temp 1.2) k
    local known=("${budget[@]}" --accept @"$ROOT/samples/austen.tokens")
    sampl "${budget[@]}" "$AUSTEN" >want
    grep -qx 220 want
    sampl "${budget[@]}" -t 3 "$AUSTEN" | cmp - want
    SAMPL_CPU=scalar sampl "${budget[@]}" "$AUSTEN" | cmp - want
    sampl "${known[@]}" --dump-probs=2 --trace "$AUSTEN" >want
    grep -q '^reasoning *4096 -> *1 ' want
    sampl "${known[@]}" --dump-probs=2 --trace -t 3 "$AUSTEN" | cmp - want
    for k in 1 2 3; do sampl "${known[@]}" --dump-probs=2 --trace --shard $k/3 "$AUSTEN"; done | cmp - want
    sampl "${budget[@]}" --independent "$AUSTEN" >got
    sampl -n 4096 -s 3 --temp 1.2 --independent "$AUSTEN" | cmp - got
    run -2 sampl "${budget[@]}" --shard 2/3 "$AUSTEN"
    [[ $output == *'the reasoning budget needs the tokens before this part'* ]]
}

@test "reasoning budget: a forced token uses one random number, as any other row" {
    # The rows behind a forced token have the ids of a run without a budget.
    sampl -n 4096 -s 5 "$AUSTEN" --rows :60 >free
    local start
    start=$(sed -n 10p free)
    sampl -n 4096 -s 5 "$AUSTEN" --rows :60 --reasoning-budget 2 --reasoning-start "$start" --reasoning-end 4000 >got
    grep -qx 4000 got
    same <(paste free got | awk '$2 != 4000 { print $1 }') <(grep -vx 4000 got)
}

@test "reasoning budget: --print-chain prints it, and the printed preset makes the same run" {
    words
    local args=(--vocab v --reasoning-budget 2 --reasoning-start '<t>' --reasoning-end '<end>' --reasoning-end 3 --reasoning-budget-message "a'b")
    printf '%s\n' "'" >>v
    sampl -s 1 --print-chain "${args[@]}" 2>/dev/null | unfold | grep -qx 'reasoning    on   reasoning-budget=2 reasoning-start=2 reasoning-end=4,7 reasoning-end=3 reasoning-budget-message=0,8,1'
    sampl -s 1 --print-chain=json "${args[@]}" 2>/dev/null | grep -q '"reasoning":{"tokens":2,"start":\[2\],"message":\[0,8,1\],"message_text":"[^"]*","end":\[\[4,7\],\[3\]\]}'
    sampl -s 1 --print-chain=server "${args[@]}" 2>/dev/null >out
    grep -qF ',"reasoning_budget_tokens":2,"reasoning_budget_start_tag":"<t>","reasoning_budget_end_tags":["<end>","</t>"],"reasoning_budget_message":"a'"'"'b"}' out
    perl -e 'print pack("f<*", map { $_ % 9 == 2 } 0 .. 89)' >in.f32
    sampl -s 1 --temp 2 -n 9 "${args[@]}" in.f32 >want 2>/dev/null
    grep -qx 8 want
    sampl -s 1 --temp 2 --print-chain=preset "${args[@]}" 2>/dev/null >p
    sampl -n 9 --vocab v --preset ./p in.f32 2>/dev/null | cmp - want
    eval "sampl -n 9 --vocab v $(<p) in.f32" 2>/dev/null | cmp - want
}
