#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JSON schemas: schemas.tsv through a vocabulary of bytes; number ranges against arithmetic; the grammars themselves.
# shellcheck disable=SC2016,SC2001 # perl's variables and JSON's $ are not the shell's
load helper

setup_file() {
    perl -e 'for (0 .. 255) { printf "\\x%02x\n", $_ } print "<|endoftext|>\n"' >"$BATS_FILE_TMPDIR/bytes.txt"
    perl -e 'print "\0" x (4 * 257 * 300)' >"$BATS_FILE_TMPDIR/flat.f32"
}

# The table as lines of: number of the schema, + or -, ids of the text's bytes and the end, its line. Schemas go to files 1.json, ...
prepare() {
    perl -CSD -Mutf8 -ne '
        chomp;
        next if /^#/ || !/\S/;
        if (/^([+-])\t(.*)/) {
            my ($verdict, $text) = ($1, $2);
            $text =~ tr/¶⇥/\n\t/;
            $text =~ s/∅//;
            utf8::encode($text);
            print "$n\t$verdict\t", join(",", unpack("C*", $text), 256), "\t$.\n";
        } else {
            $n++;
            open my $f, ">:utf8", "$n.json" or die;
            print $f $_;
        }' "$BATS_TEST_DIRNAME/schemas.tsv"
}

@test "the table's texts fit their schemas, or do not" {
    local n verdict ids line status wrong=0 count=0
    prepare >list
    while IFS=$'\t' read -r n verdict ids line; do
        status=0
        sampl -n 257 --vocab "$BATS_FILE_TMPDIR/bytes.txt" -jf "$n.json" --accept "$ids" --rows ":$(tr -cd , <<<"$ids" | wc -c | awk '{ print $1 + 1 }')" \
            "$BATS_FILE_TMPDIR/flat.f32" >out 2>err </dev/null || status=$?
        count=$((count + 1))
        case $verdict$status in
        +0) ;;
        -1) grep -q 'does not fit the grammar' err || wrong=1 ;;
        *) wrong=1 && echo "line $line: status $status $(<err)" ;;
        esac
    done <list
    [ "$wrong" = 0 ]
    [ "$count" -ge 300 ]
}

# ranges TYPE PERL: the grammar of random ranges, which is a regular expression but for its quotes, against numbers that the code gives.
ranges() {
    perl -e '
        my ($type, $code, $sampl, $wrong) = (@ARGV, 0);
        srand 7;
        for my $i (1 .. 120) {
            my @bound = map { $type eq "integer" ? int(rand(1400)) - 150 : (int(rand(6000)) - 3000) / 10 ** int(rand(4)) } 0, 1;
            @bound = sort { $a <=> $b } @bound;
            $bound[1] = $bound[0] if $i % 17 == 0;
            my ($lo, $hi) = @bound;
            my ($slo, $shi) = (int(rand(4)) == 0 && $lo != $hi && $hi - $lo > 2, int(rand(4)) == 0 && $lo != $hi && $hi - $lo > 2);
            my @limits;
            push @limits, ($slo ? "\"exclusiveMinimum\":$lo" : "\"minimum\":$lo") if $i % 5 != 0;
            push @limits, ($shi ? "\"exclusiveMaximum\":$hi" : "\"maximum\":$hi") if $i % 7 != 0;
            my $schema = "{\"type\":\"$type\"" . join("", map { ",$_" } @limits) . "}";
            my $gbnf = do { open my $p, "-|", $sampl, "--print-grammar", "-j", $schema or die; local $/; <$p> };
            next unless @limits;
            my ($root) = $gbnf =~ /^root ::= (.*) space$/m or die "$schema: $gbnf";
            $root =~ s/"\."/\\./g;
            $root =~ tr/" //d;
            for my $text (eval $code) {
                my $want = ($i % 5 == 0 || ($slo ? $text > $lo : $text >= $lo)) && ($i % 7 == 0 || ($shi ? $text < $hi : $text <= $hi));
                my $got = $text =~ /^(?:$root)$/;
                next if !$want == !$got;
                print "$schema: $text, $root\n";
                $wrong = 1;
                last;
            }
        }
        exit $wrong' "$1" "$2" "$SAMPL"
}

@test "ranges of integers hold every integer between their bounds and no other" {
    ranges integer '(-200 .. 1400, 99999, -99999, 10 ** 12)'
}

@test "ranges of numbers hold what is between their bounds and nothing else" {
    # near the bounds, one unit of every decimal place away, with zeros behind; and anywhere
    ranges number 'map { my $v = $_; my $s = sprintf("%.7f", $v); (my $t = $s) =~ s/\.?0+$//; $t =~ /^-0$/ ? () : ($t, $s =~ /^-0\.0+$/ ? () : $s) }
        ((map { my $b = $_; map { ($b, $b + 10 ** -$_, $b - 10 ** -$_) } 0 .. 6 } $lo, $hi), map { rand(8000) / 10 ** int(rand(4)) - 3000 } 1 .. 30)'
}

@test "the grammar is readable, and the same every time" {
    run -0 sampl --print-grammar -j '{"type":"object","properties":{"name":{"type":"string","maxLength":9},
        "tags":{"type":"array","items":{"$ref":"#/$defs/tag"}}},"required":["name"],"$defs":{"tag":{"enum":["a","b"]}}}'
    [ "$output" = "$(cat <<'END'
root ::= "{" space (name-kv ("," space tags-kv)?) "}" space
name ::= "\"" char{0,9} "\"" space
name-kv ::= "\"name\"" space ":" space name
tags ::= "[" space (defs-tag ("," space defs-tag)*)? "]" space
tags-kv ::= "\"tags\"" space ":" space tags
defs-tag ::= ("\"a\"" | "\"b\"") space
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" ([0-9a-ce-fA-CE-F] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2} | [dD] [89abAB] [0-9a-fA-F]{2} "\\u" [dD] [c-fC-F] [0-9a-fA-F]{2}))
space ::= | " " | "\n"{1,2} [ \t]{0,20}
END
)" ]
}

@test "a grammar printed is the same grammar read" {
    prepare >list
    for schema in *.json; do
        sampl --print-grammar -jf "$schema" >once
        sampl --print-grammar --grammar-file once >twice
        same once twice
    done
}

@test "names that are taken, empty or unspeakable become rules of their own" {
    run -0 sampl --print-grammar -j '{"properties":{"root":{"maxLength":1},"string":{"maxLength":2},"é":{"maxLength":3},"è":{"maxLength":4},
        "a b":{"maxLength":5},"a_b":{"maxLength":6}}}'
    [ "$(sed 's/ ::=.*//' <<<"$output" | sort | uniq -d)" = "" ]
    for name in root root-2 string-2 rule rule-2 a-b a-b-2; do
        grep -q "^$name ::= " <<<"$output" || { echo "no $name"; return 1; }
    done
}

@test "the last of several grammars and schemas holds" {
    run -0 sampl --print-grammar -j '{"type":"null"}' -j '{"type":"boolean"}'
    [[ $output == 'root ::= boolean'* ]]
    run -0 sampl --print-grammar -j '{"type":"null"}' --grammar 'root ::= "x"'
    [ "$output" = 'root ::= "x"' ]
    run -0 sampl --print-grammar --grammar 'root ::= "x"' -j '{"type":"null"}'
    [[ $output == 'root ::= null'* ]]
}

@test "many properties, values and levels" {
    perl -e 'print "{\"properties\":{", join(",", map { "\"p$_\":{\"type\":\"integer\"}" } 1 .. 500), "}}"' >properties
    perl -e 'print "{\"enum\":[", join(",", map { "\"v$_\"" } 1 .. 20000), "]}"' >enum
    perl -e 'print "{\"items\":" x 300, "{}", "}" x 300' >levels
    for file in properties enum levels; do
        run -0 sampl --print-grammar -jf "$file"
        [ "${#output}" -gt 1000 ]
    done
}

@test "schemas that would grow without bound are refused" {
    perl -e 'print "{\"allOf\":[", join(",", map { "{\"anyOf\":[{\"minLength\":$_},{\"maxLength\":10$_}]}" } 1 .. 40), "]}"' >product
    perl -e 'print "{\"\$defs\":{", join(",", map { "\"a$_\":{\"\$ref\":\"#/\$defs/a" . ($_ + 1) . "\"}" } 0 .. 999), ",\"a1000\":{}},\"\$ref\":\"#/\$defs/a0\"}"' >chain
    run -2 sampl --print-grammar -jf product
    [[ $output == *'the grammar grows too large' ]]
    run -2 sampl --print-grammar -jf chain
    [[ $output == *'too deep' ]]
    # the same schema twice at every level is the same schema
    perl -e 'print "{\"\$defs\":{", join(",", map { my $r = "{\"\$ref\":\"#/\$defs/a" . ($_ + 1) . "\"}"; "\"a$_\":{\"allOf\":[$r,$r]}" } 0 .. 59),
        ",\"a60\":{\"type\":\"null\"}},\"\$ref\":\"#/\$defs/a0\"}"' >double
    run -0 sampl --print-grammar -jf double
    [[ $output == 'root ::= null'* ]]
}
