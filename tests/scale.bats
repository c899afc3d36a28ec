#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Parts of a run: the outputs of --shard 1/N to N/N, or of pieces with --row-base, concatenate to the output of the whole run.

load helper

# Writes seven rows of 50 logits in each format whose rows can be counted. The logits are close, so that draws decide the ids.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    perl -e '
        use strict;
        srand 11;
        sub put { my $name = shift; open my $f, ">:raw", $name or die; print $f @_; close $f or die }
        my @x = map { int(rand 256) / 64 - 2 } 1 .. 7 * 50; # exact in every format
        my $f4 = pack "f<*", @x;
        put "a.f32", $f4;
        put "b.f32", pack "f<*", @x[50 .. 249];
        put "a.bf16", pack "v*", map { $_ >> 16 } unpack "L<*", $f4;
        my $f2 = pack "v*", map {
            my ($s, $m, $e) = ($_ < 0 ? 0x8000 : 0, abs, 15);
            if ($m) { while ($m < 1) { $m *= 2; $e-- } while ($m >= 2) { $m /= 2; $e++ } }
            $s | ($m ? $e << 10 | ($m - 1) * 1024 : 0);
        } @x;
        put "a.f16", $f2;
        my $dict = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (7, 50)}";
        put "a.npy", "\x93NUMPY\1\0", pack("v", length $dict), $dict, $f4;
        $dict =~ s/<f4/>f8/;
        put "big.npy", "\x93NUMPY\1\0", pack("v", length $dict), $dict, pack "d>*", @x;
        my ($from, $to) = (3, 3 + length $f2);
        my $json = "{\"x\":{\"dtype\":\"F16\",\"shape\":[7,50],\"data_offsets\":[$from,$to]}}";
        put "a.safetensors", pack("Q<", length $json), $json, "abc", $f2;
        # kld: 3 chunks of 6 tokens and 2 rows each, with a vocabulary of 50 tokens
        put "a.kld", "_logits_", pack("V3", 6, 50, 3), pack("V*", map { int rand 50 } 1 .. 18),
            map { pack("f<2", 1e-4, -5), pack("v*", map { int rand 40000 } 1 .. 50) } 1 .. 6;
        put "ids", join "\n", map { $_ % 3 } 1 .. 40;'
    : >empty.f32
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return 1
    T=$BATS_TEST_TMPDIR
}

# same_in_shards MOST OPTION...: for each number of shards up to MOST, checks that their outputs concatenate to the output of one run.
same_in_shards() {
    local most=$1 n k
    shift
    sampl -s 9 -n 50 "$@" >"$T/want"
    [ -s "$T/want" ] || return 1
    for ((n = 1; n <= most; n++)); do
        for ((k = 1; k <= n; k++)); do sampl -s 9 -n 50 "$@" --shard $k/$n || return 1; done >"$T/got"
        same "$T/got" "$T/want" || { echo "$n shards: $*"; return 1; }
    done
}

# same_in_pieces ROWS FILE OPTION...: sends the raw f32 rows of FILE through pipes, ROWS rows to a run with --row-base. Checks that the
# outputs concatenate to the output of one run.
same_in_pieces() {
    local rows=$1 file=$2 size at
    shift 2
    size=$(wc -c <"$file")
    sampl -s 9 -n 50 -f f32 "$@" "$file" >"$T/want"
    [ -s "$T/want" ] || return 1
    for ((at = 0; at < size / 200; at += rows)); do
        tail -c +$((at * 200 + 1)) "$file" | head -c $((rows * 200)) | sampl -s 9 -n 50 -f f32 "$@" --row-base $at || return 1
    done >"$T/got"
    same "$T/got" "$T/want" || { echo "pieces of $rows: $*"; return 1; }
}

# fails_with STATUS MESSAGE OPTION...: checks that the program ends with this status, and that standard error is this one line.
fails_with() {
    local status=0
    sampl -s 9 -n 50 "${@:3}" >"$T/out" 2>"$T/err" || status=$?
    [ "$status" = "$1" ] && [ "$(<"$T/err")" = "sampl: $2" ] && return
    printf '%s\n' "${*:3}: status $status, want $1 and: $2" "$(<"$T/err")"
    return 1
}

@test "the rows of these tests give other ids with another seed" {
    sampl -s 9 -n 50 a.f32 >"$T/a"
    sampl -s 10 -n 50 a.f32 >"$T/b"
    [ "$(paste "$T/a" "$T/b" | awk '$1 != $2' | wc -l)" -ge 5 ]
    [ "$(sort -u "$T/a" | wc -l)" -ge 5 ]
}

@test "--shard: parts of every countable format concatenate to one run, empty parts included" {
    local file
    for file in a.f32 a.f16 a.bf16 a.npy big.npy a.safetensors a.kld; do same_in_shards 9 "$file"; done
}

# The file is sparse. The product of its rows and the number of shards exceeds 64 bits.
@test "--shard: row counts whose product with the shard number exceeds 64 bits do not overflow" {
    truncate -s 64G huge.f16
    sampl -n 1 -O tsv --samplers greedy --shard 2147483647/2147483647 huge.f16 | cut -f 1 >rows
    [ "$(sed -n '1p;$p;$=' rows | xargs)" = '34359738351 34359738367 17' ]
    [ "$(sampl -n 1 -O tsv --samplers greedy --shard 1234567891/2147483647 huge.f16 | sed -n 1p | cut -f 1)" = 19753086249 ]
}

@test "--shard: records, dumps and traces of parts concatenate to those of one run" {
    local file
    for file in $(few 1 a.f32 big.npy a.kld); do
        same_in_shards 9 -O tsv "$file"
        same_in_shards 4 -O json "$file"
        same_in_shards 4 --dump-probs "$file"
        same_in_shards 4 --dump-probs=3 --trace -O json "$file"
        same_in_shards 4 --dump-probs=3 -O tsv "$file"
    done
    same_in_shards 3 -O tsv empty.f32
    [ "$(wc -l <"$T/got")" = 1 ]
    sampl -n 50 --shard 2/3 -O tsv empty.f32 >"$T/out"
    [ ! -s "$T/out" ]
    sampl -n 50 --shard 12/12 --rows 3:3 a.f32 >"$T/out"
    [ ! -s "$T/out" ]
}

@test "--shard: distributions and scores of parts concatenate to those of one run" {
    local what
    for what in probs logits; do
        same_in_shards 9 --emit $what -O f32 --rows 1: a.f32 a.npy
        same_in_shards 4 --emit $what -O f16 -t 2 a.f16
        same_in_shards 4 --emit $what -O tsv a.safetensors
        same_in_shards 4 --emit $what -O json a.kld
    done
    same_in_shards 4 --emit score --accept @ids -O tsv a.f32 a.npy
    same_in_pieces 3 a.f32 --emit logprobs -O f32
    same_in_pieces 3 a.f32 --emit score --accept @ids -O f16
    # npy: each part is an array with the part's number of rows.
    local k
    for k in 1 2 3; do
        sampl -s 9 -n 50 --emit logits -O npy --rows 1: --shard $k/3 a.f16 | tee "$T/part" | head -c 128 | grep -aq "'shape': (2, 50)"
        tail -c +129 "$T/part"
    done >"$T/got"
    sampl -s 9 -n 50 --emit logits -O npy --rows 1: a.f16 | tail -c +129 | cmp - "$T/got"
    sampl -s 9 --emit logits -O npy --row-base 100 a.npy | head -c 128 | grep -aq "'shape': (7, 50)"
    sampl -s 9 --emit logits -O npy --row-base 100 --rows 102:105 a.npy | head -c 128 | grep -aq "'shape': (3, 50)"
    sampl -s 9 --emit logits -O npy --row-base 100 --rows 104: - <a.npy | head -c 128 | grep -aq "'shape': (3, 50)"
}

@test "--shard with --rows, several files or threads: parts concatenate to one run" {
    local rows
    for rows in $(few 2 2:-1 -4: :5 6: 3:100 9:); do
        same_in_shards 4 -O tsv --rows "$rows" a.npy
        same_in_shards 4 -O tsv --rows "$rows" -t 3 a.f16
    done
    same_in_shards 20 a.f32 empty.f32 a.npy b.f32
    same_in_shards 5 --rows 5:-2 --dump-probs=2 a.safetensors empty.f32 a.kld a.npy
    same_in_shards 5 -t 4 a.f32 a.f32 a.f32
    # The rows of a redirected file are counted before they are read.
    sampl -s 9 a.npy >"$T/want"
    for k in 1 2 3; do sampl -s 9 --shard $k/3 - <a.npy; done | cmp - "$T/want"
    sampl -s 9 --independent --rows -2: <a.npy >"$T/got"
    sampl -s 9 --independent --rows -2: a.npy | cmp - "$T/got"
}

@test "--shard: chains with a history can be cut where --accept gives the tokens" {
    same_in_shards 9 --samplers greedy a.f32
    same_in_shards 9 --repeat-penalty 1.5 --repeat-last-n 4 --prompt-tokens 1,2 --accept @ids a.f32 a.npy
    same_in_shards 5 --frequency-penalty 0.7 --repeat-last-n -1 --accept @ids --rows 3: -t 2 -O json a.f32 a.npy
    same_in_shards 5 --dry-multiplier 2 --dry-allowed-length 1 --dry-sequence-breaker none --accept @ids --dump-probs=4 a.f16 a.bf16
    same_in_shards 5 --scatter-strength 0.2 --scatter-absorption 0.5 --accept @ids a.safetensors
}

@test "--shard: parts of every engine's chain concatenate to one run" {
    local engine
    for engine in ollama akunu akunu-gpu batch; do
        same_in_shards 4 --engine $engine -O tsv --rows 1: a.f32 a.npy
        same_in_pieces 3 a.f32 --engine $engine --accept @ids
    done
    same_in_shards 4 --engine batch --repeat-penalty 1.5 --accept @ids -t 2 a.f32 a.npy
}

@test "--shard with --independent: parts of any chain concatenate to one run" {
    same_in_shards 5 --independent a.f32 a.npy
    same_in_shards 5 --independent --mirostat 2 --rows 1: a.f32
    same_in_shards 5 --independent --xtc-probability 0.5 --repeat-penalty 1.5 --prompt-tokens 3,4 -t 2 a.f32
    same_in_shards 5 --independent --samplers 'top_k;adaptive_p' --adaptive-target 0.5 -O json a.f32
}

@test "--shard with --accept recorded: parts may begin inside a chunk of a kld file" {
    local rows
    same_in_shards 8 --accept recorded a.kld
    same_in_shards 14 --accept recorded --repeat-penalty 1.7 --repeat-last-n -1 -O json a.kld a.kld
    same_in_shards 8 --accept recorded --dry-multiplier 2 --dry-allowed-length 1 --dry-sequence-breaker none --prompt-tokens 4 a.kld
    same_in_shards 8 --accept recorded --independent --xtc-probability 0.5 --repeat-penalty 1.7 a.kld
    for rows in 1: 2: 3:-1; do
        same_in_shards 6 --accept recorded --presence-penalty 1 --rows $rows a.kld
        same_in_shards 6 --accept recorded --presence-penalty 1 --rows $rows -t 2 a.kld a.kld
    done
}

@test "--shard: a chain with state runs as the first part, and with --independent as any part" {
    local args part
    while read -r args; do
        for part in "--shard 2/3" "--shard 3/3" "--row-base 1"; do
            # shellcheck disable=SC2086
            sampl -s 9 -n 50 $args $part --independent a.f32 >/dev/null
        done
        # The first part begins with the first row of the run.
        # shellcheck disable=SC2086
        sampl -s 9 -n 50 $args a.f32 | head -3 >"$T/want"
        # shellcheck disable=SC2086
        sampl -s 9 -n 50 $args --shard 1/2 a.f32 | cmp - "$T/want"
        # shellcheck disable=SC2086
        sampl -s 9 -n 50 $args --row-base 0 --rows :3 a.f32 | cmp - "$T/want"
    done <<'TABLE'
--xtc-probability 0.5
--xtc-probability 0.5 --repeat-penalty 1.5
--mirostat 1
--mirostat 2
--samplers top_k;adaptive_p --adaptive-target 0.5
--scatter-strength 0.3 --scatter-collision 0.5
TABLE
    while read -r args; do
        # shellcheck disable=SC2086
        sampl -s 9 -n 50 $args --shard 1/2 a.f32 >/dev/null
    done <<'TABLE'
--repeat-penalty 1.5
--dry-multiplier 1 --dry-sequence-breaker none
--scatter-strength 0.3 --scatter-absorption 1
TABLE
    # Rows before --first do not belong to the run.
    sampl -s 9 -n 50 --mirostat 2 --first 2 a.f32 >"$T/want"
    tail -c +401 a.f32 | sampl -s 9 -n 50 -f f32 --mirostat 2 --row-base 2 --first 2 | cmp - "$T/want"
}

@test "--shard is refused for JSON, pairs and pipes, whose rows cannot be counted" {
    printf '[1,2,3] [3,2,1]' >"$T/a.json"
    printf '0: 1\n1: 3\n' >"$T/a.pairs"
    for format in json pairs; do
        run -2 --separate-stderr sampl --shard 1/2 -f $format "$T/a.$format"
        # shellcheck disable=SC2154 # run sets it
        [ "$stderr" = "sampl: --shard: $T/a.$format: $format rows cannot be counted beforehand; cut the input up and use --row-base" ]
    done
    # shellcheck disable=SC2002
    cat a.npy | fails_with 2 "--shard: standard input: rows that come through a pipe cannot be counted; cut it up and use --row-base" --shard 1/2
}

@test "--row-base: pieces of raw, JSON and kld rows concatenate to one run" {
    local rows
    cat a.f32 b.f32 >"$T/long.f32"
    for rows in 1 4 7 20; do
        same_in_pieces $rows "$T/long.f32"
        same_in_pieces $rows "$T/long.f32" -O tsv
        same_in_pieces $rows "$T/long.f32" -O json --dump-probs=2 -t 2
        same_in_pieces $rows "$T/long.f32" --repeat-penalty 1.5 --prompt-tokens 1,2 --accept @ids
        same_in_pieces $rows "$T/long.f32" --independent --mirostat 2
        same_in_pieces $rows "$T/long.f32" --rows 3:9 -O tsv
    done
# pieces of JSON rows
    perl -e 'local $/ = \200; while (<STDIN>) { print "[", join(",", unpack "f<*", $_), "]\n" }' <"$T/long.f32" >"$T/long.json"
    sampl -s 9 -O tsv "$T/long.json" >"$T/want"
    { head -4 "$T/long.json" | sampl -s 9 -O tsv && tail -n +5 "$T/long.json" | sampl -s 9 -O tsv --row-base 4; } | cmp - "$T/want"
# pieces of a kld file, whose first chunk starts a sequence
    sampl -s 9 --accept recorded a.kld a.kld >"$T/want"
    { sampl -s 9 --accept recorded a.kld && sampl -s 9 --accept recorded --row-base 6 a.kld; } | cmp - "$T/want"
}

@test "--shard: messages number rows as in the whole run" {
    f32 1 2 nan >"$T/bad.f32"
    cat a.f32 "$T/bad.f32" b.f32 >"$T/middle.f32"
    run -1 --separate-stderr sampl -s 1 -n 50 --shard 2/2 --rows :8 "$T/middle.f32"
    [ "${stderr##*$'\n'}" = "sampl: $T/middle.f32: row 7: logit 2 is NaN" ]
}

@test "bytes after the last row are an error only in runs that read the last row" {
    local file name how
    { cat a.f32 && printf xyz; } >"$T/a.f32"
    { cat a.npy && printf xyz; } >"$T/a.npy"
    { cat a.kld && printf xyz; } >"$T/a.kld"
    head -c -3 a.kld >"$T/short.kld"
    head -c -3 big.npy >"$T/short.npy"
    while read -r name rows message; do
        file=$T/$name
        for how in "" "--rows 2:" "--rows $rows:" "--shard 3/3" "--rows :100 --shard 2/2" "--shard $((rows + 5))/$((rows + 5))"; do
            # shellcheck disable=SC2086
            fails_with 1 "$file: row $rows: $message" $how "$file"
        done
        fails_with 1 "$file: row $rows (row $rows of the run): $message" --rows 100: "$file" a.f32
        for how in "--rows :2" "--rows $((rows - 1)):$rows" "--rows :$rows" "--shard 1/3" "--shard 2/3" "--rows 0:0"; do
            # shellcheck disable=SC2086
            sampl -s 9 -n 50 $how "$file" >/dev/null
        done
        # Another file follows the bad one.
        sampl -s 9 -n 50 --shard 1/4 "$file" a.f32 >/dev/null
        fails_with 1 "$file: row $rows (row $rows of the run): $message" --shard 4/4 "$file" a.f32
    done <<'TABLE'
a.f32 7 the input ends after 3 of the row's 200 bytes
a.npy 7 there are bytes after the last row of the npy shape
a.kld 6 there are bytes after the last of the 6 rows promised
short.kld 5 the file holds 5 rows of the 6 promised
short.npy 6 the input ends after 397 of the row's 400 bytes
TABLE
}

@test "rows before the selected rows are skipped without reading in a file, and read in a pipe" {
    local name first
    for name in a.f32 big.npy a.safetensors a.kld; do
        sampl -s 9 -n 50 --independent --dump-probs=1 "$name" >"$T/all"
        sampl -s 9 -n 50 --independent --dump-probs=1 --rows 4: "$name" >"$T/file"
        [ -s "$T/file" ]
        tail -n "$(wc -l <"$T/file")" "$T/all" | cmp - "$T/file"
        # shellcheck disable=SC2002
        cat "$name" | sampl -s 9 -n 50 -f "${name##*.}" --independent --dump-probs=1 --rows 4: | cmp - "$T/file"
    done
    need_own_process
    need /usr/bin/time
    # a sparse file of 256 MB; converting a row touches its pages
    printf '\223NUMPY\1\0\074\0%-59s\n' "{'descr':'<f8','fortran_order':False,'shape':(8192,4096)}" >"$T/zeros.npy"
    truncate -s $((70 + 8192 * 4096 * 8)) "$T/zeros.npy"
    faults() {
        /usr/bin/time -f "%F %R" -o "$T/time" "$SAMPL" -s 9 --samplers greedy "$@" "$T/zeros.npy" >"$T/out"
        [ -s "$T/out" ] && awk '{ print $1 + $2 }' "$T/time"
    }
    first=$(faults --rows :1)
    [ "$(faults --rows -1:)" -lt $((first + 300)) ]
    [ "$(faults --rows -1: --emit logits -O f16)" -lt $((first + 300)) ]
    [ "$(faults --shard 8192/8192)" -lt $((first + 300)) ]
}

# parallel_sh ARGUMENT...: runs samples/scale/parallel.sh with the program under test.
parallel_sh() {
    SAMPL=$SAMPL PARALLEL_HOME=$T HOME=$T "$ROOT/samples/scale/parallel.sh" "$@"
}

@test "samples/scale/parallel.sh prints the output of one run" {
    need parallel
    local rows
    sampl -n 4096 -s 5 "$AUSTEN" >"$T/want"
    parallel_sh -n 4096 "$AUSTEN" -s 5 | cmp - "$T/want"
    for rows in 7 64 255 256 300; do
        parallel_sh -b $rows -j 3 -n 4096 "$AUSTEN" -s 5 | cmp - "$T/want"
    done
    sampl -n 50 -s 5 -O tsv --dump-probs=2 a.bf16 >"$T/want"
    parallel_sh -b 2 -n 50 -f bf16 a.bf16 -s 5 -O tsv --dump-probs=2 | cmp - "$T/want"
    sampl -n 50 -s 5 --repeat-penalty 1.5 --prompt-tokens '4 5' --accept @ids a.f32 >"$T/want"
    parallel_sh -b 3 -n 50 a.f32 -s 5 --repeat-penalty 1.5 --prompt-tokens '4 5' --accept @ids | cmp - "$T/want"
    # All parts have the same random seed.
    parallel_sh -b 1 -n 50 a.f32 --samplers 'temp=0;dist' | cmp - <(sampl -n 50 -s 5 --samplers 'temp=0;dist' a.f32)
    # The shell and GNU parallel do not expand options.
    name="it's {} {#} {= \$_=1 =} {1} {.} \$HOME \`id\` \\ %  x"
    printf '%s\n' '--samplers greedy' >"$T/$name"
    cd "$T"
    sampl -n 50 -s 5 --samplers greedy "$BATS_FILE_TMPDIR/a.f32" >want
    parallel_sh -b 3 -n 50 "$BATS_FILE_TMPDIR/a.f32" --preset "$name" --dry-sequence-breaker '{}' | cmp - want
    # An input without rows has a header line.
    : >empty.f16
    parallel_sh -n 50 empty.f16 -O tsv | cmp - <(sampl -n 50 -O tsv empty.f16)
}

@test "samples/scale/parallel.sh reads npy, safetensors and kld files" {
    need parallel
    local file
    for file in a.npy a.safetensors a.kld; do
        sampl -s 5 -O tsv "$file" >"$T/want"
        parallel_sh -j 2 "$file" -s 5 -O tsv | cmp - "$T/want"
    done
    cp a.kld "$T/-it's a {}"
    cd "$T"
    sampl -s 5 --accept recorded --repeat-penalty 1.5 -- "-it's a {}" >want
    parallel_sh -j 2 -f kld -- "-it's a {}" -s 5 --accept recorded --repeat-penalty 1.5 | cmp - want
}

@test "samples/scale/parallel.sh with --on-error skip continues after a block with bad rows" {
    need parallel
    for row in 1 nan 3 inf 5 6; do
        f32 "$row" 2
    done >bad.f32
    run -1 sampl -f f32 -n 2 -s 1 --on-error skip bad.f32
    local want=$output
    for how in '--on-error skip' --on-error=skip '--on-error stop --on_error skip'; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr parallel_sh -b 1 -n 2 bad.f32 -s 1 $how
        [ "$output" = "$(grep -v ^sampl: <<<"$want")" ]
    done
    run -1 --separate-stderr parallel_sh -j 1 -b 1 -n 2 bad.f32 -s 1 --on-error skip --on-error stop
    [ "${#lines[@]}" -eq 1 ]
    # The worst status is that of all: 0 < 4 < 1 < 2 < 3. A stand-in for sampl ends with the status that its block holds.
    # shellcheck disable=SC2016 # for the stand-in
    printf '%s\n' '#!/bin/sh' 'exit $(od -An -td1 -N1)' >stand-in
    chmod +x stand-in
    local order='' worst
    for worst in 0 4 1 2 3; do
        order+=\\0$worst
        printf '%b' "$order\\0" | perl -0777 -pe 's/(.)/$1 x 4/ges' >all.f32
        run "-$worst" env SAMPL="$PWD/stand-in" "$ROOT/samples/scale/parallel.sh" -b 1 -n 1 all.f32 --on-error skip
    done
}

@test "samples/scale/parallel.sh -S runs blocks on the machines that it names" {
    need parallel
    # A stand-in for ssh: HOST -- COMMAND. It sets SHELL for the command, as sshd does; GNU parallel needs it.
    # shellcheck disable=SC2016
    printf '%s\n' '#!/bin/sh' "echo \"\$1\" >>'$T/hosts'" 'shift; [ "$1" != -- ] || shift' 'export SHELL=/bin/sh' \
        'exec sh -c "$*"' >"$T/ssh"
    chmod +x "$T/ssh"
    sampl -n 50 -s 5 -O json a.f32 >"$T/want"
    PARALLEL_SSH=$T/ssh parallel_sh -b 1 -S 1/here,1/there -n 50 a.f32 -s 5 -O json >"$T/got"
    same "$T/got" "$T/want"
    grep -q here "$T/hosts"
    grep -q there "$T/hosts"
}

@test "samples/scale/parallel.sh refuses wrong arguments and reports the failure of a block" {
    need parallel
    refuses() {
        local status=0
        parallel_sh "${@:2}" >"$T/out" 2>"$T/err" || status=$?
        # shellcheck disable=SC2053 # a pattern
        [ "$status" = 2 ] && [ ! -s "$T/out" ] && [[ $(<"$T/err") == $1 ]] && return
        echo "${*:2}: status $status, $(<"$T/err")"
        return 1
    }
    refuses 'usage:*'
    refuses 'usage:*' a.f32
    refuses 'usage:*' -n 50
    refuses '*usage:*' -x -n 50 a.f32
    refuses "parallel.sh: -n '5x' is not a whole number from 1" -n 5x a.f32
    refuses "parallel.sh: -b '0' is not a whole number from 1" -n 50 -b 0 a.f32
    refuses "parallel.sh: -b is for raw rows" -b 5 a.npy
    refuses "parallel.sh: 'json' is not one of the formats whose rows can be counted: f32, f16, bf16, npy, safetensors and kld" -f json a.f32
    refuses "sampl: --shard: mirostat_v2 needs the rows before this part; with --independent it does not" a.npy --mirostat 2
    refuses "parallel.sh: cannot read 'none.f32'" -n 50 none.f32
    refuses "parallel.sh: a.f32: 1400 bytes are not a whole number of rows of 204 bytes" -n 51 a.f32
    refuses "parallel.sh: '-oids' would be written by all blocks; redirect the output" -n 50 a.f32 -oids
    refuses "sampl: --row-base: mirostat_v2 needs the rows before this part; with --independent it does not" -b 2 -n 50 a.f32 --mirostat 2
    refuses "sampl: unknown option '--bogus'" -n 50 a.f32 --bogus
    # results of all rows
    refuses "sampl: --vs, --sweep and --against cannot be used with --shard: *" -b 2 -n 50 a.f32 --vs '--temp 2'
    refuses "parallel.sh: '--report' reports on one run, not on blocks" -b 2 -n 50 a.f32 --report --against a.f32
    refuses "parallel.sh: '--draws' reports on one run, not on blocks" -b 2 -n 50 a.f32 --draws ids
    refuses "parallel.sh: '--expect' reports on one run, not on blocks" -b 2 -n 50 a.f32 -s 5 --expect @ids
    refuses "parallel.sh: '--expect' reports on one run, not on blocks" a.npy -s 5 --expect=@ids
    parallel_sh -b 7 -n 50 a.f32 -s 5 --vs '--temp 2' | cmp - <(sampl -n 50 -s 5 --vs '--temp 2' a.f32)
    parallel_sh -h | grep -q '^usage:'
    # a program named parallel that is not GNU parallel, such as that of moreutils
    printf '%s\n' '#!/bin/sh' 'exit 1' >"$T/parallel"
    chmod +x "$T/parallel"
    PATH=$T:$PATH refuses "parallel.sh: GNU parallel is not installed" -n 50 a.f32
    # A bad row makes the script fail.
    cat a.f32 <(f32 nan) <(head -c 196 a.f32) >"$T/bad.f32"
    local status=0
    parallel_sh -b 3 -n 50 "$T/bad.f32" -s 5 >"$T/out" 2>"$T/err" || status=$?
    [ "$status" = 1 ]
    grep -q '^sampl: standard input: row 7: logit 0 is NaN$' "$T/err"
}

@test "samples/scale/slurm-array.sh: the files of all tasks concatenate to the output of one run" {
    local task
    cd "$T"
    array() {
        SAMPL=$SAMPL SLURM_ARRAY_JOB_ID=77 SLURM_ARRAY_TASK_COUNT=$2 SLURM_ARRAY_TASK_ID=$1 "$ROOT/samples/scale/slurm-array.sh" "${@:3}"
    }
    for task in 1 2 3 4 5 6 7 8 9 10 11; do array $task 11 ids -n 50 "$BATS_FILE_TMPDIR/a.f32"; done
    [ "$(cd "$T" && echo ids.*)" = "ids.01 ids.02 ids.03 ids.04 ids.05 ids.06 ids.07 ids.08 ids.09 ids.10 ids.11" ]
    cat ids.* | cmp - <(sampl -n 50 -s 77 "$BATS_FILE_TMPDIR/a.f32")
    # One task runs again.
    mv ids.04 before
    PARTS=11 array 4 1 ids -n 50 "$BATS_FILE_TMPDIR/a.f32"
    same before ids.04
    rm ids.*
    SLURM_CPUS_PER_TASK=2 array 2 3 ids -n 50 -O tsv -s 5 "$BATS_FILE_TMPDIR/a.f32"
    sampl -n 50 -s 5 -O tsv --shard 2/3 "$BATS_FILE_TMPDIR/a.f32" | cmp - ids.2
    # A task that fails leaves no file.
    run -2 array 2 3 failed -n 50 --mirostat 1 "$BATS_FILE_TMPDIR/a.f32"
    [ ! -e failed.2 ]
    run -2 array 1 3 failed
    run ! "$ROOT/samples/scale/slurm-array.sh" failed x
    [[ $output == *"run this with sbatch --array=1-N" ]]
    ! ls failed* 2>/dev/null || return 1
}

@test "an npy file of no rows has their width and type, from any input" {
    local args
    printf '[0,1,2,3,4]\n[5,6,7,8,9]\n[1,1,1,1,1]\n' >rows.json
    sampl --samplers '' --emit logits -O npy rows.json >rows.npy
    sampl --samplers '' --emit logits -O f16 rows.json >rows.f16
    perl -e '$h = q({"x":{"dtype":"F32","shape":[3,5],"data_offsets":[0,60]}}); print pack("Q<", length $h), $h, pack("f<15", 0 .. 14)' >rows.safetensors
    for args in '--shard 1/5 rows.npy' '--shard 1/5 rows.safetensors' '--shard 1/5 -n 5 rows.f16' '--rows 3: rows.json' '--rows 3: -t 3 rows.json' '--rows :0 rows.json' '--rows :0 --vocab five rows.npy'; do
        printf 'a\nb\nc\nd\ne\n' >five
        echo "$args"
        # shellcheck disable=SC2086
        sampl --samplers '' --emit logits -O npy $args >none.npy
        grep -aq "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }" none.npy
        [ "$(wc -c <none.npy)" -eq 128 ]
        [ -z "$(sampl -s 1 none.npy)" ]
    done
    # shellcheck disable=SC2002 # a pipe is the point
    cat rows.json | sampl --samplers '' --emit logits -O npy --rows 3: >piped.npy
    cmp piped.npy none.npy
    perl -e '$h = q({"x":{"dtype":"F16","shape":[0,5],"data_offsets":[0,0]}}); print pack("Q<", length $h), $h' >none.safetensors
    sampl --samplers '' --emit logits none.safetensors | grep -aq "'<f2', 'fortran_order': False, 'shape': (0, 5)"
}
