#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Variants and sweeps: each variant gives the ids of a separate run, and the table has the numbers that numpy computes.
load helper

VOCAB=$ROOT/samples/austen.gguf

# same_as_separate_runs SPECS BASE...: runs the base with each line of the file SPECS as a variant. Checks that each variant gives the ids
# of a separate run with the base and the variant's options.
same_as_separate_runs() {
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

# specs SEED COUNT: prints the options of up to COUNT random chains, one a line.
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
            my ($engine) = grep { /engine/ } @some; # has no stage for the other options
            print join(" ", $engine || @some), "\n";
        }' "$1" "$2" | sort -u
}

@test "each variant gives the ids of a separate run, on 1 and 3 threads" {
    local t
    specs "$((1 + STEP))" 10 >list
    grep -v engine list >plain
    for t in 1 3; do
        same_as_separate_runs list -t $t --vocab "$VOCAB" -s 5 --rows :40 "$AUSTEN"
        same_as_separate_runs plain -t $t --vocab "$VOCAB" -s 6 --rows 7:60 --independent --repeat-penalty 1.2 "$AUSTEN"
        same_as_separate_runs list -t $t --vocab "$VOCAB" -s 8 --rows :30 --accept @"$ROOT/samples/austen.tokens" --top-p 0.9 "$AUSTEN" "$AUSTEN"
    done
    specs 3 8 | grep -v engine >plain
    same_as_separate_runs plain -t 2 --vocab "$VOCAB" -s 5 --rows :12 --grammar 'root ::= [a-z ]+' "$AUSTEN"
    same_as_separate_runs plain -t 2 --vocab "$VOCAB" -s 5 --rows :12 -j '{"type":"array"}' "$AUSTEN"
}

@test "each variant gives the ids of a separate run, with named sequences, row parameters and bad rows" {
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
    same_as_separate_runs list -s 3 good
    same_as_separate_runs list -t 3 -s 3 good
}

@test "--vs with --shard: parts concatenate to one run, and a variant with state is refused" {
    specs 9 6 | grep -vE 'mirostat|xtc|adaptive|penalty|dry|scatter|engine' >list
    echo '--temp 1.2' >>list
    echo '--top-k 3' >>list
    local part spec vs=()
    while IFS= read -r spec; do vs+=(--vs "$spec"); done <list
    for part in 1 2 3; do sampl --vocab "$VOCAB" -s 5 --shard $part/3 "${vs[@]}" --emit ids "$AUSTEN"; done >parts
    sampl --vocab "$VOCAB" -s 5 "${vs[@]}" --emit ids "$AUSTEN" | cmp - parts
    run -2 sampl -n 4096 -s 5 --shard 2/3 --vs '--mirostat 2' --emit ids "$AUSTEN"
    [[ $output == *'mirostat_v2 needs the rows before this part'* ]]
}

@test "--vs PRESET keeps the base's seed, biases and grammar, but not its samplers" {
    printf -- '--temp 1.5 --top-k 0\n' >hot.preset
    sampl --vocab "$VOCAB" -s 9 -l 11-inf --rows :30 --grammar 'root ::= [a-z ]+' --temp 1.5 --top-k 0 "$AUSTEN" >want
    sampl --vocab "$VOCAB" -s 9 -l 11-inf --rows :30 --grammar 'root ::= [a-z ]+' --mirostat 2 --engine llama --top-p 0.1 \
        --vs ./hot.preset --emit ids "$AUSTEN" | cut -f 2 | cmp - want
    # A seed of the preset overrides the base's seed.
    printf -- '--temp 1.5 --top-k 0 --seed 4\n' >seed.preset
    sampl --vocab "$VOCAB" -s 4 --rows :30 --temp 1.5 --top-k 0 "$AUSTEN" >want
    sampl --vocab "$VOCAB" -s 9 --rows :30 --engine ollama --vs ./seed.preset --emit ids "$AUSTEN" | cut -f 2 | cmp - want
}

@test "all variants share one random seed" {
    sampl -n 4096 --vs '--top-k 40' --vs 'x: --temp 0.8' --emit ids "$AUSTEN" 2>/dev/null >chosen
    awk '$1 != $2 || $1 != $3 { exit 1 }' chosen
    [ "$(wc -l <chosen)" -eq 256 ]
}

@test "biases and breakers of a variant add to those of the base" {
    sampl -n 4096 -s 1 -l 304-inf -l 11-inf --rows :50 "$AUSTEN" >want
    sampl -n 4096 -s 1 -l 304-inf --vs '-l 11-inf' --emit ids --rows :50 "$AUSTEN" | cut -f 2 | cmp - want
    sampl -n 4096 -s 1 --dry-multiplier 2 --dry-breaker-tokens 5 --dry-breaker-tokens 6 --rows :50 "$AUSTEN" >want
    sampl -n 4096 -s 1 --dry-multiplier 2 --dry-breaker-tokens 5 --vs '--dry-breaker-tokens 6' --emit ids --rows :50 "$AUSTEN" |
        cut -f 2 | cmp - want
}

@test "--base compares with the variant of that name, which stands first" {
    local common=(-n 4096 -s 1 --rows :60 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" -O json)
    for threads in 1 3; do
        sampl "${common[@]}" -t $threads --neutral --vs 'k: --top-k 20' --vs 'p: --top-p 0.75' --sweep temp=0.5,1 --base 'p temp=0.5' >table
        sampl "${common[@]}" --neutral --top-p 0.75 --temp 0.5 --vs 'none: --top-p 1 --temp 1' --vs 'plain: --top-p 1' --vs 'k: --top-k 20 --top-p 1' >want
        [ "$(jq -r .name table | head -n 3 | paste -sd,)" = 'p temp=0.5,base,temp=0.5' ]
        for name in base temp=0.5 'k temp=0.5' 'p temp=0.5'; do jq -cS --arg n "$name" 'select(.name == $n) | del(.name, .options, .swept)' table; done >got
        for name in none plain k base; do jq -cS --arg n "$name" 'select(.name == $n) | del(.name, .options, .swept)' want; done | cmp - got
        jq -e -s '.[0].swept.temp == 0.5 and .[1].swept == {}' table
    done
    sampl -n 4096 -s 1 --rows :60 "$AUSTEN" --vs 'p: --top-k 3' --vs 'q: --top-k 5' --base q --emit ids >both
    sampl -n 4096 -s 1 --rows :60 --top-k 5 "$AUSTEN" | cmp - <(cut -f 1 both)
    sampl -n 4096 -s 1 --rows :60 "$AUSTEN" | cmp - <(cut -f 2 both)
    sampl -n 4096 -s 1 --rows :60 "$AUSTEN" --vs 'p: --top-k 3' --vs 'q: --top-k 5' --base q --diff | grep -q '^row [0-9]*  q [0-9]'
}

@test "--sweep: the options that the table prints for a variant make the same run" {
    sampl -n 4096 -s 1 --rows :40 --vs 'hot: --temp 2' --sweep 'samplers=top_k;temperature,temperature;min_p' --emit ids "$AUSTEN" >chosen
    sampl -n 4096 -s 1 --rows :40 --vs 'hot: --temp 2' --sweep 'samplers=top_k;temperature,temperature;min_p' -O tsv "$AUSTEN" >table
    [ "$(awk -F'\t' '{ print NF }' table | sort -u | wc -l)" = 1 ] # a cell for each column
    cut -f 2 table >options
    for i in 2 3 4 5; do
        eval "sampl -n 4096 -s 1 --rows :40 $(sed -n "$((i + 1))p" options) \"\$AUSTEN\"" >alone
        cut -f "$i" chosen | cmp - alone
    done
}

@test "the options that the table prints for a variant are quoted for the shell" {
    for breaker in "it's \$HOME \"x\" \`id\` * #" $'\e \'$HOME\' \\x'; do
        spec="x: --dry-multiplier 2  --dry-sequence-breaker '${breaker//\'/\'\"\'\"\'}' # of two breakers
            --dry-sequence-breaker 'plain'"
        sampl -n 4096 -s 1 --rows :4 --vs "$spec" -O json "$AUSTEN" 2>/dev/null | jq -r 'select(.name == "x").options' >options
        eval "sampl -s 1 $(cat options) --print-chain=json" 2>/dev/null >got
        sampl -s 1 --dry-multiplier 2 --dry-sequence-breaker "$breaker" --dry-sequence-breaker plain --print-chain=json 2>/dev/null | cmp - got
        eval "sampl -s 1 $(cat options) --print-chain=preset" 2>/dev/null >again
        eval "sampl $(cat again) --print-chain=json" 2>/dev/null | jq -c .dry_sequence_breakers | cmp - <(jq -c .dry_sequence_breakers got)
    done
    [[ $(cat options) == "--dry-multiplier 2 --dry-sequence-breaker \$'"*"' --dry-sequence-breaker plain" ]] # quotes only the words that need quotes
    echo "--top-k 3" >"it's \$HOME.preset"
    sampl -n 4096 -s 1 --rows :4 --vs "./it's \$HOME.preset" --sweep 'samplers=top_k;temperature' -O json "$AUSTEN" | tail -1 | jq -r .options >options
    eval "sampl -s 1 $(cat options) --print-chain=json" | jq -r '.chain[] | select(.name == "top_k").top_k' | cmp - <(echo 3)
}

@test "--sweep engine=... leaves out options that an engine has no stage for, with a note" {
    sampl -n 4096 -s 1 --rows :30 --repeat-penalty 1.2 --temp 0.9 --sweep engine=llama,ollama,batch --emit ids "$AUSTEN" 2>said >chosen
    sed -i '/without --accept/d' said
    [ "$(cat said)" = "sampl: note: variant 'engine=ollama': engine ollama has no stage for --repeat-penalty, which it ignores
sampl: note: variants 'base' and 'engine=llama' come to the same chain" ]
    sampl -n 4096 -s 1 --rows :30 --engine ollama --temp 0.9 "$AUSTEN" | cmp - <(cut -f 3 chosen)
    sampl -n 4096 -s 1 --rows :30 --engine batch --repeat-penalty 1.2 --temp 0.9 "$AUSTEN" | cmp - <(cut -f 4 chosen)
}

@test "--emit text with --vs prints one line of text for each variant" {
    sampl --vocab "$VOCAB" -s 1 --rows :40 --vs 'hot: --temp 1.5' --vs '--engine ollama' --emit text "$AUSTEN" >texts
    sampl --vocab "$VOCAB" -s 1 --rows :40 --temp 1.5 --emit text "$AUSTEN" >want
    [ "$(cut -f 1 texts | paste -sd ,)" = 'base,hot,--engine ollama' ]
    sed -n 2p texts | cut -f 2 | jq -j . | cmp - want
}

# peak ROWS OPTION...: prints the peak memory, in KB, of a run that reads so many rows from a pipe.
peak() {
    head -c $(($1 * 131072)) rows.f32 | /usr/bin/time -f %M -o time "$SAMPL" -n 32768 -f f32 -s 1 "${@:2}" >/dev/null
    tail -n 1 time
}

@test "peak memory does not grow with the rows, and by less than 32 KB with each variant" {
    local i few=() many=() short long wide
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # a sanitizer needs additional memory
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

@test "-o FILE: a variant that fails on a row leaves no file" {
    printf 'a\nb\nc\n' >words
    f32 1 2 3 -inf 5 -inf 3 2 1 >rows.f32 # the second row has only b
    local g="g: --grammar 'root ::= \"c\" \"a\" .'"
    run -1 --separate-stderr sampl --vocab words rows.f32 -s 1 --temp 0 --vs "$g" --vs '--temp 1' -o table
    [ ! -e table ]
}

# ---- rows side by side

@test "--diff prints the rows where a variant chose another token, with the numbers of separate runs" {
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

@test "--diff=N prints the N rows with the least overlap, least first" {
    local args=(-n 4096 -s 2 --vs '--temp 2' --vs '--top-k 3' "$AUSTEN")
    sampl "${args[@]}" --diff=7 -O json | jq -s -c 'group_by(.row) | map({row: .[0].row, least: (map(.overlap) | min)}) | sort_by(.least)' >got
    sampl "${args[@]}" --diff=256 -O json | jq -s -c 'group_by(.row) | map({row: .[0].row, least: (map(.overlap) | min)}) | sort_by(.least) | .[:7]' | cmp - got
    sampl "${args[@]}" --diff=256 -O json | jq -r .row | uniq | head -n 7 | cmp - <(sampl "${args[@]}" --diff=7 -O json | jq -r .row | uniq)
    [ "$(sampl "${args[@]}" --diff=7 | grep -c '^row ')" -eq 7 ]
    # The mean overlap of all rows is that of the table.
    sampl "${args[@]}" --diff=256 -O json | jq -s 'group_by(.variant) | map({name: .[0].variant, mean: (map(.overlap) | add / length)}) | .[]' >means
    sampl "${args[@]}" -O json | jq -s --slurpfile m means '[.[1:][] as $t | $m[] | select(.name == $t.name) | (.mean - $t.overlap) | fabs < 1e-12]' |
        jq -c . | grep -qx '\[true,true\]'
}

@test "--dump-probs with --vs lists the best, the chosen and the accepted tokens of all variants, and the stage that removed each" {
    local accept=(--accept "@$ROOT/samples/austen.tokens")
    sampl -n 4096 -s 2 --rows :20 "${accept[@]}" --vs 'k: --top-k 2 --min-p 0' --vs 'o: --engine ollama --top-k 0 --temp 1' --dump-probs=4 -O tsv "$AUSTEN" >dump
    [ "$(head -n 1 dump)" = $'row\tid\tbase\tk\to' ]
    for v in 1:'' 2:'--top-k 2 --min-p 0' 3:'--engine ollama --top-k 0 --temp 1'; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 2 --rows :20 "${accept[@]}" ${v#*:} --dump-probs -O tsv "$AUSTEN" | tail -n +2 | cut -f 1,2,3,5 >own.${v%%:*}
        # shellcheck disable=SC2086
        sampl -n 4096 -s 2 --rows :20 "${accept[@]}" ${v#*:} "$AUSTEN" | awk '{ print NR - 1, $1 }' >chosen.${v%%:*}
    done
    tr -s ' \n' '\n' <"$ROOT/samples/austen.tokens" | head -n 20 | awk '{ print NR - 1, $1 }' >accepted
    perl -ne '
        BEGIN { for my $v (1 .. 3) { open my $f, "<", "own.$v"; while (<$f>) { chomp; my ($r, $k, $id, $p) = split /\t/; $p[$v]{"$r $id"} = $p;
            $best{"$r $id"} = 1 if $k <= 4 } }
            $few = %best;
            for my $name ("accepted", map { "chosen.$_" } 1 .. 3) { open my $f, "<", $name; while (<$f>) { chomp; $best{$_} = 1 } }
            die "the best hold all others" unless %best > $few + 5 }
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
    sampl -n 4096 -s 2 --rows :20 "${accept[@]}" --vs 'k: --top-k 2 --min-p 0' --vs 'o: --engine ollama --top-k 0 --temp 1' --dump-probs=4 -O json "$AUSTEN" |
        jq -r '.row as $r | .top_probs[] | [$r, .id, .probs.base, .probs.k, .probs.o] | @tsv' | cut -f 1,2 | cmp - <(tail -n +2 dump | cut -f 1,2)
}

@test "--emit stats with --vs has the records of each variant's separate run" {
    sampl -n 4096 -s 3 --rows :30 "$AUSTEN" --vs 'hot: --temp 1.5' --emit stats >records
    for variant in base hot; do # the name of the variant stands before the statistics that do not depend on the chosen token
        [ $variant = base ] && set -- || set -- --temp 1.5
        sampl -n 4096 -s 3 --rows :30 "$AUSTEN" "$@" --emit stats | awk -v v=$variant 'BEGIN { FS = OFS = "\t" } { $10 = $10 OFS (NR == 1 ? "variant" : v) } 1' >want
        awk -F '\t' -v v=$variant 'NR == 1 || $11 == v' records | cmp - want
    done
    sampl -n 4096 -s 3 --rows :30 -t 3 "$AUSTEN" --vs 'hot: --temp 1.5' --emit stats | cmp - records
    sampl -n 4096 -s 3 --rows :30 "$AUSTEN" --vs 'hot: --temp 1.5' --emit stats -O json | jq -r .variant | sort | uniq -c | awk '$1 != 30 { exit 1 }'
}

@test "--against runs the chain on other rows, and reports the divergence that numpy computes" {
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

# Each pair of random variants is run on sequences of rows, some with parameters. A note must be true: the ids are equal.
@test "variants that a note calls the same chain choose the same ids, also of sequences, under grammars and with budgets" {
    local options=('' '--min-p 0.05' '--top-k 0' '--samplers top_k;temperature' '--samplers temperature;top_k' '--temp 1' '--seed 3' '--temp 0'
        '--grammar x' '--grammar x --grammar-first' '--reasoning-budget 0 T' '--reasoning-budget 1 T' 'T' '--engine batch' '--engine ollama --samplers'
        '-l 1+1' '--ignore-eos' '--dry-multiplier 1' '--dry-multiplier 0 --dry-sequence-breaker c' '--repeat-penalty 1.5' '--repeat-last-n 0'
        '--top-p 1' '--xtc-probability 1 --xtc-threshold .6' '--top-k 3' '--samplers temperature' '--mirostat 2' '--generation-prompt a T')
    local i k first words whole=0 plain=0 a b
    printf '%s\n' a b c d >texts
    awk 'BEGIN { srand(7); for (i = 0; i < 40; i++) { printf "{\"seq\":\"%c\",\"logits\":[", 97 + i % 3
        for (k = 0; k < 4; k++) printf "%s%.4f", k ? "," : "", 3 * rand(); print "]}" } }' >plain.jsonl
    sed '10,20s/}$/,"params":{"top_k":2,"temperature":0.5,"repeat_penalty":1.5}}/; 30s/}$/,"params":{"samplers":["top_k"],"seed":5}}/' plain.jsonl >changed.jsonl
    RANDOM=5
    for ((i = 0; i < (STEP < 64 ? 300 : 75); i++)); do
        for k in a b; do
            first=${options[RANDOM % ${#options[@]}]}
            words="$first ${options[RANDOM % ${#options[@]}]}"
            ((RANDOM % 3)) || words+=" ${options[RANDOM % ${#options[@]}]}"
            words=${words//samplers top_k;temperature/samplers top_k\;temperature} words=${words//samplers temperature;top_k/samplers temperature\;top_k}
            words=${words//--grammar x/--grammar \'root ::= [a-c]*\'}
            words=${words//T/--reasoning-start a --reasoning-end b}
            printf -v "$k" '%s' "${words//--engine ollama --samplers/--engine llama}"
        done
        # shellcheck disable=SC2094 # nothing reads the files here
        "$SAMPL" -s 1 --vocab texts --vs "a: $a" --vs "b: $b" --emit ids plain.jsonl >ids 2>said || continue
        grep -q "variants 'a' and 'b' come to the same chain" said || continue
        plain=$((plain + 1))
        awk '$2 != $3' ids | cmp - /dev/null || { echo "$a | $b"; return 1; }
        grep -q "variants 'a' and 'b' come to the same chain$" said || continue
        whole=$((whole + 1))
        "$SAMPL" -s 1 --vocab texts --vs "a: $a" --vs "b: $b" --emit ids changed.jsonl 2>/dev/null | awk '$2 != $3' | cmp - /dev/null || { echo "$a | $b: with parameters"; return 1; }
    done
    echo "$plain $whole"
    [ "$plain" -ge $((STEP < 64 ? 8 : 1)) ] && [ "$whole" -ge $((STEP < 64 ? 3 : 0)) ]
    "$SAMPL" -s 1 --sweep engine=batch,llama --emit ids plain.jsonl 2>swept >/dev/null
    run ! grep 'batch.*same chain' swept
}
