#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Errors and warnings: each row of errors.tsv has a command and the message that it prints. The head of the table explains its columns.
load helper
load judge

setup_file() {
    export LC_ALL=C
    mkdir -p "$BATS_FILE_TMPDIR/files"
    cd "$BATS_FILE_TMPDIR/files" || return 1
    make_files
    "${CC:-cc}" -shared -fPIC -o ../inject.so "$BATS_TEST_DIRNAME/inject.c" -ldl
}

# make_files: writes the files that the commands of the table read.
make_files() {
    f32 1 2 3 3 2 1 >ok.f32
    f32 1 2 3 1 nan inf >nan.f32
    f32 1 2 3 1 2 inf >inf.f32
    f32 1 2 3 -inf -inf -inf >masked.f32
    f32 -1 -2 -3 >negative.f32
    { f32 1 2 3 && printf 12345; } >cut.f32
    : >empty.f32
    printf x >odd
    printf 'no numbers\n' >unknown
    printf '[1,2,3] [3,2,1]' >ok.json
    printf '{"logits":[1,2,3],"id":[1,{"a":"b"}]}' >object.json
    printf '{"logits":[1,2,3],"ids":[9,5,7]} {"ids":[1,2],"probs":[0.5,0.5]}' >sparse.json
    printf '{"logits":[2,1],"params":{"temperature":%s}}' 1 0 1 >rest.json
    printf '{"prompt_logprobs":[null,{"2":{"logprob":-1.0000123},"1":{"logprob":-2.0000123}}],"prompt_token_ids":[1,2],"choices":[{"logprobs":{"content":
        [{"token":"token_id:3","logprob":-1.0000123,"top_logprobs":[{"token":"token_id:2","logprob":-2.0000123}]}]}}]}' >reply.json
    printf '9: 1\n5: 3\n' >gaps.pairs
    printf '%s\n' a b c >words.txt
    npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}" 1 2 3 3 2 1 >a.npy
    npy "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 3)}" 0 0 0 >swapped.npy
    npy "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 1, 2)}" >cube.npy
    { npy "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2)}" && printf '\1\0\1\0\1\0'; } >short.npy
    npy "{'descr': '<i2', 'fortran_order': False, 'shape': (9223372036854775807, 9)}" >huge.npy
    { npy "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}" && printf '\0\1\377\377'; } >negative.npy
    npy "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}" 1 2 3 4 5 6 >m.npy
    safetensors '{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}' 1 2 3 3 2 1 >a.safetensors
    safetensors '{"x":{"dtype":"F64","shape":[1,3],"data_offsets":[0,24]}}' 0 0 0 0 0 0 >double.safetensors
    safetensors '{"x":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]},"y":{"dtype":"F16","shape":[6],"data_offsets":[12,24]},
        "z":{"dtype":"I64","shape":[1],"data_offsets":[16,24]}}' 1 2 3 3 2 1 >three.safetensors
    head -c 80 a.safetensors >cut.safetensors
    { kld 4 3 1 0 1 2 0 && f32 1 0 && printf '\0\0\1\0\2\0\0\0'; } >a.kld
    printf '0: 1\n1: 3\n2: 2\n' >a.pairs
    gguf model=s:llama 'tokens=a:</s>,▁a,b' token_type=i:3,1,1 eos_token_id=u:0 >v.gguf
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 general.sampling.sequence=s:top_k suppress_tokens=i:1 >advice.gguf
    echo '{"model":{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2}},"added_tokens":[{"id":0,"content":"[PAD]","special":true}]}' >v.json
    printf 'a\nb\na\n' >v.txt
    printf '1 2\n3,x\n' >ids.bad
    printf '1 2\0' >nul.ids
    printf '0 1\n2,1\n' >ids
    printf '%s\n' a b '</s>' >abc.vocab
    printf 'root ::= "a"\n  "b"' >bad.gbnf
    printf 'root ::= \0' >nul.gbnf
    mkdir -p dir p x/sampl/presets x/loop/sampl
    ln -s presets x/loop/sampl/presets
    echo '--top-k 2' >x/sampl/presets/a.preset
    echo '--top-k 2' >p/good
    printf '{"params":{"temperature":2,"seed":5}}\n{"params":{"top_k":1},"accept":1}\n' >lines.jsonl
    printf 'data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.5,"top_logprobs":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-1}]}]}}]}\n\n%.0s' 1 2 >events
    echo 'data: [DONE]' >>events
    mkdir -p p/sampl/presets
    echo '{}' | tee p/sampl/presets/tavern.json >p/sampl/presets/tavern.ini
    echo '--temp 1 --preset p/bad' >p/nested
    echo '--preset=p/self' >p/self
    printf '%s\n' '# about' '--temp 1 operand' >p/operand
    echo '--temp 1 -- operand' >p/dashes
    echo "--dry-sequence-breaker 'ab" >p/quote
    echo '--dry-sequence-breaker "ab' >p/dquote
    echo '--temp 1 --bogus' >p/unknown
    echo '--temp' >p/value
    echo '--temp x' >p/bad
    echo '{"num_ctx":1,"top_k":3,"dry_sequence_breakers":["a"],"logit_bias":{"1":2}}' >p/foreign
    printf 'sampler_priority: skew\nskew: 2\n' >p/order.yaml
    printf 'x: &x {top_k: 3}\noptions:\n  <<: [*x]\n' >p/anchors.yaml
    # shellcheck disable=SC2016 # the script's own variables
    printf '%s\n' 'A=(--temp 1)' '[ "$1" ] && A+=(-c 5)' 'f() { T=$1; (LLAMA_ARG_TOP_K=3 llama-server "${A[@]}" --top-p ${T:-1}); }' 'f 0.5' >p/script.sh
    printf '%s\n' services: '  a:' '    image: llama.cpp:server' '    environment: [LLAMA_ARG_TOP_K=3]' '    command: ["-c", "5"]' >p/compose.yaml
    printf '%s\n' 'FROM llama.cpp:server' 'ENV LLAMA_ARG_TOP_K=3' 'CMD ["-c", "5"]' >p/Dockerfile
    printf '%s\n' '[Service]' 'Environment="LLAMA_ARG_TOP_K=3"' 'EnvironmentFile=x' 'ExecStart=llama-server -c 5' >p/unit
    printf '%s\n' '@echo off' 'set A=--temp 1' 'if "%1"=="x" set B=-c 5' 'llama-server.exe %A% %B% %1' >p/script.bat
    echo '{"fields":[{"key":"llm.prediction.temperature","value":{"checked":true,"value":2}}]}' >p/studio
}

# npy DICT NUMBER..., safetensors JSON NUMBER...: prints a file of this format with f32 numbers.
# kld N_CTX N_VOCAB N_CHUNK TOKEN...: prints a kld file without rows.
npy() {
    perl -e 'print "\x93NUMPY\1\0", pack("v/a*f<*", @ARGV)' -- "$@"
}

safetensors() {
    perl -e 'print pack("Q</a*f<*", @ARGV)' -- "$@"
}

kld() {
    perl -e 'print "_logits_", pack("V*", @ARGV)' -- "$@"
}

# matrix TYPE DIM...: prints a GGUF file with one tensor, token_embd.weight, of this type and shape, and 24 bytes of numbers behind it.
# NAME and ALIGNMENT change its name and the alignment.
matrix() {
    perl -e '
        my ($type, @dim) = @ARGV;
        my $out = "GGUF" . pack("VQ<Q<Q</a*VV", 3, 1, 1, "general.alignment", 4, $ENV{ALIGNMENT} // 32);
        $out .= pack("Q</a*VQ<*", $ENV{NAME} // "token_embd.weight", scalar @dim, @dim) . pack("VQ<", $type, 0);
        print $out, "\0" x (-length($out) % 32), "\0" x 24' -- "$@"
}

# vectors ARGUMENT...: runs sampl with scatter, and with vectors from standard input.
vectors() {
    sampl -s 1 -n 3 --samplers scatter --scatter-strength 0.5 --scatter-embeddings - "$@"
}

# g ARGUMENT...: runs sampl with a greedy chain.
g() {
    sampl -s 1 --samplers greedy "$@"
}

# inject CALL[:N[:ERRNO]] COMMAND...: runs the command; inject.c makes the N-th such call of the C library fail. The sanitizer's library
# may be loaded after inject.so, which calls it. Leaks are not searched where a filter answers system calls.
inject() {
    (
        export SAMPL_INJECT=$1 LD_PRELOAD=$BATS_FILE_TMPDIR/inject.so
        export ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-}
        [[ $1 != sys_* ]] || ASAN_OPTIONS+=:detect_leaks=0
        "${@:2}"
    )
}

# oom COMMAND...: runs the command with one failing memory allocation at a time: each of the first six, then each STEP-th. Checks that
# each run reports the failure, or prints what a run without failure prints.
oom() {
    local i status
    cat >../given # a seekable file, which each run reads from its beginning
    "$@" >../good 2>../good.err <../given
    for ((i = 1; ; i += i < 6 ? 1 : i == 6 ? STEP - START : STEP)); do
        rm -f ../reached
        status=0
        SAMPL_INJECT_LOG=../reached inject "memory:$i" "$@" >../got 2>../got.err <../given || status=$?
        [ -e ../reached ] || break
        case $status in
        0) cmp ../good ../got ;;
        3) [[ $(<../got.err) == "sampl: "*@("out of memory"|": Cannot allocate memory") ]] ;;
        *) false ;;
        esac || { echo "memory:$i: status $status, $(<../got.err)"; return 1; }
    done
    [ "$i" -gt 5 ]
}

# need_injection: fails if inject.so has no effect: with an emulator, valgrind, a static program or a linked sanitizer.
need_injection() {
    need_own_process
    [ -n "$(nm -D "$SAMPL" 2>/dev/null)" ] || missing injection "a static program has its own C library"
    inject memory sampl --print-chain 2>&1 | grep -q '^sampl: out of memory' || {
        nm -D "$SAMPL" | grep -q ' T __[atm]san_' || return 1
        missing injection "a sanitizer is linked into the program"
    }
}

@test "errors: every command of errors.tsv prints its message and ends with its status" {
    judge_table errors.tsv -vw
}

@test "errors: messages about rows are the same on 2 and 5 threads" {
    local n program=$SAMPL
    for n in 2 5; do
        mkdir "$n"
        printf '#!/bin/sh\nexec "%s" -t %s "$@"\n' "$program" "$n" >"$BATS_TEST_TMPDIR/with.$n"
        chmod +x "$BATS_TEST_TMPDIR/with.$n"
        (cd "$n" && SAMPL=$BATS_TEST_TMPDIR/with.$n judge_table errors.tsv -vw ': row ')
    done
    # After a bad first row of JSON, the next rows run on one thread, as they may have parameters.
    printf '{"logits":[2,2],"ids":[1,1]}\n{"logits":[3,1]}\n' >bad.json
    for n in 1 2 5; do
        run -1 sampl -f json -s 1 -t $n bad.json
        [[ $output == 'sampl: bad.json: row 0: '* ]]
        run -1 sampl -f json -s 1 -t $n --on-error skip -O json bad.json
        [[ $output == *'"error":"'?*'"row":1'* ]]
    done
}

@test "errors: a failing call of the C library ends the run with its message and status" {
    need_injection
    judge_table errors.tsv -w
}

@test "errors: a file that cannot be mapped is read in blocks, with the same rows and counts" {
    need_injection
    perl -e 'print pack("f<*", map { ($_ * 7919) % 23 } 1 .. 5 * 90)' >many.f32
    sampl -n 5 --samplers '' --emit logits many.f32 -O npy >many.npy
    perl -e '$h = q({"x":{"dtype":"F32","shape":[90,5],"data_offsets":[0,1800]}}); print pack("Q<", length $h), $h' >many.safetensors
    cat many.f32 >>many.safetensors
    sampl -n 5 --samplers '' --emit logits many.f32 -O json | sed 's/.*"logits":\(\[[^]]*\]\).*/\1/' >many.json
    local file rows width
    for file in many.f32 many.npy many.safetensors many.json; do
        [[ $file == *.f32 ]] && width='-n 5' || width=
        for rows in '' '--rows 3:70' '--rows 85:' '--rows -4:' '--rows 2,50,88 --dump-probs' '--shard 3/4' '-O html'; do
            case "$file $rows" in *.json*-4: | *.json*/4) continue ;; esac # only reading counts the rows of JSON
            # shellcheck disable=SC2086 # words
            sampl -s 1 $width $rows "$file" >expected 2>expected.err
            # shellcheck disable=SC2086
            inject mmap:1:19 sampl -s 1 $width $rows "$file" >got 2>got.err
            same got expected
            diff expected.err got.err
        done
    done
}

# The library's own messages are in lib.bats: the program does not print them.
@test "errors: every message of the sources is in errors.tsv" {
    find "$ROOT/src" -name '*.[ch]' ! -path '*/lib/*' ! -name 'chain_words.c' -exec perl "$BATS_TEST_DIRNAME/errors.perl" "$BATS_TEST_DIRNAME/errors.tsv" {} +
}

# options: prints the options of --help, one a line: name, a tab, and metavar or -.
options() {
    sampl --help=all | perl -0777 -ne '
        s/\n {12,}(?=\S)/  /g;
        print "$1\t", $3 // "-", "\n"
            while /^ {2,6}(?:-\w+, )?--([\w-]+)((?:, --[\w-]+)*)(?: ?(\[?\S+))?(?=  )/mg'
}

# refuses_usage MESSAGE ARGUMENT...: checks that the program refuses the arguments with status 2 and a message that matches.
refuses_usage() {
    local status=0
    sampl "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" = 2 ] && [ ! -s out ] && matches "$(<err)" "sampl: $1" && return
    echo "${*:2}: status $status, $(<err), want $1"
    return 1
}

@test "errors: an option without a value, or with a value that is not a number, is refused" {
    local name metavar bad n=0
    options >list
    ( # a subshell, in which bats records no places
        while IFS=$'\t' read -r name metavar; do
            n=$((n + 1))
            case $metavar in
            -) case $name in
                help | version | list-presets | list-programs | print-grammar) refuses_usage "--$name takes no value" "--$name=1" ;;
                *) refuses_usage "--$name: '1' is not true or false" "--$name=1" ;;
                esac ;;
            '['*) ;;
            *) refuses_usage "--$name needs a value" "--$name" ;;
            esac
            case $metavar in
            N | K | T | P | X | '[=N]')
                for bad in '' x 1x ' 1' '1 ' nan inf 1e39 1,5 --1 $'1\n2'; do
                    refuses_usage "--$name: '${bad//$'\n'/?}' is not {*}" "--$name=$bad"
                done
                ;;
            esac
        done < <(few 25 <list)
        enough "$n" 61
    )
}

@test "errors: a closed pipe ends the run without a message" {
    cp "$BATS_FILE_TMPDIR/files/ok.f32" .
    for how in default ignored; do
        (
            [ "$how" = default ] || trap '' PIPE
            exec 3> >(exit 0)
            wait $! # the reader has ended
            g -n 3 ok.f32 >&3
        ) 2>err || [ $? = 141 ]
        [ ! -s err ]
    done
}

# However JSON is mangled, the program exits with status 0 or 1, and prints at most one line on standard error.
@test "errors: mangled JSON gives rows, or one error line with status 1" {
    perl -e '
        srand 7;
        my @seed = ("[1,2.5e1,-3]", "[[1,2],[3,4]]", "{\"logits\":[1,-2e-3,null],\"id\":{\"a\":[\"x\\\"y\",true]}}",
            "[{\"probs\":[0.5,0.5]},{\"logprobs\":[-1,-2]}]");
        my @bit = ("[", "]", "{", "}", ",", ":", "\"", "\\", "-", ".", "e", "0", "1e999", "NaN", "nul", "\0", "\n", "\xff", " ");
        for my $i (0 .. 299) {
            my $s = $seed[rand @seed];
            substr($s, rand 1 + length $s, rand 3) = $bit[rand @bit] for 0 .. rand 3;
            open my $f, ">", "$i.json" or die;
            print $f $s;
        }'
    local i status ids=0
    for i in $(few 60 {0..299}); do
        status=0
        g -f json "$i.json" >out 2>err || status=$?
        ids=$((ids + $(wc -l <out)))
        case $status in
        0) [ ! -s err ] ;;
        1) [ "$(wc -l <err)" = 1 ] && [[ $(<err) == "sampl: $i.json: row "* ]] ;;
        *) false ;;
        esac || { cat -v "$i.json" err; echo "status $status"; return 1; }
    done
    enough "$ids" 51
}
