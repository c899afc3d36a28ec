#!/usr/bin/env bats
# Reading rows: every format of the same rows gives the same ids and dumps, from files, pipes and standard input.

load helper

# Writes rows of the sample with 7 bits of mantissa, which f16, bf16, f32 and text all hold exactly.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    head -c $((16 * 8192)) "$AUSTEN" | perl -e '
        use strict;
        binmode STDIN;
        local $/;
        my @h = map { $_ & 0xfff8 } unpack "v*", <STDIN>;
        my @f = map {
            my ($e, $m) = ($_ >> 10 & 31, $_ & 1023);
            ($_ >> 15 ? -1 : 1) * ($e ? (1024 + $m) * 2 ** ($e - 25) : $m * 2 ** -24)
        } @h;
        sub put { open my $out, ">:raw", shift or die; print $out @_; close $out or die }
        put "rows.f16", pack "v*", @h;
        put "rows.f32", pack "f<*", @f;
        put "rows.bf16", pack "v*", map { $_ >> 16 } unpack "L<*", pack "f<*", @f;
        my @row = map { join ",", map { sprintf "%.9g", $_ } @f[$_ * 4096 .. $_ * 4096 + 4095] } 0 .. 15;
        put "rows.json", map { "[$_]\n" } @row;'
    for form in f16 f32 bf16; do sampl -n 4096 -s 7 rows.$form >ids.$form; done
    sampl -n 4096 -s 7 --top-k 0 --dump-probs rows.f16 >dump
    sampl -n 4096 -s 7 rows.f16 >ids
    sampl -n 4096 -s 7 --independent rows.f16 >each
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    R=$BATS_FILE_TMPDIR
}

# expect_reference FILE...: checks that the files give the ids and the dump of rows.f16. Without FILE, reads standard input.
expect_reference() {
    local input=("$@")
    if [ $# -eq 0 ]; then
        cat >stdin
        input=(stdin)
    fi
    sampl -n 4096 -s 7 "${input[@]}" >ids || return 1
    same ids "$R/ids" || return 1
    sampl -n 4096 -s 7 --top-k 0 --dump-probs "${input[@]}" >dump || return 1
    same dump "$R/dump"
}

# trickle: copies standard input in pieces of 1 to 7 bytes.
trickle() {
    perl -e '
        binmode STDIN;
        for (my $i = 0; sysread STDIN, my $bytes, 1 + $i % 7; $i++) {
            syswrite(STDOUT, $bytes) == length $bytes or die;
        }'
}

@test "the reference rows give several ids, which differ with --independent" {
    [ "$(wc -l <"$R/ids")" -eq 16 ]
    [ "$(sort -u "$R/ids" | wc -l)" -gt 3 ]
    run ! cmp -s "$R/ids" "$R/each"
}

@test "f16, f32, bf16 and JSON rows give the same ids and dumps" {
    expect_reference "$R/rows.f16"
    expect_reference "$R/rows.f32"
    expect_reference "$R/rows.bf16"
    expect_reference "$R/rows.json"
}

@test "f16, f32 and JSON rows with all bits of f16 give the same dumps" {
    head -c $((8 * 8192)) "$AUSTEN" >a.f16
    perl -e '
        use strict;
        binmode STDIN;
        local $/;
        my @f = map {
            my ($e, $m) = ($_ >> 10 & 31, $_ & 1023);
            ($_ >> 15 ? -1 : 1) * ($e ? (1024 + $m) * 2 ** ($e - 25) : $m * 2 ** -24)
        } unpack "v*", <STDIN>;
        open my $out, ">:raw", "a.f32" or die;
        print $out pack "f<*", @f;
        open $out, ">", "a.json" or die;
        print $out "[", join(",", map { sprintf "%.9g", $_ } splice @f, 0, 4096), "]\n" while @f;' <a.f16
    for form in f16 f32 json; do sampl -n 4096 -s 3 --top-k 0 --dump-probs a.$form >dump.$form; done
    same dump.f16 dump.f32
    same dump.f16 dump.json
}

@test "JSON: an array of rows is read as its rows" {
    perl -e 'print "[", join(",", map { chomp; $_ } <>), "]"' "$R/rows.json" | expect_reference
    perl -e 'print " [\n", join(" ,\n ", map { chomp; $_ } <>), "\n]\n\n"' "$R/rows.json" | expect_reference
}

@test "JSON: an object's logits or logprobs are read as a row, and unknown members are ignored" {
    perl -pe 's/(.*)/{"logits":$1}/' "$R/rows.json" | expect_reference
    perl -pe 's/(.*)/{"logprobs":$1}/' "$R/rows.json" | expect_reference
    perl -pe 's/(.*)/{"note":"a \\"]},{[ b","deep":{"a":[1,[2,{"logits":[3]}]]},"logits" : $1 , "n":null,"t":true}/' "$R/rows.json" | expect_reference
    perl -ne 'chomp; print $. % 2 ? "{\"logits\":$_}" : $_' "$R/rows.json" | expect_reference
    perl -e 'print "[", join(",", map { chomp; $. % 2 ? "{\"logits\":$_}" : $_ } <>), "]"' "$R/rows.json" | expect_reference
}

@test "JSON: rows and arrays of rows may follow each other without separators" {
    tr -d '\n' <"$R/rows.json" | expect_reference
    perl -e '@r = map { chomp; $_ } <>; print "[", join(",", @r[0 .. 4]), "]", @r[5, 6], "[$r[7]]", "[", join(",", @r[8 .. 15]), "]"' \
        "$R/rows.json" | expect_reference
    perl -e '@r = map { chomp; $_ } <>; print "[", join(",", @r[0 .. 9]), "]  ", @r[10 .. 15]' "$R/rows.json" | expect_reference
}

@test "JSON: white space is allowed between any two tokens" {
    perl -pe 's/,/\n,\r\n\t /g; s/\[/\t[ \n/; s/\]/\r\n ]\t/' "$R/rows.json" | expect_reference
    perl -pe 's/,/,\n/g' "$R/rows.json" | expect_reference
    (printf '\n\n\r\n   \t'; cat "$R/rows.json"; printf ' \n\n') | expect_reference
    tr '\n' '\r' <"$R/rows.json" | expect_reference
}

@test "-inf and the lowest f32 number mask a token" {
    f32 1 -inf 2 -inf 0.5 -inf >inf.f32
    f32 1 -3.4028234663852886e38 2 -inf 0.5 -3.4028234663852886e38 >lowest.f32
    perl -e 'print pack "v*", 0x3c00, 0xfc00, 0x4000, 0xfc00, 0x3800, 0xfc00' >inf.f16
    perl -e 'print pack "v*", 0x3f80, 0xff80, 0x4000, 0xff80, 0x3f00, 0xff80' >inf.bf16
    sampl -n 6 -s 1 --samplers '' --dump-probs -O tsv inf.f32 >want
    [ "$(tail -n +2 want | cut -f 3 | tr '\n' ' ')" = "2 0 4 " ]
    for f in lowest.f32 inf.f16 inf.bf16; do
        sampl -n 6 -s 1 --samplers '' --dump-probs -O tsv "$f" >dump
        same dump want
        sampl -n 6 -s 1 --samplers '' -O tsv "$f" >short # the number of candidates in a record
        [ "$(tail -1 short | cut -f 4)" = 3 ]
    done
}

@test "the lowest f16 and bf16 numbers mask a token only in rows of their own type" {
    perl -e 'print pack "v*", 0x3c00, 0xfbff, 0xfbfe' >a.f16
    [ "$(sampl -n 3 -s 1 --dump-probs -O tsv --samplers '' a.f16 | tail -n +2 | cut -f 3,4 | tr "\t\n" "  ")" = "0 1 2 -65472 " ]
    perl -e 'print pack "v*", 0x3f80, 0xff7f, 0xff7e' >a.bf16
    [ "$(sampl -n 3 -s 1 --dump-probs -O tsv --samplers '' a.bf16 | tail -n +2 | cut -f 3 | tr "\n" " ")" = "0 2 " ]
    f32 1 -65504 -3.38e38 >a.f32
    [ "$(sampl -n 3 -s 1 -O tsv --samplers '' a.f32 | tail -1 | cut -f 4)" = 3 ]
}

@test "rows from a file, redirected standard input, a pipe and a fifo give the same ids" {
    for form in f16 f32 bf16 json; do
        sampl -n 4096 -s 7 -f $form <"$R/rows.$form" >redirected
        same redirected "$R/ids"
        sampl -n 4096 -s 7 -f $form - <"$R/rows.$form" >dash
        same dash "$R/ids"
        # shellcheck disable=SC2002
        cat "$R/rows.$form" | sampl -n 4096 -s 7 -f $form >piped
        same piped "$R/ids"
        mkfifo fifo.$form
        cat "$R/rows.$form" >fifo.$form &
        sampl -n 4096 -s 7 fifo.$form >named # the ending of a fifo's name selects the format
        wait $!
        same named "$R/ids"
    done
}

@test "rows from a pipe with a few bytes at a time give the same ids" {
    for form in f16 f32 bf16; do
        trickle <"$R/rows.$form" | sampl -n 4096 -s 7 -f $form >ids
        same ids "$R/ids"
    done
    trickle <"$R/rows.json" | sampl -s 7 >ids
    same ids "$R/ids"
    perl -pe 's/(.*)/{"a":"b\\"c","logits":$1,"z":[1,{"y":2}]}/; s/,/ , /g' "$R/rows.json" | trickle | sampl -s 7 >ids
    same ids "$R/ids"
    perl -e 'print "[", join(" , ", map { chomp; $_ } <>), "]"' "$R/rows.json" | trickle | sampl -s 7 >ids
    same ids "$R/ids"
}

@test "several files are read as one input" {
    split -a 1 -b $((5 * 8192)) --additional-suffix=.f16 "$R/rows.f16" part. # 5 + 5 + 5 + 1 rows
    expect_reference part.a.f16 part.b.f16 part.c.f16 part.d.f16
    : >empty
    expect_reference empty part.a.f16 empty part.b.f16 part.c.f16 part.d.f16 empty
    sed -n 6,10p "$R/rows.json" >b.json
    tail -c 16384 "$R/rows.f32" >d.f32
    expect_reference part.a.f16 b.json part.c.f16 d.f32
    sampl -n 4096 -s 7 part.a.f16 - part.c.f16 part.d.f16 <b.json >ids # `-` among files, in another format
    same ids "$R/ids"
    # shellcheck disable=SC2002
    cat part.b.f16 | sampl -n 4096 -s 7 -f f16 part.a.f16 - part.c.f16 part.d.f16 >ids
    same ids "$R/ids"
    sampl -n 4096 -s 7 -f f16 - part.c.f16 part.d.f16 < <(cat part.a.f16 part.b.f16) >ids
    same ids "$R/ids"
}

@test "standard input that is named twice is read once" {
    sampl -n 4096 -s 7 -f f16 - - <"$R/rows.f16" >ids
    same ids "$R/ids"
    # shellcheck disable=SC2002
    cat "$R/rows.f16" | sampl -n 4096 -s 7 -f f16 - - >ids
    same ids "$R/ids"
}

@test "--rows selects the same rows from files, pipes and standard input" {
    [ "$(wc -l <"$R/each")" = 16 ]
    split -a 1 -b $((7 * 16384)) --additional-suffix=.f32 "$R/rows.f32" part. # 7 + 7 + 2 rows
    while read -r rows lines; do # some select no row
        sed -n "$lines" "$R/each" >want
        sampl -n 4096 -s 7 --independent --rows "$rows" "$R/rows.f16" >ids
        diff want ids
        sampl -n 4096 -s 7 --independent --rows="$rows" -f f16 <"$R/rows.f16" >ids
        diff want ids
        sampl -n 4096 -s 7 --independent --rows "$rows" part.a.f32 part.b.f32 part.c.f32 >ids
        diff want ids
        case $rows in *-*) continue ;; esac
        sampl -n 4096 -s 7 --independent --rows "$rows" "$R/rows.json" >ids
        diff want ids
        sampl -n 4096 -s 7 --independent --rows "$rows" -f bf16 < <(cat "$R/rows.bf16") >ids
        diff want ids
    done <<-END
	: 1,16p
	0: 1,16p
	3: 4,16p
	:5 1,5p
	3:5 4,5p
	15:16 16p
	0:1 1p
	:100 1,16p
	-4: 13,16p
	:-12 1,4p
	-6:-2 11,14p
	2:-2 3,14p
	-1: 16p
	-16: 1,16p
	-100:3 1,3p
	-3:15 14,15p
	5:3
	16:
	100:
	0:0
	:-16
	:-99
	-2:-4
	END
}

@test "--first begins a run in the middle of the input, and rows keep their numbers" {
    head -c $((9 * 8192)) "$R/rows.f16" | tail -c $((5 * 8192)) >middle.f16
    sampl -n 4096 -s 7 --repeat-penalty 1.4 middle.f16 >want
    sampl -n 4096 -s 7 --repeat-penalty 1.4 --first 4 --rows :9 "$R/rows.f16" >ids
    same ids want
    sampl -n 4096 -s 7 --repeat-penalty 1.4 --first -12 --rows :9 "$R/rows.f16" >ids
    same ids want
    sampl -n 4096 -s 7 --repeat-penalty 1.4 --first 4 --rows :9 -f f16 < <(cat "$R/rows.f16") >ids
    same ids want
    sed -n 3p want >row
    sampl -n 4096 -s 7 --repeat-penalty 1.4 --first 4 --rows 6 "$R/rows.f16" >ids
    same ids row
    [ "$(sampl -n 4096 -s 7 -O tsv --first 14 "$R/rows.f16" | cut -f 1 | tr '\n' ' ')" = "row 14 15 " ]
    [ "$(sampl -n 4096 -s 7 -O tsv --rows -3: "$R/rows.f16" | cut -f 1 | tr '\n' ' ')" = "row 13 14 15 " ]
}

@test "--rows with a negative bound is refused for a pipe" {
    run -2 --separate-stderr sampl -n 4096 -f f16 --rows -3: < <(cat "$R/rows.f16")
    [ -z "$output" ]
}

@test "--rows reads nothing after the last selected row" {
    (head -c $((2 * 8192)) "$R/rows.f16"; printf x) >short.f16
    sampl -n 4096 -s 7 --rows :2 short.f16 >ids
    head -2 "$R/ids" | cmp - ids
}

@test "rows wider than 2^20 give the same dumps in every format" {
    perl -e '
        use strict;
        my $n = (1 << 20) + 5;
        open my $raw, ">:raw", "wide.f32" or die;
        open my $half, ">:raw", "wide.bf16" or die;
        open my $json, ">", "wide.json" or die;
        for my $row (0, 1) {
            my @x = map { ($_ * 7919 + $row) % 97 / 8 } 0 .. $n - 1;
            $x[$n - 1 - $row] = 32;
            print $raw pack "f<*", @x;
            print $half pack "v*", map { $_ >> 16 } unpack "L<*", pack "f<*", @x;
            print $json "[", join(",", @x), "]\n";
        }'
    sampl -n 1048581 --temp 0 wide.f32 >ids
    printf '1048580\n1048579\n' | cmp - ids
    for form in f32 bf16 json; do
        sampl -n 1048581 -s 5 --samplers 'top_n_sigma;temperature' --top-nsigma 9 --temp 3 --dump-probs=99 wide.$form >dump.$form
    done
    [ "$(wc -l <dump.f32)" -eq 202 ]
    same dump.f32 dump.bf16
    same dump.f32 dump.json
    sampl -n 1048581 -s 5 --samplers 'top_n_sigma;temperature' --top-nsigma 9 --temp 3 --dump-probs=99 -f f32 < <(cat wide.f32) >dump
    same dump.f32 dump
    sampl -s 5 --samplers 'top_n_sigma;temperature' --top-nsigma 9 --temp 3 --dump-probs=99 < <(cat wide.json) >dump
    same dump.f32 dump
}

# shellcheck disable=SC2094
@test "rows at odd file offsets give the same ids and dumps" {
    for form in f16 bf16 f32; do
        for odd in 1 3; do
            (head -c $odd /dev/zero; cat "$R/rows.$form") >odd
            (dd bs=$odd count=1 of=/dev/null status=none; sampl -n 4096 -s 7 -f $form) <odd >ids
            same ids "$R/ids"
            (dd bs=$odd count=1 of=/dev/null status=none; sampl -n 4096 -s 7 --top-k 0 --dump-probs -f $form) <odd >dump
            same dump "$R/dump"
            (dd bs=$odd count=1 of=/dev/null status=none; sampl -n 4096 -s 7 --independent --rows -3: -f $form) <odd >ids
            tail -3 "$R/each" | cmp - ids
        done
    done
    perl -e 'print pack "v*", map { 0x3c00 + $_ * 7919 % 4096 } 0 .. 499' >five.f16
    sampl -n 5 -s 2 --dump-probs five.f16 >whole
    sampl -n 5 -s 2 --dump-probs -f f16 < <(trickle <five.f16) >piped
    same whole piped
    (printf '%s' '[9]]'; cat "$R/rows.json") >odd
    (dd bs=4 count=1 of=/dev/null status=none; sampl -s 7) <odd >ids
    same ids "$R/ids"
}

@test "the input format is recognised by the file's content, then by the ending of its name" {
    cp "$R/rows.f32" a.bin
    expect_reference a.bin
    cp "$R/rows.json" nameless
    expect_reference nameless
    cp "$R/rows.json" liar.f32
    expect_reference liar.f32
    cp "$R/rows.bf16" liar.f16 # raw numbers have no signature: the ending selects the format, --format overrides it
    sampl -n 4096 -s 7 -f bf16 liar.f16 >ids
    same ids "$R/ids"
    cp "$R/rows.f16" nameless
    run -2 --separate-stderr sampl -n 4096 nameless
    [ -z "$output" ]
    run -2 --separate-stderr sampl -n 4096 <nameless
    [ -z "$output" ]
    sampl -n 4096 -s 7 --format f16 nameless >ids
    same ids "$R/ids"
    # raw numbers that begin like JSON
    perl -e 'print "[\0\0\x40" x 20' >bracket.f32
    sampl -n 20 --temp 0 bracket.f32 >ids
    [ "$(cat ids)" = 0 ]
}

@test "an empty input gives no record and no message" {
    : >empty
    : >empty.f32
    for args in empty empty.f32 '-f json empty' '-f f32 -n 3 empty' 'empty empty.f32 -' '--rows 1:2 empty' '--rows -1: empty'; do
        # shellcheck disable=SC2086
        sampl $args </dev/null >ids 2>messages
        [ ! -s ids ]
        [ ! -s messages ]
    done
    : | sampl >ids 2>messages
    [ ! -s ids ]
    [ ! -s messages ]
    for space in '\n' '  \n\t\n'; do
        # shellcheck disable=SC2059
        printf "$space" | sampl -f json >ids 2>messages
        [ ! -s ids ]
        [ ! -s messages ]
    done
}

@test "an input of white space gives no record" {
    printf '\n' | sampl -f json >ids
    [ ! -s ids ]
}

# early WRITE OPTION...: checks that the first record is printed while the writer, which runs the command WRITE, keeps the pipe open.
early() {
    local write=$1 first
    shift
    rm -f out hold
    mkfifo out hold
    (
        eval "$write"
        read -r _ <hold
    ) 3>&- | sampl --line-buffered --temp 0 "$@" >out 2>messages 3>&- &
    exec 8<out
    read -r -t 20 -u 8 first
    echo >hold
    [ "$first" = 1 ]
    wait
    exec 8<&-
}

@test "--line-buffered: a record is printed as soon as its row has arrived" {
    early 'echo "[1,9,3]"'
    early 'echo "{\"logits\":[1,9,3]}"'
    early 'printf "[[1,9,3]\n"'
    early 'f32 1 9 3' -f f32 -n 3
    early 'printf "[1,9,3]"' -f json
    early 'printf "[1,9,3]\n[3,"' -f json
    early 'head -c 16384 /dev/zero | tr "\0" "\1" | cat <(f32 1 9) -' -f f32 -n 4098
}

@test "a program can wait for the record of each row that it writes, in every format" {
    timeout 600 /usr/bin/python3 "$ROOT/tests/live.py" "$SAMPL"
}

@test "a program can wait for the record of each row that it writes, without --line-buffered" {
    timeout 60 /usr/bin/python3 -c '
import json, os, random, struct, subprocess
random.seed(1)
rows = [[random.random() * 3 for _ in range(50)] for _ in range(30)]
forms = {"json": lambda row: (json.dumps(row) + "\n").encode(), "object": lambda row: json.dumps({"seq": "a", "logits": row}).encode(),
         "f32": lambda row: struct.pack("<50f", *row)}
for args in ("", "-O json", "-o out") if os.environ.get("SAMPL_TEST_SHORT") else ("", "-t 3", "-O json", "--stats", "--emit stats", "--vs=\"--temp 2\" --emit ids", "-t 2 --dump-probs=2", "--emit logits -O f32", "-o out"):
    words = [word.strip(chr(34)) for word in args.replace("\"--temp 2\"", "--temp=2").split()]
    for form, text in forms.items():
        command = [os.environ["SAMPL"], "-s", "1", *(["-f", "f32", "-n", "50"] if form == "f32" else []), *words]
        whole = subprocess.run(command, input=b"".join(map(text, rows)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        got, n = b"", 0
        assert bool(whole) == (args != "-o out"), args
        for row in rows if whole else []: # with -o the end comes at the end
            run.stdin.write(text(row))
            run.stdin.flush()
            want = len(subprocess.run(command, input=b"".join(map(text, rows[:n + 1])), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
            while len(got) < want:
                piece = os.read(run.stdout.fileno(), want - len(got))
                assert piece, (args, form, n)
                got += piece
            n += 1
        run.stdin.close()
        got += run.stdout.read()
        assert got == whole and not run.wait(), (args, form)'
}

# 900 files of 1 MB need less than 700 MB of addresses, as a file's map goes with its last row. A process may have 65,530 maps.
@test "a file is unmapped after its last row, on one thread and on three" {
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # sanitizers need more addresses
    need_own_process
    local i t
    for i in {100..999}; do truncate -s 1000000 "$i.f32"; done
    for t in $(few 1 1 3); do
        (ulimit -v 700000 && sampl -t "$t" -s 1 -n 250000 -f f32 --temp 0 ./*.f32) >ids
        [ "$(wc -l <ids)" = 900 ]
    done
}

# peak file|pipe FILE ROWS OPTION...: prints the peak memory, in kB, of a run that reads FILE. Measures it after the last of the ROWS
# records is printed, while the program waits for more bytes from standard input.
peak() {
    perl -MIPC::Open2 -e '
        use strict;
        my ($how, $file, $rows, @command) = @ARGV;
        my $pid = open2 my $out, my $in, @command, $how eq "file" ? ($file, "-") : "-";
        if ($how eq "pipe" && !fork) {
            open STDOUT, ">&", $in or die;
            exec "cat", $file or die;
        }
        while ($rows--) { <$out> // die "too few records" }
        open my $status, "<", "/proc/$pid/status" or die;
        my ($peak) = join("", <$status>) =~ /^VmHWM:\s+(\d+)/m or die;
        close $in;
        die "too many records" if <$out>;
        waitpid $pid, 0;
        die "status $?" if $?;
        print "$peak\n"' "$1" "$2" "$3" "$SAMPL" --line-buffered --temp 0 "${@:4}"
}

# constant_memory SMALL ROWS LARGE ROWS OPTION...: checks that the peaks of the two files are less than 8 MB apart. Sanitizers keep freed
# memory: with them only runs the program.
constant_memory() {
    local how low high
    for how in file pipe; do
        low=$(peak $how "$1" "$2" "${@:5}")
        high=$(peak $how "$3" "$4" "${@:5}")
        echo "$how: $low kB, $high kB"
        [ $((high - low)) -lt 8192 ] || [ -n "$lenient" ]
    done
}

# measurable: fails if peak memory cannot be measured. Sets `lenient` if the program has a sanitizer.
measurable() {
    need_own_process
    [ -r /proc/self/status ] || missing /proc "it cannot be read"
    lenient=$(nm "$SAMPL" 2>/dev/null | grep -m 1 -o __asan_init) || true
}

@test "peak memory does not grow with the number of raw rows" {
    measurable
    truncate -s 4M small.f32
    truncate -s 400M large.f32
    constant_memory small.f32 256 large.f32 25600 -f f32 -n 4096
}

@test "peak memory does not grow with the number of JSON rows" {
    measurable
    perl -e '$row = "[" . join(",", map { $_ % 77 / 4 } 1 .. 8192) . "]\n"; print $row x 100' >small.json
    perl -e '$row = "[" . join(",", map { $_ % 77 / 4 } 1 .. 8192) . "]\n"; print $row x 1600' >large.json
    constant_memory small.json 100 large.json 1600
    for file in small large; do
        perl -ne 'BEGIN { print "[" } print $. > 1 ? "," : "", "{\"logits\":$_}"; END { print "]" }' $file.json >$file.list.json
    done
    constant_memory small.list.json 100 large.list.json 1600
}

@test "peak memory does not grow with the number of positions in one reply of a server" {
    measurable
    for n in 5 40; do
        perl -e '
            my $list = join ",", map { qq({"id":$_,"token":"t$_","bytes":[116,50],"logprob":-) . $_ / 64 . "}" } 0 .. 4999;
            my $position = qq({"id":7,"token":"t7","logprob":-1,"top_logprobs":[$list]});
            print qq({"content":"x","completion_probabilities":[), join(",", ($position) x $ARGV[0]), qq(],"stop":true}\n)' $n >$n.json
    done
    constant_memory 5.json 5 40.json 40 --dump-probs=1 -O json
}

@test "a mapped file that shrinks during the run is an error, after the records of the rows read" {
    local name=$'b\e\xc2\x9big.f32' # the message replaces its control characters
    truncate -s 80M "$name"
    mkfifo out
    sampl -s 1 -n 1024 -O json "$name" >out 2>message 3>&- &
    local pid=$!
    exec 8<out
    for _ in {1..1001}; do read -r _ <&8; done # fewer than half of the rows, including those that the pipe holds
    truncate -s 4096 "$name"
    wc -l <&8 >lines
    exec 8<&-
    local status=0
    wait "$pid" || status=$?
    [ "$status" -eq 3 ]
    # The message has the number of the row after the last record.
    [ "$(cat message)" = "sampl: b??ig.f32: row $((1001 + $(<lines))): the file became shorter while it was read" ]
}
