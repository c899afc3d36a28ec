#!/usr/bin/env bats
# The C unit tests: what cannot be reached from the command line.

load helper

@test "kernels: every tier gives the scalar tier's bits" {
    run -0 "$UNITS/kern_check"
}

@test "chains: random ones match the slow reference, on every tier" {
    run -0 "$UNITS/parity" 2000
}

@test "expf agrees with libm (a sample; make prove-expf does every float)" {
    run -0 "$UNITS/expf_check" 997
}

@test "mt19937 and its uniform mappings match the standard's known values" {
    run -0 "$UNITS/rng_check"
}

@test "JSON numbers round as strtof does" {
    run -0 "$UNITS/json_number_check" 200000
}

@test "sorting and selection match the obvious way" {
    run -0 "$UNITS/sort_check"
}

@test "grammars: random ones over random vocabularies match the slow matcher" {
    run -0 "$UNITS/grammar_check" 1000
}

@test "grammars: what the reader refuses, and where; hostile ones" {
    run -0 "$UNITS/gbnf_check"
}
