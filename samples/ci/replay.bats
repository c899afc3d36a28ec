#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Replays a chain on recorded rows, which are small enough for git: bats replay.bats
#
# Written by:  sampl -n 4096 --neutral --emit list=50 --accept @austen.tokens -O safetensors -o austen.safetensors austen.f16
#              sampl -n 4096 $CHAIN austen.f16 >austen.ids
# In your project, record rows of your model, keep the chain that you ship in CHAIN, and choose the length of the lists so that the second test
# passes: lists a little longer than --top-k are long enough for every stage after it.
SAMPL=${SAMPL:-sampl}
CHAIN='-s 1 --top-k 40 --top-p 0.95'

setup() {
    cd "$BATS_TEST_DIRNAME" || return 1
}

# shellcheck disable=SC2086
@test "the chain chooses the tokens that it chose from the whole rows" {
    "$SAMPL" $CHAIN --expect @austen.ids austen.safetensors
}

# shellcheck disable=SC2086
@test "the lists are long enough: each outcome has the bits of the whole row" {
    "$SAMPL" $CHAIN -O json -o "$BATS_TEST_TMPDIR/records" austen.safetensors
    [ "$(grep -c '"exact":false' "$BATS_TEST_TMPDIR/records")" -eq 0 ]
}

# shellcheck disable=SC2086
@test "the chain removes less than 8 % of the tokens that followed" {
    "$SAMPL" $CHAIN --accept recorded --vs '--top-k 20' -O json austen.safetensors | head -1 | grep '"lost":0\.0[0-7]'
}
