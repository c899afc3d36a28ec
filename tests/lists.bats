#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Partial rows: the lists of likeliest tokens in the replies of servers.
# shellcheck disable=SC2154 # run sets stderr
load helper

# reply TOKEN=LOGPROB,... ...: writes a reply with a position for each argument. The first token is the chosen one. The numbers are 2^-22
# larger than given: they have all the digits of f32.
reply() {
    perl -e '
        sub f32 { sprintf "%.9g", unpack "f", pack "f", $_[0] * (1 + 2 ** -22) }
        print "{\"completion_probabilities\":[", join(",", map {
            my @list = map { my ($id, $x) = split /=/; "{\"id\":$id,\"token\":\"t$id\",\"logprob\":" . f32($x) } split /,/;
            "$list[0],\"top_logprobs\":[" . join(",", map { "$_}" } @list) . "]}"
        } @ARGV), "]}\n"' "$@"
}

# exact OPTION...: prints the member "exact" of each record of list.json; 0 and 1 for false and true.
exact() {
    sampl -s 1 -O json "$@" list.json 2>/dev/null | sed 's/.*"exact":false.*/0/; s/.*"exact":true.*/1/' | paste -sd ' '
}

@test "where a list's result is called exact, it is that of the full row, for every chain" {
    need python3
    COUNT=$((2000 / STEP)) JOBS=1 run "$ROOT/tests/lists.py"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "a list of the whole vocabulary is a complete row, and so is one of logits" {
    reply 1=-1,2=-2 >list.json
    [ "$(exact --samplers '')" = 0 ]
    run sampl -s 1 -n 3 --samplers '' -O json list.json
    [[ $output == *'"exact":false,"within":null}'* ]]
    reply 0=-1.5,1=-1,2=-2 >list.json
    run sampl -s 1 -n 3 --samplers '' -O json list.json
    [[ $output != *exact* && $output != *rest* ]]
    reply 0=1.5,1=-1,2=-2 >list.json
    run sampl -s 1 --samplers '' -O json list.json
    [[ $output != *exact* && $output != *rest* ]]
}

@test "the chosen token sets the ceiling only if it is not the least likely one" {
    reply 1=-1,2=-2,3=-3 >list.json
    [ "$(exact --samplers top_k --top-k 3)" = 1 ]
    reply 3=-3,1=-1,2=-2 >list.json
    [ "$(exact --samplers top_k --top-k 3)" = 0 ]
    [ "$(exact --samplers top_k --top-k 2)" = 1 ]
}

@test "after a row that is not exact, later rows are exact only if the chain does not depend on its token" {
    reply 1=-1,2=-1.5 1=-0.1,2=-3 1=-0.1,2=-3 >list.json
    [ "$(exact --samplers top_p --top-p 0.8)" = '0 1 1' ]
    [ "$(exact --samplers 'penalties;top_p' --top-p 0.8 --presence-penalty 0.1)" = '0 0 0' ]
    [ "$(exact --samplers 'penalties;top_p' --top-p 0.8 --presence-penalty 0.1 --accept recorded)" = '0 1 1' ]
    [ "$(exact --samplers 'penalties;top_p' --top-p 0.8 --presence-penalty 0.1 --independent)" = '0 1 1' ]
    [ "$(exact --mirostat 2 --accept recorded)" = '0 0 0' ]
}

@test "a grammar's mask may remove the rest, and leaves it in doubt" {
    reply 1=-0.7,2=-1.5 >list.json
    printf 'a\nb\nc\nd\n' >vocab
    grammar() { exact --vocab vocab --grammar 'root ::= "c" | "d"' --grammar-first "$@"; }
    [ "$(grammar --samplers '' --temp 0)" = 0 ]
    [ "$(exact --vocab vocab --grammar 'root ::= "b" | "d"' --samplers temperature --temp 0)" = 1 ]
}

@test "raw probabilities are the reply's own, and statistics end with rest and exact" {
    reply 1=-1,2=-2 >list.json
    run sampl -s 1 --samplers top_k --top-k 1 --emit stats -O json list.json
    [ "$status" -eq 0 ]
    [[ $output == *'"raw_prob":0.36787'* ]]
    [[ $output == *'"rest":0.49678'*',"exact":true,"within":'* ]]
    # The entropy of 0.3679, 0.1353 and the rest, 0.4968
    [[ $output == *'"entropy_raw":0.986099'* ]]
}

@test "one note says how many rows are not exact; there is no note if all are exact" {
    reply 1=-1,2=-2 1=-2,2=-1 >list.json
    sampl -s 1 --samplers top_k --top-k 40 list.json 2>note
    [ "$(cat note)" = 'sampl: note: rows list up to 2 tokens, which hold 0.50 of the probability; 0 of 2 rows are known to come out as full rows would, the others need more: ask the server for 50' ]
    sampl -s 1 --samplers top_k --top-k 1 list.json 2>note
    [ ! -s note ]
}

@test "no_repeat_ngram and bans mask listed tokens, and lower the bound of others" {
    reply 2=-0.5,3=-2,4=-3 >list.json
    [ "$(exact --samplers 'no_repeat_ngram;top_k' --no-repeat-ngram 2 --top-k 1 --prompt-tokens 1,2,1)" = 1 ]
    run sampl -s 1 --samplers 'no_repeat_ngram;top_k' --no-repeat-ngram 2 --top-k 1 --prompt-tokens 1,2,1 list.json
    [ "${lines[0]}" = 3 ]
    [ "$(exact --samplers 'no_repeat_ngram;top_k' --no-repeat-ngram 2 --top-k 3 --prompt-tokens 1,2,1)" = 0 ]
    [ "$(exact --samplers 'no_repeat_ngram;top_k' --no-repeat-ngram 2 --top-k 2 --prompt-tokens 1,9,1)" = 1 ]
    [ "$(exact --samplers top_k --top-k 1 --eog-tokens 2 --min-tokens 1)" = 1 ]
    run sampl -s 1 --samplers top_k --top-k 1 --eog-tokens 2 --min-tokens 1 list.json
    [ "${lines[0]}" = 3 ]
}

@test "top_h is exact if the list has its 100 candidates" {
    many() { reply "$(perl -e 'print join ",", map { "$_=" . (-3 - $_ / 16) } 1 .. $ARGV[0]' "$1")" >list.json; }
    many 101
    [ "$(exact --samplers top_h --top-h 0.3)" = 1 ]
    many 99
    [ "$(exact --samplers top_h --top-h 0.3)" = 0 ]
}

@test "a draw with a tail left is never exact, however small the tail" {
    reply 1=-1e-8,2=-20 >list.json
    [ "$(exact --samplers '')" = 0 ]
    [ "$(exact --samplers temperature --temp 0.02)" = 0 ]
    [ "$(exact --samplers 'min_p;temperature' --min-p 0.1 --temp 1.3)" = 1 ]
    reply 1=-0.5,2=-2.5,3=-2.6 >list.json
    [ "$(exact --samplers 'min_p;temperature' --min-p 0.05 --temp 1.3)" = 0 ]
    [ "$(exact --mirostat 2)" = 0 ]
}

@test "a stage that reads a logit's sign or size is not exact on log-probabilities, unless ln p was written before" {
    reply 1=-0.7,2=-1,3=-5 >list.json
    cut() { exact --samplers "top_k;$1" --top-k 2 --prompt-tokens 1,9 "${@:2}"; }
    [ "$(cut penalties --repeat-penalty 1.2)" = 0 ]
    [ "$(cut penalties --presence-penalty 1.2)" = 1 ]
    [ "$(cut encoder_penalty --encoder-repeat-penalty 1.2)" = 0 ]
    [ "$(exact --engine akunu --temp 0.8 --top-k 2)" = 0 ]
    # The penalised tokens are not among the candidates.
    [ "$(exact --samplers 'top_k;penalties' --top-k 2 --repeat-penalty 1.2 --prompt-tokens 3,9)" = 1 ]
    # These stages write ln p, which has the same sign in the full row.
    [ "$(cut 'scatter;penalties' --scatter-k 2 --scatter-strength 0.5 --repeat-penalty 1.2)" = 1 ]
    [ "$(cut 'skew;penalties' --skew 0.5 --repeat-penalty 1.2)" = 1 ]
    # A complete list has log-probabilities as well.
    reply 0=-1.5,1=-1,2=-0.9 >list.json
    [ "$(sampl -s 1 -n 3 --samplers penalties --repeat-penalty 1.2 --prompt-tokens 1 -O json list.json 2>/dev/null | grep -o '"rest".*')" = '"rest":0,"exact":false,"within":null}' ]
}

@test "a list in doubt makes later rows inexact by what they depend on" {
    local cases=$ROOT/tests/cases
    # It is not known whether xtc draws in the first row. Full rows would give other ids.
    [ "$(sampl -s 1 -n 50 --samplers 'min_p;xtc;top_k' --min-p .05 --xtc-probability .5 --xtc-threshold .2 --top-k 1 -O json "$cases/list-gates.json" 2>/dev/null |
        grep -c '"exact":true')" = 1 ]
    ! cmp <(sampl -s 1 -n 50 --samplers 'min_p;xtc;top_k' --min-p .05 --xtc-probability .5 --xtc-threshold .2 --top-k 1 "$cases/list-gates.json" 2>/dev/null) \
        <(sampl -s 1 -n 50 --samplers 'min_p;xtc;top_k' --min-p .05 --xtc-probability .5 --xtc-threshold .2 --top-k 1 "$cases/list-gates-full.json") || false
    # A reasoning budget is history.
    cp "$cases/list-budget.json" list.json
    [ "$(exact --samplers top_p --top-p .999)" = '0 1 1' ]
    [ "$(exact --samplers top_p --top-p .999 --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3)" = '0 0 0' ]
    [ "$(exact --samplers top_p --top-p .999 --reasoning-budget 1 --reasoning-start 2 --reasoning-end 3 --accept 0,0,0)" = '0 1 1' ]
    # A row that failed
    cp "$cases/list-grammar.json" list.json
    printf 'a\nb\nc\n' >vocab
    [ "$(sampl -s 1 --vocab vocab --on-error skip --grammar 'root ::= [bc] [abc]' --grammar-first --samplers top_k --top-k 1 -O json list.json 2>/dev/null |
        tail -1 | grep -o '"exact".*')" = '"exact":false,"within":null}' ]
    # vllm draws a number for each token of a row, and nobody knows how many a row has that failed.
    reply 0=-0.7,1=-1.1,2=-1.8 >list.json
    [ "$({ echo '[]'; cat list.json; } | sampl -s 1 -n 3 --engine vllm --on-error skip -O json 2>/dev/null | tail -1 | grep -o '"rest".*')" = '"rest":0,"exact":false,"within":null}' ]
    # A complete list
    cp "$cases/list-end.json" list.json
    [ "$(sampl -s 1 -n 3 --presence-penalty 1 -O json list.json 2>/dev/null | grep -o '"rest".*' | tail -1)" = '"rest":0,"exact":false,"within":null}' ]
    [ "$(sampl -s 1 -n 3 -O json list.json 2>/dev/null | grep -c '"rest"')" = 1 ]
    # Draws of dist carry nothing.
    reply 1=-1,2=-1.5 1=-0.1,2=-3 >list.json
    [ "$(exact --samplers 'top_p;temperature' --top-p 0.8 --temp 2)" = '0 1' ]
}

@test "a token below the list has no rank" {
    local beside=$ROOT/tests/cases/list-beside.json
    run -4 sampl --draws recorded --samplers top_k --top-k 10 "$beside"
    [[ $output == *$'\n  row 0: 67 not kept after top_k, below the list\n'* ]]
    run -4 sampl --draws recorded --samplers top_k --top-k 10 -O json "$beside"
    [[ $output == *'"stage":"top_k","rank":null,"next":false'* ]]
    run -4 sampl --expect 67 --rows 0 --samplers top_k --top-k 10 -s 1 "$beside"
    [ "${lines[1]}" = '  67 is not among the 10 kept: below the list; not kept after top_k (limit 10)' ]
    run -4 sampl --expect 999 --rows 0 --samplers top_k --top-k 10 -s 1 "$beside"
    [ "${lines[1]}" = '  999 is not among the 10 kept: not listed; not kept after top_k (limit 10)' ]
    sampl -s 1 --samplers top_k --top-k 10 --rows 0 --trace "$beside" | grep -q '^top_k=10 *11 -> *10 *0\.3822'
    # The only token left has no rank, either.
    sampl -s 1 --samplers '' -l 67+40 --rows 0 --emit stats -O json "$beside" 2>/dev/null | grep -q '"id":67,.*"raw_rank":null,'
    sampl -s 1 --samplers '' -l 344+40 --rows 0 --emit stats -O json "$beside" 2>/dev/null | grep -q '"id":344,.*"raw_rank":1,'
    sampl -s 1 --samplers '' -l 67+40 --rows 0,1 --stats "$beside" 2>&1 >/dev/null | grep -q '^raw_rank  *[0-9-]'
    sampl -s 1 --samplers top_k --top-k 10 "$beside" 2>note
    sampl -s 1 --samplers top_k --top-k 11 "$beside" 2>note
    grep -q 'rows list up to 10 tokens' note
}

@test "a token that is not listed is lost only if the chain removed all of them" {
    local ten=$ROOT/tests/cases/list-ten.json
    sampl -s 1 --neutral --accept 339,903,769 --vs 'v: --top-k 3' -O json "$ten" >got 2>/dev/null
    grep '"base"' got | grep -q '"lost":null,.*"unlisted":1,'
    grep '"name":"v"' got | grep -q '"lost":1,.*"unlisted":0,'
    [ "$(sampl -s 1 --neutral --accept 339,903,769 --emit score "$ten" 2>/dev/null | paste -sd' ')" = 'nan nan nan' ]
    [ "$(sampl -s 1 --neutral --top-k 3 --accept 339,903,769 --emit score "$ten" | paste -sd' ')" = '-inf -inf -inf' ]
    sampl -s 1 --neutral --accept 339,903,769 --emit stats -O json "$ten" 2>/dev/null | grep -c '"accepted_prob":null' | grep -qx 3
    run -4 sampl -s 1 --neutral --expect 900 --rows 0 "$ten"
    [[ $output == *'  900 is not listed; it may be among the kept tokens'* ]]
}

@test "each chain and each file is counted, and the advice fits the chain" {
    local ten=$ROOT/tests/cases/list-ten.json
    sampl -s 1 --samplers top_k --top-k 3 --vs 'v: --top-k 40' "$ten" 2>note >/dev/null
    grep -q "in 'v' 0 of 3 rows are known to come out as full rows would, the others need more: ask the server for 50" note
    sampl -s 1 --neutral "$ten" 2>note >/dev/null
    grep -q '0 of 3 rows are known to come out as full rows would, and this chain needs whole rows' note
    sampl -s 1 --samplers 'typ_p;top_k' --typical .9 --top-k 2 "$ten" 2>note >/dev/null
    grep -q 'this chain needs whole rows' note
    reply "$(perl -e 'print join ",", map { "$_=" . (-5 - $_ / 1000) } 1 .. 100')" >list.json
    sampl -s 1 --samplers top_p --top-p .999 list.json 2>note >/dev/null
    grep -q 'ask the server for more than 100' note
    # The lists are in the second file. Its path is short here: below a long name the last columns stand in a second block.
    perl -e 'print "[" . join(",", map { -$_ / 100 } 0 .. 999), "]\n" for 1 .. 3' >full.json
    cp "$ten" ten.json
    sampl -s 1 --neutral -n 1000 --against ten.json full.json >got 2>note
    head -1 got | grep -q ' exact$'
    grep -q '0 of 3 rows' note
}

@test "--draws says how many rows it leaves out, and why" {
    run -1 sampl --draws recorded --neutral "$ROOT/tests/cases/list-beside.json"
    [ "${lines[0]}" = "sampl: --draws: no row is left to test: the lists of 3 rows do not decide the chain's distribution, and 0 rows are bad" ]
    reply 1=-1,2=-1.5 1=-0.1,2=-3 >list.json
    run sampl --draws recorded --samplers top_p --top-p 0.8 list.json
    [[ $output == *$'\n1 row, 1 draw; 1 more row left out: 0 bad, 1 not exact\n'* ]]
}

@test "filters that keep the higher of tied ids are not exact at the end of a list" {
    reply 5=-1,9=-1.5 >list.json
    [ "$(exact --engine mlx --temp 1 --top-k 0 --top-p 0.5)" = 0 ]
    reply 5=-1,9=-1.5,2=-3 >list.json
    [ "$(exact --engine mlx --temp 1 --top-k 0 --top-p 0.5)" = 1 ]
    # A chosen token that ties with the list's end may stand beside the list.
    reply 7=-2,5=-1,1=-2 >list.json
    [ "$(exact --samplers top_k --top-k 2)" = 0 ]
    [ "$(exact --samplers top_k --top-k 1)" = 1 ]
}

# lists FILE NAME DTYPE SHAPE NUMBERS...: writes a safetensors file. Each further group of four arguments is a tensor.
lists() {
    perl -e '
        my ($file, $at, @head, $data) = (shift, 0);
        my %form = (I64 => "q<", I32 => "l<", U16 => "v", U8 => "C", F32 => "f<", BF16 => "v", F64 => "d<");
        while (my ($name, $type, $shape, $numbers) = splice @ARGV, 0, 4) {
            my $bytes = pack "($form{$type})*", map { /inf/ ? -9**9**9 : $_ } split /,/, $numbers;
            my $end = $at + length $bytes;
            push @head, qq("$name":{"dtype":"$type","shape":$shape,"data_offsets":[$at,$end]});
            $data .= $bytes;
            $at = $end;
        }
        my $json = "{" . join(",", @head) . "}";
        open my $f, ">", $file or die;
        print $f pack("Q<", length $json), $json, $data' "$@"
}

@test "lists of data sets are read as the same lists in a reply" {
    reply 2=-1,5=-2,9=-3 3=-0.5,4=-1.5,7=-6 >list.json
    sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs list.json |
        perl -pe 's/"token":"[^"]*",(?:"bytes":\[[^\]]*\],)?//g' >want
    local name numbers='-1.00000024,-2.00000048,-3.00000072,-0.500000119,-1.50000036,-6.00000143' ids='2,5,9,3,4,7'
    for name in "topk_ids I64 topk_logprobs F32" "indices I32 values F64" "top_token_ids U16 top_log_probs F32" "ids U8 logprobs F64"; do
        # shellcheck disable=SC2086
        set -- $name
        lists a.safetensors "$1" "$2" '[2,3]' $ids "$3" "$4" '[2,3]' $numbers
        lists b.safetensors "$3" "$4" '[2,3]' $numbers x F32 '[2,2,1,1]' 0,0,0,0 "$1" "$2" '[2,3]' $ids
        sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs a.safetensors | cmp - want
        sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs b.safetensors | cmp - want
        # shellcheck disable=SC2002
        cat a.safetensors | sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs | cmp - want
        sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs -t 2 b.safetensors | cmp - want
        sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs --tensor "$3" b.safetensors | cmp - want
        echo "{\"$1\":[[2,5,9],[3,4,7]],\"$3\":[[-1.00000024,-2.00000048,-3.00000072],[-0.500000119,-1.50000036,-6.00000143]]}" | sampl -s 1 -O json --samplers top_k --top-k 2 --dump-probs |
            sed 's/"seq":"0",//' | cmp - want
    done
}

@test "lists of logits are complete rows, lists of log-probabilities are not" {
    lists a.safetensors ids I64 '[1,3]' 5,9,2 logits F32 '[1,3]' -1,-2,-3
    [ "$(sampl -s 1 --samplers '' -O json a.safetensors)" = "$(echo '{"ids":[5,9,2],"logits":[-1,-2,-3]}' | sampl -s 1 --samplers '' -O json)" ]
    echo '{"ids":[[5,9,2]],"logits":[[-1,-2,-3]]}' | sampl -s 1 --samplers '' -O json >got
    ! grep exact got || false
    echo '{"ids":[[5,9,2]],"values":[[-1.25,-2.5,-3.75]]}' | sampl -s 1 --samplers top_k --top-k 1 -O json | grep '"exact":true,"within":0.00[0-9]*}$'
    echo '{"ids":[[5,9,2]],"values":[[8,2,-3]]}' | sampl -s 1 --samplers '' -O json >got
    ! grep exact got || false
}

@test "padding of lists is removed" {
    lists a.safetensors topk_ids I64 '[2,4]' 7,7,7,7,1,2,-1,-1 topk_logprobs F32 '[2,4]' -inf,-0.5,-inf,-inf,-1,-2,-inf,-inf
    sampl -s 1 --samplers '' -O json a.safetensors 2>/dev/null >got
    grep -q '^{"row":0,"id":7,"prob":1,"n":1,"rest":0.39' got
    grep -q '"n":2,"rest":0.49' got
    echo '{"topk_ids":[[0,0,7,0],[1,2,-1,-1]],"topk_logprobs":[[null,null,-0.5,-Infinity],[-1,-2,null,null]]}' |
        sampl -s 1 --samplers '' -O json 2>/dev/null | sed 's/"seq":"0",//' | cmp - got
    lists a.safetensors topk_ids I64 '[1,2]' 7,7 topk_logprobs F32 '[1,2]' -1,-2
    run -1 sampl -s 1 a.safetensors
    [ "${lines[0]}" = 'sampl: a.safetensors: row 0: token 7 comes twice in the row' ]
    lists a.safetensors topk_ids I64 '[1,2]' 7,7 topk_logprobs F32 '[1,2]' -inf,-inf
    run -1 sampl -s 1 a.safetensors
    [ "${lines[0]}" = 'sampl: a.safetensors: row 0: the row is empty' ]
}

@test "an object of lists is a sequence, and so is each part of a tensor" {
    lists a.safetensors ids I32 '[2,2,2]' 1,2,3,4,5,6,7,8 logits F32 '[2,2,2]' 2,1,2,1,2,1,2,1
    sampl -s 1 --temp 0 -O json a.safetensors >want
    [ "$(sed 's/.*"seq"://' want | paste -sd' ')" = '"0"} "0"} "1"} "1"}' ]
    echo '{"ids":[[1,2],[3,4]],"logits":[[2,1],[2,1]]}{"ids":[[5,6],[7,8]],"logits":[[2,1],[2,1]]}' >a.json
    sampl -s 1 --temp 0 -O json a.json | cmp - want
    sampl -s 1 --temp 0 -O json --rows -1: a.safetensors | cmp - <(tail -1 want)
    sampl -s 1 --temp 0 -O json --shard 2/2 a.safetensors | cmp - <(tail -2 want)
    sampl -s 1 --temp 5 --engine batch -O json a.safetensors >want
    sampl -s 1 --temp 5 --engine batch -O json a.json | cmp - want
    echo '{"seq":"x","prompt_tokens":[2,2],"ids":[[1,2],[1,2]],"logits":[[2,3],[2,3]]}' |
        sampl -s 1 --temp 0 --presence-penalty 5 -O json >got
    [ "$(sed 's/,"prob.*"seq"/,"seq"/' got | paste -sd' ')" = '{"row":0,"id":1,"seq":"x"} {"row":1,"id":2,"seq":"x"}' ]
}

@test "a file of lists that is cut off gives the rows that are whole" {
    lists a.safetensors ids I64 '[2,2]' 1,2,3,4 logits F32 '[2,2]' 2,1,2,1
    head -c -4 a.safetensors >cut.safetensors
    run -1 sampl --temp 0 cut.safetensors
    [ "${lines[0]}" = 1 ]
    [ "${lines[1]}" = 'sampl: cut.safetensors: row 1: the input ends after 1 of 2 rows' ]
}

@test "tsv ends with the columns rest and exact if the first row is partial" {
    reply 1=-1,2=-2 1=-0.1,2=-3 >list.json
    local want
    want=$(sampl -s 1 --samplers top_p --top-p 0.8 -O json list.json | sed 's/.*"rest":\(.*\),"exact":\(.*\),"within".*/\1 \2/')
    [ "$(cut -d ' ' -f 2 <<<"$want" | paste -sd ' ')" = 'false true' ]
    local emit
    for emit in ids stats; do
        sampl -s 1 --samplers top_p --top-p 0.8 --emit $emit -O tsv list.json | if [ $emit = stats ]; then sed 's/\t[^\t]*$//'; else cat; fi >got # gap
        head -1 got | grep -q $'\trest\texact$'
        [ "$(sed 1d got | awk -F '\t' '{ print $(NF - 1), $NF }')" = "$want" ]
    done
    echo '[1,2]' | sampl -s 1 -O tsv >got
    ! grep rest got || false
    echo '[1,2]' | sampl -s 1 -O tsv list.json - >got
    [ "$(tail -1 got | awk -F '\t' '{ print $(NF - 1), $NF }')" = '0 true' ]
    echo '{"ids":[5,5],"logits":[1,1]}' | sampl -s 1 -O tsv --on-error skip list.json - >got || true
    [ "$(tail -1 got | awk -F '\t' '{ print $(NF - 1) "," $NF }')" = 'nan,' ]
}

@test "the table has a column exact if rows are partial" {
    reply 1=-1,2=-2 1=-0.1,2=-3 >list.json
    sampl -s 1 --samplers top_p --top-p 0.8 --vs '--top-p 0.3' --vs '--samplers temperature' -O tsv list.json >got
    [ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "exact") k = i; next } { print $k }' got | paste -sd ' ')" = '0.5 1 0' ]
    [ "$(head -1 got | awk -F '\t' '{ print $NF }')" = rows ]
    sampl -s 1 --samplers top_p --top-p 0.8 --vs '--top-p 0.3' list.json | head -1 | grep -q ' exact$'
    printf '[1,2]\n[1,3]\n' | sampl -s 1 --vs '--top-p 0.3' >got
    ! grep exact got || false
}

@test "a trace says which stage removed the unlisted tokens" {
    reply 1=-0.3,2=-2 >list.json
    sampl -s 1 --samplers 'temperature;top_k' --top-k 1 --trace list.json >got
    [ "$(grep -c 'unlisted' got)" -eq 1 ]
    [ "$(sed -n '/^top_k=1 /,/^[a-z]*  /p' got | grep -c '; unlisted tokens removed$')" = 1 ]
    sampl -s 1 --samplers 'temperature;typ_p' --typical 0.5 --trace list.json 2>/dev/null | grep -c 'depends on unlisted tokens$' | grep -qx 1
    sampl -s 1 --samplers 'temperature;typ_p' --typical 0.5 --trace -O json list.json >got
    [ "$(grep -o '"name":"[a-z_]*"\|"rest":"[a-z]*"' got | grep -B 1 rest | paste -sd ' ')" = '"name":"typ_p" "rest":"unknown"' ]
    echo '[1,2]' | sampl -s 1 --trace -O json >got
    ! grep rest got || false
}

@test "each number of --emit list is numpy's" {
    need_numpy
    run "$ROOT/tests/list_numbers.py" "${SEED:-1}"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "--emit list: threads and shards write the same lists, and a bad row has none" {
    write() { sampl -n 4096 --neutral -s 1 --emit list=8 "$@" 2>/dev/null; }
    write -t 1 "$AUSTEN" >want
    write -t 3 "$AUSTEN" | cmp - want
    { write --shard 1/3 "$AUSTEN"; write --shard 2/3 "$AUSTEN"; write --shard 3/3 "$AUSTEN"; } | cmp - want
    write --rows 7,9 "$AUSTEN" | cmp - <(sed -n '8p;10p' want)
    write -O safetensors "$AUSTEN" >want.safetensors
    write -O safetensors -t 3 -o got.safetensors "$AUSTEN"
    cmp got.safetensors want.safetensors
    write -O safetensors -f f16 <"$AUSTEN" | cmp - want.safetensors
    printf '[1,2,3]\n[1,nan]\n' >rows
    run -1 --separate-stderr sampl --neutral --emit list=2 --on-error skip rows
    [ "${lines[1]}" = '{"row":1,"ids":[],"logits":[],"error":"byte 11: '\''n'\'' where JSON expects a number: Python printed this, json.dumps writes JSON"}' ]
    run -0 --separate-stderr sampl --neutral --emit list=2 -O json <<<'[1,2,3]'
    [ "$stderr" = 'sampl: note: lists of 2 hold 0.9099 of the probability on average, 0.909 at least (row 0)' ]
}

@test "--emit list keeps what a JSON row says of its sequence, and writes the row as --emit logits does" {
    echo '{"logits":[1,2],"seq":"a","params":{"temp":0.5},"prompt_tokens":[1,0],"position":4,"accept":1,"end":true}' >row
    [ "$(sampl -s 1 --emit list=2 row 2>/dev/null)" = '{"row":0,"ids":[1,0],"logits":[4,2],"n_vocab":2,"tail":null,"seq":"a","accept":1,"accept_logit":4,"accept_rank":1,"prompt_tokens":[1,0],"params":{"temp":0.5},"position":4,"end":true}' ]
    echo '{"seq":"a","position":4,"accept":1}' >params
    f32 3 1 -inf >row.f32
    [ "$(sampl -s 1 -n 3 --neutral --params params --emit list=1 row.f32 2>/dev/null)" = '{"row":0,"ids":[0],"logits":[3],"n_vocab":3,"tail":{"n":1,"masked":1,"lse":1,"max":1,"sum":1.1353353,"sd":1,"xmean":1},"seq":"a","accept":1,"accept_logit":1,"accept_rank":2,"position":4}' ]
    # top_k and typ_p leave sorted candidates; the sums are those in the order of the ids.
    sampl -s 1 -n 4096 --rows :9 --samplers 'top_k;typ_p' --top-k 90 --typical .9 --emit logits -O f32 "$AUSTEN" >half
    sampl -s 1 -n 4096 --neutral --emit list=5 -f f32 half >want 2>/dev/null
    sampl -s 1 -n 4096 --rows :9 --samplers 'top_k;typ_p' --top-k 90 --typical .9 --emit list=5 "$AUSTEN" 2>/dev/null | cmp - want
}

@test "--emit list without a stage chooses the token that a later row's penalty looks back on" {
    printf '%s\n' '{"logits":[1,3,2]}' '{"logits":[1,3,2],"params":{"presence_penalty":8,"samplers":["penalties"]}}' |
        sampl -s 1 --neutral --emit list=3 2>/dev/null >lists
    [[ $(sed -n 2p lists) == *'"logits":['*-* ]] # one of the three is penalised
    chosen=$(printf '[1,3,2]\n' | sampl -s 1 --neutral)
    [[ $(sed -n 2p lists) == '{"row":1,"ids":['*",$chosen],"* ]]
}

@test "the note on lists names the chain that needs the longest list, and says nothing if all rows are exact" {
    for _ in 1 2; do echo '{"completion_probabilities":[{"id":0,"top_logprobs":[{"id":0,"logprob":-1.0000123},{"id":1,"logprob":-2.0000321},{"id":2,"logprob":-3.0000456}]}]}'; done >few.json
    sampl -s 1 --samplers top_k --top-k 8 --vs 'a: --top-k 60' --vs 'b: --top-k 5' few.json 2>&1 >/dev/null | grep -qF "in 'a' 0 of 2 rows are known to come out as full rows would, the others need more: ask the server for 70"
    sampl -s 1 --samplers top_k --top-k 8 --vs 'a: --top-k 60' --vs 'b: --samplers temperature' few.json 2>&1 >/dev/null |
        grep -qF "in 'b' 0 of 2 rows are known to come out as full rows would, and this chain needs whole rows"
    sampl -s 1 --samplers top_k --top-k 2 --vs 'a: --top-k 3' few.json >/dev/null 2>notes
    run -1 grep -F 'full rows' notes
}

@test "lists of each sample, read back: where a result is called exact, it has the bits of the whole row" {
    local n file ending chain files=(austen.f16 austen-gen.f32)
    [ -z "${SAMPL_TEST_SHORT-}" ] || files=(austen.f16)
    for n in 1 64 512; do
        for ending in $(few 1 json safetensors); do
            for file in "${files[@]}"; do
                sampl -n 4096 -s 1 --neutral --emit list=$n -O "$ending" -o list."$ending" "$ROOT/samples/$file" 2>/dev/null
                for chain in '--top-k 40' '--samplers top_p --top-p .9' '--samplers top_n_sigma;min_p;temperature --top-nsigma 1.5 --min-p .05' \
                    '--samplers temperature;top_n_sigma --temp .7 --top-nsigma 1.5' \
                    '--samplers penalties;temperature;top_n_sigma --repeat-last-n 16 --presence-penalty .5 --temp .7 --top-nsigma 1 --independent --prompt-tokens 33,260,276,12' \
                    '--samplers epsilon_cutoff --epsilon-cutoff .01' '--samplers xtc;top_k --xtc-probability .5' '--samplers scatter --scatter-k 20 --scatter-strength .5'; do
                    # shellcheck disable=SC2086
                    sampl -n 4096 -s 1 -O json --dump-probs $chain "$ROOT/samples/$file" 2>/dev/null | sed 's/,"raw_prob":[^,]*//g; s/,"entropy":[^,}]*//' >full
                    # shellcheck disable=SC2086
                    sampl -s 1 -O json --dump-probs $chain list.$ending 2>/dev/null | sed 's/,"raw_prob":[^,]*//g; s/,"entropy":[^,}]*//; s/,"rest":[^,]*,"exact":\([a-z]*\)}/}\t\1/' >part
                    paste full part | awk -F '\t' -v what="$n $file $chain" '
                        $3 == "true" { exact++; if ($1 != $2) { print what ": row " NR; bad = 1 } }
                        END { print what, exact + 0, "of", NR; exit bad || NR < 32 }' >>table || { tail -3 table; return 1; }
                done
            done
        done
    done
    [ "$(awk '/^64 austen.f16 --top-k 40/ { print $(NF - 2) }' table | uniq)" = 256 ]
    [ "$(awk '/^64 austen.f16 .*temperature;top_n/ { print ($(NF - 2) > 128) }' table | uniq)" = 1 ]
    [ "$(awk '/^64 austen.f16 .*penalties/ { print ($(NF - 2) > 128) }' table | uniq)" = 1 ]
    [ "$(awk '/^512 .*epsilon/ { print ($(NF - 2) == $NF) }' table | uniq)" = 1 ]
}

@test "members of a tail that contradict each other are a data error, which names one of them" {
    wrong() {
        run -1 sampl -s 1 <<<"{\"ids\":[3,1],\"logits\":[5,4],$1}"
        [ "$output" = "sampl: standard input: row 0: $2" ] || { echo "$output"; return 1; }
    }
    wrong '"tail":{"n":3,"max":4.5}' 'tail.max is 4.5, but the other members allow -3.40282347e+38 to 4'
    wrong '"tail":{"n":3,"max":2,"lse":1}' 'tail.lse is 1, but the other members allow 2 to 3.09861229'
    wrong '"tail":{"n":3,"max":2,"lse":3.2}' 'tail.lse is 3.2, but the other members allow 2 to 3.09861229'
    wrong '"tail":{"n":3,"lse":9}' 'tail.lse is 9, but the other members allow -inf to 5.09861229'
    wrong '"tail":{"n":3,"max":2,"lse":2.5,"xmean":2.1}' 'tail.xmean is 2.1, but the other members allow 1.40138771 to 2'
    wrong '"n_vocab":5,"tail":{"n":3,"max":2,"lse":2.5,"sum":2}' 'tail.sum is 2, but the other members allow 1.44996219 to 1.44996669'
    wrong '"tail":{"n":3,"sd":-1}' 'tail.sd is -1, but the other members allow 0 to 3.40282347e+38'
    wrong '"tail":{"n":1.5}' 'tail.n is 1.5, which is not a number of tokens'
    wrong '"n_vocab":9,"tail":{"n":3,"masked":3}' 'tail.n 3, tail.masked 3 and 2 listed tokens are not a vocabulary of 9'
    wrong '"n_vocab":9,"tail":null' 'tail.n 0, tail.masked 0 and 2 listed tokens are not a vocabulary of 9'
    wrong '"tail":{"n":0,"masked":1,"lse":1}' 'tail.lse is 1, but the other members allow -inf to -inf'
    wrong '"tail":{"n":3,"max":2},"accept":7,"accept_logit":3' 'the token that follows the row has the logit 3, which the tail excludes'
    wrong '"tail":{"n":3,"masked":0,"max":2},"accept":7,"accept_logit":null' 'the token that follows the row has the logit -inf, which the tail excludes'
    local after='"n_vocab":9,"tail":{"n":5,"masked":2,"max":2},"accept"'
    wrong "$after:3,\"accept_rank\":2" 'accept_rank of token 3 is 2, but the other members allow 1 to 1'
    wrong "$after:7,\"accept_rank\":2" 'accept_rank of token 7 is 2, but the other members allow 3 to 9'
    wrong "$after:7,\"accept_rank\":10" 'accept_rank of token 7 is 10, but the other members allow 3 to 9'
    wrong "$after:7,\"accept_logit\":1,\"accept_rank\":3" 'accept_rank of token 7 is 3, but the other members allow 4 to 7'
    wrong "$after:7,\"accept_logit\":2,\"accept_rank\":8" 'accept_rank of token 7 is 8, but the other members allow 3 to 7'
    wrong "$after:7,\"accept_logit\":null,\"accept_rank\":7" 'accept_rank of token 7 is 7, but the other members allow 8 to 9'
    wrong "$after:7,\"accept_rank\":3.5" 'accept_rank of token 7 is 3.5, but the other members allow 3 to 9'
    wrong "\"tail\":{\"max\":2},\"accept\":7,\"accept_rank\":2" 'accept_rank of token 7 is 2, but the other members allow 3 to 2147483647'
    wrong "$after:7,\"accept_rank\":\"4\"" 'accept_rank is not a number'
    wrong '"tail":{"n":"3"}' 'tail.n is not a number'
    wrong '"n_vocab":9.5,"tail":{"n":3}' 'n_vocab is 9.5, --n-vocab 0'
    wrong '"tail":{"n":0,"masked":20000000}' 'a list without a tail has a vocabulary of at most 16777216'
    run -1 sampl -s 1 -n 8 <<<'{"ids":[3,1],"logits":[5,4],"n_vocab":9,"tail":{}}'
    [ "$output" = 'sampl: standard input: row 0: n_vocab is 9, --n-vocab 8' ]
}

@test "a missing member of a tail widens the bounds" {
    tail_exact() { sampl -s 1 -O json --samplers "$2" "${@:3}" <<<"{\"ids\":[3,1],\"logits\":[5,4],$1}" 2>/dev/null | grep -o '"exact".*'; }
    local all='"n_vocab":5,"tail":{"n":3,"max":1,"lse":1.5}' no_max='"n_vocab":5,"tail":{"n":3,"lse":1.5}'
    [ "$(tail_exact "$all" min_p --min-p .3)" = '"exact":true}' ]
    [ "$(tail_exact "$no_max" min_p --min-p .3)" = '"exact":false}' ]
    [ "$(tail_exact "$no_max" top_k --top-k 2)" = '"exact":true}' ]
    [ "$(tail_exact '"tail":{"n":3,"max":1}' 'temperature;top_p' --temp .9 --top-p .6)" = '"exact":true}' ]
    [ "$(tail_exact '"n_vocab":5,"tail":{"max":1}' 'temperature;top_p' --temp .9 --top-p .6)" = '"exact":true}' ]
    [ "$(tail_exact '"tail":{"max":1}' 'temperature;top_p' --temp .9 --top-p .6)" = '"exact":false}' ]
    # Without `sum`, top_p uses bounds. Without `sd`, top_n_sigma does not know.
    [ "$(tail_exact "$all" top_p --top-p .5)" = '"exact":true}' ]
    [ "$(tail_exact "$all" top_n_sigma --top-nsigma 1)" = '"exact":false}' ]
    [ "$(tail_exact '"n_vocab":5,"tail":{"n":3,"max":1,"lse":1.5,"sd":2}' top_n_sigma --top-nsigma 1)" = '"exact":true}' ]
    # The raw probability is not known without lse.
    [[ $(sampl -s 1 -O json --samplers top_k --top-k 2 --emit stats <<<'{"ids":[3,1],"logits":[5,4],"tail":{"max":1}}') == *'"raw_prob":null'* ]]
}

@test "of tied logits at a list's end, the listed ones rank first until a logit changes" {
    sampl -s 1 --neutral --emit list=2 >list.json 2>/dev/null <<<'[1,3,3,3,0]'
    [ "$(exact --samplers top_k --top-k 2)" = 1 ]
    [ "$(exact --samplers 'temperature;top_k' --temp .9 --top-k 2)" = 0 ]
    [ "$(exact --engine vllm --top-k 2)" = 0 ]
    [ "$(exact --samplers 'penalties;top_k' --top-k 2 --presence-penalty 1 --prompt-tokens 4)" = 0 ]
    [ "$(exact --samplers 'penalties;top_k' --top-k 2 --presence-penalty 1)" = 1 ]
    [ "$(sampl -s 1 --emit stats -O json --neutral --accept 3 list.json | grep -o '"accepted_prob":[a-z]*')" = '"accepted_prob":null' ]
    [ "$(sampl -s 1 --samplers top_k --top-k 1 list.json 2>&1)" = 1 ]
    sampl -s 1 --neutral list.json 2>&1 >/dev/null | grep -q '0 of 1 rows are known to come out as full rows would, and this chain needs whole rows'
    sampl -s 1 --samplers top_k --top-k 40 list.json 2>&1 >/dev/null | grep -q 'the others need longer lists: --emit list=50$'
}

@test "after a bias, top_n_sigma is exact if its limit is far from each candidate" {
    echo '[5.016641139984131,1.7677816152572632,-3.6339173316955566,-6.729617118835449]' >row
    sampl -s 1 --neutral --emit list=2 row >list.json 2>/dev/null
    kept() { sampl -s 1 --emit stats -O json --samplers top_n_sigma -l 1+3 --top-nsigma "$1" "${@:2}" 2>/dev/null | grep -o '"n":[0-9]*'; }
    # The list does not tell the mean, by which the bias moves the deviation: the limit lies beside the third token.
    [ "$(kept 1.6780951023101807 row)" = '"n":3' ]
    [ "$(exact --samplers top_n_sigma -l 1+3 --top-nsigma 1.6780951023101807)" = 0 ]
    [ "$(kept 0.5 row) $(kept 0.5 list.json)" = '"n":2 "n":2' ]
    [ "$(exact --samplers top_n_sigma -l 1+3 --top-nsigma 0.5)" = 1 ]
    # A bias on an unlisted token makes it the largest, or moves the deviation by the bias at most.
    [ "$(exact --samplers top_n_sigma -l 2+30 --top-nsigma 0.5)" = 0 ]
    [ "$(exact --samplers top_n_sigma -l 2-3 --top-nsigma 0.7) $(exact --samplers top_n_sigma -l 2-3 --top-nsigma 0.5)" = '0 1' ]
}

@test "sglang raises an unlisted token by more than its bonus allows a positive logit" {
    printf '[9,0,0,0,0]\n[0.367,0.366,-5,-0.02,-5]\n' >rows
    sampl -s 1 --neutral --emit list=2 rows >list.json 2>/dev/null
    local chain=(--engine sglang --temp 1 --top-k 1 --presence-penalty -0.5 --accept "3,3")
    [ "$(sampl -s 1 "${chain[@]}" --repeat-penalty 1.3 rows | paste -sd ' ')" = '0 3' ]
    [ "$(exact "${chain[@]}" --repeat-penalty 1.3)" = '1 0' ]
    [ "$(exact "${chain[@]/-0.5/0.5}" --repeat-penalty 1.3)" = '1 1' ]
}

@test "an accepted token below the list has the rank that the list records" {
    local row='[1,3,2,0,1.5,0]' file
    for token in 3 4 5 0 1; do
        sampl -s 1 --neutral --emit list=2 --accept $token <<<"$row" >rank.json 2>/dev/null
        sampl -s 1 --neutral --emit list=2 --accept $token -O safetensors -o rank.safetensors <<<"$row" 2>/dev/null
        want=$(sampl -s 1 --samplers '' -l $token+40 --emit stats -O json <<<"$row" | grep -o '"raw_rank":[0-9]*')
        for file in rank.json rank.safetensors; do
            [ "$(sampl -s 1 --samplers '' -l $token+40 --emit stats -O json $file 2>/dev/null | grep -o '"raw_rank":[^,]*')" = "$want" ]
            for chain in 'top_k --top-k 1' 'top_k --top-k 2'; do
                # shellcheck disable=SC2086
                sampl -s 1 --expect $token --samplers $chain <<<"$row" | sed -n 2p >full
                # shellcheck disable=SC2086
                sampl -s 1 --expect $token --samplers $chain $file | sed -n 2p | diff full -
            done
        done
    done
    # Once a logit has changed, or without the member, the rank is not known.
    sampl -s 1 --neutral --emit list=2 --accept 3 <<<"$row" >rank.json 2>/dev/null
    [[ $(sampl -s 1 --expect 3 --samplers 'temperature;top_k' --top-k 2 rank.json) == *' kept: below the list; not kept after top_k (limit 2)'* ]]
    sed 's/,"accept_rank":5//' rank.json | sampl -s 1 --samplers '' -l 3+40 --emit stats -O json 2>/dev/null | grep -q '"raw_rank":null'
    sampl -s 1 --neutral --emit list=2 --accept 4 <<<"$row" 2>/dev/null | sed 's/,"accept_rank":3//' |
        sampl -s 1 --samplers '' -l 4+40 --emit stats -O json 2>/dev/null | grep -q '"raw_rank":null'
    perl -0777 -pe '/"token_ranks":[^}]*"data_offsets":\[(\d+)/; substr($_, 8 + unpack("Q<", $_) + $1, 4) = pack("l<", 7)' rank.safetensors >wrong.safetensors
    run -1 sampl -s 1 wrong.safetensors
    [ "$output" = 'sampl: wrong.safetensors: row 0: token_ranks of token 1 is 7, but the other members allow 1 to 1' ]
}

@test "an accepted token below the list has its raw probability" {
    sampl -s 1 --neutral --emit list=2 --accept 4 -O safetensors -o list.safetensors <<<'[1,3,2,0,1.5]' 2>/dev/null
    sampl -s 1 --neutral --emit list=2 --accept 4 >list.json 2>/dev/null <<<'[1,3,2,0,1.5]'
    local want
    want=$(sampl -s 1 --neutral --emit score --accept 4 <<<'[1,3,2,0,1.5]')
    [ "$want" = -2.0744379 ]
    [ "$(sampl --neutral --emit score --accept 4 list.json 2>/dev/null)" = "$want" ]
    [ "$(sampl --neutral --emit score --accept recorded list.safetensors 2>/dev/null)" = "$want" ]
    sampl -s 1 --neutral --emit stats -O json --accept 4 <<<'[1,3,2,0,1.5]' | grep -o '"accepted_prob":0[.][0-9]\{12\}' >prob
    sampl -s 1 --neutral --emit stats -O json --accept 4 list.json 2>/dev/null | grep -o '"accepted_prob":0[.][0-9]\{12\}' | cmp - prob
    # top_k 3 of a list of 2 is not exact, and then nothing behind the chain is told
    sampl -s 1 --top-k 3 --samplers top_k --emit stats -O json --accept 4 list.json 2>/dev/null | grep -q '"accepted_prob":null'
}

@test "samples/ci/replay.bats passes, and its fixture is small, and what sampl writes" {
    SAMPL=$SAMPL run bats "$ROOT/samples/ci/replay.bats"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "$(stat -c %s "$ROOT/samples/ci/austen.safetensors")" -le 100000 ]
    sampl -n 4096 -s 1 --neutral --emit list=50 --accept "@$ROOT/samples/austen.tokens" -O safetensors -o new "$AUSTEN" 2>/dev/null
    cmp new "$ROOT/samples/ci/austen.safetensors"
    sampl -n 4096 -s 1 --top-k 40 --top-p 0.95 "$AUSTEN" | cmp - "$ROOT/samples/ci/austen.ids"
    # A program that fails, a chain that needs more than the lists have, and one that chooses other tokens, fail the test.
    SAMPL=false run ! bats "$ROOT/samples/ci/replay.bats"
    [[ $output != *$'\nok '* ]]
    sed "s/^CHAIN=.*/CHAIN='-s 1 --samplers top_p --top-p 0.95'/" "$ROOT/samples/ci/replay.bats" >long.bats
    sed "s/^CHAIN=.*/CHAIN='-s 1 --top-k 20'/" "$ROOT/samples/ci/replay.bats" >other.bats
    cp "$ROOT"/samples/ci/austen.* .
    SAMPL=$SAMPL run ! bats long.bats
    [[ $output == *'not ok 2'* ]]
    SAMPL=$SAMPL run ! bats other.bats
    [[ $output == *'not ok 1'* && $output == *'ok 2'* ]]
}

@test "--report of lists of logits: what both lists tell is exact, KLD is a lower bound" {
    need jq
    sampl -n 4096 -s 1 --rows :99 --samplers temperature --temp 1.1 --emit logits -O f32 -o other.f32 "$AUSTEN"
    head -c 811008 "$AUSTEN" >base.f16
    sampl -n 4096 --neutral --emit list=300 -O safetensors -o base.safetensors base.f16 2>/dev/null
    sampl -n 4096 --neutral --emit list=300 -O json -o other.json other.f32 2>/dev/null
    sampl -n 4096 -O json --report --against other.f32 base.f16 >want
    sampl -O json --report --against other.json base.safetensors >got 2>note
    grep -q 'KLD is a lower bound' note
    [ "$(jq .lists got)" = 99 ]
    local figure
    for figure in .same_top.mean .top5 .top10; do
        [ "$(jq -c "$figure" got)" = "$(jq -c "$figure" want)" ] || { echo "$figure"; return 1; }
    done
    jq -s '.[0].kld.mean <= .[1].kld.mean and .[0].kld.mean > 0.8 * .[1].kld.mean and .[0].dp.rms - .[1].dp.rms < 1e-9' got want | grep -qx true
    sampl -s 1 --top-k 40 --against other.json base.safetensors -O json >got 2>/dev/null
    sampl -s 1 -n 4096 --top-k 40 --against other.f32 base.f16 -O json >want
    [ "$(jq -c '[.kept, .same, .overlap]' got)" = "$(jq -c '[.kept, .same, .overlap]' want)" ]
}

@test "a temperature of nearly 0 may overflow on the logits of the full row, and not on the list" {
    reply 1=-0.5,2=-1.5 1=-0.3,2=-3 >list.json
    [ "$(exact --samplers 'top_k;temperature' --top-k 2 --temp 1e-31)" = '0 0' ]
    [ "$(exact --samplers 'top_k;temperature' --top-k 2 --temp 1e-20)" = '1 1' ]
}

@test "masked candidates that a list lacks count for the min_keep of xtc" {
    sampl -s 1 --neutral --emit list=2 -O json >list.json 2>/dev/null <<<'[3,2.9,0,0,0]'
    for keep in 1 2; do
        sampl -s 1 --samplers 'top_n_sigma;xtc' --top-nsigma 0.5 --xtc-probability 1 --min-keep $keep <<<'[3,2.9,0,0,0]' >full
        [ "$(cat full)" = 1 ]
        [ "$(exact --samplers 'top_n_sigma;xtc' --top-nsigma 0.5 --xtc-probability 1 --min-keep $keep)" = $((2 - keep)) ]
    done
}

@test "lists of a real model's logits, rounded and printed as servers do: what is called exact is the whole row's" {
    need_numpy
    /usr/bin/python3 "$ROOT/tests/units.py" "$SAMPL" "$AUSTEN" 4096
}
