#!/usr/bin/env bats
# Tables, colours and messages on a terminal. terminal.py runs the program on a pseudo-terminal.

load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need python3
    export VOCAB="$ROOT/samples/austen-vocab.json"
}

# terminal COLUMNS [SETTING...] -- COMMAND...: runs the command on a terminal; terminal.py explains the arguments.
terminal() {
    python3 "$ROOT/tests/terminal.py" run "$@"
}

# fits -- COMMAND...: checks the output of shell commands in windows of four widths, in two locales, with and without colour.
fits() {
    python3 "$ROOT/tests/terminal.py" fits "$@"
}

# plain [FILE]: removes escape sequences of colours.
plain() {
    sed 's/\x1b\[[0-9;]*m//g' "$@"
}

# make_texts: writes a vocabulary whose texts are hard to align, and two rows.
make_texts() {
    python3 -c 'import json, sys; json.dump({t: i for i, t in enumerate(json.load(sys.stdin))}, sys.stdout)' >texts.json <<<'["日本語","한국어"," the","👍","🇩🇪","é","ด้วย","ﷺ","\u200d","\u001b[31m","\"","\\","漢字かな交じり文の長いトークンは窓に入り切らないので切られる、切られる",
        "a long token that is hardly a token any more but a sentence that goes on and on and on \" and on"]'
    echo '[3.2,3.1,3,2.9,2.8,2.7,2.6,2.5,2.4,2.3,2.2,2.1,2,1.9]' >rows.json
    echo '[1.9,2,2.1,2.2,2.3,2.4,2.5,2.6,2.7,2.8,2.9,3,3.1,99]' >>rows.json
}

@test "tables fit the window with texts of any script, with and without colours and UTF-8" {
    make_texts
    local t="$SAMPL -s 1 --vocab texts.json rows.json" a="$SAMPL -n 4096 -s 1 --vocab $VOCAB $AUSTEN"
    fits -- "$t --samplers '' --dump-probs" "$t --top-k 9 --dump-probs --trace=5 --xtc-probability 1" \
        "$t --vs 'a: --top-k 3' --vs 'a-very-long-name-for-a-variant-that-is-cut: --temp 2' --dump-probs" \
        "$a --rows 3:5 --dump-probs=5 --trace -v --mirostat 2 2>/dev/null"
    fits -- "$a --rows 3:9 --sweep temp=1,2 --sweep top-k=3,40 --accept @$ROOT/samples/austen.tokens" \
        "$a --rows 3:5 --sweep temp=1,2 --sweep top-k=3,40 --dump-probs=4" "$a --rows 3:9 --vs 'b: --temp 3' --diff" \
        "$a --rows 3:9 --vs 'b: --temp 3' --diff=2" "$a --rows 3:9 --expect @$ROOT/samples/austen.tokens 2>/dev/null; true" \
        "$SAMPL -n 4096 -s 1 --rows 3:5 $AUSTEN --stats 2>&1 >/dev/null | grep -v per_second"
}

@test "tables fit a pipe and windows, whatever the chain and the mode" {
    python3 "$ROOT/tests/widths.py" "$SAMPL" $((400 / STEP)) "$START"
}

@test "--dump-probs on a terminal has the probabilities before and after the chain, and the stage that removed a token" {
    local args=(-n 4096 -s 1 --vocab "$VOCAB" --rows 3:23 "$AUSTEN" --xtc-probability 0.5 --repeat-penalty 1.3)
    terminal 80 NO_COLOR=1 -- "$SAMPL" "${args[@]}" --dump-probs=4 >got
    sampl "${args[@]}" --dump-probs=4 --trace -O json >want
    sampl "${args[@]}" --dump-probs -O json >every
    terminal 120 NO_COLOR=1 -- "$SAMPL" "${args[@]}" --dump-probs=4 >wide
    python3 - <<'END'
import json, re
def near(text, p, error=0.00051):
    return abs(float(text) - p) <= (error if 'e' not in text else p / 2)
rows, every = [json.loads(line) for line in open('want')], [json.loads(line) for line in open('every')]
for name in 'got', 'wide':
    appended = 0 # chosen tokens that are not among the best four
    blocks = open(name).read().split('\n\n')
    assert len(blocks) == len(rows) == 20, len(blocks)
    cuts = 0
    for block, row, full in zip(blocks, rows, every):
        top = {c['id']: c for c in row['top_probs']}
        if row['id'] not in top:
            top.update((c['id'], c) for c in full['top_probs'] if c['id'] == row['id'])
            appended += 1
        lines = len(top)
        removed = {r['id']: s['name'] for s in row['stages'] for r in s['likeliest_removed']}
        removing = {s['name'] for s in row['stages'] if s['removed']}
        shown, rest = 0, {}
        for line in block.split('\n'):
            kept = re.match(r'([ >])\s*(\d+) ".*".*?  (\.\d+|\de-\d+|1) .*?-> (\.\d+|\de-\d+|1)( |$)', line)
            cut = re.match(r' \s*(\d+) ".*"\s+(\.\d+|\de-\d+|1) .*?-> x (\w+)$', line)
            more = re.match(r'  and (\d+) more (kept|removed) \((\.\d+|\de-\d+|0)\)$', line)
            if kept:
                c = top.pop(int(kept[2]))
                assert near(kept[3], c['raw_prob']) and near(kept[4], c['prob']), (line, c)
                assert (kept[1] == '>') == (c['id'] == row['id']), line
            elif cut:
                assert cut[3] in removing and removed.get(int(cut[1]), cut[3]) == cut[3], (line, removed)
                cuts += 1
                shown += 1
            elif more:
                rest[more[2]] = (int(more[1]), more[3])
        assert not top and rest['removed'][0] == 4096 - row['n'] - shown, block
        assert (rest['kept'][0] == row['n'] - lines) if row['n'] > lines else 'kept' not in rest, block
    assert cuts > 40, cuts
    assert appended >= 1, appended
END
    # A chain without samplers has no second column.
    terminal 80 NO_COLOR=1 -- "$SAMPL" -n 4096 -s 1 --rows 3:4 --samplers '' --dump-probs=4 "$AUSTEN" >got
    run ! grep -e '->' got
    # After a stage, the table has no removal of a later stage.
    terminal 80 NO_COLOR=1 -- "$SAMPL" -n 4096 -s 1 --rows 3 --dump-probs=4 --after top_k "$AUSTEN" >got
    [ "$(grep -c -e '-> x top_k$' got)" -eq 3 ]
    run ! grep -e '-> x min_p' got
}

@test "bars grow with the window, and COLUMNS overrides its width" {
    local args=("$SAMPL" -n 4096 -s 1 --rows 3 --dump-probs=4 "$AUSTEN") columns last=0 n
    for columns in 60 80 99 160 200; do
        terminal "$columns" NO_COLOR=1 -- "${args[@]}" >got
        n=$(grep -- '-> \.' got | sed 's/.*-> //' | tr -cd '█\n' | awk '{ if (length($0) > n) n = length($0) } END { print n }')
        [ "$n" -gt "$last" ]
        last=$n
    done
    terminal 200 NO_COLOR=1 COLUMNS=80 -- "${args[@]}" >got
    terminal 80 NO_COLOR=1 -- "${args[@]}" | cmp - got
    terminal 80 NO_COLOR=1 COLUMNS=wide -- "${args[@]}" | cmp - got
    terminal 0 NO_COLOR=1 -- "${args[@]}" | cmp - got
}

@test "a table has a line for each chain, with its columns aligned, however long the names are" {
    head -c 81920 "$ROOT/samples/austen.f16" >rows.f16
    local columns
    for columns in 110 120 140 160 200; do # no name is so long that the columns need another block
        terminal "$columns" NO_COLOR=1 -- "$SAMPL" -n 4096 -s 1 --accept "@$ROOT/samples/austen.tokens" --columns lost,gain,gain_diff,kept --vs '--top-k 5' \
            --vs '--typical .3 --temp .7 --min-p .01 --top-p .99 --top-k 300' --vs '--typical .3 --temp .7 --min-p .01 --top-p .99 --top-k 3000' rows.f16 |
            plain | sed 's,±,+,g' >table
        [ "$(wc -l <table)" = 5 ]
        awk '{ print length }' table | sort -u >widths
        [ "$(wc -l <widths)" = 1 ] && [ "$(cat widths)" -le "$columns" ] || { cat table; return 1; }
    done
}

@test "--dump-probs on a terminal has a blank line between rows and a bold line for the chosen token" {
    terminal 80 -- "$SAMPL" -n 4096 -s 3 --rows :32 --dump-probs=5 "$AUSTEN" >got
    [ "$(grep -c '^$' got)" -eq 31 ]
    [ "$(grep -c '^row ' got)" -eq 32 ]
    run ! grep -q '^$' <(head -1 got; tail -1 got)
    plain got | grep -c '^>' >want
    run ! grep -q 'id *text' <(plain got) # without a vocabulary
    grep -c "$(printf '^\033\\[1m>.*\033\\[0m$')" got | cmp - want
}

@test "output to pipes and files does not depend on the terminal" {
    local args=("$SAMPL" -n 4096 -s 3 --rows :32 --vocab "$VOCAB" "$AUSTEN")
    "${args[@]}" --dump-probs=5 --trace >want
    terminal 60 -- sh -c "${args[*]} --dump-probs=5 --trace | cat; ${args[*]} --dump-probs=5 --trace -o file; cat file" >got
    cat want want | cmp - got
    for format in --emit=stats '-O json' '-O tsv' '--emit probs -O text'; do
        # shellcheck disable=SC2086
        "${args[@]}" $format >want
        # shellcheck disable=SC2086
        terminal 60 -- "${args[@]}" $format | cmp - want
    done
}

@test "--emit text on a terminal: the raw probability of a token selects its style" {
    local args=("$SAMPL" -n 4096 -s 3 --rows :300 --vocab "$VOCAB" --samplers temperature --temp 2 "$AUSTEN")
    "${args[@]}" --emit text >want
    terminal 60 -- "${args[@]}" --emit text >got
    plain got | cmp - want
    terminal 60 NO_COLOR=1 -- "${args[@]}" --emit text | cmp - want
    "${args[@]}" --emit stats >stats.tsv
    python3 - "$VOCAB" <<'END'
import csv, json, re, sys
style = lambda p: '' if p >= 0.1 else '38;5;63 4' if p >= 0.01 else '38;5;130 1;4' if p >= 0.001 else '38;5;130 1;7'
vocab, got, at, seen = {i: t.replace('Ġ', ' ').replace('Ċ', '\n') for t, i in json.load(open(sys.argv[1])).items()}, open('got', newline='').read(), 0, set()
for row in csv.DictReader(open("stats.tsv"), delimiter='\t'):
    text = vocab[int(row['id'])]
    text = '' if text == '<|endoftext|>' else text
    tint, inked = style(float(row['raw_prob'])), text.lstrip()
    want = text[:len(text) - len(inked)]
    if inked:
        want += ''.join('\033[%sm' % s for s in tint.split()) + inked + ('\033[0m' if tint else '')
        seen.add(tint)
    assert got.startswith(want, at), (want, got[at:at + 40])
    at += len(want)
assert at == len(got) and len(seen) == 4, seen
END
}

@test "--emit text on a terminal: a style never changes inside a character" {
    gguf model=s:llama "tokens=a:<0xE6>,<0x97>,<0xA5>,x,▁y,<0xF0>$(printf ',t%d' {6..59})" \
        "token_type=i:6,6,6,1,1,6$(printf ',1%.0s' {6..59})" >bytes.gguf
    for id in 3 0 1 2 3 4 5 3 0 1; do # the likeliest token, with a low probability
        perl -e 'print "[", join(",", map { $_ == $ARGV[0] ? 1 : 0 } 0..59), "]\n"' "$id"
    done >rows.json
    local u=$'\e[38;5;63m\e[4m' o=$'\e[0m'
    terminal 60 -- "$SAMPL" --top-k 1 --vocab bytes.gguf rows.json --emit text >got
    printf '%s' "${u}x$o${u}日$o${u}x$o ${u}y$o$u"$'\xf0'"$o${u}x$o$u"$'\xe6\x97'"$o" | cmp - got
}

CLEAR=$'\r\033[K'

# Behind the first line there may be a part of another: the key discards what the terminal has not shown yet.
@test "Ctrl-C clears the progress line and removes the incomplete output file" {
    truncate -s 8G zeros.f16
    run -130 terminal 80 ' left:\x03' -- "$SAMPL" -n 64 --top-k 1 -t 1 zeros.f16 -o out
    printf '%s' "$output" >got
    perl -0777 -ne 'exit !/\A\r\e\[K\d+ of 67108864 rows, \d+ rows\/s, \d+\.\d MB\/s, \d+:\d\d left(\^C|\r)/' got
    [ "$(tail -c 4 got)" = "$CLEAR" ]
    [ "$(find . -name '*out*')" = "" ]
    # without -o, in a window that is narrower than the line
    run -130 terminal 60 ' left:\x03' -- sh -c "exec '$SAMPL' -n 64 --top-k 1 -t 1 zeros.f16 >/dev/null"
    printf '%s' "$output" >got
    perl -0777 -ne 'exit !(/\A\r\e\[K(\d+ of 67108864 rows, \d+ rows\/s, (\d+\.\d MB\/s, )?\d+:\d\d left)(\^C|\r)/ && length $1 < 60)' got
    [ "$(tail -c 4 got)" = "$CLEAR" ]
    # a table on the same terminal, which is printed at the end
    run -130 terminal 80 ' left:\x03' -- "$SAMPL" -n 64 --top-k 1 -s 1 -t 1 zeros.f16 --vs 'a: --temp 2'
}

@test "a message on a terminal begins on a line of its own" {
    local rows="yes '[1,2,3]'"
    run terminal 80 'rows/s:\n' -- bash -c "{ $rows & read -r; kill \$!; echo x; } 2>/dev/null | $SAMPL -s 1 -f json >/dev/null"
    printf '%s' "$output" >got
    perl -0777 -ne 'exit !/\r\e\[Ksampl: standard input: [^\r\e]*\n\z/' <<<"$output"
}

@test "a run that reads rows from the terminal prints a note" {
    terminal 80 'explains more\r\n:[1,2,3]\n\x04' -- "$SAMPL" --top-k 1 >got
    [ "$(head -1 got)" = "sampl: note: reading rows of logits from the terminal, such as [1.5, -0.2, 3]; Ctrl-D ends them; sampl --help explains more" ]
    [ "$(tail -1 got)" = 2 ]
    terminal 80 'explains more\r\n:\x04' -- "$SAMPL" --top-k 1 -f f32 -n 3 >got
    [ "$(cat got)" = "sampl: note: reading rows of logits from the terminal; Ctrl-D ends them; sampl --help explains more" ]
    echo '[1,2,3]' >rows.json
    [ "$(terminal 80 -- "$SAMPL" --top-k 1 rows.json)" = 2 ]
    [ "$(echo '[1,2,3]' | terminal 80 -- sh -c "echo '[1,2,3]' | '$SAMPL' --top-k 1")" = 2 ]
}

@test "columns that fill the window to its edge stay in one block" {
    local columns wide last=
    for columns in {40..100}; do
        terminal "$columns" NO_COLOR=1 -- "$SAMPL" -n 4096 -s 1 --rows 3 "$AUSTEN" --vs 'aa: --temp 2' --vs 'bb: --top-k 3' --vs 'cc: --temp 3' --dump-probs=3 >got
        wide=$(tr -d '\r' <got | awk '{ n = length($0); most = n > most ? n : most } END { print most }')
        [ "$wide" -le "$columns" ]
        if [ "$(grep -c base got)" = 1 ] && grep -q 'aa.*bb.*cc' got; then last=$columns && break; fi
    done
    [ "$wide" = "$last" ] # the narrowest window that holds them all has no column to spare
}

@test "--help and --list-presets fit a window: lines fold at its width, headings and options are bold, names are aligned" {
    local width what
    for width in $(few 1 60 72 200); do
        for what in --help --help=all --help=comparing; do
            terminal "$width" TERM=xterm -- "$SAMPL" $what >got
            [ "$(plain got | awk -v w="$width" '{ gsub(/[^ -~]/, "x") } length($0) > (w < 80 ? w : 80)' | wc -l)" = 0 ]
            terminal "$width" TERM=xterm NO_COLOR=1 -- "$SAMPL" $what | diff - <(plain got)
            grep -q $'\x1b\\[1mComparing and checking chains:\x1b\\[0m' got
            grep -q $'^\x1b\\[1m      --vs\x1b\\[0m SPEC' got
        done
    done
    sampl --help=all | diff - <(terminal 200 NO_COLOR=1 -- "$SAMPL" --help=all)
    terminal 80 -- "$SAMPL" --list-presets | grep -v '^sampl: note' >got
    [ "$(wc -l <got)" -gt 10 ]
    awk 'substr($0, 20, 2) != "  " || substr($0, 22, 1) !~ /[a-z]/ { exit 1 }' got
}
