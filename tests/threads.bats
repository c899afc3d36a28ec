#!/usr/bin/env bats
# Threads change the time a run takes and nothing else.

load helper

# alike ARGS...: 1, 2 and 5 threads write the same bytes, and there are some.
alike() {
    local t
    for t in 1 2 5; do
        sampl -s 7 -t "$t" "$@" >"out.$t"
    done
    [ -s out.1 ]
    same out.1 out.2
    same out.1 out.5
}

# A _logits_ file of 2 chunks of 8 tokens over 5 words, 3 rows each.
kld() {
    perl -e 'print "_logits_", pack("Vll", 8, 5, 2), pack("l*", map { $_ * 7 % 5 } 0 .. 15),
        map { my $r = $_; pack("ff", 1e-4, -6), pack("v*", map { ($r * 977 + $_ * 13007) % 65536 } 1 .. 5), pack("v", 0) } 1 .. 6'
}

@test "independent JSON rows under a grammar are the same on several threads" {
    printf '%s\n' a b >words
    printf '[1,null]\n[null,1]\n[1,null]\n' >rows.json
    for t in 1 2 3; do
        run -0 sampl -s 1 -t $t --vocab words --grammar 'root ::= "a"+ | "b"' --independent rows.json
        [ "${lines[*]}" = '0 1 0' ]
    done
}

@test "ids of a chain that carries nothing" {
    alike -n 4096 "$AUSTEN" "$AUSTEN"
}

@test "dumps with traces, tsv and json" {
    alike -n 4096 --rows :90 --dump-probs=4 --trace "$AUSTEN"
    alike -n 4096 --rows 5:90 --dump-probs=4 -O tsv "$AUSTEN"
    alike -n 4096 --rows 5:90 -O json "$AUSTEN"
}

@test "penalties, dry and absorption when all tokens are known" {
    alike -n 4096 --repeat-penalty 1.3 --dry-multiplier 1 --dry-sequence-breaker none --scatter-absorption 0.5 \
        --prompt-tokens @"$ROOT/samples/austen.prompt" --accept @"$ROOT/samples/austen.tokens" "$AUSTEN"
}

@test "any chain over independent rows" {
    alike -n 4096 --independent --mirostat 2 "$AUSTEN"
    alike -n 4096 --independent --xtc-probability 0.5 --repeat-penalty 1.2 --prompt-tokens 3,4,5 "$AUSTEN"
}

@test "a chain that carries state runs on one thread and -v says so" {
    local args
    for args in "--mirostat 1" "--xtc-probability 0.5" "--repeat-penalty 1.2" "--samplers top_k;adaptive_p" \
        "--scatter-strength 0.3 --scatter-collision 0.5"; do
        # shellcheck disable=SC2086
        alike -n 4096 --rows :40 $args "$AUSTEN"
        # shellcheck disable=SC2086
        sampl -v -s 7 -t 3 -n 4096 --rows :2 $args "$AUSTEN" 2>&1 >/dev/null | grep -q "one thread"
    done
    ! sampl -v -s 7 -t 3 -n 4096 --rows :2 "$AUSTEN" 2>&1 >/dev/null | grep "one thread" || return 1
}

@test "-t 0 takes the cores that the process may use" {
    local cores
    cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
    sampl -s 7 -n 4096 "$AUSTEN" >want
    sampl -s 7 -t 0 -v -n 4096 "$AUSTEN" 2>err | cmp - want
    grep -qx "sampl: note: --threads 0 is $cores" err
    [ -z "${SAMPL_PORTABLE-}" ] || return 0 # POSIX does not know of some of the cores
    need taskset
    # shellcheck disable=SC2016 # the inner shell's
    taskset -c "$(taskset -pc $$ | sed 's/.*[:,-] *//')" env SAMPL="$SAMPL" sh -c '"$SAMPL" -s 7 -t 0 -v -n 4096 "$1"' - "$AUSTEN" 2>err | cmp - want
    grep -qx "sampl: note: --threads 0 is 1" err
}

@test "variants: rows on threads, variants on threads, rows that make recipes" {
    local v=(--vs '--temp 1.5' --vs 'k: --top-k 3' --vs '--engine ollama')
    alike -n 4096 --rows :60 "$AUSTEN" "${v[@]}" -O json
    alike -n 4096 --rows :20 "$AUSTEN" "${v[@]}" --diff=5
    alike -n 4096 --rows :20 "$AUSTEN" "${v[@]}" --dump-probs=3 -O tsv
    alike -n 4096 --rows :30 "$AUSTEN" "${v[@]}" --vs '--mirostat 2' --emit stats
    alike -n 4096 --rows :30 "$AUSTEN" --repeat-penalty 1.1 --against "$AUSTEN" --emit ids
    perl -e 'print "{\"seq\":\"s", $_ % 3, "\",\"logits\":[", join(",", map { $_ * 7 % 5 } $_ .. $_ + 9), "]", $_ % 4 ? "" : ",\"params\":{\"top_k\":$_}", "}\n"
        for 1 .. 30' >rows.json
    alike rows.json --vs '--temp 2' --vs '--mirostat 2' --vs '--repeat-penalty 1.3' --emit ids
}

@test "a pipe, JSON, and many small files" {
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
    alike -n 5 "${files[@]}"
    same out.1 <(sampl -s 7 -t 4 ./*.json)
}

@test "the tokens that kld files record, over two files" {
    kld >a.kld
    alike --accept recorded --repeat-penalty 1.5 --dump-probs a.kld a.kld
    alike --accept recorded --independent --repeat-penalty 1.5 --dump-probs a.kld a.kld
}

@test "a bad row ends the run after the rows before it" {
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

@test "JSON rows that say nothing of themselves, and those behind one that does" {
    local i
    for i in {0..39}; do
        echo "[$((i % 5)),1.5,$((i % 3)),2,$((i % 7))]"
        [ $((i % 9)) -ne 0 ] || echo "{\"probs\":[0.2,0.1,0.$i],\"ids\":[4,0,2],\"note\":1}"
    done >plain.json
    alike plain.json
    # shellcheck disable=SC2002 # a pipe is the point
    same out.1 <(cat plain.json | sampl -s 7 -t 2)
    { printf '[' && for i in {1..50}; do echo "{ \"probs\" : [0.1,0.2,$i] }, [1,$i,2.5],"; done && echo '[1,2,3]]'; } >list.json
    alike --on-error skip --dump-probs list.json
    alike --rows 3:7,90: list.json
    # what is wrong with a row is told in its turn, and only of the first
    for i in '[]' '[1,[2]]' '{"probs":[1,-2]}' '[1,2' '[1,2]]' '{"logits":[1,2]x' '[1,]'; do
        { cat plain.json && echo "$i" && echo '[1,2,x]'; } >wrong.json
        run -1 --separate-stderr sampl -s 7 wrong.json
        said=$stderr printed=$output
        run -1 --separate-stderr sampl -s 7 -t 3 wrong.json
        [ "$stderr" = "$said" ] && [ "$output" = "$printed" ]
    done
    # the parameters want the tokens of all rows before them, whoever sampled those
    { cat plain.json && printf '{"logits":[3,2,1,2,3],"params":{"%s}}\n[1,2,3,2,1]\n[3,2,1,3,2]\n' 'repeat_penalty":3,"repeat_last_n":99,"frequency_penalty":0.3'; } >late.json
    alike --dump-probs -O json late.json
    alike --independent --dump-probs -O json late.json
    alike --vs "--temp 3" --vs "--top-k 1" late.json
    alike --vs "--repeat-penalty 2" late.json
    { cat plain.json && printf '{"logits":[1,"x"]}'; } >broken.json
    for i in 1 2 5; do
        run -1 --separate-stderr sampl -s 7 -t "$i" broken.json
        [ "$stderr" = "sampl: broken.json: row 45: byte $(($(stat -c %s plain.json) + 13)): '\"' where JSON wants a number" ]
        [ "${#lines[@]}" -eq 45 ]
    done
}
