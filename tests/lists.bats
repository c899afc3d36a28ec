#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Partial rows: the lists of likeliest tokens in the replies of servers.
load helper

# reply TOKEN=LOGPROB,... ...: writes a reply with a position for each argument. The first token is the chosen one.
reply() {
    perl -e '
        print "{\"completion_probabilities\":[", join(",", map {
            my @list = map { my ($id, $x) = split /=/; "{\"id\":$id,\"token\":\"t$id\",\"logprob\":$x" } split /,/;
            "$list[0],\"top_logprobs\":[" . join(",", map { "$_}" } @list) . "]}"
        } @ARGV), "]}\n"' "$@"
}

# exact OPTION...: prints the member "exact" of each record of list.json; 0 and 1 for false and true.
exact() {
    sampl -s 1 -O json "$@" list.json 2>/dev/null | sed 's/.*"exact":false}/0/; s/.*"exact":true}/1/' | paste -sd ' '
}

@test "where a list's result is called exact, it is that of the full row, for every chain" {
    need python3
    run python3 "$ROOT/tests/lists.py" "$SAMPL"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "a list of the whole vocabulary is a complete row, and so is one of logits" {
    reply 1=-1,2=-2 >list.json
    [ "$(exact --samplers '')" = 0 ]
    run sampl -s 1 -n 3 --samplers '' -O json list.json
    [[ $output == *'"exact":false}'* ]]
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
    [[ $output == *'"rest":0.49678'*',"exact":true}' ]]
    # The entropy of 0.3679, 0.1353 and the rest, 0.4968
    [[ $output == *'"entropy_raw":0.986099'* ]]
}

@test "one note says how many rows are not exact, and there is none if all are" {
    reply 1=-1,2=-2 1=-2,2=-1 >list.json
    sampl -s 1 --samplers top_k --top-k 40 list.json 2>note
    [ "$(cat note)" = 'sampl: note: rows list up to 2 tokens, which hold 0.50 to 0.50 of the probability; 0 of 2 rows come out as full rows would, the others need more: ask the server for 50' ]
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
