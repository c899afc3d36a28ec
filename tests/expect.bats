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

@test "expect: every third recorded case of llama.cpp passes in silence" {
    local n=0 name file dtype width rows args prompt accept ids kept words
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

@test "expect: distributions in every format that they are written in agree" {
    local emit format
    for emit in probs logprobs logits; do
        for format in json npy f32; do
            austen --rows :9 --emit $emit -O $format >x.$format
            agrees -n 4096 -s 1 --rows :9 --emit $emit --expect x.$format "$AUSTEN"
        done
    done
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
    # of two stages with one name it shows the one that is asked for
    local twice='temperature=2;top_k;temperature=0.5'
    cmp <(austen --samplers "$twice" --rows :5 --after 'temperature#1' --emit logits -O f32) \
        <(austen --samplers temperature=2 --rows :5 --emit logits -O f32)
}
