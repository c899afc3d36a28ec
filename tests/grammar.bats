#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Grammars on the command line: which texts pass, what the chain does under one, what is shown of it.

load helper

V=$ROOT/samples/austen.gguf

# A vocabulary of all bytes and one token that ends the text.
setup_file() {
    for i in {0..255}; do printf '\\x%02X\n' "$i"; done >"$BATS_FILE_TMPDIR/bytes.vocab"
    echo '</s>' >>"$BATS_FILE_TMPDIR/bytes.vocab"
}

# accept GRAMMAR IDS: forces these tokens, one a row.
accept() {
    perl -e 'print pack("f<*", (0) x (257 * @{[split /,/, $ARGV[0]]}))' "$2" >rows.f32
    sampl -s 1 -n 257 -f f32 --samplers greedy --vocab "$BATS_FILE_TMPDIR/bytes.vocab" --grammar "$1" --accept "$2" rows.f32
}

# ids TEXT: its bytes as token ids.
ids() {
    printf %s "$1" | od -An -v -tu1 | xargs | tr ' ' ,
}

# pass GRAMMAR TEXT...: each text fits and may end there.
pass() {
    local grammar=$1 text
    for text in "${@:2}"; do
        accept "$grammar" "$(ids "$text")${text:+,}256" >out 2>err || { echo "'$text': $(<err)"; return 1; }
        [ ! -s err ]
    done
}

# fail GRAMMAR TEXT...: each text does not fit, or may not end there.
fail() {
    local grammar=$1 text status
    for text in "${@:2}"; do
        status=0
        accept "$grammar" "$(ids "$text")${text:+,}256" >out 2>err || status=$?
        [ "$status" = 1 ] && [[ $(<err) == *" does not fit the grammar, which allows "* ]] && continue
        echo "'$text': $status $(<err)"
        return 1
    done
}

@test "literals, alternatives, groups, rules" {
    pass 'root ::= "yes" | "no" | ("may" "be"?)+ "!"' yes no 'may!' 'maybemay!'
    fail 'root ::= "yes" | "no" | ("may" "be"?)+ "!"' ye yess 'maybe' '!' x
    pass $'# a comment\nroot ::= a b | # another\n b\n\na ::= "x" "" # and one\nb ::=\n  "y"\n' xy y
    fail $'root ::= a b |\n b\na ::= "x"\nb ::= "y"' x yx
    pass $'root ::= ("a" |\n "b"\n\n "c" # so\n)\r\n' a bc
    pass 'root ::= "a\x62\u0063\U00000064\n\t\r\"\\\[\]"' $'abcd\n\t\r"\\[]'
    pass 'root ::= "a" | ' a
}

@test "classes and any character" {
    pass 'root ::= [a-c_\x41-\x43é-]+' 'abc_ABCé-'
    fail 'root ::= [a-c_\x41-\x43é-]+' d D e ê
    pass 'root ::= [^"\\\x7F\x00-\x1F]*' 'all of this, é日😀'
    fail 'root ::= [^"\\\x7F\x00-\x1F]*' 'a"' $'a\nb' "a\\"
    pass 'root ::= [^é日]+' 'è本aê'
    fail 'root ::= [^é日]+' 'aé' '日'
    pass 'root ::= .{3}' 'aé😀'
    fail 'root ::= .{3}' 'aé' 'aé😀b'
    pass 'root ::= [\[\]^.]+ [a^]' '[]^.^'
    pass 'root ::= "\-" [a\-c]+ [+\--/]' '-a-c.'
    fail 'root ::= "\-" [a\-c]+ [+\--/]' '-b/' '-a,'
}

@test "repetitions" {
    pass 'root ::= "a"* "b"+ "c"?' b aabbc
    fail 'root ::= "a"* "b"+ "c"?' aac bcc
    pass 'root ::= "ab"{2} "c"{1,} "d"{0,2} "e"{2,3}' ababcee ababcccddeee
    fail 'root ::= "ab"{2} "c"{1,} "d"{0,2} "e"{2,3}' abcee ababee ababcdddee ababce ababceeee
    pass 'root ::= "x"{0} "a" { 2 , 3 }' aa aaa
    fail 'root ::= "x"{0} "a" { 2 , 3 }' a aaaa xaa
    pass 'root ::= [a-z]{0,2000}' "$(printf 'a%.0s' {1..2000})"
    fail 'root ::= [a-z]{0,2000}' "$(printf 'a%.0s' {1..2001})"
    # more than 2000 is no bound
    pass 'root ::= [a-z]{2,2001}' ab "$(printf 'a%.0s' {1..3000})"
    fail 'root ::= [a-z]{2,2001}' a ''
    pass 'root ::= ("a" | "b"{2}){2}' aa abb bbbb
}

@test "repetitions of what can be empty" {
    pass $'root ::= "a" ws* "b"\nws ::= [ \\t]*' ab $'a \t b'
    fail $'root ::= "a" ws* "b"\nws ::= [ \\t]*' 'a ' 'acb'
    pass 'root ::= (("a"? "b"?)* "c"?){2,}' '' a cabbacab
    fail 'root ::= (("a"? "b"?)* "c"?){2,}' d
    pass 'root ::= (("a"*)+ | ()){0,3} "."' . aaa.
    # the same without an operator: a rule that ends with itself
    pass $'root ::= a | "."\na ::= b? root\nb ::= "x" | c\nc ::= "y"*' . xyyx.
    fail $'root ::= a | "."\na ::= b? root\nb ::= "x" | c\nc ::= "y"*' x .x
    # many ways to come to the same
    pass 'root ::= (((("a"?){60}){60}){60}){60}' '' "$(printf 'a%.0s' {1..500})"
    pass 'root ::= "a" root "b"? | "c"' "$(printf 'a%.0s' {1..4000})cbb"
}

@test "recursion: brackets, JSON" {
    pass 'root ::= "(" root? ")"' '()' '((()))'
    fail 'root ::= "(" root? ")"' '(()' '())'
    json='root ::= value
value ::= "{" (pair ("," ws pair)*)? "}" | "[" (value ("," ws value)*)? "]" | string | number | "true" | "false" | "null"
pair ::= string ":" ws value
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws ::= [ \n]*'
    pass "$json" '{}' '[1, -2.5e+10, "a\u00e9\"é", {"k": [true, null]}]' '"日"' "$(printf '[%.0s' {1..300})$(printf ']%.0s' {1..300})"
    fail "$json" '{a}' '[1,]' '01' '"\x"' '[1 ' 'tru'
}

@test "tokens by number" {
    pass 'root ::= <[97]> !<[98]> <[99]>' axc 'acc'
    fail 'root ::= <[97]> !<[98]> <[99]>' abc axd
}

@test "an enumeration of 40000 strings" {
    perl -e 'print "root ::= ", join " | ", map { qq("a$_") } 1 .. 40000' >many.gbnf
    perl -e 'print pack("f<*", (0) x (257 * 7))' >rows
    many() { sampl -s 1 -n 257 -f f32 --samplers greedy --vocab "$BATS_FILE_TMPDIR/bytes.vocab" --grammar-file many.gbnf --accept "$(ids "$1"),256" rows; }
    many a39999
    run -1 many a40001
    # the masks of a whole vocabulary
    sampl -s 1 --vocab "$V" --grammar-file many.gbnf --dump-probs=1 -O json --rows :8 "$AUSTEN" >out
    [[ $(perl -ne '/"token":"(a?[0-9]*)"/ and print $1' out) =~ ^a[1-9][0-9]{0,4}$ ]]
}

# tests/cases/import.py made the table from what llama.cpp v0.5.0's own library chose.
@test "ids and counts of every recorded case" {
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

@test "with -v a trace has the grammar's line also where the chain did not run again" {
    printf '%s\n' a b c '</s>' >v
    run -0 sampl -s 1 --samplers greedy --vocab v --grammar 'root ::= [ac] [bc] [a]' --dump-probs --trace -v \
        <<<'[1,3,2,0] [1,3,2,0] [1,3,2,0]'
    [ "$(grep -c '^grammar .*off$' <<<"$output")" = 1 ]
}

@test "a row that is run twice draws twice" {
    printf '%s\n' a b c '</s>' >v
    perl -e 'print pack("f<*", (0) x 400)' >rows
    draw() { sampl -s 3 -n 4 -f f32 --samplers '' --vocab v "$@" rows; }
    draw >draws
    [ "$(sort -u draws | wc -l)" = 4 ]
    # one token fits: with four candidates left it was drawn at once, with one the second time
    draw --grammar 'root ::= "a"{100}' --dump-probs=1 -O json | sed 's/.*"n":\([0-9]*\).*/\1/' >got
    perl -e '@t = <>; for (1 .. 100) { $i < @t or last; if ($t[$i] == 0) { print "4\n"; $i++ } else { print "1\n"; $i += 2 } }' draws >want
    [ "$(wc -l <want)" -gt 50 ]
    head -n "$(wc -l <want)" got | cmp - want
}

@test "threads and the SIMD tier change nothing" {
    local grammar='root ::= [A-Z] [^.]* "." ("\n" root)?'
    go() { sampl -s 7 --vocab "$V" --grammar "$grammar" --dump-probs=5 -O json "$@" "$ROOT/samples/austen.f16"; }
    go >want
    [ "$(wc -l <want)" -gt 50 ]
    go -t 3 | cmp - want
    SAMPL_CPU=scalar go | cmp - want
    go --independent >want
    go --independent -t 3 | cmp - want
}

@test "generated texts fit their grammar" {
    for s in 1 2 3; do
        sampl -s $s --vocab "$V" --grammar 'root ::= ("- " [A-Z] [a-z ]{5,30} "\n")+' --dump-probs=1 -O json "$ROOT/samples/austen.f16" >out
        perl -ne '/"id":(\d+),"token":("(?:\\.|[^"\\])*")/ and print $2' out | sed 's/""//g; s/^"//; s/"$//; s/<|endoftext|>//g' >text
        grep -qE '^(- [A-Z][a-z ]{5,30}\\n)+(- ?)?([A-Z][a-z ]*)?$' text || { cat text; return 1; }
    done
}

@test "a grammar in printed flags is read back, and a request holds it" {
    sampl -s 1 --vocab "$V" --grammar 'root ::= "it'\''s"' --print-chain=preset >flags
    eval "sampl $(<flags) --print-grammar" >out
    [ "$(<out)" = 'root ::= "it'\''s"' ]
    echo 'root ::= "x"' >x.gbnf
    sampl -s 1 --grammar-file x.gbnf --print-chain=server | grep -qF '"grammar":"root ::= \"x\"\n"'
}

@test "no control character of a grammar reaches the terminal, and none is lost" {
    printf '# c\033\302\205\r\nroot ::= "a\033\302\233\342\200\215\363\240\200\201é\\"#" [^\177\\]#"] ( # x\r  "\010\n" |\r\n<t\033> ) "\t"' >g
    printf '# c??\nroot ::= "a\\x1B\\x9B\\u200D\\U000E0001é\\"#" [^\\x7F\\]#"] ( # x\n  "\\x08\n" |\n<[1]> ) "\t"\n' >want
    printf 'x\n<t\\x1b>\n' >v
    sampl --print-grammar --vocab v --grammar-file g >got
    same got want
    sampl --print-grammar --vocab v --grammar-file got | cmp - want
    sampl --print-grammar --grammar-file g | grep -q '^<t?> )'
    cp g $'g\e'
    # in options it stands in quotes that bash and a preset resolve
    sampl -s 1 --grammar-file g --print-chain=preset >p
    perl -ne 'exit 1 if /[\0-\x8\xb-\x1f\x7f]|\xc2[\x80-\x9f]/' p
    sampl --preset ./p --print-chain=preset | cmp - p
    eval "sampl $(<p) --print-chain=server" | cmp - <(sampl -s 1 --grammar-file g --print-chain=server)
    [ "$(sampl --grammar-file $'g\e' --print-chain=llama)" = "--grammar-file \$'g\\x1b'" ]
}

# [(x]{18} makes another state of nearly each text; they are forgotten, and the memory with them.
@test "memory stays as it is, however many states the rows come through" {
    need_own_process
    local room=100000 rows=400000
    if nm -D "$SAMPL" 2>/dev/null | grep -q ' __[at]san_'; then room=unlimited rows=40000; fi # its shadow of all memory counts, too
    printf '%s\n' '(' ')' x '</s>' >v
    perl -e 'print pack("f<*", 1, -9e9, 1, -9e9) x shift' "$rows" >rows.f32
    (ulimit -v $room && sampl -n 4 -s 1 --vocab v --grammar 'root ::= [(x]* "(" [(x]{18}' rows.f32 >ids)
    sampl -n 4 -s 1 --temp 1 rows.f32 | cmp - ids
}
