#!/usr/bin/env bats
# Threads: a run prints the same bytes on any number of threads.

load helper

# same_on_threads ARGUMENT...: checks that runs on 1, 2 and 5 threads print the same bytes.
same_on_threads() {
    local t
    for t in 1 2 5; do
        sampl -s 7 -t "$t" "$@" >"out.$t"
    done
    [ -s out.1 ]
    LC_ALL=C sed -i '/^<p class="command">/d' out.1 out.2 out.5 # a page shows its command
    same out.1 out.2
    same out.1 out.5
}

# npy HEADER: writes the head of an npy file.
npy() {
    perl -e 'print "\x93NUMPY\1\0", pack("v/a*", @ARGV)' -- "$1"
}

# kld: prints a kld file of 2 chunks of 8 tokens and 3 rows each, with a vocabulary of 5 tokens.
kld() {
    perl -e 'print "_logits_", pack("Vll", 8, 5, 2), pack("l*", map { $_ * 7 % 5 } 0 .. 15),
        map { my $r = $_; pack("ff", 1e-4, -6), pack("v*", map { ($r * 977 + $_ * 13007) % 65536 } 1 .. 5), pack("v", 0) } 1 .. 6'
}

@test "threads: --independent JSON rows under a grammar give the same ids" {
    printf '%s\n' a b >words
    printf '[1,null]\n[null,1]\n[1,null]\n' >rows.json
    for t in 1 2 3; do
        run -0 sampl -s 1 -t $t --vocab words --grammar 'root ::= "a"+ | "b"' --independent rows.json
        [ "${lines[*]}" = '0 1 0' ]
    done
}

@test "threads: a chain without state gives the same ids" {
    same_on_threads -n 4096 "$AUSTEN" "$AUSTEN"
}

@test "threads: dumps with traces, TSV and JSON are the same" {
    same_on_threads -n 4096 --rows :90 --dump-probs=4 --trace "$AUSTEN"
    same_on_threads -n 4096 --rows 5:90 --dump-probs=4 -O tsv "$AUSTEN"
    same_on_threads -n 4096 --rows 5:90 -O json "$AUSTEN"
}

@test "threads: penalties, dry and absorption with --accept give the same ids" {
    same_on_threads -n 4096 --repeat-penalty 1.3 --dry-multiplier 1 --dry-sequence-breaker none --scatter-absorption 0.5 \
        --prompt-tokens @"$ROOT/samples/austen.prompt" --accept @"$ROOT/samples/austen.tokens" "$AUSTEN"
}

@test "threads: chains with state and --independent give the same ids" {
    same_on_threads -n 4096 --independent --mirostat 2 "$AUSTEN"
    same_on_threads -n 4096 --independent --xtc-probability 0.5 --repeat-penalty 1.2 --prompt-tokens 3,4,5 "$AUSTEN"
}

@test "threads: a chain with state runs on one thread, with a note of -v" {
    local args
    for args in "--mirostat 1" "--xtc-probability 0.5" "--repeat-penalty 1.2" "--samplers top_k;adaptive_p" \
        "--scatter-strength 0.3 --scatter-collision 0.5"; do
        # shellcheck disable=SC2086
        same_on_threads -n 4096 --rows :40 $args "$AUSTEN"
        # shellcheck disable=SC2086
        sampl -v -s 7 -t 3 -n 4096 --rows :2 $args "$AUSTEN" 2>&1 >/dev/null | grep -q "one thread: the chain"
    done
    # A machine of one core has its own note.
    ! sampl -v -s 7 -t 3 -n 4096 --rows :2 "$AUSTEN" 2>&1 >/dev/null | grep "one thread: the chain" || return 1
}

@test "-t 0 starts a thread for each core that the process may use" {
    local cores
    cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
    sampl -s 7 -n 4096 "$AUSTEN" >want
    sampl -s 7 -t 0 -v -n 4096 "$AUSTEN" 2>err | cmp - want
    grep -qx "sampl: note: --threads 0 is $cores" err
    [ -z "${SAMPL_PORTABLE-}" ] || return 0 # POSIX has no sets of cores
    need taskset
    # shellcheck disable=SC2016 # the inner shell's
    taskset -c "$(taskset -pc $$ | sed 's/.*[:,-] *//')" env SAMPL="$SAMPL" sh -c '"$SAMPL" -s 7 -t 0 -v -n 4096 "$1"' - "$AUSTEN" 2>err | cmp - want
    grep -qx "sampl: note: --threads 0 is 1" err
}

@test "threads: variants give the same tables, dumps and ids" {
    local v=(--vs '--temp 1.5' --vs 'k: --top-k 3' --vs '--engine ollama')
    same_on_threads -n 4096 --rows :60 "$AUSTEN" "${v[@]}" -O json
    same_on_threads -n 4096 --rows :20 "$AUSTEN" "${v[@]}" --diff=5
    same_on_threads -n 4096 --rows :20 "$AUSTEN" "${v[@]}" --dump-probs=3 -O tsv
    same_on_threads -n 4096 --rows :30 "$AUSTEN" "${v[@]}" --vs '--mirostat 2' --emit stats
    same_on_threads -n 4096 --rows :30 "$AUSTEN" --repeat-penalty 1.1 --against "$AUSTEN" --emit ids
    perl -e 'print "{\"seq\":\"s", $_ % 3, "\",\"logits\":[", join(",", map { $_ * 7 % 5 } $_ .. $_ + 9), "]", $_ % 4 ? "" : ",\"params\":{\"top_k\":$_}", "}\n"
        for 1 .. 30' >rows.json
    same_on_threads rows.json --vs '--temp 2' --vs '--mirostat 2' --vs '--repeat-penalty 1.3' --emit ids
}

@test "threads: a pipe, redirected standard input and many small files give the same ids" {
    sampl -s 7 -n 4096 "$AUSTEN" >want
    sampl -s 7 -t 3 -n 4096 -f f16 - <"$AUSTEN" | cmp - want
    # shellcheck disable=SC2002 # a pipe is the point
    cat "$AUSTEN" | sampl -s 7 -t 3 -n 4096 -f f16 | cmp - want
    local i files=()
    for i in 0 1 2 3 4 5 6 7 8 9; do
        f32 "$i" 1 2.5 3 -1 "$i" 0 4 2 5 >"$i.f32"
        echo "[$i,1,2.5,3,-1][$i,0,4,2,5]" >"$i.json"
        files+=("$i.f32")
    done
    same_on_threads -n 5 "${files[@]}"
    same out.1 <(sampl -s 7 -t 4 ./*.json)
}

@test "threads: --accept recorded with two kld files gives the same dumps" {
    kld >a.kld
    same_on_threads --accept recorded --repeat-penalty 1.5 --dump-probs a.kld a.kld
    same_on_threads --accept recorded --independent --repeat-penalty 1.5 --dump-probs a.kld a.kld
}

@test "threads: a bad row ends the run after the records of the rows before it" {
    f32 1 2 3 2 3 1 3 1 2 1 nan 3 1 2 3 >bad.f32
    for t in 1 2 4; do
        run -1 --separate-stderr sampl -s 1 -t "$t" -n 3 bad.f32
        # shellcheck disable=SC2154 # run sets it
        [ "$stderr" = "sampl: bad.f32: row 3: logit 1 is NaN" ]
        [ "${#lines[@]}" -eq 3 ]
    done
    { f32 1 2 3 2 3 1 && printf xyz; } >cut.f32
    for t in 1 2 4; do
        run -1 --separate-stderr sampl -s 1 -t "$t" -n 3 cut.f32
        [ "$stderr" = "sampl: cut.f32: row 2: the input ends after 3 of the row's 12 bytes" ]
        [ "${#lines[@]}" -eq 2 ]
    done
}

@test "threads: JSON rows with and without parameters, and bad JSON, give the same records and messages" {
    local i
    for i in {0..39}; do
        echo "[$((i % 5)),1.5,$((i % 3)),2,$((i % 7))]"
        [ $((i % 9)) -ne 0 ] || echo "{\"probs\":[0.2,0.1,0.$i],\"ids\":[4,0,2],\"note\":1}"
    done >plain.json
    same_on_threads plain.json
    # shellcheck disable=SC2002 # a pipe is the point
    same out.1 <(cat plain.json | sampl -s 7 -t 2)
    { printf '[' && for i in {1..50}; do echo "{ \"probs\" : [0.1,0.2,$i] }, [1,$i,2.5],"; done && echo '[1,2,3]]'; } >list.json
    same_on_threads --on-error skip --dump-probs list.json
    same_on_threads --rows 3:7,90: list.json
    # Only the first bad row is reported, after the records before it.
    for i in '[]' '[1,[2]]' '{"probs":[1,-2]}' '[1,2' '[1,2]]' '{"logits":[1,2]x' '[1,]'; do
        { cat plain.json && echo "$i" && echo '[1,2,x]'; } >wrong.json
        run -1 --separate-stderr sampl -s 7 wrong.json
        said=$stderr printed=$output
        run -1 --separate-stderr sampl -s 7 -t 3 wrong.json
        [ "$stderr" = "$said" ] && [ "$output" = "$printed" ]
    done
    # Parameters of a late row need the tokens of all rows before it.
    { cat plain.json && printf '{"logits":[3,2,1,2,3],"params":{"%s}}\n[1,2,3,2,1]\n[3,2,1,3,2]\n' 'repeat_penalty":3,"repeat_last_n":99,"frequency_penalty":0.3'; } >late.json
    same_on_threads --dump-probs -O json late.json
    same_on_threads --independent --dump-probs -O json late.json
    same_on_threads --vs "--temp 3" --vs "--top-k 1" late.json
    same_on_threads --vs "--repeat-penalty 2" late.json
    { cat plain.json && printf '{"logits":[1,"x"]}'; } >broken.json
    for i in 1 2 5; do
        run -1 --separate-stderr sampl -s 7 -t "$i" broken.json
        [ "$stderr" = "sampl: broken.json: row 45: byte $(($(stat -c %s plain.json) + 13)): '\"' where JSON expects a number" ]
        [ "${#lines[@]}" -eq 45 ]
    done
}

@test "every kind of input and output" {
    local n=64 file form output
    perl -e 'print pack("f<*", map { $_ * 7919 % 257 / 16 } 1 .. 64 * 60)' >a.f32
    for form in f16 f32 npy; do sampl -n $n --samplers '' --emit logits -O $form -o "b.$form" a.f32; done
    perl -e 'local $/; open F, "b.f32"; $_ = <F>; print pack("v*", map { $_ >> 16 } unpack("V*", $_))' >b.bf16
    npy "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 64)}" >wide.npy
    perl -e 'print pack("d<*", map { $_ % 19 } 1 .. 256)' >>wide.npy
    npy "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 10, 64)}" >named.npy
    cat a.f32 >>named.npy
    perl -e '$h = q({"x":{"dtype":"F32","shape":[60,64],"data_offsets":[0,15360]}}); print pack("Q<", length $h), $h' >b.safetensors
    cat a.f32 >>b.safetensors
    sampl -n $n --samplers '' --emit logits -O json a.f32 | sed 's/.*"logits":\(\[[^]]*\]\).*/\1/' >b.json
    sed '$!s/.*/{"logits":&}/' b.json >objects.json
    kld >b.kld
    printf '5: 1.5\n2: 3\n7: 4\n' >b.pairs
    for file in a.f32 b.f16 b.bf16 b.npy wide.npy named.npy b.safetensors b.json objects.json b.kld b.pairs; do
        while read -r output; do
            # shellcheck disable=SC2086 # words
            case $file in *.f16 | *.f32 | *.bf16 | *.pairs) same_on_threads -n $n $output "$file" ;; *) same_on_threads $output "$file" ;; esac
        done < <(few 2 '' '-O json' '--emit stats' '--dump-probs=3 -O tsv' '--trace -O json' '--emit probs -O f32' '-O html' \
            "--vs=--temp=2 --vs=--mirostat=2" '--vs=--temp=2 --diff=3' '--independent --xtc-probability 0.5 -O tsv')
    done
}

@test "a mapped file that becomes shorter ends the run after the rows before it, in several threads" {
    truncate -s 80M big.f32
    mkfifo out
    sampl -s 1 -t 3 -n 1024 -O json big.f32 >out 2>message 3>&- &
    local pid=$!
    exec 8<out
    for _ in {1..1001}; do read -r _ <&8; done
    truncate -s 4096 big.f32
    wc -l <&8 >lines
    exec 8<&-
    local status=0
    wait "$pid" || status=$?
    [ "$status" -eq 3 ]
    [ "$(cat message)" = "sampl: big.f32: row $((1001 + $(<lines))): the file became shorter while it was read" ]
}

@test "a closed pipe, a full disk, and a row that ends the run end it in several threads" {
    truncate -s 64M rows.f32
    local t
    for t in 1 2 5; do
        sampl -s 1 -t $t -n 256 rows.f32 2>err | head -1 >/dev/null
        [[ ${PIPESTATUS[0]} == @(0|141) ]]
        [ ! -s err ]
        run -3 --separate-stderr sampl -s 1 -t $t -n 256 -o /dev/full rows.f32
        # shellcheck disable=SC2154 # run sets it
        [ "$stderr" = 'sampl: /dev/full: cannot write: No space left on device' ]
    done
}

# A batch is no shard: a shard takes the width of its first row for the rows before it, and has no parameters of theirs.
@test "threads: rows of mixed widths, and parameters that begin after many rows, give the same ids" {
    perl -e 'srand 5; for (1 .. 1500) { print "[", join(",", map { sprintf "%.2f", rand 6 } 1 .. 3 + int rand 40), "]\n" }' >mixed.json
    local engine
    for engine in transformers vllm llama; do same_on_threads --engine $engine --temp 1 mixed.json; done
    # The ids depend on the widths before: rows of one width in their place give other ids.
    sampl -s 7 --engine transformers --temp 1 mixed.json >want
    sampl -s 7 --engine transformers --temp 1 <(sed '1,1000s/.*/[1,2]/' mixed.json) | tail -500 >other
    [ "$(tail -500 want | diff - other | grep -c '^<')" -gt 100 ]
    { head -1300 mixed.json && echo '{"logits":[3,2,1,2,3,1],"params":{"frequency_penalty":0.5}}' && tail -200 mixed.json; } >late.json
    for engine in vllm llama; do same_on_threads --engine $engine --temp 1 --dump-probs=2 late.json; done
}

@test "threads: --against a file of another width gives the same records with generators that advance by the width" {
    perl -e 'srand 4; for my $w (60, 64) { open my $to, ">", "$w.json"; print $to "[", join(",", map { sprintf "%.2f", 4 * rand } 1 .. $w), "]\n" for 1 .. 600 }'
    for engine in vllm akunu-gpu llama; do
        same_on_threads --engine "$engine" --temp 0.9 --against 64.json --emit stats -O json 60.json
    done
}

@test "a stack of 64 KB gives the same output" {
    local args t
    printf '[1,2,3]\n{"logits":[3,2,1],"params":{"top_k":2}}\n' >rows.json
    sampl -n 4096 -s 7 --rows :20 "$AUSTEN" >ids
    while read -r args; do
        for t in 1 3; do
            # shellcheck disable=SC2086 # words
            sampl -s 7 -t $t $args >want 2>&1 || [ $? = 4 ]
            # shellcheck disable=SC2086
            (ulimit -s 64 && sampl -s 7 -t $t $args) >got 2>&1 || [ $? = 4 ]
            LC_ALL=C same got want
        done
    done <<TABLE
rows.json
-n 4096 --rows :20 --trace --dump-probs=3 $AUSTEN
-n 4096 --rows :20 -O html $AUSTEN
-n 4096 --rows :20 --emit logits -O f16 $AUSTEN
-n 4096 --rows :20 --emit stats --stats --mirostat 2 $AUSTEN
-n 4096 --rows :20 --report --against $AUSTEN $AUSTEN
-n 4096 --rows :20 --vs --temp=2 --vs --engine=vllm $AUSTEN
-n 4096 --rows :20 --draws ids $AUSTEN
-n 4096 --rows :20 --temp 1.2 --expect @ids $AUSTEN
-n 4096 --rows :20 --typical 0.9 --independent --samplers typ_p;adaptive_p $AUSTEN
-n 4096 --rows :20 --engine mlx --temp 0.9 --top-p 0.9 $AUSTEN
--vocab $ROOT/samples/austen.gguf --json-schema {"type":"object"} --rows :3 -n 4096 $AUSTEN
--list-presets
--print-chain=json
--generate=json
--help
TABLE
}
