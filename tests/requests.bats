#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Requests to llama-server and ini files of llama.cpp as presets: random ones in tests/cases/requests.jsonl, texts.jsonl and inis.jsonl, with what
# release v0.5.0 makes of them.
load helper

@test "requests get the parameters that llama-server gives them, and are refused where it refuses them" {
    need_numpy
    run -0 /usr/bin/python3 "$ROOT/tests/requests.py" "$SAMPL" "$ROOT/tests/cases/requests.jsonl" "$ROOT/samples/austen.gguf"
    [ "$output" = '201 files, 0 wrong' ]
}

@test "repeated keys and odd spellings of numbers mean in a request what llama-server makes of them" {
    need_numpy
    run -0 /usr/bin/python3 "$ROOT/tests/requests.py" "$SAMPL" "$ROOT/tests/cases/texts.jsonl" "$ROOT/samples/austen.gguf"
    [ "$output" = '201 files, 0 wrong' ]
}

@test "an ini of llama.cpp gives the parameters that its own reader gives, and is refused where that refuses it" {
    need_numpy
    run -0 /usr/bin/python3 "$ROOT/tests/requests.py" "$SAMPL" "$ROOT/tests/cases/inis.jsonl" "$ROOT/samples/austen.gguf"
    [ "$output" = '289 files, 0 wrong' ]
}
