#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Batches: JSON rows of several sequences, each with its own parameters, history and generator.
# shellcheck disable=SC2016 # perl's variables are not the shell's
load helper

N=2000

# members FIRST COUNT [PERL]: prints recorded rows as JSON objects, one a line. PERL may add members to %m; $i is the row's index from 0.
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

# deal N: writes the lines of standard input in turn to dealt.0 to dealt.N-1.
deal() {
    awk -v n="$1" '{ print > ("dealt." (NR - 1) % n) }'
}

@test "batch: interleaved sequences give the ids of separate runs" {
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

@test "batch: rows without a name are one sequence of their own" {
    members 0 10 '$m{seq} = qq("x") if $i % 2' | sampl -s 3 | deal 2
    members 0 10 | awk 'NR % 2' | sampl -s 3 | cmp - dealt.0
    members 0 10 | awk 'NR % 2 == 0' | sampl -s 3 | cmp - dealt.1
}

@test "batch: a thousand sequences give their ids in the order of the rows" {
    perl -e 'for my $r (0 .. 2) { print qq({"seq":"sequence $_","logits":[1,2,3,4,5]}\n) for 0 .. 999 }' >many.json
    sampl -s 9 --temp 2 many.json >got
    [ "$(wc -l <got)" = 3000 ]
    # All sequences have the same seed and rows, so that their ids are equal.
    for r in 1 1001 2001; do
        [ "$(sed -n "$r,$((r + 999))p" got | sort -u | wc -l)" = 1 ]
    done
    sampl -s 9 --temp 2 --repeat-penalty 1.5 --rows 0:1000 many.json >first
    sed -n 1,1000p got | cmp - first
}

@test "batch: each parameter of a row has the effect of its option" {
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

@test "batch: parameters of a row apply to its sequence only" {
    members 0 12 '$m{seq} = $i % 2 ? qq("hot") : qq("cold"); $m{params} = $i % 2 ? q({"temperature":1.5,"top_k":0,"min_p":0}) : q({"temperature":0})' |
        sampl -s 4 | deal 2
    members 0 12 | awk 'NR % 2' | sampl -s 4 --samplers greedy | cmp - dealt.0
    members 0 12 | awk 'NR % 2 == 0' | sampl -s 4 --temp 1.5 --top-k 0 --min-p 0 | cmp - dealt.1
}

@test "batch: parameters hold from their row on, and keep the history and the generators" {
    # A parameter that has its value already changes nothing.
    members 0 12 >plain
    sampl -s 6 --repeat-penalty 1.4 --xtc-probability 0.4 --scatter-strength 0.2 --scatter-collision 0.5 plain >want
    members 0 12 '$m{params} = q({"repeat_penalty":1.4,"xtc_probability":0.4,"scatter_strength":0.2,"scatter_collision":0.5})' >again
    sampl -s 6 again | cmp - want
    # Mirostat keeps its mu.
    members 0 12 '$m{params} = q({"mirostat":2})' | sampl -s 6 | cmp - <(sampl -s 6 --mirostat 2 plain)
    members 0 12 '$m{params} = q({"adaptive_target":0.3,"samplers":"ka"})' | sampl -s 6 | cmp - <(sampl -s 6 --adaptive-target 0.3 --samplers 'top_k;adaptive_p' plain)
    # A change in the middle changes neither the rows before it nor the random numbers after it.
    members 0 12 '$m{params} = q({"top_k":3}) if $i == 6' | sampl -s 6 >middle
    sampl -s 6 plain | head -6 | cmp - <(head -6 middle)
    sampl -s 6 --top-k 3 plain | tail -6 | cmp - <(tail -6 middle)
    # Another seed restarts the generator.
    members 0 12 '$m{params} = q({"seed":11}) if $i == 6' | sampl -s 6 | tail -6 >seeded
    members 6 6 | sampl -s 11 | cmp - seeded
    # A sampler that is off for a row continues with its next random number.
    members 0 12 '$m{params} = $i == 4 ? q({"xtc_probability":0}) : q({"xtc_probability":0.5})' | sampl -s 6 --samplers 'xtc;greedy' --xtc-threshold 0.01 | sed 5d >got
    members 0 12 '' | sed 5d | sampl -s 6 --samplers 'xtc;greedy' --xtc-threshold 0.01 --xtc-probability 0.5 | cmp - got
    # The history before the change is penalised.
    members 0 12 '$m{params} = q({"repeat_penalty":3}) if $i == 6; $m{accept} = $i' | sampl -s 6 --dump-probs -O json | tail -1 >got
    sampl -s 6 --repeat-penalty 3 --accept 0,1,2,3,4,5,6,7,8,9,10,11 --dump-probs -O json plain | tail -1 | cmp - got
}

@test "batch: mirostat and adaptive_p keep their state when parameters change" {
    local chain
    # The temperature changes for one row, which has one candidate.
    members 0 24 | sed '12s/.*/{"ids":[5],"logits":[1]}/' >plain
    sed '12s/{/{"params":{"temperature":0.5},/; 13s/{/{"params":{"temperature":1},/' plain >changed
    for chain in "--mirostat 2 --mirostat-lr 1" "--mirostat 1 --mirostat-lr 1" "--samplers temperature;adaptive_p --adaptive-target 0.1 --adaptive-decay 0.99"; do
        # shellcheck disable=SC2086
        sampl -s 6 --temp 1 -n $N $chain plain >want
        # shellcheck disable=SC2086
        sampl -s 6 --temp 1 -n $N $chain changed | cmp - want
        # A chain that starts at this row gives other ids.
        # shellcheck disable=SC2086
        tail -12 plain | sampl -s 6 --temp 1 -n $N $chain >anew
        run -1 cmp -s anew <(tail -12 want)
    done
}

@test "batch: repeated parameters do not take longer with a longer history" {
    perl -e 'print qq({"params":{"temperature":1},"logits":[1,2,3]}\n) x 150000' >rows
    (ulimit -t 20 && sampl -s 1 rows >got)
    sed 's/"params":{[^}]*},//' rows | sampl -s 1 --temp 1 | cmp - got
    # A random seed is drawn again for each row.
    perl -e 'print qq({"params":{"seed":-1},"logits":[@{[join ",", (0) x 1000]}]}\n) x 3' | sampl -s 1 --temp 1 --top-k 0 | sort -u >got
    [ "$(wc -l <got)" -gt 1 ]
}

@test "batch: accept and prompt_tokens of rows have the effect of --accept and --prompt-tokens" {
    members 0 6 '$m{accept} = 100 + $i; $m{prompt_tokens} = "[1,2,3]" if !$i' | sampl -s 1 --repeat-penalty 2 --frequency-penalty 1 --dump-probs -O json >got
    members 0 6 | sampl -s 1 --repeat-penalty 2 --frequency-penalty 1 --prompt-tokens 1,2,3 --accept 100,101,102,103,104,105 --dump-probs -O json | cmp - got
    # The prompt of a sequence replaces that of the options.
    members 0 2 '$m{prompt_tokens} = "[7]" if !$i' | sampl -s 1 --repeat-penalty 2 --prompt-tokens 1,2,3 --dump-probs -O json >got
    members 0 2 | sampl -s 1 --repeat-penalty 2 --prompt-tokens 7 --dump-probs -O json | cmp - got
}

@test "batch: with --independent rows share no history, and parameters still hold for their sequence" {
    members 0 8 '$m{seq} = $i % 2 ? qq("a") : qq("b"); $m{params} = q({"temperature":2}) if $i == 1' | sampl -s 5 --independent | deal 2
    members 0 8 >plain
    sampl -s 5 --independent plain | awk 'NR % 2' | cmp - dealt.0
    sampl -s 5 --independent --temp 2 plain | awk 'NR % 2 == 0' | cmp - dealt.1
}

@test "batch: records are the same on 1, 2 and 5 threads" {
    { members 0 9; members 9 6 '$m{seq} = $i % 2 ? qq("a") : qq("b"); $m{params} = q({"temperature":2}) if $i == 1'; members 15 9; } >mixed
    sampl -s 5 -O json mixed >one
    for t in 2 5; do
        sampl -s 5 -t $t -O json mixed | cmp - one
    done
}

@test "batch: --trace lists the stages of the row's parameters" {
    members 0 4 '$m{params} = $i % 2 ? q({"top_k":3,"samplers":["top_k"]}) : q({"samplers":["min_p","temperature"],"min_p":0.2})' |
        sampl -s 5 --trace --dump-probs=2 -O json >got
    [ "$(grep -c '"name":"top_k","enabled":true,"before":2000,"after":3' got)" = 2 ]
    [ "$(grep -c '"name":"min_p"' got)" = 2 ]
    run ! grep -q '"name":"top_k".*min_p' got
}

@test "batch: a row with end ends its sequence, and the next row of that name starts a new one" {
    local chain=(-s 5 --repeat-penalty 1.3 --xtc-probability 0.5 --top-k 20)
    members 0 4 '$m{seq} = q("a"); $m{end} = $i == 3 ? "true" : "false"; $m{params} = q({"top_k":9}) if $i == 1' >life
    sampl "${chain[@]}" life >once
    cat life life life | sampl "${chain[@]}" >thrice
    same thrice <(cat once once once)
    # Other sequences continue. The new sequence may have a prompt, which only a first row may have.
    members 4 12 '$m{seq} = q("b")' >other
    sampl "${chain[@]}" other >alone
    paste -d '\n' <(cat life life life) other | sampl "${chain[@]}" | deal 2
    same dealt.0 thrice
    same dealt.1 alone
    members 0 6 '$m{prompt_tokens} = "[1,2]"; $m{seq} = 7; $m{end} = "true"' | sampl "${chain[@]}" >out
    [ "$(wc -l <out)" -eq 6 ]
    # The unnamed sequence ends, too, with the tokens of --accept in its history.
    members 0 4 '$m{end} = $i == 1 ? "true" : "null"' | sampl "${chain[@]}" --accept 1,1,1,1 >out
    same <(head -2 out) <(members 0 2 | sampl "${chain[@]}" --accept 1,1)
    same <(tail -2 out) <(members 2 2 | sampl "${chain[@]}" --accept 1,1)
    # A bad row with end ends its sequence.
    { members 0 3 '$m{seq} = q("a")'; echo '{"seq":"a","logits":[1,1],"ids":[1],"end":true}'; members 0 3 '$m{seq} = q("a")'; } |
        sampl "${chain[@]}" --on-error skip >out 2>err || [ $? -eq 1 ]
    same <(head -3 out) <(tail -3 out)
}

# peak COMMAND...: prints the peak memory of the command, in KB.
peak() {
    /usr/bin/time -f %M -o time "$@" >/dev/null
    tail -1 time
}

@test "batch: a sequence with shared parameters takes less than 4 KB, and an ended sequence no memory" {
    local few many ended
    need /usr/bin/time
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # a sanitizer needs additional memory
    perl -e 'print qq({"seq":"s$_","params":{"temperature":0.7,"top_k":5},"logits":[1,2,3]}\n) for 1 .. 50000' >many
    sed 's/"seq"/"end":true,"seq"/' many >ending
    head -1000 many >few
    same <(sampl -s 1 many) <(sampl -s 1 ending)
    few=$(peak "$SAMPL" -s 1 few) many=$(peak "$SAMPL" -s 1 many) ended=$(peak "$SAMPL" -s 1 ending)
    echo "1000 sequences: $few KB, 50000: $many KB, ended ones: $ended KB"
    [ $(((many - few) * 1024 / 49000)) -lt 4096 ]
    [ "$ended" -le $((few + 4000)) ]
}

@test "batch: a sequence with the default chain takes 1 KB, with other generators less than 3 KB" {
    local few many chain limit=1100
    need /usr/bin/time
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # a sanitizer needs additional memory
    perl -e 'print qq({"seq":"s$_","logits":[1,2,3]}\n) for 1 .. 50000' >many
    head -1000 many >few
    [ -n "$(nm -D "$SAMPL" 2>/dev/null)" ] || limit=1200 # musl's malloc, in a static program, adds a tenth
    for chain in '' '--xtc-probability 0.5' '--samplers adaptive_p --adaptive-target 0.5' '--mirostat 2'; do
        # shellcheck disable=SC2086 # the words of the chain
        few=$(peak "$SAMPL" -s 1 -t 1 $chain few) many=$(peak "$SAMPL" -s 1 -t 1 $chain many)
        echo "$chain: 1000 sequences: $few KB, 50000: $many KB"
        [ $(((many - few) * 1024 / 49000)) -lt "$([ -z "$chain" ] && echo $limit || echo 3072)" ]
    done
}

@test "batch: parameters that change in every row give the ids of a run that counts the history anew" {
    # Parameters that change no value give the same ids with penalties over the whole history.
    local chain=(-s 3 --repeat-penalty 1.2 --repeat-last-n -1 --scatter-absorption 0.2 --temp 0.5)
    members 0 32 '$m{params} = $i % 3 ? q({"temperature":0.5}) : $i % 2 ? q({"top_k":40,"min_p":0.05}) : q({})' | sampl "${chain[@]}" >changing
    same changing <(members 0 32 | sampl "${chain[@]}")
    # Windows grow, shrink and switch off; the last row equals that of a run with the last window from the start.
    local last
    for last in 1 5 30 64; do
        members 0 30 '$m{params} = q({"repeat_last_n":) . (7, 0, 64, 1, 20, 3)[$i % 6] . q(}) if $i < 29;
            $m{params} = q({"repeat_last_n":'$last'}) if $i == 29; $m{accept} = $i * 7 % 11' | sampl -s 3 --temp 0 --repeat-penalty 1.9 >out
        same <(tail -1 out) <(members 0 30 '$m{accept} = $i * 7 % 11' | sampl -s 3 --temp 0 --repeat-penalty 1.9 --repeat-last-n $last | tail -1)
    done
}

@test "batch: parameters in a later file look back on the rows of the files before" {
    local t tail='{"logits":[1,2,3],"params":{"repeat_penalty":3,"repeat_last_n":9}}[3,2,3]{"seq":"a","logits":[3,2,1]}[1,1,1]'
    f32 1 2 3 2.5 2 3 3 2 1 >first.f32
    echo "$tail" >later.json
    echo "[1,2,3][2.5,2,3][3,2,1]$tail" >all.json
    sampl -s 5 -O json all.json | sed 's/,"seq":.*/}/' >want
    for t in 1 2 3; do
        sampl -s 5 -t $t -n 3 -O json first.f32 later.json | sed 's/,"\(seq\|file\)":.*/}/' >got
        same got want
    done
}

@test "batch: the ids of --accept for rows of a sequence are in no other sequence" {
    # Rows without a name are one more sequence: with a name of their own they give the same ids.
    local chain=(--samplers 'penalties;greedy' --presence-penalty 9 -s 1 --accept '2,0,1,0')
    local rows='{"seq":"a","logits":[1,1.5,2]} X[1,2,3]} X[1,2,4]} {"seq":"a","logits":[1,1.5,4]}'
    sampl "${chain[@]}" <<<"${rows//X/{\"logits\":}" >got
    sampl "${chain[@]}" <<<"${rows//X/{\"seq\":\"b\",\"logits\":}" | same got /dev/stdin
    [ "$(xargs <got)" = '2 2 2 1' ]
}
