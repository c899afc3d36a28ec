#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Variants and sweeps: each is what a run of its own would be, and the table says of them what numpy computes.
load helper

VOCAB=$ROOT/samples/austen.gguf

# own SPECS BASE...: the ids of the variants that the file SPECS has, one a line as options, are those of their own runs.
own() {
    local specs=$1 spec vs=() i=1
    shift
    while IFS= read -r spec; do vs+=(--vs "$spec"); done <"$specs"
    sampl "$@" "${vs[@]}" --emit ids 2>notes >together
    sampl "$@" 2>/dev/null >alone
    cut -f 1 together | cmp - alone || { echo "base: $*"; return 1; }
    while IFS= read -r spec; do
        i=$((i + 1))
        eval "sampl \"\$@\" $spec" 2>/dev/null >alone
        cut -f $i together | cmp - alone || { echo "$spec: $*"; return 1; }
    done <"$specs"
    [ "$(cut -f 2- together | tr '\t' '\n' | sort -u | wc -l)" -gt 3 ]
}

# specs SEED COUNT: options of random chains.
specs() {
    perl -e '
        srand(shift);
        my @parts = ("--temp 1.3", "--temp 0", "--top-k 7", "--top-p 0.7", "--min-p 0", "--min-p 0.2", "--xtc-probability 0.5",
            "--typical 0.8", "--top-nsigma 1.2", "--repeat-penalty 1.4", "--presence-penalty 0.6", "--mirostat 1", "--mirostat 2",
            "--samplers \"top_k;temperature;min_p=0.3\"", "--samplers \"top_k;adaptive_p\" --adaptive-target 0.4", "--seed 77",
            "--dynatemp-range 0.5", "--scatter-strength 0.3 --scatter-absorption 0.2", "-l 11-inf", "-l 13+2", "--ignore-eos",
            "--dry-multiplier 0.8 --dry-breaker-tokens 13", "--engine ollama", "--engine akunu --temp 0.9", "--engine akunu-gpu --temp 1",
            "--engine batch --temp 0.9");
        for (1 .. shift) {
            my @some = map { $parts[rand @parts] } 0 .. rand 3;
            my ($engine) = grep { /engine/ } @some; # has no stage for the others
            print join(" ", $engine || @some), "\n";
        }' "$1" "$2" | sort -u
}

@test "a variant's ids are those of a run of its own, whatever the threads" {
    local t
    specs "$((1 + STEP))" 10 >list
    grep -v engine list >plain
    for t in 1 3; do
        own list -t $t --vocab "$VOCAB" -s 5 --rows :40 "$AUSTEN"
        own plain -t $t --vocab "$VOCAB" -s 6 --rows 7:60 --independent --repeat-penalty 1.2 "$AUSTEN"
        own list -t $t --vocab "$VOCAB" -s 8 --rows :30 --accept @"$ROOT/samples/austen.tokens" --top-p 0.9 "$AUSTEN" "$AUSTEN"
    done
    specs 3 8 | grep -v engine >plain
    own plain -t 2 --vocab "$VOCAB" -s 5 --rows :12 --grammar 'root ::= [a-z ]+' "$AUSTEN"
    own plain -t 2 --vocab "$VOCAB" -s 5 --rows :12 -j '{"type":"array"}' "$AUSTEN"
}

@test "named sequences, rows that bring parameters, rows that are bad" {
    perl -e 'srand(4);
        for my $i (0 .. 59) {
            my @x = map { sprintf "%.2f", 6 * rand } 1 .. 20;
            $x[3] = "NaN" if $i == 17;
            my @more;
            push @more, sprintf q("seq":"%s"), qw(a b c)[rand 3] if rand() < 0.8;
            push @more, q("params":{"temperature":0.5}) if $i % 9 == 4;
            push @more, q("params":{"top_k":3,"seed":4}) if $i == 30;
            push @more, q("end":true) if $i % 13 == 6;
            print "{\"logits\":[", join(",", @x), "]", map({ ",$_" } @more), "}\n";
        }' >rows
    specs 2 8 | grep -vE 'engine|ignore-eos' >list
    for t in 1 2; do
        run -1 --separate-stderr sampl -t $t -s 3 --on-error skip rows --vs '--temp 2' --vs '--mirostat 2' --emit ids
        [ "$(grep -c -- '^-1.-1.-1$' <<<"$output")" -eq 1 ]
    done
    grep -v NaN rows >good
    own list -s 3 good
    own list -t 3 -s 3 good
}

@test "parts of a run make the whole, and a shard is as before" {
    specs 9 6 | grep -vE 'mirostat|xtc|adaptive|penalty|dry|scatter|engine' >list
    echo '--temp 1.2' >>list
    echo '--top-k 3' >>list
    local part spec vs=()
    while IFS= read -r spec; do vs+=(--vs "$spec"); done <list
    for part in 1 2 3; do sampl --vocab "$VOCAB" -s 5 --shard $part/3 "${vs[@]}" --emit ids "$AUSTEN"; done >parts
    sampl --vocab "$VOCAB" -s 5 "${vs[@]}" --emit ids "$AUSTEN" | cmp - parts
    run -2 sampl -n 4096 -s 5 --shard 2/3 --vs '--mirostat 2' "$AUSTEN"
    [[ $output == *'mirostat_v2 needs the rows before this part'* ]]
}

@test "a preset keeps the base's seed, biases and grammar, and forgets its samplers" {
    printf -- '--temp 1.5 --top-k 0\n' >hot.preset
    sampl --vocab "$VOCAB" -s 9 -l 11-inf --rows :30 --grammar 'root ::= [a-z ]+' --temp 1.5 --top-k 0 "$AUSTEN" >want
    sampl --vocab "$VOCAB" -s 9 -l 11-inf --rows :30 --grammar 'root ::= [a-z ]+' --mirostat 2 --engine llama --top-p 0.1 \
        --vs ./hot.preset --emit ids "$AUSTEN" | cut -f 2 | cmp - want
    # with a seed of the preset's own, that
    printf -- '--temp 1.5 --top-k 0 --seed 4\n' >seed.preset
    sampl --vocab "$VOCAB" -s 4 --rows :30 --temp 1.5 --top-k 0 "$AUSTEN" >want
    sampl --vocab "$VOCAB" -s 9 --rows :30 --engine ollama --vs ./seed.preset --emit ids "$AUSTEN" | cut -f 2 | cmp - want
}

@test "a random seed is drawn once for all" {
    sampl -n 4096 --vs '--top-k 40' --vs 'x: --temp 0.8' --emit ids "$AUSTEN" 2>/dev/null >chosen
    awk '$1 != $2 || $1 != $3 { exit 1 }' chosen
    [ "$(wc -l <chosen)" -eq 256 ]
}

@test "options of a variant add to the base's, as on one command line" {
    sampl -n 4096 -s 1 -l 304-inf -l 11-inf --rows :50 "$AUSTEN" >want
    sampl -n 4096 -s 1 -l 304-inf --vs '-l 11-inf' --emit ids --rows :50 "$AUSTEN" | cut -f 2 | cmp - want
    sampl -n 4096 -s 1 --dry-multiplier 2 --dry-breaker-tokens 5 --dry-breaker-tokens 6 --rows :50 "$AUSTEN" >want
    sampl -n 4096 -s 1 --dry-multiplier 2 --dry-breaker-tokens 5 --vs '--dry-breaker-tokens 6' --emit ids --rows :50 "$AUSTEN" |
        cut -f 2 | cmp - want
}

@test "the options of a swept variant, behind the base's, make the same run" {
    sampl -n 4096 -s 1 --rows :40 --vs 'hot: --temp 2' --sweep 'samplers=top_k;temperature,temperature;min_p' --emit ids "$AUSTEN" >chosen
    sampl -n 4096 -s 1 --rows :40 --vs 'hot: --temp 2' --sweep 'samplers=top_k;temperature,temperature;min_p' -O tsv "$AUSTEN" | cut -f 2 >options
    for i in 2 3 4 5; do
        eval "sampl -n 4096 -s 1 --rows :40 $(sed -n "$((i + 1))p" options) \"\$AUSTEN\"" >alone
        cut -f "$i" chosen | cmp - alone
    done
}

@test "the options of a variant, pasted into a shell, make the same chain" {
    for breaker in "it's \$HOME \"x\" \`id\` * #" $'\e \'$HOME\' \\x'; do
        spec="x: --dry-multiplier 2  --dry-sequence-breaker '${breaker//\'/\'\"\'\"\'}' # of two breakers
            --dry-sequence-breaker 'plain'"
        sampl -n 4096 -s 1 --rows :4 --vs "$spec" -O json "$AUSTEN" 2>/dev/null | jq -r 'select(.name == "x").options' >options
        eval "sampl -s 1 $(cat options) --print-chain=json" 2>/dev/null >got
        sampl -s 1 --dry-multiplier 2 --dry-sequence-breaker "$breaker" --dry-sequence-breaker plain --print-chain=json 2>/dev/null | cmp - got
        eval "sampl -s 1 $(cat options) --print-chain=preset" 2>/dev/null >again
        eval "sampl $(cat again) --print-chain=json" 2>/dev/null | jq -c .dry_sequence_breakers | cmp - <(jq -c .dry_sequence_breakers got)
    done
    [[ $(cat options) == "--dry-multiplier 2 --dry-sequence-breaker \$'"*"' --dry-sequence-breaker plain" ]] # quotes where they are needed
    echo "--top-k 3" >"it's \$HOME.preset"
    sampl -n 4096 -s 1 --rows :4 --vs "./it's \$HOME.preset" --sweep 'samplers=top_k;temperature' -O json "$AUSTEN" | tail -1 | jq -r .options >options
    eval "sampl -s 1 $(cat options) --print-chain=json" | jq -r '.chain[] | select(.name == "top_k").top_k' | cmp - <(echo 3)
}

@test "where the engine is swept, options that it has no stage for are left out, and a note says so" {
    sampl -n 4096 -s 1 --rows :30 --repeat-penalty 1.2 --temp 0.9 --sweep engine=llama,ollama,batch --emit ids "$AUSTEN" 2>said >chosen
    [ "$(cat said)" = "sampl: note: variant 'engine=ollama': engine ollama has no stage for --repeat-penalty, which it goes without
sampl: note: variants 'base' and 'engine=llama' come to the same chain" ]
    sampl -n 4096 -s 1 --rows :30 --engine ollama --temp 0.9 "$AUSTEN" | cmp - <(cut -f 3 chosen)
    sampl -n 4096 -s 1 --rows :30 --engine batch --repeat-penalty 1.2 --temp 0.9 "$AUSTEN" | cmp - <(cut -f 4 chosen)
}

@test "the texts of variants, a line each" {
    sampl --vocab "$VOCAB" -s 1 --rows :40 --vs 'hot: --temp 1.5' --vs '--engine ollama' --emit text "$AUSTEN" >texts
    sampl --vocab "$VOCAB" -s 1 --rows :40 --temp 1.5 --emit text "$AUSTEN" >want
    [ "$(cut -f 1 texts | paste -sd ,)" = 'base,hot,--engine ollama' ]
    sed -n 2p texts | cut -f 2 | jq -j . | cmp - want
}

# peak ROWS ARGUMENT...: the most memory, in KB, that rows from a pipe take.
peak() {
    head -c $(($1 * 131072)) rows.f32 | /usr/bin/time -f %M -o time "$SAMPL" -n 32768 -f f32 -s 1 "${@:2}" >/dev/null
    tail -n 1 time
}

@test "a variant costs its session, and no row is kept" {
    local i few=() many=() short long wide
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # a sanitizer takes memory of its own
    need_own_process
    need /usr/bin/time
    perl -e 'my $x = pack "f<*", map { $_ * 7919 % 1000 / 100 } 0 .. 32767 + 60; print substr $x, 4 * $_, 131072 for 1 .. 60' >rows.f32
    for i in {100..119}; do few+=(--vs "--temp 1.$i"); done
    for i in {100..299}; do many+=(--vs "--temp 1.$i"); done
    short=$(peak 10 "${few[@]}") long=$(peak 60 "${few[@]}") wide=$(peak 10 "${many[@]}")
    echo "20 variants: 10 rows of 128 KB $short KB, 60 rows $long KB; 200 variants: $wide KB"
    [ $((long - short)) -lt 1500 ]
    [ $(((wide - short) / 180)) -lt 32 ]
}

# ---- the table

# A program that computes the table from each variant's own run: names on the command line with a folder of files for each.
reckon() {
    /usr/bin/python3 - "$@" <<'E'
import sys, json
import numpy as np
raw = np.fromfile(sys.argv[1], "<f2").astype("f8").reshape(-1, 4096)
tokens = [int(x) for x in open(sys.argv[2]).read().split()]
def soft(x):
    w = np.exp(x - x.max(axis=1, keepdims=True))
    return w / w.sum(axis=1, keepdims=True)
def xlogy(x, y):
    return np.where(x > 0, x * np.log(np.where(x > 0, y, 1)), 0).sum(axis=1)
praw = soft(raw)
base = None
for name in sys.argv[3:]:
    x = np.fromfile(name + ".f32", "<f4").astype("f8").reshape(-1, 4096)
    ids = np.loadtxt(name + ".ids", dtype=int)
    n = len(ids)
    q, r = soft(x), praw[:n]
    at = np.arange(n)
    if base is None:
        base, base_ids = q, ids
    m = (q + base) / 2
    alive = q[at, tokens[:n]] > 0
    nll = -np.log(q[at, tokens[:n]][alive]).mean()
    print(json.dumps(dict(kept=(x > -np.inf).sum(axis=1).mean(), entropy=-xlogy(q, q).mean(), prob=q[at, ids].mean(),
        raw_prob=r[at, ids].mean(), greedy=(ids == raw[:n].argmax(axis=1)).mean(), kl_raw=xlogy(q, q / r).mean(),
        same=(ids == base_ids).mean(), overlap=np.minimum(q, base).sum(axis=1).mean(),
        js=((xlogy(q, q / m) + xlogy(base, base / m)) / 2).mean(), nll=nll, ppl=np.exp(nll), lost=int((~alive).sum()))))
E
}

@test "the table is what numpy computes" {
    need_numpy
    local given=(-n 4096 -s 3 --rows :100 --accept @"$ROOT/samples/austen.tokens")
    local specs=('--temp 1.5' '--samplers min_p' '--samplers "temperature" --temp 0.6' '--mirostat 2' '--engine akunu --temp 0.9' '--top-nsigma 1')
    local i vs=() names=(0)
    sampl "${given[@]}" --emit logits -O f32 "$AUSTEN" >0.f32
    sampl "${given[@]}" "$AUSTEN" >0.ids
    for i in "${!specs[@]}"; do
        vs+=(--vs "${specs[i]}")
        names+=("$((i + 1))")
        eval "sampl \"\${given[@]}\" ${specs[i]} --emit logits -O f32 \"\$AUSTEN\"" >"$((i + 1)).f32"
        eval "sampl \"\${given[@]}\" ${specs[i]} \"\$AUSTEN\"" >"$((i + 1)).ids"
    done
    sampl "${given[@]}" "${vs[@]}" -O json "$AUSTEN" >table
    reckon "$AUSTEN" "$ROOT/samples/austen.tokens" "${names[@]}" >want
    /usr/bin/python3 -c '
import json
got, want = ([json.loads(l) for l in open(f)] for f in ("table", "want"))
assert len(got) == len(want) == 7
for g, w in zip(got, want):
    assert list(g)[3:] == list(w), list(g)
    for k in w:
        assert abs(g[k] - w[k]) <= 1e-9 * max(1, abs(w[k])), (g["name"], k, g[k], w[k])'
}

@test "threads, tiers and formats change no digit of the table" {
    local args=(-n 4096 -s 3 "$AUSTEN" --vs '--temp 1.5' --vs '--top-k 0 --top-p 1 --min-p 0' --vs '--engine ollama')
    sampl "${args[@]}" -O json >want
    sampl "${args[@]}" -O json -t 3 | cmp - want
    SAMPL_CPU=scalar sampl "${args[@]}" -O json | cmp - want
    sampl "${args[@]}" --vs '--mirostat 2' -O json -t 1 >want # the variants on threads
    sampl "${args[@]}" --vs '--mirostat 2' -O json -t 2 | cmp - want
    sampl "${args[@]}" --vs '--mirostat 2' -O json -t 5 | cmp - want
    sampl "${args[@]}" --vs '--mirostat 2' -O tsv | tail -n +2 | cut -f 1,3,9,11 >columns
    jq -r '[.name, .kept, .same, .js] | @tsv' want | awk -F '\t' 'NR == FNR { a[NR] = $4; next } (a[FNR] - $4) ^ 2 > 1e-20 { exit 1 }' - columns
    sampl "${args[@]}" >text
    [ "$(wc -l <text)" -eq 5 ] || [ "$(wc -l <text)" -eq 4 ]
    [ "$(awk '{ print length }' text | sort -u | wc -l)" -eq 1 ]
}

@test "shares have their standard error in the text" {
    sampl -n 4096 -s 3 "$AUSTEN" --vs '--temp 1.5' -O json | tail -n 1 >line
    sampl -n 4096 -s 3 "$AUSTEN" --vs '--temp 1.5' | tail -n 1 >text
    for column in greedy same; do
        perl -e 'my ($x) = map { sprintf "%.3f (%.3f)", $_, sqrt($_ * (1 - $_) / 256) } @ARGV; exit(index(<STDIN>, $x) < 0)' \
            "$(jq .$column line)" <text
    done
}

@test "a variant that fails on a row leaves no file" {
    printf 'a\nb\nc\n' >words
    f32 1 2 3 -inf 5 -inf 3 2 1 >rows.f32 # the second has only b
    local g="g: --grammar 'root ::= \"c\" \"a\" .'"
    run -1 --separate-stderr sampl --vocab words rows.f32 -s 1 --temp 0 --vs "$g" --vs '--temp 1' -o table
    [ ! -e table ]
}

# ---- rows side by side

@test "--diff has the rows where a variant chose otherwise, as the runs of their own say" {
    local v="--samplers top_p;temperature --top-p 0.8 --temp 1.3"
    sampl -n 4096 -s 2 --samplers 'top_k;temperature' --top-k 6 --dump-probs -O tsv "$AUSTEN" >base
    # shellcheck disable=SC2086
    sampl -n 4096 -s 2 $v --dump-probs -O tsv "$AUSTEN" >other
    for t in 1 3; do
        sampl -n 4096 -s 2 --samplers 'top_k;temperature' --top-k 6 --vs "v: ${v/top_p;temperature/\"top_p;temperature\"}" --diff -O tsv -t $t "$AUSTEN" >"diff.$t"
    done
    same diff.1 diff.3
    perl -ne '
        BEGIN { for my $f (qw(base other)) { open my $h, "<", $f; <$h>; while (<$h>) { my ($r, $k, $id, $l, $p, $c, $x) = split /\t/;
            $p{$f}[$r]{$id} = $p; $k{$f}[$r]{$id} = $k; $x{$f}[$r] = $id if $x == 1 } } }
        next if $. == 1;
        chomp;
        my ($r, $v, $b, $bp, $id, $p, $there, $rank, $gone, $here) = split /\t/;
        $seen{$r} = 1;
        my $has = exists $p{base}[$r]{$id};
        die "row $r: $_" if $b != $x{base}[$r] || $id != $x{other}[$r] || $bp != $p{base}[$r]{$b} || $p != $p{other}[$r]{$id}
            || $there != ($p{base}[$r]{$id} // 0) || $rank ne ($k{base}[$r]{$id} // "-") || $gone ne ($has ? "-" : "top_k")
            || $here ne (exists $p{other}[$r]{$b} ? "-" : "top_p");
        END { for (0 .. 255) { die "row $_" if ($x{base}[$_] != $x{other}[$_]) != !!$seen{$_} } die if keys %seen < 20 }' diff.1
    sampl -n 4096 -s 2 --samplers 'top_k;temperature' --top-k 6 --vs "v: ${v/top_p;temperature/\"top_p;temperature\"}" --diff -O json "$AUSTEN" |
        jq -r '[.row, .variant, .base_id, .base_prob, .id, .prob] | @tsv' | wc -l >lines
    [ "$(cat lines)" -eq $(($(wc -l <diff.1) - 1)) ]
}

@test "--diff=N has the N rows with the least overlap, worst first" {
    local args=(-n 4096 -s 2 --vs '--temp 2' --vs '--top-k 3' "$AUSTEN")
    sampl "${args[@]}" --diff=7 -O json | jq -s -c 'group_by(.row) | map({row: .[0].row, least: (map(.overlap) | min)}) | sort_by(.least)' >got
    sampl "${args[@]}" --diff=256 -O json | jq -s -c 'group_by(.row) | map({row: .[0].row, least: (map(.overlap) | min)}) | sort_by(.least) | .[:7]' | cmp - got
    sampl "${args[@]}" --diff=256 -O json | jq -r .row | uniq | head -n 7 | cmp - <(sampl "${args[@]}" --diff=7 -O json | jq -r .row | uniq)
    [ "$(sampl "${args[@]}" --diff=7 | grep -c '^row ')" -eq 7 ]
    # of all rows their mean is the table's
    sampl "${args[@]}" --diff=256 -O json | jq -s 'group_by(.variant) | map({name: .[0].variant, mean: (map(.overlap) | add / length)}) | .[]' >means
    sampl "${args[@]}" -O json | jq -s --slurpfile m means '[.[1:][] as $t | $m[] | select(.name == $t.name) | (.mean - $t.overlap) | fabs < 1e-12]' |
        jq -c . | grep -qx '\[true,true\]'
}

@test "--dump-probs of variants: the union of the best, and who removed what is gone" {
    sampl -n 4096 -s 2 --rows :20 --vs 'k: --top-k 2 --min-p 0' --vs 'o: --engine ollama --top-k 0 --temp 1' --dump-probs=4 -O tsv "$AUSTEN" >dump
    [ "$(head -n 1 dump)" = $'row\tid\tbase\tk\to' ]
    for v in 1:'' 2:'--top-k 2 --min-p 0' 3:'--engine ollama --top-k 0 --temp 1'; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 2 --rows :20 ${v#*:} --dump-probs -O tsv "$AUSTEN" | tail -n +2 | cut -f 1,2,3,5 >own.${v%%:*}
    done
    perl -ne '
        BEGIN { for my $v (1 .. 3) { open my $f, "<", "own.$v"; while (<$f>) { chomp; my ($r, $k, $id, $p) = split /\t/; $p[$v]{"$r $id"} = $p;
            $best{"$r $id"} = 1 if $k <= 4 } } }
        next if $. == 1;
        chomp;
        my ($r, $id, @cell) = split /\t/;
        delete $best{"$r $id"} or die "row $r has $id";
        for my $v (1 .. 3) {
            my $want = $p[$v]{"$r $id"};
            die "row $r, $id: $cell[$v - 1]" if defined $want ? $want != $cell[$v - 1] : $cell[$v - 1] !~ /^(top_k|top_p|min_p|top_p_above|min_p_cut)$/;
            $n++ if $v == 2 && $cell[1] eq "top_k";
        }
        END { die %best if %best; die unless $n }' dump
    sampl -n 4096 -s 2 --rows :20 --vs 'k: --top-k 2 --min-p 0' --vs 'o: --engine ollama --top-k 0 --temp 1' --dump-probs=4 -O json "$AUSTEN" |
        jq -r '.row as $r | .top_probs[] | [$r, .id, .probs.base, .probs.k, .probs.o] | @tsv' | cut -f 1,2 | cmp - <(tail -n +2 dump | cut -f 1,2)
}

@test "--emit stats has a record for each variant, those of its own run" {
    sampl -n 4096 -s 3 --rows :30 "$AUSTEN" --vs 'hot: --temp 1.5' --emit stats >records
    sampl -n 4096 -s 3 --rows :30 "$AUSTEN" --emit stats | sed '1s/$/\tvariant/; 2,$s/$/\tbase/' >want
    grep -v 'hot$' records | cmp - want
    sampl -n 4096 -s 3 --rows :30 "$AUSTEN" --temp 1.5 --emit stats | sed '1d; s/$/\thot/' >want
    grep 'hot$' records | cmp - want
    sampl -n 4096 -s 3 --rows :30 -t 3 "$AUSTEN" --vs 'hot: --temp 1.5' --emit stats | cmp - records
    sampl -n 4096 -s 3 --rows :30 "$AUSTEN" --vs 'hot: --temp 1.5' --emit stats -O json | jq -r .variant | sort | uniq -c | awk '$1 != 30 { exit 1 }'
}

@test "--against: the same chain on other rows, and how far apart they are" {
    need_numpy
    /usr/bin/python3 -c '
import sys, numpy as np
x = np.fromfile(sys.argv[1], "<f2").astype("<f4")
x.tofile("same.f32")
(x + 0.2 * np.sin(np.arange(x.size, dtype="<f4"))).astype("<f4").tofile("other.f32")' "$AUSTEN"
    sampl -n 4096 -s 1 "$AUSTEN" --against same.f32 -O json | jq -c '[.same, .overlap, .js, .kl]' | uniq | grep -qx '\[1,1,0,0\]'
    sampl -n 4096 -s 1 --temp 1.2 "$AUSTEN" --against other.f32 --emit ids >chosen
    sampl -n 4096 -s 1 --temp 1.2 "$AUSTEN" | cmp - <(cut -f 1 chosen)
    sampl -n 4096 -s 1 --temp 1.2 other.f32 | cmp - <(cut -f 2 chosen)
    sampl -n 4096 -s 1 --temp 1.2 --mirostat 2 -t 2 "$AUSTEN" --against other.f32 --emit ids | cut -f 2 >chosen
    sampl -n 4096 -s 1 --temp 1.2 --mirostat 2 other.f32 | cmp - chosen
    for t in 1 3; do
        sampl -n 4096 -s 1 --neutral "$AUSTEN" --against other.f32 -t $t -O json | jq .kl | tail -n 1 >kl
        /usr/bin/python3 -c '
import sys, numpy as np
def ls(x): x = x - x.max(1, keepdims=True); return x - np.log(np.exp(x).sum(1, keepdims=True))
a = ls(np.fromfile(sys.argv[1], "<f2").astype("f8").reshape(-1, 4096))
b = ls(np.fromfile("other.f32", "<f4").astype("f8").reshape(-1, 4096))
want = (np.exp(a) * (a - b)).sum(1).mean()
assert abs(want - float(open("kl").read())) < 1e-9 * max(1, want), want' "$AUSTEN"
    done
    head -c $((5 * 4 * 4096)) other.f32 >few.f32
    run -1 --separate-stderr sampl -n 4096 -s 1 --rows :9 "$AUSTEN" --against few.f32
    [ "$output" = "$(sampl -n 4096 -s 1 --rows :5 "$AUSTEN" --against few.f32)" ]
    # shellcheck disable=SC2154 # run sets it
    [ "$stderr" = "sampl: --against: 'few.f32' has fewer rows than the input" ]
}
