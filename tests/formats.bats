#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The formats npy, safetensors, kld and pairs: rows give the same ids and distributions in every format. A broken file ends the program
# with one line on standard error. Perl writes the files here from the descriptions of the formats.

load helper

# writers: prints a Perl module of functions that read and write the formats.
writers() {
    cat <<'PERL'
package Writers;
use strict;
use warnings;
use parent "Exporter";
our @EXPORT = qw(put slurp f16_to_f f32 npy npy_file safetensors kld_row kld_file);

sub put { my $name = shift; open my $f, ">:raw", $name or die "$name: $!"; print $f @_; close $f or die }

sub slurp { open my $f, "<:raw", $_[0] or die "$_[0]: $!"; local $/; return scalar <$f> }

# f16_to_f BITS...: returns the numbers that the bits of binary16 stand for.
sub f16_to_f {
    map {
        my ($e, $m) = ($_ >> 10 & 31, $_ & 1023);
        ($_ >> 15 ? -1 : 1) * ($e ? (1024 + $m) * 2 ** ($e - 25) : $m * 2 ** -24)
    } @_;
}

# f32 NUMBER...: returns the numbers rounded to binary32.
sub f32 { unpack "f<*", pack "f<*", @_ }

# npy VERSION DICT: returns the start of a file with this header, padded to a multiple of 64 bytes as numpy does.
sub npy {
    my ($version, $dict) = @_;
    my $before = $version == 1 ? 10 : 12;
    my $len = length($dict) + 1;
    $len++ while ($before + $len) % 64;
    return "\x93NUMPY" . pack("CC", $version, 0) . pack($version == 1 ? "v" : "V", $len) . $dict . " " x ($len - length($dict) - 1) . "\n";
}

sub npy_file { my ($descr, $shape, $data) = @_; npy(1, "{'descr': '$descr', 'fortran_order': False, 'shape': $shape, }") . $data }

sub safetensors { my ($json, @data) = @_; join "", pack("Q<", length $json), $json, @data }

# kld_row LOGIT...: quantises a row as llama-perplexity does. Returns the bytes of the row (scale, lowest log-probability, 16-bit
# numbers) and the log-probabilities that a reader of these bytes gets: clipped tokens share what the others leave of 1.
sub kld_row {
    my @x = @_;
    my ($max, $min) = ($x[0], $x[0]);
    for (@x) { $max = $_ if $_ > $max; $min = $_ if $_ < $min }
    $min = $max - 16 if $min < $max - 16;
    my $sum = 0;
    $sum += exp($_ - $max) for @x;
    my ($low) = f32($min - $max - log $sum);
    my ($scale) = f32(($max - $min) / 65535);
    my @q = map { $scale && $_ > $min ? int(($_ - $min) / $scale + 0.5) : 0 } @x;
    $_ > 65535 and $_ = 65535 for @q;
    my $row = pack "f<f<v*", $scale, $low, @q, @q % 2 ? 0xdead : ();
    my @y = f32(map { $_ + $low } f32(map { $_ * $scale } @q));
    my $clipped = $max - $min == 16 ? grep { !$_ } @q : 0;
    my $left = 1;
    $left -= exp $y[$_] for grep { $q[$_] } 0 .. $#q;
    $left = 2**-24 if $left < 2**-24;
    my ($share) = $clipped ? f32(log($left / $clipped)) : $low;
    $_ = $share < $low && $_ == $low ? $share : $_ for @y;
    return $row, @y;
}

sub kld_file { my ($n_ctx, $n_vocab, $n_chunk, $tokens, @rows) = @_; join "", "_logits_", pack("VVV", $n_ctx, $n_vocab, $n_chunk), pack("V*", @$tokens), @rows }

1;
PERL
}

# Writes eight rows of the sample in the raw formats, and their ids and distributions.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    export PERL5LIB=$BATS_FILE_TMPDIR
    writers >Writers.pm
    head -c $((8 * 8192)) "$AUSTEN" >rows.f16
    perl -MWriters -e '
        my @f = f16_to_f(unpack "v*", slurp "rows.f16");
        put "rows.f32", pack "f<*", @f;
        put "rows.f64", pack "d<*", @f;
        put "rows.bf16", pack "v*", map { $_ >> 16 } unpack "L<*", pack "f<*", @f;
        put "row.f32", pack "f<*", @f[0 .. 4095];'
    record_run rows.f16 good -n 4096 -f f16
    record_run row.f32 one -n 4096 -f f32
    record_run rows.bf16 rough -n 4096 -f bf16
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    export PERL5LIB=$BATS_FILE_TMPDIR
    R=$BATS_FILE_TMPDIR
}

# record_run FILE NAME OPTION...: writes the ids of the rows to NAME.ids, and the whole distributions to NAME.tsv.
record_run() {
    sampl -s 7 "${@:3}" <"$1" >"$2.ids" && sampl -s 7 --top-k 0 --dump-probs -O tsv "${@:3}" <"$1" >"$2.tsv"
}

# same_run NAME FILE OPTION...: checks that the file gives the ids and distributions of NAME. sampl recognises the format by the file's
# content: in a named file, from redirected standard input, and through a pipe.
same_run() {
    local name=$1 file=$2
    record_run "$file" "$BATS_TEST_TMPDIR/got" "${@:3}" || return 1
    same "$BATS_TEST_TMPDIR/got.ids" "$R/$name.ids" || return 1
    same "$BATS_TEST_TMPDIR/got.tsv" "$R/$name.tsv" || return 1
    cp "$file" "$BATS_TEST_TMPDIR/nameless"
    sampl -s 7 "${@:3}" "$BATS_TEST_TMPDIR/nameless" | cmp - "$R/$name.ids" || return 1
    # shellcheck disable=SC2002
    cat "$file" | sampl -s 7 "${@:3}" | cmp - "$R/$name.ids"
}

# fails_with STATUS MESSAGE ARGUMENT...: checks that the program ends with this status and one line that contains the message.
fails_with() {
    local status=0
    sampl -s 1 "${@:3}" >out 2>err || status=$?
    [ "$status" = "$1" ] && [ "$(wc -l <err)" = 1 ] && [[ $(<err) == "sampl: "*"$2"* ]] && return
    printf '%s\n' "${*:3}: status $status, want $1 and: $2" "$(<err)"
    return 1
}

# refused MESSAGE FILE OPTION...: checks that the file is refused with status 1 and the message, from a file and through a pipe.
refused() {
    fails_with 1 "$1" "${@:3}" "$2" && fails_with 1 "$1" "${@:3}" < <(cat "$2")
}

# refused_behind_note TEXT FILE OPTION...: as refused, of a kld file with clipped tokens.
refused_behind_note() {
    run -1 --separate-stderr sampl "${@:3}" "$2"
    # shellcheck disable=SC2154 # run sets it
    printf '%s\n' "${stderr_lines[@]}" | grep -v "^sampl: note: $2: row 0: llama-perplexity clipped " | diff - <(echo "sampl: $2: $1")
    sampl "${@:3}" "$2" >out 2>err || grep -q "$1" err
}

# refused_if_cut FORMAT FILE LENGTH: cuts the file off after each number of bytes below LENGTH. Checks that the program then ends with
# one line and prints no row, with and without --format, from a file and through a pipe.
refused_if_cut() {
    local i how status
    # shellcheck disable=SC2046 # numbers
    for i in $(few 6 $(seq 1 $(($3 - 1)))); do
        head -c "$i" "$2" >short
        for how in named found piped; do
            status=0
            case $how in
            named) sampl -s 1 -f "$1" short ;;
            found) sampl -s 1 short ;;
            piped) head -c "$i" "$2" | sampl -s 1 -f "$1" ;;
            esac >out 2>err || status=$?
            [[ $status == [12] && $(<err) == "sampl: "* && $(wc -l <err) == 1 && ! -s out ]] ||
                { echo "$how, cut at $i: status $status"; cat err out; return 1; }
        done
    done
}

@test "npy: f2, f4 and f8 in both byte orders give the same ids and distributions" {
    perl -MWriters -e '
        my $r = $ENV{PERL5LIB};
        my ($f2, $f4, $f8) = map { slurp "$r/rows.$_" } "f16", "f32", "f64";
        put "1.npy", npy_file("<f2", "(8, 4096)", $f2);
        put "2.npy", npy_file(">f2", "(8, 4096)", pack "n*", unpack "v*", $f2);
        put "3.npy", npy_file("<f4", "(8, 4096)", $f4);
        put "4.npy", npy_file("=f4", "(8, 4096)", $f4);
        put "5.npy", npy_file(">f4", "(8, 4096)", pack "f>*", unpack "f<*", $f4);
        put "6.npy", npy_file("<f8", "(8, 4096)", $f8);
        put "7.npy", npy_file(">f8", "(8, 4096)", pack "d>*", unpack "d<*", $f8);'
    for i in 1 2 3 4 5 6 7; do same_run good $i.npy; done
    same_run good 3.npy -n 4096
    sampl -s 7 -f npy 3.npy | cmp - "$R/good.ids"
}

@test "npy: every shape, version, order of keys and spacing of the header is read" {
    perl -MWriters -e '
        my $data = slurp "$ENV{PERL5LIB}/rows.f32";
        put "1.npy", npy_file("<f4", "(8, 1, 4096)", $data);
        put "2.npy", npy_file("<f4", "(1, 8, 4096)", $data);
        put "3.npy", npy(2, "{\"shape\":(8,4096),\"descr\":\"<f4\",\"fortran_order\":False}"), $data;
        put "4.npy", npy(3, "  { \x27fortran_order\x27 :False , \x27shape\x27: ( 8 ,  4096 , ) , \x27descr\x27 : \x27<f4\x27 }     "), $data;
        put "6.npy", npy_file("<f4", "(4096,)", slurp "$ENV{PERL5LIB}/row.f32");
        put "7.npy", npy_file("<f4", "(1, 4096)", slurp "$ENV{PERL5LIB}/row.f32");
        put "8.npy", npy(1, "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: True, \x27shape\x27: (1, 4096), }"), slurp "$ENV{PERL5LIB}/row.f32";
        put "9.npy", npy_file("<f4", "(0, 4096)", "");
        my $longest = sprintf "%-9999s\n", "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (8, 4096), }";
        put "long.npy", "\x93NUMPY\1\0", pack("v", length $longest), $longest, $data;
        # headers of four lengths in succession, so that rows lie at every alignment
        for my $pad (0 .. 3) {
            my $dict = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (8, 4096), }" . " " x $pad;
            put "pad$pad.npy", "\x93NUMPY\1\0", pack("v", length $dict), $dict, $data;
        }'
    for i in 1 2 3 4 long pad0 pad1 pad2 pad3; do same_run good $i.npy; done
    for i in 6 7 8; do same_run one $i.npy; done
    [ -z "$(sampl 9.npy)" ]
}

@test "npy: f8 numbers are rounded to the nearest f4" {
    perl -MWriters -e '
        srand 5;
        my @x = map { (rand(40) - 20) * 2 ** -int rand 30 } 1 .. 3000;
        push @x, 1 + 2 ** -24, 1 + 3 * 2 ** -24, 1e-40, -1e300;
        put "a.npy", npy_file("<f8", "(" . @x . ",)", pack "d<*", @x);
        put "a.f32", pack "f<*", @x;'
    sampl --top-k 0 --dump-probs -O tsv -s 1 a.npy >got
    sampl --top-k 0 --dump-probs -O tsv -s 1 -n 3004 a.f32 >want
    same got want
}

@test "npy: a file with fewer or more rows than its shape says is an error after its rows" {
    perl -MWriters -e '
        my $data = slurp "$ENV{PERL5LIB}/rows.f32";
        put "a.npy", npy_file("<f4", "(8, 4096)", $data);
        put "short.npy", npy_file("<f4", "(9, 4096)", $data . "abc");
        put "shorter.npy", npy_file("<f4", "(9, 4096)", $data);
        put "long.npy", npy_file("<f4", "(7, 4096)", $data);'
    sampl -s 7 --independent --rows -3: a.npy >got
    sampl -s 7 --independent -n 4096 --rows -3: "$R/rows.f32" >want
    same got want
    refused "row 8: the input ends after 3 of the row's 16384 bytes" short.npy
    [ "$(wc -l <out)" = 8 ]
    refused "row 8: the input ends after 0 of the row's 16384 bytes" shorter.npy
    refused "row 7: there are bytes after the last row" long.npy
    [ "$(wc -l <out)" = 7 ]
    fails_with 1 "npy shape (8, 4096) has 4096 logits a row, --n-vocab is 4095" -n 4095 a.npy
}

@test "npy: a header with an unreadable type, order or shape is refused with the reason" {
    local d="'descr': '<f4'" o="'fortran_order': False" s="'shape': (2, 3)" n=0
    while IFS='~' read -r message dict; do
        n=$((n + 1))
        perl -MWriters -e 'print npy(1, shift), "\0" x 24' "$dict" >bad.npy
        refused "$message" bad.npy
    done <<TABLE
descr '<f4 ' is not readable~{'descr': '<f4 ', $o, $s}
descr '<i4' is not readable, readable are f2, f4 and f8~{'descr': '<i4', $o, $s}
descr '<f16' is not readable~{'descr': '<f16', $o, $s}
descr '|f4' is not readable~{'descr': '|f4', $o, $s}
descr '' is not readable~{'descr': '', $o, $s}
descr '<c8' is not readable~{'descr': '<c8', $o, $s}
descr is a structured type, readable are f2, f4 and f8~{'descr': [('a', '<f4')], $o, $s}
descr '|O' means pickled Python objects~{'descr': '|O', $o, $s}
descr '|V2' only says 2 bytes: numpy has no bf16; if it is that: tail -c +129 ~{'descr': '|V2', $o, $s}
descr '<V2' only says 2 bytes~{'descr': '<V2', $o, $s}
the npy file holds columns~{$d, 'fortran_order': True, $s}
shape () is not one of~{$d, $o, 'shape': ()}
shape (2, 3, 4, 1) is not one of~{$d, $o, 'shape': (2, 3, 4, 1)}
shape (2, 1, 1, 3) is not one of~{$d, $o, 'shape': (2, 1, 1, 3)}
shape (2, 0): the rows are empty~{$d, $o, 'shape': (2, 0)}
shape (0,): the rows are empty~{$d, $o, 'shape': (0,)}
shape (2147483648,) is too large~{$d, $o, 'shape': (2147483648,)}
shape (4611686018427387904, 4) is too large~{$d, $o, 'shape': (4611686018427387904, 4)}
shape (9223372036854775809, 1) is too large~{$d, $o, 'shape': (9223372036854775809, 1)}
shape (4, 4611686018427387904) is too large~{$d, $o, 'shape': (4, 4611686018427387904)}
shape (18446744073709551617,) is too large~{$d, $o, 'shape': (18446744073709551617,)}
shape (99999999999999999999999, 3) is too large~{$d, $o, 'shape': (99999999999999999999999, 3)}
byte 61: the npy header is not a dict~{$d, $o, 'shape': (-2, 3)}
byte 62: the npy header is not a dict~{$d, $o, 'shape': (2.0, 3)}
byte 63: the npy header is not a dict~{$d, $o, 'shape': (2 3)}
byte 60: the npy header is not a dict~{$d, $o, 'shape': [2, 3]}
the npy header is not a dict~{$d, $o, 'shape': (2, 3}
the npy header is not a dict~{$d, $o, 'shape': (2, 3)
the npy header is not a dict~{$d, $o}
the npy header is not a dict~{$d, $s}
the npy header is not a dict~{$o, $s}
the npy header is not a dict~{$d, $d, $o, $s}
the npy header is not a dict~{$d, $o, $s, 'x': 1}
the npy header is not a dict~{$d, 'fortran_order': 0, $s}
the npy header is not a dict~{$d, 'fortran_order': Tru, $s}
the npy header is not a dict~{$d, 'fortran_order, $s}
the npy header is not a dict~{$d, $o, $s} x
the npy header is not a dict~[$d, $o, $s]
the npy header is not a dict~{'descr'
the npy header is not a dict~{'descr':
the npy header is not a dict~
TABLE
    [ "$n" -gt 35 ]
}

@test "npy: a broken magic, version or header length is refused" {
    printf '\223NUMPX\1\0\0\0\0\0\0\0' >bad
    refused "the input does not begin as npy files do" bad -f npy
    for v in '\0000\0000' '\0001\0001' '\0004\0000' '\0377\0377'; do
        printf '\223NUMPY%b\1\0\0\0\0\0\0\0' "$v" >bad
        refused "is unknown, known are 1.0, 2.0 and 3.0" bad
    done
    printf '\223NUMPY\1\0\021\047{}' >bad
    refused "the npy header has 10001 bytes, more than the 10000 that numpy reads" bad
    printf '\223NUMPY\2\0\377\377\377\377{}' >bad
    refused "the npy header has 4294967295 bytes" bad
    printf '\223NUMPY\1\0\0\0\n\n' >bad
    refused "the npy header is not a dict" bad
    : >empty.npy
    fails_with 1 "the input does not begin as npy files do" -f npy empty.npy
    perl -MWriters -e 'put "a.npy", npy_file("<f4", "(2, 3)", "\0" x 24)'
    refused_if_cut npy a.npy 128
}

@test "npy: files that numpy writes are read" {
    need_numpy
    /usr/bin/python3 - "$R/rows.f32" <<'PYTHON'
import sys
import numpy as np

a = np.fromfile(sys.argv[1], "<f4").reshape(8, 4096)
for t in "<f2", ">f2", "<f4", ">f4", "<f8", ">f8":
    np.save(t.replace("<", "le").replace(">", "be"), a.astype(t))
np.save("n1v", a.reshape(8, 1, 4096))
np.save("1nv", a.reshape(1, 8, 4096))
for v in 1, 2, 3:
    with open("v%d.npy" % v, "wb") as f:
        np.lib.format.write_array(f, a, version=(v, 0))
np.save("one", a[0])
np.save("fortran", np.asfortranarray(a))
np.save("objects", np.array([None, 1]), allow_pickle=True)
PYTHON
    for name in lef2 bef2 lef4 bef4 lef8 bef8 n1v 1nv v1 v2 v3; do same_run good $name.npy; done
    same_run one one.npy
    refused "the npy file holds columns" fortran.npy
    refused "means pickled Python objects" objects.npy
}

@test "safetensors: rows of every type and alignment are read, also beside tensors that hold no rows" {
    perl -MWriters -e '
        my $r = $ENV{PERL5LIB};
        my @form = (["F16", "f16"], ["F32", "f32"], ["F64", "f64"], ["BF16", "bf16"]);
        for my $form (@form) {
            my $data = slurp "$r/rows.$form->[1]";
            my ($from, $to) = (3, 3 + length $data);
            for my $pad (0 .. 1) {
                my $json = "{\"__metadata__\":{\"format\":\"pt\",\"shape\":\"[1]\"},\"ids\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}," .
                    "\"logits\":{\"shape\":[8,4096],\"data_offsets\":[$from,$to],\"dtype\":\"$form->[0]\"}," .
                    "\"cube\":{\"dtype\":\"F32\",\"shape\":[2,1,2,2],\"data_offsets\":[$to," . ($to + 32) . "]}}" . " " x $pad;
                put "$form->[1].$pad", safetensors($json, "abc", $data, "\0" x 32);
            }
        }
        my $data = slurp "$r/rows.f32";
        my $i = 0;
        for my $shape ("[8,1,4096]", "[1,8,4096]", "[ 8 , 4.096e3 ]") {
            put "shape." . $i++, safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":$shape,\"data_offsets\":[0," . length($data) . "]}}", $data);
        }
        my $row = slurp "$r/row.f32";
        put "one", safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[4096],\"data_offsets\":[0," . length($row) . "]}}", $row);
        put "none", safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[0,4096],\"data_offsets\":[0,0]}}");'
    for form in f16 f32 f64; do
        same_run good $form.0
        same_run good $form.1
    done
    same_run rough bf16.0
    same_run rough bf16.1
    for i in 0 1 2; do same_run good shape.$i; done
    same_run good f32.0 -n 4096
    same_run one one
    [ -z "$(sampl none)" ]
    sampl -s 7 -f safetensors f32.1 | cmp - "$R/good.ids"
    sampl -s 7 --independent --rows -3: f16.1 >got
    sampl -s 7 --independent -n 4096 --rows -3: "$R/rows.f16" >want
    same got want
    fails_with 1 "tensor 'logits' has 4096 logits a row, --n-vocab is 4097" -n 4097 f32.0
}

@test "safetensors: raw f32 rows that begin like a safetensors header are read as f32" {
    # The first byte of the third number is '{'.
    perl -e 'print pack("f<f<", 1.5, 0), "\x7b\x14\xae\x3e", pack("f<", 3)' >x.f32
    [ "$(sampl -s 1 -n 4 --samplers greedy x.f32)" = 3 ]
}

@test "safetensors: a file with several tensors of rows needs --tensor" {
    perl -MWriters -e '
        my ($f4, $f2) = map { slurp "$ENV{PERL5LIB}/rows.$_" } "f32", "f16";
        my ($a, $b) = (length $f4, length($f4) + length $f2);
        put "two", safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[8,4096],\"data_offsets\":[0,$a]}," .
            "\"b c\":{\"dtype\":\"F16\",\"shape\":[8,4096],\"data_offsets\":[$a,$b]},\"i\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[$b,$b]}}", $f4, $f2);
        my $n = "x" x 50;
        put "many", safetensors("{" . join(",", map { "\"$n$_\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]}" } 1 .. 1000) . "}", "abcd");'
    same_run good two --tensor a
    same_run good two --tensor "b c"
    for way in file pipe; do
        if [ $way = file ]; then file=two; else file=-; fi
        fails_with 2 "$file: more than one tensor holds rows, choose with --tensor: 'a' F32 [8, 4096], 'b c' F16 [8, 4096]" -- $file <two || [ $way = pipe ]
        fails_with 2 "there is no tensor 'A'; those that hold rows: 'a' F32 [8, 4096], 'b c' F16 [8, 4096]" --tensor A $file < <(cat two)
        fails_with 2 "tensor 'i' does not hold rows; those that do: 'a' F32 [8, 4096], 'b c' F16 [8, 4096]" --tensor i $file < <(cat two)
    done
    fails_with 2 "1' F32 [1, 1], '" many
    [[ $(<err) =~ \ and\ 99[0-9]\ more$ ]]
}

@test "safetensors: a broken header is refused with the reason" {
    local n=0
    while IFS='|' read -r message json; do
        n=$((n + 1))
        perl -MWriters -e 'print safetensors(shift, "\0" x 24)' "$json" >bad
        fails_with 1 "$message" -f safetensors bad
        [[ $message == *"of which there are"* ]] || fails_with 1 "$message" -f safetensors < <(cat bad)
    done <<'TABLE'
the input does not begin as safetensors files do|
the input does not begin as safetensors files do| {}
the safetensors header: byte 4: not JSON|{"x":
the safetensors header: byte 7: not JSON|{"x":1}}
the safetensors header: byte 8: not JSON|{"x":1} {}
the safetensors header: byte 5: not JSON|{"x" 1}
there are: none|{}
there are: none|{"__metadata__":{"a":"b"}}
there are: 'x' ? []|{"x":1}
there are: 'x' ? []|{"x":[]}
there are: 'x' I32 [2, 3]|{"x":{"dtype":"I32","shape":[2,3],"data_offsets":[0,24]}}
there are: 'x' F8_E4M3 [2, 3]|{"x":{"dtype":"F8_E4M3","shape":[2,3],"data_offsets":[0,6]}}
there are: 'x' F32 []|{"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}
there are: 'x' F32 [2, 1, 1, 3]|{"x":{"dtype":"F32","shape":[2,1,1,3],"data_offsets":[0,24]}}
there are: 'x' F32 [2, -3]|{"x":{"dtype":"F32","shape":[2,-3],"data_offsets":[0,24]}}
there are: 'x' F32 [2, 1.5]|{"x":{"dtype":"F32","shape":[2,1.5],"data_offsets":[0,24]}}
there are: 'x' F32 [2, 0]|{"x":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]}}
there are: 'x' F32 [1e+300, 3]|{"x":{"dtype":"F32","shape":[1e300,3],"data_offsets":[0,24]}}
there are: 'x' F32 [4.611686018427388e+18, 4]|{"x":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}
there are: 'x' F32 [4503599627370496, 4096]|{"x":{"dtype":"F32","shape":[4503599627370496,4096],"data_offsets":[0,0]}}
there are: 'x' F32 [2147483648]|{"x":{"dtype":"F32","shape":[2147483648],"data_offsets":[0,0]}}
there are: 'x' F32 [0, 3]|{"x":{"dtype":"F32","shape":["2",3],"data_offsets":[0,24]}}
there are: 'x' F32 []|{"x":{"dtype":"F32","shape":6,"data_offsets":[0,24]}}
there are: 'x' ? [2, 3]|{"x":{"dtype":32,"shape":[2,3],"data_offsets":[0,24]}}
tensor 'x': data_offsets are not two whole numbers|{"x":{"dtype":"F32","shape":[2,3]}}
tensor 'x': data_offsets are not two whole numbers|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0]}}
tensor 'x': data_offsets are not two whole numbers|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24,48]}}
tensor 'x': data_offsets are not two whole numbers|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[-24,0]}}
tensor 'x': data_offsets are not two whole numbers|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":{"a":0,"b":24}}}
tensor 'x': data_offsets are not two whole numbers|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,1e400]}}
tensor 'x': data_offsets 24 to 0 are not the 24 bytes of its shape|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]}}
tensor 'x': data_offsets 0 to 23 are not the 24 bytes of its shape|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,23]}}
the input ends before the tensor's data|{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[9007199254740968,9007199254740992]}}
TABLE
    [ "$n" -gt 30 ]
    for len in 100000001 9223372036854775808 18446744073709551615; do
        perl -e 'print pack("Q<", shift), "{}"' $len >bad
        refused "the safetensors header has $len bytes, more than the format's 100000000" bad -f safetensors
    done
    perl -e 'print pack("Q<", 100000000), "{}"' >bad
    refused "the input ends inside the safetensors header" bad
}

@test "a gzip, zip, pickle, GGUF, parquet or CSV file is refused with the name of its format" {
    local name bytes
    while IFS='|' read -r name bytes; do
        # shellcheck disable=SC2059
        printf "$bytes and more than that" >other
        run -2 sampl -n 3 other
        [[ $output == "sampl: other: this is $name"*": "* ]] || { echo "$name: $output"; return 1; }
        [ "${#bytes}" -lt 10 ] || { cp other other.bin && run -2 sampl -n 3 other.bin && [[ $output == *"this is $name"* ]]; }
    done <<'TABLE'
gzip (1f 8b)|\037\213
zstd (28 b5 2f fd)|\050\265\057\375
bzip2 (BZh)|BZh9
xz (fd 7zXZ)|\3757zXZ\0
a zip archive (PK)|PK\003\004
a pickle (80 02)|\200\002
a GGUF model|GGUF
parquet (PAR1)|PAR1
TABLE
    # Raw numbers that begin like gzip are read where the file's name ends in .f32.
    printf '\037\213\0\0' >x.f32
    [ "$(sampl -n 1 -s 1 x.f32)" = 0 ]
    printf 'id,logit\n1,2\n' >table.csv
    run -2 sampl table.csv
    [[ $output == "sampl: table.csv: this looks like CSV: "* ]]
}

@test "safetensors: a file cut off inside a row gives the rows before it; a file cut off inside its header is refused" {
    perl -MWriters -e '
        put "a.safetensors", safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[2,26]}}", "ab", pack "f<*", 1 .. 6);
        printf "%s\n", -s "a.safetensors"' >size
    refused_if_cut safetensors a.safetensors $(($(<size) - 24))
    for i in 1 13; do
        head -c $(($(<size) - i)) a.safetensors >short
        fails_with 1 "short: row $((i < 12)): the input ends after 11 of the row's 12 bytes" short
        sampl -s 1 -f safetensors < <(head -c $(($(<size) - i)) a.safetensors; sleep 0.1) >out 2>err || true
        [[ $(<err) == "sampl: standard input: "* && $(wc -l <err) = 1 ]]
    done
    sampl -s 1 a.safetensors
}

# make_kld VOCABULARY CHUNKS TOKENS ROWS: writes a.kld, which has so many chunks of so many tokens and rows, and the rows in a.f32. For each
# chunk C, before.C has the tokens before its first row, next.C the token after each row, and chunk.C the rows.
make_kld() {
    perl -MWriters -e '
        my ($n_vocab, $n_chunk, $n_ctx, $per) = @ARGV;
        my @f = f16_to_f(unpack "v*", slurp "$ENV{PERL5LIB}/rows.f16");
        my (@row, @x, @best);
        for my $r (0 .. $n_chunk * $per - 1) {
            my ($row, @y) = kld_row(@f[$r * 4096 .. $r * 4096 + $n_vocab - 1]);
            push @row, $row;
            push @x, pack "f<*", @y;
            my $best = 0;
            $y[$_] > $y[$best] and $best = $_ for 0 .. $#y;
            push @best, $best;
        }
        # likely tokens, so that the history changes choices
        my @token = map { $best[$_ * 5 % @best] } 0 .. $n_chunk * $n_ctx - 1;
        put "a.kld", kld_file($n_ctx, $n_vocab, $n_chunk, \@token, @row);
        put "a.f32", @x;
        my $c = 0;
        while (my @chunk = splice @token, 0, $n_ctx) {
            my $first = int($n_ctx / 2);
            put "before.$c", join " ", @chunk[0 .. $first];
            put "next.$c", join " ", @chunk[$first + 1 .. $#chunk];
            put "chunk.$c", @x[$c * $per .. $c * $per + $per - 1];
            $c++;
        }' "$@"
}

@test "kld: 16-bit log-probabilities are decoded to exact f32 values" {
    for n_vocab in 4096 4095 1; do
        make_kld "$n_vocab" 2 7 3
        record_run a.f32 want -n "$n_vocab" -f f32
        cp want.ids want.tsv "$R"
        same_run want a.kld
        same_run want a.kld -n "$n_vocab"
        make_kld "$n_vocab" 1 16 7
        record_run a.f32 want -n "$n_vocab" -f f32
        cp want.ids want.tsv "$R"
        same_run want a.kld
    done
    make_kld 4096 2 7 3
    sampl -s 7 -f kld a.kld >got
    sampl -s 7 -n 4096 a.f32 >want
    same got want
    sampl -s 7 --independent --rows -4:-1 a.kld >got
    sampl -s 7 --independent -n 4096 --rows 2:5 a.f32 >want
    same got want
    fails_with 1 "the kld file has 4096 logits a row, --n-vocab is 4095" -n 4095 a.kld
}

@test "kld: --accept recorded makes the tokens of each chunk its history" {
    recorded() {
        sampl -s 1 --repeat-penalty 1.7 --presence-penalty 2 --dry-multiplier 1 --dry-allowed-length 1 --dry-sequence-breaker none \
            --samplers 'penalties;dry;top_k=5' --dump-probs -O tsv "$@" | tail -n +2 | cut -f 2-6
    }
    make_kld 4095 2 8 3
    for c in 0 1; do
        recorded -f f32 -n 4095 --prompt-tokens @before.$c --accept @next.$c chunk.$c
    done >want
    [ "$(wc -l <want)" = 30 ]
    recorded --accept recorded a.kld >got
    same got want
    # from the middle of a chunk, and with independent rows
    recorded --accept recorded --rows 1: a.kld >got
    tail -n +6 want | cmp - got
    recorded --accept recorded --independent a.kld | cmp - want
    recorded -f f32 -n 4095 --accept @next.0 chunk.0 >without
    run ! cmp -s -n "$(wc -c <without)" without want
}

@test "kld: a file with missing rows gives its rows, then an error with both counts" {
    make_kld 4095 2 7 3
    size=$(wc -c <a.kld)
    sampl -s 7 a.kld >ids
    for cut in 1 8199 8200 8201 $((3 * 8200)) $((6 * 8200 - 1)); do
        head -c $((size - cut)) a.kld >cut.kld
        rows=$((6 - (cut + 8199) / 8200))
        refused_behind_note "row $rows: the file holds $rows rows of the 6 promised" cut.kld -s 7
        head -$rows ids | diff - out
        [ "$(sampl -s 7 --independent --rows -100: cut.kld 2>/dev/null | wc -l)" = $rows ]
    done
    { cat a.kld; printf x; } >long.kld
    refused_behind_note "row 6: there are bytes after the last of the 6 rows promised" long.kld
    refused_if_cut kld a.kld 76
}

@test "kld: a header with impossible counts or tokens is refused" {
    kld() {
        perl -MWriters -e 'print kld_file($ARGV[0], $ARGV[1], $ARGV[2], [@ARGV[3 .. $#ARGV]])' -- "$@" >bad.kld
    }
    kld 1 3 1 0
    refused "no kld file has 1 tokens a chunk, 3 in the vocabulary and 1 chunks" bad.kld
    for bad in '0 3 1' '4 0 1' '4 -3 1' '4 3 -1' '4 -2147483648 1'; do
        # shellcheck disable=SC2086
        kld $bad 0 0 0 0
        refused "no kld file has ${bad/ / tokens a chunk, }" bad.kld 2>/dev/null || refused "no kld file has ${bad%% *} tokens a chunk" bad.kld
    done
    for bad in '4294967295 3 2147483647' '4294967295 2147483647 2147483647' '512 3 2147483647' '2147483648 3 2'; do
        # shellcheck disable=SC2086
        kld $bad 0 1 2
        refused "the input ends after 3 of " bad.kld
    done
    kld 4 3 1 0 1 3 0
    refused "token 2 of the text is 3, the vocabulary ends at 2" bad.kld
    kld 4 3 1 0 -1 3 0
    refused "token 1 of the text is -1, the vocabulary ends at 2" bad.kld
    kld 2 3 2 0 1 2 0 # chunks without rows
    [ -z "$(sampl bad.kld)" ]
    kld 4 3 0
    [ -z "$(sampl bad.kld)" ]
    kld 4 2147483647 1 0 1 2 3
    refused "row 0: the file holds 0 rows of the 1 promised" bad.kld
    { kld 4 3 1 0 1 2 0; cat bad.kld; f32 nan 0; printf '\0\0\1\0\2\0\0\0'; } >nan.kld
    refused "row 0: logit 0 is NaN" nan.kld
    printf '_Logits_aaaabbbbcccc' >bad.kld
    refused "the input does not begin as kld files do" bad.kld -f kld
}

@test "pairs: rows of ID: VALUE lines give the ids and distributions of f32 rows" {
    perl -MWriters -e '
        my @f = unpack "f<*", slurp "$ENV{PERL5LIB}/row.f32";
        put "1", map { sprintf "%d: %.9g\n", $_, $f[$_] } 0 .. $#f;
        put "2", "\n \n", map { sprintf "%7d:%.10e \r\n", $_, $f[$_] } 0 .. $#f;
        put "3", join("\n", map { sprintf "\t%d: %.17g", $_, $f[$_] } 0 .. $#f);'
    for i in 1 2 3; do same_run one $i; done
    same_run one 1 -n 4096
    sampl -s 7 -f pairs 1 | cmp - "$R/one.ids"
    printf '0: 1\n1: -inf\n2: 3e0\n' >a
    f32 1 -inf 3 >a.f32
    sampl -s 1 --dump-probs -O tsv a >got
    sampl -s 1 --dump-probs -O tsv -n 3 a.f32 >want
    same got want
    sampl -s 1 a a >got
    [ "$(wc -l <got)" = 2 ]
    printf '\n\n' >blank
    [ -z "$(sampl -f pairs blank)" ]
}

@test "pairs: a broken line is refused with its number and the reason" {
    local n=0
    while IFS='|' read -r message text; do
        n=$((n + 1))
        printf '%b' "$text" >bad
        refused "bad: row 0: $message" bad -f pairs 2>/dev/null || refused "row 0: $message" bad -f pairs
    done <<'TABLE'
token 1 comes twice in the row|0: 1\n1: 2\n1: 3\n
token 0 comes twice in the row|0: 1\n1: 2\n\n\n0: 3\n
line 1: '9999999999999999999999999' is not a whole number from 0 to 2147483647|9999999999999999999999999: 1\n
line 1: '2147483648' is not a whole number from 0 to 2147483647|2147483648: 1\n
line 2 is not of the form ID: VALUE|0: 1\n1 2\n
line 2 is not of the form ID: VALUE|0: 1\n1:\n
line 2 is not of the form ID: VALUE|0: 1\n1: \n
line 2 is not of the form ID: VALUE|0: 1\n1
line 2 is not of the form ID: VALUE|0: 1\n: 2
line 2 is not of the form ID: VALUE|0: 1\n-1: 2
line 2 is not of the form ID: VALUE|0: 1\n1: 2 3
line 2 is not of the form ID: VALUE|0: 1\n1: 2x
line 2 is not of the form ID: VALUE|0: 1\n1: --2
line 2 is not of the form ID: VALUE|0: 1\n1: 1e
line 2 is not of the form ID: VALUE|0: 1\n1: infinite
line 1 is not of the form ID: VALUE|\0\0\0
line 1 is not of the form ID: VALUE|0 : 1\n
logit 1 is NaN|0: 1\n1: nan\n
logit 1 is NaN|0: 1\n1: -nan\n
logit 1 is +inf|0: 1\n1: inf\n
no finite logit|0: -inf\n1: -inf\n
TABLE
    [ "$n" -gt 20 ]
    { printf '0: 1\n1: 2'; head -c 2000 /dev/zero | tr '\0' 0; } >bad
    refused "line 2 is longer than 1024 bytes" bad
    { printf '0: 1\n1: 2.'; head -c 1018 /dev/zero | tr '\0' 0; } >edge # the longest line that is read
    sampl -s 1 edge
    fails_with 1 "the row has 2 logits, --n-vocab is 3" -n 3 edge
}

# However a file is mangled, the program exits with status 0, 1 or 2, and prints at most one line on standard error.
@test "a file with random bytes changed gives rows, or one error line with status 1 or 2" {
    perl -MWriters -e '
        srand 11;
        my %seed = (
            npy => npy_file("<f4", "(2, 3)", pack "f<*", 1 .. 6),
            safetensors => safetensors("{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", pack "f<*", 1 .. 6),
            kld => kld_file(5, 3, 1, [0, 1, 2, 1, 0], map { pack "f<f<vvvv", 0.5, -3, $_, 1, 2, 3 } 0 .. 1),
            pairs => "0: 1\n1: 2\n2: -inf\n",
        );
        my @bit = ("0", "9", "1e999", "-", "(", ")", ",", "\x27", "\"", "{", "}", "[", "]", " ", "\0", "\xff", "\x7f\xff\xff\xff", "\n");
        for my $format (sort keys %seed) {
            for my $i (0 .. 99) {
                my $s = $seed{$format};
                substr($s, rand 1 + length $s, rand 3) = $bit[rand @bit] for 0 .. rand 3;
                put "$i.$format", $s;
            }
        }'
    local file status ids=0
    for file in $(printf '%s\n' *.npy *.safetensors *.kld *.pairs | few 80); do
        status=0
        sampl -s 1 -f "${file#*.}" "$file" >out 2>err || status=$?
        ids=$((ids + $(wc -l <out)))
        case $status in
        0) [ ! -s err ] ;;
        1 | 2) [ "$(wc -l <err)" = 1 ] && [[ $(<err) == "sampl: $file: "* ]] ;;
        *) false ;;
        esac || { cat -v "$file" err; echo "status $status"; return 1; }
    done
    enough "$ids" 101
}

@test "--params: a line over the limit is an error of its row, and of the rows after it" {
    printf '[1,2]\n[3,4]\n[5,6]\n' | sampl --samplers '' --emit logits -O npy -f json >rows.npy
    { echo '{}'; printf '{"x":"%067200000d"}\n{}\n' 1; } >params
    run -1 --separate-stderr sampl -s 1 --params params rows.npy
    # shellcheck disable=SC2154 # bats sets it
    [ "$stderr" = "sampl: rows.npy: row 1: --params: line 2 is longer than 67108864 bytes" ]
    run -1 --separate-stderr sampl -s 1 --on-error skip --params params rows.npy
    [ "${lines[1]} ${lines[2]}" = "-1 -1" ]
}

@test "a Git LFS pointer is refused as rows and as a vocabulary, whatever its name and format" {
    local file
    for file in a.f32 a.npy a.json a; do
        printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 8\n' >$file
        run -1 sampl -n 2 $file
        [ "$output" = "sampl: $file: this is a Git LFS pointer; run git lfs pull" ]
        run -1 sampl -n 2 -f f32 $file
        [ "$output" = "sampl: $file: this is a Git LFS pointer; run git lfs pull" ]
        run -1 sampl --vocab $file $file
        [ "$output" = "sampl: --vocab: $file: this is a Git LFS pointer; run git lfs pull" ]
    done
    f32 1 2 >b.f32
    [ "$(sampl -n 2 --temp 0 b.f32)" = 1 ]
}

@test "raw rows that are read as another type give a note that names theirs, and rows that are read rightly give none" {
    /usr/bin/python3 "$ROOT/tests/misread.py" "$SAMPL" "$AUSTEN:4096:128" "$ROOT/tests/cases/syn2000.f32:2000:16"
    # Rows of two bytes and an odd width begin in the middle of a number of four.
    f32 3.1 -2.7 5.3 >part.f32
    for _ in {1..33}; do cat part.f32; done >odd.f32
    sampl -f bf16 -n 65 --rows 1 -s 1 odd.f32 2>&1 >ids | grep -qF 'odd.f32: row 1 has logits up to'
    sampl -f f32 -n 65 -s 1 --rows 0 odd.f32 2>notes
    run -1 grep meant notes
}

@test "a reply whose texts are not those of --vocab is printed with its own, and a note says so once" {
    printf '{"completion_probabilities":[%s,%s]}' \
        '{"id":0,"top_logprobs":[{"id":0,"token":"x","logprob":-0.1000123},{"id":1,"token":" b","logprob":-3.0000123}]}' \
        '{"id":1,"top_logprobs":[{"id":0,"token":"x","logprob":-3.0000123},{"id":1,"token":"y","logprob":-0.1000123}]}' >reply.json
    printf '%s\n' c d >other
    printf '%s\n' x b >own
    sampl --temp 0 --vocab other --emit text reply.json >got 2>notes
    [ "$(cat got)" = xy ]
    [ "$(cat notes)" = 'sampl: note: reply.json: row 0 gives 2 of 2 tokens another text than --vocab does; the reply'\''s texts are printed' ]
    sampl --temp 0 --vocab own --emit text reply.json >got 2>notes # " b" is "b" but for a blank, and the first row decides
    [ "$(cat got)" = xb ]
    [ ! -s notes ]
}
