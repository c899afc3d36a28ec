#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Presets: where they are found, what they may hold, those that come along, and what other programs' files become.

# Each test is a subshell, and means what it sets to end there.
# shellcheck disable=SC2030,SC2031

load helper

# words FILE: the words of a preset, as the shell splits them, one a line.
words() {
    perl -pe 's/(^|\s)#.*//; s/\\\n/ /' "$1" | xargs printf '%s\n'
}

@test "presets: by name, from the user's folder" {
    mkdir -p config/sampl/presets
    export XDG_CONFIG_HOME=$PWD/config
    echo '--top-k 3 --temp 0.4' >config/sampl/presets/mine.preset
    spelt --preset mine = --top-k 3 --temp 0.4
    spelt --preset=mine = --top-k 3 --temp 0.4
    echo '--top-k 9' >config/sampl/presets/chat.preset # goes before the one that comes along
    spelt --preset chat = --top-k 9
    mkdir -p home/.config/sampl/presets
    echo '--top-k 12' >home/.config/sampl/presets/mine.preset
    XDG_CONFIG_HOME='' HOME=$PWD/home spelt --preset mine = --top-k 12
    (unset XDG_CONFIG_HOME; HOME=$PWD/home spelt --preset mine = --top-k 12)
    for name in none presets/mine ../mine mine.; do
        run -2 --separate-stderr sampl --preset $name --print-chain
        [ -z "$output" ]
    done
}

@test "presets: by path" {
    mkdir folder
    echo '--top-k 3' >folder/any.name
    spelt --preset folder/any.name = --top-k 3
    spelt --preset "$PWD/folder/any.name" = --top-k 3
    spelt --preset <(echo '--top-k 3') = --top-k 3
    cd folder
    spelt --preset any.name = --top-k 3
    run -2 --separate-stderr sampl --preset folder --print-chain
    # a file without an ending needs its folder, so that it comes before no preset
    cp any.name chat
    spelt --preset ./chat = --top-k 3
    spelt --preset chat = --repeat-penalty 1.1 --repeat-last-n 64 --top-k 40 --top-p 0.95 --temp 0.8
    cp any.name own
    run -2 --separate-stderr sampl --preset own --print-chain
    # shellcheck disable=SC2154
    [ "$stderr" = "sampl: --preset: there is no preset 'own'; the file of that name is ./own" ]
    # a name with a dot is one, too
    mkdir -p config/sampl/presets
    echo '--top-k 5' >config/sampl/presets/mistral-0.3.preset
    XDG_CONFIG_HOME=$PWD/config spelt --preset mistral-0.3 = --top-k 5
}

@test "presets: options behind one win, options before it lose" {
    echo '--top-k 3 --temp 0.4' >p
    echo '--temp 0.6 -l 9+1' >q
    spelt --preset ./p --top-k 5 = --top-k 5 --temp 0.4
    spelt --top-k 5 --preset ./p = --top-k 3 --temp 0.4
    spelt --preset ./p --preset ./q = --top-k 3 --temp 0.6 -l 9+1
    spelt --preset ./q --preset ./p = --top-k 3 --temp 0.4 -l 9+1
    spelt -l 4+1 --preset ./q -l 5+1 = --temp 0.6 -l 4+1 -l 9+1 -l 5+1
    sampl -n 4096 -s 2 --rows :5 --dump-probs "$AUSTEN" --preset ./p >a
    sampl --preset ./p -n 4096 -s 2 --rows :5 --dump-probs "$AUSTEN" >b
    sampl -n 4096 -s 2 --rows :5 --dump-probs --top-k 3 --temp 0.4 "$AUSTEN" >c
    same a b
    same a c
}

@test "presets: quotes, comments, and lines that go on" {
    cat >p <<-'END'
		# a preset # of "all kinds
		--samplers "top_k ; temperature"	# behind an option
		--dry-sequence-breaker 'a "b" #c' --dry-sequence-breaker "it's"
		--logit-bias=1'+'2 --dry-sequence-breaker d#e \
		  --temp \
		0.5
		--dry-sequence-breaker 'two
		lines'
		#--top-k 3
	END
    sed -i 's/top_k ; temperature/top_k;temperature/' p
    sampl -s 1 --preset ./p --print-chain=llama >got
    sampl -s 1 --samplers 'top_k;temperature' --dry-sequence-breaker 'a "b" #c' --dry-sequence-breaker "it's" --dry-sequence-breaker d#e \
        -l 1+2 --temp 0.5 --dry-sequence-breaker 'two
lines' --print-chain=llama >want
    same got want
    printf -- '--top-k 3' >p # no newline at the end
    spelt --preset ./p = --top-k 3
    printf -- '--top-k\r\n3\r\n' >p
    spelt --preset ./p = --top-k 3
    : >p
    spelt --preset ./p = --top-k 40
    echo '# nothing' >p
    spelt --preset ./p = --top-k 40
    printf -- '--dry-sequence-breaker "open' >p
    run -2 --separate-stderr sampl --preset ./p --print-chain
    [ -z "$output" ]
}

@test "presets: what makes a recipe, neither files nor other presets in them, and each stands alone" {
    echo '--top-k 3' >other
    for text in '--preset ./other' 'rows.f16' '--top-k 3 rows.f16' '-- rows.f16' '--temp' '-s' '--top-k 3 --nonsense'; do
        echo "$text" >p
        run -2 --separate-stderr sampl --print-chain --preset ./p 0.5
        echo "$text: $output"
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
}

@test "--list-presets: names that --preset takes, with their first line" {
    mkdir -p config/sampl/presets
    export XDG_CONFIG_HOME=$PWD/config
    printf '# what it does\n--top-k 3\n' >config/sampl/presets/zz-mine.preset
    echo '--top-k 4' >config/sampl/presets/aa-plain.preset
    echo '--top-k 5' >config/sampl/presets/other.txt
    sampl --list-presets >list 2>where
    head -2 list >mine # those that come along follow
    printf 'aa-plain\t\nzz-mine\twhat it does\n' | cmp - mine
    cut -f 1 list >names
    while read -r name; do sampl --preset "$name" --print-chain >/dev/null; done <names
    run -0 sampl --list-presets --top-k 3
    head -1 where | cmp - <(echo "sampl: note: presets are looked for in $PWD/config/sampl/presets")
    if [ -d "$(dirname "$SAMPL")/../samples/presets" ]; then # the source tree
        grep -qx chat names
        grep -qF "$ROOT/samples/presets" where
    fi
}

@test "each preset that comes along equals its flags" {
    for file in "$ROOT"/samples/presets/*.preset; do
        words "$file" >flags
        mapfile -t flags <flags
        [ "${#flags[@]}" -ge 1 ]
        sampl -n 4096 -s 8 --prompt-tokens "@$ROOT/samples/austen.prompt" --dump-probs --preset "$file" "$AUSTEN" >preset
        sampl -n 4096 -s 8 --prompt-tokens "@$ROOT/samples/austen.prompt" --dump-probs "${flags[@]}" "$AUSTEN" >want
        same preset want
        run grep -q '^# .' <(head -1 "$file") # --list-presets shows it
        [ "$status" -eq 0 ]
    done
    equal -s 3 --preset "$ROOT/samples/presets/default.preset" = -s 3
    unlike -s 3 --preset "$ROOT/samples/presets/scatter-creative.preset" = -s 3
}

@test "--preset default undoes samplers, their parameters and the engine, and nothing else" {
    default=$ROOT/samples/presets/default.preset
    spelt --samplers 'top_k=3;temperature' --temp 2 --mirostat 2 --scatter-adaptive --min-keep 4 --repeat-penalty 2 --preset "$default" = --top-k 40
    spelt --sampler-seq kt --preset "$default" = --top-k 40
    spelt --engine akunu --temp 0.3 --preset "$default" = --engine llama
    for engine in ollama akunu akunu-gpu batch; do # nothing of it counts as given to an engine
        spelt --top-k 3 --xtc-probability 1 --dry-multiplier 1 --samplers top_k --preset "$default" --engine $engine = --engine $engine
    done
    equal -s 9 -l 304-inf --top-k 2 --preset "$default" = -s 9 -l 304-inf
    args=(-s 9 --dry-multiplier 1 --dry-allowed-length 1 --prompt-tokens 5,404,5,404,5,404,5)
    equal --dry-breaker-tokens 5 --preset "$default" "${args[@]}" = --dry-breaker-tokens 5 "${args[@]}"
    sampl -s 1 --vocab "$ROOT/samples/austen.gguf" --grammar 'root ::= " a"' --ignore-eos --preset "$default" --rows :1 --emit text "$AUSTEN" | cmp - <(printf ' a')
    # what a model recommends holds again
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 >advice.gguf
    effective --vocab advice.gguf --top-k 9 --preset "$default" | grep -qE '^top_k +on +top-k=2( |$)'
}

@test "--neutral: every sampler off, and temperature 1" {
    effective --neutral >chain
    [ "$(tail -n +2 chain | awk '$2 != "off" { print $1 }')" = dist ]
    grep -qE '^temperature +off +temp=1( |$)' chain
    spelt --preset "$ROOT/samples/presets/neutral.preset" = --neutral
    spelt --samplers 'top_k=3' --temp 2 --mirostat 2 --xtc-probability 0.3 --neutral = --neutral
    equal -s 5 --neutral = -s 5 --samplers ''
    equal -s 5 --neutral --min-p 0.1 = -s 5 --samplers min_p --min-p 0.1
    spelt --neutral --neutral=false = --top-k 40
    # an engine stays, and its own defaults do not count
    for engine in ollama akunu akunu-gpu batch; do
        effective --engine $engine --neutral >chain
        spelt --neutral --engine $engine = --engine $engine --neutral
        run ! grep -E ' (top-p|min-p|repeat-penalty|temp)=' <(grep -vE '(top-p=1|min-p=0|repeat-penalty=1|temp=1)( |$)' chain)
    done
    # nor does what a model recommends
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 general.sampling.temp=x:060000000000003f >advice.gguf
    spelt --vocab advice.gguf --neutral = --neutral
    unlike -s 5 --neutral = -s 5
}

@test "a preset is read in one pass, up to 1 MiB" {
    run -2 --separate-stderr sampl --preset /dev/zero --print-chain
    [ "$stderr" = "sampl: --preset: '/dev/zero' is larger than 1048576 bytes" ]
    perl -e 'print "--top-k 3\n" x 104857, "#" x 6' >full.preset # 1048576 bytes
    [ "$(stat -c %s full.preset)" -eq 1048576 ]
    spelt --preset full.preset = --top-k 3
    echo >>full.preset
    run -2 sampl --preset full.preset --print-chain
}
