#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Grammars: the texts that they accept, the chain under a grammar, and --print-grammar.

load helper

V=$ROOT/samples/austen.gguf

# Writes a vocabulary of all bytes and one token that ends the text.
setup_file() {
    for i in {0..255}; do printf '\\x%02X\n' "$i"; done >"$BATS_FILE_TMPDIR/bytes.vocab"
    echo '</s>' >>"$BATS_FILE_TMPDIR/bytes.vocab"
}

# accept_ids GRAMMAR IDS: runs sampl under the grammar with these tokens in --accept, one row a token.
accept_ids() {
    perl -e 'print pack("f<*", (0) x (257 * @{[split /,/, $ARGV[0]]}))' "$2" >rows.f32
    sampl -s 1 -n 257 -f f32 --samplers greedy --vocab "$BATS_FILE_TMPDIR/bytes.vocab" --grammar "$1" --accept "$2" rows.f32
}

# ids TEXT: prints the ids of the text's bytes.
ids() {
    printf %s "$1" | od -An -v -tu1 | xargs | tr ' ' ,
}

# fits GRAMMAR TEXT...: checks that the grammar accepts each text and its end.
fits() {
    local grammar=$1 text
    for text in "${@:2}"; do
        accept_ids "$grammar" "$(ids "$text")${text:+,}256" >out 2>err || { echo "'$text': $(<err)"; return 1; }
        ! grep -v '^sampl: note: llama.cpp refuses this grammar: ' err
    done
}

# misfits GRAMMAR TEXT...: checks that the grammar accepts no text, or not its end.
misfits() {
    local grammar=$1 text status
    for text in "${@:2}"; do
        status=0
        accept_ids "$grammar" "$(ids "$text")${text:+,}256" >out 2>err || status=$?
        [ "$status" = 1 ] && [[ $(<err) == *" does not fit the grammar, which allows "* ]] && continue
        echo "'$text': $status $(<err)"
        return 1
    done
}

@test "grammar: literals, alternatives, groups and rules accept their texts" {
    fits 'root ::= "yes" | "no" | ("may" "be"?)+ "!"' yes no 'may!' 'maybemay!'
    misfits 'root ::= "yes" | "no" | ("may" "be"?)+ "!"' ye yess 'maybe' '!' x
    fits $'# a comment\nroot ::= a b | # another\n b\n\na ::= "x" "" # and one\nb ::=\n  "y"\n' xy y
    misfits $'root ::= a b |\n b\na ::= "x"\nb ::= "y"' x yx
    fits $'root ::= ("a" |\n "b"\n\n "c" # so\n)\r\n' a bc
    fits 'root ::= "a\x62\u0063\U00000064\n\t\r\"\\\[\]"' $'abcd\n\t\r"\\[]'
    fits 'root ::= "a" | ' a
}

@test "grammar: classes and . accept their characters" {
    fits 'root ::= [a-c_\x41-\x43é-]+' 'abc_ABCé-'
    misfits 'root ::= [a-c_\x41-\x43é-]+' d D e ê
    fits 'root ::= [^"\\\x7F\x00-\x1F]*' 'all of this, é日😀'
    misfits 'root ::= [^"\\\x7F\x00-\x1F]*' 'a"' $'a\nb' "a\\"
    fits 'root ::= [^é日]+' 'è本aê'
    misfits 'root ::= [^é日]+' 'aé' '日'
    fits 'root ::= .{3}' 'aé😀'
    misfits 'root ::= .{3}' 'aé' 'aé😀b'
    fits 'root ::= [\[\]^.]+ [a^]' '[]^.^'
    fits 'root ::= "\-" [a\-c]+ [+\--/]' '-a-c.'
    misfits 'root ::= "\-" [a\-c]+ [+\--/]' '-b/' '-a,'
}

@test "grammar: repetitions accept texts within their bounds" {
    fits 'root ::= "a"* "b"+ "c"?' b aabbc
    misfits 'root ::= "a"* "b"+ "c"?' aac bcc
    fits 'root ::= "ab"{2} "c"{1,} "d"{0,2} "e"{2,3}' ababcee ababcccddeee
    misfits 'root ::= "ab"{2} "c"{1,} "d"{0,2} "e"{2,3}' abcee ababee ababcdddee ababce ababceeee
    fits 'root ::= "x"{0} "a" { 2 , 3 }' aa aaa
    misfits 'root ::= "x"{0} "a" { 2 , 3 }' a aaaa xaa
    fits 'root ::= [a-z]{0,2000}' "$(printf 'a%.0s' {1..2000})"
    misfits 'root ::= [a-z]{0,2000}' "$(printf 'a%.0s' {1..2001})"
    # An upper bound above 2000 counts as none.
    fits 'root ::= [a-z]{2,2001}' ab "$(printf 'a%.0s' {1..3000})"
    misfits 'root ::= [a-z]{2,2001}' a ''
    fits 'root ::= ("a" | "b"{2}){2}' aa abb bbbb
}

@test "grammar: repetitions of parts that can be empty accept their texts" {
    fits $'root ::= "a" ws* "b"\nws ::= [ \\t]*' ab $'a \t b'
    misfits $'root ::= "a" ws* "b"\nws ::= [ \\t]*' 'a ' 'acb'
    fits 'root ::= (("a"? "b"?)* "c"?){2,}' '' a cabbacab
    misfits 'root ::= (("a"? "b"?)* "c"?){2,}' d
    fits 'root ::= (("a"*)+ | ()){0,3} "."' . aaa.
    # a rule that ends with itself, in place of an operator
    fits $'root ::= a | "."\na ::= b? root\nb ::= "x" | c\nc ::= "y"*' . xyyx.
    misfits $'root ::= a | "."\na ::= b? root\nb ::= "x" | c\nc ::= "y"*' x .x
    # grammars with many derivations of one text
    fits 'root ::= (((("a"?){60}){60}){60}){60}' '' "$(printf 'a%.0s' {1..500})"
    fits 'root ::= "a" root "b"? | "c"' "$(printf 'a%.0s' {1..4000})cbb"
}

@test "grammar: recursive rules accept nested brackets and JSON" {
    fits 'root ::= "(" root? ")"' '()' '((()))'
    misfits 'root ::= "(" root? ")"' '(()' '())'
    json='root ::= value
value ::= "{" (pair ("," ws pair)*)? "}" | "[" (value ("," ws value)*)? "]" | string | number | "true" | "false" | "null"
pair ::= string ":" ws value
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws ::= [ \n]*'
    fits "$json" '{}' '[1, -2.5e+10, "a\u00e9\"é", {"k": [true, null]}]' '"日"' "$(printf '[%.0s' {1..300})$(printf ']%.0s' {1..300})"
    misfits "$json" '{a}' '[1,]' '01' '"\x"' '[1 ' 'tru'
}

@test "grammar: <[ID]> accepts the token, !<[ID]> any other token" {
    fits 'root ::= <[97]> !<[98]> <[99]>' axc 'acc'
    misfits 'root ::= <[97]> !<[98]> <[99]>' abc axd
}

@test "grammar: an enumeration of 40000 strings accepts these strings" {
    perl -e 'print "root ::= ", join " | ", map { qq("a$_") } 1 .. 40000' >many.gbnf
    perl -e 'print pack("f<*", (0) x (257 * 7))' >rows
    many() { sampl -s 1 -n 257 -f f32 --samplers greedy --vocab "$BATS_FILE_TMPDIR/bytes.vocab" --grammar-file many.gbnf --accept "$(ids "$1"),256" rows; }
    many a39999
    run -1 many a40001
    # masks of a real vocabulary
    sampl -s 1 --vocab "$V" --grammar-file many.gbnf --dump-probs=1 -O json --rows :8 "$AUSTEN" >out
    [[ $(perl -ne '/"token":"(a?[0-9]*)"/ and print $1' out) =~ ^a[1-9][0-9]{0,4}$ ]]
}

# tests/cases/import.py made the table from the choices of llama.cpp v0.5.0's library.
@test "grammar: every recorded case of llama.cpp gives its ids and counts" {
    local name file dtype n rows args ids kept words cases=0
    while IFS=$'\t' read -r name file dtype n rows args _ _ ids kept; do
        cases=$((cases + 1))
        eval "words=($args)"
        sampl -f "$dtype" -n "$n" --rows ":$rows" "${words[@]}" -O tsv "$ROOT/tests/cases/$file" >ids.tsv
        [ "$(sed 1d ids.tsv | cut -f2 | paste -sd,)" = "$ids" ] || { echo "$name: other ids"; return 1; }
        [ "$(sed 1d ids.tsv | cut -f4 | paste -sd,)" = "$kept" ] || { echo "$name: other counts"; return 1; }
    done <"$ROOT/tests/cases/grammars.tsv"
    [ "$cases" -ge 50 ]
}

@test "grammar: with -v a trace has the grammar's line also if the chain ran once" {
    printf '%s\n' a b c '</s>' >v
    run -0 sampl -s 1 --samplers greedy --vocab v --grammar 'root ::= [ac] [bc] [a]' --dump-probs --trace -v \
        <<<'[1,3,2,0] [1,3,2,0] [1,3,2,0]'
    [ "$(grep -c '^grammar .*off$' <<<"$output")" = 1 ]
}

@test "grammar: a row whose chain runs twice uses two random numbers" {
    printf '%s\n' a b c '</s>' >v
    perl -e 'print pack("f<*", (0) x 400)' >rows
    draw() { sampl -s 3 -n 4 -f f32 --samplers '' --vocab v "$@" rows; }
    draw >draws
    [ "$(sort -u draws | wc -l)" = 4 ]
    # One of four tokens fits. A record with 4 candidates used one random number, a record with 1 candidate used two.
    draw --grammar 'root ::= "a"{100}' --dump-probs=1 -O json | sed 's/.*"n":\([0-9]*\).*/\1/' >got
    perl -e '@t = <>; for (1 .. 100) { $i < @t or last; if ($t[$i] == 0) { print "4\n"; $i++ } else { print "1\n"; $i += 2 } }' draws >want
    [ "$(wc -l <want)" -gt 50 ]
    head -n "$(wc -l <want)" got | cmp - want
}

@test "grammar: ids and dumps are the same with threads and on the scalar tier" {
    local grammar='root ::= [A-Z] [^.]* "." ("\n" root)?'
    go() { sampl -s 7 --vocab "$V" --grammar "$grammar" --dump-probs=5 -O json "$@" "$ROOT/samples/austen.f16"; }
    go >want
    [ "$(wc -l <want)" -gt 50 ]
    go -t 3 | cmp - want
    SAMPL_CPU=scalar go | cmp - want
    go --independent >want
    go --independent -t 3 | cmp - want
}

@test "grammar: the text of the chosen tokens fits the grammar" {
    for s in 1 2 3; do
        sampl -s $s --vocab "$V" --grammar 'root ::= ("- " [A-Z] [a-z ]{5,30} "\n")+' --dump-probs=1 -O json "$ROOT/samples/austen.f16" >out
        perl -ne '/"id":(\d+),"token":("(?:\\.|[^"\\])*")/ and print $2' out | sed 's/""//g; s/^"//; s/"$//; s/<|endoftext|>//g' >text
        grep -qE '^(- [A-Z][a-z ]{5,30}\\n)+(- ?)?([A-Z][a-z ]*)?$' text || { cat text; return 1; }
    done
}

@test "grammar: --print-chain=preset and =server print the grammar" {
    sampl -s 1 --vocab "$V" --grammar 'root ::= "it'\''s"' --print-chain=preset >flags
    eval "sampl $(<flags) --print-grammar" >out
    [ "$(<out)" = 'root ::= "it'\''s"' ]
    echo 'root ::= "x"' >x.gbnf
    sampl -s 1 --grammar-file x.gbnf --print-chain=server | grep -qF '"grammar":"root ::= \"x\"\n"'
}

@test "grammar: --print-grammar and --print-chain escape control characters" {
    printf '# c\033\302\205\r\nroot ::= "a\033\302\233\342\200\215\363\240\200\201é\\"#" [^\177\\]#"] ( # x\r  "\010\n" |\r\n<t\033> ) "\t"' >g
    printf '# c??\nroot ::= "a\\x1B\\x9B\\u200D\\U000E0001é\\"#" [^\\x7F\\]#"] ( # x\n  "\\x08\n" |\n<[1]> ) "\t"\n' >want
    printf 'x\n<t\\x1b>\n' >v
    sampl --print-grammar --vocab v --grammar-file g >got
    same got want
    sampl --print-grammar --vocab v --grammar-file got | cmp - want
    sampl --print-grammar --grammar-file g | grep -q '^<t?> )'
    cp g $'g\e'
    # Printed options quote the grammar so that bash and a preset read it back.
    sampl -s 1 --grammar-file g --print-chain=preset >p
    perl -ne 'exit 1 if /[\0-\x8\xb-\x1f\x7f]|\xc2[\x80-\x9f]/' p
    sampl --preset ./p --print-chain=preset | cmp - p
    eval "sampl $(<p) --print-chain=server" | cmp - <(sampl -s 1 --grammar-file g --print-chain=server)
    [ "$(sampl --grammar-file $'g\e' --print-chain=llama)" = "--grammar-file \$'g\\x1b'" ]
}

# With [(x]{18} nearly every text leads to another state. Old states must be freed.
@test "grammar: memory does not grow with the number of states" {
    need_own_process
    local room=100000 rows=400000
    if nm -D "$SAMPL" 2>/dev/null | grep -q ' __[at]san_'; then room=unlimited rows=40000; fi # a sanitizer's shadow memory counts
    printf '%s\n' '(' ')' x '</s>' >v
    perl -e 'print pack("f<*", 1, -9e9, 1, -9e9) x shift' "$rows" >rows.f32
    (ulimit -v $room && sampl -n 4 -s 1 --vocab v --grammar 'root ::= [(x]* "(" [(x]{18}' rows.f32 >ids)
    sampl -n 4 -s 1 --temp 1 rows.f32 | cmp - ids
}
