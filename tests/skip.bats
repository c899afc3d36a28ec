#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --on-error skip: the record of a bad row, and the records of the rows after it.

load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    head -c $((60 * 8192)) "$AUSTEN" >good.f16
    # Rows 3, 20, 21 and 59 are bad: NaN, +inf, all masked, NaN.
    perl -e 'local $/; $_ = <STDIN>;
        substr($_, 3 * 8192 + 100, 2) = pack "v", 0x7e00;
        substr($_, 20 * 8192, 2) = pack "v", 0x7c00;
        substr($_, 21 * 8192, 8192) = pack "v*", (0xfc00) x 4096;
        substr($_, 60 * 8192 - 2, 2) = pack "v", 0xfe00;
        print' <good.f16 >bad.f16
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    R=$BATS_FILE_TMPDIR
}

# skip_bad OPTION...: runs sampl on the bad rows, with its output in `got`. Checks that it ends with status 1 and reports each bad row.
skip_bad() {
    local status=0
    sampl -n 4096 -s 3 --on-error skip "$@" "$R/bad.f16" >got 2>messages || status=$?
    [ "$status" -eq 1 ] || { cat messages; return 1; }
    sed -i '/: without --accept the history is/d' messages
    printf "sampl: $R/bad.f16: %s\n" 'row 3: logit 50 is NaN' 'row 20: logit 0 is +inf' 'row 21: no finite logit' 'row 59: logit 4095 is NaN' >want.messages
    echo 'sampl: 4 of 60 rows were bad' >>want.messages
    same messages want.messages
}

@test "--on-error skip: the other rows give the ids of a run without bad rows, on 1, 2 and 4 threads" {
    local args t
    for args in '' '--samplers=' '--temp 0' '--samplers greedy' '--scatter-strength 0.3' '--independent --xtc-probability 0.5' \
        '--independent --mirostat 2' "--accept @$ROOT/samples/austen.tokens --repeat-penalty 1.4 --dry-multiplier 1 --dry-sequence-breaker none"; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 3 $args "$R/good.f16" >ids
        awk 'NR == 4 || NR == 21 || NR == 22 || NR == 60 { $0 = -1 } 1' ids >want
        for t in 1 2 4; do
            # shellcheck disable=SC2086
            skip_bad -t $t $args
            same got want
        done
    done
}

@test "--on-error skip: without --accept a bad row adds no token to the history" {
    sampl -n 4096 -s 3 --samplers 'penalties;temperature' --temp 0 --repeat-penalty 3 "$R/good.f16" --rows :3 >before
    # Rows 4 to 19 give the ids of a run in which they follow row 2.
    tail -c +$((4 * 8192 + 1)) "$R/good.f16" | head -c $((16 * 8192)) >rest.f16
    sampl -n 4096 -s 3 --samplers 'penalties;temperature' --temp 0 --repeat-penalty 3 rest.f16 --prompt-tokens @before >after
    skip_bad --samplers 'penalties;temperature' --temp 0 --repeat-penalty 3
    head -20 got | cmp - <(cat before && echo -1 && cat after)
}

@test "--on-error skip with --rows: parts give the records of one run" {
    local args
    for args in "--independent --xtc-probability 0.5" "--samplers greedy" \
        "--temp 0 --accept @$ROOT/samples/austen.tokens --repeat-penalty 1.4"; do
        # shellcheck disable=SC2086
        skip_bad $args
        for part in :3 3:4 4:20 20:22 22:; do
            # shellcheck disable=SC2086
            sampl -n 4096 -s 3 --on-error skip $args --rows $part "$R/bad.f16" 2>/dev/null >>parts || true
        done
        same parts got
        rm parts
    done
}

@test "--on-error skip: a bad row is a row of NaN in f32, f16 and npy" {
    printf '[1,2,3] {"logits":[]} [1,2] [null,null,null] [3,2,1]' >a.json
    # emit OPTION...: writes the output for the rows to `got`.
    emit() {
        sampl -n 3 -s 1 --samplers top_k --top-k 1 --on-error skip "$@" a.json 2>/dev/null >got || [ $? -eq 1 ]
    }
    emit --emit logits -O f32
    f32 -inf -inf 3 nan nan nan nan nan nan nan nan nan 3 -inf -inf | perl -e 'local $/; print map { pack "V", $_ == 0xffc00000 ? 0x7fc00000 : $_ } unpack "V*", <STDIN>' | cmp - got
    emit --emit logits -O npy
    [ "$(stat -c %s got)" -eq $((128 + 60)) ]
    emit --emit logits -O f16
    [ "$(od -An -tx2 -j 6 -N 6 got)" = " 7e00 7e00 7e00" ]
    emit --emit score --accept 1,2,0,1,0 -O f32
    [ "$(stat -c %s got)" -eq 20 ]
}

@test "--on-error skip: bad JSON rows give the same npy file and messages on 1, 2 and 5 threads" {
    local t
    printf '[1,2,3] {"logits":[]} [1,2] [null,null,null] [3,2,1]' >a.json
    for t in 1 2 5; do
        run -1 sampl -n 3 -s 1 -t $t --on-error skip --emit logprobs -O npy -o "out.$t" a.json
        echo "$output" >"messages.$t"
    done
    [ "$(wc -l <messages.1)" -eq 4 ]
    for t in 2 5; do
        same "out.$t" out.1
        same "messages.$t" messages.1
    done
}

@test "--on-error skip: a bad row stays bad through three runs that are joined by pipes" {
    local format
    for format in f16 f32 npy json; do
        { sampl -n 4096 -s 3 --on-error skip --emit logits --samplers top_k -O $format "$R/bad.f16" 2>/dev/null || true; } |
            { sampl -f $format -n 4096 --on-error skip --emit logits --samplers top_k 2>/dev/null || true; } |
            { sampl -f $format -n 4096 -s 3 --on-error skip --samplers 'top_p;min_p' 2>messages || [ $? -eq 1 ]; } >got
        [ "$(grep -c '^-1$' got)" -eq 4 ]
        [ "$(grep -c 'row [0-9]*: ' messages)" -eq 4 ]
        sampl -n 4096 -s 3 --samplers 'top_k;top_p;min_p' "$R/good.f16" | awk 'NR == 4 || NR == 21 || NR == 22 || NR == 60 { $0 = -1 } 1' | cmp - got
    done
}

@test "--on-error skip: -o writes its file although rows were bad" {
    skip_bad -o out
    [ "$(wc -l <out)" -eq 60 ]
    run -1 --separate-stderr sampl -n 4096 --on-error stop -o other "$R/bad.f16"
    [ ! -e other ]
}

@test "--on-error skip: a file that ends inside a row ends the run" {
    head -c 20000 "$R/good.f16" >short.f16
    run -1 --separate-stderr sampl -n 4096 --on-error skip short.f16
    [ "${#lines[@]}" -eq 2 ]
    # shellcheck disable=SC2154 # run sets it
    [[ ${stderr##*$'\n'} == "sampl: short.f16: row 2: the input ends after"* ]]
}
