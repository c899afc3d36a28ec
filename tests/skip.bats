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

# slowly FILE: prints a file in pieces of three bytes.
slowly() {
    perl -e '$| = 1; local $/ = \3; while (<>) { print; select undef, undef, undef, 0.0005 }' "$1"
}

@test "--on-error skip: a broken line is one bad row, in every way of reading it" {
    local line t
    seq 1 9 | sed 's/.*/[&,2,7]/' >good.json
    while IFS= read -r line; do
        { sed -n 1,5p good.json; printf '%s\n' "$line"; sed -n 6,9p good.json; } >rows.json
        { sampl --temp 0 good.json | sed -n 1,5p; echo -1; sampl --temp 0 good.json | sed -n 6,9p; } >wanted
        for t in 1 2; do
            run -1 --separate-stderr sampl --temp 0 -t $t --on-error skip rows.json
            same - wanted <<<"$output" || { echo "$line"; return 1; }
            [ "$(tail -1 <<<"$stderr")" = 'sampl: 1 of 10 rows were bad' ]
            rm -f fifo && mkfifo fifo
            slowly rows.json >fifo &
            run -1 --separate-stderr sampl --temp 0 -t $t --on-error skip fifo
            same - wanted <<<"$output" || { echo "$line in pieces"; return 1; }
            wait
        done
    done < <(few 6 <<'END'
[1,2
[1,x,3]
[1,2,
nonsense
]
7
,
[1 2]
{"logits":[1,2,3]
{"logits":[1,2
{"logits"
{"seq":"a
{"params":{"top_k":2
{"params":{"samplers":["top_k"
{"logits":[1],"probs":[1]}
{"logits":[1,2,3],}
{"a":tru} [1,2,3]
{"completion_probabilities":[{"id":1,"logprob":-1,"top_logprobs":[{"id":1
data: {"logits":[1,2
{"a":{"b"
END
    )
}

@test "--on-error skip: rows before and after a broken line in an array are read" {
    printf '[[1,2],\n[2,x],\n[2,1]]\n[1,2]' >array.json
    run -1 --separate-stderr sampl --temp 0 --on-error skip array.json
    [ "$(tr '\n' ' ' <<<"$output")" = '1 -1 0 1 ' ]
    printf '%s\n' 'data: {"logits":[1,2]}' '' 'data: {"logits":[1,2' '' 'data: {"logits":[2,1]}' '' 'data: [DONE]' >events
    run -1 --separate-stderr sampl --temp 0 --on-error skip events
    [ "$(tr '\n' ' ' <<<"$output")" = '1 -1 0 ' ]
}

@test "rows do not wait for the reader of standard error" {
    timeout 600 /usr/bin/python3 - <<'END'
import os, subprocess
rows, n = b"[1,NaN]\n[1,2]\n", 3000  # messages of 150 kB; a pipe holds 64 kB
run = subprocess.Popen([os.environ["SAMPL"], "-s", "1", "-f", "json", "--on-error", "skip"],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
got = b""
for i in range(n):
    run.stdin.write(rows)
    run.stdin.flush()
    while got.count(b"\n") < 2 * i + 2:
        got += os.read(run.stdout.fileno(), 1 << 16)
errors = os.read(run.stderr.fileno(), 1 << 20)
run.stdin.write(rows)
run.stdin.close()
got += run.stdout.read()
lines = (errors + run.stderr.read()).decode().splitlines()
assert run.wait() == 1 and got.count(b"-1\n") == n + 1, got
note = [line for line in lines if line.startswith("sampl: note: ")]
assert len(note) == 1 and lines[-1] == "sampl: %d of %d rows were bad" % (n + 1, 2 * n + 2), lines[-3:]
dropped = int(note[0].removeprefix("sampl: note: ").split()[0])
assert 0 < dropped < n and dropped + len(lines) - 2 == n + 1, (dropped, len(lines))
END
}
