#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A new program needs one file in src/programs/ and one line in its list: then its files are read, and its engine runs.
load helper

# build_with_toy: builds a copy of the tree with one more program, from the objects that exist.
build_with_toy() {
    copy_tree
    cat >tree/src/programs/toy.c <<'EOF'
// SPDX-License-Identifier: MIT
// toy: requests with "toyness".
#include "programs/program.h"

static const struct engine toy = {
    "toy",
    .defaults = {{"top-k", 3}},
    .options = "temp,top-k",
    .stage = {{&sampler_greedy, ENGINE_COLD}, {&sampler_top_k}, {&sampler_temperature}, {&sampler_dist}},
};

static const struct field_row fields[] = {
    {"toyness comment* stages", .form = FIELD_OTHER},
    {"heat warmth", "temp", OFF_AT(1)},
    {"best", "top-k"},
    {"tenths", "top-p", .factor = 0.1},
    {"dice", "seed", FIELD_SEED},
    {"*_p", .form = FIELD_SAMPLER},
    {NULL},
};

static bool read_key(struct file_view *v, const cJSON *item)
{
    if (is_key(item, "cold"))
        view_set(v, "temp", "0");
    return is_key(item, "cold");
}

static void finish(struct file_view *v) { view_order(v, "stages", "top_p;top_k;temperature"); }

const struct program program_toy = {
    .name = "Toy",
    .reads = "request",
    .as_of = "1.0",
    .source = "toy.c",
    .engines = {&toy},
    .marks = {{"toyness"}},
    .fields = fields,
    .absent = "top-k=7",
    .key = read_key,
    .finish = finish,
};
EOF
    echo 'PROGRAM(toy)' >>tree/src/programs/programs.def
    build_tree
}

@test "a program of one file and one line has its files read and its engine offered" {
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # the copy is built without sanitizers
    build_with_toy
    local toy=tree/build/sampl
    printed() { "$toy" --preset /dev/stdin "$@" --print-chain=preset; }
    run -0 --separate-stderr printed <<<'{"toyness": 1, "heat": 0.5, "tenths": 9, "comments": [1], "dice": 4}'
    [ "$output" = '--engine llama --neutral --samplers "top_p;top_k;temperature" --top-k 7 --top-p 0.9 --temp 0.5 --seed 4' ] || { echo "$output"; return 1; }
    run -0 --separate-stderr printed <<<'{"toyness": 1, "warmth": 0.5, "cold": true, "best": 2, "min_p": 0.25, "stages": ["min_p"]}'
    [ "$output" = '--engine llama --neutral --samplers "min_p" --top-k 2 --min-p 0.25 --temp 0' ] || { echo "$output"; return 1; }
    run -2 printed <<<'{"toyness": 1, "heat": "x"}'
    [[ $output == *'heat is not a number' ]]
    run -0 --separate-stderr printed --engine toy <<<'{"toyness": 1, "best": 2}'
    [ "$output" = '--engine toy --neutral --top-k 2 --temp 0.8' ] || { echo "$output"; return 1; }
    [ "$(echo '{"logits":[1,5,3]}' | "$toy" --engine toy --temp 0)" = 1 ]
    run -2 "$toy" --engine toy --min-p 0.5
    [[ $output == *'--min-p: engine toy has no stage for it' ]]
    for shell in bash zsh fish; do
        "$toy" "--generate=$shell" | grep -q 'mlx.toy'
    done
}
