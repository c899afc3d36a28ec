#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sentences that claim something of results or options: each test tries to make one false.
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

@test "--against: the note on widths names the row, and later rows may have others" {
    printf '[1,2,3]\n[1,2,3,4]\n[1,2]\n' >a.json
    printf '[1,2,3]\n[1,2]\n[1,2,3,4,5]\n' >b.json
    sampl -s 1 --neutral --against b.json a.json -O tsv 2>note >/dev/null
    [ "$(cat note)" = 'sampl: note: --against: row 1 has 4 and 2 tokens; of two widths, the ids that both have are compared' ]
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
