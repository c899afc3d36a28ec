#!/usr/bin/env bats
# The C unit tests: what cannot be reached from the command line. Where STEP is above 1 they do less, by that.

load helper

@test "kernels: every tier gives the scalar tier's bits" {
    run -0 "$UNITS/kern_check" --cases $((100000 / STEP))
}

@test "chains: random ones match the slow reference, on every tier" {
    run -0 "$UNITS/parity" $((2000 / STEP))
}

@test "engines: slow versions of their own agree, and what they draw fits the softmax" {
    run -0 "$UNITS/engine_check" $((2000 / STEP))
}

@test "expf agrees with libm (a sample; make prove-expf does every float)" {
    run -0 "$UNITS/expf_check" $((997 * STEP))
}

@test "logf agrees with libm's f64 logarithm (a sample; make prove-logf does every float)" {
    run -0 "$UNITS/logf_check" $((997 * STEP))
}

@test "powf, log2f, exp and pow agree with glibc's, and are the same elsewhere (a sample; make prove-libm does more)" {
    run -0 "$UNITS/libm_check" $((9973 * STEP)) $((100000 / STEP))
}

# glibc can be told to leave instructions alone: its fma() is then as on a machine that has none.
@test "a machine without fused operations computes the same bits" {
    local without=GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4
    local chain=(--samplers 'skew;scatter;temperature' --skew 0.5 --scatter-adaptive --scatter-absorption 0.1 --dynatemp-range 0.5 --dynatemp-exp 1.3 -s 1)
    run -0 env "$without" "$UNITS/libm_check" 4000000000 10000
    dump 8 "${chain[@]}" >want
    for tier in $("$SAMPL" --version | sed -n 's/.*(of \(.*\))/\1/p'); do
        (export "${without?}" SAMPL_CPU=$tier && dump 8 "${chain[@]}") >got
        same want got
    done
}

@test "the generators and their uniform mappings match known values" {
    run -0 "$UNITS/rng_check"
}

@test "JSON numbers round as strtof does" {
    run -0 "$UNITS/json_number_check" $((200000 / STEP))
}

@test "sorting and selection match the obvious way" {
    run -0 "$UNITS/sort_check"
}

@test "infill and DRY's text breakers match the obvious way" {
    run -0 "$UNITS/vocab_check" $((20000 / STEP))
}

@test "numbers as text: the fewest digits, as printf and strtof find them" {
    run -0 "$UNITS/number_text_check" $((50000 / STEP))
}

@test "grammars: random ones over random vocabularies match the slow matcher" {
    run -0 "$UNITS/grammar_check" $((1000 / STEP))
}

@test "grammars: what the reader refuses, and where; hostile ones" {
    run -0 "$UNITS/gbnf_check"
}

@test "tokens are found by text as the plain search finds them" {
    run -0 "$UNITS/lookup_check"
}

@test "texts are spelt with the fewest tokens" {
    run -0 "$UNITS/split_check"
}

@test "the reasoning budget forces what one that looks at the whole text forces" {
    run -0 "$UNITS/budget_check"
}

@test "the hash table finds what was added and not removed" {
    run -0 "$UNITS/hash_check"
}

@test "range sets, UTF-8, growing texts and maps of ids do what the obvious way does" {
    run -0 "$UNITS/base_check"
}

@test "several recipes on one input: each chooses what it chooses alone" {
    run -0 "$UNITS/variants_check"
}

@test "a program that links the core alone samples as sampl does" {
    local params
    for params in '{"seed":7}' '{"seed":7,"temperature":3,"top_k":0,"dry_multiplier":1,"logit_bias":[[13,-5]]}' \
        '{"seed":3,"samplers":["top_p","temperature"],"top_p":0.8,"repeat_penalty":1.3}' '{"seed":1,"mirostat":2}'; do
        "$UNITS/embed" "$params" <"$AUSTEN" >got
        sampl -n 4096 --rows :3 --params <(printf '{"params":%s}\n{}\n{}\n' "$params") "$AUSTEN" >want
        same want got
    done
    run ! "$UNITS/embed" '{"top_k":"x"}' <"$AUSTEN"
}
