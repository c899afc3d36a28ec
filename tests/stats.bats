#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --stats, --emit stats and the progress line.

load helper

# summary: prints the file stats with single spaces.
summary() {
    tr -s ' ' <stats
}

@test "--stats prints the means over the rows that a dump gives" {
    local args
    for args in '' '--samplers temperature --temp 0.7' '--samplers=' '--mirostat 2' '--samplers greedy' '--repeat-penalty 1.5 --top-nsigma 2' \
        '--samplers top_k;adaptive_p --adaptive-target 0.3'; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 5 --rows :20 $args --stats "$AUSTEN" >ids 2>stats
        sed -i -e '/without --accept/d' -e '/^units /d' stats
        # shellcheck disable=SC2086
        sampl -n 4096 -s 5 --rows :20 $args --dump-probs -O tsv "$AUSTEN" >dump
        perl -e '
            open my $f, "<:raw", $ENV{AUSTEN} or die;
            my (@logp, @best, @ids, $before);
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
                my ($first, $next) = sort { $b <=> $a } @x;
                $near[$_] += $first - $next < (.01, .1)[$_] for 0, 1;
            }
            my %sum = map { $_ => 0 } qw(prob raw_prob raw_rank n entropy kl_raw greedy surprise);
            open $f, "<", "dump" or die;
            <$f>;
            while (<$f>) {
                my ($row, undef, $id, undef, $p, undef, $chosen) = split;
                my $raw = $logp[$row][$id];
                $sum{n}++;
                if ($chosen) {
                    $sum{prob} += $p;
                    $sum{surprise} -= log($p) / log 2;
                    push @ids, $id;
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
            my (%seen, $again);
            $again += !!$seen{"@ids[$_ .. $_ + 3]"}++ for 0 .. 16;
            $want{repeated} = $again / 17;
            @want{qw(rows bad_rows seed gap_below_0.01 gap_below_0.1)} = (20, 0, 5, map { $_ / 20 } @near);
            open $f, "<", "stats" or die;
            my @names;
            while (<$f>) {
                my ($name, $x) = split;
                push @names, $name;
                die "$name: $x, want $want{$name}" if abs($x - $want{$name}) > 2e-5 * (1 + abs $want{$name}) || $x < 0;
            }
            die "@names" if "@names" ne "rows bad_rows prob raw_prob raw_rank n entropy_raw entropy kl_raw greedy surprise repeated gap_below_0.01 gap_below_0.1 seed"'
        # shellcheck disable=SC2086
        sampl -n 4096 -s 5 --rows :20 $args "$AUSTEN" | cmp - ids
    done
}

# repeated OPTION...: prints the share of repeated runs of four tokens.
repeated() {
    sampl -s 1 --stats "$@" 2>&1 >/dev/null | awk '$1 == "repeated" { print $2 }'
}

# row SEQ ID [MORE]: prints a JSON row of a sequence whose likeliest token is ID.
row() {
    printf '{"seq":"%s","ids":[%d],"logits":[1]%s}\n' "$1" "$2" "${3-}"
}

@test "--stats: repeated is the share of runs of four tokens of a sequence that occurred before in any sequence" {
    local i
    for i in 1 2 3 4 1 2 3 4; do row a $i; done >loop
    [ "$(repeated loop)" = 0.2 ]
    [ "$(repeated -t 3 loop)" = 0.2 ]
    [ "$(repeated --independent loop)" = - ]
    # Sequences that take turns, and one that ends.
    for i in 1 2 3 4 1 2 3 4; do row a $i && row b $((i + 4)); done >turns
    [ "$(repeated turns)" = 0.2 ]
    { for i in 1 2 3; do row a $i; done && row a 4 ',"end":true' && for i in 1 2 3 4; do row a $i; done; } >ends
    [ "$(repeated ends)" = 0.5 ]
    [ "$(head -n 3 loop | repeated)" = - ]
    # No run goes over a bad row.
    { head -n 4 loop && echo '{"seq":"a","logits":[]}' && head -n 5 loop; } >gap
    [ "$(repeated --on-error skip gap 2>/dev/null)" = 0.333333 ]
    # Two loops, the second one longer than the window: runs that are too old are forgotten.
    /usr/bin/python3 -c '
import struct
for n, rounds in ((65536, 2), (65537, 2)):
    with open(f"long{n}", "w") as f:
        for i in list(range(n)) * rounds:
            f.write(f"{{\"ids\":[{i}],\"logits\":[1]}}\n")'
    [ "$(repeated long65536)" = "$(python3 -c 'print("%.6g" % ((131069 - 65536) / 131069))')" ]
    [ "$(repeated long65537)" = 0 ]
}

@test "--stats, --emit stats and the table have what scatter did" {
    need_numpy
    local chain=(-n 4096 -s 3 --rows :30 --top-k 50) options
    for options in '--scatter-strength 0.3' '--scatter-k 20 --scatter-adaptive --scatter-strength 0.4' '--scatter-strength 0.2 --scatter-steps 3 --scatter-absorption 0.5' \
        '--scatter-strength 0.3 --scatter-collision 0.5'; do
        # shellcheck disable=SC2086
        sampl "${chain[@]}" --samplers 'top_k;scatter' $options --emit stats -O json --stats "$AUSTEN" >rows 2>summary
        # shellcheck disable=SC2086
        sampl "${chain[@]}" --samplers 'top_k;scatter' $options --trace -O json "$AUSTEN" >traces
        # shellcheck disable=SC2086
        sampl "${chain[@]}" --samplers 'top_k;scatter' $options --dump-probs -O json "$AUSTEN" >after
        sampl "${chain[@]}" --samplers 'top_k' --top-k "$([[ $options == *k\ 20* ]] && echo 20 || echo 50)" --dump-probs -O json --accept "$(jq -r .id rows | paste -sd,)" "$AUSTEN" >before
        /usr/bin/python3 -c '
import json
import numpy as np
read = lambda name: [json.loads(line) for line in open(name)]
got = {name: [] for name in ("scatter_acts", "scatter_strength", "scatter_entropy", "scatter_moved")}
for row, trace, after, before in zip(read("rows"), read("traces"), read("after"), read("before")):
    notes = [s for s in trace["stages"] if s["name"] == "scatter"][0]["notes"]
    for name in got:
        got[name].append(np.nan if row[name] is None else row[name])
    acts = notes.get("acts", 1)
    assert row["scatter_acts"] == acts, (row, notes)
    if not acts:
        assert row["scatter_moved"] is row["scatter_strength"] is row["scatter_entropy"] is None
        continue
    p, q = ({t["id"]: t["prob"] for t in x["top_probs"]} for x in (before, after))
    assert p.keys() == q.keys()
    moved = sum(abs(p[i] - q[i]) for i in p) / 2
    entropy = -sum(x * np.log(x) for x in p.values()) / np.log(len(p))
    assert abs(row["scatter_moved"] - moved) < 1e-6, (row, moved)
    assert abs(row["scatter_entropy"] - entropy) < 1e-6, (row, entropy)
    assert row["scatter_strength"] == notes["strength"]
assert len(got["scatter_acts"]) == 30
stats = dict(line.split() for line in open("summary") if not line.startswith(("sampl: note", "units ")))
for name, values in got.items():
    assert stats[name] == "%.6g" % np.nanmean(values), (name, stats[name])'
    done
    # A chain without scatter has no such numbers.
    sampl "${chain[@]}" "$AUSTEN" --vs '--scatter-strength 0.3' -O json >table
    jq -es '.[0].scatter_moved == null and .[0].scatter_acts == null and .[1].scatter_acts > .5 and (.[1].scatter_strength - .3 | fabs) < 1e-6' table
    [ "$(sampl "${chain[@]}" --stats --emit stats "$AUSTEN" 2>&1 | grep -c scatter)" = 0 ]
}

@test "--stats: a chain without samplers has kl_raw 0 and an unchanged entropy" {
    sampl -n 4096 -s 5 --samplers '' --stats "$AUSTEN" 2>&1 >/dev/null | tr -s ' ' >stats
    grep -qx 'kl_raw 0' stats
    grep -qx 'n 4096' stats
    [ "$(sed -n 's/^entropy_raw //p' stats)" = "$(sed -n 's/^entropy //p' stats)" ]
}

@test "--stats is the same on 1, 2 and 5 threads, with any output" {
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

@test "--stats prints a random seed, which repeats the run" {
    sampl -n 4096 --stats "$AUSTEN" 2>stats >ids
    sampl -n 4096 -s "$(awk '/^seed/ { print $2 }' stats)" "$AUSTEN" | cmp - ids
}

# on_terminal COMMAND SCREEN: runs a shell command on a terminal, in the background. The file SCREEN gets the bytes of the terminal.
on_terminal() {
    command -v script >/dev/null || { echo "script (bsdutils) is missing"; return 1; }
    script -qefc "$1" /dev/null </dev/null >"$2" 3>&- 5>&- 6>&- 7>&- 8>&- &
}

# feed_until N: writes one more row to each program. Succeeds if the screen has shown N progress lines.
feed_until() {
    local fd
    for fd in 8 "${others[@]}"; do f32 1 2 3 >&"$fd"; done
    fed=$((fed + 1))
    [ "$(grep -ao 'MB/s' screen | wc -l)" -ge "$1" ]
}

# feed_slowly COMMAND [FD...]: runs the command on a terminal. Writes rows to the pipe `rows` and to the other descriptors, one at a time,
# until the terminal has shown two progress lines. Then writes a bad row and a good row to the pipe. Sets `fed` to the number of rows
# before them, and `waited` to the microseconds before the first progress line.
feed_slowly() {
    local start=${EPOCHREALTIME/./} others=("${@:2}")
    rm -f rows && mkfifo rows
    on_terminal "$1" screen
    exec 8>rows
    fed=0
    await feed_until 1
    waited=$((${EPOCHREALTIME/./} - start))
    await feed_until 2
    f32 1 nan 3 1 2 3 >&8
    exec 8>&-
    wait $! || true
}

@test "progress: the terminal shows a line after two seconds, and clears it before messages and at the end" {
    feed_slowly "'$SAMPL' -f f32 -n 3 --temp 0 --on-error skip rows >ids"
    [ "$waited" -ge 2000000 ]
    perl -e '
        local $/;
        open my $f, "<", "screen" or die;
        my ($s, $bad) = (scalar <$f>, $ARGV[0]);
        my ($clear, $rows) = ("\r\e[K", $bad + 2);
        my @line = $s =~ /\r\e\[K(\d+ rows, \d+(?:\.\d)? rows\/s, \d+\.\d MB\/s)/g;
        die "no progress: $s" if @line < 2;
        die "no clean line: $s" if $s !~ /MB\/s\Q$clear\Esampl: rows: row $bad: logit 1 is NaN\r\n/;
        die "something is left: $s" if $s !~ /is NaN\r\n(?:\r\e\[K[^\r]*\Q$clear\E)?sampl: 1 of $rows rows were bad\r\n$/' "$fed"
    [ "$(wc -l <ids)" -eq $((fed + 2)) ]
}

@test "progress: the line has the time left if the number of rows is known" {
    # The header has the number of rows.
    { printf '\x93NUMPY\1\0v\0' && printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (9999, 3), }"; } >header.npy
    feed_slowly "cat header.npy rows | '$SAMPL' -f npy --temp 0 --on-error skip >ids"
    grep -qaE '[0-9]+ of 9999 rows, [0-9.]+ rows/s, [0-9]+\.[0-9] MB/s, [0-9]+:[0-9][0-9] left' screen
}

# Four programs get the same rows; only the last one may show its progress.
@test "progress: there is no line without a terminal, on a dumb terminal, or with output on the terminal" {
    mkfifo piped shown dumb
    sampl -f f32 -n 3 --temp 0 piped >ids 2>messages 3>&- &
    exec 5>piped
    on_terminal "'$SAMPL' -f f32 -n 3 --temp 0 shown" shown.screen
    exec 6>shown
    on_terminal "TERM=dumb '$SAMPL' -f f32 -n 3 --temp 0 dumb >dumb.ids" dumb.screen
    exec 7>dumb
    feed_slowly "'$SAMPL' -f f32 -n 3 --temp 0 --on-error skip rows >/dev/null" 5 6 7
    f32 1 2 3 | tee /dev/fd/5 /dev/fd/6 >&7
    exec 5>&- 6>&- 7>&-
    await has_lines $((fed + 1)) ids
    await has_lines $((fed + 1)) shown.screen
    await has_lines $((fed + 1)) dumb.ids
    wait
    [ ! -s messages ]
    [ "$(tr -d '\r\n' <shown.screen | tr -d 2)" = '' ]
    [ ! -s dumb.screen ]
}

@test "dump, trace and --stats print the same entropy" {
    local row
    for row in 0 3 7; do
        sampl -n 4096 -s 1 --rows "$row:$((row + 1))" --dump-probs --trace --stats -O json "$AUSTEN" >dump 2>stats
        sampl -n 4096 -s 1 --rows "$row:$((row + 1))" --dump-probs=1 "$AUSTEN" >text
        traced=$(perl -ne 'print((/"entropy":([^,}]+)/g)[-1])' dump)
        [ "$(printf '%.5g' "$traced")" = "$(printf '%.5g' "$(awk '$1 == "entropy" { print $2 }' stats)")" ]
        [ "$(printf '%.3f' "$traced")" = "$(sed -n 's/.*entropy \(.*\) nats$/\1/p' text)" ]
    done
}

# same_as_numpy ARGUMENT...: checks that --emit stats has the numbers that numpy computes from the rows and from --emit logits, to 1e-12.
same_as_numpy() {
    sampl -s 5 "$@" --emit stats -O json >stats.json
    sampl -s 5 "$@" --emit logits -O npy >after.npy
    /usr/bin/python3 -c '
import json, numpy as np, sys
raw = np.load("raw.npy").astype(float)
after = np.load("after.npy").astype(float)
with np.errstate(divide="ignore", invalid="ignore"):
    def logp(x):
        x = x - x.max(1, keepdims=True)
        return x - np.log(np.exp(x).sum(1, keepdims=True))
    def mean(p, x):
        return np.where(p > 0, p * x, 0).sum(1)
    lq, lp = logp(raw), logp(after)
    p, q, at = np.exp(lp), np.exp(lq), np.arange(len(raw))
    rows = [json.loads(line) for line in open("stats.json")]
    ids = np.array([r["id"] for r in rows])
    order = np.argsort(-raw, 1, kind="stable")
    want = {"row": at, "prob": p[at, ids], "raw_prob": q[at, ids], "raw_rank": 1 + np.argmax(order == ids[:, None], 1),
            "n": (after > -np.inf).sum(1), "entropy_raw": -mean(q, lq), "entropy": -mean(p, lp), "kl_raw": mean(p, lp - lq)}
    want["gap"] = np.sort(raw.astype(float), 1)[:, -1] - np.sort(raw.astype(float), 1)[:, -2]
    if "accepted" in rows[0]:
        accepted = np.array([r["accepted"] for r in rows])
        want["accepted_prob"] = p[at, accepted]
    assert len(rows) == len(raw) == 24
    for name, x in want.items():
        got = np.array([r[name] if r[name] is not None else np.inf for r in rows], float)
        if not (np.allclose(got, x, rtol=1e-12, atol=1e-13) and ((got == np.inf) == (x == np.inf)).all()):
            i = int(np.argmax(~np.isclose(got, x, rtol=1e-12, atol=1e-13)))
            sys.exit(f"{sys.argv[1:]}: row {i}: {name} is {got[i]!r}, numpy has {x[i]!r}")
' "$*"
}

@test "gap: null where a row has one candidate, or where a list lacks what may be the next token" {
    gap() { sampl -s 1 --neutral --emit stats -O json "$@" 2>/dev/null | jq -c '.gap'; }
    [ "$(gap <<<'[2,2.5,1] [2] [2,null,null] [2,2] [null,3,7.25]' | paste -sd ' ')" = '0.5 null null 0 4.25' ]
    [ "$(sampl -s 1 --neutral --emit stats -O tsv <<<'[2]' | awk '{ for (i = 1; i <= NF; i++) if ($i == "gap") at = i } END { print $at }' FS='\t')" = nan ]
    # A list has the gap of the whole row, or none: of one token it never tells.
    local k
    gap -n 4096 "$AUSTEN" >whole
    for k in 1 2 3 9; do
        sampl -n 4096 -s 1 --neutral --emit list=$k -O json "$AUSTEN" 2>/dev/null >list
        gap list >got
        [ "$(grep -c . got)" = 256 ]
        [ "$(paste got whole | awk '$1 != "null" && $1 != $2' | wc -l)" = 0 ]
        [ "$(grep -c null got)" = $((k == 1 ? 256 : 0)) ]
    done
}

@test "--emit stats has the numbers that numpy computes" {
    need_numpy
    head -c $((24 * 8192)) "$AUSTEN" >raw.f16
    /usr/bin/python3 -c 'import numpy as np; np.save("raw.npy", np.fromfile("raw.f16", "<f2").reshape(-1, 4096))'
    same_as_numpy raw.npy
    same_as_numpy --samplers '' raw.npy
    same_as_numpy --samplers temperature --temp 0.3 raw.npy
    same_as_numpy --temp 0 raw.npy
    same_as_numpy --samplers 'top_k;top_p' --top-k 100 --top-p 0.7 --accept @"$ROOT/samples/austen.tokens" raw.npy
    same_as_numpy -l 304-5 -l 404-inf --repeat-penalty 1.3 --samplers 'penalties;temperature' raw.npy
    same_as_numpy --scatter-strength 0.2 --scatter-collision 0.5 raw.npy
    same_as_numpy --mirostat 2 raw.npy
    same_as_numpy --samplers 'min_p;adaptive_p' --adaptive-target 0.3 raw.npy
    # f32 rows with one masked token
    /usr/bin/python3 -c 'import numpy as np; x = np.load("raw.npy").astype("<f4") * np.float32(1.1); x[:, 5] = -np.inf; np.save("raw.npy", x)'
    same_as_numpy raw.npy
    # rows with equal logits and masked tokens
    /usr/bin/python3 -c 'import numpy as np; r = np.random.default_rng(3); x = np.round(r.normal(0, 2, (24, 300))).astype("<f4"); x[r.random(x.shape) < 0.1] = -np.inf; np.save("raw.npy", x)'
    same_as_numpy --samplers temperature raw.npy
}

@test "--emit stats gives the same bytes with threads, shards and every tier" {
    local format tier k
    for format in tsv json; do
        local args=(-n 4096 -s 5 --emit stats -O "$format" --temp 1.2 --rows :60 "$AUSTEN")
        sampl "${args[@]}" >want
        [ "$(wc -l <want)" -ge 60 ]
        sampl "${args[@]}" -t 3 | cmp - want
        for k in 1 2 3 4; do sampl "${args[@]}" --shard $k/4; done | cmp - want
        for tier in $(tiers); do
            SAMPL_CPU=$tier sampl "${args[@]}" | cmp - want
        done
    done
}

@test "--emit stats: the draw lies in the share of the chosen token" {
    sampl -n 4096 -s 9 --rows :40 --samplers '' --emit stats "$AUSTEN" | sed 1d | cut -f 2,10 >draws
    sampl -n 4096 -s 9 --rows :40 --samplers '' --emit probs -O f32 "$AUSTEN" >p.f32
    perl -e '
        open my $p, "<:raw", "p.f32";
        open my $d, "<", "draws";
        while (<$d>) {
            my ($id, $u) = split;
            read $p, my $bytes, 4 * 4096;
            my @p = unpack "f<*", $bytes;
            my $below = 0;
            $below += $p[$_] for 0 .. $id - 1;
            die "$id: $below, $u" if $u < $below - 1e-6 || $u > $below + $p[$id] + 1e-6;
            $n++;
        }
        die if $n != 40'
}
