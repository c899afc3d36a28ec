#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --stats, and the progress line.

load helper

summary() {
    tr -s ' ' <stats
}

@test "stats: the means over the rows, as a dump shows them" {
    local args
    for args in '' '--samplers temperature --temp 0.7' '--samplers=' '--mirostat 2' '--samplers greedy' '--repeat-penalty 1.5 --top-nsigma 2' \
        '--samplers top_k;adaptive_p --adaptive-target 0.3'; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 5 --rows :20 $args --stats "$AUSTEN" >ids 2>stats
        # shellcheck disable=SC2086
        sampl -n 4096 -s 5 --rows :20 $args --dump-probs -O tsv "$AUSTEN" >dump
        perl -e '
            open my $f, "<:raw", $ENV{AUSTEN} or die;
            my (@logp, @best, $before);
            for my $row (0 .. 19) {
                read $f, my $bytes, 8192;
                my @x = map { my ($e, $m) = ($_ >> 10 & 31, $_ & 1023);
                    ($_ >> 15 ? -1 : 1) * ($e ? (1024 + $m) * 2 ** ($e - 25) : $m * 2 ** -24) } unpack "v*", $bytes;
                my ($best, $sum) = (0, 0);
                for (1 .. 4095) { $best = $_ if $x[$_] > $x[$best] }
                $sum += exp($_ - $x[$best]) for @x;
                $logp[$row] = [map { $_ - $x[$best] - log $sum } @x];
                $best[$row] = $best;
                $before -= exp($_) * $_ for @{$logp[$row]};
            }
            my %sum = map { $_ => 0 } qw(prob raw_prob raw_rank n entropy kl_raw greedy);
            open $f, "<", "dump" or die;
            <$f>;
            while (<$f>) {
                my ($row, undef, $id, undef, $p, undef, $chosen) = split;
                my $raw = $logp[$row][$id];
                $sum{n}++;
                if ($chosen) {
                    $sum{prob} += $p;
                    $sum{raw_prob} += exp $raw;
                    $sum{raw_rank} += 1 + grep { $logp[$row][$_] > $raw || ($_ < $id && $logp[$row][$_] == $raw) } 0 .. 4095;
                    $sum{greedy} += $id == $best[$row];
                }
                next if $p == 0;
                $sum{entropy} -= $p * log $p;
                $sum{kl_raw} += $p * (log($p) - $raw);
            }
            $sum{entropy_raw} = $before;
            my %want = map { $_ => $sum{$_} / 20 } keys %sum;
            @want{qw(rows bad_rows)} = (20, 0);
            open $f, "<", "stats" or die;
            my @names;
            while (<$f>) {
                my ($name, $x) = split;
                push @names, $name;
                die "$name: $x, want $want{$name}" if abs($x - $want{$name}) > 2e-5 * (1 + abs $want{$name}) || $x < 0;
            }
            die "@names" if "@names" ne "rows bad_rows prob raw_prob raw_rank n entropy_raw entropy kl_raw greedy"'
        # shellcheck disable=SC2086
        sampl -n 4096 -s 5 --rows :20 $args "$AUSTEN" | cmp - ids
    done
}

@test "stats: a chain that does nothing diverges by nothing" {
    sampl -n 4096 -s 5 --samplers '' --stats "$AUSTEN" 2>&1 >/dev/null | tr -s ' ' >stats
    grep -qx 'kl_raw 0' stats
    grep -qx 'n 4096' stats
    [ "$(sed -n 's/^entropy_raw //p' stats)" = "$(sed -n 's/^entropy //p' stats)" ]
}

@test "stats: the same on any number of threads, in any format" {
    local t
    sampl -n 4096 -s 5 --stats "$AUSTEN" >/dev/null 2>stats
    summary >want
    for t in 2 5; do
        sampl -n 4096 -s 5 --stats -t $t -O json "$AUSTEN" >/dev/null 2>stats
        summary | cmp - want
        sampl -n 4096 -s 5 --stats -t $t --emit logits "$AUSTEN" >/dev/null 2>stats
        summary | cmp - want
    done
}

@test "stats: bad rows count apart; without rows there are no means" {
    printf '[1,2,3] [null,null] [3,2,1]' >a.json
    run -1 --separate-stderr sampl -s 1 --temp 0 --stats --on-error skip a.json
    # shellcheck disable=SC2154 # run sets it
    [[ $stderr == *'rows              3'$'\n''bad_rows          1'$'\n'* ]]
    [[ $stderr == *$'\n''n                 1'$'\n'* ]]
    [[ $stderr == *$'\n''greedy            1'$'\n'* ]]
    sampl --stats </dev/null 2>stats
    summary >got
    printf '%s\n' 'rows 0' 'bad_rows 0' 'prob -' 'raw_prob -' 'raw_rank -' 'n -' 'entropy_raw -' 'entropy -' 'kl_raw -' 'greedy -' | cmp - got
}

# slowly COMMAND: runs it on a terminal, of which the screen file is a record, with two rows a second for three seconds and more on fd 8.
slowly() {
    command -v script >/dev/null || skip "no script"
    mkfifo rows
    script -qec "$1" /dev/null </dev/null >screen 3>&- 8>&- &
    exec 8>rows
    local i
    for i in 1 2 3 4 5 6 7; do
        f32 1 2 3 >&8
        if [ "$i" = 6 ]; then f32 1 nan 3 >&8; fi
        sleep 0.5
    done
    exec 8>&-
    wait $! || true
}

@test "progress: a line on the terminal after two seconds, gone at the end, and messages begin on a clean line" {
    slowly "'$SAMPL' -f f32 -n 3 --temp 0 --on-error skip rows >ids"
    perl -e '
        local $/;
        open my $f, "<", "screen" or die;
        my $s = <$f>;
        my $clear = "\r\e[K";
        my @line = $s =~ /\r(\d+ rows, \d+\.\d MB\/s)\e\[K/g;
        die "no progress: $s" if @line < 2;
        die "too soon: $line[0]" if $line[0] !~ /^[4-9] /;
        die "no clean line: $s" if $s !~ /MB\/s\e\[K\Q$clear\Esampl: rows: row 6: logit 1 is NaN\r\n/;
        die "something is left: $s" if $s !~ /\Q$clear\Esampl: 1 of 8 rows were bad\r\n$/'
    [ "$(wc -l <ids)" -eq 8 ]
}

@test "progress: the time left, when the number of rows is known" {
    # a header promises them
    { printf '\x93NUMPY\1\0v\0' && printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 3), }"; } >header.npy
    slowly "cat header.npy rows | '$SAMPL' -f npy --temp 0 --on-error skip >ids"
    grep -qaE '[4-8] of 8 rows, [0-9]+\.[0-9] MB/s, 0:0[0-9] left' screen
}

@test "progress: none without a terminal, nor when the output is on one" {
    command -v script >/dev/null || skip "no script"
    mkfifo rows
    sampl -f f32 -n 3 --temp 0 rows >ids 2>messages 3>&- &
    exec 8>rows
    f32 1 2 3 >&8
    sleep 2.5
    f32 1 2 3 >&8
    exec 8>&-
    wait $!
    [ ! -s messages ]
    rm rows
    slowly "'$SAMPL' -f f32 -n 3 --temp 0 --on-error skip rows"
    [ "$(wc -l <screen)" -ge 10 ]
    run ! grep -a 'MB/s' screen
}

@test "stats: one entropy, in the dump, the trace and the statistics" {
    local row
    for row in 0 3 7; do
        sampl -n 4096 -s 1 --rows "$row:$((row + 1))" --dump-probs --trace --stats -O json "$AUSTEN" >dump 2>stats
        sampl -n 4096 -s 1 --rows "$row:$((row + 1))" --dump-probs=1 "$AUSTEN" >text
        traced=$(perl -ne 'print((/"entropy":([^,]+)/g)[-1])' dump)
        [ "$(printf '%.5g' "$traced")" = "$(printf '%.5g' "$(awk '$1 == "entropy" { print $2 }' stats)")" ]
        [ "$(printf '%.3f' "$traced")" = "$(sed -n 's/.*entropy //p' text)" ]
    done
    # of logits that are far apart every bit counts: 1e-6 nats, where probabilities rounded to f32 give another figure
    printf '{"logits":[0,-20]}\n' | sampl -s 1 --samplers '' --dump-probs --trace --stats -O json >dump 2>stats
    grep -q '"entropy":4.32' dump
    grep -qE '^entropy +4.32[0-9]*e-08$' stats
}
