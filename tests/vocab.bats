#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Vocabularies: the files they come from, what their tokens say, and what that is good for.

# shellcheck disable=SC1003 # the backslashes are meant

load helper

V=$ROOT/samples/austen.gguf

# zeros N: a row of so many equal logits, as JSON.
zeros() {
    perl -e 'print "[", join(",", (0) x $ARGV[0]), "]"' "$1"
}

# bytes FILE N: the bytes of the first N tokens of a vocabulary, one a line, as the program sees them.
bytes() {
    zeros "$2" | sampl --vocab "$1" -s 1 --samplers '' --temp 1 --dump-probs -O json |
        perl -ne 's/.*"top_probs"//; while (/"id":(\d+),"token":"(?:\\.|[^"\\])*","bytes":\[([\d,]*)\]/g) { print pack("C*", split /,/, $2), "\n" }'
}

# says FILE TEXT...: the vocabulary's tokens are just these.
says() {
    local file=$1
    shift
    printf '%s\n' "$@" >want.says
    bytes "$file" $# >got.says
    same got.says want.says
}

# biases FILE: the tokens that --ignore-eos bans.
biases() {
    sampl -s 1 --vocab "$1" --ignore-eos --print-chain | sed -n 's/^logit_bias *o[nf]* *//p' | sed 's/-inf//g'
}

# fails FILE: the vocabulary is refused, in one line and with status 1.
fails() {
    local status=0
    sampl -s 1 --vocab "$1" --print-chain >out 2>err || status=$?
    [ "$status" = 1 ] && [ ! -s out ] && mapfile -t lines <err && [ ${#lines[@]} = 1 ] && [[ ${lines[0]} == "sampl: --vocab: $1: "* ]] && return
    echo "$1: status $status"
    cat -v err
    return 1
}

# hold FILE: whatever is in it, the program ends by itself: fine, or refused in one line.
hold() {
    local status=0
    sampl -s 1 --vocab "$1" --print-chain >out 2>err || status=$?
    case $status in
    0) [ ! -s err ] && return ;;
    1) [ ! -s out ] && mapfile -t lines <err && [ ${#lines[@]} = 1 ] && return ;;
    esac
    echo "$1: status $status"
    cat -v err
    return 1
}

# damaged FILE ENDING: the file is refused when cut anywhere, and does no harm with a byte changed anywhere.
damaged() {
    local file
    mkdir cut bad
    perl -e 'local $/; my ($file, $ending, $step, $start) = @ARGV; open my $f, "<", $file or die; my $s = <$f>;
        sub put { open my $f, ">", "$_[0].$ending" or die; print $f $_[1] }
        for my $i (grep { $_ % $step == $start } 0 .. length($s) - 1) {
            put("cut/$i", substr $s, 0, $i) if $i;
            for my $b ("\0", "\1", "\"", "\xff") { my $t = $s; substr($t, $i, 1) = $b; put(sprintf("bad/$i-%02x", ord $b), $t) }
        }' "$1" "$2" "$STEP" "$START"
    for file in cut/*; do
        fails "$file" || return 1
    done
    for file in bad/*; do
        hold "$file" || return 1
    done
}

# limit: what follows gets a gigabyte of memory, unless a sanitizer or an emulator needs more for itself.
limit() {
    [ -n "${RUN_ENV-}" ] || nm -D "$SAMPL" | grep -q __asan_ || ulimit -v 1000000
}

# spelt: turns lines of any bytes into GPT-2's spelling of them.
spelt() {
    perl -ne 'BEGIN { binmode STDOUT, ":utf8"; my $n = 0;
            for (0 .. 255) { $c{chr $_} = chr($_ > 0x20 && $_ < 0x7f || $_ > 0xa0 && $_ != 0xad ? $_ : 256 + $n++) } }
        chomp; s/\\n/\n/g; print join("", map { $c{$_} } split //), "\n"'
}

# A tokenizer.json of the vocabulary that ships, and a text of it, made without the program.
austen_files() {
    printf '{"added_tokens":[{"id":4095,"content":"<|endoftext|>","special":true}],"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","merges":["a b"],"vocab":%s}}' \
        "$(<"$ROOT/samples/austen-vocab.json")" >tokenizer.json
    perl -CS -Mutf8 -e 'local $/; my $s = <STDIN>; my (@t, %b); my $n = 0;
        for (0 .. 255) { $b{chr($_ > 0x20 && $_ < 0x7f || $_ > 0xa0 && $_ != 0xad ? $_ : 256 + $n++)} = $_ }
        while ($s =~ /"((?:\\.|[^"\\])*)": (\d+)/g) {
            my ($text, $id) = ($1, $2);
            $text =~ s/\\u([0-9a-f]{4})/chr hex $1/ge;
            $text =~ s/\\(.)/$1/g;
            $t[$id] = join "", map { my $b = $b{$_}; $b < 32 || $b == 92 || $b > 126 ? sprintf "\\x%02x", $b : chr $b } split //, $text;
        }
        print map { "$_\n" } @t' <"$ROOT/samples/austen-vocab.json" >austen.txt
}

@test "one vocabulary in four formats says the same" {
    austen_files
    [ "$(wc -l <austen.txt)" -eq 4096 ]
    for file in "$V" "$ROOT/samples/austen-vocab.json" tokenizer.json austen.txt; do
        sampl --vocab "$file" -s 1 --rows :3 --samplers '' --dump-probs -O json "$AUSTEN" >dump
        [ -e first ] || cp dump first
        same dump first
        [ "$(biases "$file")" = 4095 ]
    done
    grep -q '"id":559,"token":" did","bytes":\[32,100,105,100\],' first
}

@test "a text is told by its name's ending, whatever its first token" {
    printf '%s\n' '{' '"a"' b >v.txt
    says v.txt '{' '"a"' b
    cp v.txt v.vocab
    run -1 sampl --vocab v.vocab <<<'[1,2,3]'
    [[ $output == *'not a JSON object'* ]]
}

@test "the shipped tokens are the shipped text" {
    zeros 4096 | sampl --vocab "$V" -s 1 --samplers '' --dump-probs -O json |
        perl -e '$_ = <STDIN>; s/.*"top_probs"//; my %t; $t{$1} = pack "C*", split /,/, $2 while /"id":(\d+),"token":"(?:\\.|[^"\\])*","bytes":\[([\d,]*)\]/g;
            local $/; for my $file (@ARGV) { open my $f, "<", $file or die; print map { $t{$_} } split /[\s,]+/, <$f> }' \
            "$ROOT/samples/austen.prompt" "$ROOT/samples/austen.tokens" >text
    perl -0pe 's/\n\[prompt ends here\]\n//; s/\n\z//' "$ROOT/samples/austen.txt" >want
    same text want
}

@test "gguf: all bytes by GPT-2's characters, and what is none of them" {
    perl -e 'print join(",", map { chomp; $_ } <STDIN>)' < <(perl -e 'print $_ == 10 ? "\\n" : chr, "\n" for 0 .. 255' | spelt) >tokens
    gguf model=s:gpt2 "tokens=a:$(<tokens)" >v.gguf 2>/dev/null || true
    # the comma is a separator to gguf, so it is missing: it comes as two empty tokens
    zeros 257 | sampl --vocab v.gguf -s 1 --samplers '' --dump-probs -O json |
        perl -ne 's/.*"top_probs"//; print "$1\n" while /"bytes":\[([\d,]*)\]/g' >got
    perl -e 'print $_ == 44 ? "\n\n" : "$_\n" for 0 .. 255' >want
    same got want
    gguf model=s:gpt2 $'tokens=a:a b,\xc4,Ġ€' >v.gguf
    says v.gguf 'a[UNK_BYTE_0x20a b]b' $'[UNK_BYTE_0xefbfbd\xc4]' ' [UNK_BYTE_0xe282acĠ€]'
    gguf model=s:gpt2 "tokens=a:$(printf '€%.0s' {1..1000}),b" >v.gguf # the marks hold the text each; their number is bounded
    [ "$(bytes v.gguf 2 | wc -c)" -lt 60000 ]
}

@test "gguf: token types" {
    gguf model=s:llama 'tokens=a:<unk>,▁a▁,<ctl▁>,<usr▁>,<unused▁>,<0x41>,<0x4g>,b' token_type=i:2,1,3,4,5,6,6,1 >v.gguf
    says v.gguf '<unk>' ' a ' '<ctl▁>' '<usr▁>' '' A '<0x4g>' b
    gguf model=s:gemma4 'tokens=a:▁a,<0x0a>,Ġ' token_type=i:1,1,1 >v.gguf
    says v.gguf ' a' '<0x0a>' 'Ġ'
    gguf model=s:t5 'tokens=a:▁a,b' >v.gguf # no types: all normal
    says v.gguf ' a' b
    gguf model=s:rwkv 'tokens=a:\x41\t,b' >v.gguf
    says v.gguf $'A\t' b
    gguf model=s:plamo2 'tokens=a:▁a,<0x41>' token_type=i:1,6 >v.gguf
    says v.gguf '▁a' A
}

@test "gguf: every type of value is stepped over, before the vocabulary and after it" {
    local kinds=() others=() i=0 size
    for size in 1 1 2 2 4 4 4 1 - - 8 8 8; do
        [ $size = - ] || kinds+=("$(printf '%02x000000' $i)$(printf 'ff%.0s' $(seq $size))")
        [ $size = - ] || kinds+=("09000000$(printf '%02x000000' $i)0300000000000000$(printf '00%.0s' $(seq $((3 * size))))")
        i=$((i + 1))
    done
    kinds+=(080000000300000000000000414243 0900000008000000020000000000000001000000000000004102000000000000004243)
    kinds+=(09000000090000000200000000000000080000000100000000000000010000000000000041040000000000000000000000 09000000090000000000000000000000)
    for i in "${!kinds[@]}"; do
        others+=("some.key$i=x:${kinds[i]}")
    done
    gguf "${others[@]}" model=s:gpt2 tokens=a:a,b >before.gguf
    gguf model=s:gpt2 tokens=a:a,b "${others[@]}" >after.gguf
    GGUF_VERSION=2 gguf model=s:gpt2 tokens=a:a,b "${others[@]}" >two.gguf
    for file in before after two; do
        says $file.gguf a b
        says <(cat $file.gguf) a b
        head -c -1 $file.gguf >cut.gguf
        fails cut.gguf
    done
}

@test "gguf: what comes behind the metadata does not matter" {
    gguf model=s:gpt2 tokens=a:a,b >v.gguf
    says v.gguf a b
    truncate -s 4G v.gguf
    says v.gguf a b
    head -c 100000 /dev/urandom >>v.gguf
    says v.gguf a b
}

@test "gguf: cut anywhere, or with a byte changed anywhere" {
    gguf general.name=s:x model=s:llama 'tokens=a:</s>,▁a,b' 'merges=a:a b' scores=x:09000000060000000100000000000000ffffffff \
        token_type=i:3,1,1 eos_token_id=u:0 add_space_prefix=b:0 >v.gguf
    damaged v.gguf gguf
}

@test "gguf: hostile lengths cost nothing" {
    for value in 08000000ffffffffffffff7f 0900000008000000ffffffffffffff1f 0900000000000000ffffffffffffffff 090000000c000000ffffffffffffff1f; do
        gguf "a.b=x:$value" >v.gguf
        (limit && fails v.gguf)
    done
    GGUF_PAIRS=9223372036854775807 gguf model=s:gpt2 tokens=a:a >v.gguf
    (limit && fails v.gguf)
    echo '{"a":65535}' >v.json # a hole is small
    (limit && hold v.json)
    echo '{"a":2147483646}' >v.json
    (limit && fails v.json)
}

@test "end-of-generation tokens" {
    gguf model=s:gpt2 'tokens=a:a,<|im_end|>,</s>,<|eom_id|>,<|fim_pad|>,b,c,<|end|>,[e~[,_<EOT>,<|channel|>' eos_token_id=u:5 eom_token_id=u:6 >v.gguf
    [ "$(biases v.gguf)" = '1 2 3 4 5 6 7 8 9' ]
    gguf model=s:gpt2 'tokens=a:a,<|end|>,<|return|>,<|call|>,</s>' >v.gguf
    [ "$(biases v.gguf)" = '2 3 4' ]
    gguf model=s:gpt2 'tokens=a:a,<|end|>,<|flush|>,<|calls|>,</s>,<|tool_response>' >v.gguf
    [ "$(biases v.gguf)" = '2 3 5' ]
    gguf model=s:gpt2 'tokens=a:a,<|end|>,<|return|>,</s>' eot_token_id=u:0 >v.gguf
    [ "$(biases v.gguf)" = '0 1 2 3' ]
    gguf model=s:gpt2 tokens=a:a,b eos_token_id=u:4294967295 eot_token_id=u:2 fim_sep_token_id=u:1 >v.gguf # ids past the end name none
    [ "$(biases v.gguf)" = 1 ]
    gguf model=s:gpt2 tokens=a:a,b,c,d,e,f,g eos_token_id=u:7 eot_token_id=u:9 >v.gguf
    echo '[0,0,0,0,0,0,-0.4,-9,-9,-9]' >wide.json
    run -1 sampl -s 1 --vocab v.gguf --samplers infill wide.json
    [ "$output" = 'sampl: wide.json: row 0: infill is left without text, and the vocabulary has no token to end the turn' ]
    run -0 --separate-stderr sampl -s 1 --vocab v.gguf --ignore-eos --print-chain
    # shellcheck disable=SC2154 # run sets it
    [ "$stderr" = "sampl: warning: --ignore-eos: the vocabulary has no end-of-generation token" ]
    # they can be chosen before, not after
    gguf model=s:gpt2 'tokens=a:a,</s>,b' >v.gguf
    [ "$(echo '[1,9,2]' | sampl -s 1 --temp 0 --vocab v.gguf)" = 1 ]
    [ "$(echo '[1,9,2]' | sampl -s 1 --temp 0 --vocab v.gguf --ignore-eos)" = 2 ]
}

@test "tokenizer.json: Unigram, BPE with bytes, WordPiece, WordLevel" {
    echo '{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁a",-1.5],["b▁",-2]]}}' >t.json
    says t.json '<unk>' ' a' 'b '
    echo '{"model":{"vocab":[["a",0],["<0x41>",1]],"byte_fallback":true},"decoder":{"type":"Metaspace"}}' >t.json
    says t.json a A
    echo '{"model":{"type":"BPE","vocab":{"a":0,"<0x0a>":2,"▁b":1}},"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]}}' >t.json
    says t.json a ' b' $'\n'
    echo '{"model":{"type":"BPE","vocab":{"Ġa":0,"<0x0A>":1}},"decoder":{"type":"ByteLevel"}}' >t.json
    says t.json ' a' '<0x0A>'
    echo '{"model":{"type":"BPE","vocab":{"Ġa":0}},"decoder":null,"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split"},{"type":"ByteLevel"}]}}' >t.json
    says t.json ' a'
    echo '{"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","vocab":{"[UNK]":0,"[CLS]":1,"un":2,"##do":3}},"added_tokens":[{"id":1,"content":"[CLS]","special":true}]}' >t.json
    says t.json '[UNK]' '[CLS]' ' un' 'do'
    echo '{"model":{"type":"WordLevel","vocab":{"a b":0,"▁Ġ":1}}}' >t.json
    says t.json 'a b' '▁Ġ'
}

@test "tokenizer.json: added tokens, holes" {
    echo '{"added_tokens":[{"id":1,"content":"<▁Ġ>","special":false},{"id":4,"content":"</s>","special":true}],"model":{"vocab":{"Ġa":0,"x":1,"b":2}},"decoder":{"type":"ByteLevel"}}' >t.json
    says t.json ' a' '<▁Ġ>' b '' '</s>'
    [ "$(biases t.json)" = 4 ]
    printf '\xef\xbb\xbf{"model":{"vocab":{"a":0}}}' >t.json
    says t.json a
}

@test "tokenizer.json: cut anywhere, or with a byte changed anywhere" {
    printf '{"added_tokens":[{"id":2,"content":"</s>","special":true}],"model":{"type":"BPE","vocab":{"Ġa":0,"b":1}},"decoder":{"type":"ByteLevel"}}' >v.json
    damaged v.json json
}

@test "vocab.json: the spelling shows by the tokens" {
    echo '{"Ġa":0,"Ċ":1,"é":2}' >v.json
    says v.json ' a' $'\n' $'\xe9'
    echo '{"Ġa":0," b":1}' >v.json # no byte-level vocabulary has a space
    says v.json Ġa ' b'
    echo '{"▁a":0,"<0x41>":1,"b▁c":2}' >v.json
    says v.json ' a' A 'b c'
    echo '{"b":1,"a▁b":0}' >v.json
    says v.json 'a▁b' b
    echo '{"a":0,"b":3}' >v.json
    says v.json a '' '' b
}

@test "text: a line a token, with escapes" {
    printf 'a\n\\n\n\\t\\r\\x41\\\\n\n\n\\"\\q\\x4\\xzz\\' >v.txt
    zeros 5 | sampl --vocab v.txt -s 1 --samplers '' --dump-probs -O json | grep -o '"bytes":[^]]*' | sed -n '2,$p' >got
    printf '"bytes":[%s\n' 97 10 9,13,65,92,110 '' 34,92,113,92,120,52,92,120,122,122,92 >want
    same got want
    printf '<0x0A>\n<0xe2>\n <0x41>\n' >v.txt
    zeros 3 | sampl --vocab v.txt -s 1 --samplers '' --dump-probs -O json | grep -o '"bytes":[^]]*' | sed -n '2,$p' >got
    printf '"bytes":[%s\n' 10 226 32,60,48,120,52,49,62 >want
    same got want
    printf '{\n"\n' >v # begins like JSON, and is read as such
    fails v
    mv v v.txt # unless its name says otherwise
    says v.txt '{' '"'
    printf '{\na\n' >v.txt
    says v.txt '{' a
}

@test "the vocabulary gives raw rows their width, -n wins" {
    printf '%s\n' a b c >v.txt
    f32 1 2 3 3 2 1 >x.f32
    [ "$(sampl -s 1 --temp 0 --vocab v.txt x.f32 | paste -sd' ')" = '2 0' ]
    [ "$(sampl -s 1 --temp 0 --vocab v.txt -n 6 x.f32)" = 2 ]
    [ "$(echo '[1,2,3,4]' | sampl -s 1 --temp 0 --vocab v.txt)" = 3 ]
    [ "$(echo '[1,2,3,4]' | sampl -s 1 --temp 0 --vocab v.txt -O json)" = '{"row":0,"id":3,"token":"","bytes":[],"prob":1,"n":1}' ]
}

@test "output: texts are escaped, in each format in its way" {
    printf '%s\n' 'a"b' '\t\\' '\x00\x1b\x7f\xc2\x9b' '\xc3' '\xe2\x82' é '\xe2\x80\x8e' >v.txt
    zeros 7 >row
    sampl --vocab v.txt -s 1 --samplers '' --temp 1 --dump-probs -O tsv row | cut -f8 >got
    printf '%s\n' text 'a"b' '\t\\' '\x00\x1b\x7f\xc2\x9b' '\xc3' '\xe2\x82' é '\xe2\x80\x8e' >want
    same got want
    sampl --vocab v.txt -s 1 --samplers '' --temp 1 --dump-probs row | sed -n '3,$s/^.\{15\} \(.*[^ ]\)  *0\.000000 .*/\1/p' >got
    printf '"%s"\n' 'a\"b' '\t\\' '\x00\x1b\x7f\xc2\x9b' '\xc3' '\xe2\x82' é '\xe2\x80\x8e' >want
    same got want
    sampl --vocab v.txt -s 1 --samplers '' --temp 1 --dump-probs -O json row | grep -o '"token":"[^,]*' | sed '1d; s/"token"://' >got
    printf '%s\n' '"a\"b"' '"\t\\"' '"\u0000\u001b\u007f\u009b"' '"�"' '"��"' '"é"' $'"\xe2\x80\x8e"' >want
    same got want
}

@test "output: the columns of a dump stay in line under wide and combining characters" {
    printf '%s\n' a 漢字 $'e\xcc\x81' 😀 ｱ 한 Ａ "$(printf 'x%.0s' {1..60})" >v.txt
    zeros 8 | sampl --vocab v.txt -s 1 --samplers '' --temp 1 --dump-probs >dump
    # columns of the text, without and with its padding
    perl -CSD -ne 'next unless /^[> ] *(\d+) +\d+ (".*" *) 0\.000000/;
        my ($rank, $text) = ($1, $2);
        my $wide = () = $text =~ /[漢字😀한Ａ]/g;
        my $none = () = $text =~ /\x{301}/g;
        print $rank, " ", length($text) + $wide - $none, "\n"' -Mutf8 dump >got
    printf '%s\n' '1 10' '2 10' '3 10' '4 10' '5 10' '6 10' '7 10' '8 66' >want # with the blanks before the logit
    same got want
}

@test "output: nothing changes without a vocabulary, and ids and numbers do not with one" {
    sampl --vocab "$V" -s 1 --rows :20 "$AUSTEN" >with
    sampl -n 4096 -s 1 --rows :20 "$AUSTEN" >without
    same with without
    sampl --vocab "$V" -s 1 --rows :20 --dump-probs --trace -O json "$AUSTEN" |
        perl -pe 's/,"token(_\w+)?":"(\\.|[^"\\])*"(,"bytes":\[[\d,]*\])?//g' >with
    sampl -n 4096 -s 1 --rows :20 --dump-probs --trace -O json "$AUSTEN" >without
    same with without
    sampl --vocab "$V" -s 1 --rows :20 --dump-probs -O tsv "$AUSTEN" | cut -f 1-7,9 >with
    sampl -n 4096 -s 1 --rows :20 --dump-probs -O tsv "$AUSTEN" >without
    same with without
    sampl --vocab "$V" -s 1 --rows :20 --dump-probs "$AUSTEN" | sed 's/^\(row.* chosen [0-9]*\) "[^"]*"/\1/; /^row/!s/^\(.\{15\}\) \(text\|"\(\\.\|[^"\\]\)*"\) */\1 /' |
        tr -s ' ' >with
    sampl -n 4096 -s 1 --rows :20 --dump-probs "$AUSTEN" | tr -s ' ' >without
    same with without
    sampl --vocab "$V" -s 1 --rows :1 --dump-probs=1 --trace "$AUSTEN" | grep -qF 'top_k=40             4096 ->       40  0.919451    2.052  304 " was"; 4056 removed: 1354 " brought" (0.001009) '
}

@test "--emit text: the texts of the chosen tokens" {
    sampl --vocab "$V" -s 1 --rows :30 -O json "$AUSTEN" | perl -ne 'print pack "C*", split /,/, $1 if /"bytes":\[([\d,]*)\]/' >want
    [ -s want ]
    sampl -s 1 --rows :30 --emit text "$AUSTEN" --vocab "$V" >got
    same got want
}

@test "-l with a text is -l with the id" {
    printf '%s\n' a '"' 'a+b' '\n' '\x41' '\\n' >v.txt
    local text id
    while read -r text id; do
        sampl -s 1 --vocab v.txt -l "\"$text\"-1.5" --print-chain >got
        sampl -s 1 -l "$id-1.5" --print-chain >want
        same got want
    done <<<'a 0
\" 1
" 1
a+b 2
\n 3
A 4
\\n 5'
    sampl -s 1 -l '"a"+1' -l 3-inf -l '"a"-inf' --vocab v.txt --print-chain | grep -qx 'logit_bias  *on  *0+1 3-inf 0-inf'
    # a normal token before one for a byte
    gguf model=s:llama 'tokens=a:<0x41>,A,<0x42>' token_type=i:6,1,6 >v.gguf
    sampl -s 1 --vocab v.gguf -l '"A"+1' -l '"B"+2' --print-chain | grep -qx 'logit_bias  *on  *1+1 2+2'
}

@test "--print-chain=preset carries over what needs the vocabulary" {
    local args=(--vocab "$V" -s 1 --ignore-eos -l '" was"-3' --dry-multiplier 1 --dry-sequence-breaker ' the' --samplers 'dry;top_k;infill')
    sampl "${args[@]}" --print-chain=preset >flags
    eval "set -- $(<flags) --vocab '$V'"
    sampl "$@" --rows :30 --dump-probs -O tsv "$AUSTEN" >got
    sampl "${args[@]}" --rows :30 --dump-probs -O tsv "$AUSTEN" >want
    same got want
    sampl "$@" --print-chain=preset | cmp - flags
}

# dry ARG...: what DRY leaves of a row of equal logits after a history that repeats itself: the penalised ids.
dry() {
    zeros 8 | sampl -s 1 --samplers dry --dry-multiplier 1 --dry-allowed-length 1 "$@" --dump-probs -O tsv | awk -F'\t' '$4 < 0 { print $3 ":" $4 }' | sort | paste -sd' '
}

@test "dry: texts that break a sequence" {
    printf '%s\n' a b : x: '\n' 'ab' 'bc' c >v.txt
    local h=(--prompt-tokens) none
    none=$(dry "${h[@]}" 0,1,7,0,1 --vocab v.txt --dry-sequence-breaker none)
    [ "$none" = 7:-1.75 ] # after "ab" came c
    [ "$(dry "${h[@]}" 0,1,7,0,1 --vocab v.txt)" = "$none" ]
    # a breaker within the repetition cuts it; the newest tokens after it still count
    [ "$(dry "${h[@]}" 2,1,7,2,1 --vocab v.txt)" = 7:-1 ]
    [ "$(dry "${h[@]}" 3,1,7,3,1 --vocab v.txt)" = 7:-1 ] # x: holds one
    [ "$(dry "${h[@]}" 4,1,7,4,1 --vocab v.txt)" = 7:-1 ]
    [ "$(dry "${h[@]}" 2,1,7,2,1 --vocab v.txt --dry-sequence-breaker '\n')" = 7:-1.75 ]
    [ "$(dry "${h[@]}" 4,1,7,4,1 --vocab v.txt --dry-sequence-breaker '\n')" = 7:-1 ]
    [ "$(dry "${h[@]}" 4,1,7,4,1 --vocab v.txt --dry-sequence-breaker '\x0a')" = 7:-1 ]
    # the newest token breaks: nothing is left to repeat
    [ "$(dry "${h[@]}" 1,2,1,2 --vocab v.txt)" = '' ]
    # a breaker is not penalised
    [ "$(dry "${h[@]}" 1,2,0,1 --vocab v.txt)" = '' ]
    [ "$(dry "${h[@]}" 1,2,0,1 --vocab v.txt --dry-sequence-breaker none)" = 2:-1 ]
    # over two tokens and three: a head and its tail
    [ "$(dry "${h[@]}" 0,1,7,0,1 --vocab v.txt --dry-sequence-breaker ab)" = '' ]
    [ "$(dry "${h[@]}" 0,1,0,7,0,1,0 --vocab v.txt --dry-sequence-breaker ab)" = '1:-1 7:-1' ]
    [ "$(dry "${h[@]}" 5,7,0,7,5,7,0 --vocab v.txt --dry-sequence-breaker abc)" = 7:-1 ]
    [ "$(dry "${h[@]}" 0,6,0,7,0,6,0 --vocab v.txt --dry-sequence-breaker abc)" = '6:-1 7:-1' ]
    # ids and texts together, ids in place of the default texts
    [ "$(dry "${h[@]}" 2,1,7,2,1 --vocab v.txt --dry-breaker-tokens 6)" = 7:-1.75 ]
    [ "$(dry "${h[@]}" 2,1,7,2,1 --vocab v.txt --dry-breaker-tokens 6 --dry-sequence-breaker :)" = 7:-1 ]
}

@test "dry: the space before a text is none of a token's own" {
    for prefix in 0 1; do
        gguf model=s:llama 'tokens=a:a,b,▁,▁▁,c' add_space_prefix=b:$prefix >v$prefix.gguf
    done
    gguf model=s:llama 'tokens=a:a,b,▁,▁▁,c' >v.gguf # SPM's default
    [ "$(dry --prompt-tokens 2,1,4,2,1 --vocab v0.gguf --dry-sequence-breaker ' ')" = 4:-1 ]
    [ "$(dry --prompt-tokens 2,1,4,2,1 --vocab v1.gguf --dry-sequence-breaker ' ')" = 4:-1.75 ]
    [ "$(dry --prompt-tokens 2,1,4,2,1 --vocab v.gguf --dry-sequence-breaker ' ')" = 4:-1.75 ]
    [ "$(dry --prompt-tokens 3,1,4,3,1 --vocab v1.gguf --dry-sequence-breaker ' ')" = 4:-1 ]
    # in JSON
    local vocab='{"vocab":{"a":0,"b":1,"▁":2,"▁▁":3,"c":4}},"decoder":{"type":"Metaspace"}'
    echo '{"a":0,"b":1,"▁":2,"▁▁":3,"c":4}' >1.json
    echo "{\"model\":$vocab,\"pre_tokenizer\":{\"type\":\"Metaspace\"}}" >2.json
    echo "{\"model\":$vocab,\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\"}]}}" >3.json
    echo "{\"model\":$vocab,\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\"}}" >4.json
    echo "{\"model\":$vocab,\"pre_tokenizer\":{\"type\":\"Metaspace\",\"add_prefix_space\":false}}" >5.json
    for i in 1 2 3 4 5; do
        dry --prompt-tokens 2,1,4,2,1 --vocab $i.json --dry-sequence-breaker ' '
    done >got
    printf '4:-%s\n' 1.75 1.75 1.75 1 1 >want
    same got want
}

@test "dry: a long breaker counts with its first 40 bytes" {
    local long=0123456789012345678901234567890123456789
    printf '%s\n' a b "$long" c >v.txt
    [ "$(dry --prompt-tokens 2,1,3,2,1 --vocab v.txt --dry-sequence-breaker "${long}x" 2>/dev/null)" = 3:-1 ]
    [ "$(dry --prompt-tokens 2,1,3,2,1 --vocab v.txt --dry-sequence-breaker "x$long" 2>/dev/null)" = 3:-1.75 ]
}

# infill LOG-PROBABILITIES VOCAB-LINES...: the ids that infill keeps.
infill() {
    local row=$1
    shift
    printf '%s\n' "$@" >v.txt
    echo "{\"probs\":$row}" | sampl -s 1 --vocab v.txt --samplers infill --dump-probs -O tsv | awk -F'\t' 'NR > 1 { print $3 }' | paste -sd' '
}

@test "infill: ends, adds up, keeps" {
    [ "$(infill '[0.6,0.25,0.15]' a b '</s>')" = 2 ] # 3 * 0.15 * 3 > 0.85
    [ "$(infill '[0.6,0.39,0.01]' a b '</s>')" = '0 1 2' ]
    [ "$(infill '[0.7,0.15,0.15,0.001]' x ab a '</s>')" = '0 3' ] # ab goes to a, 0.3 < 1/3
    [ "$(infill '[0.5,0.25,0.25,0.001]' x ab a '</s>')" = '0 2 3' ] # of equal ones the shorter stays
    [ "$(infill '[0.5,0.24,0.26,0.001]' x ab a '</s>')" = '0 2 3' ]
    [ "$(infill '[0.2,0.2,0.2,0.2,0.2]' a ab abc b bc)" = '0 3' ]
    [ "$(infill '[0.15,0.15,0.15,0.15,0.15,0.15,0.1,0]' a b c d e f g '</s>')" = 7 ]
}

# chain ARG...: the parameters in effect with v.gguf.
chain() {
    sampl -s 1 --vocab v.gguf --print-chain=preset "$@"
}

@test "gguf: what it recommends for sampling holds unless an option says otherwise" {
    # -1 as i8, 0.5 as f32, 7 as u64, 1.5 as f64, which is no advice
    gguf model=s:gpt2 tokens=a:a,b,c,d general.sampling.penalty_last_n=x:01000000ff general.sampling.temp=x:060000000000003f \
        general.sampling.top_k=x:0a0000000700000000000000 general.sampling.min_p=x:0c000000000000000000f83f general.sampling.unheard_of=u:1 \
        general.sampling.sequence='s:top_k;temperature' general.sampling.mirostat_tau=x:060000000000003f >v.gguf
    same <(chain) <(sampl -s 1 --print-chain=preset --repeat-last-n -1 --temp 0.5 --top-k 7 --samplers 'top_k;temperature' --mirostat-ent 0.5)
    chain --temp 0.5 --top-k 9 | grep -q -- '--top-k 9'
    chain --sampler-seq km | grep -q -- '--samplers "top_k;min_p"'
    echo '--temp 2 --samplers min_p' >preset
    chain --preset ./preset --min-p 0.5 | grep -q -- '--samplers "min_p" .*--min-p 0.5.*--temp 2 '
    chain --temp 0.8 | grep -q -- '--temp 0.8\b' # the default, but given
    # other engines have defaults of their own
    same <(sampl -s 1 --vocab v.gguf --engine ollama --print-chain) <(sampl -s 1 --engine ollama --print-chain)
    zeros 4 | sampl -s 1 --vocab v.gguf --dump-probs | grep -q 'kept 4/4'
    gguf model=s:gpt2 tokens=a:a,b general.sampling.temp=s:warm >v.gguf
    run -1 sampl -s 1 --vocab v.gguf --print-chain
    [ "$output" = "sampl: --vocab: v.gguf: general.sampling.temp: --temp: 'warm' is not a number" ]
}

@test "gguf: banned tokens are never chosen, beside other biases" {
    gguf model=s:gpt2 'tokens=a:a,b,</s>,d' suppress_tokens=i:1,3,77 >v.gguf
    for args in '' '-l 0-1' '--ignore-eos'; do
        # shellcheck disable=SC2086
        echo '[1,9,3,8]' | sampl -s 1 --vocab v.gguf --samplers '' --temp 1 $args --dump-probs -O tsv | sed 1d | cut -f3 | sort | paste -sd' ' >got
        case $args in *eos) [ "$(<got)" = 0 ] ;; *) [ "$(<got)" = '0 2' ] ;; esac
    done
    sampl -s 1 --vocab v.gguf -l 0-1 --print-chain=preset | grep -v -- '--logit-bias [13]' | grep -q -- '--logit-bias 0-1'
    # a row's own biases leave the ban
    [ "$(echo '{"logits":[1,9,3,8],"params":{"logit_bias":[[2,-5]]}}' | sampl -s 1 --temp 0 --vocab v.gguf)" = 0 ]
}
