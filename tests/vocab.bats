#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Vocabularies: their file formats, the texts of their tokens, and the options that use these texts.

# shellcheck disable=SC1003 # the backslashes are meant

load helper

V=$ROOT/samples/austen.gguf

# zeros N: prints a JSON row of N equal logits.
zeros() {
    perl -e 'print "[", join(",", (0) x $ARGV[0]), "]"' "$1"
}

# bytes FILE N: prints the bytes of the first N tokens of a vocabulary, one token a line, as sampl reads them.
bytes() {
    zeros "$2" | sampl --vocab "$1" -s 1 --samplers '' --temp 1 --dump-probs -O json |
        perl -ne 's/.*"top_probs"//; while (/"id":(\d+),"token":"(?:\\.|[^"\\])*","bytes":\[([\d,]*)\]/g) { print pack("C*", split /,/, $2), "\n" }'
}

# has_tokens FILE TEXT...: checks that the tokens of the vocabulary have these texts.
has_tokens() {
    local file=$1
    shift
    printf '%s\n' "$@" >want.tokens
    bytes "$file" $# >got.tokens
    same got.tokens want.tokens
}

# eos_tokens FILE: prints the tokens that --ignore-eos bans.
eos_tokens() {
    sampl -s 1 --vocab "$1" --ignore-eos --print-chain | sed -n 's/^logit_bias *o[nf]* *//p' | sed 's/-inf//g'
}

# refused FILE: checks that the vocabulary is refused with one line and status 1.
refused() {
    local status=0
    sampl -s 1 --vocab "$1" --print-chain >out 2>err || status=$?
    [ "$status" = 1 ] && [ ! -s out ] && mapfile -t lines <err && [ ${#lines[@]} = 1 ] && [[ ${lines[0]} == "sampl: --vocab: $1: "* ]] && return
    echo "$1: status $status"
    cat -v err
    return 1
}

# read_or_refused FILE: checks that the vocabulary is either read without a message or refused with one line and status 1.
read_or_refused() {
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

# refused_if_damaged FILE ENDING: checks that the vocabulary is refused when it is cut off after any byte. Checks that, with any byte
# changed, it is read or refused.
refused_if_damaged() {
    local file
    mkdir cut bad
    perl -e 'local $/; my ($file, $ending, $step, $start) = @ARGV; open my $f, "<", $file or die; my $s = <$f>;
        sub put { open my $f, ">", "$_[0].$ending" or die; print $f $_[1] }
        for my $i (grep { $_ % $step == $start } 0 .. length($s) - 1) {
            put("cut/$i", substr $s, 0, $i) if $i;
            for my $b ("\0", "\1", "\"", "\xff") { my $t = $s; substr($t, $i, 1) = $b; put(sprintf("bad/$i-%02x", ord $b), $t) }
        }' "$1" "$2" "$STEP" "$START"
    for file in cut/*; do
        refused "$file" || return 1
    done
    for file in bad/*; do
        read_or_refused "$file" || return 1
    done
}

# limit_memory: limits the shell to a gigabyte of memory, unless a sanitizer or an emulator needs more.
limit_memory() {
    [ -n "${RUN_ENV-}" ] || nm -D "$SAMPL" | grep -q __asan_ || ulimit -v 1000000
}

# gpt2_spelling: replaces the bytes of standard input by the characters that GPT-2's vocabularies have for them.
gpt2_spelling() {
    perl -ne 'BEGIN { binmode STDOUT, ":utf8"; my $n = 0;
            for (0 .. 255) { $c{chr $_} = chr($_ > 0x20 && $_ < 0x7f || $_ > 0xa0 && $_ != 0xad ? $_ : 256 + $n++) } }
        chomp; s/\\n/\n/g; print join("", map { $c{$_} } split //), "\n"'
}

# austen_files: writes the vocabulary of samples/ as tokenizer.json and austen.txt, without sampl.
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

@test "one vocabulary in four file formats gives the same texts and end tokens" {
    austen_files
    [ "$(wc -l <austen.txt)" -eq 4096 ]
    for file in "$V" "$ROOT/samples/austen-vocab.json" tokenizer.json austen.txt; do
        sampl --vocab "$file" -s 1 --rows :3 --samplers '' --dump-probs -O json "$AUSTEN" >dump
        [ -e first ] || cp dump first
        same dump first
        [ "$(eos_tokens "$file")" = 4095 ]
    done
    grep -q '"id":559,"token":" did","bytes":\[32,100,105,100\],' first
}

@test "a vocabulary whose name ends in .txt is read as text, also with { as its first token" {
    printf '%s\n' '{' '"a"' b >v.txt
    has_tokens v.txt '{' '"a"' b
    cp v.txt v.vocab
    run -1 sampl --vocab v.vocab <<<'[1,2,3]'
    [[ $output == *'not a JSON object'* ]]
}

@test "the tokens of samples/austen.tokens spell samples/austen.txt" {
    zeros 4096 | sampl --vocab "$V" -s 1 --samplers '' --dump-probs -O json |
        perl -e '$_ = <STDIN>; s/.*"top_probs"//; my %t; $t{$1} = pack "C*", split /,/, $2 while /"id":(\d+),"token":"(?:\\.|[^"\\])*","bytes":\[([\d,]*)\]/g;
            local $/; for my $file (@ARGV) { open my $f, "<", $file or die; print map { $t{$_} } split /[\s,]+/, <$f> }' \
            "$ROOT/samples/austen.prompt" "$ROOT/samples/austen.tokens" >text
    perl -0pe 's/\n\[prompt ends here\]\n//; s/\n\z//' "$ROOT/samples/austen.txt" >want
    same text want
}

@test "gguf: GPT-2's characters stand for bytes, other characters become [UNK_BYTE_...]" {
    perl -e 'print join(",", map { chomp; $_ } <STDIN>)' < <(perl -e 'print $_ == 10 ? "\\n" : chr, "\n" for 0 .. 255' | gpt2_spelling) >tokens
    gguf model=s:gpt2 "tokens=a:$(<tokens)" >v.gguf 2>/dev/null || true
    # The comma separates tokens for the function gguf, so that it makes two empty tokens.
    zeros 257 | sampl --vocab v.gguf -s 1 --samplers '' --dump-probs -O json |
        perl -ne 's/.*"top_probs"//; print "$1\n" while /"bytes":\[([\d,]*)\]/g' >got
    perl -e 'print $_ == 44 ? "\n\n" : "$_\n" for 0 .. 255' >want
    same got want
    gguf model=s:gpt2 $'tokens=a:a b,\xc4,Ġ€' >v.gguf
    has_tokens v.gguf 'a[UNK_BYTE_0x20a b]b' $'[UNK_BYTE_0xefbfbd\xc4]' ' [UNK_BYTE_0xe282acĠ€]'
    gguf model=s:gpt2 "tokens=a:$(printf '€%.0s' {1..1000}),b" >v.gguf # each mark holds the whole text; the number of marks is bounded
    [ "$(bytes v.gguf 2 | wc -c)" -lt 60000 ]
}

@test "gguf: the type of a token decides how its text is decoded" {
    gguf model=s:llama 'tokens=a:<unk>,▁a▁,<ctl▁>,<usr▁>,<unused▁>,<0x41>,<0x4g>,b' token_type=i:2,1,3,4,5,6,6,1 >v.gguf
    has_tokens v.gguf '<unk>' ' a ' '<ctl▁>' '<usr▁>' '' A '<0x4g>' b
    gguf model=s:gemma4 'tokens=a:▁a,<0x0a>,Ġ' token_type=i:1,1,1 >v.gguf
    has_tokens v.gguf ' a' '<0x0a>' 'Ġ'
    gguf model=s:t5 'tokens=a:▁a,b' >v.gguf # without types every token is normal
    has_tokens v.gguf ' a' b
    gguf model=s:rwkv 'tokens=a:\x41\t,b' >v.gguf
    has_tokens v.gguf $'A\t' b
    gguf model=s:plamo2 'tokens=a:▁a,<0x41>' token_type=i:1,6 >v.gguf
    has_tokens v.gguf '▁a' A
}

@test "gguf: values of every type before and after the vocabulary are skipped" {
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
        has_tokens $file.gguf a b
        has_tokens <(cat $file.gguf) a b
        head -c -1 $file.gguf >cut.gguf
        refused cut.gguf
    done
}

@test "gguf: bytes after the metadata are ignored" {
    gguf model=s:gpt2 tokens=a:a,b >v.gguf
    has_tokens v.gguf a b
    truncate -s 4G v.gguf
    has_tokens v.gguf a b
    head -c 100000 /dev/urandom >>v.gguf
    has_tokens v.gguf a b
}

@test "gguf: a file that is cut off is refused, a file with a changed byte is read or refused" {
    gguf general.name=s:x model=s:llama 'tokens=a:</s>,▁a,b' 'merges=a:a b' scores=x:09000000060000000100000000000000ffffffff \
        token_type=i:3,1,1 eos_token_id=u:0 add_space_prefix=b:0 >v.gguf
    refused_if_damaged v.gguf gguf
}

@test "a length beyond the end of a gguf or JSON vocabulary is refused without allocating memory for it" {
    for value in 08000000ffffffffffffff7f 0900000008000000ffffffffffffff1f 0900000000000000ffffffffffffffff 090000000c000000ffffffffffffff1f; do
        gguf "a.b=x:$value" >v.gguf
        (limit_memory && refused v.gguf)
    done
    GGUF_PAIRS=9223372036854775807 gguf model=s:gpt2 tokens=a:a >v.gguf
    (limit_memory && refused v.gguf)
    echo '{"a":65535}' >v.json # a small gap between ids is allowed
    (limit_memory && read_or_refused v.json)
    echo '{"a":2147483646}' >v.json
    (limit_memory && refused v.json)
}

@test "--ignore-eos bans the end-of-generation tokens that llama.cpp recognises" {
    gguf model=s:gpt2 'tokens=a:a,<|im_end|>,</s>,<|eom_id|>,<|fim_pad|>,b,c,<|end|>,[e~[,_<EOT>,<|channel|>' eos_token_id=u:5 eom_token_id=u:6 >v.gguf
    [ "$(eos_tokens v.gguf)" = '1 2 3 4 5 6 7 8 9' ]
    gguf model=s:gpt2 'tokens=a:a,<|end|>,<|return|>,<|call|>,</s>' >v.gguf
    [ "$(eos_tokens v.gguf)" = '2 3 4' ]
    gguf model=s:gpt2 'tokens=a:a,<|end|>,<|flush|>,<|calls|>,</s>,<|tool_response>' >v.gguf
    [ "$(eos_tokens v.gguf)" = '2 3 5' ]
    gguf model=s:gpt2 'tokens=a:a,<|end|>,<|return|>,</s>' eot_token_id=u:0 >v.gguf
    [ "$(eos_tokens v.gguf)" = '0 1 2 3' ]
    gguf model=s:gpt2 tokens=a:a,b eos_token_id=u:4294967295 eot_token_id=u:2 fim_sep_token_id=u:1 >v.gguf # ids beyond the vocabulary
    [ "$(eos_tokens v.gguf)" = 1 ]
    gguf model=s:gpt2 tokens=a:a,b,c,d,e,f,g eos_token_id=u:7 eot_token_id=u:9 >v.gguf
    echo '[0,0,0,0,0,0,-0.4,-9,-9,-9]' >wide.json
    run -1 sampl -s 1 --vocab v.gguf --samplers infill wide.json
    [ "$output" = 'sampl: wide.json: row 0: infill is left without text, and the vocabulary has no token to end the turn' ]
    run -0 --separate-stderr sampl -s 1 --vocab v.gguf --ignore-eos --print-chain
    # shellcheck disable=SC2154 # run sets it
    [ "$stderr" = "sampl: warning: --ignore-eos: the vocabulary has no end-of-generation token" ]
    # An end token is chosen without --ignore-eos only.
    gguf model=s:gpt2 'tokens=a:a,</s>,b' >v.gguf
    [ "$(echo '[1,9,2]' | sampl -s 1 --temp 0 --vocab v.gguf)" = 1 ]
    [ "$(echo '[1,9,2]' | sampl -s 1 --temp 0 --vocab v.gguf --ignore-eos)" = 2 ]
}

@test "tokenizer.json: a byte order mark is skipped" {
    printf '\xef\xbb\xbf{"model":{"vocab":{"a":0}}}' >t.json
    has_tokens t.json a
}

@test "tokenizer.json: a file that is cut off is refused, a file with a changed byte is read or refused" {
    printf '{"added_tokens":[{"id":2,"content":"</s>","special":true}],"model":{"type":"BPE","vocab":{"Ġa":0,"b":1}},"decoder":{"type":"ByteLevel"}}' >v.json
    refused_if_damaged v.json json
}

@test "a text that begins like JSON needs a name that ends in .txt" {
    printf '{\n"\n' >v # read as JSON because of its first character
    refused v
    mv v v.txt # read as text because of its name
    has_tokens v.txt '{' '"'
    printf '{\na\n' >v.txt
    has_tokens v.txt '{' a
}

@test "raw rows are as wide as the vocabulary, unless -n gives their width" {
    printf '%s\n' a b c >v.txt
    f32 1 2 3 3 2 1 >x.f32
    [ "$(sampl -s 1 --temp 0 --vocab v.txt x.f32 | paste -sd' ')" = '2 0' ]
    [ "$(sampl -s 1 --temp 0 --vocab v.txt -n 6 x.f32)" = 2 ]
}

@test "--dump-probs: columns are aligned for wide and combining characters" {
    printf '%s\n' a 漢字 $'e\xcc\x81' 😀 ｱ 한 Ａ "$(printf 'x%.0s' {1..60})" >v.txt
    zeros 8 | sampl --vocab v.txt -s 1 --samplers '' --temp 1 --dump-probs >dump
    # the width of each text with its padding
    perl -CSD -ne 'next unless /^[> ] *(\d+) +\d+ (".*"(?:\.\.\.)? *) 0\.0000 /;
        my ($rank, $text) = ($1, $2);
        my $wide = () = $text =~ /[漢字😀한Ａ]/g;
        my $none = () = $text =~ /\x{301}/g;
        print $rank, " ", length($text) + $wide - $none, "\n"' -Mutf8 dump >got
    printf '%s\n' '1 24' '2 24' '3 24' '4 24' '5 24' '6 24' '7 24' '8 24' >want # with the blanks before the logit; a long text is cut
    same got want
}

@test "--vocab adds texts to the output and changes no id and no number" {
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
    sampl --vocab "$V" -s 1 --rows :1 --dump-probs=1 --trace "$AUSTEN" | grep -qF 'top_k=40            4096 ->      40 0.9195   2.052  304 " was"'
}

@test "--emit text prints the texts of the chosen tokens" {
    sampl --vocab "$V" -s 1 --rows :30 -O json "$AUSTEN" | perl -ne 'print pack "C*", split /,/, $1 if /"bytes":\[([\d,]*)\]/' >want
    [ -s want ]
    sampl -s 1 --rows :30 --emit text "$AUSTEN" --vocab "$V" >got
    same got want
}

@test "-l with a text prefers a normal token over a byte token of the same text" {
    gguf model=s:llama 'tokens=a:<0x41>,A,<0x42>' token_type=i:6,1,6 >v.gguf
    sampl -s 1 --vocab v.gguf -l '"A"+1' -l '"B"+2' --print-chain | grep -qx 'logit_bias  *on  *1+1 2+2'
}

@test "--print-chain=preset prints biases and breakers that the vocabulary resolves" {
    local args=(--vocab "$V" -s 1 --ignore-eos -l '" was"-3' --dry-multiplier 1 --dry-sequence-breaker ' the' --samplers 'dry;top_k;infill')
    sampl "${args[@]}" --print-chain=preset >flags
    eval "set -- $(<flags) --vocab '$V'"
    sampl "$@" --rows :30 --dump-probs -O tsv "$AUSTEN" >got
    sampl "${args[@]}" --rows :30 --dump-probs -O tsv "$AUSTEN" >want
    same got want
    sampl "$@" --print-chain=preset | cmp - flags
}

# dry OPTION...: applies DRY to a row of equal logits. Prints each penalised token as ID:LOGIT.
dry() {
    zeros 8 | sampl -s 1 --samplers dry --dry-multiplier 1 --dry-allowed-length 1 "$@" --dump-probs -O tsv | awk -F'\t' '$4 < 0 { print $3 ":" $4 }' | sort | paste -sd' '
}

@test "dry: the space that the tokenizer adds before a text is not part of the token" {
    for prefix in 0 1; do
        gguf model=s:llama 'tokens=a:a,b,▁,▁▁,c' add_space_prefix=b:$prefix >v$prefix.gguf
    done
    gguf model=s:llama 'tokens=a:a,b,▁,▁▁,c' >v.gguf # SPM's default
    [ "$(dry --prompt-tokens 2,1,4,2,1 --vocab v0.gguf --dry-sequence-breaker ' ')" = 4:-1 ]
    [ "$(dry --prompt-tokens 2,1,4,2,1 --vocab v1.gguf --dry-sequence-breaker ' ')" = 4:-1.75 ]
    [ "$(dry --prompt-tokens 2,1,4,2,1 --vocab v.gguf --dry-sequence-breaker ' ')" = 4:-1.75 ]
    [ "$(dry --prompt-tokens 3,1,4,3,1 --vocab v1.gguf --dry-sequence-breaker ' ')" = 4:-1 ]
}

@test "dry: a breaker is cut to its first 40 bytes" {
    local long=0123456789012345678901234567890123456789
    printf '%s\n' a b "$long" c >v.txt
    [ "$(dry --prompt-tokens 2,1,3,2,1 --vocab v.txt --dry-sequence-breaker "${long}x" 2>/dev/null)" = 3:-1 ]
    [ "$(dry --prompt-tokens 2,1,3,2,1 --vocab v.txt --dry-sequence-breaker "x$long" 2>/dev/null)" = 3:-1.75 ]
}

# chain OPTION...: prints the chain with the vocabulary v.gguf as a preset.
chain() {
    sampl -s 1 --vocab v.gguf --print-chain=preset "$@"
}

@test "gguf: sampling parameters of the model are defaults that options override" {
    # -1 as i8, which is off; 0.5 as f32, 7 as u64, 1.5 as f64
    gguf model=s:gpt2 tokens=a:a,b,c,d general.sampling.penalty_last_n=x:01000000ff general.sampling.temp=x:060000000000003f \
        general.sampling.top_k=x:0a0000000700000000000000 general.sampling.min_p=x:0c000000000000000000f83f general.sampling.unheard_of=u:1 \
        general.sampling.sequence='s:top_k;temperature' general.sampling.mirostat_tau=x:060000000000003f >v.gguf
    same <(chain) <(sampl -s 1 --print-chain=preset --repeat-last-n 0 --temp 0.5 --top-k 7 --min-p 1.5 --samplers 'top_k;temperature' \
        --mirostat-ent 0.5)
    chain --temp 0.5 --top-k 9 | grep -q -- '--top-k 9'
    # A recommended chain beats --sampler-seq, not --samplers.
    chain --sampler-seq km | grep -q -- '--samplers "top_k;temperature"'
    chain --samplers 'top_k;min_p' | grep -q -- '--samplers "top_k;min_p"'
    chain --samplers min_p --sampler-seq km | grep -q -- '--samplers "top_k;min_p"'
    echo '--temp 2 --samplers min_p' >preset
    chain --preset ./preset --min-p 0.5 | grep -q -- '--samplers "min_p" .*--min-p 0.5.*--temp 2 '
    chain --temp 0.8 | grep -q -- '--temp 0.8\b' # the default value, given as an option
    # Other engines ignore the model's parameters.
    same <(sampl -s 1 --vocab v.gguf --engine ollama --print-chain) <(sampl -s 1 --engine ollama --print-chain)
    zeros 4 | sampl -s 1 --vocab v.gguf --dump-probs | grep -q 'kept 4/4'
}

@test "gguf: recommendations are read as text, as llama.cpp does; those that cannot be read are left out" {
    local top_p=general.sampling.top_p
    # 0.9999999 as f32 and f64 has six decimals; a text may go on behind its number; 2^32 + 3 has 32 bits
    gguf model=s:gpt2 tokens=a:a,b "$top_p=x:06000000feff7f3f" general.sampling.min_p=x:0c0000007a36ab3e57fbef3f general.sampling.temp='s:0.7, warm' \
        general.sampling.top_k=x:0a0000000300000001000000 general.sampling.sequence=s: >v.gguf
    same <(chain) <(sampl -s 1 --print-chain=preset --top-p 1 --min-p 0.999431 --temp 0.7 --top-k 3)
    chain --sampler-seq km | grep -q -- '--samplers "top_k;min_p"' # an empty sequence recommends nothing
    # Warnings: a word, a bool, an array and values out of range
    gguf model=s:gpt2 tokens=a:a,b general.sampling.temp=s:warm general.sampling.top_k=x:0700000001 "$top_p=x:09000000040000000000000000000000" \
        general.sampling.penalty_repeat=s:0 general.sampling.mirostat=u:3 general.sampling.xtc_threshold=s:inf \
        general.sampling.sequence='s:Top-K;greedy;top_k=3;;TEMP;typical' >v.gguf
    sampl -s 1 --vocab v.gguf --print-chain=preset >got 2>err
    same got <(sampl -s 1 --print-chain=preset --samplers 'top_k;temperature')
    sed 's/^sampl: warning: --vocab: v.gguf: left out: general.sampling.//' err >said
    same said - <<'END'
temp: 'warm' is not a number
top_k: 'true' is not a number
top_p: '' is not a number
penalty_repeat: --repeat-penalty: '0' is out of range, from 2.93874e-39 up
mirostat: --mirostat: '3' is not a whole number from 0 to 2
xtc_threshold: --xtc-threshold: 'inf' is not finite
sequence: unknown sampler 'greedy'
sequence: unknown sampler 'top_k=3'
sequence: unknown sampler ''
sequence: unknown sampler 'typical'
END
    sampl -s 1 --vocab v.gguf --vs 'x: --top-k 2' --samplers top_k --temp 0.5 <<<'[1,2]' 2>err >/dev/null # once for both variants
    [ "$(grep -c 'left out' err)" = 5 ]
    gguf model=s:gpt2 tokens=a:a general.sampling.sequence="s:top_k;$(printf %0600d 0)" >v.gguf
    chain 2>err | grep -q -- '--samplers "top_k"'
    grep -q "unknown sampler '0000" err
}

@test "gguf: suppress_tokens are banned in addition to other biases" {
    gguf model=s:gpt2 'tokens=a:a,b,</s>,d' suppress_tokens=i:1,3,77 >v.gguf
    for args in '' '-l 0-1' '--ignore-eos'; do
        # shellcheck disable=SC2086
        echo '[1,9,3,8]' | sampl -s 1 --vocab v.gguf --samplers '' --temp 1 $args --dump-probs -O tsv | sed 1d | cut -f3 | sort | paste -sd' ' >got
        case $args in *eos) [ "$(<got)" = 0 ] ;; *) [ "$(<got)" = '0 2' ] ;; esac
    done
    sampl -s 1 --vocab v.gguf -l 0-1 --print-chain=preset | grep -v -- '--logit-bias [13]' | grep -q -- '--logit-bias 0-1'
    # A row's biases do not end the ban.
    [ "$(echo '{"logits":[1,9,3,8],"params":{"logit_bias":[[2,-5]]}}' | sampl -s 1 --temp 0 --vocab v.gguf)" = 0 ]
}

@test "a vocabulary with half as many tokens as a row is noted, a larger one is not" {
    local n
    head -c 32768 /dev/zero >rows.f32
    for n in 4096 4097; do
        seq "$n" >vocab.txt
        sampl -s 1 -n 8192 --vocab vocab.txt rows.f32 >/dev/null 2>"note$n"
    done
    [ "$(cat note4096)" = 'sampl: note: --vocab: rows have 8192 tokens, the vocabulary has 4096; do they belong together?' ]
    [ ! -s note4097 ]
}

# tests/cases/tokens.jsonl has the tokens of llama.cpp v0.5.0.
@test "a bias by text and a tag get the tokens of llama.cpp's tokenizer, by scores and by merges" {
    need python3
    /usr/bin/python3 "$ROOT/tests/text_tokens.py" "$SAMPL" "$ROOT/samples/austen.gguf" "$ROOT/tests/cases/tokens.jsonl" "$STEP" "$START"
}
