#!/usr/bin/env bats
# Output: the forms of records, dumps and traces, and the files of -o.

load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    sampl -n 4096 -s 3 --rows :32 "$AUSTEN" >ids
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    R=$BATS_FILE_TMPDIR
}

# austen OPTION...: runs sampl on the first 32 rows of the sample, with seed 3.
austen() {
    sampl -n 4096 -s 3 --rows :32 "$@" "$AUSTEN"
}

# old_target MODE: writes out/target with these permissions, a file that a run will replace. out/ holds no other file.
old_target() {
    mkdir out
    echo old >out/target
    chmod "$1" out/target
}

# only_file NAME EXPECTED: checks that out/ holds only the file NAME, and that this file equals the file EXPECTED.
only_file() {
    [ "$(ls -A out)" = "$1" ] || { ls -lA out; return 1; }
    same "out/$1" "$2"
}

@test "TSV and JSON records have the ids, probabilities and counts of a dump" {
    austen --dump-probs -O tsv | awk -F'\t' 'NR > 1 { n[$1]++; if ($7) { id[$1] = $3; p[$1] = $5 } }
        END { print "row\tid\tprob\tn"; for (i = 0; i < 32; i++) print i "\t" id[i] "\t" p[i] "\t" n[i] }' >want
    austen -O tsv >ids.tsv
    same ids.tsv want
    austen -O json >ids.json
    awk -F'\t' 'NR > 1 { print "{\"row\":" $1 ",\"id\":" $2 ",\"prob\":" $3 ",\"n\":" $4 "}" }' want | cmp - ids.json
    tail -n +2 ids.tsv | cut -f 2 | cmp - "$R/ids"
}

@test "numbers have the fewest digits that read back to them: f64 in statistics, f32 elsewhere" {
    need_numpy
    # shellcheck disable=SC2086
    for chain in '' '--temp 1.3 --xtc-probability 0.5' '--mirostat 2' '--temp 0.02 --top-k 0'; do
        for record in '' --dump-probs=5 --trace=2 '--emit stats' '--emit score' '--emit probs' '--emit logits'; do
            austen $chain --accept "@$ROOT/samples/austen.tokens" --rows :6 $record -O json
            sampl -s 1 $chain $record --rows :1 --accept 559 -O json "$ROOT/samples/reply.json" 2>/dev/null || [ "$record" = '--emit logits' ] || [ "$record" = '--emit probs' ]
        done
        austen $chain --accept "@$ROOT/samples/austen.tokens" --rows :6 --emit probs -O text | sed 's/ /,/g; s/.*/[&]/'
        austen $chain --accept "@$ROOT/samples/austen.tokens" --rows :6 --emit stats -O tsv | jq -R -c 'split("\t") | select(.[0] != "row")' | tr -d '"' | sed 's/.*/{"stats":&}/'
    done >records 2>notes
    /usr/bin/python3 -c '
import json, sys, numpy as np
seen = {}
def fewest(text, of):
    x = of(text)
    return next(d for d in range(1, 18) if of("%.*g" % (d, x)) == x)
def digits(text):
    return len(text.lower().partition("e")[0].lstrip("-").replace(".", "").strip("0")) or 1
WIDE = {"entropy", "mass", "rest", "within", "notes", "stats"}
def check(x, name, wide):
    if isinstance(x, dict):
        for key, value in x.items():
            check(value, key, wide or key in WIDE or "raw_rank" in x)
    elif isinstance(x, list):
        for value in x:
            check(value, name, wide)
    elif isinstance(x, Number):
        of = np.float64 if wide else np.float32
        seen[name, wide] = seen.get((name, wide), 0) + 1
        assert digits(x) <= fewest(x, of), (name, wide, x)
        if not wide:
            seen["few"] = max(seen.get("few", 0), digits(x))
class Number(str): pass
for line in open("records"):
    check(json.loads(line, parse_float=Number, parse_constant=str), "value", False)
print(seen)
assert seen["few"] == 9 and len(seen) > 20 and seen["logits", False] > 500 and seen["stats", True] > 200' || { head -c 2000 notes; return 1; }
}

@test "TSV has one header line, also for several input files" {
    sampl -n 4096 -s 3 --rows :300 -O tsv "$AUSTEN" "$AUSTEN" >two
    [ "$(grep -c row two)" -eq 1 ]
    [ "$(wc -l <two)" -eq 301 ]
}

@test "--dump-probs: text has a head, a header and a line per candidate, by rank, with the chosen token marked" {
    austen --dump-probs >dump
    perl -ne '
        if (/^row (\d+)  chosen (\d+) \((\d\.\d{4})\)  kept (\d+)\/4096  entropy (\d+\.\d{3}) nats$/) {
            die "row $row: $left candidates missing" if $left;
            die "row $row: marked $marked" if $rows && $marked != 1;
            ($row, $chosen, $p, $left, $entropy, $rank, $marked, $last, $sum, $h) = ($1, $2, $3, $4, $5, 0, 0, 2, 0, 0);
            die "row $row out of order" if $row != $rows++;
            $_ = <>;
            die "no names: $_" if !/^ +rank +id +logit +before +after +cum$/;
        } elsif (/^([ >]) *(\d+) +(\d+) +-?\d+\.\d{4} +(\d\.\d{4}|\de-\d\d) +(\d\.\d{4}|\de-\d\d) +(\d\.\d{4})$/) {
            die "rank $2" if $2 != ++$rank;
            die "row $row: $3 is marked" if ($1 eq ">") != ($3 == $chosen);
            die "row $row: $p is not $5" if $1 eq ">" && abs($p - $5) > 5.1e-5;
            die "row $row: not falling" if $5 > $last;
            $sum += $last = $5;
            $h -= $5 * log $5 if $5 > 0;
            die "row $row: sum $6 is not $sum" if abs($sum - $6) > 1e-4 * (1 + $rank);
            die "row $row: entropy $entropy is not $h" if $left == 1 && abs($h - $entropy) > 1e-2;
            $marked++ if $1 eq ">";
            $left--;
        } else {
            die "strange line: $_";
        }
        END { die "rows: $rows, left $left" if $rows != 32 || $left }' dump
    sed -n 's/^row .* chosen \([0-9]*\) .*/\1/p' dump | cmp - "$R/ids"
    sed -n 's/^> *[0-9]* *\([0-9]*\) .*/\1/p' dump | cmp - "$R/ids"
}

@test "--dump-probs: TSV and JSON have ranks, cumulative probabilities and the chosen token" {
    austen --dump-probs -O tsv >dump.tsv
    perl -F'\t' -ane '
        next if $. == 1;
        ($row, $rank, $last, $sum) = ($F[0], 0, 2, 0) if $F[0] != $row || !$rank;
        die "row $F[0]: rank $F[1]" if $F[1] != ++$rank;
        die "row $F[0]: not falling" if $F[4] > $last;
        $sum += $last = $F[4];
        die "row $F[0]: sum $F[5] is not $sum" if $F[5] ne $sum && abs($F[5] - $sum) > 1e-7;
        $end{$row} = $F[5];
        END { for (values %end) { die "sum $_" if abs($_ - 1) > 1e-6 } die "rows" if keys %end != 32 }' dump.tsv
    awk -F'\t' '$7 == 1 { print $3 }' dump.tsv | cmp - "$R/ids"
    [ "$(tail -n +2 dump.tsv | awk -F'\t' '$7 != 0 && $7 != 1' | wc -l)" -eq 0 ]
    austen --dump-probs -O json >dump.json
    # JSON has the numbers of TSV, digit for digit.
    perl -ne '
        /^\{"row":(\d+),"id":(\d+),"prob":([^,]+),"n":(\d+),"top_probs":\[(.*)\],"v":1,"entropy":[\d.]+\}$/ or die "strange line: $_";
        my ($row, $id, $p, $n, $list) = ($1, $2, $3, $4, $5);
        my @c = $list =~ /\{"id":(\d+),"prob":([^,]+),"logit":[^,]+,"raw_prob":[^,]+,"cum":[^,]+\}/g;
        die "row $row: n" if @c != 2 * $n;
        while (my ($i, $q) = splice @c, 0, 2) {
            print "$row\t$i\t$q\t", 0 + ($i == $id), "\n";
            die "row $row: $q is not $p" if $i == $id && $q ne $p;
        }' dump.json >from.json
    tail -n +2 dump.tsv | cut -f 1,3,5,7 | cmp - from.json
}

@test "--dump-probs=N prints the first N lines of a full dump for each row" {
    austen --dump-probs -O tsv >all
    for n in 1 2 5 39 40 1000; do
        awk -F'\t' -v n=$n 'NR == 1 || $2 <= n' all >want
        austen --dump-probs=$n -O tsv >got
        same got want
    done
    austen --dump-probs | awk '/^row/ { n = -2 } ++n <= 3' >want
    austen --dump-probs=3 >got
    same got want
    austen --dump-probs=2 -O json >got
    [ "$(grep -c . got)" -eq 32 ]
    [ "$(tr '{' '\n' <got | grep -c '^"id"')" -eq "$(awk -F'\t' '$2 <= 2 && NR > 1' all | wc -l)" ]
}

@test "printed numbers are the shortest that read back as the same float" {
    austen --samplers top_k --top-k 50 --dump-probs -O tsv | tail -n +2 | cut -f 1,3,4,5 >dump
    perl -e '
        use strict;
        open my $raw, "<:raw", $ENV{AUSTEN} or die;
        local $/;
        my @h = unpack "v*", <$raw>;
        my $float = sub { unpack "f<", pack "f<", shift };
        open my $dump, "<", "dump" or die;
        my @line = split /\n/, <$dump>;
        die scalar @line if @line != 32 * 50;
        for (@line) {
            my ($row, $id, $logit, $p) = split /\t/;
            my $bits = $h[$row * 4096 + $id];
            my ($e, $m) = ($bits >> 10 & 31, $bits & 1023);
            my $x = ($bits >> 15 ? -1 : 1) * ($e ? (1024 + $m) * 2 ** ($e - 25) : $m * 2 ** -24);
            die "row $row: $logit is not $x" if $float->($logit) != $x;
            for my $text ($logit, $p) {
                my $digits = length(($text =~ s/e.*//r) =~ s/^-?0*\.?0*|\.//gr);
                my $fewer = $digits > 1 ? sprintf "%.*g", $digits - 1, $text : next;
                die "row $row: $fewer does for $text" if $text !~ /^-?\d+$/ && $float->($fewer) == $float->($text);
            }
        }'
    # Probabilities are f32 numbers and sum to 1.
    perl -ane '$sum{$F[0]} += unpack "f<", pack "f<", $F[3]; END { for (values %sum) { die $_ if abs($_ - 1) > 1e-6 } }' dump
}

@test "-o FILE writes the bytes of standard output to the file" {
    for args in '' '--dump-probs' '-O tsv' '-O json --dump-probs=3 --trace'; do
        # shellcheck disable=SC2086
        austen $args >want
        # shellcheck disable=SC2086
        austen $args -o file >none
        same file want
        [ ! -s none ]
    done
}

@test "-o FILE: the file appears only when the run ends, and is then complete" {
    mkdir out
    mkfifo rows
    sampl -f f16 -n 4096 -s 3 --line-buffered -o out/target rows 3>&- &
    exec 8>rows
    head -c $((20 * 8192)) "$AUSTEN" >&8
    await eval 'has_lines 20 out/.target.*' # a hidden file has the records of the rows read
    [ "$(cat out/.target.* | wc -l)" -eq 20 ]
    [ "$(ls out)" = "" ]
    head -c $((32 * 8192)) "$AUSTEN" | tail -c $((12 * 8192)) >&8
    exec 8>&-
    wait $!
    only_file target "$R/ids"
}

@test "-o FILE: a new file has the permissions of umask, an existing file keeps its permissions" {
    mkdir fresh
    (umask 027; austen -o fresh/target)
    [ "$(stat -c %a fresh/target)" = 640 ]
    old_target 604
    (umask 077; austen -o out/target)
    only_file target "$R/ids"
    [ "$(stat -c %a out/target)" = 604 ]
}

@test "-o LINK replaces the target of a symbolic link and keeps the link" {
    old_target 600
    ln -s out/target link
    austen -o link
    [ -L link ]
    only_file target "$R/ids"
    rm out/target
    austen -o link # the link's target does not exist
    [ -L link ]
    only_file target "$R/ids"
}

@test "-o FILE: the new file loses the set-user-ID and set-group-ID bits of the old file" {
    old_target 6751
    austen -o out/target
    [ "$(stat -c %a out/target)" = 751 ]
}

@test "a closed standard stream is never replaced by an opened file" {
    echo '[1,2,3] [null,null,null] [3,2,1]' >bad.json
    run -1 --separate-stderr sampl -s 1 --on-error skip -o want bad.json
    # shellcheck disable=SC2154 # run sets it
    [ -n "$stderr" ]
    ! sh -c 'exec "$SAMPL" -s 1 --on-error skip -o out bad.json 2>&-' || return 1
    same out want
    ! sh -c 'exec "$SAMPL" -s 1 --on-error skip -o out bad.json <&- >&- 2>&-' || return 1
    same out want
    ! sh -c 'exec "$SAMPL" -s 1 -o new - <&-' || return 1
    [ ! -e new ]
    echo '[1,2,3]' >ok.json
    sh -c 'exec "$SAMPL" -s 1 - 2>&1 >&- <ok.json' | grep -q 'standard output: cannot write: Bad file descriptor'
    [ "$(<ok.json)" = '[1,2,3]' ]
}

@test "-o FILE has the output of --print-chain and --print-grammar, but not of --help and --version" {
    local how
    for how in --print-chain --print-chain=json --print-chain=llama --print-chain=server '--print-grammar -j {}'; do
        # shellcheck disable=SC2086
        sampl -s 1 $how >want
        # shellcheck disable=SC2086
        run -0 sampl -s 1 $how -o got
        [ -z "$output" ]
        same got want
    done
    echo old >got
    run -2 sampl -s 1 --samplers greedy --print-chain=server -o got
    [ "$(<got)" = old ]
    sampl --version -o got >version
    sampl -o got --help >help
    [ -s version ] && [ -s help ]
    [ "$(<got)" = old ]
}

@test "-o FILE may replace the input file" {
    head -c $((32 * 8192)) "$AUSTEN" >both.f16
    sampl -n 4096 -s 3 -o both.f16 both.f16
    same both.f16 "$R/ids"
}

@test "-o FILE accepts a name of 255 bytes" {
    local name
    name=$(printf 'x%.0s' {1..255})
    austen -o "$name"
    same "$name" "$R/ids"
}

@test "-o writes to devices and pipes directly" {
    austen -o /dev/null
    [ -c /dev/null ]
    austen -o /dev/stdout | cmp - "$R/ids"
    mkfifo fifo
    cat fifo >copy &
    austen -o fifo
    wait $!
    [ -p fifo ]
    same copy "$R/ids"
    [ "$(find . ! -name . | sort | tr '\n' ' ')" = "./copy ./fifo " ]
}

@test "-o /dev/stdout appends to the file that standard output is redirected to" {
    (echo first; austen -o /dev/stdout; echo last) >file
    (echo first; cat "$R/ids"; echo last) | cmp - file
    echo first >log
    austen -o /dev/stdout >>log
    (echo first; cat "$R/ids") | cmp - log
}

@test "-o FILE: a run that fails leaves the old file and no other" {
    old_target 600
    cp out/target want
    head -c 20000 "$AUSTEN" >short.f16 # two rows and a half
    run -1 --separate-stderr sampl -n 4096 -s 3 -o out/target short.f16
    only_file target want
    run -1 --separate-stderr sampl -n 4096 -s 3 -o out/other short.f16
    only_file target want
    run -3 --separate-stderr sampl -n 4096 -o out/other missing.f16
    only_file target want
    run -2 --separate-stderr sampl -f json -o out/other -O f16 "$AUSTEN"
    only_file target want
    run -2 --separate-stderr sampl -f f16 -o out/other "$AUSTEN" # no --n-vocab
    only_file target want
    run -3 --separate-stderr austen -o nowhere/target
    [ ! -e nowhere ]
    run -3 --separate-stderr austen -o out
    only_file target want
}

@test "without -o the records of the rows before a bad row are printed" {
    head -c 20000 "$AUSTEN" >short.f16
    run -1 --separate-stderr sampl -n 4096 -s 3 short.f16
    [ "$output" = "$(head -2 "$R/ids")" ]
}

@test "-o FILE: a run that a signal ends leaves the old file and no other" {
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:handle_segv=0 # a sanitizer would end the run with a status of its own
    # musl keeps signals 32 to 34 for itself: RTMIN+2 is 36.
    for signal in TERM HUP INT USR1 USR2 ALRM PROF IO RTMIN+2 SEGV; do
        mkdir out
        mkfifo rows
        echo old >out/target
        cp out/target want
        # Background jobs ignore INT, commands of nohup ignore HUP, and other parents ignore others: perl restores the default.
        perl -e '$SIG{$_} = "DEFAULT" for qw(TERM HUP INT USR1 USR2 ALRM IO SEGV); exec @ARGV' "$SAMPL" -f f16 -n 4096 --line-buffered -o out/target rows 3>&- &
        exec 8>rows
        head -c 8192 "$AUSTEN" >&8
        await eval 'has_lines 1 out/.target.*'
        [ "$(cat out/.target.* | wc -l)" -eq 1 ]
        kill -s $signal $!
        status=0
        wait $! || status=$?
        exec 8>&-
        echo "signal $signal: status $status"
        [ "$status" -eq $((128 + $(kill -l $signal))) ]
        only_file target want
        rm -r out rows
    done
}

@test "a closed pipe ends the run without a message" {
    truncate -s 64M rows.f32
    for args in '' '--dump-probs=3' '-O tsv' '-O json' '--line-buffered'; do
        # shellcheck disable=SC2086
        sampl -f f32 -n 256 $args rows.f32 2>messages | head -1 >first
        [ -s first ]
        [ ! -s messages ]
    done
}

@test "a closed pipe ends the run without a message and with status 0 where SIGPIPE is ignored" {
    truncate -s 64M rows.f32
    mkdir -p config/sampl/presets
    for i in {1..200}; do echo '# a list that is longer than a buffer' >"config/sampl/presets/$i.preset"; done
    export XDG_CONFIG_HOME=$PWD/config
    for args in '-f f32 -n 256 rows.f32' '-f f32 -n 256 --line-buffered rows.f32' '-f f32 -n 256 --rows :1 rows.f32' \
        '-f f32 -n 256 --dump-probs rows.f32' '-f f32 -n 256 -O tsv rows.f32' '-f f32 -n 256 -o /dev/stdout rows.f32' \
        --help --version --print-chain --print-chain=json --print-chain=llama --list-presets --generate=bash --generate=json; do
        status=0
        # The pipe has no reader from the start.
        # shellcheck disable=SC2016,SC2086
        perl -e '$SIG{PIPE} = "IGNORE"; pipe R, W; close R; open STDOUT, ">&W" or die; exec @ARGV' "$SAMPL" $args 2>messages || status=$?
        echo "$args: $status $(cat messages)"
        [ "$status" -eq 0 ]
        run ! grep -v '^sampl: note: presets are looked for in ' messages
    done
}

@test "a full disk is an error with status 3" {
    [ -c /dev/full ] || missing /dev/full "there is no such device"
    truncate -s 4M rows.f32
    for args in '-f f32 -n 256 --rows :1 rows.f32' '-f f32 -n 256 rows.f32' '-f f32 -n 256 --line-buffered rows.f32' \
        '-f f32 -n 256 --dump-probs rows.f32' '-f f32 -n 256 -O json rows.f32' '-O tsv /dev/null' \
        --help --version --print-chain --print-chain=json --print-chain=llama --generate=bash; do
        # shellcheck disable=SC2086
        run -3 --separate-stderr sampl_full $args
        # shellcheck disable=SC2154
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    run -3 --separate-stderr sampl -f f32 -n 256 -o /dev/full rows.f32
    [ -c /dev/full ]
}

# sampl_full ARGUMENT...: runs sampl with standard output on a full device.
sampl_full() {
    sampl "$@" >/dev/full
}

@test "--trace: the counts and probabilities before a stage are those after the previous stage" {
    args=(--repeat-penalty 1.2 --top-nsigma 3 --typical 0.9 --xtc-probability 0.7 --scatter-strength 0.2 -l 304-inf -l 404+1)
    austen "${args[@]}" --dump-probs --trace -v -O json >trace.json
    perl -ne '
        /"row":(\d+),"id":(\d+),"prob":[^,]+,"n":(\d+)/ or die;
        my ($row, $n, $left, $top, $stages, $on) = ($1, $3, 4096, undef, 0, 0);
        my @name;
        for (/(\{"name":.*?\})(?=,\{"name"|\],"v":1)/g) {
            /^\{"name":"(\w+)","enabled":(true|false)/ or die;
            push @name, $1;
            if ($2 eq "false") {
                die "an idle stage with numbers: $_" if !/"enabled":false\}$/;
                next;
            }
            $on++;
            /"before":(\d+),"after":(\d+),"mass":([^,]+),"entropy":([^,]+),"top_before":(\d+),"top_after":(\d+),"removed":(\d+),"likeliest_removed":\[(.*)\],"params":\{(.*)\},"notes":\{([^}]*)\}(?:,"says":"[^"]*")?(?:,"found":\[[^]]*\])?\}$/
                or die "strange stage: $_";
            my ($before, $after, $mass, $entropy, $was, $is, $gone, $list) = ($1, $2, $3, $4, $5, $6, $7, $8);
            die "row $row, $name[-1]: $before candidates after $left" if $before != $left;
            die "row $row, $name[-1]: top $was after $top" if defined $top && $was != $top;
            die "row $row, $name[-1]: removed $gone of $before, left $after" if $before - $after != $gone;
            die "row $row, $name[-1]: mass $mass" if $mass > 1.0000001 || $mass <= 0 || ($after == $before && abs($mass - 1) > 1e-6);
            die "row $row, $name[-1]: entropy $entropy" if $entropy < 0 || $entropy > log($after) + 1e-5;
            my @p = $list =~ /"prob":([^}]+)/g;
            die "row $row, $name[-1]: named @p of $gone" if @p != ($gone < 3 ? $gone : 3);
            $p[$_] <= $p[$_ - 1] || die "row $row, $name[-1]: @p" for 1 .. $#p;
            die "row $row, $name[-1]: token 304 is banned" if $name[-1] eq "logit_bias" && $list !~ /^\{"id":304,/;
            ($left, $top) = ($after, $is);
        }
        die "row $row: $left left, $n in the record" if $left != $n;
        die "row $row: chain @name" if "@name" ne "logit_bias bans penalties dry top_n_sigma top_k typ_p top_p min_p xtc scatter temperature dist";
        die "row $row: $on stages" if $on != 11;
        $rows++;
        END { die if $rows != 32 }' trace.json
    # The text form has the same counts.
    austen "${args[@]}" --dump-probs --trace >trace.txt
    perl -ne 'print join(" ", $1, $2, $3, $4), "\n" if /^(\w+)(?:=\S+)? +(\d+) -> +(\d+) +[\d.]+ +[\d.]+  (\d+)/' trace.txt >from.txt
    perl -ne 'print "$1 $2 $3 $4\n" while /"name":"(\w+)","enabled":true,"before":(\d+),"after":(\d+).*?"top_before":(\d+)/g' trace.json >from.json
    [ "$(wc -l <from.txt)" -eq $((32 * 11)) ]
    same from.txt from.json
}

@test "--trace=N lists the N best candidates after each stage, and TSV has the numbers of JSON" {
    local args=(--rows :4 --repeat-penalty 1.2 --xtc-probability 0.6 --top-nsigma 2)
    austen "${args[@]}" --trace=3 --dump-probs=2 -O json >trace.json
    austen "${args[@]}" --trace=3 --dump-probs=2 -O tsv >trace.tsv
    austen "${args[@]}" --trace=3 --dump-probs=2 >trace.txt
    for stage in penalties top_k xtc temperature; do
        austen "${args[@]}" --after $stage --dump-probs=3 -O json >after.$stage
    done
    perl -MJSON::PP -e '
        sub slurp { open my $f, "<", $_[0] or die; <$f> }
        my @json = map { decode_json $_ } slurp("trace.json");
        my (undef, @tsv) = map { chomp; [split /\t/, $_, -1] } slurp("trace.tsv");
        sub alike { abs($_[0] - $_[1]) <= 1e-12 * (1 + abs $_[1]) or die "@_" }
        my %after;
        for my $stage (qw(penalties top_k xtc temperature)) { $after{$stage} = [map { decode_json $_ } slurp("after.$stage")] }
        my $seen = 0;
        for my $row (@json) {
            for my $s (@{$row->{stages}}) {
                my $line = shift @tsv;
                my ($number, $rank, $entropy, $name, $params, $before, $n, $mass, $was, $is, $removed, $notes) = @$line[0, 1, 7 .. 16];
                die "@$line" if $rank ne "" || $number != $row->{row} || $name ne $s->{name} || $before != $s->{before} || $n != $s->{after}
                    || $was != $s->{top_before} || $is != $s->{top_after} || $removed != $s->{removed};
                alike($entropy, $s->{entropy});
                alike($mass, $s->{mass});
                for ([$params, $s->{params}], [$notes, $s->{notes}]) {
                    my %said = map { my ($k, $x) = split /=/; $k =~ tr/-/_/; ($k, $x) } split / /, $_->[0];
                    die "$name: $_->[0]" if join(",", sort keys %said) ne join ",", sort keys %{$_->[1]};
                    for my $k (keys %said) { alike($said{$k}, $_->[1]{$k}) if $said{$k} =~ /^[\d.]/ }
                }
                my @best = @{$s->{top_probs}};
                die "$name: " . @best if @best != (3 < $s->{after} ? 3 : $s->{after});
                my $then = $after{$name} ? $after{$name}[$row->{row}]{top_probs} : \@best;
                for (0 .. $#best) {
                    my $c = shift @tsv;
                    die "@$c" if $c->[1] != $_ + 1 || $c->[2] != $best[$_]{id} || $c->[4] != $best[$_]{prob} || $c->[8] ne $name;
                    die "$name, row $number" if $then->[$_]{id} != $best[$_]{id} || abs($then->[$_]{prob} - $best[$_]{prob}) > 1e-6;
                }
                $seen++;
            }
            for (0 .. $#{$row->{top_probs}}) {
                my $c = shift @tsv;
                die "@$c" if $c->[1] != $_ + 1 || $c->[2] != $row->{top_probs}[$_]{id} || $c->[8] ne "";
            }
        }
        die scalar @tsv if @tsv;
        # Text has a list below the line of each stage, and the list of the dump.
        my @text = slurp("trace.txt");
        die if !$seen || grep(/ -> /, @text) != $seen || grep(/^  rank /, @text) != $seen + @json'
}

@test "a stage that left a row as it was says why, with its own numbers" {
    # reason OPTIONS ROW: prints what the first stage says.
    reason() { eval "sampl -s 1 $1 --trace -O json" <<<"$2" | jq -r '.stages[0].says'; }
    check() { [ "$(reason "$1" "$2")" = "$3" ] || { reason "$1" "$2"; return 1; }; }
    check '--samplers tfs --tfs .5' '[1,2,3]' 'kept all: 3 candidates, fewer than 4'
    check '--samplers tfs --tfs .5 --min-keep 3' '[1,2,3,9]' 'kept all: min-keep is 3'
    check '--samplers tfs_tg --tfs .5' '[1,2]' 'kept all: 2 candidates, fewer than 3' || [ "$(sampl --samplers tfs_tg --tfs .5 2>&1 <<<'[1,2]' | grep -c tfs_tg)" = 1 ]
    check '--samplers min_k --min-k 9' '[1,2,3]' 'kept all: tau over the range of the logits is 4.5, at least 3'
    check '--samplers top_h --top-h 1' '[1,2,3]' 'kept all: 3 candidates, and the limit is all of their entropy'
    check '--samplers skew --skew 1e-9' '[-0.69314718,-0.69314718]' 'changed no logit: the power is 1'
    check '--samplers smoothing --smoothing-factor .5' '[1,3,3]' 'changed no logit: the lowest stays 2 below the largest'
    check '--samplers smoothing --smoothing-factor 1' '[2,2]' 'changed no logit: all are equal'
    check '--samplers temperature --temp 0' '[2,null]' 'kept all: 1 candidate'
    check '--samplers temperature --temp 1 --dynatemp-range .5' '[2,null]' 'changed no logit: 1 candidate' || check '--samplers temperature --temp 1 --dynatemp-range .5' '[2]' 'changed no logit: 1 candidate'
    check '--samplers top_n_sigma --top-nsigma 2' '[1,2]' 'kept all: the limit is 1 below the largest logit, the lowest 1'
    check '--samplers p_less' '[2,2]' 'kept all: the least probability is .5, at least .5'
    check '--engine sglang --top-k 30 --min-p .1' '[2,2.5]' 'kept all: 2 candidates, at most 30; the least likely has .607 of the largest probability, at least .1' ||
        [ "$(sampl -s 1 --engine sglang --top-k 30 --min-p .1 --trace -O json <<<'[2,2.5]' | jq -r '.stages[] | select(.name == "softmax_cut").says')" = \
            'kept all: 2 candidates, at most 30; the least likely has .607 of the largest probability, at least .1' ]
    printf 'ab\nc\n' >words
    check '--vocab words --samplers infill' '[2,2.5]' 'kept all: the least probability of a text is .378, at least .333'
}

@test "--trace changes neither ids nor candidates" {
    for args in '' '--repeat-penalty 1.3 --xtc-probability 0.5 --typical 0.8' '--mirostat 2' '--mirostat 1' '--samplers top_k;adaptive_p --adaptive-target 0.3' \
        '--samplers temperature;min_p' '--temp 0' '--dynatemp-range 0.5 --top-nsigma 2' '--scatter-strength 0.2 --scatter-absorption 0.3'; do
        # shellcheck disable=SC2086
        austen $args --dump-probs >want
        # shellcheck disable=SC2086
        austen $args --dump-probs --trace | sed -E '/^stage /d; /^[a-z]\w+(=[^ ]+)? +[0-9]+ -> /d; /^    ([a-z]|[0-9]+ (removed|repeated))/d' >got
        same got want
        # shellcheck disable=SC2086
        austen $args >ids
        sed -n 's/^row .* chosen \([0-9]*\) .*/\1/p' got | cmp - ids
        # shellcheck disable=SC2086
        austen $args --dump-probs -O json >want
        # shellcheck disable=SC2086
        austen $args --dump-probs -O json --trace | sed 's/,"stages":.*,"v":1/,"v":1/' >got
        same got want
    done
}

@test "output that is not a terminal has no colours and no bars" {
    austen --dump-probs --trace >dump
    [ "$(LC_ALL=C tr -d '\n -~' <dump | wc -c)" -eq 0 ]
    NO_COLOR=1 austen --dump-probs --trace >plain
    same dump plain
}

@test "a trace counts the logits that penalties and dry changed, and names the largest change" {
    echo '[1,2,3,-1]' >row.json
    sampl -s 1 --samplers 'penalties;top_k' --top-k 3 --repeat-penalty 2 --presence-penalty 0.25 --prompt-tokens 3,1 --trace row.json | sed ':a; N; $!ba; s/\n    /; /g' >got
    grep -q '^penalties=2 .*; 2 repeated: 1 x1 -1.25, 3 x1 -1.25$' got
    sampl -s 1 --samplers 'penalties' --presence-penalty 0.25 --prompt-tokens 3,1 --trace -O json row.json | grep -qF '"notes":{"changed":2,"change":-0.25,"token":1}'
    sampl -s 1 --samplers 'dry' --dry-multiplier 0.5 --dry-allowed-length 1 --dry-sequence-breaker none --prompt-tokens 2,1,2 --trace row.json | sed ':a; N; $!ba; s/\n    /; /g' | grep -q '^dry=0.5 .*; repeats 1 token 2 of 2 tokens back, -.5 \* 1.75^0 = -.5 for 1$'
    # A stage that changed nothing says so, and others say nothing.
    sampl -s 1 --samplers 'dry;temperature' --dry-multiplier 0.5 --prompt-tokens 2,1 --trace row.json 2>/dev/null | sed ':a; N; $!ba; s/\n    /; /g' >got
    grep -q '^dry=0.5 .*; did not act: its window has 2 tokens$' got
    [ "$(grep -c "did not act" got)" = 1 ]
}
