#!/usr/bin/env bats
# Lists of rows in --rows, npy arrays of several sequences, and --params.

# shellcheck disable=SC2154 # stderr and stderr_lines are run's
load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    head -c $((24 * 8192)) "$AUSTEN" >rows.f16
    head -24 "$ROOT/samples/austen.tokens" >ids
    npy '(4, 6, 4096)' rows.f16 >seq.npy
    npy '(2, 12, 4096)' rows.f16 >two.npy
    npy '(24, 4096)' rows.f16 >flat.npy
    # a kld file: 3 chunks of 8 tokens and 3 rows each, with a vocabulary of 5 tokens
    perl -e 'print "_logits_", pack("Vll", 8, 5, 3), pack("l*", map { $_ * 7 % 5 } 0 .. 23),
        map { my $r = $_; pack("ff", 1e-4, -6), pack("v*", map { ($r * 977 + $_ * 13007) % 65536 } 1 .. 5), pack("v", 0) } 1 .. 9' >a.kld
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return 1
    T=$BATS_TEST_TMPDIR
}

# npy SHAPE FILE: prints the f16 numbers of the file as an npy file.
npy() {
    printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f2', 'fortran_order': False, 'shape': $1}"
    cat "$2"
}

# part FROM N: prints N rows of rows.f16.
part() {
    tail -c +$(($1 * 8192 + 1)) rows.f16 | head -c $(($2 * 8192))
}

@test "--rows accepts an empty list, and a list for rows of a pipe" {
    : >"$T/none"
    [ "$(sampl -n 4096 -s 1 -O tsv --rows "@$T/none" rows.f16)" = $'row\tid\tprob\tn' ]
    # The rows of a pipe are read in order.
    sampl -n 4096 -s 1 --independent -f f16 -O tsv --rows 3,9,20: <rows.f16 >"$T/want"
    # shellcheck disable=SC2002
    cat rows.f16 | sampl -n 4096 -s 1 --independent -f f16 -O tsv --rows 3,9,20: | cmp - "$T/want"
    [ "$(wc -l <"$T/want")" -eq 7 ]
    run -1 sampl -n 4096 -s 1 --rows 2,200: <(part 0 3; printf x) -f f16
    [[ ${lines[1]} == *": row 3: the input ends after 1 "* ]]
}

@test "--rows with a list and --shard: parts concatenate to one run" {
    local k how
    for how in '' '--repeat-penalty 1.5 --accept @ids' --independent '--accept @ids --dry-multiplier 1 --dry-sequence-breaker none'; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 1 --temp 2 $how -O tsv --rows 1:4,7,9:15,-2: rows.f16 >"$T/want"
        # shellcheck disable=SC2086
        for k in 1 2 3 4 5; do sampl -n 4096 -s 1 --temp 2 $how -O tsv --rows 1:4,7,9:15,-2: --shard $k/5 rows.f16; done | cmp - "$T/want"
        # shellcheck disable=SC2086
        sampl -n 4096 -s 1 --temp 2 $how -t 3 -O tsv --rows 1:4,7,9:15,-2: rows.f16 | cmp - "$T/want"
        [ "$(wc -l <"$T/want")" -eq 13 ]
    done
    sampl -s 1 --accept recorded --repeat-penalty 1.5 -O tsv --rows 1,2,4,7:9 a.kld >"$T/want"
    for k in 1 2 3 4; do sampl -s 1 --accept recorded --repeat-penalty 1.5 -O tsv --rows 1,2,4,7:9 --shard $k/4 a.kld; done | cmp - "$T/want"
}

@test "--rows with a list: tokens of --accept for rows outside the list are in the history" {
    # With a greedy chain a row gives the same record in every selection.
    local known=(--samplers 'penalties;greedy' --repeat-penalty 1.5 --repeat-last-n -1 -s 1 -O tsv)
    sampl -n 4096 "${known[@]}" --accept @ids rows.f16 | sed -n '1p;4p;10p;23p' >"$T/want"
    sampl -n 4096 "${known[@]}" --accept @ids --rows 2,8,21 rows.f16 | cmp - "$T/want"
    sampl "${known[@]}" --accept recorded a.kld | sed -n '1p;3p;4p;7p;10p' >"$T/want"
    sampl "${known[@]}" --accept recorded --rows 1,2,5,8 a.kld | cmp - "$T/want"
}

@test "npy shape (S, T, V) makes S sequences, each with the seed + the number of its first row" {
    local k how
    for how in '' '--repeat-penalty 1.5 --prompt-tokens 304,286' '--mirostat 2' '--xtc-probability 0.5'; do
        # shellcheck disable=SC2086
        for k in 0 1 2 3; do part $((k * 6)) 6 | sampl -f f16 -n 4096 -s $((1 + k * 6)) --temp 2 $how -O tsv | sed 1d; done | cut -f 2-4 >"$T/want"
        # shellcheck disable=SC2086
        sampl -s 1 --temp 2 $how -O tsv seq.npy >"$T/got"
        cut -f 2-4 "$T/got" | sed 1d | cmp - "$T/want"
    done
    [ "$(cut -f 1,5 "$T/got" | sed -n '1p;2p;8p;25p' | tr '\t\n' '  ')" = 'row seq 0 0 6 1 23 3 ' ]
    sampl -s 1 -O json --rows 23 seq.npy | grep -q ',"seq":"3"}$'
    # engine batch: seed + k
    for k in 0 1 2 3; do part $((k * 6)) 6 | sampl --engine batch -f f16 -n 4096 -s $((5 + k)) --temp 1 -O tsv | sed 1d; done | cut -f 2-4 >"$T/want"
    sampl --engine batch -s 5 --temp 1 -O tsv seq.npy | sed 1d | cut -f 2-4 | cmp - "$T/want"
    sampl --engine batch -s 5 --temp 1 -O tsv --first 20 seq.npy | sed 1d | cut -f 2 | head -4 >"$T/got"
    part 20 4 | sampl --engine batch -f f16 -n 4096 -s 8 --temp 1 -O tsv | sed 1d | cut -f 2 | cmp - "$T/got"
    # The history has the tokens of the row's sequence only.
    for k in 0 1 2 3; do
        part $((k * 6)) 6 | sampl -f f16 -n 4096 -s $((1 + k * 6)) --repeat-penalty 2 --accept @<(tail -n +$((k * 6 + 1)) ids) -O tsv | sed 1d
    done | cut -f 2-4 >"$T/want"
    sampl -s 1 --repeat-penalty 2 --accept @ids -O tsv seq.npy >"$T/got"
    sed 1d "$T/got" | cut -f 2-4 | cmp - "$T/want"
    for k in 1 2 3 4 5; do sampl -s 1 --repeat-penalty 2 --accept @ids -O tsv --shard $k/5 seq.npy; done | cmp - "$T/got"
    sampl -s 1 --repeat-penalty 2 --accept @ids -t 3 -O tsv seq.npy | cmp - "$T/got"
    sampl -s 1 --samplers 'temperature' -O tsv seq.npy >"$T/got"
    for k in 1 2 3 4 5; do sampl -s 1 --samplers 'temperature' -O tsv --shard $k/5 seq.npy; done | cmp - "$T/got"
    # A selected row keeps its sequence.
    sampl -s 1 --repeat-penalty 2 --accept @ids --samplers 'penalties;greedy' -O tsv seq.npy | sed -n '1p;3p;4p;13p;24p' >"$T/want"
    sampl -s 1 --repeat-penalty 2 --accept @ids --samplers 'penalties;greedy' -O tsv --rows 1,2,11,22 seq.npy | cmp - "$T/want"
}

@test "safetensors shape [S, T, V] makes the sequences of npy" {
    local json='{"x":{"dtype":"F16","shape":[4,6,4096],"data_offsets":[0,196608]}}'
    { perl -e 'print pack("Q<", length $ARGV[0]), $ARGV[0]' "$json"; cat rows.f16; } >"$T/seq.safetensors"
    local how
    for how in '' '--rows 20:' '--shard 2/3' '--repeat-penalty 2 --accept @ids' '--engine batch' '-t 3'; do
        # shellcheck disable=SC2086
        sampl -s 5 --temp 2 $how -O json seq.npy >"$T/want"
        # shellcheck disable=SC2086
        sampl -s 5 --temp 2 $how -O json "$T/seq.safetensors" | cmp - "$T/want"
    done
    # shellcheck disable=SC2002
    cat "$T/seq.safetensors" | sampl -s 5 --temp 2 -O json --rows 23 | grep -q ',"seq":"3"}$'
}

@test "npy shapes (N, 1, V) and (1, N, V) make one sequence" {
    local shape
    sampl -s 1 --repeat-penalty 1.5 -O tsv flat.npy >"$T/want"
    for shape in '(24, 1, 4096)' '(1, 24, 4096)'; do
        npy "$shape" rows.f16 | sampl -s 1 --repeat-penalty 1.5 -O tsv | cmp - "$T/want"
    done
}

@test "npy arrays that follow each other on a pipe give the records of separate files" {
    sampl -s 1 --temp 2 --repeat-penalty 1.5 -O tsv seq.npy two.npy flat.npy | cut -f 1-5 >"$T/want"
    cat seq.npy two.npy flat.npy | sampl -s 1 --temp 2 --repeat-penalty 1.5 -O tsv | cmp - "$T/want"
    cat seq.npy two.npy | sampl -s 1 --engine batch -O tsv | cmp - <(sampl -s 1 --engine batch -O tsv seq.npy two.npy | cut -f 1-5)
    # an array of another type and width, and bytes that are no array
    { cat seq.npy; printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2)}"; f32 0 0; printf xyz; } >"$T/odd"
    # shellcheck disable=SC2016
    run -1 --separate-stderr bash -c 'cat "$1" | "$SAMPL" -s 1 --samplers greedy' - "$T/odd"
    [ "${lines[24]}" = 0 ]
    [ "$stderr" = "sampl: standard input: row 25: there are bytes after the last row of the npy shape" ]
    # The number of rows in a printed header cannot grow.
    # shellcheck disable=SC2016
    run -1 --separate-stderr bash -c 'cat seq.npy two.npy | "$SAMPL" -s 1 --emit logits -O npy | cat >"$1"; exit "${PIPESTATUS[1]}"' - "$T/out"
    [[ $stderr == *'standard output: there are more rows than the npy header states; write to a file, or use -O f32' ]]
    cat seq.npy two.npy | sampl -s 1 --emit logits -o "$T/both.npy" -O npy
    sampl -s 1 --samplers greedy "$T/both.npy" | wc -l | grep -qx 48
}

@test "--params: line i gives row i the members of a JSON row" {
    local k
    perl -MJSON::PP -e '
        open my $f, "<:raw", "rows.f16" or die;
        for my $r (0 .. 23) {
            my $o = { seq => $r % 3 ? "s" . $r % 3 : 7, params => { temperature => 0.5 + $r % 5, $r % 2 ? (top_k => 9) : () } };
            $o->{prompt_tokens} = [304, $r] if $r == 1;
            $o->{accept} = 286 if $r % 4 == 2;
            $o->{end} = JSON::PP::true if $r == 9;
            print JSON::PP->new->canonical->encode($o), "\n";
        }' >params
    sampl -n 4096 --emit logits --samplers '' -O json rows.f16 |
        perl -pe 'BEGIN { open F, "params" } $n = <F>; chomp $n; s/"row":\d+/substr $n, 1, -1/e' >"$T/rows.json"
    for how in '--repeat-penalty 1.5' '--independent' '--engine batch'; do
        # shellcheck disable=SC2086
        sampl -s 3 $how -O tsv "$T/rows.json" >"$T/want"
        # shellcheck disable=SC2086
        sampl -n 4096 -s 3 $how -O tsv --params params rows.f16 | cmp - "$T/want"
        # shellcheck disable=SC2086
        sampl -s 3 -t 2 $how -O tsv --params - flat.npy <params | cmp - "$T/want"
    done
    # with a selection of rows
    sampl -s 3 -O tsv --rows 4,11:20 "$T/rows.json" >"$T/want"
    sampl -s 3 -O tsv --rows 4,11:20 --params params flat.npy | cmp - "$T/want"
    # A shard uses the lines of the rows before it.
    printf '%s\n' '{"params":{"temperature":3}}' '{}' '{"seq":"a","params":{"top_k":0,"min_p":0}}' '{"seq":"a","accept":3}' '{"accept":3}' '{"seq":"a","end":true}' '{"seq":"a"}' >"$T/some"
    for how in '--rows :7' '--rows 1:7' '--rows :7 --independent' '--rows 0,2:7'; do
        # shellcheck disable=SC2086
        sampl -s 3 -O tsv $how --params "$T/some" flat.npy >"$T/want"
        # shellcheck disable=SC2086
        for k in 1 2 3; do sampl -s 3 -O tsv $how --params "$T/some" --shard $k/3 flat.npy; done | cmp - "$T/want"
    done
    # A sequence name of --params overrides the sequence of the array.
    sampl -s 3 -O tsv --rows :7 --params "$T/some" seq.npy | cut -f 5 | tr '\n' ' ' | grep -qx 'seq 0 0 a a 0 a a '
}

@test "a note says once that rows of a file follow another text than the tokens that a penalty looks back on" {
    local args note='sampl: note: %s: without --accept the history is what this run chooses, not the text that the rows were computed for\n'
    # looks NAME OPTION...: there is the note on these stages. quiet OPTION...: there is none.
    looks() {
        sampl -n 4096 -s 1 --rows :5 "${@:2}" "$AUSTEN" 2>said >/dev/null
        grep 'without --accept' said >notes || { echo "no note: ${*:2}" && return 1; }
        # shellcheck disable=SC2059
        printf "$note" "$1" | same notes /dev/stdin
    }
    quiet() { sampl -n 4096 -s 1 "$@" 2>said >/dev/null && { ! grep 'without --accept' said || { echo "a note: $*" && return 1; }; }; }
    looks penalties --repeat-penalty 1.1
    looks dry --dry-multiplier 1
    looks no_repeat_ngram --no-repeat-ngram 2
    looks scatter --scatter-strength 0.1 --scatter-absorption 0.1
    looks penalties_vllm --engine vllm --presence-penalty 1
    looks 'penalties, dry' --vs '--repeat-penalty 1.1' --vs '--dry-multiplier 1'
    looks penalties --repeat-penalty 1.1 --threads 3
    quiet --rows :5 "$AUSTEN"
    quiet --rows :5 --repeat-penalty 1.1 --repeat-last-n 0 "$AUSTEN"
    quiet --rows :5 --scatter-strength 0.1 "$AUSTEN"
    quiet --rows :5 --min-tokens 3 --eog-tokens 5 "$AUSTEN"
    quiet --rows :1 --repeat-penalty 1.1 "$AUSTEN"
    quiet --rows :5 --repeat-penalty 1.1 --independent "$AUSTEN"
    quiet --repeat-penalty 1.1 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN"
    head -c 81920 "$AUSTEN" | quiet -f f16 --repeat-penalty 1.1
    # Rows of named sequences, and rows that bring the token that follows, are not those of one recorded text.
    printf '{"seq":%s,"logits":[1,2,3]}\n' 1 2 1 >seq.json
    printf '{"accept":%s,"logits":[1,2,3]}\n' 1 2 1 >accept.json
    for args in seq.json accept.json; do sampl -s 1 --repeat-penalty 1.1 $args 2>said >/dev/null && [ ! -s said ]; done
    printf '[1,2,3]\n[1,2,3]\n' >plain.json
    sampl -s 1 --repeat-penalty 1.1 plain.json 2>&1 >/dev/null | grep -q 'without --accept'
    sampl -s 1 --repeat-penalty 1.1 <plain.json 2>&1 >/dev/null | grep -q 'without --accept'
}

# selects ROWS ARGUMENT...: checks that random selections of rows print their records in the run of all rows, on 1 and 2 threads.
selects() {
    local rows=$1 n list i
    shift
    sampl -s 1 -O json --on-error skip "$@" >"$T/whole" 2>"$T/err" || [ "$(tail -1 "$T/err" | grep -c 'rows were bad')" = 1 ]
    [ "$(wc -l <"$T/whole")" = "$rows" ]
    for i in $(few 2 {1..12}); do
        list=$(perl -e 'srand shift; print join ",", grep { rand() < 0.3 } 0 .. shift() - 1' "$i" "$rows")
        [ -n "$list" ] || continue
        sed -n "$(perl -e 'print map { $_ + 1 . "p;" } split /,/, shift' "$list")" "$T/whole" >"$T/want"
        for n in 1 2; do
            sampl -s 1 -O json --on-error skip -t $n --rows "$list" "$@" >"$T/got" 2>/dev/null || [ $? -eq 1 ]
            same "$T/got" "$T/want" || { echo "--rows $list -t $n $*"; return 1; }
        done
    done
}

@test "--rows: the history has the ids of the rows left out, in every format" {
    # All tokens are given, and the chain draws nothing, so that a row gives one record in every selection.
    local chain=(--samplers 'penalties;greedy' --presence-penalty 0.9 --frequency-penalty 0.3 --repeat-last-n -1) accept
    cd "$T"
    perl -e '
        use strict;
        srand 3;
        sub put { my $name = shift; open my $f, ">:raw", $name or die; print $f @_; close $f or die }
        sub numbers { join ",", map { sprintf "%.3f", rand 4 } 1 .. shift }
        my (@x, @rows, @many, @params, %begun) = map { [split /,/, numbers(8)] } 1 .. 16;
        put "a.f32", map { pack "f<*", @$_ } @x;
        put "a.json", map { "[" . join(",", @$_) . "]\n" } @x;
        for my $i (0 .. 15) {
            my @m;
            my $seq = (undef, "a", "b", 7)[rand 4];
            push @m, "\"seq\":\"$seq\"" if defined $seq;
            push @m, "\"accept\":" . int rand 8 if rand() < 0.2;
            push @m, "\"params\":{\"presence_penalty\":" . int(rand 4) / 2 . "}" if rand() < 0.2;
            push @m, "\"prompt_tokens\":[1,2]" if rand() < 0.4 && !$begun{$seq // ""}++;
            $begun{$seq // ""} = 1;
            do { push @m, "\"end\":true"; delete $begun{$seq // ""} } if rand() < 0.15;
            push @params, "{" . join(",", @m) . "}\n";
            push @many, "{" . join(",", @m, "\"logits\":[" . ($i == 9 ? "" : join ",", @{$x[$i]}) . "]") . "}\n";
        }
        put "many.json", @many;
        put "params", @params;
        sub reply {
            "{\"completion_probabilities\":[" . join(",", map {
                my @id = sort { rand() <=> 0.5 } 0 .. 7;
                my @p = map { "{\"id\":$id[$_],\"token\":\"t\",\"logprob\":-" . ($_ + 1 + rand) . "}" } 0 .. 5;
                my $chosen = $p[rand 6];
                substr($chosen, 0, -1) . ",\"top_logprobs\":[" . join(",", @p) . "]}"
            } 1 .. shift) . "]}\n"
        }
        put "replies.json", map { reply $_ } 5, 1, 6, 4;
        sub list { "{\"topk_ids\":[" . join(",", map { "[0,3,5]" } 1 .. $_[0]) . "],\"topk_logprobs\":[" . join(",", map { "[" . numbers(3) . "]" } 1 .. $_[0]) . "]}\n" }
        put "lists.json", map { list $_ } 7, 3, 6;'
    accept=$(perl -e 'srand 9; print join ",", map { int rand 8 } 1 .. 16')
    for args in '-n 8 a.f32' a.json many.json replies.json lists.json '-n 8 --params params a.f32'; do
        # shellcheck disable=SC2086 # words
        selects 16 "${chain[@]}" --accept "$accept" $args
        # shellcheck disable=SC2086
        selects 16 "${chain[@]}" --accept "$accept" --prompt-tokens 5,3 --independent $args
    done
    selects 16 "${chain[@]}" --accept recorded replies.json
    selects 9 "${chain[@]}" --accept recorded "$BATS_FILE_TMPDIR/a.kld"
    selects 25 "${chain[@]}" --accept "${accept//[567]/0},${accept//[567]/1}" "$BATS_FILE_TMPDIR/a.kld" many.json
    # JSON rows that come through a pipe, and the numbers of the rows in another format
    for args in 2 1,5,9 3:7,15; do
        # shellcheck disable=SC2002
        cat a.json | sampl -s 1 "${chain[@]}" --accept "$accept" --emit logits -O text --rows $args >got
        sampl -s 1 "${chain[@]}" --accept "$accept" --emit logits -O text --rows $args -n 8 a.f32 | same got /dev/stdin
    done
    # An id outside the vocabulary is an error of the row left out that it follows.
    run -1 --separate-stderr sampl -s 1 --accept 1,8,0 --rows 0,2 a.json
    [ "$stderr" = "sampl: a.json: row 1: --accept holds token 8, the vocabulary ends at 7" ]
}

@test "--rows: the noise of a selected row is that of the run of all rows" {
    local engine
    cd "$T"
    perl -e 'srand 8; print map { my $s = int rand 3; "{" . ($s ? "\"seq\":$s," : "") . (rand() < 0.1 ? "\"end\":true," : "") .
        "\"logits\":[" . join(",", map { sprintf "%.2f", rand 3 } 1 .. 9) . "]}\n" } 1 .. 20' >noise.json
    for engine in vllm-v2 sglang akunu-gpu; do selects 20 --engine $engine --temp 1 noise.json; done
}

@test "--params of a FIFO gives live binary rows their parameters: each row is answered before the next line is written" {
    need python3
    mkfifo live.params
    cat >client.py <<'END'
import json, struct, subprocess, sys
sampl = subprocess.Popen([sys.argv[1], "-f", "f32", "-n", "5", "-s", "3", "--params", "live.params", "-O", "json", "--line-buffered"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lines, rows = open("live.params", "w"), open("rows.f32", "wb")
kept = open("kept.params", "w")
for i in range(40):
    line = json.dumps({"seq": "ab"[i % 2], "params": [{"temperature": 0}, {"top_k": 2}, {"top_k": 4, "temperature": 3}][i % 3]}) + "\n"
    row = struct.pack("<5f", *((i * 7 + k * 3) % 5 / 2 for k in range(5)))
    for file in (lines, kept):
        file.write(line)
        file.flush()
    rows.write(row)
    sampl.stdin.write(row)
    sampl.stdin.flush()
    print(sampl.stdout.readline().decode(), end="")
lines.close()
sampl.stdin.close()
sys.exit(sampl.wait())
END
    python3 client.py "$SAMPL" >answers
    [ "$(wc -l <answers)" = 40 ]
    sampl -f f32 -n 5 -s 3 --params kept.params -O json rows.f32 | cmp - answers
    [ "$(sampl -f f32 -n 5 -s 3 rows.f32 -O json | head -n 3 | jq -c .n | paste -sd,)" != "$(head -n 3 answers | jq -c .n | paste -sd,)" ]
    [ "$(head -n 3 answers | jq -c .n | paste -sd,)" = 1,2,4 ]
}

@test "--independent adds the row's number to the seed mod 2^64 or, with seeds of 32 bits, mod 2^32" {
    local engine seed row i
    row=[$(yes 0, | head -n 999 | tr -d '\n')0]
    for ((i = 0; i < 12; i++)); do echo "$row"; done >rows
    # The sum of row 8 is 2^32 + 2.
    while read -r engine seed; do
        run -0 --separate-stderr sampl --engine "$engine" --temp 1 -s 4294967290 --independent rows
        [ "${lines[8]}" = "$(head -n 1 rows | sampl --engine "$engine" --temp 1 -s "$seed")" ] || { echo "$engine"; return 1; }
        echo "$engine ${lines[8]}" >>sums
    done <<'END'
batch 2
akunu-gpu 2
ollama 4294967298
vllm-v2 4294967298
sglang 4294967298
END
    [ "$(wc -l <sums)" -eq 5 ]
    # The low 32 bits alone give another token.
    for engine in ollama vllm-v2 sglang; do
        ! grep -qxF "$engine $(head -n 1 rows | sampl --engine $engine --temp 1 -s 2)" sums || { echo "$engine: mod 2^32"; return 1; }
    done
}

@test "--rows shows rows of the whole run, for random inputs, chains, engines, sequences, outputs, shards and threads" {
    timeout 600 /usr/bin/python3 "$ROOT/tests/rows.py" "$SAMPL" $((1600 / STEP)) 1
}

@test "--rows: a table, statistics and notes count the rows that are shown; a bad row that is not shown is silent" {
    printf '%s\n' '[1,2,3]' '[null]' '[3,1,2]' '[3,9,2]' >rows.json
    run -0 --separate-stderr sampl -s 1 --temp 0 --rows 2: rows.json
    [ "${lines[*]} $stderr" = "0 1 " ]
    run -1 --separate-stderr sampl -s 1 --temp 0 --rows 1: rows.json
    [ "$stderr" = "sampl: rows.json: row 1: no finite logit" ]
    [ "$(sampl -s 1 --vs '--temp 2' --columns rows -O tsv --rows 2: rows.json | cut -f 4 | paste -sd ' ')" = 'rows 2 2' ]
    sampl -s 1 --stats --rows 3 rows.json 2>&1 >/dev/null | grep -qE '^rows +1$'
    # --expect LIST names the tokens of the shown rows; --accept those of the run.
    run -0 sampl -s 1 --temp 0 --rows 2: --expect 0,1 rows.json
    run -4 sampl -s 1 --temp 0 --rows 2: --expect 0,2 rows.json
}

@test '"sample": false makes a row a part of the prompt: it draws nothing, and its params and its token count' {
    printf '%s\n' '{"seq":"a","sample":false,"logits":[1,2,3]}' '{"seq":"a","logits":[1,2,3]}' '{"seq":"a","logits":[3,1,2]}' |
        sampl -s 5 --temp 3 -O json >got
    printf '%s\n' '{"seq":"a","logits":[1,2,3]}' '{"seq":"a","logits":[3,1,2]}' | sampl -s 5 --temp 3 -O json >want
    same <(cut -d , -f 2- got) <(cut -d , -f 2- want)
    [ "$(jq -s 'map(.row)' -c got)" = '[1,2]' ]
    printf '%s\n' '{"sample":false,"params":{"top_k":1},"accept":2,"logits":[1,2,3]}' '{"logits":[1,2,3]}' |
        sampl -s 5 -O json --repeat-penalty 9 | grep -qx '{"row":1,"id":1,"prob":1,"n":1}'
    f32 1 2 3 1 2 3 >rows.f32
    printf '%s\n' '{"sample":false}' '{}' >notes
    sampl -n 3 -s 1 --temp 0 --params notes -o two.npy -O npy --emit logits rows.f32
    [ "$(sampl two.npy -s 1 --temp 0 | wc -l)" = 1 ]
}
