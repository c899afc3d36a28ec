#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sparse rows: rows that list ids with their logits.

load helper

# write_rows N WIDTH SEED: writes N random rows of WIDTH logits, some masked, to three files. dense.json has arrays. all.json has sparse
# rows with every id in order. mixed.json has sparse rows with every id in random order, with the ids before or behind the logits.
write_rows() {
    perl -e '
        my ($n, $width, $seed) = @ARGV;
        srand $seed;
        open my $dense, ">", "dense.json"; open my $all, ">", "all.json"; open my $mixed, ">", "mixed.json";
        for my $row (1 .. $n) {
            my @x = map { rand() < 0.1 ? "null" : rand() < 0.2 ? int(rand 3) : sprintf "%.6g", 8 * rand() - 4 } 1 .. $width;
            $x[rand @x] = 1;
            print $dense "[", join(",", @x), "]\n";
            my @id = 0 .. $#x;
            print $all "{\"ids\":[", join(",", @id), "],\"logits\":[", join(",", @x), "]}\n";
            @id = sort { $a->[1] <=> $b->[1] } map { [$_, rand] } @id;
            my ($ids, $logits) = (join(", ", map { $_->[0] } @id), join(", ", map { $x[$_->[0]] } @id));
            print $mixed rand() < 0.5 ? "{\"ids\": [$ids], \"logits\": [$logits]}\n" : "{\"logits\":[ $logits ], \"ids\" : [ $ids ]}\n";
        }' "$@"
}

# write_truncated SEED: selects about a third of the candidates of dense.json. Writes them as sparse rows to some.json, and as dense rows
# with the other tokens masked to masked.json.
write_truncated() {
    perl -e '
        srand shift;
        open my $in, "<", "dense.json"; open my $some, ">", "some.json"; open my $masked, ">", "masked.json";
        while (<$in>) {
            my @x = /[^][,\n]+/g;
            my @id = grep { rand() < 0.3 } 0 .. $#x;
            @id = (0) if !@id;
            $x[$id[0]] = 2;
            print $some "{\"ids\":[", join(",", @id), "],\"logprobs\":[", join(",", @x[@id]), "]}\n";
            my %in = map { $_ => 1 } @id;
            print $masked "[", join(",", map { $in{$_} ? $x[$_] : "null" } 0 .. $#x), "]\n";
        }' "$@"
}

# chains: prints the options of chains, one a line.
chains() {
    cat <<'END'

--temp 0
--temp 1 --top-k 0 --top-p 1 --min-p 0
--samplers greedy
--samplers top_k=3
--samplers top_k=3;min_p=0.2 --min-keep 2
--samplers min_p=0.1
--samplers top_p=0.7 --min-keep 5
--samplers typ_p=0.4
--samplers top_n_sigma=1
--samplers top_n_sigma=0.5;temperature=2
--samplers xtc --xtc-probability 0.6 --xtc-threshold 0.05
--samplers temperature=0.5 --dynatemp-range 0.4 --dynatemp-exp 1.5
--samplers scatter;temperature --scatter-strength 0.4 --scatter-adaptive
--samplers scatter --scatter-absorption 0.7 --scatter-strength 0.1
--samplers penalties --repeat-penalty 1.3 --frequency-penalty 0.2 --presence-penalty 0.1
--samplers dry --dry-multiplier 2 --dry-allowed-length 0 --dry-breaker-tokens 3
--samplers adaptive_p --adaptive-target 0.3
--mirostat 1 --mirostat-ent 2
--mirostat 2 --mirostat-ent 1
-l 1-inf -l 3+2.5 -l 7-1 --temp 1.5
--independent --temp 1.2
END
}

@test "sparse: a row with every id gives the output of the dense row, with any chain" {
    write_rows 40 50 1
    local n=0 chain out
    while read -r chain; do
        n=$((n + 1))
        for out in "" "-O json" "--dump-probs --trace" "--dump-probs --trace -O json" "--dump-probs=3 -O tsv"; do
            # shellcheck disable=SC2086
            sampl -s 5 --prompt-tokens 1,2,3,1,2 $chain $out dense.json >want
            [ "$(wc -l <want)" -ge 40 ]
            for file in all.json mixed.json; do
                for more in "" "-t 3" "-n 50"; do
                    # shellcheck disable=SC2086
                    sampl -s 5 --prompt-tokens 1,2,3,1,2 $chain $out $more $file >got
                    same want got || { echo "$chain $out $more $file"; return 1; }
                done
            done
        done
    done < <(chains | few 3)
    enough "$n" 21
}

@test "sparse: wide rows give the dumps of dense rows on every tier" {
    local n=0
    write_rows 3 9000 2
    for tier in $(tiers); do
        for chain in "" "--top-k 500 --top-p 0.9" "--samplers typ_p=0.5" "--mirostat 2"; do
            # shellcheck disable=SC2086
            sampl -s 5 $chain --dump-probs dense.json >want
            # shellcheck disable=SC2086
            SAMPL_CPU=$tier sampl -s 5 $chain --dump-probs mixed.json >got
            same want got
            n=$((n + 1))
        done
    done
    [ "$n" -ge 4 ]
}

# Most samplers look only at candidates with a finite logit.
@test "sparse: a truncated row gives the dump of the dense row with its other tokens masked" {
    write_rows 60 60 3
    write_truncated 4
    local n=0 chain
    while read -r chain; do
        case $chain in *dynatemp* | *mirostat\ 1*) continue ;; esac # depend on the number of candidates
        n=$((n + 1))
        # shellcheck disable=SC2086
        sampl -s 5 --prompt-tokens 1,2,3,1,2 $chain --dump-probs -O tsv masked.json | cut -f -7 >want
        # shellcheck disable=SC2086
        sampl -s 5 --prompt-tokens 1,2,3,1,2 $chain --dump-probs -O tsv some.json | cut -f -7 >got
        same want got || { echo "$chain"; return 1; }
    done < <(chains)
    [ "$n" -gt 15 ]
}

@test "sparse: rows give the ids of dense rows with every engine" {
    write_rows 40 300 10
    write_truncated 11
    local engine
    for engine in ollama akunu akunu-gpu batch; do
        for args in "" "--temp 0.8" "--temp 2 --top-k 20 --top-p 0.6" "--temp 1.3 --top-k 0 --top-p 1"; do
            # shellcheck disable=SC2086
            for pair in "dense all" "dense mixed" "masked some"; do
                sampl -s 5 --engine $engine $args "${pair% *}.json" >want
                sampl -s 5 --engine $engine $args -n 300 "${pair#* }.json" >got
                same want got || { echo "$engine $args $pair"; return 1; }
            done
        done
    done
}

# The ids are the largest possible. Memory for all tokens up to them would be gigabytes.
@test "sparse: memory depends on the number of candidates, not on their ids" {
    need_own_process
    local room=200000
    if nm -D "$SAMPL" 2>/dev/null | grep -q ' __asan_'; then room=unlimited; fi # a sanitizer's shadow memory counts
    echo '{"ids":[2147483647,2147483646,0],"logits":[3,2,1]}' >x.json
    for chain in "--temp 0" "--mirostat 1" "--mirostat 2" "--repeat-penalty 2 --dry-multiplier 1 --dry-breaker-tokens 1" \
        "--samplers scatter;adaptive_p --scatter-absorption 1" "-l 2147483647-1 -l 2147483645+3"; do
        # shellcheck disable=SC2086
        (ulimit -v $room && sampl -s 1 $chain --prompt-tokens 2147483647,2147483645 --dump-probs --trace x.json x.json >out)
        grep -q 214748364 out
    done
}

# digits: prints the numbers of --emit stats with 12 digits. A sum has lanes by the positions of the logits, which changes its last digits.
digits() {
    awk 'NR > 1 { for (i = 1; i <= NF; i++) printf "%.12g ", $i; print "" }'
}

@test "sparse: distributions, scores and statistics equal those of dense rows" {
    write_rows 12 50 8
    write_truncated 9
    local chain what
    for chain in "" "--samplers top_n_sigma=1" "--samplers scatter --scatter-strength 0.4" "--mirostat 2" "--temp 0"; do
        for what in probs logprobs logits "score --accept @ids"; do
            seq 0 11 >ids
            for pair in "dense all" "dense mixed" "masked some"; do
                # shellcheck disable=SC2086
                sampl -s 5 $chain --emit $what "${pair% *}.json" >want
                # shellcheck disable=SC2086
                sampl -s 5 $chain --emit $what -n 50 -t 2 "${pair#* }.json" >got
                same want got || { echo "$chain $what $pair"; return 1; }
            done
        done
        for pair in "dense all" "dense mixed" "masked some"; do
            # shellcheck disable=SC2086
            sampl -s 5 $chain --emit stats "${pair% *}.json" | digits >want
            # shellcheck disable=SC2086
            sampl -s 5 $chain --emit stats "${pair#* }.json" | digits >got
            same want got || { echo "$chain stats $pair"; return 1; }
        done
    done
}

@test "sparse: one input may have dense and sparse rows" {
    write_rows 6 20 5
    write_truncated 6
    paste -d '\n' dense.json some.json >both.json
    paste -d '\n' dense.json masked.json >want.json
    sampl -s 9 --repeat-penalty 1.2 want.json >want
    sampl -s 9 --repeat-penalty 1.2 both.json >got
    same want got
    sampl -s 9 -t 3 want.json >want
    sampl -s 9 -t 3 both.json >got
    same want got
    { echo '['; paste -sd , both.json; echo ']'; } | sampl -s 9 -t 3 >got
    same want got
}

@test "sparse: rows that arrive byte by byte give the same ids" {
    write_rows 5 30 7
    sampl -s 2 mixed.json >want
    perl -e '$| = 1; undef $/; for my $c (split //, <STDIN>) { syswrite STDOUT, $c }' <mixed.json | sampl -s 2 >got
    same want got
}
