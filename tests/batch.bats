#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Batches: JSON rows of several sequences, each with its own parameters, history and generator.
# shellcheck disable=SC2016 # perl's variables are not the shell's
load helper

N=2000

# members FIRST COUNT [PERL]: rows of the sample as JSON objects, one a line. PERL may add members to %m, knowing the row's place $i.
members() {
    perl -e '
        my ($file, $n, $first, $count, $code) = @ARGV;
        open my $f, "<:raw", $file or die;
        for my $i (0 .. $count - 1) {
            seek $f, 4 * $n * ($first + $i), 0;
            read $f, my $bytes, 4 * $n;
            my %m;
            eval $code;
            die $@ if $@;
            my $more = join "", map { qq("$_":$m{$_},) } sort keys %m;
            print "{$more\"logits\":[", join(",", map { sprintf "%.9g", $_ } unpack "f<*", $bytes), "]}\n";
        }' "$ROOT/tests/cases/syn2000.f32" $N "$1" "$2" "${3-}"
}

# deal N: each line to the output of the sequence it belongs to, of N that take turns.
deal() {
    awk -v n="$1" '{ print > ("dealt." (NR - 1) % n) }'
}

@test "batch: interleaved sequences come out as each would alone" {
    local chain=(-s 5 --repeat-penalty 1.3 --xtc-probability 0.5 --dry-multiplier 1 --dry-sequence-breaker none --top-k 20)
    members 0 24 '$m{seq} = qq("s) . $i % 3 . qq(")' | sampl "${chain[@]}" | deal 3
    for s in 0 1 2; do
        members 0 24 '$m{seq} = qq("s) . $i % 3 . qq(")' | awk -v s=$s '(NR - 1) % 3 == s' | sampl "${chain[@]}" >alone
        same alone dealt.$s
        members 0 24 | awk -v s=$s '(NR - 1) % 3 == s' | sampl "${chain[@]}" >unnamed
        same unnamed alone
    done
    run ! cmp -s dealt.0 dealt.1
}

@test "batch: rows without a sequence are one of their own beside the named" {
    members 0 10 '$m{seq} = qq("x") if $i % 2' | sampl -s 3 | deal 2
    members 0 10 | awk 'NR % 2' | sampl -s 3 | cmp - dealt.0
    members 0 10 | awk 'NR % 2 == 0' | sampl -s 3 | cmp - dealt.1
}

@test "batch: a thousand sequences, each in its place" {
    perl -e 'for my $r (0 .. 2) { print qq({"seq":"sequence $_","logits":[1,2,3,4,5]}\n) for 0 .. 999 }' >many.json
    sampl -s 9 --temp 2 many.json >got
    [ "$(wc -l <got)" = 3000 ]
    # all are seeded alike and see alike
    for r in 1 1001 2001; do
        [ "$(sed -n "$r,$((r + 999))p" got | sort -u | wc -l)" = 1 ]
    done
    sampl -s 9 --temp 2 --repeat-penalty 1.5 --rows 0:1000 many.json >first
    sed -n 1,1000p got | cmp - first
}

@test "batch: each parameter in the row is the option" {
    while read -r name value option; do
        members 0 6 '$m{params} = qq({"'"$name"'":'"$value"'}); $m{seq} = qq("a")' | sampl -s 2 --prompt-tokens 5,6,7,5,6 --dump-probs -O json |
            sed 's/,"seq":"a"//' >got
        # shellcheck disable=SC2086
        members 0 6 | sampl -s 2 --prompt-tokens 5,6,7,5,6 $option --dump-probs -O json >want
        same want got || { echo "$name"; return 1; }
    done <<'END'
temperature 0 --temp 0
temperature 1.7 --temp 1.7
temperature -1 --temp 0
top_k 5 --top-k 5
top_k -3 --top-k 0
top_p 0.5 --top-p 0.5
top_p 1.5 --top-p 1
min_p 0.3 --min-p 0.3
top_n_sigma 1.5 --top-nsigma 1.5
xtc_probability 0.7 --xtc-probability 0.7
typical_p 0.6 --typical 0.6
min_keep 4 --min-keep 4
repeat_penalty 1.4 --repeat-penalty 1.4
presence_penalty 0.7 --presence-penalty 0.7
frequency_penalty 0.3 --frequency-penalty 0.3
dynatemp_range 0.5 --dynatemp-range 0.5
mirostat 2 --mirostat 2
mirostat 7 --mirostat 2
mirostat 2.9 --mirostat 2
top_k 5.9 --top-k 5
top_k -0.5 --top-k 0
top_k true --top-k 1
temperature true --temp 1
repeat_last_n 2.5 --repeat-last-n 2
seed 77.9 --seed 77
seed -0.9 --seed 0
seed 77 --seed 77
seed 4294967290 --seed 4294967290
dry_base 0.5 --dry-base 1.75
samplers "kt" --sampler-seq kt
samplers ["top_k","temperature"] --samplers top_k;temperature
logit_bias [[3,-0.5],[4,false],[5,100]] -l 3-0.5 -l 4-inf -l 5+100
logit_bias {"3":-0.5,"5":100} -l 3-0.5 -l 5+100
logit_bias [{"token":3,"bias":-0.5}] -l 3-0.5
scatter_strength 0.3 --scatter-strength 0.3
adaptive_target 0.4 --adaptive-target 0.4
n_probs 7
top_k null
stop ["x"]
grammar_triggers []
speculative {"n_max":3}
speculative.n_max 3
speculative.ngram_size_n 3
END
}

@test "batch: parameters are of their row's sequence alone, in one call" {
    members 0 12 '$m{seq} = $i % 2 ? qq("hot") : qq("cold"); $m{params} = $i % 2 ? q({"temperature":1.5,"top_k":0,"min_p":0}) : q({"temperature":0})' |
        sampl -s 4 | deal 2
    members 0 12 | awk 'NR % 2' | sampl -s 4 --samplers greedy | cmp - dealt.0
    members 0 12 | awk 'NR % 2 == 0' | sampl -s 4 --temp 1.5 --top-k 0 --min-p 0 | cmp - dealt.1
}

@test "batch: parameters hold from their row on; history and generators go on" {
    # the same value again changes nothing
    members 0 12 >plain
    sampl -s 6 --repeat-penalty 1.4 --xtc-probability 0.4 --scatter-strength 0.2 --scatter-collision 0.5 plain >want
    members 0 12 '$m{params} = q({"repeat_penalty":1.4,"xtc_probability":0.4,"scatter_strength":0.2,"scatter_collision":0.5})' >again
    sampl -s 6 again | cmp - want
    # mirostat's mu goes on as well
    members 0 12 '$m{params} = q({"mirostat":2})' | sampl -s 6 | cmp - <(sampl -s 6 --mirostat 2 plain)
    members 0 12 '$m{params} = q({"adaptive_target":0.3,"samplers":"ka"})' | sampl -s 6 | cmp - <(sampl -s 6 --adaptive-target 0.3 --samplers 'top_k;adaptive_p' plain)
    # a change in the middle leaves the rows before it as they were, and the draws after it
    members 0 12 '$m{params} = q({"top_k":3}) if $i == 6' | sampl -s 6 >middle
    sampl -s 6 plain | head -6 | cmp - <(head -6 middle)
    sampl -s 6 --top-k 3 plain | tail -6 | cmp - <(tail -6 middle)
    # another seed starts anew from there
    members 0 12 '$m{params} = q({"seed":11}) if $i == 6' | sampl -s 6 | tail -6 >seeded
    members 6 6 | sampl -s 11 | cmp - seeded
    # a sampler that rests for a row draws on where it was
    members 0 12 '$m{params} = $i == 4 ? q({"xtc_probability":0}) : q({"xtc_probability":0.5})' | sampl -s 6 --samplers 'xtc;greedy' --xtc-threshold 0.01 | sed 5d >got
    members 0 12 '' | sed 5d | sampl -s 6 --samplers 'xtc;greedy' --xtc-threshold 0.01 --xtc-probability 0.5 | cmp - got
    # repeated tokens from before the change are penalised
    members 0 12 '$m{params} = q({"repeat_penalty":3}) if $i == 6; $m{accept} = $i' | sampl -s 6 --dump-probs -O json | tail -1 >got
    sampl -s 6 --repeat-penalty 3 --accept 0,1,2,3,4,5,6,7,8,9,10,11 --dump-probs -O json plain | tail -1 | cmp - got
}

@test "batch: what mirostat and adaptive_p have learnt goes on when parameters change" {
    local chain
    # a row that leaves no choice, at which the temperature changes for as long as it lasts
    members 0 24 | sed '12s/.*/{"ids":[5],"logits":[1]}/' >plain
    sed '12s/{/{"params":{"temperature":0.5},/; 13s/{/{"params":{"temperature":1},/' plain >changed
    for chain in "--mirostat 2 --mirostat-lr 1" "--mirostat 1 --mirostat-lr 1" "--samplers temperature;adaptive_p --adaptive-target 0.1 --adaptive-decay 0.99"; do
        # shellcheck disable=SC2086
        sampl -s 6 --temp 1 -n $N $chain plain >want
        # shellcheck disable=SC2086
        sampl -s 6 --temp 1 -n $N $chain changed | cmp - want
        # it matters: those who begin at that row choose otherwise
        # shellcheck disable=SC2086
        tail -12 plain | sampl -s 6 --temp 1 -n $N $chain >anew
        run -1 cmp -s anew <(tail -12 want)
    done
}

@test "batch: parameters repeated in each row cost nothing more as the history grows" {
    perl -e 'print qq({"params":{"temperature":1},"logits":[1,2,3]}\n) x 150000' >rows
    (ulimit -t 20 && sampl -s 1 rows >got)
    sed 's/"params":{[^}]*},//' rows | sampl -s 1 --temp 1 | cmp - got
    # but a random seed is another one each time
    perl -e 'print qq({"params":{"seed":-1},"logits":[@{[join ",", (0) x 1000]}]}\n) x 3' | sampl -s 1 --temp 1 --top-k 0 | sort -u >got
    [ "$(wc -l <got)" -gt 1 ]
}

@test "batch: accept and prompt_tokens of rows are --accept and --prompt-tokens" {
    members 0 6 '$m{accept} = 100 + $i; $m{prompt_tokens} = "[1,2,3]" if !$i' | sampl -s 1 --repeat-penalty 2 --frequency-penalty 1 --dump-probs -O json >got
    members 0 6 | sampl -s 1 --repeat-penalty 2 --frequency-penalty 1 --prompt-tokens 1,2,3 --accept 100,101,102,103,104,105 --dump-probs -O json | cmp - got
    # a sequence's own prompt takes the place of the common one
    members 0 2 '$m{prompt_tokens} = "[7]" if !$i' | sampl -s 1 --repeat-penalty 2 --prompt-tokens 1,2,3 --dump-probs -O json >got
    members 0 2 | sampl -s 1 --repeat-penalty 2 --prompt-tokens 7 --dump-probs -O json | cmp - got
}

@test "batch: with --independent every row stands alone, parameters stay with their sequence" {
    members 0 8 '$m{seq} = $i % 2 ? qq("a") : qq("b"); $m{params} = q({"temperature":2}) if $i == 1' | sampl -s 5 --independent | deal 2
    members 0 8 >plain
    sampl -s 5 --independent plain | awk 'NR % 2' | cmp - dealt.0
    sampl -s 5 --independent --temp 2 plain | awk 'NR % 2 == 0' | cmp - dealt.1
}

@test "batch: threads change nothing" {
    { members 0 9; members 9 6 '$m{seq} = $i % 2 ? qq("a") : qq("b"); $m{params} = q({"temperature":2}) if $i == 1'; members 15 9; } >mixed
    sampl -s 5 -O json mixed >one
    for t in 2 5; do
        sampl -s 5 -t $t -O json mixed | cmp - one
    done
}

@test "batch: --trace follows the parameters of the row" {
    members 0 4 '$m{params} = $i % 2 ? q({"top_k":3,"samplers":["top_k"]}) : q({"samplers":["min_p","temperature"],"min_p":0.2})' |
        sampl -s 5 --trace --dump-probs=2 -O json >got
    [ "$(grep -c '"name":"top_k","enabled":true,"before":2000,"after":3' got)" = 2 ]
    [ "$(grep -c '"name":"min_p"' got)" = 2 ]
    run ! grep -q '"name":"top_k".*min_p' got
}

@test "batch: a row with end is its sequence's last, and the name is new again" {
    local chain=(-s 5 --repeat-penalty 1.3 --xtc-probability 0.5 --top-k 20)
    members 0 4 '$m{seq} = q("a"); $m{end} = $i == 3 ? "true" : "false"; $m{params} = q({"top_k":9}) if $i == 1' >life
    sampl "${chain[@]}" life >once
    cat life life life | sampl "${chain[@]}" >thrice
    same thrice <(cat once once once)
    # among others, which go on; and with a prompt, which only a first row may have
    members 4 12 '$m{seq} = q("b")' >other
    sampl "${chain[@]}" other >alone
    paste -d '\n' <(cat life life life) other | sampl "${chain[@]}" | deal 2
    same dealt.0 thrice
    same dealt.1 alone
    members 0 6 '$m{prompt_tokens} = "[1,2]"; $m{seq} = 7; $m{end} = "true"' | sampl "${chain[@]}" >out
    [ "$(wc -l <out)" -eq 6 ]
    # the unnamed one, too: also of the tokens of --accept nothing is left
    members 0 4 '$m{end} = $i == 1 ? "true" : "null"' | sampl "${chain[@]}" --accept 1,1,1,1 >out
    same <(head -2 out) <(members 0 2 | sampl "${chain[@]}" --accept 1,1)
    same <(tail -2 out) <(members 2 2 | sampl "${chain[@]}" --accept 1,1)
    # a bad row ends it as well
    { members 0 3 '$m{seq} = q("a")'; echo '{"seq":"a","logits":[1,1],"ids":[1],"end":true}'; members 0 3 '$m{seq} = q("a")'; } |
        sampl "${chain[@]}" --on-error skip >out 2>err || [ $? -eq 1 ]
    same <(head -3 out) <(tail -3 out)
}

# peak COMMAND...: the most memory that it takes, in KB.
peak() {
    /usr/bin/time -f %M -o time "$@" >/dev/null
    tail -1 time
}

@test "batch: sequences that share parameters take little, and ended ones nothing" {
    local few many ended
    need /usr/bin/time
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # a sanitizer takes memory of its own
    perl -e 'print qq({"seq":"s$_","params":{"temperature":0.7,"top_k":5},"logits":[1,2,3]}\n) for 1 .. 50000' >many
    sed 's/"seq"/"end":true,"seq"/' many >ending
    head -1000 many >few
    same <(sampl -s 1 many) <(sampl -s 1 ending)
    few=$(peak "$SAMPL" -s 1 few) many=$(peak "$SAMPL" -s 1 many) ended=$(peak "$SAMPL" -s 1 ending)
    echo "1000 sequences: $few KB, 50000: $many KB, ended ones: $ended KB"
    [ $(((many - few) * 1024 / 49000)) -lt 4096 ]
    [ "$ended" -le $((few + 2000)) ]
}

@test "batch: parameters that change in every row do not look at the history again" {
    # the same ids as from rows whose parameters say each time what is so anyway, in a sequence whose penalties look back on all of it
    local chain=(-s 3 --repeat-penalty 1.2 --repeat-last-n -1 --scatter-absorption 0.2 --temp 0.5)
    members 0 32 '$m{params} = $i % 3 ? q({"temperature":0.5}) : $i % 2 ? q({"top_k":40,"min_p":0.05}) : q({})' | sampl "${chain[@]}" >changing
    same changing <(members 0 32 | sampl "${chain[@]}")
    # windows that grow and shrink, and penalties that rest, against a sequence that had those parameters from the start
    local last
    for last in 1 5 30 64; do
        members 0 30 '$m{params} = q({"repeat_last_n":) . (7, 0, 64, 1, 20, 3)[$i % 6] . q(}) if $i < 29;
            $m{params} = q({"repeat_last_n":'$last'}) if $i == 29; $m{accept} = $i * 7 % 11' | sampl -s 3 --temp 0 --repeat-penalty 1.9 >out
        same <(tail -1 out) <(members 0 30 '$m{accept} = $i * 7 % 11' | sampl -s 3 --temp 0 --repeat-penalty 1.9 --repeat-last-n $last | tail -1)
    done
}
