#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --expect, --tolerance and --after: comparing another implementation with sampl.

load helper

VOCAB=$ROOT/samples/austen.gguf

# austen OPTION...: runs sampl on the sample's rows with seed 1.
austen() {
    sampl -n 4096 -s 1 "$@" "$AUSTEN"
}

# agrees ARGUMENT...: checks that the run prints nothing and ends with status 0.
agrees() {
    run -0 sampl "$@"
    [ -z "$output" ] || { echo "$*: $output" && return 1; }
}

@test "--expect prints nothing for equal ids, with threads, shards and every kind of chain" {
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

@test "--expect prints nothing for the recorded ids of llama.cpp" {
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

@test "--expect reports token, stage, rank, limit and draw of each row that differs" {
    austen >ids
    sed '100s/.*/7/' ids >other
    run -4 --separate-stderr austen --vocab "$VOCAB" --expect @other
    [ "$output" = 'row 99: expected 7 "(", the chain gives 441 " am"
  7 is not among the 22 kept: rank 1542; top_k keeps 40
  draw 0.1529 lies in 441'"'"'s interval [0.0000, 0.3351)
1 of 256 rows differ
  1 row  top_k
equal ids do not prove equal chains; compare --emit probs' ]
    # shellcheck disable=SC2154 # run sets it
    [ -z "$stderr" ]
    # The expected token is accepted, so that later rows are compared with the expected history.
    austen --repeat-penalty 2 >ids
    sed '100s/.*/7/' ids >other
    run -4 austen --repeat-penalty 2 --expect @other
    [ "$(grep -c '^row ' <<<"$output")" -ge 1 ]
    austen --repeat-penalty 2 --accept @other | diff other - | grep -c '^>' >differ
    grep -qx "$(<differ) of 256 rows differ" <<<"$output"
    # In ids that are shifted by one row, row 0 differs.
    sed 1d ids >shifted && head -n 1 ids >>shifted
    run -4 austen --repeat-penalty 2 --expect @shifted
    [[ ${lines[0]} == "row 0: expected $(sed -n 2p ids), the chain gives $(sed -n 1p ids)" ]]
    [[ $output == *' kept: rank '*'; top_p keeps '*', which hold '*'draw 0.'* ]]
    # -o has the report.
    run -4 austen --repeat-penalty 2 --expect @shifted -o report
    [ -z "$output" ]
    grep -q 'of 256 rows differ' report
}

@test "--expect reads ids from a list, from @FILE, from a text and from an integer array alike" {
    need_numpy
    local ids kind
    austen --rows :9 >ids
    sed '4s/.*/7/' ids >other
    /usr/bin/python3 -c 'import numpy as np; np.save("other.npy", np.loadtxt("other", dtype="<i8"))'
    run -4 austen --rows :9 --expect @other
    [ "${lines[-3]}" = '1 of 9 rows differ' ]
    for kind in other @other other.npy @other.npy "$(paste -sd , other)"; do
        austen --rows :9 --expect "$kind" | cmp - <(echo "$output")
    done
    agrees -n 4096 -s 1 --rows :9 --expect ids "$AUSTEN"
}

# broken_port: prints the ids of a faulty port, whose top-p removes the token that reaches the threshold.
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

@test "--expect reports the stage of a port whose top-p removes the token that reaches the threshold" {
    local chain=(--samplers 'top_k;top_p;temperature' --top-p 0.9)
    broken_port >port.ids
    run -4 austen "${chain[@]}" --expect @port.ids
    # Every row reports that the draw lies in the share of the last token that top_p keeps.
    [ "$(grep -c '^row ' <<<"$output")" -ge 10 ]
    [ "$(grep -c '^row ' <<<"$output")" -eq "$(grep -c ', the last that top_p keeps (limit 0.9), the draw lies in ' <<<"$output")" ]
    [[ $output == *$'rows differ\n  '*'  top_p: one less'* ]]
    # The distributions differ after top_p, not before.
    sampl --emit logits -O npy --samplers '' -s 1 port.json >port.npy
    run -4 austen "${chain[@]}" --after top_p --emit logits --expect port.npy
    grep -qx '244 of 256 rows differ' <<<"$output" # the other rows have one token, which the port keeps
    [ "$(grep -E '^  [0-9]+ rows  ' <<<"$output")" = $'  239 rows  top_p: one less\n  5 rows  top_p: a tie' ]
    [ "$(grep -c ' the expected row lacks [0-9]*: top_p keeps it, rank [0-9]*; ranks 1 to [0-9]* hold 0.9' <<<"$output")" = 244 ]
    [ "${lines[0]}" = 'row 0: 1 of 4096 numbers differ, the first:' ]
    [[ ${lines[1]} == '  '*': expected -inf, the chain gives '* ]]
    austen --samplers top_k --emit logits -O npy >port.npy
    agrees -n 4096 -s 1 "${chain[@]}" --after top_k --emit logits --expect port.npy "$AUSTEN"
}

@test "--expect accepts the distributions that sampl writes in JSON, npy and f32" {
    local emit format
    for emit in probs logprobs logits; do
        for format in json npy f32; do
            austen --rows :9 --emit $emit -O $format >x.$format
            [ -s x.$format ]
            agrees -n 4096 -s 1 --rows :9 --emit $emit --expect x.$format "$AUSTEN"
        done
    done
}

@test "--after STAGE gives the distribution of a chain that ends with the stage" {
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
    # The ids are those of the whole chain. --after with the last stage changes nothing.
    austen --rows :20 --after top_k --dump-probs=1 | sed -n 's/.*chosen \([0-9]*\).*/\1/p' | cmp - <(austen --rows :20)
    cmp <(austen --rows :20 --after dist --emit probs -O f32) <(austen --rows :20 --emit probs -O f32)
    # A stage that is off gives the distribution of the stage before it.
    cmp <(austen --rows :5 --after xtc --dump-probs=4) <(austen --rows :5 --after min_p --dump-probs=4)
    cmp <(austen --rows :5 --after logit_bias --emit logits -O f32) <(sampl -n 4096 -s 1 --rows :5 --samplers '' --emit logits -O f32 "$AUSTEN")
    # NAME#1 means the first of two stages with this name.
    local twice='temperature=2;top_k;temperature=0.5'
    cmp <(austen --samplers "$twice" --rows :5 --after 'temperature#1' --emit logits -O f32) \
        <(austen --samplers temperature=2 --rows :5 --emit logits -O f32)
}

@test "--expect -O json has an object for each row that differs, and the counts of the text" {
    local chain=(--samplers 'top_k;top_p;temperature' --top-p 0.9)
    broken_port >port.ids
    run -4 austen "${chain[@]}" --expect @port.ids
    text=$output
    run -4 austen "${chain[@]}" --expect @port.ids -O json
    echo "$output" >report
    [ "$(jq -s 'map(select(.row)) | length' report)" = "$(grep -c '^row ' <<<"$text")" ]
    # Each row has the ids, the stage and the draw of the text.
    jq -r 'select(.row) | "row \(.row): expected \(.expected), the chain gives \(.id)"' report | cmp - <(grep '^row ' <<<"$text")
    jq -e -s 'map(select(.row)) | all(.index == .row and (.hint == "one_less" or .hint == "tie") and .edge.stage == "top_p" and .edge.limit == 0.9
        and .removed_by == null and .interval[0] <= .interval[1] and .draw >= 0 and .v == 1)' report
    # The last object has the counts.
    jq -e -s '.[-1] | .v == 1 and .rows == 256 and .exit == 4 and .within == 0 and .bad == 0 and .inexact == 0
        and (.causes | map(.rows) | add) == .differ and .causes[0].stage == "top_p"' report
    [ "$(jq -s '.[-1].differ' report)" = "$(jq -s 'map(select(.row)) | length' report)" ]
    # --expect-most ends the list, not the counts.
    run -4 austen "${chain[@]}" --expect @port.ids -O json --expect-most 2
    [ "${#lines[@]}" = 3 ]
    [ "${lines[2]}" = "$(tail -n 1 report)" ]
    run -4 austen "${chain[@]}" --expect @port.ids --expect-most 0
    [ "$output" = "$(sed -n '/rows differ/,$p' <<<"$text")" ]
    run -0 austen --rows :3 --expect "$(austen --rows :3 | paste -sd ,)" -O json
    [ "$output" = '{"v":1,"rows":3,"differ":0,"within":0,"bad":0,"inexact":0,"causes":[],"exit":0}' ]
}

@test "--expect agrees with sampl's own output on rows that both give up on, in every form" {
    local form rows='[1,2,3] [NaN,1,2] [3,1,2] [1,9,2]' text
    sampl -s 1 --on-error skip --repeat-penalty 1.5 --repeat-last-n 2 <<<"$rows" >ids || [ $? = 1 ]
    [ "$(sed -n 2p ids)" = -1 ]
    for form in @ids ids "$(paste -sd , ids)"; do
        run -1 --separate-stderr sampl -s 1 --on-error skip --repeat-penalty 1.5 --repeat-last-n 2 --expect "$form" <<<"$rows"
        [ -z "$output" ]
        run -1 --separate-stderr sampl -s 1 -t 3 --on-error skip --repeat-penalty 1.5 --repeat-last-n 2 --expect "$form" <<<"$rows"
        [ -z "$output" ]
    done
    /usr/bin/python3 -c 'import numpy as np; np.save("ids.npy", np.loadtxt("ids", dtype="<i4"))'
    run -1 --separate-stderr sampl -s 1 --on-error skip --repeat-penalty 1.5 --repeat-last-n 2 --expect ids.npy <<<"$rows"
    [ -z "$output" ]
    for form in npy f32 json; do
        sampl -s 1 --on-error skip --emit probs -O $form <<<"$rows" >probs.$form || [ $? = 1 ]
        run -1 --separate-stderr sampl -s 1 --on-error skip -n 3 --emit probs --expect probs.$form <<<"$rows"
        [ -z "$output" ] || { echo "$form: $output" && return 1; }
    done
    # One that gives up alone differs.
    run -1 --separate-stderr sampl -s 1 --on-error skip --temp 0 --expect 2,-1,0,-1 <<<"$rows"
    [ "$output" = 'row 3: expected no token, the chain gives 1
1 of 4 rows differ
  1 row  no stage
equal ids do not prove equal chains; compare --emit probs' ]
    run -4 --separate-stderr sampl -s 1 --on-error skip --emit probs --expect probs.npy <<<"${rows/NaN/2}"
    [[ $output == 'row 1: 3 of 3 numbers differ, the first:'*'0: expected nan, the chain gives '* ]]
}

@test "samples/ci: TAP and GitHub's annotations of a right and of a wrong port" {
    local chain=(--samplers 'top_k;top_p;temperature' --top-p 0.9)
    tap() { jq -rsf "$ROOT/samples/ci/tap.jq"; }
    github() { jq -rf "$ROOT/samples/ci/github.jq" --arg file port.ids; }
    broken_port >port.ids
    austen "${chain[@]}" --expect port.ids -O json >report || [ $? = 4 ]
    tap <report >tap.out
    [ "$(head -n 1 tap.out)" = 1..256 ]
    [ "$(grep -c '^ok [0-9]*$' tap.out)" = 237 ]
    [ "$(grep -c '^not ok ' tap.out)" = 19 ]
    [ "$(wc -l <tap.out)" = 257 ]
    [ "$(sed -n 's/^\(not \)*ok \([0-9]*\).*/\2/p' tap.out)" = "$(seq 256)" ]
    [ "$(grep -m 1 '^not' tap.out)" = "not ok 1 - row 0: expected $(sed -n 1p port.ids), got $(austen "${chain[@]}" --rows :1) (top_p: one_less)" ]
    github <report >github.out
    [ "$(head -n 1 github.out)" = "::error file=port.ids,line=1,title=top_p: one_less::row 0: expected $(sed -n 1p port.ids), got $(austen "${chain[@]}" --rows :1)" ]
    [ "$(wc -l <github.out)" = 20 ]
    [ "$(tail -n 1 github.out)" = '::error file=port.ids::19 of 256 rows differ: 18 top_p: one_less; 1 top_p: tie' ]
    # A list that ends early is no list of right rows.
    austen "${chain[@]}" --expect port.ids -O json --expect-most 2 >report || [ $? = 4 ]
    [ "$(tap <report | tail -n 1)" = 'Bail out! 17 differing rows are not listed' ]
    # Rows behind the last listed one are not called right.
    [ "$(tap <report | grep -c '^ok ')" = "$(tap <report | sed -n 's/^not ok \([0-9]*\).*/\1/p' | awk 'END { print $1 - 2 }')" ]
    head -n 2 report | tap >tap.out
    [ "$(tail -n 1 tap.out)" = 'Bail out! sampl ended before the last row' ]
    [ "$(grep -c '^not ok ' tap.out)" = 2 ]
    # A list that is longer than the run agrees with each row, and fails.
    austen "${chain[@]}" >long.ids
    echo 5 >>long.ids
    austen "${chain[@]}" --expect long.ids -O json >report 2>/dev/null || [ $? = 1 ]
    [ "$(tap <report | tail -n 1)" = 'Bail out! sampl ended with status 1' ]
    [ "$(github <report)" = '::error file=port.ids::no row of 256 differs, but sampl ended with status 1' ]
    # no token is expected
    sed '3s/.*/-1/; $d' long.ids >port.ids
    austen "${chain[@]}" --expect port.ids -O json >report || [ $? = 4 ]
    [[ $(tap <report | grep '^not') == 'not ok 3 - row 2: expected no token, got '*' (no stage)' ]]
    github <report >github.out
    [[ $(head -n 1 github.out) == '::error file=port.ids,line=3,title=no stage::row 2: expected no token, got '* ]]
    [ "$(tail -n 1 github.out)" = '::error file=port.ids::1 of 256 rows differ: 1 no stage' ]
    # numbers
    sampl --emit logits -O npy --samplers '' -s 1 port.json >port.npy
    austen "${chain[@]}" --after top_p --emit logits --expect port.npy -O json >report || [ $? = 4 ]
    [ "$(tap <report | sed -n 2p)" = 'not ok 1 - row 0: 1 numbers differ (top_p: one_less)' ]
    # the right port
    austen "${chain[@]}" >port.ids
    austen "${chain[@]}" --expect port.ids -O json >report
    [ "$(tap <report | grep -c '^ok ')" = 256 ]
    run ! grep '^not' <(tap <report)
    [ "$(github <report)" = '::notice file=port.ids::256 rows agree' ]
}

@test "--tolerance: the kept tokens on both sides of each stage's limit agree within it, and differ beyond it" {
    need python3
    python3 "$BATS_TEST_DIRNAME/margins.py" "$SAMPL" $((120 / STEP)) "$((START + 1))"
}

@test "--tolerance: a candidate near the limit that a stage computes may be kept or not, and is counted apart" {
    local chain here there row other
    while read -r chain here there row other; do
        # shellcheck disable=SC2086
        sampl -s 1 --samplers "$chain" $there --emit probs <<<"${other:-$row}" >there.json
        # shellcheck disable=SC2086
        run -0 sampl -s 1 --samplers "$chain" $here --emit probs --tolerance 1e-3 --expect there.json <<<"$row"
        [ "$output" = '0 of 1 rows differ, 1 more within the tolerance' ] || { echo "$chain: $output"; return 1; }
        # shellcheck disable=SC2086
        run -4 sampl -s 1 --samplers "$chain" $here --emit probs --tolerance 1e-5 --expect there.json <<<"$row"
        [[ ${lines[-2]} == '1 of 1 rows differ' ]] || { echo "$chain: $output"; return 1; }
    done <<'END'
epsilon_cutoff --epsilon-cutoff=.30425 --epsilon-cutoff=.30435 [2,1.3,0]
p_less --min-keep=0 --min-keep=0 [0,-0.1822,-0.693147] [0,-0.1824,-0.693147]
min_k --min-k=0 --min-k=0 [2,1,-1.0004] [2,1,-0.9996]
p_less_norm --min-keep=0 --min-keep=0 [0,-0.693147,-1.0350,-4] [0,-0.693147,-1.0354,-4]
END
    run -0 sampl -s 1 --samplers epsilon_cutoff --epsilon-cutoff .30435 --tolerance 1e-3 --expect 1 <<<'[2,1.3,0]'
    [ "$output" = '0 of 1 rows differ, 1 more within the tolerance' ]
    run -4 sampl -s 1 --samplers epsilon_cutoff --epsilon-cutoff .30435 --tolerance 1e-5 --expect 1 <<<'[2,1.3,0]'
}
