#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sentences that claim something of results or options: each test tries to make one false.
# shellcheck disable=SC2154 # run sets stderr
load helper

@test "a NUL in a JSON string is refused by name, or kept in a token's text" {
    need python3
    /usr/bin/python3 "$ROOT/tests/nul.py" "$SAMPL" "$ROOT/tests/cases" "$STEP" "$START"
}

@test "the note on a bias outside the vocabulary names the row, and later rows may have the token" {
    run --separate-stderr sampl --samplers '' --emit logits -O text -l 3+1 -l 4+1 <<<'[0,0,0,0] [0,0,0] [0,0,0,0,0]'
    [ "$output" = $'0 0 0 1\n0 0 0\n0 0 0 1 1' ]
    [ "$stderr" = 'sampl: note: --logit-bias: the bias of token 4 has no effect on row 0, which has a vocabulary of 4 tokens' ]
}

@test "the note on a bias outside the vocabulary names each token of the base and of variants once" {
    run --separate-stderr sampl -s 1 -l 4+1 --vs '-l 1+1' --vs '-l 9+1' --vs '-l 9+2 -l 0+1 -l -3+1' --columns kept <<<'[0,0,0,0]'
    [ "$(grep -o 'token [-0-9]* has no effect on row 0' <<<"$stderr" | cut -d ' ' -f 2 | paste -sd ' ')" = '4 9 -3' ]
}

@test "--against: the note on widths names the row, and later rows may have others" {
    printf '[1,2,3]\n[1,2,3,4]\n[1,2]\n' >a.json
    printf '[1,2,3]\n[1,2]\n[1,2,3,4,5]\n' >b.json
    sampl -s 1 --neutral --against b.json a.json -O tsv 2>note >/dev/null
    [ "$(cat note)" = 'sampl: note: --against: row 1 has 4 and 2 tokens; only the ids that both have are compared' ]
}

@test "a text with a comma does not look like CSV, and what does becomes rows by the command of the message" {
    local text
    for text in 'Hello, world' '12, rue de Rivoli' '"a","b"' 'a, 1' $'one,two\nthree,four'; do
        run -2 sampl <<<"$text"
        [[ $output == *": cannot tell the format"* ]]
    done
    for text in '1,2,3' '-1.5, 2e-3,0' $'1,2\r\n3,4\r' $'a,b\n1,2'; do
        run -2 sampl <<<"$text"
        [[ $output == *": this looks like CSV: sed 's/.*/[&]/' FILE | sampl makes JSON rows"* ]]
        grep '^[-0-9]' <<<"$text" | sed 's/.*/[&]/' | sampl -s 1 >ids
        [ "$(wc -l <ids)" = "$(grep -c '^[-0-9]' <<<"$text")" ]
    done
}

@test "no sentence on a chain is false: options without effect, stages that are off, removed tokens, equal chains, advice" {
    need python3
    /usr/bin/python3 "$ROOT/tests/claims.py" "$SAMPL" $((2000 / STEP)) "$START"
}

# lists N: prints a reply that lists the N best of 6 tokens for each row of 6 logits on standard input.
lists() {
    jq -c --argjson n "$1" 'map(exp) | (add | log) as $sum | to_entries | sort_by(-.value, .key) |
        map({id: .key, token: "t\(.key)", logprob: ((.value | log) - $sum)})[:$n] | .[0] + {top_logprobs: .}' | jq -sc '{completion_probabilities: .}'
}

@test "a token that a reply does not list is not removed by the row: --diff, --dump-probs and pages say so" {
    printf '[3,2,1,0.5,0.25,0]\n[0,1,2,3,1.5,1.25]\n[1,1.5,2,1.75,1.25,0]\n' >rows.json
    lists 2 <rows.json >list.json
    sampl -n 6 -s 4 --neutral --against list.json rows.json --diff >text
    sampl -n 6 -s 4 --neutral --against list.json rows.json --diff -O json >forth
    sampl -n 6 -s 4 --neutral --against rows.json list.json --diff -O json >back
    grep -q '; [0-9] not listed$' text
    run -1 grep 'removed by' text
    [ "$(jq -r .base_removed forth | sort -u)" = 'not listed' ]
    [ "$(jq -c '[.removed_in_base, .prob_in_base, .rank_in_base]' back | sort -u)" = '["not listed",null,null]' ]
    # A stage that removes all unlisted tokens removed this one, too.
    sampl -n 6 -s 4 --neutral --accept 5,0,0 --vs 'v: --top-k 1' list.json --dump-probs=2 -O json >dump
    [ "$(jq -c 'select(.row == 0).top_probs[] | select(.id == 5).probs' dump)" = '{"base":"not listed","v":"top_k"}' ]
    # A token whose id is above all ids of the list, and one that a whole row lacks or masks.
    sampl -s 4 --neutral --accept 9,9,9 --vs 'v: --temp 2' list.json --dump-probs=2 -O json >dump
    [ "$(jq -c '.top_probs[] | select(.id == 9).probs' dump | sort -u)" = '{"base":"not listed","v":"not listed"}' ]
    sampl -s 4 --neutral --accept 1 --vs 'v: --temp 2' --dump-probs=2 -O json <<<'[1,-Infinity,2]' >dump
    [ "$(jq -c '.top_probs[] | select(.id == 1).probs' dump)" = '{"base":"row","v":"row"}' ]
}

@test "the advice on lists: for a chain that needs logits, it does not recommend longer lists" {
    printf '[3,2,1,0.5,0.25,0]\n[0,1,2,3,1.5,1.25]\n' | lists 2 >list.json
    sampl -n 6 -s 1 --accept 0,1 --samplers 'penalties;top_k' --top-k 3 --repeat-penalty 2 list.json 2>note >ids
    grep -q 'come out as full rows would, and this chain needs logits, not log-probabilities$' note
    sampl -n 6 -s 1 --accept 0,1 --samplers 'penalties;top_k' --top-k 3 --repeat-penalty 1 list.json 2>note >ids
    grep -q 'the others need more: ask the server for 13$' note
    # Behind scatter logits are ln p in whole rows, too.
    sampl -n 6 -s 1 --accept 0,1 --samplers 'scatter;penalties;top_k' --top-k 1 --scatter-strength 0.5 --scatter-k 2 --repeat-penalty 2 list.json 2>note >ids
    run -1 grep 'multiplies\|needs logits' note
}

@test "a breaker that is cut acts as its first 40 bytes" {
    local long
    long=$(printf 'z%.0s' {1..50})
    printf 'x\ny\n%s\n' "${long:0:45}" >vocab.txt
    dump() {
        sampl --vocab vocab.txt -s 1 --prompt-tokens 0,1,2,0,1,2,0 --samplers dry --dry-multiplier 1 --dry-allowed-length 1 \
            --dry-sequence-breaker "$1" --emit logits -O text <<<'[0,0,0]' 2>note
    }
    dump "$long" >whole
    grep -q 'is cut after 40 bytes' note
    dump "${long:0:40}" >part
    run -1 grep 'is cut' note
    cmp whole part
    dump none >without
    run -1 cmp -s whole without
}

@test "the note on equal chains counts all of them" {
    local n i k variants
    for n in 2 5 9 14; do
        variants=()
        for ((i = 0; i < n; i++)); do variants+=(--vs "v$i: --top-k $((5 + i % 3))"); done
        sampl -s 1 "${variants[@]}" -O json <<<'[1,2,3]' 2>notes >table
        k=$(grep -c "^sampl: note: variants '" notes || :)
        i=$(sed -n 's/^sampl: note: \([0-9]*\) more variants* comes* to.*/\1/p' notes)
        [ $((k + ${i:-0})) -eq $((n - (n < 3 ? n : 3))) ] || { cat notes; return 1; }
    done
}

@test "--draws: rows with one candidate do not show a missing token, and lines after those of --rows are not tested" {
    printf '%s\n' '[0,0]' '[0,null]' '[0,0]' >rows.json
    printf '0 1 %.0s' {1..10} >draws && echo >>draws
    sampl -s 1 --neutral --draws draws -O json --rows 0:1 rows.json >alone
    printf '0 %.0s' {1..300} >>draws && echo >>draws && echo 1 >>draws
    run --separate-stderr sampl -s 1 --neutral --draws draws -O json --rows 0:2 rows.json
    [ "$(jq .verdict.missing <<<"$output")" = "$(jq .verdict.missing alone)" ]
    [ "$(jq .draws <<<"$output")" = 320 ]
    [ "$stderr" = 'sampl: note: --draws: draws has 3 lines; those after line 2 are not tested' ]
}

@test "overlap is 1 for equal distributions whose candidates are in different orders" {
    local row same equal=0
    for row in '[-0.2,-1.76,-1,1.4,0.053]' '[0.282,-0.5,0.2,1.904,1.954,-0.7,-0.2,2.407,-3.2]' '[1.5,2.5,0.3,0.7]'; do
        for same in 'top_k --top-k 99' 'typ_p --typical 0.99999' 'xtc --xtc-probability 1 --xtc-threshold 0.49'; do
            # shellcheck disable=SC2086
            sampl -s 1 --neutral --samplers $same --emit probs <<<"$row" >own
            sampl -s 1 --neutral --emit probs <<<"$row" | cmp -s - own || continue
            equal=$((equal + 1))
            [ "$(sampl -s 1 --neutral --vs "v: --samplers $same" --diff=1 -O json <<<"$row" | jq .overlap)" = 1 ]
        done
    done
    [ "$equal" -ge 3 ]
}

@test "the note that the history has chosen tokens appears after a row that names no token, and only then" {
    local note='sampl: note: penalties: without --accept the history is what this run chooses, not the text that the rows were computed for'
    printf '{"logits":[1,2,3],"accept":%s}\n' 0 1 >known.json
    echo '{"logits":[3,2,1]}' >>known.json
    run -0 --separate-stderr sampl -s 1 --repeat-penalty 2 known.json
    [ -z "$stderr" ]
    echo '{"logits":[3,2,1],"accept":0}' >>known.json
    run -0 --separate-stderr sampl -s 1 --repeat-penalty 2 known.json
    [ "$stderr" = "$note" ]
    printf '[null,null]\n[1,2]\n' >bad.json
    run -1 --separate-stderr sampl -s 1 --repeat-penalty 2 --on-error skip bad.json
    [[ $stderr != *"$note"* ]]
}

@test "a list of logits may need whole rows for top_n_sigma, whose limit a long list decides" {
    local k
    for k in 30 1000; do
        sampl -n 4096 -s 1 --rows :3 --neutral --emit list=$k -O json "$AUSTEN" 2>/dev/null |
            sampl -s 1 --samplers top_n_sigma --top-nsigma 1.5 2>note >/dev/null
        [ "$(grep -o '[0-9] of 3 rows.*' note)" = "$([ $k = 1000 ] || echo '2 of 3 rows are known to come out as full rows would, and this chain may need whole rows')" ]
    done
}

@test "top_n_sigma needs whole rows where a server lists log-probabilities, whatever stage follows" {
    local reply='{"completion_probabilities":[{"id":2,"token":"t","logprob":-0.5,"top_logprobs":[{"id":2,"token":"t","logprob":-0.5},{"id":1,"token":"u","logprob":-1.2}]}]}'
    run -0 --separate-stderr sampl -n 60 -s 1 --top-nsigma 1 <<<"$reply"
    [[ $stderr == *'0 of 1 rows are known to come out as full rows would, and this chain needs whole rows' ]]
    run -0 --separate-stderr sampl -n 60 -s 1 --samplers 'top_k;top_n_sigma' --top-nsigma 1 <<<"$reply"
    [[ $stderr == *'the others need more: ask the server for 50' ]]
}
