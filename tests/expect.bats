#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --expect, --tolerance and --after: checking another implementation.

load helper

VOCAB=$ROOT/samples/austen.gguf

# austen ARGUMENT...: the sample's rows with seed 1.
austen() {
    sampl -n 4096 -s 1 "$@" "$AUSTEN"
}

# agrees ARGUMENT...: a run says nothing, and ends well.
agrees() {
    run -0 sampl "$@"
    [ -z "$output" ] || { echo "$*: $output" && return 1; }
}

@test "expect: ids that agree pass in silence, in any number of threads, in parts" {
    local args k
    for args in '' '--mirostat 2' '--temp 0' '--repeat-penalty 1.2 --xtc-probability 0.5' '--engine akunu --temp 0.8' '--engine akunu-gpu --temp 0.8' \
        '--engine ollama' '--independent' '--samplers='; do
        # shellcheck disable=SC2086
        austen --rows :60 $args >ids
        # shellcheck disable=SC2086
        agrees -n 4096 -s 1 --rows :60 $args --expect @ids "$AUSTEN"
        # shellcheck disable=SC2086
        agrees -n 4096 -s 1 --rows :60 $args --expect @ids -t 3 "$AUSTEN"
    done
    austen >ids
    for k in 1 2 3; do
        austen --shard $k/3 >part
        agrees -n 4096 -s 1 --shard $k/3 --expect @part "$AUSTEN"
    done
    agrees -n 4096 -s 1 --rows 7:9 --expect "$(austen --rows 7:9 | paste -sd ,)" "$AUSTEN"
}

@test "expect: llama.cpp's own choices pass in silence" {
    local n=0 name file dtype width rows args prompt accept ids kept words
    agrees -n 4096 -s 2 --expect @"$ROOT/samples/austen-gen.tokens" "$ROOT/samples/austen-gen.f32"
    # each third of the recorded cases
    while IFS=$'\t' read -r name file dtype width rows args prompt accept ids kept; do
        n=$((n + 1))
        [ $((n % 3)) = 0 ] || continue
        eval "words=($args)"
        [ "$prompt" = - ] || words+=(--prompt-tokens "$prompt")
        [ "$accept" = - ] || words+=(--accept "$accept")
        [ -e "$ROOT/samples/$file" ] && file=$ROOT/samples/$file || file=$ROOT/tests/cases/$file
        run -0 --separate-stderr sampl -s 1 -f "$dtype" -n "$width" --rows ":$rows" "${words[@]}" --expect "$ids" "$file"
        [ -z "$output" ] || { echo "$name: $output $kept" && return 1; }
    done <"$ROOT/tests/cases/llama.tsv"
    [ "$n" -ge 100 ]
}

@test "expect: where they differ the report says which token, stage, rank and draw" {
    austen >ids
    sed '100s/.*/7/' ids >other
    run -1 --separate-stderr austen --vocab "$VOCAB" --expect @other
    [ "$output" = 'row 99: expected 7 "(", the chain gives 441 " am"
  7 is not among the 22 kept: top_k removed it (rank 1542, limit 40)
  draw 0.1529 lies in 441'"'"'s share [0.0000, 0.3351)
1 of 256 rows differ' ]
    # shellcheck disable=SC2154 # run sets it
    [ -z "$stderr" ]
    # the token that was expected is accepted, so that later rows are judged on their own
    austen --repeat-penalty 2 >ids
    sed '100s/.*/7/' ids >other
    run -1 austen --repeat-penalty 2 --expect @other
    [ "$(grep -c '^row ' <<<"$output")" -ge 1 ]
    austen --repeat-penalty 2 --accept @other | diff other - | grep -c '^>' >differ
    [ "${lines[-1]}" = "$(<differ) of 256 rows differ" ]
    # a file shifted by one names its first row
    sed 1d ids >shifted && head -n 1 ids >>shifted
    run -1 austen --repeat-penalty 2 --expect @shifted
    [[ ${lines[0]} == "row 0: expected $(sed -n 2p ids), the chain gives $(sed -n 1p ids)" ]]
    [[ $output == *' removed it (rank '*', limit '*'draw 0.'* ]]
    # the report is the output
    run -1 austen --repeat-penalty 2 --expect @shifted -o report
    [ -z "$output" ]
    grep -q 'of 256 rows differ' report
}

@test "expect: why a token is not there" {
    why() {
        sampl -s 1 "$@" | sed -n '2s/.*: //p'
    }
    [ "$(why --expect 2 --min-p 0.5 --top-p 1 <<<'[1,2,-1]')" = 'min_p removed it (rank 3, limit 0.5)' ]
    [ "$(why --expect 1 --samplers 'top_k=2;top_k=1' <<<'[3,2,1]')" = 'top_k#2 removed it (rank 2, limit 1)' ]
    [ "$(why --expect 2 -l 2-inf <<<'[1,2,5]')" = 'logit_bias removed it (rank 1)' ]
    [ "$(why --expect 0 --temp 0 --min-p 0 <<<'[1,2,1.5]')" = 'temperature removed it (rank 3)' ]
    [ "$(why --expect 0 --samplers greedy <<<'[1,2,1.5]')" = 'greedy removed it (rank 3)' ]
    printf '%s\n' a b c >words
    [ "$(why --vocab words --grammar 'root ::= "b" | "c"' --expect 1 --top-k 1 <<<'[3,1,2]')" = 'top_k removed it (rank 2, limit 1)' ]
    run -1 sampl -s 1 --expect 1 <<<'[1,null,2]'
    [ "${lines[1]}" = '  1 is masked in the row' ]
    # a draw that is near a bound shows more of itself: 1 / (1 + e^-5.871) is 0.99719...
    run -1 sampl -s 1 --samplers '' --expect 1 <<<'[5.871,0]'
    [ "${lines[2]}" = "  draw 0.997184808 lies in 0's share [0.000000000, 0.997187878)" ]
    # without a draw no share is shown
    run -1 sampl -s 1 --samplers greedy --expect 1 <<<'[3,1,2]'
    [[ $output != *share* ]]
    # a bad row differs, too
    run -1 --separate-stderr sampl -s 1 --on-error skip --temp 0 --expect 0,1,1 <<<'[1,0][NaN,1][0,1]'
    [ "$output" = 'row 1: the chain gives nothing: logit 0 is NaN
1 of 3 rows differ' ]
}

# The ids of a port whose top-p leaves out the token at which the sum is reached.
broken_port() {
    sampl -n 4096 --samplers top_k --emit logits -O json "$AUSTEN" | perl -ne '
        my ($list) = /\[(.*)\]/;
        my @x = map { $_ eq "null" ? -9e9 : $_ } split /,/, $list;
        my @order = sort { $x[$b] <=> $x[$a] || $a <=> $b } grep { $x[$_] > -9e9 } 0 .. $#x;
        my ($sum, $cum, %keep) = (0, 0);
        $sum += exp($x[$_] - $x[$order[0]]) for @order;
        for (@order) {
            $cum += exp($x[$_] - $x[$order[0]]) / $sum;
            last if %keep && $cum >= 0.9;
            $keep{$_} = 1;
        }
        print "{\"logits\":[", join(",", map { $keep{$_} ? $x[$_] : "null" } 0 .. $#x), "]}\n"' >port.json
    sampl -s 1 --samplers 'top_k;temperature' port.json
}

@test "expect: a porter's day: top-p without the token at its boundary" {
    local chain=(--samplers 'top_k;top_p;temperature' --top-p 0.9)
    broken_port >port.ids
    run -1 austen "${chain[@]}" --expect @port.ids
    # every row says what the port would have to leave out to come to its token
    [ "$(grep -c '^row ' <<<"$output")" -ge 10 ]
    [ "$(grep -c '^row ' <<<"$output")" -eq "$(grep -c ', the last that top_p keeps (limit 0.9), the draw lies in ' <<<"$output")" ]
    # and its distributions part after top_p, not before
    sampl --emit logits -O npy --samplers '' -s 1 port.json >port.npy
    run -1 austen "${chain[@]}" --after top_p --emit logits --expect port.npy
    [ "${lines[-1]}" = '244 of 256 rows differ' ] # in the others it is the only one
    [ "${lines[0]}" = 'row 0: 1 of 4096 numbers differ, the first:' ]
    [[ ${lines[1]} == '  '*': expected -inf, the chain gives '* ]]
    austen --samplers top_k --emit logits -O npy >port.npy
    agrees -n 4096 -s 1 "${chain[@]}" --after top_k --emit logits --expect port.npy "$AUSTEN"
}

@test "expect: distributions, in every format that they are written in, within the tolerance" {
    local emit format
    for emit in probs logprobs logits; do
        for format in json npy f32; do
            austen --rows :9 --emit $emit -O $format >x.$format
            agrees -n 4096 -s 1 --rows :9 --emit $emit --expect x.$format "$AUSTEN"
        done
    done
    echo '[0.3, 0.7, -1]' >row.json
    printf '[%s]' 0.3000003,0.6999997,-1 >near.json
    agrees -s 1 --samplers '' --emit logits --expect near.json row.json
    run -1 sampl -s 1 --samplers '' --emit logits --tolerance 1e-7 --expect near.json row.json
    [ "$output" = 'row 0: 2 of 3 numbers differ, the first:
  0: expected 0.3000003, the chain gives 0.3
1 of 1 rows differ' ]
    # a number for a token that is gone: what removed it
    run -1 sampl -s 1 --emit logits --samplers 'top_k=3;top_k=2' --expect near.json row.json
    [ "$output" = 'row 0: 1 of 3 numbers differ, the first:
  2: expected -1, the chain gives -inf
  2 is gone: top_k#2 removed it
1 of 1 rows differ' ]
    run -1 sampl -s 1 --emit probs --samplers '' --expect near.json <<<'[1,2,null]'
    [[ $output == *'  2 is masked in the row'* ]]
    # above 1 it is relative
    agrees -s 1 --samplers '' --emit logits --tolerance 0.01 --expect <(echo '[1000,2]') -f json - <<<'[1009,2]'
    run -1 sampl -s 1 --samplers '' --emit logits --tolerance 0.01 --expect <(echo '[1000,2]') -f json - <<<'[1011,2]'
    # masked agrees only with masked, whatever the tolerance
    run -1 sampl -s 1 --samplers '' --emit probs --tolerance 1 --expect <(echo '{"probs":[1,0]}') <<<'[0,-30]'
    [ "${lines[1]}" = '  1: expected 0, the chain gives 9.357623e-14' ]
    agrees -s 1 --samplers '' --emit probs --expect <(echo '{"probs":[1,0]}') - <<<'[0,null]'
    # a row that names its tokens masks the others
    agrees -s 1 --samplers top_k --top-k 1 --emit logits --expect <(echo '{"ids":[1],"logits":[5]}') - <<<'[1,5,2]'
}

@test "expect: too few, too many, or of another width is an error, and nothing that was found is lost" {
    run -1 --separate-stderr sampl -s 1 --temp 0 --expect 0 <<<'[1,2][1,2]'
    [ "${lines[0]}" = 'row 0: expected 0, the chain gives 1' ]
    [ "$stderr" = 'sampl: standard input: row 1: --expect names no token for this row, only 1' ]
    run -1 --separate-stderr sampl -s 1 --temp 0 --expect 1,1,1 <<<'[1,2][1,2]'
    [ "$stderr" = 'sampl: --expect names 3 tokens, the run has only 2 rows' ]
    echo '[1,2]' >two.json
    echo '[1,2,3]' >three.json
    run -1 --separate-stderr sampl -s 1 --emit logits --samplers '' --expect two.json three.json
    [ "$stderr" = 'sampl: --expect: two.json: row 0 has 2 numbers, the chain gives 3' ]
    run -1 --separate-stderr sampl -s 1 --emit logits --samplers '' --expect two.json two.json two.json
    [ "$stderr" = 'sampl: --expect: two.json ends before row 1' ]
    echo '[1,2]' >>two.json
    run -1 --separate-stderr sampl -s 1 --emit logits --samplers '' --rows :1 --expect two.json two.json
    [ "$stderr" = 'sampl: --expect: two.json holds more rows than the 1 of the run' ]
}

@test "after: what it shows is what a chain that ends there leaves" {
    local stage format names=''
    for stage in penalties top_k top_p min_p temperature; do
        names+=${names:+;}$stage
        for format in probs logprobs logits; do
            austen --rows :20 --repeat-penalty 1.1 --after $stage --emit $format -O f32 >after
            austen --rows :20 --repeat-penalty 1.1 --accept "$(austen --rows :20 --repeat-penalty 1.1 | paste -sd ,)" \
                --samplers "$names" --emit $format -O f32 >want
            perl -e '
                local $/;
                my @x = map { open my $f, "<:raw", $_; [unpack "f<*", <$f>] } @ARGV;
                die if @{$x[0]} != @{$x[1]} || @{$x[0]} != 20 * 4096;
                for (0 .. $#{$x[0]}) {
                    my ($a, $b) = ($x[0][$_], $x[1][$_]);
                    die "$_: $a, $b" if $a != $b && abs($a - $b) > 1e-6 * (1 + abs $b);
                }' after want
        done
    done
    # ids are those of the whole chain, and the last stage shows what is shown anyway
    austen --rows :20 --after top_k --dump-probs=1 | sed -n 's/.*chosen \([0-9]*\).*/\1/p' | cmp - <(austen --rows :20)
    cmp <(austen --rows :20 --after dist --emit probs -O f32) <(austen --rows :20 --emit probs -O f32)
    # an off stage shows what the one before it left
    cmp <(austen --rows :5 --after xtc --dump-probs=4) <(austen --rows :5 --after min_p --dump-probs=4)
    cmp <(austen --rows :5 --after logit_bias --emit logits -O f32) <(sampl -n 4096 -s 1 --rows :5 --samplers '' --emit logits -O f32 "$AUSTEN")
    austen --rows :1 --after top_k --dump-probs=1 | head -n 1 | grep -q ' kept 40/4096 '
}

@test "after: of two stages of a name it wants to know which; under a grammar it is the last pass" {
    local twice=(--samplers 'temperature=2;top_k;temperature=0.5')
    run -2 austen "${twice[@]}" --after temperature --dump-probs
    [[ $output == *"'temperature' 2 times, say temperature#1 to temperature#2" ]]
    cmp <(austen "${twice[@]}" --rows :5 --after 'temperature#1' --emit logits -O f32) \
        <(austen --samplers temperature=2 --rows :5 --emit logits -O f32)
    austen "${twice[@]}" --rows :1 --after 'nucleus' --dump-probs 2>&1 | grep -q "no stage 'nucleus'"
    austen --rows :1 --after nucleus --dump-probs=1 | cmp - <(austen --rows :1 --after top_p --dump-probs=1)
    printf '%s\n' a b c >words
    sampl -s 1 --vocab words --grammar 'root ::= "b"' --after top_k --emit logits <<<'[9,1,2]' >got
    [ "$(<got)" = '-inf 1 -inf' ] || [ "$(<got)" = '{"row":0,"logits":[null,1,null]}' ]
    # a row whose parameters leave the stage out
    run -1 sampl -s 1 --after top_k --emit logits <<<'{"params":{"mirostat":2},"logits":[1,2]}'
    [[ $output == *"row 0: --after: the chain has no stage 'top_k'"* ]]
}
