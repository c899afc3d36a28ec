#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Errors and warnings: errors.tsv makes the program print every one it has. The table's head explains its columns.
load helper

setup_file() {
    export LC_ALL=C
    mkdir -p "$BATS_FILE_TMPDIR/files"
    cd "$BATS_FILE_TMPDIR/files" || return 1
    make_files
    "${CC:-cc}" -shared -fPIC -o ../inject.so "$BATS_TEST_DIRNAME/inject.c" -ldl
}

# The files that the table's commands read.
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
    printf '{"prompt_logprobs":[null,{"2":{"logprob":-1},"1":{"logprob":-2}}],"prompt_token_ids":[1,2],"choices":[{"logprobs":{"content":
        [{"token":"token_id:3","logprob":-1,"top_logprobs":[{"token":"token_id:2","logprob":-2}]}]}}]}' >reply.json
    printf '9: 1\n5: 3\n' >gaps.pairs
    printf '%s\n' a b c >words.txt
    npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}" 1 2 3 3 2 1 >a.npy
    npy "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 3)}" 0 0 0 >swapped.npy
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
    echo '{"fields":[{"key":"llm.prediction.temperature","value":{"checked":true,"value":2}}]}' >p/studio
}

# npy DICT NUMBER..., safetensors JSON NUMBER...: such a file, its numbers f32. kld N_CTX N_VOCAB N_CHUNK TOKEN...: one without rows.
npy() {
    perl -e 'print "\x93NUMPY\1\0", pack("v/a*f<*", @ARGV)' -- "$@"
}

safetensors() {
    perl -e 'print pack("Q</a*f<*", @ARGV)' -- "$@"
}

kld() {
    perl -e 'print "_logits_", pack("V*", @ARGV)' -- "$@"
}

# g ARG...: the program with a chain that leaves nothing to chance.
g() {
    sampl -s 1 --samplers greedy "$@"
}

# inject CALL[:N[:ERRNO]] COMMAND...: runs the command with that call of the C library failing, see inject.c. A sanitizer's library
# need not come first: inject.so passes on to it; and it cannot look for leaks where a filter answers system calls.
inject() {
    (
        export SAMPL_INJECT=$1 LD_PRELOAD=$BATS_FILE_TMPDIR/inject.so
        export ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS-}
        [[ $1 != sys_* ]] || ASAN_OPTIONS+=:detect_leaks=0
        "${@:2}"
    )
}

# oom COMMAND...: lets the first call for memory fail, then the second and so on, up to the sixth; then each STEP-th. Each run must say
# so, or not need that memory.
oom() {
    local i status
    "$@" >../good 2>../good.err </dev/null
    for ((i = 1; ; i += i < 6 ? 1 : i == 6 ? STEP - START : STEP)); do
        rm -f ../reached
        status=0
        SAMPL_INJECT_LOG=../reached inject "memory:$i" "$@" >../got 2>../got.err </dev/null || status=$?
        [ -e ../reached ] || break
        case $status in
        0) cmp ../good ../got ;;
        3) [[ $(<../got.err) == "sampl: "*@("out of memory"|": Cannot allocate memory") ]] ;;
        *) false ;;
        esac || { echo "memory:$i: status $status, $(<../got.err)"; return 1; }
    done
    [ "$i" -gt 5 ]
}

# Without a C library to inject into: an emulator, valgrind, a static program, a sanitizer linked into the program.
need_injection() {
    need_own_process
    [ -n "$(nm -D "$SAMPL" 2>/dev/null)" ] || missing injection "a static program has its own C library"
    inject memory sampl --print-chain 2>&1 | grep -q '^sampl: out of memory' || {
        nm -D "$SAMPL" | grep -q ' T __[atm]san_' || return 1
        missing injection "a sanitizer is linked into the program"
    }
}

# matches TEXT PATTERN: equal, {*} standing for any text.
matches() {
    local pattern=$2
    pattern=${pattern//\\/\\\\}
    pattern=${pattern//\*/\\*}
    pattern=${pattern//\?/\\?}
    pattern=${pattern//\[/\\[}
    pattern=${pattern//'{\*}'/*}
    # shellcheck disable=SC2053
    [[ $1 == $pattern ]]
}

# bytes FILE: its content in `bytes`, without NULs. No process is needed for that.
bytes() {
    local part
    bytes=
    while IFS= read -r -d '' part || [ -n "$part" ]; do bytes+=$part; done <"$1"
}

# messages_match TEXT PATTERNS: every line of the text begins with "sampl: ", holds no control character and matches its pattern.
# Fails, and says what is wrong, if that is not so.
messages_match() {
    local text=$1 line
    [[ $text == *$'\n' ]] || { echo "stderr $text"; return 1; }
    while IFS= read -r line; do
        [[ $line == 'sampl: '?* && $line != *[[:cntrl:]]* ]] || { echo "control characters or broken lines in $text"; return 1; }
    done <<<"${text%$'\n'}"
    matches "$text" "sampl: ${2// \/\/ /$'\n'sampl: }"$'\n' || { echo "stderr $text"; return 1; }
}

# judge STATUS STDOUT STDERR COMMAND: runs one row of the table in a copy of the files, which must not change; says what is wrong.
# Thousands of rows are judged, so the only processes are the command's own.
judge() {
    local status=0 bytes out
    (eval "$4") >../out 2>../err </dev/null || status=$?
    [ "$status" = "$1" ] || { echo "status $status"; return 1; }
    bytes ../out
    out=${bytes//$'\n'/ }
    out=${out% }
    matches "${out:--}" "$2" || { echo "stdout $out"; return 1; }
    bytes ../err
    bytes=${bytes//: Symbolic link loop$'\n'/: Too many levels of symbolic links$'\n'} # musl has words of its own for it
    if [ "$3" != - ]; then
        messages_match "$bytes" "$3" || return 1
    elif [ -n "$bytes" ]; then
        echo "stderr $bytes"
        return 1
    fi
    files=(*)
    [ "${files[*]}" = "$FILES_BEFORE" ] || { echo "files changed: ${files[*]}, before: $FILES_BEFORE"; return 1; }
}

# judge_rows NAME FIRST STEP: judges each STEP-th row of ../table from FIRST on, in a folder of its own. Prints what is wrong.
judge_rows() {
    local status out err command wrong=0 i=0 why expect files
    mkdir "$1"
    cp -R "$BATS_FILE_TMPDIR/files" "$1/files"
    cd "$1/files" || return 1
    shopt -s dotglob nullglob
    files=(*)
    FILES_BEFORE=${files[*]}
    while IFS=$'\t' read -r status out err command; do
        (((i++ - $2) % $3 == 0)) || continue
        expect=${status#!}
        if why=$(judge "$expect" "$out" "$err" "$command"); then
            [ "$status" = "$expect" ] || { echo "right now, take its '!' away: $command"; wrong=1; }
        elif [ "$status" = "$expect" ]; then
            printf '%s\n   want status %s, stdout %s, stderr %s\n   got  %s\n' "$command" "$status" "$out" "$err" "$why"
            wrong=1
        fi
    done <../../table
    return "$wrong"
}

# rows GREP_OPTIONS [TEXT]: judges the rows whose command uses inject.so (-w) or does not (-vw), and whose message has this text. Each
# processor has a shard of the rows.
rows() {
    local shards shard pids=() wrong=0 n
    shards=$(nproc)
    grep -v -e '^#' -e '^$' -e '^unreachable' "$BATS_TEST_DIRNAME/errors.tsv" | grep -E "$1" 'inject|oom' |
        awk -F '\t' -v text="${2-}" 'index($3, text)' >table
    for ((shard = 0; shard < shards; shard++)); do
        judge_rows "shard.$shard" "$shard" "$shards" >"wrong.$shard" 2>&1 3>&- &
        pids+=($!)
    done
    for shard in "${!pids[@]}"; do
        wait "${pids[shard]}" || wrong=1
        cat "wrong.$shard"
    done
    n=$(wc -l <table)
    echo "$n rows"
    [ "$n" -gt 0 ] && [ "$wrong" = 0 ]
}

@test "errors: every row of errors.tsv prints its line and ends with its status" {
    rows -vw
}

@test "errors: those of rows are the same with several threads" {
    local n program=$SAMPL
    for n in 2 5; do
        mkdir "$n"
        printf '#!/bin/sh\nexec "%s" -t %s "$@"\n' "$program" "$n" >"$BATS_TEST_TMPDIR/with.$n"
        chmod +x "$BATS_TEST_TMPDIR/with.$n"
        (cd "$n" && SAMPL=$BATS_TEST_TMPDIR/with.$n rows -vw ': row ')
    done
    # a bad first row is followed by rows that may bring parameters, which are worked on one after the other
    printf '{"logits":[2,2],"ids":[1,1]}\n{"logits":[3,1]}\n' >bad.json
    for n in 1 2 5; do
        run -1 sampl -f json -s 1 -t $n bad.json
        [[ $output == 'sampl: bad.json: row 0: '* ]]
        run -1 sampl -f json -s 1 -t $n --on-error skip -O json bad.json
        [[ $output == *'"error":"'?*'"row":1'* ]]
    done
}

@test "errors: when calls into the C library fail" {
    need_injection
    rows -w
}

@test "errors: every message in the source is in errors.tsv" {
    find "$ROOT/src" -name '*.[ch]' -exec perl "$BATS_TEST_DIRNAME/errors.perl" "$BATS_TEST_DIRNAME/errors.tsv" {} +
}

# The options that --help shows: name, and metavar or -.
options() {
    sampl --help=all | perl -0777 -ne '
        s/\n {12,}(?=\S)/  /g;
        print "$1\t", $3 // "-", "\n"
            while /^ {2,6}(?:-\w+, )?--([\w-]+)((?:, --[\w-]+)*)(?: ?(\[?\S+))?(?=  )/mg'
}

# usage MESSAGE ARG...: the program refuses the arguments with a message that matches.
usage() {
    local status=0
    sampl "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" = 2 ] && [ ! -s out ] && matches "$(<err)" "sampl: $1" && return
    echo "${*:2}: status $status, $(<err), want $1"
    return 1
}

@test "errors: every option checks that it has a value, and that a number is one" {
    local name metavar bad n=0
    options >list
    while IFS=$'\t' read -r name metavar; do
        n=$((n + 1))
        case $metavar in
        -) case $name in
            help | version | list-presets | print-grammar) usage "--$name takes no value" "--$name=1" ;;
            *) usage "--$name: '1' is neither true nor false" "--$name=1" ;;
            esac ;;
        '['*) ;;
        *) usage "--$name needs a value" "--$name" ;;
        esac
        case $metavar in
        N | K | T | P | X | '[=N]')
            for bad in '' x 1x ' 1' '1 ' nan inf 1e39 1,5 --1 $'1\n2'; do
                usage "--$name: '${bad//$'\n'/?}' is not {*}" "--$name=$bad"
            done
            ;;
        esac
    done <list
    [ "$n" -gt 60 ]
}

@test "errors: a closed pipe ends the run quietly" {
    cp "$BATS_FILE_TMPDIR/files/ok.f32" .
    for how in default ignored; do
        (
            [ "$how" = default ] || trap '' PIPE
            exec 3> >(exit 0)
            wait $! # nobody reads from here on
            g -n 3 ok.f32 >&3
        ) 2>err || [ $? = 141 ]
        [ ! -s err ]
    done
}

# Mangled JSON: whatever comes, the program ends by itself with a status of its own and at most one line.
@test "errors: mangled JSON is refused in one line" {
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
    local i status
    for ((i = 0; i < 300; i++)); do
        status=0
        g -f json "$i.json" >out 2>err || status=$?
        case $status in
        0) [ ! -s err ] ;;
        1) [ "$(wc -l <err)" = 1 ] && [[ $(<err) == "sampl: $i.json: row "* ]] ;;
        *) false ;;
        esac || { cat -v "$i.json" err; echo "status $status"; return 1; }
    done
}
