#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --emit and --output-format: scores and distributions in every format, and sampl reading the output of sampl.
# shellcheck disable=SC2094,SC2016 # files have the names of --emit's choices; bash -c

load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    sampl -n 4096 -s 3 --rows :24 "$AUSTEN" --emit logits -O f32 --samplers '' >austen.f32
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    R=$BATS_FILE_TMPDIR
}

# austen OPTION...: runs sampl on the first 24 rows of the sample, with seed 3.
austen() {
    sampl -n 4096 -s 3 --rows :24 "$@" "$AUSTEN"
}

# floats WIDTH: prints f32 rows of this width from standard input as text, one row a line.
floats() {
    perl -e 'local $/; my @x = unpack "f<*", <STDIN>; print join(" ", map { /inf/i ? lc : /nan/i ? "nan" : $_ } splice @x, 0, $ARGV[0]), "\n" while @x' "$1"
}

@test "--emit logits of a chain without samplers gives the bytes of the input" {
    austen --samplers '' --emit logits >same.f16 # in the format of the input
    head -c $((24 * 8192)) "$AUSTEN" | cmp - same.f16
    [ "$(stat -c %s "$R/austen.f32")" -eq $((24 * 4096 * 4)) ]
    sampl -n 4096 --samplers '' --emit logits "$R/austen.f32" | cmp - "$R/austen.f32"
}

@test "--emit probs and logits have the numbers of --dump-probs, and 0 and -inf for removed tokens" {
    local args
    for args in '' '--samplers temperature --temp 0.7' '--samplers=' '--mirostat 1' '--mirostat 2' '--temp 0' '--samplers greedy' \
        '--samplers top_k;adaptive_p --adaptive-target 0.3' '--scatter-strength 0.3' '-l 304-inf --top-nsigma 2 --xtc-probability 0.5' \
        '--repeat-penalty 1.5 --samplers penalties;top_p'; do
        # shellcheck disable=SC2086
        austen $args --dump-probs -O tsv >dump
        # shellcheck disable=SC2086
        austen $args --emit probs -O f32 >probs
        # shellcheck disable=SC2086
        austen $args --emit logits -O f32 >logits
        perl -e '
            my (@p, @x);
            open my $d, "<", "dump" or die;
            <$d>;
            for (0 .. 24 * 4096 - 1) { $p[$_] = 0; $x[$_] = -9**9**9 }
            while (<$d>) { my @f = split; $p[$f[0] * 4096 + $f[2]] = $f[4]; $x[$f[0] * 4096 + $f[2]] = $f[3] }
            open my $f, ">", "probs.want"; print $f pack "f<*", @p; close $f;
            open $f, ">", "logits.want"; print $f pack "f<*", @x'
        same probs probs.want
        same logits logits.want
    done
}

@test "--emit logprobs has the logarithms of the probabilities, also of those that are 0 in f32" {
    local args
    for args in '' '--samplers temperature --temp 0.05' '--samplers=' '--mirostat 1' '--mirostat 2' '--samplers greedy' \
        '--samplers top_k;adaptive_p --adaptive-target 0.3' '--scatter-strength 0.3' '--temp 0'; do
        # shellcheck disable=SC2086
        austen $args --emit probs -O f32 >probs
        # shellcheck disable=SC2086
        austen $args --emit logprobs -O f32 >logprobs
        # shellcheck disable=SC2086
        austen $args --emit logits -O f32 >logits
        perl -e '
            sub slurp { local (@ARGV, $/) = @_; unpack "f<*", <> }
            my @p = slurp("probs"); my @l = slurp("logprobs"); my @x = slurp("logits");
            for my $row (0 .. 23) {
                my ($max, $sum, $exact) = (-9**9**9, 0, 0);
                for ($row * 4096 .. $row * 4096 + 4095) { $max = $x[$_] if $x[$_] > $max }
                for ($row * 4096 .. $row * 4096 + 4095) { $exact += exp($x[$_] - $max) }
                for my $i ($row * 4096 .. $row * 4096 + 4095) {
                    die "$i: $x[$i] but $l[$i]" if ($x[$i] == -9**9**9) != ($l[$i] == -9**9**9);
                    next if $l[$i] == -9**9**9;
                    my $want = $x[$i] - $max - log $exact;
                    die "$i: $l[$i], not $want" if abs($l[$i] - $want) > (abs($want) < 0.1 ? 3e-6 * abs($want) + 1e-14 : 2e-7 * (1 + abs $want));
                    die "$i: $l[$i] but $p[$i]" if abs(exp($l[$i]) - $p[$i]) > 2e-6 * (1 + abs $l[$i]) * $p[$i] + 1e-37; # some selectors sum in f32
                    $sum += exp $l[$i];
                }
                die "row $row: $sum" if abs($sum - 1) > 1e-6;
            }'
    done
}

@test "--emit score prints the log-probability of each token of --accept" {
    local args
    for args in '' '--samplers temperature' '--repeat-penalty 1.3 --dry-multiplier 1 --dry-sequence-breaker none'; do
        # shellcheck disable=SC2086
        austen $args --accept "@$ROOT/samples/austen.tokens" --emit logprobs -O f32 >all
        # shellcheck disable=SC2086
        austen $args --accept "@$ROOT/samples/austen.tokens" --emit score -O f32 >score
        perl -e '
            local $/;
            open my $f, "<", "$ENV{ROOT}/samples/austen.tokens" or die;
            my @id = <$f> =~ /\d+/g;
            open $f, "<:raw", "all" or die;
            my @x = unpack "f<*", <$f>;
            print pack "f<*", map { $x[$_ * 4096 + $id[$_]] } 0 .. 23' >want
        same score want
        # shellcheck disable=SC2086
        austen $args --accept "@$ROOT/samples/austen.tokens" --emit score >score.txt
        perl -lne 'print pack "f<", $_ eq "-inf" ? -9**9**9 : $_' score.txt | perl -pe 'BEGIN { $/ = \5 } chop' | cmp - score
        # shellcheck disable=SC2086
        austen $args --accept "@$ROOT/samples/austen.tokens" --emit score -O tsv | tail -n +2 | cut -f 3 | cmp - score.txt
        # shellcheck disable=SC2086
        austen $args --accept "@$ROOT/samples/austen.tokens" --emit score -O json | sed 's/.*"logprob"://; s/}//; s/null/-inf/' | cmp - score.txt
    done
    # --accept recorded
    perl -e 'print "_logits_", pack("Vll", 4, 3, 1), pack("l*", 0, 1, 2, 1), pack("ff", 1, 0), pack("v*", 1, 3, 2, 0)' >a.kld
    sampl a.kld --accept recorded --samplers '' --emit score >got
    [ "$(wc -l <got)" -eq 1 ]
    perl -ne 'die $_ if abs($_ + log(1 + exp(-1) + exp(-2))) > 1e-6' got # token 1, whose logit is the largest
}

@test "--emit probs, logprobs and logits have the same numbers in every format" {
    local what key
    for what in probs logprobs logits; do
        austen --rows :4 --emit $what -O f32 >raw
        austen --rows :4 --emit $what -O text >text
        austen --rows :4 --emit $what -O tsv >tsv
        austen --rows :4 --emit $what -O json >json
        austen --rows :4 --emit $what -O npy >npy
        tail -c +129 npy | cmp - raw
        [ "$(wc -l <text)" -eq 4 ]
        perl -lane 'print pack "f<*", map { $_ eq "-inf" ? -9**9**9 : $_ } @F' text | perl -pe 'BEGIN { $/ = \16385 } chop' | cmp - raw
        key=${what%s}
        head -1 tsv | grep -qx "row	id	$key"
        tail -n +2 tsv | cut -f 3 | cmp - <(tr ' ' '\n' <text)
        [ "$(tail -n +2 tsv | awk -F'\t' '$1 != int((NR - 1) / 4096) || $2 != (NR - 1) % 4096' | wc -l)" -eq 0 ]
        sed -E "s/^\{\"row\":[0-3],\"$what\":\[(.*)\]\}\$/\1/; s/null/-inf/g; s/,/ /g" json | cmp - text
    done
}

@test "a distribution has the format of the input unless -O names another" {
    head -c 8192 "$AUSTEN" >a.f16
    head -c 16384 "$R/austen.f32" >a.f32
    perl -e 'local $/; print pack "v*", map { $_ >> 16 } unpack "V*", <STDIN>' <a.f32 >a.bf16
    sampl -n 4096 a.f16 --emit logits --samplers '' | cmp - a.f16
    sampl -n 4096 a.f32 --emit logits --samplers '' | cmp - a.f32
    [ "$(sampl -n 4096 a.bf16 --emit logits | wc -c)" -eq 16384 ]
    sampl -n 4096 a.f32 --emit logits --samplers '' -O npy >a4.npy
    sampl -n 4096 a.f16 --emit logits --samplers '' -O npy | cmp - a4.npy # -O npy means f32
    sampl a4.npy --emit logits --samplers '' | cmp - a4.npy
    { printf '\x93NUMPY\1\0v\0' && printf "%-117s\n" "{'descr': '<f2', 'fortran_order': False, 'shape': (1, 4096), }" && cat a.f16; } >a2.npy
    sampl a2.npy --emit logits --samplers '' | cmp - a2.npy
    printf '0: 1\n1: 2\n' | sampl --emit logits --samplers '' >got
    printf '{"row":0,"logits":[1,2]}\n' | cmp - got
    perl -e 'my $h = q({"x":{"dtype":"F16","shape":[1,4096],"data_offsets":[0,8192]}}); print pack("Q</a*", $h)' >a.safetensors
    cat a.f16 >>a.safetensors
    sampl a.safetensors --emit logits --samplers '' | cmp - a2.npy
    perl -e 'print "_logits_", pack("Vll", 4, 3, 1), pack("l*", 0, 1, 2, 1), pack("ff", 1, 0), pack("v*", 1, 3, 2, 0)' >a.kld
    sampl a.kld --emit logits --samplers '' | tail -c +129 | floats 3 >got
    echo "1 3 2" | cmp - got
    # The first file that is not empty decides.
    : >empty
    sampl -n 4096 empty a.f16 a.f32 --emit logits --samplers '' | cmp - <(cat a.f16 a.f16)
    # -O overrides the format of the input.
    sampl -n 4096 a.f16 --emit logits -O json | head -c 20 | grep -q '"logits"'
}

@test "two runs with the halves of a chain, joined by a pipe, choose the tokens of the whole chain" {
    local out
    austen --samplers 'top_k;typ_p;top_p;min_p;temperature' --typical 0.9 --top-k 30 >want
    for out in '' '-O f32' '-O f16' '-O npy' '-O json'; do
        # shellcheck disable=SC2086
        austen --samplers 'top_k;typ_p' --top-k 30 --typical 0.9 --emit logits $out |
            sampl -n 4096 -s 3 -f "$(case $out in '') echo f16 ;; -O\ f*) echo "${out#-O }" ;; *) echo auto ;; esac)" \
                --samplers 'top_p;min_p;temperature' >got
        same got want
    done
    # three runs, without options for formats
    sampl -s 3 -f npy --samplers 'top_p;min_p;temperature' < <(
        austen --samplers top_k --top-k 30 --emit logits -O npy | sampl --samplers typ_p --typical 0.9 --emit logits) >got
    same got want
    austen --samplers top_k --top-k 30 --emit logits -O json | sampl --samplers typ_p --typical 0.9 --emit logits |
        sampl -s 3 --samplers 'top_p;min_p;temperature' >got
    same got want
    # JSON names probabilities as such; log-probabilities are read as logits.
    austen --samplers 'top_k;typ_p' --top-k 30 --typical 0.9 --emit probs -O json | sampl --samplers '' --emit probs -O f32 >p
    austen --samplers 'top_k;typ_p' --top-k 30 --typical 0.9 --emit logprobs -O f32 | sampl -f f32 -n 4096 --samplers '' --emit probs >q
    austen --samplers 'top_k;typ_p' --top-k 30 --typical 0.9 --emit probs -O f32 >want
    perl -e 'sub slurp { local (@ARGV, $/) = @_; unpack "f<*", <> }
        my @w = slurp("want");
        for my $f ("p", "q") {
            my @x = slurp($f);
            die if @x != @w;
            for (0 .. $#w) { die "$f $_: $x[$_], want $w[$_]" if abs($x[$_] - $w[$_]) > 1e-6 * $w[$_] }
        }'
}

@test "-O f16 rounds to nearest, ties to even, and masks logits below the lowest f16" {
    f32 1 1.00048828125 1.00146484375 65519 -65519 -65520 -1e30 -inf 1e-8 5.9604644775390625e-8 2049 2051 >a.f32
    sampl -n 12 a.f32 --samplers '' --emit logits -O f16 | od -An -tx2 -v | tr -s ' \n' ' ' >got
    printf ' 3c00 3c00 3c02 7bff fbff fc00 fc00 fc00 0000 0001 6800 6802 ' | cmp - got
    need_numpy
    austen --samplers temperature --temp 0.73 --emit logits -O f32 >a.f32
    austen --samplers temperature --temp 0.73 --emit logits -O f16 >a.f16
    /usr/bin/python3 -c 'import numpy as np; np.fromfile("a.f32", "<f4").astype("<f2").tofile("want")'
    same a.f16 want
}

# header FILE: prints the dictionary of an npy file. Fails if the magic, the version, the length or the padding is wrong.
header() {
    [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' ')" = 934e554d50590100 ] || return 1
    [ "$(head -c 10 "$1" | tail -c 2 | od -An -tu2 | tr -d ' ')" -eq 118 ] || return 1
    head -c 128 "$1" | tail -c 1 | cmp - <(echo) || return 1
    head -c 127 "$1" | tail -c +11 | sed 's/ *$//'
}

@test "-O npy: the header has the number of rows, in files and in pipes" {
    local shape="{'descr': '<f4', 'fortran_order': False, 'shape': (24, 4096), }"
    austen --emit logits -O npy -o a.npy
    header a.npy | grep -qxF "$shape"
    austen --emit logits -O npy >b.npy
    same a.npy b.npy
    # shellcheck disable=SC2002
    austen --emit logits -O npy | cat >c.npy
    same a.npy c.npy
    # The number of rows is not known at the start.
    head -c $((24 * 8192)) "$AUSTEN" | sampl -f f16 -n 4096 -s 3 --emit logits -O npy >d.npy
    same a.npy d.npy
    head -c $((24 * 8192)) "$AUSTEN" | sampl -f f16 -n 4096 -s 3 --emit logits -O npy -o e.npy
    same a.npy e.npy
    printf '[1,2] [3,4]' | sampl -s 1 --emit logits --samplers '' -O npy >f.npy
    header f.npy | grep -qF '(2, 2)'
    # The file has other bytes before the array.
    (echo first && austen --emit logits -O npy && echo last) >g
    (echo first && cat a.npy && echo last) | cmp - g
    (echo first && head -c $((24 * 8192)) "$AUSTEN" | sampl -f f16 -n 4096 -s 3 --emit logits -O npy && echo last) >g
    (echo first && cat a.npy && echo last) | cmp - g
    # A file that is opened for appending cannot be corrected.
    run -2 --separate-stderr bash -c 'head -c 8192 "$AUSTEN" | "$SAMPL" -f f16 -n 4096 --emit logits -O npy >>g'
    austen --emit logits -O npy >>h.npy
    same a.npy h.npy
    # Counting the rows does not move the offset of standard input.
    sampl --rows -2: --emit logits --samplers '' <a.npy | cat >i.npy
    header i.npy | grep -qF '(2, 4096)'
    tail -c 32768 i.npy | cmp - <(tail -c 32768 a.npy)
    # --rows, several files, no rows
    sampl -n 4096 --rows 250:300 --emit logits -O npy "$AUSTEN" "$AUSTEN" | cat >i.npy
    header i.npy | grep -qF '(50, 4096)'
    sampl -n 4096 --rows -3: --emit logits -O npy "$AUSTEN" | cat >i.npy
    header i.npy | grep -qF '(3, 4096)'
    sampl -n 4096 --emit logits -O npy "$AUSTEN" --rows 900: | cat >i.npy
    header i.npy | grep -qF '(0, 4096)'
    [ "$(stat -c %s i.npy)" -eq 128 ]
    sampl -n 7 --emit logits -O npy </dev/null >i.npy
    header i.npy | grep -qF '(0, 7)'
    # The rows before an error are an array.
    { head -c 16384 "$AUSTEN" && printf x; } >short.f16
    run -1 --separate-stderr bash -c '"$SAMPL" -n 4096 --emit logits -O npy short.f16 >j.npy'
    header j.npy | grep -qF '(2, 4096)'
    [ "$(stat -c %s j.npy)" -eq $((128 + 2 * 16384)) ]
}

@test "-O npy: numpy reads the array" {
    need_numpy
    austen --emit probs -O npy >a.npy
    austen --emit probs -O f32 >a.f32
    austen --emit score --accept "@$ROOT/samples/austen.tokens" -O npy >s.npy
    sampl -n 7 --emit logits -O npy </dev/null >none.npy
    /usr/bin/python3 -c '
import numpy as np
a = np.load("a.npy")
assert a.shape == (24, 4096) and a.dtype == np.dtype("<f4"), (a.shape, a.dtype)
assert a.tobytes() == open("a.f32", "rb").read()
assert abs(a.sum(1) - 1).max() < 1e-6
assert np.load("s.npy").shape == (24, 1)
assert np.load("none.npy").shape == (0, 7)
np.save("b.npy", a.astype("<f2"))
np.savez'
    sampl --samplers '' --emit logits b.npy -o c.npy
    /usr/bin/python3 -c '
import numpy as np
b, c = np.load("b.npy"), np.load("c.npy")
assert b.dtype == c.dtype and (b == c).all()'
    same b.npy c.npy
}

@test "--emit score, probs, logprobs and logits give the same bytes on 1, 2 and 5 threads" {
    local what t format
    for what in score probs logprobs logits; do
        for format in f32 f16 npy json text tsv; do
            for t in 1 2 5; do
                austen --rows :40 -t $t --accept "@$ROOT/samples/austen.tokens" --repeat-penalty 1.2 --emit $what -O $format >out.$t
            done
            [ -s out.1 ]
            same out.1 out.2
            same out.1 out.5
        done
    done
}

@test "--emit ids prints the ids of a run without --emit" {
    austen --emit ids | cmp - <(austen)
    austen --emit ids -O tsv | cmp - <(austen -O tsv)
    # a dump of one row from the middle
    austen --independent --dump-probs=1 -O tsv --rows 5:6 >a
    [ "$(wc -l <a)" -eq 2 ]
}

# row_by_row OPTION...: checks that a row's logits are written before the next row arrives.
row_by_row() {
    rm -f rows
    mkfifo rows
    sampl -f f32 -n 3 --samplers '' --emit logits -O f32 --line-buffered "$@" rows >out 3>&- &
    exec 8>rows
    f32 1 2 3 >&8
    await has_bytes 12 out
    [ "$(stat -c %s out)" -eq 12 ]
    f32 3 2 1 >&8
    exec 8>&-
    wait $!
    { f32 1 2 3 && f32 3 2 1; } | cmp - out
}

@test "--line-buffered: a distribution is written before the next row arrives" {
    row_by_row
    row_by_row -t 3
}
