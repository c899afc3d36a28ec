#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --audit: how well claimed tokens fit a chain. audit.py computes the same numbers with numpy; audit_power.py measures what is found.

load helper

# claim OPTION...: writes the ids of a run of another temperature or chain to `claimed`.
claim() {
    sampl -n 4096 "$@" "$AUSTEN" >claimed
}

# audit OPTION...: the last object that --audit prints of the file `claimed`; the status may be 4.
audit() {
    sampl -n 4096 "$@" -O json "$AUSTEN" >out || [ $? = 4 ]
    tail -n 1 out
}

@test "--audit prints what numpy computes: ids, match, inside, margin, below and prob of ten chains with histories, and which chain of a table is best" {
    need_numpy
    /usr/bin/python3 "$ROOT/tests/audit.py" "$SAMPL" $((400 / STEP + 40)) "$START"
}

@test "every engine's own tokens match under --audit, and those of another seed match as often as chance says" {
    local engine n=0
    for engine in llama ollama akunu akunu-gpu batch transformers vllm vllm-v2 sglang mlx; do
        claim --engine "$engine" -s 3 --temp 0.9 2>/dev/null
        audit --engine "$engine" -s 3 --temp 0.9 --audit claimed | jq -e '.rows == 256 and .match == 1 and .margin == 0 and .outside == 0' >/dev/null
        claim --engine "$engine" -s 4 --temp 0.9 2>/dev/null
        audit --engine "$engine" -s 3 --temp 0.9 --audit claimed | jq -e '(.match - .chance) | . < 0.13 and . > -0.13' >/dev/null
        n=$((n + 1))
    done
    [ "$n" = 10 ]
}

@test "--audit prints the same bytes on every number of threads and on every tier" {
    local n tier
    claim -s 7 --temp 1.2
    sampl -n 4096 -s 7 --audit claimed -O json "$AUSTEN" >want
    [ -s want ]
    for n in 2 3; do
        sampl -n 4096 -s 7 --audit claimed -t $n -O json "$AUSTEN" | cmp - want
    done
    for tier in $(tiers); do
        SAMPL_CPU=$tier sampl -n 4096 -s 7 --audit claimed -O json "$AUSTEN" | cmp - want
    done
}

@test "--audit does not flag a run against itself, and flags another temperature, a missing boundary token and another order" {
    claim -s 5 --samplers 'top_p;temperature' --temp 0.8 --top-p 0.9
    sampl -n 4096 -s 5 --samplers 'top_p;temperature' --top-p 0.9 --audit claimed --trusted claimed "$AUSTEN" >out
    grep -q '^against claimed, on this reference: no difference found' out
    cp claimed trusted
    local chain
    for chain in '--samplers top_p;temperature --temp 0.9 --top-p 0.9' '--samplers temperature;top_p --temp 0.8 --top-p 0.9' '--samplers top_p;temperature --top-p 0.8'; do
        # shellcheck disable=SC2086
        claim -s 5 $chain
        run -4 sampl -n 4096 -s 5 --samplers 'top_p;temperature' --top-p 0.9 --audit claimed --trusted trusted "$AUSTEN"
        [[ $output == *"the claimed tokens fit worse"* ]] || { echo "$chain: $output"; return 1; }
    done
}

@test "--audit marks the chain that made the tokens as best, and none if two chains fit alike" {
    claim -s 5 --engine vllm-v2 --temp 0.7
    local order
    for order in 0.6,0.7,0.8 0.8,0.7,0.6 0.7,0.9; do
        sampl -n 4096 -s 5 --engine vllm-v2 --temp 1 --audit claimed --sweep "temp=$order" -O json "$AUSTEN" 2>/dev/null |
            jq -se '[.[] | select(.best) | .name] == ["temp=0.7"]' >/dev/null
    done
    claim -s 6 --engine vllm-v2 --temp 0.7
    sampl -n 4096 -s 5 --engine vllm-v2 --temp 0.7 --audit claimed --vs '--temp 0.7001' -O json "$AUSTEN" | jq -se 'all(.[]; .best | not)' >/dev/null
}

@test "--audit never says proof, verified, genuine or honest" {
    run ! grep -rniE 'proof|verif|genuine|honest' "$ROOT/src/views/audit.c" "$ROOT/src/views/audit_report.c" "$ROOT/src/views/audit_page.c"
}

@test "--audit on lists gives the margins of the whole rows where the list decides, and counts the others as unknown" {
    claim -s 2 --temp 1.1
    sampl -n 4096 --neutral --emit list=60 -O json "$AUSTEN" >list.json 2>/dev/null
    sampl -n 4096 -s 2 --temp 0.8 --audit claimed -O json "$AUSTEN" >whole
    sampl -s 2 --temp 0.8 --audit claimed -O json list.json >partial 2>/dev/null
    jq -s 'map(select(.inside != null and .row != null) | {(.row | tostring): [.id, .match, .inside, .margin]}) | add' partial >some
    jq -s 'map(select(.row != null) | {(.row | tostring): [.id, .match, .inside, .margin]}) | add' whole >all
    jq -se '.[0] as $some | .[1] as $all | ($some | length) > 100 and ($some | to_entries | all(. as $e | ($all[$e.key]) as $w |
        $w[0:3] == $e.value[0:3] and ((($w[3] // 0) - ($e.value[3] // 0)) | . < 1e-4 and . > -1e-4)))' some all >/dev/null
}

@test "--audit -O html is a page without scripts that shows each claimed token once" {
    claim -s 2 --temp 1.1
    sampl -n 4096 -s 2 --vocab "$ROOT/samples/austen.gguf" --audit claimed -O html "$AUSTEN" >page.html
    [ "$(grep -o '<span class="t[0-5]' page.html | wc -l)" = 256 ]
    run ! grep -q '<script' page.html
}

@test "samples/audit/austen.py: 4-bit weights are found, and an honest run on another machine is not" {
    need_numpy
    local options=(--engine vllm-v2 -s 42 --temp 0.8 --top-p 0.95) name
    # austen ARGUMENT...: runs the script with the program under test.
    austen() { TOKENS=$([ -n "${SAMPL_TEST_SHORT-}" ] && echo 30 || echo 200) PROGRAM=$SAMPL /usr/bin/python3 "$ROOT/samples/audit/austen.py" "$@"; }
    austen claim notes --machine 1 -- "${options[@]}" >trusted.ids
    austen claim notes --machine 2 -- "${options[@]}" >same.ids
    austen claim notes --machine 3 --bits 4 -- "${options[@]}" >q4.ids
    for name in trusted same q4; do
        austen reference notes $name.ids >$name.f32
    done
    for name in same q4; do
        sampl -n 4096 --params notes "${options[@]}" --audit @$name.ids --trusted @trusted.ids --trusted-rows trusted.f32 -O json $name.f32 >$name.json || [ $? = 4 ]
    done
    tail -n 1 same.json | jq -e '.match > 0.97 and (.differs | not)' >/dev/null
    tail -n 1 q4.json | jq -e '.match < 0.95 and .differs' >/dev/null
}
