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
