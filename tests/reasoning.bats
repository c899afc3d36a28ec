#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The reasoning budget: what it forces, in every way that rows and parameters come. `make check-llama` has whole runs of llama.cpp with one.

# shellcheck disable=SC1003,SC2054,SC2128,SC2178
load helper

# Rows of 8 tokens, in which the likeliest are, one after the other, the tokens given; a row each.
rows() {
    perl -e 'for my $t (@ARGV) { print pack("f<*", map { $_ == $t ? 9 : $_ / 10 } 0 .. 7) }' "$@"
}

# forced WANT OPTION... -- TOKEN...: what is chosen with these options from rows in which these tokens are the likeliest.
forced() {
    local want=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    rows "$@" >in.f32
    [ "$(sampl -s 1 -n 8 --samplers greedy "${options[@]}" in.f32 | xargs)" = "$want" ] ||
        { echo "${options[*]}: $(sampl -s 1 -n 8 --samplers greedy "${options[@]}" in.f32 | xargs), not $want"; return 1; }
}

# Texts of the 8 tokens; é is 5 6.
words() {
    printf '%s\n' a b '<t>' '</t>' '<end' '\xC3' '\xA9' '>' >v
}

@test "a budget counts from its start tag and then forces message and end tag" {
    words
    local tags=(--reasoning-start 2 --reasoning-end 3)
    forced '0 2 0 0 0 0 0' --reasoning-budget -1 "${tags[@]}" -- 0 2 0 0 0 0 0
    forced '0 2 3 0 0 0 0' --reasoning-budget 0 "${tags[@]}" -- 0 2 0 0 0 0 0
    forced '0 2 0 0 3 0 0' --reasoning-budget 2 "${tags[@]}" -- 0 2 0 0 0 0 0
    forced '0 2 0 1 0 3 0' --vocab v --reasoning-budget 1 "${tags[@]}" --reasoning-budget-message ba -- 0 2 0 0 0 0 0 2>/dev/null
    # an end tag in time, of either; another start tag begins anew
    forced '2 0 3 0 0 2 0 0 3 0' --reasoning-budget 2 "${tags[@]}" -- 2 0 3 0 0 2 0 0 0 0
    forced '2 0 4 7 0 0' --reasoning-budget 3 "${tags[@]}" --reasoning-end 4,7 -- 2 0 4 7 0 0
    forced '2 0 4 1 3 0' --reasoning-budget 3 "${tags[@]}" --reasoning-end 4,7 -- 2 0 4 1 0 0
    # tags of several tokens, one begun within the other
    forced '2 2 0 0 1 4 7' --reasoning-budget 2 --reasoning-start 2,0 --reasoning-end 4,7 --vocab v -- 2 2 0 0 1 1 0
}

@test "a text is the tokens that spell it, a tag of digits and commas is ids" {
    words
    forced '2 0 3 1' --vocab v --reasoning-budget 1 --reasoning-start '<t>' --reasoning-end '</t>' -- 2 0 1 1
    rows 2 0 0 0 0 >in.f32
    sampl -s 1 -n 8 --samplers greedy --vocab v --reasoning-budget 1 --reasoning-start 2 --reasoning-end '<end>' --reasoning-end '</t>' in.f32 >out 2>err
    [ "$(xargs <out)" = '2 0 4 7 0' ]
    [ "$(<err)" = "sampl: note: --reasoning-end: '<end>' is spelt by the tokens 4,7" ]
    # the message is a text, whatever it looks like, and has no escapes
    printf '%s\n' 1 '\\' n '\n' x y z '</t>' >w
    sampl -s 1 -n 8 --samplers greedy --vocab w --rows :4 --reasoning-budget 0 --reasoning-start 2 --reasoning-end 7 --reasoning-budget-message '1\n' in.f32 2>/dev/null |
        xargs >out
    [ "$(<out)" = '2 0 1 2' ]
}

@test "forcing waits for the end of a character" {
    words
    forced '2 5 1 3 0' --vocab v --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 -- 2 5 1 0 0
    # a continuation byte by itself is no end
    forced '2 5 6 1 3 0' --vocab v --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 -- 2 5 6 1 0 0
    forced '2 5 3 0' --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 -- 2 5 0 0
    # an end tag may come while it waits
    forced '2 5 4 0 0' --vocab v --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 --reasoning-end 4 -- 2 5 4 0 0
}

@test "prompt tokens do not move it, accepted ones do" {
    local budget=(--reasoning-budget 1 --reasoning-start 2 --reasoning-end 3)
    forced '0 0 0' "${budget[@]}" --prompt-tokens 2 -- 0 0 0
    forced '0 0 3 0' "${budget[@]}" --accept 2,1,0,0 -- 0 0 0 0
    # what is accepted while it forces moves it on
    forced '0 0 3 0' "${budget[@]}" --accept 2,1,1,1 -- 0 0 0 0
    forced '3 0' "${budget[@]}" --accept 2,1,3,0 --rows 2: -- 0 0 0 0
}

@test "threads, parts, independent rows and the SIMD tier change nothing" {
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

@test "a forced token takes part in the draws as any other" {
    # one draw a row, also of the forced: the rows behind are those of a run without a budget
    sampl -n 4096 -s 5 "$AUSTEN" --rows :60 >free
    local start
    start=$(sed -n 10p free)
    sampl -n 4096 -s 5 "$AUSTEN" --rows :60 --reasoning-budget 2 --reasoning-start "$start" --reasoning-end 4000 >got
    grep -qx 4000 got
    same <(paste free got | awk '$2 != 4000 { print $1 }') <(grep -vx 4000 got)
}

@test "rows of sequences, with parameters that come and go" {
    words
    row() { printf '{"seq":"%s","logits":[%s]%s}\n' "$1" "$(perl -e 'print join ",", map { $_ == $ARGV[0] ? 9 : $_ / 10 } 0 .. 7' "$2")" "${3:+,$3}"; }
    go() { sampl -s 1 --samplers greedy --vocab v "$@" | xargs; }
    local tags='"reasoning_budget_start_tag":"<t>","reasoning_budget_end_tags":["</t>","<end>"]'
    { row x 2 "\"params\":{\"reasoning_budget_tokens\":1,$tags}"; row y 2; row x 0; row y 0; row x 0; row y 0; } >in
    [ "$(go <in)" = '2 2 0 0 3 0' ]
    [ "$(go -t 2 <in)" = '2 2 0 0 3 0' ]
    # the same parameters again do not begin anew, others do
    { row x 2 "\"params\":{\"reasoning_budget_tokens\":1,$tags}"; row x 0 "\"params\":{\"reasoning_budget_tokens\":1,$tags}"; row x 0; } >in
    [ "$(go <in)" = '2 0 3' ]
    { row x 2 "\"params\":{\"reasoning_budget_tokens\":1,$tags}"; row x 0 '"params":{"reasoning_budget_tokens":2}'; row x 0; row x 2; row x 0; row x 0; row x 0; } >in
    [ "$(go <in)" = '2 0 0 2 0 0 3' ]
    { row x 2 '"params":{"reasoning_budget_tokens":-1}'; row x 0; row x 0; } >in
    [ "$(go --reasoning-budget 0 --reasoning-start 2 --reasoning-end 3 <in)" = '2 0 0' ]
    # the options' tags, a message, the singular
    { row x 2 '"params":{"reasoning_budget_tokens":0,"reasoning_budget_message":"b","reasoning_budget_end_tag":"<end"}'; row x 0; row x 0; row x 0; } >in
    [ "$(go --reasoning-start 2 --reasoning-end 3 <in)" = '2 1 4 0' ]
    # the generation prompt moves it, the prompt does not
    row x 0 "\"prompt_tokens\":[2,2],\"params\":{\"reasoning_budget_tokens\":0,\"generation_prompt\":\"ab<t>\",$tags}" >in
    [ "$(go <in 2>err)" = 3 ]
    grep -qx "sampl: note: generation_prompt: 'ab<t>' is spelt by the tokens 0,1,2" err
    row x 0 "\"prompt_tokens\":[2,2],\"params\":{\"reasoning_budget_tokens\":0,$tags}" >in
    [ "$(go <in)" = 0 ]
    # without a budget its texts do not count
    row x 0 '"params":{"reasoning_budget_tokens":-1,"reasoning_budget_start_tag":"?","reasoning_budget_end_tags":[],"generation_prompt":"?"}' | sampl -s 1 --samplers greedy >out
    [ "$(<out)" = 0 ]
}

@test "under a grammar the forced tokens must fit" {
    words
    rows 2 0 0 0 0 >in.f32
    local args=(-s 1 -n 8 --samplers greedy --vocab v --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 in.f32)
    [ "$(sampl "${args[@]}" --grammar 'root ::= "<t>" "b" "</t>" [b]+' | xargs)" = '2 1 3 1 1' ]
    run -1 sampl "${args[@]}" --grammar 'root ::= "<t>" [ab]+'
    [[ $output == *"row 2: the reasoning budget: token 3, '</t>', does not fit the grammar, which allows [ab]"* ]]
    # with --on-error skip and known tokens the run goes on
    run -1 --separate-stderr sampl "${args[@]}" --grammar 'root ::= "<t>" [ab]+' --accept 2,0,0,0,0 --on-error skip
    [ "$(xargs <<<"$output")" = '2 0 -1 0 0' ]
}

@test "a row's own faults count while a token is forced" {
    rows 2 0 >in.f32
    f32 1 2 nan 4 5 6 7 8 >>in.f32
    run -1 sampl -s 1 -n 8 --samplers greedy --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 in.f32
    [[ $output == *'row 2: '*NaN* ]]
    # and a ban of the forced token leaves none
    run -1 sampl -s 1 -n 8 --samplers greedy -l 3-inf --reasoning-budget 0 --reasoning-start 2 --reasoning-end 3 in.f32
    [[ $output == *'row 1: '* ]]
}

@test "--print-chain shows it, and what it prints makes the same run; presets may hold it" {
    words
    local args=(--vocab v --reasoning-budget 2 --reasoning-start '<t>' --reasoning-end '<end>' --reasoning-end 3 --reasoning-budget-message "a'b")
    printf '%s\n' "'" >>v
    sampl -s 1 --print-chain "${args[@]}" 2>/dev/null | grep -qx 'reasoning    on   reasoning-budget=2 reasoning-start=2 reasoning-end=4,7 reasoning-end=3 reasoning-budget-message=0,8,1'
    sampl -s 1 --print-chain=json "${args[@]}" 2>/dev/null | grep -q '"reasoning":{"tokens":2,"start":\[2\],"message":\[0,8,1\],"end":\[\[4,7\],\[3\]\]}'
    sampl -s 1 --print-chain=server "${args[@]}" 2>/dev/null >out
    grep -qF ',"reasoning_budget_tokens":2,"reasoning_budget_start_tag":"<t>","reasoning_budget_end_tags":["<end>","</t>"],"reasoning_budget_message":"a'"'"'b"}' out
    perl -e 'print pack("f<*", map { $_ % 9 == 2 } 0 .. 89)' >in.f32
    sampl -s 1 --temp 2 -n 9 "${args[@]}" in.f32 >want 2>/dev/null
    grep -qx 8 want
    sampl -s 1 --temp 2 --print-chain=preset "${args[@]}" 2>/dev/null >p
    sampl -n 9 --vocab v --preset ./p in.f32 2>/dev/null | cmp - want
    eval "sampl -n 9 --vocab v $(<p) in.f32" 2>/dev/null | cmp - want
}
