#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What people bring: each row of field.tsv reads a file of field/, which has the shape of a reply, dump or preset that somebody published. The
# head of the table explains its columns.
load helper
load judge

setup_file() {
    export LC_ALL=C
    cp -R "$BATS_TEST_DIRNAME/field" "$BATS_FILE_TMPDIR/files"
}

# rows ARGUMENT...: prints for each row the recorded token, or -, and the listed tokens with their logits, the likeliest first:
# "7: 5=-0.25 7=-1.75;". The note on partial rows is left out: lists.bats tests it.
rows() {
    local status=0
    sampl -s 1 --samplers '' --dump-probs -O json "$@" >../rows 2>../rows.err || status=$?
    sampl -s 1 --samplers '' --accept recorded --emit stats --on-error skip -O json "$@" 2>/dev/null >../recorded
    jq -r --slurpfile recorded ../recorded '
        ([$recorded[] | {key: "\(.row)", value: .accepted}] | from_entries) as $token |
        "\($token["\(.row)"] // "-"): \([.top_probs[]? | "\(.id)=\(.logit)"] | join(" "));"' ../rows
    grep -v '^sampl: note: rows list up to' ../rows.err >&2
    return "$status"
}

# scores ARGUMENT...: prints each recorded token with its log-probability: "7=-1.75;".
scores() {
    local status=0
    sampl --neutral --accept recorded --emit score -O json "$@" >../scores 2>../scores.err || status=$?
    jq -r '"\(.id)=\(.logprob);"' ../scores
    grep -v '^sampl: note: rows list up to' ../scores.err >&2
    return "$status"
}

@test "field: every command of field.tsv prints what its input holds" {
    need jq
    judge_table field.tsv -v
}

@test "field: each row of field.tsv says where its kind was seen, and each file of field/ has a row" {
    local file
    awk -F '\t' '!/^(#|$)/ && (NF != 5 || $5 !~ /[a-z]/) { print "not five columns: " $0; wrong = 1 } END { exit wrong }' "$BATS_TEST_DIRNAME/field.tsv"
    cut -f 4 "$BATS_TEST_DIRNAME/field.tsv" >commands
    for file in "$BATS_TEST_DIRNAME"/field/*; do
        grep -qw -- "${file##*/}" commands || { echo "no row reads $file"; return 1; }
    done
}
