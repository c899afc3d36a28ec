#!/usr/bin/env bats
# The C unit tests. A STEP above 1 divides their number of cases.

load helper

@test "kern_check: the kernels of every tier give the bits of the scalar tier" {
    run -0 "$UNITS/kern_check" --cases $((100000 / STEP)) "${SAMPL_TEST_TURN:-0}"
}

@test "parity: random chains give the results of the reference in oracle.h, on every tier" {
    run -0 "$UNITS/parity" $((2000 / STEP))
}

@test "engine_check: engines give the results of reference versions, and draw with the softmax's frequencies" {
    run -0 "$UNITS/engine_check" $((2000 / STEP))
}

@test "wide_check: filters and draws of engines give the results of plain versions over wide rows" {
    run -0 "$UNITS/wide_check" $((126 / STEP + 1))
}

@test "expf_check: expf gives libm's results (a sample; make prove-expf tests every float)" {
    run -0 "$UNITS/expf_check" $((997 * STEP))
}

@test "logf_check: logf gives the results of libm's f64 logarithm (a sample; make prove-logf tests every float)" {
    run -0 "$UNITS/logf_check" $((997 * STEP))
}

@test "libm_check: powf, log2f, exp and pow give glibc's results (a sample; make prove-libm tests more)" {
    run -0 "$UNITS/libm_check" $((9973 * STEP)) $((100000 / STEP))
}

@test "functions_check: the functions in C beside the vectors give the program's bits" {
    run -0 "$UNITS/functions_check" $((1000000 / STEP))
}

# GLIBC_TUNABLES can disable instructions, so that glibc's fma() is that of a machine without them.
@test "a machine without fused multiply-add gives the same bits" {
    local without=GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4
    local chain=(--samplers 'skew;scatter;temperature' --skew 0.5 --scatter-adaptive --scatter-absorption 0.1 --dynatemp-range 0.5 --dynatemp-exp 1.3 -s 1)
    run -0 env "$without" "$UNITS/libm_check" 4000000000 10000
    dump 8 "${chain[@]}" >want
    for tier in $(tiers); do
        (export "${without?}" SAMPL_CPU=$tier && dump 8 "${chain[@]}") >got
        same want got
    done
}

@test "rng_check: the random generators and their uniform numbers have known values" {
    run -0 "$UNITS/rng_check"
}

@test "json_number_check: JSON numbers are rounded as strtof rounds them" {
    run -0 "$UNITS/json_number_check" $((200000 / STEP))
}

@test "sort_check: sorting and selection give the results of simple versions" {
    run -0 "$UNITS/sort_check"
}

@test "vocab_check: infill and DRY's text breakers give the results of simple versions" {
    run -0 "$UNITS/vocab_check" $((20000 / STEP))
}

@test "number_text_check: numbers are printed with the fewest digits that strtof reads back" {
    run -0 "$UNITS/number_text_check" $((50000 / STEP))
}

@test "grammar_check: random grammars and vocabularies give the masks of a slow matcher" {
    run -0 "$UNITS/grammar_check" $((1000 / STEP))
}

@test "gbnf_check: the GBNF reader refuses wrong grammars at the right byte, and hostile grammars" {
    run -0 "$UNITS/gbnf_check"
}

@test "lookup_check: tokens are found by text as a linear search finds them" {
    run -0 "$UNITS/lookup_check"
}

@test "split_check: texts are split into the fewest tokens" {
    run -0 "$UNITS/split_check"
}

@test "budget_check: the reasoning budget forces the tokens of a version that reads the whole text" {
    run -0 "$UNITS/budget_check"
}

@test "hash_check: the hash table finds exactly the keys that were added and not removed" {
    run -0 "$UNITS/hash_check"
}

@test "base_check: range sets, UTF-8, builders and maps of ids give the results of simple versions" {
    run -0 "$UNITS/base_check"
}

@test "variants_check: several recipes on one input choose the tokens of separate runs" {
    run -0 "$UNITS/variants_check"
}

@test "embed: a program that links only the core chooses the tokens of sampl" {
    local params
    for params in '{"seed":7}' '{"seed":7,"temperature":3,"top_k":0,"dry_multiplier":1,"logit_bias":[[13,-5]]}' \
        '{"seed":3,"samplers":["top_p","temperature"],"top_p":0.8,"repeat_penalty":1.3}' '{"seed":1,"mirostat":2}'; do
        "$UNITS/embed" "$params" <"$AUSTEN" >got
        sampl -n 4096 --rows :3 --params <(printf '{"params":%s}\n{}\n{}\n' "$params") "$AUSTEN" >want
        same want got
    done
    run ! "$UNITS/embed" '{"top_k":"x"}' <"$AUSTEN"
}
