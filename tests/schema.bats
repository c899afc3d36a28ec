#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JSON schemas: the texts of schemas.tsv, recorded choices of llama.cpp, and the printed grammars.
# shellcheck disable=SC2016,SC2001,SC2154 # $stderr is set by run; perl's variables and JSON's $ are not the shell's
load helper

setup_file() {
    perl -e 'for (0 .. 255) { printf "\\x%02x\n", $_ } print "<|endoftext|>\n"' >"$BATS_FILE_TMPDIR/bytes.txt"
    perl -e 'print "\0" x (4 * 257 * 300)' >"$BATS_FILE_TMPDIR/flat.f32"
}

# prepare: writes the schemas of the table to 1.json, 2.json, ... Prints a line for each text: number of the schema, + or -, ids of the
# bytes and the end token, line of the table.
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

@test "schema: each text of schemas.tsv fits or does not fit its schema, as the table says" {
    local n verdict ids line status wrong=0 count=0
    prepare | few 120 >list
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
    enough "$count" 450
}

# tests/cases/import-schemas.py made the table from the choices of llama.cpp's library.
@test "schema: every recorded case of llama.cpp gives its ids" {
    local name options ids schema words rows cases=0
    while IFS=$'\t' read -r name options ids schema; do
        cases=$((cases + 1))
        rows=$(tr -cd , <<<"$ids" | wc -c | awk '{ print $1 + 1 }')
        eval "words=($options)"
        if [ "$options" = - ]; then
            sampl -n 257 --vocab "$BATS_FILE_TMPDIR/bytes.txt" -j "$schema" --accept "$ids" --rows ":$rows" "$BATS_FILE_TMPDIR/flat.f32" >got 2>err
        else
            sampl -n 4096 --vocab "$ROOT/samples/austen.gguf" "${words[@]}" -j "$schema" --rows ":$rows" "$ROOT/tests/cases/json4096.f32" >got 2>err
            [ "$(paste -sd, got)" = "$ids" ] || { echo "$name: other ids"; return 1; }
        fi || { echo "$name: $(<err)"; return 1; }
    done <"$ROOT/tests/cases/schemas.tsv"
    [ "$cases" -eq 60 ]
}

@test "schema: minimum and maximum accept exactly the integers between them" {
    perl -e '
        my ($sampl, $wrong) = (@ARGV, 0);
        srand 7;
        for my $i (1 .. 60) {
            my @bound = sort { $a <=> $b } map { int(rand(10 ** int(1 + rand(4)))) - ($i % 3 ? 0 : 150) } 0, 1;
            $bound[1] = $bound[0] if $i % 17 == 0;
            my ($lo, $hi) = @bound;
            my $schema = "{\"type\":\"integer\",\"minimum\":$lo,\"maximum\":$hi}";
            my $gbnf = do { open my $p, "-|", $sampl, "--print-grammar", "-j", $schema or die; local $/; <$p> };
            my ($root) = $gbnf =~ /^root ::= (.*)$/m or die "$schema: $gbnf";
            $root =~ tr/" //d;
            for my $text (-200 .. 1400, 9999, 10000, -9999, "-0", "00", "007", 10 ** 12) {
                my $want = $text =~ /^(-0|0|-?[1-9]\d*)$/ && ($text eq "-0" ? $lo < 0 && $hi >= 0 : $text >= $lo && $text <= $hi);
                next if !$want == !($text =~ /^(?:$root)$/);
                print "$schema: $text, $root\n";
                $wrong = 1;
                last;
            }
        }
        exit $wrong' "$SAMPL"
}

@test "schema: --print-grammar prints a grammar that reads back as the same grammar" {
    prepare >list
    for schema in *.json; do
        sampl --print-grammar -jf "$schema" >once 2>err
        sampl --print-grammar --grammar-file once >twice
        same once twice
    done
}

@test "schema: schemas with thousands of properties, values, levels and references are converted within 20 s" {
    perl -e 'print "{\"properties\":{", join(",", map { "\"p$_\":{\"type\":\"integer\"}" } 1 .. 2000), "},\"additionalProperties\":true}"' >properties
    perl -e 'print "{\"enum\":[", join(",", map { "\"v$_\"" } 1 .. 20000), "]}"' >enum
    perl -e 'print "{\"items\":" x 300, "{}", "}" x 300' >levels
    perl -e 'print "{\"type\":", "[" x 900, "\"null\"", "]" x 900, "}"' >types
    perl -e 'print "{\"properties\":{\"", "k" x 900, "\":{}},\"additionalProperties\":true}"' >key
    perl -e 'print "{\"\$defs\":{", join(",", map { "\"a$_\":{\"\$ref\":\"#/\$defs/a" . ($_ + 1) . "\"}" } 0 .. 9999),
        ",\"a10000\":{}},\"anyOf\":[", join(",", map { "{\"\$ref\":\"#/\$defs/a$_\"}" } 0 .. 9999), "]}"' >chain
    perl -e 'print "{", join(",", map { "\"k$_\":1" } 1 .. 20000), ",\"type\":\"null\",", join(",", ("\"type\":\"integer\"") x 20000), "}"' >members
    # A schema that many types and levels refer to becomes one rule.
    perl -e 'my $s = "{}"; $s = "{\"type\":[\"object\",\"array\"],\"properties\":{\"a\":{\"\$ref\":\"#/\$defs/$_\"}},\"items\":{\"\$ref\":\"#/\$defs/$_\"}}"
        and push @all, "\"" . ($_ + 1) . "\":$s" for 0 .. 99; print "{\"\$ref\":\"#/\$defs/100\",\"\$defs\":{\"0\":{},", join(",", @all), "}}"' >shared
    for file in properties enum levels types key chain members shared; do
        run -0 timeout 20 "$SAMPL" --print-grammar -jf "$file"
        [ "${#output}" -gt 20 ]
    done
}

@test "schema: a schema whose grammar would be too large or too deep is refused" {
    perl -e 'print "{\"allOf\":[", join(",", ("{\"\$ref\":\"#/\$defs/a\"}") x 20000), "],\"\$defs\":{\"a\":{\"properties\":{", join(",", map { "\"p$_\":{}" } 1 .. 2000), "}}}}"' >product
    perl -e 'print "{\"properties\":{", join(",", map { "\"p$_\":{\"type\":\"integer\"}" } 1 .. 100000), "}}"' >properties
    for file in product properties; do
        run -2 timeout 20 "$SAMPL" --print-grammar -jf "$file"
        [[ $output == *'the grammar grows too large' ]]
    done
    perl -e 'print "{\"properties\":{\"", "k" x 100000, "\":{}},\"additionalProperties\":true}"' >key
    perl -e 'print "{\"pattern\":\"^a", "?" x 100000, "\$\"}"' >pattern
    for file in key pattern; do
        run -2 timeout 20 "$SAMPL" --print-grammar -jf "$file"
        [[ $output == *'too deep' ]]
    done
}

# tests/cases/accepts.jsonl has answers of llama.cpp v0.5.0 to grammars and schemas of our own, and to random ones.
@test "schema: --strict-grammar takes exactly the grammars and schemas that llama.cpp took, and names a place in others" {
    need python3
    /usr/bin/python3 "$ROOT/tests/accepts.py" "$SAMPL" "$ROOT/samples/austen.gguf" "$ROOT/tests/cases/accepts.jsonl" "$STEP" "$START"
}
