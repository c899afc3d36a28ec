#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sentences that claim something of results or options: each test tries to make one false.
load helper

@test "a NUL in a JSON string is refused by name, or kept in a token's text" {
    need python3
    /usr/bin/python3 "$ROOT/tests/nul.py" "$SAMPL" "$ROOT/tests/cases" "$STEP" "$START"
}
