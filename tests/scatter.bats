#!/usr/bin/env bats
# Properties of the sampler scatter on real, random and extreme rows. units.bats compares its numbers with a reference.

load helper

# Writes 40 rows of 300 logits: random, steep, flat, with ties, mostly masked, and with one candidate far ahead.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    perl -e '
        use strict;
        my ($seed, $ninf) = (12345, -9 ** 9 ** 9);
        my $random = sub { $seed = ($seed * 1103515245 + 12345) % 2147483648; $seed / 2147483648 };
        for my $row (0 .. 39) {
            my $kind = $row % 8;
            my @x = map { my $sum = -6; $sum += $random->() for 1 .. 12; $sum * 4 } 1 .. 300;
            @x = map { $_ * 30 } @x if $kind == 1;
            @x = map { $_ * 1e-5 } @x if $kind == 2;
            @x = map { int $_ } @x if $kind == 3;
            @x = map { $random->() < 0.93 ? $ninf : $_ } @x if $kind == 4;
            $x[$row] = 200 if $kind == 5;
            @x = (1.5) x 300 if $kind == 6;
            @x = map { -$_ * $row } 0 .. 299 if $kind == 7;
            print pack "f<*", @x;
        }' >random.f32
    head -c $((64 * 8192)) "$AUSTEN" >austen.f16
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    R=$BATS_FILE_TMPDIR
}

# parameter_sets: prints sets of options, one a line, from small to extreme values. The tests add --scatter-k.
parameter_sets() {
    cat <<-'END'
		--scatter-strength 0.12 --scatter-radius 2
		--scatter-strength 0.18
		--scatter-strength 1e-6
		--scatter-strength 1
		--scatter-strength 1 --scatter-steps 50
		--scatter-strength 0.5 --scatter-steps 7 --scatter-radius 0.3
		--scatter-strength 0.9 --scatter-radius 1000
		--scatter-strength 1 --scatter-radius 1000 --scatter-steps 3
		--scatter-strength 1 --scatter-radius 1e-6
		--scatter-strength 0.7 --scatter-radius 0.05 --scatter-steps 4
		--scatter-adaptive --scatter-strength 0.14
		--scatter-adaptive --scatter-strength-min 0 --scatter-strength-max 1
		--scatter-adaptive --scatter-strength-min 0.5 --scatter-strength-max 0.5 --scatter-entropy-target -3
	END
}

# rows_of FILE: prints the options that read the file.
rows_of() {
    case $1 in
    *.f16) echo "-n 4096 $1" ;;
    *) echo "-n 300 $1" ;;
    esac
}

# keeps_ranks PLAIN SCATTERED: checks that two dumps have the same candidates. Checks that, by falling logits of the first dump, the
# probabilities of the second never rise.
keeps_ranks() {
    perl -F'\t' -ane '
        next if $F[0] eq "row";
        if ($ARGV eq $plain) { $logit{$F[0]}{$F[2]} = $F[3] } else { $p{$F[0]}{$F[2]} = $F[4]; $sum{$F[0]} += $F[4] }
        BEGIN { $plain = $ARGV[0] }
        END {
            for $row (sort { $a <=> $b } keys %logit) {
                my $l = $logit{$row};
                my @order = sort { $l->{$b} <=> $l->{$a} || $a <=> $b } keys %$l;
                $last = 2;
                die "row $row: not the same candidates" if keys %{$p{$row}} != @order;
                for $id (@order) {
                    die "row $row: token $id is gone" if !defined $p{$row}{$id};
                    die "row $row: token $id rose to $p{$row}{$id} above $last" if $p{$row}{$id} > $last;
                    $last = $p{$row}{$id};
                }
                die "row $row: sum $sum{$row}" if abs($sum{$row} - 1) > 1e-6;
            }
            die "no rows" if !%logit;
        }' "$1" "$2"
}

@test "scatter without absorption keeps the ranks, and probabilities sum to 1" {
    for file in "$R/austen.f16" "$R/random.f32"; do
        for k in $(few 1 2 3 17 64 300); do
            # shellcheck disable=SC2046
            sampl -s 1 --samplers top_k --top-k "$k" --dump-probs -O tsv $(rows_of "$file") >plain
            while read -r set; do
                # shellcheck disable=SC2046,SC2086
                sampl -s 1 --samplers scatter --scatter-k $k $set --dump-probs -O tsv $(rows_of "$file") >scattered
                keeps_ranks plain scattered || { echo "of: $file k $k $set"; return 1; }
                case $set in *-strength\ 1e-6 | *radius\ 1e-6) continue ;; esac
                run -1 cmp -s plain scattered # scatter changes the dump
            done < <(parameter_sets)
        done
    done
}

@test "scatter after other samplers keeps the ranks" {
    for chain in 'top_n_sigma=2;typ_p=0.9;scatter' 'top_k=30;top_p=0.9;min_p=0.01;scatter' 'temperature=0.3;scatter' 'xtc;scatter' 'scatter;scatter'; do
        for file in "$R/austen.f16" "$R/random.f32"; do
            args=(-s 1 --xtc-probability 0.5 --xtc-threshold 0.05 --dump-probs -O tsv --scatter-k 20 --scatter-radius 3)
            # shellcheck disable=SC2046
            sampl "${args[@]}" --samplers "${chain//scatter/top_k=20}" $(rows_of "$file") >plain
            # shellcheck disable=SC2046
            sampl "${args[@]}" --samplers "$chain" --scatter-strength 0.4 $(rows_of "$file") >scattered
            keeps_ranks plain scattered || { echo "of: $file $chain"; return 1; }
        done
    done
}

@test "scatter keeps the likeliest token the likeliest" {
    for file in "$R/austen.f16" "$R/random.f32"; do
        # shellcheck disable=SC2046
        sampl --samplers greedy $(rows_of "$file") >want
        while read -r set; do
            # shellcheck disable=SC2046,SC2086
            sampl --samplers 'scatter;greedy' $set $(rows_of "$file") >ids
            same ids want
        done < <(parameter_sets | grep -v -e 'steps 50' -e 'radius 1000') # these may make it equal to another token by rounding
    done
}

@test "scatter: a wide radius makes probabilities equal, and more strength lowers the largest probability" {
    sampl -s 1 -n 4096 --samplers scatter --scatter-k 8 --scatter-strength 1 --scatter-radius 1000 --dump-probs -O tsv "$R/austen.f16" >dump
    [ "$(wc -l <dump)" -eq $((64 * 8 + 1)) ]
    awk -F'\t' 'NR > 1 && ($5 < 0.12499 || $5 > 0.12501) { exit 1 }' dump
    for strength in 0.05 0.2 0.8; do
        sampl -s 1 -n 4096 --samplers scatter --scatter-strength $strength --dump-probs -O tsv "$R/austen.f16" | awk -F'\t' '$2 == 1 { print $5 }' >top.$strength
    done
    paste top.0.05 top.0.2 top.0.8 | awk '!($1 > $2 && $2 > $3) { exit 1 }'
}

@test "scatter: one step gives the probabilities that its formula gives" {
    # p = 1/2 1/4 1/8 1/8; with this radius the neighbour has weight 1/2 and the next candidate 1/16
    f32 3 1 1 2 >row.f32
    echo '{"probs":[0.125,0.5,0.25,0.125]}' >row.json
    sampl -s 1 --samplers scatter --scatter-k 4 --scatter-strength 0.5 --scatter-radius 0.84932180028801907 --dump-probs -O tsv row.json >dump
    tail -n +2 dump | cut -f 3,5 >got
    perl -e '
        my @p = (0.5, 0.25, 0.125, 0.125);
        my @id = (1, 2, 0, 3);
        my @w = map { 2 ** -($_ * $_) } 0 .. 3;
        my (@q, $sum);
        for my $i (0 .. 3) {
            my ($value, $weight);
            $value += $w[abs $i - $_] * $p[$_], $weight += $w[abs $i - $_] for 0 .. 3;
            $sum += $q[$i] = 0.5 * $p[$i] + 0.5 * $value / $weight;
        }
        for (0 .. 3) {
            my ($id, $p) = split " ", <STDIN>;
            die "rank $_: $id $p is not $id[$_] ", $q[$_] / $sum if $id != $id[$_] || abs($p - $q[$_] / $sum) > 2e-7;
        }' <got
}

@test "scatter: banned tokens never get a probability" {
    args=(-s 1 --samplers scatter --scatter-strength 0.3 --dump-probs -O tsv)
    sampl -n 4096 "${args[@]}" "$R/austen.f16" --rows :1 >all
    ids=$(tail -n +2 all | cut -f 3 | head -5 | tr '\n' ' ')
    [ "$(wc -w <<<"$ids")" = 5 ]
    # shellcheck disable=SC2086
    read -ra bans < <(perl -e '%keep = map { $_ => 1 } @ARGV; print join " ", map { "-l $_-inf" } grep { !$keep{$_} } 0 .. 4095; print "\n"' $ids)
    sampl -n 4096 "${args[@]}" "${bans[@]}" "$R/austen.f16" --rows :1 >dump
    [ "$(tail -n +2 dump | cut -f 3 | tr '\n' ' ')" = "$ids" ]
}

@test "scatter: --scatter-collision 0 gives the dump of a chain without scatter" {
    sampl -n 4096 -s 4 --dump-probs --scatter-strength 0.3 --scatter-collision 0 "$R/austen.f16" >dump
    sampl -n 4096 -s 4 --dump-probs "$R/austen.f16" >want
    same dump want
    sampl -n 4096 -s 4 --dump-probs --scatter-strength 0.3 "$R/austen.f16" >dump
    run -1 cmp -s dump want
}

# touched CHANCE LOW HIGH OPTION...: runs 256 rows with --scatter-collision CHANCE. Checks that LOW to HIGH rows equal rows with scatter.
# The other rows must equal rows without scatter.
touched() {
    local chance=$1 low=$2 high=$3
    shift 3
    sampl -n 4096 "$@" --dump-probs=30 -O json "$AUSTEN" >without
    sampl -n 4096 "$@" --dump-probs=30 -O json --scatter-strength 0.3 "$AUSTEN" >always
    sampl -n 4096 "$@" --dump-probs=30 -O json --scatter-strength 0.3 --scatter-collision "$chance" "$AUSTEN" >mixed
    perl -e '
        my ($low, $high, @f) = @ARGV;
        open my $without, "<", "without"; open my $always, "<", "always"; open my $mixed, "<", "mixed";
        while (my $row = <$mixed>) {
            my ($no, $yes) = (scalar <$without>, scalar <$always>);
            die "row $rows: scatter makes no difference" if $no eq $yes;
            die "row $rows: neither with nor without\n$row$yes$no" if $row ne $no && $row ne $yes;
            $rows++;
            $touched++ if $row eq $yes;
        }
        print "$touched of $rows\n";
        die if $rows != 256 || $touched < $low || $touched > $high' "$low" "$high"
}

@test "scatter: --scatter-collision is the share of rows that scatter changes" {
    for seed in $(few 1 1 2); do
        for chain in 'top_k;scatter;temperature' 'top_k=100;scatter;top_p'; do
            touched 0.25 36 92 -s "$seed" --samplers "$chain" # 64 rows +- 4 standard deviations
            touched 0.25 36 92 -s "$seed" --samplers "$chain" --independent
            touched 0.5 96 160 -s "$seed" --samplers "$chain"
            touched 0.02 1 20 -s "$seed" --samplers "$chain" --independent
            touched 0.98 236 255 -s "$seed" --samplers "$chain"
        done
    done
    touched 1 256 256 -s 1 --samplers scatter
    touched 0.25 36 92 -s 3 --samplers scatter
}

@test "scatter: collisions have a generator of their own and change no random number of other samplers" {
    args=(-n 4096 -s 4 --xtc-probability 0.5 --xtc-threshold 0.05 --samplers 'xtc;scatter' --scatter-k 4096 --rows :24)
    sampl "${args[@]}" --dump-probs -O tsv "$R/austen.f16" | cut -f 1,3 | sort >want # the tokens that xtc keeps
    sampl "${args[@]}" --dump-probs -O tsv --scatter-strength 0.01 --scatter-collision 0.5 "$R/austen.f16" | cut -f 1,3 | sort >got
    same got want
}

@test "scatter: absorption multiplies a token's probability by exp(-X) for each recent occurrence" {
    args=(-n 4096 -s 4 --rows :1 --samplers scatter --scatter-k 10 --dump-probs -O tsv)
    sampl "${args[@]}" --top-k 10 --samplers top_k "$R/austen.f16" | tail -n +2 | cut -f 3,5 >plain
    first=$(sed -n '1s/\t.*//p' plain) third=$(sed -n '3s/\t.*//p' plain)
    sampl "${args[@]}" --scatter-absorption 0.7 --prompt-tokens "$first,$third,$first,1" "$R/austen.f16" | tail -n +2 | cut -f 3,5 >got
    perl -e '
        my ($first, $third) = splice @ARGV, 0, 2;
        open my $plain, "<", "plain"; open my $got, "<", "got";
        my %p = map { split } <$plain>;
        $p{$first} *= exp(-1.4);
        $p{$third} *= exp(-0.7);
        my $sum; $sum += $_ for values %p;
        my $last = 2;
        while (<$got>) {
            my ($id, $p) = split;
            die "$id: $p is not ", $p{$id} / $sum if abs($p - $p{$id} / $sum) > 1e-6;
            die "not falling" if $p > $last;
            $last = $p;
            $n++;
        }
        die if $n != 10' "$first" "$third"
    # A window of one token has only the last token.
    sampl "${args[@]}" --scatter-absorption 0.7 --scatter-absorption-last-n 1 --prompt-tokens "$first,$third,$first,1" "$R/austen.f16" | tail -n +2 | cut -f 3,5 >got
    cut -f 1 plain | cmp - <(cut -f 1 got)
    sampl "${args[@]}" --scatter-absorption 0.7 --scatter-absorption-last-n 2 --prompt-tokens "$first,$third,$first,1" "$R/austen.f16" >got
    sampl "${args[@]}" --scatter-absorption 0.7 --prompt-tokens "$first" "$R/austen.f16" | cmp - got
    # With strong absorption another token is the likeliest.
    sampl "${args[@]}" --scatter-absorption 20 --prompt-tokens "$first" "$R/austen.f16" >got
    [ "$(sed -n 2p got | cut -f 3)" != "$first" ]
    [ "$(tail -1 got | cut -f 3)" = "$first" ]
}

# Five wide steps make the probabilities equal except for rounding. Absorption without recent tokens must not change their order.
@test "scatter: absorption without recent tokens changes no id where probabilities are nearly equal" {
    perl -e 'srand 5; printf q({"seq":%d,"params":{"seed":%1$d},"logits":[%s]}), $_, join ",", map { -$_ * rand 3 } 0 .. 1 + $_ % 6 for 1 .. 300' >rows.json
    set -- -s 1 --samplers scatter --scatter-strength 1 --scatter-steps 5 --scatter-radius 1000 rows.json
    sampl "$@" >want
    sampl "$@" --scatter-absorption 0.5 | cmp - want
}

# ---- classes and embeddings

@test "scatter: classes and embeddings give numpy's probabilities, on every tier" {
    need_numpy
    local seed
    for seed in 1 2; do
        run -0 /usr/bin/python3 "$ROOT/tests/scatter.py" "$SAMPL" $((160 / STEP)) $seed
    done
}

# words_vocab: prints a vocabulary of 300 words behind a blank. classes_vocab: prints one with tokens of all classes.
words_vocab() {
    perl -e 'print " a$_\n" for 0 .. 299'
}

classes_vocab() {
    perl -e 'my @t = (" the", "ing", "12", ",", " ", "1st", " of", ".", "a", " (", " no"); print $t[$_ * 7 % 11], "\n" for 0 .. 299'
}

@test "scatter: with all tokens of one class, --scatter-classes keeps every bit" {
    words_vocab >words.txt
    while read -r set; do
        # shellcheck disable=SC2086
        sampl -n 300 -s 1 --samplers scatter $set --vocab words.txt --dump-probs -O tsv "$R/random.f32" >want
        # shellcheck disable=SC2086
        sampl -n 300 -s 1 --samplers scatter $set --vocab words.txt --dump-probs -O tsv --scatter-classes "$R/random.f32" >got
        same got want
    done < <(parameter_sets)
    # Tokens that the vocabulary lacks are of one class, too.
    echo ' the' >one.txt
    sampl -n 300 -s 1 --samplers scatter --scatter-strength 0.3 --scatter-classes --vocab one.txt -l 0-inf --dump-probs "$R/random.f32" >got
    sampl -n 300 -s 1 --samplers scatter --scatter-strength 0.3 -l 0-inf --vocab one.txt --dump-probs "$R/random.f32" >want
    same got want
}

@test "scatter: classes and embeddings keep the likeliest token in random rows" {
    need_numpy
    /usr/bin/python3 -c '
import numpy as np
import sys
rng, n = np.random.default_rng(3), int(sys.argv[1])
rows = rng.normal(0, 1, (n, 40)) * rng.choice([0.01, 0.3, 1, 3], (n, 1))
np.where(rng.random((n, 1)) < 0.3, np.round(rows), rows).astype("<f4").tofile("many.f32")
np.save("embd.npy", rng.normal(0, 1, (40, 16)).astype("<f4"))' $((400000 / STEP))
    classes_vocab | head -40 >classes.txt
    sampl -n 40 --samplers greedy many.f32 >want
    for options in '--scatter-strength 0.3' '--scatter-strength 1' '--scatter-adaptive' '--scatter-strength 0.6 --scatter-steps 4 --scatter-radius 1'; do
        # shellcheck disable=SC2086
        sampl -n 40 --samplers 'scatter;greedy' --vocab classes.txt --scatter-classes $options many.f32 >got
        same got want
    done
    sampl -n 40 --samplers 'scatter;greedy' --scatter-strength 0.9 --scatter-embeddings embd.npy many.f32 >got
    same got want
    sampl -n 40 --samplers 'scatter;greedy' --scatter-strength 0.9 --scatter-embeddings embd.npy --scatter-classes --vocab classes.txt \
        --scatter-metric l2 many.f32 >got
    same got want
}

# media: prints options with classes, with embeddings, and with both.
media() {
    cat <<-'END'
		--scatter-classes
		--scatter-embeddings embd.npy
		--scatter-embeddings embd.npy --scatter-classes --scatter-neighbours 2 --scatter-metric l2
	END
}

# random_vectors: writes embd.npy, vectors of the 300 tokens, and classes.txt.
random_vectors() {
    /usr/bin/python3 -c 'import numpy as np; np.save("embd.npy", np.random.default_rng(4).normal(0, 1, (300, 24)).astype("<f2"))'
    classes_vocab >classes.txt
}

@test "scatter: classes and embeddings act by the collision gate, by a row's parameters, and on any number of threads" {
    need_numpy
    random_vectors
    local chain=(-n 300 -s 3 --samplers 'scatter' --vocab classes.txt --scatter-strength 0.4)
    while read -r medium; do
        # shellcheck disable=SC2086
        sampl "${chain[@]}" $medium --dump-probs -O json --independent "$R/random.f32" | jq -c .top_probs >always
        # shellcheck disable=SC2086
        sampl "${chain[@]}" $medium --scatter-collision 0 --dump-probs -O json --independent "$R/random.f32" | jq -c .top_probs >never
        # shellcheck disable=SC2086
        sampl "${chain[@]}" $medium --scatter-collision 0.5 --dump-probs -O json "$R/random.f32" | jq -c .top_probs >mixed
        python3 -c '
acts = 0
for mixed, always, never in zip(open("mixed"), open("always"), open("never"), strict=True):
    assert mixed in (always, never)
    acts += mixed == always != never
assert 8 < acts < 32, acts'
        # shellcheck disable=SC2086
        sampl "${chain[@]}" $medium --dump-probs "$R/random.f32" >one
        # shellcheck disable=SC2086
        sampl "${chain[@]}" $medium --dump-probs -t 3 "$R/random.f32" >three
        same one three
    done < <(media | few 1)
    sampl -n 300 --samplers '' --emit logits -O json --rows :8 "$R/random.f32" | sed 's/.*"logits":\(\[[^]]*\]\).*/{"logits":\1,"params":{"scatter_classes":true,"scatter_strength":0.4,"scatter_sigma":0.7}}/' >rows.json
    [ "$(wc -l <rows.json)" -ge 7 ]
    sampl -s 3 --samplers scatter --vocab classes.txt --scatter-embeddings embd.npy --dump-probs rows.json >got
    sampl -n 300 "${chain[@]}" --scatter-classes --scatter-sigma 0.7 --scatter-embeddings embd.npy --rows :8 --dump-probs "$R/random.f32" >want
    same got want
}

@test "scatter: --print-chain prints classes and embeddings, and reads them back" {
    need_numpy
    random_vectors
    cp embd.npy "with ' space.npy"
    local how
    for how in json preset; do
        sampl -s 1 --samplers scatter --scatter-strength 0.4 --scatter-classes --scatter-neighbours 3 --scatter-sigma 0.5 --vocab classes.txt \
            --scatter-embeddings "with ' space.npy" --scatter-metric l2 --print-chain=$how >chain
        sampl -n 300 --vocab classes.txt --preset ./chain --dump-probs "$R/random.f32" >got
        sampl -n 300 -s 1 --samplers scatter --scatter-strength 0.4 --scatter-classes --scatter-neighbours 3 --scatter-sigma 0.5 \
            --vocab classes.txt --scatter-embeddings embd.npy --scatter-metric l2 --dump-probs "$R/random.f32" >want
        same got want
        sampl --vocab classes.txt --preset ./chain --print-chain=$how | sed 's/"from":.*//' >again
        sed 's/"from":.*//' chain | cmp - again
    done
    sampl -s 1 --samplers scatter --scatter-strength 0.4 --scatter-embeddings embd.npy --print-chain >text
    grep -q 'scatter-classes=false scatter-neighbours=5 scatter-sigma=0 scatter-embeddings=embd.npy scatter-metric=cosine\b' <(paste -sd ' ' text | tr -s ' ')
    # Variants that differ in the vectors are other chains; equal ones share the file.
    cp embd.npy other.npy
    run -0 --separate-stderr sampl -n 300 -s 1 --samplers scatter --scatter-strength 0.4 "$R/random.f32" --vs '--scatter-embeddings embd.npy' \
        --vs '--scatter-embeddings embd.npy --scatter-k 64' --vs '--scatter-embeddings embd.npy --scatter-metric l2'
    # shellcheck disable=SC2154 # run sets it
    [ "$(grep -c 'come to the same chain' <<<"$stderr")" = 1 ]
}

@test "scatter: scatter_within is the share of the moved probability that stays within classes" {
    need_numpy
    random_vectors
    while read -r medium; do
        # shellcheck disable=SC2086
        sampl -n 300 -s 3 --samplers scatter --vocab classes.txt --scatter-strength 0.4 $medium --emit stats -O json "$R/random.f32" >numbers
        # shellcheck disable=SC2086
        sampl -n 300 -s 3 --samplers scatter --vocab classes.txt --scatter-strength 0.4 $medium --dump-probs -O json "$R/random.f32" >after
        sampl -n 300 -s 3 --samplers top_k --top-k 64 --dump-probs -O json "$R/random.f32" >before
        /usr/bin/python3 -c '
import json
texts = open("classes.txt").read().split("\n")
kind = {" the": 0, " of": 0, " no": 0, "ing": 1, "a": 1, "12": 2, ",": 3, ".": 3, " (": 3, " ": 4, "1st": 5}
read = lambda name: [json.loads(line) for line in open(name)]
seen = 0
for row, after, before in zip(read("numbers"), read("after"), read("before"), strict=True):
    q, p = ({t["id"]: t["prob"] for t in x["top_probs"]} for x in (after, before))
    p = {t: x for t, x in p.items() if t in q}
    moved = sum(abs(p[t] - q[t]) for t in q) / 2
    across = sum(abs(sum(q[t] - p[t] for t in q if kind[texts[t]] == c)) for c in range(6)) / 2
    if moved < 1e-3:
        continue
    seen += 1
    assert abs(row["scatter_within"] - (1 - across / moved)) < 1e-3, (row, moved, across)
assert seen > 20'
    done < <(media; echo)
    # Without texts it is not known.
    sampl -n 300 -s 3 --samplers scatter --scatter-strength 0.4 --emit stats -O json "$R/random.f32" --rows :1 | jq -e '.scatter_within == null and .scatter_moved > 0'
}

@test "scatter: the manual has the measured probabilities that cross classes" {
    need_numpy
    local way strength moved across share
    while read -r way strength moved across share; do
        [ "$way" != both ] || way='classes and embeddings'
        grep -qF ".It $way Ta $strength Ta $moved Ta $across Ta $share" "$ROOT/man/sampl-samplers.7"
    done < <(/usr/bin/python3 "$ROOT/tests/scatter_table.py" "$SAMPL" "$ROOT/samples" | tee table | tail -n +2)
    [ "$(wc -l <table)" = 6 ]
    read -r _ before _ after _ <table
    grep -qF "raises the mean entropy from ${before%,} to $after nats" "$ROOT/man/sampl-samplers.7"
}
