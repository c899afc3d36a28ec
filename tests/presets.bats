#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Presets: where sampl looks for them, their contents, the presets of samples/, and presets of other programs.

# Each test is a subshell; its variables end with it.
# shellcheck disable=SC2030,SC2031
# Backslashes belong to JSON and to breakers.
# shellcheck disable=SC1003,SC2028

# shellcheck disable=SC2154 # stderr_lines is set by run

load helper

# words FILE: prints the words of a preset as the shell splits them, one a line.
words() {
    perl -pe 's/(^|\s)#.*//; s/\\\n/ /' "$1" | xargs printf '%s\n'
}

@test "--preset NAME reads the preset from the user's folder" {
    mkdir -p config/sampl/presets
    export XDG_CONFIG_HOME=$PWD/config
    echo '--top-k 3 --temp 0.4' >config/sampl/presets/mine.preset
    same_chain --preset mine = --top-k 3 --temp 0.4
    same_chain --preset=mine = --top-k 3 --temp 0.4
    echo '--top-k 9' >config/sampl/presets/chat.preset # overrides the preset chat of samples/
    same_chain --preset chat = --top-k 9
    mkdir -p home/.config/sampl/presets
    echo '--top-k 12' >home/.config/sampl/presets/mine.preset
    XDG_CONFIG_HOME='' HOME=$PWD/home same_chain --preset mine = --top-k 12
    (unset XDG_CONFIG_HOME; HOME=$PWD/home same_chain --preset mine = --top-k 12)
    for name in none presets/mine ../mine mine.; do
        run -2 --separate-stderr sampl --preset $name --print-chain
        [ -z "$output" ]
    done
}

@test "--preset PATH reads the file" {
    mkdir folder
    echo '--top-k 3' >folder/any.name
    same_chain --preset folder/any.name = --top-k 3
    same_chain --preset "$PWD/folder/any.name" = --top-k 3
    same_chain --preset <(echo '--top-k 3') = --top-k 3
    cd folder
    same_chain --preset any.name = --top-k 3
    # A file without an ending needs its folder, as its name alone is a preset's name.
    cp any.name chat
    same_chain --preset ./chat = --top-k 3
    same_chain --preset chat = --neutral --samplers "penalties;top_k;top_p;temperature" --repeat-penalty 1.1 --top-k 40 --top-p 0.95 --temp 0.8
    cp any.name own
    run -2 --separate-stderr sampl --preset own --print-chain
    # shellcheck disable=SC2154
    [ "$stderr" = "sampl: --preset: there is no preset 'own'; the file of that name is ./own" ]
    # A preset's name may have a dot.
    mkdir -p config/sampl/presets
    echo '--top-k 5' >config/sampl/presets/mistral-0.3.preset
    XDG_CONFIG_HOME=$PWD/config same_chain --preset mistral-0.3 = --top-k 5
}

@test "a preset may have quotes, comments and continued lines" {
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
    sampl -s 1 --preset ./p --print-chain=preset >got
    sampl -s 1 --samplers 'top_k;temperature' --dry-sequence-breaker 'a "b" #c' --dry-sequence-breaker "it's" --dry-sequence-breaker d#e \
        -l 1+2 --temp 0.5 --dry-sequence-breaker 'two
lines' --print-chain=preset >want
    same got want
    printf -- '--top-k 3' >p # no newline at the end
    same_chain --preset ./p = --top-k 3
    printf -- '--top-k\r\n3\r\n' >p
    same_chain --preset ./p = --top-k 3
    : >p
    same_chain --preset ./p = --top-k 40
    echo '# nothing' >p
    same_chain --preset ./p = --top-k 40
    printf '%s\n' "--dry-sequence-breaker a\$'\\'b \\x1b\\\\n'\$c" >p
    same_chain --preset ./p = --dry-sequence-breaker $'a\'b \x1b\\n$c'
    for open in "\$'" "\$'\\'" "\$'\\"; do
        printf -- '--dry-sequence-breaker %s' "$open" >p
        run -2 --separate-stderr sampl --preset ./p --print-chain
        [ "$stderr" = 'sampl: --preset: ./p: a quote is not closed' ]
    done
    printf -- '--dry-sequence-breaker "open' >p
    run -2 --separate-stderr sampl --preset ./p --print-chain
    [ -z "$output" ]
}

@test "a preset with another preset, an input file, or an option without its value is refused" {
    echo '--top-k 3' >other
    for text in '--preset ./other' 'rows.f16' '--top-k 3 rows.f16' '-- rows.f16' '--temp' '-s' '--top-k 3 --nonsense'; do
        echo "$text" >p
        run -2 --separate-stderr sampl --print-chain --preset ./p 0.5
        echo "$text: $output"
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
}

@test "--list-presets prints the names that --preset accepts, each with the first line of its file" {
    mkdir -p config/sampl/presets
    export XDG_CONFIG_HOME=$PWD/config
    printf '# what it does\n--top-k 3\n' >config/sampl/presets/zz-mine.preset
    echo '--top-k 4' >config/sampl/presets/aa-plain.preset
    echo '--top-k 5' >config/sampl/presets/other.txt
    sampl --list-presets >list 2>where
    head -3 list >mine # the presets of samples/ follow
    printf 'aa-plain\t\nother.txt\t\nzz-mine\twhat it does\n' | cmp - mine
    cut -f 1 list >names
    while read -r name; do sampl --preset "$name" --print-chain >/dev/null; done <names
    run -0 sampl --list-presets --top-k 3
    head -1 where | cmp - <(echo "sampl: note: presets are looked for in $PWD/config/sampl/presets")
    if [ -d "$(dirname "$SAMPL")/../samples/presets" ]; then # the source tree
        grep -qx chat names
        # A preset of the user hides the preset of samples/ with its name.
        printf '# my own\n--top-k 3\n' >config/sampl/presets/chat.preset
        [ "$(sampl --list-presets 2>where | grep -P '^chat\t')" = $'chat\tmy own' ]
        grep -qF "$(cd "$ROOT" && pwd -P)/samples/presets" where
    fi
}

@test "--list-presets replaces control characters in names and first lines" {
    mkdir -p config/sampl/presets
    printf '# about \e[31m \302\233 é \377\n--temp 1\n' >config/sampl/presets/$'a\eb'.preset
    XDG_CONFIG_HOME=$PWD/config sampl --list-presets 2>/dev/null >got
    grep -qxF $'a?b\tabout ?[31m ? é ?' got
}

@test "each preset of samples/ gives the dump of its options" {
    for file in "$ROOT"/samples/presets/*.preset; do
        words "$file" >flags
        mapfile -t flags <flags
        [ "${#flags[@]}" -ge 1 ]
        sampl -n 4096 -s 8 --prompt-tokens "@$ROOT/samples/austen.prompt" --rows :64 --dump-probs --vocab "$ROOT/samples/austen-vocab.json" --preset "$file" "$AUSTEN" >preset
        sampl -n 4096 -s 8 --prompt-tokens "@$ROOT/samples/austen.prompt" --rows :64 --dump-probs --vocab "$ROOT/samples/austen-vocab.json" "${flags[@]}" "$AUSTEN" >want
        same preset want
        run grep -q '^# .' <(head -1 "$file") # --list-presets shows it
        [ "$status" -eq 0 ]
    done
    same_dump -s 3 --preset "$ROOT/samples/presets/default.preset" = -s 3
    other_dump -s 3 --preset "$ROOT/samples/presets/scatter-creative.preset" = -s 3
}

@test "--preset default restores the sampling parameters of the model" {
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 >advice.gguf
    print_values --vocab advice.gguf --top-k 9 --preset "$ROOT/samples/presets/default.preset" |
        grep -qE '^top_k +on +top-k=2( |$)'
}

@test "--neutral gives the dump of a chain without samplers, also with a model's sampling parameters" {
    same_dump -s 5 --neutral = -s 5 --samplers ''
    same_dump -s 5 --neutral --min-p 0.1 = -s 5 --samplers min_p --min-p 0.1
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 general.sampling.temp=x:060000000000003f >advice.gguf
    same_chain --vocab advice.gguf --neutral = --neutral
    other_dump -s 5 --neutral = -s 5
}

@test "a preset may have 1 MiB and no more" {
    perl -e 'print "--top-k 3\n" x 104857, "#" x 6' >full.preset # 1048576 bytes
    [ "$(stat -c %s full.preset)" -eq 1048576 ]
    same_chain --preset full.preset = --top-k 3
    echo >>full.preset
    run -2 sampl --preset full.preset --print-chain
}

# means FILE OPTION...: writes standard input to the file, a preset of another program. Checks that it means --neutral and these options.
means() {
    cat >"$1"
    same_chain --preset "./$1" = --neutral "${@:2}"
}

# refused FILE TEXT: writes standard input to the file, a preset of another program. Checks that it is refused because of TEXT, and that
# --lenient leaves this out with a warning.
refused() {
    cat >"$1"
    run -2 --separate-stderr sampl --preset "./$1" --print-chain
    [ "$stderr" = "sampl: --preset: ./$1: sampl has no option for $2; --lenient leaves that out" ] || { echo "$stderr"; return 1; }
    run -0 --separate-stderr sampl --preset "./$1" --print-chain --lenient
    [ "${stderr_lines[-1]}" = "sampl: warning: --preset: ./$1: left out, because sampl has no option for it: $2" ]
}

@test "a preset of text-generation-webui means its samplers, order and parameters" {
    local first='penalties;dry;top_n_sigma;temperature;top_k;top_p;typ_p;min_p;xtc' rest=(--repeat-last-n 1024 --dry-penalty-last-n 1024)
    printf 'temperature: 1.31\ntop_p: 0.14\nrepetition_penalty: 1.17\ntop_k: 49 # best\n' |
        means simple.yaml --samplers "$first" --temp 1.31 --top-p 0.14 --repeat-penalty 1.17 --top-k 49 "${rest[@]}"
    cat <<-'END' | means order.yaml --samplers 'temperature;penalties;dry;top_k;min_p' --temp 1.5 --dynatemp-range 0.5 --min-p 0.05 \
        --repeat-last-n -1 --dry-penalty-last-n -1 --dry-multiplier 0.8 --dry-sequence-breaker '\n' --dry-sequence-breaker '"' --dry-sequence-breaker '*'
		# of the author
		temperature: 0.7
		dynamic_temperature: true
		dynatemp_low: 1
		dynatemp_high: 2.0
		repetition_penalty_range: 0
		min_p: .05
		dry_multiplier: 0.8
		dry_sequence_breakers: '"\n", "\"", "*"'
		sampler_priority: 'temperature

		  dynamic_temperature

		  repetition_penalty

		  presence_penalty

		  dry

		  top_k

		  min_p'
	END
    cat <<-'END' | means list.yaml --samplers 'top_k;typ_p;temperature' --top-k 5 --typical 0.9 --temp 0.5 "${rest[@]}"
		---
		sampler_priority:
		- top_k
		- typical_p
		- temperature
		top_k: 5
		typical_p: 0.9
		temperature: 0.5
		grammar_string: ''
		mirostat_mode: 0
	END
    cat <<-'END' | means block.yaml --samplers 'min_p;temperature' --min-p 0.2 "${rest[@]}"
		sampler_priority: |-
		  min_p
		  temperature
		min_p: 0.2
	END
    printf 'sampler_priority: skew, top_k, skew\nskew: 0.5\ntop_k: 5\n' | means twice.yaml --samplers 'skew;top_k' --skew 0.5 --top-k 5 "${rest[@]}"
    printf 'sampler_priority: "min_p\\n\\\n \ttempera\\\n  ture"\nmin_p: 0.2\n' |
        means joined.yaml --samplers 'min_p;temperature' --min-p 0.2 "${rest[@]}"
    printf 'temperature_last: true\nmin_p: 0.1\n' |
        means last.yaml --samplers 'penalties;dry;top_n_sigma;top_k;top_p;typ_p;min_p;xtc;temperature' --min-p 0.1 "${rest[@]}"
    printf 'do_sample: false\nrepetition_penalty: 1.2\n' |
        means greedy.yaml --samplers 'penalties;dry;temperature' --temp 0 --repeat-penalty 1.2 "${rest[@]}"
    printf 'custom_token_bans: 5, 7\n' | means bans.yaml --samplers "$first" -l 5-inf -l 7-inf "${rest[@]}"
    printf 'repetition_penalty_range: 512.0\n' | means point.yaml --samplers "$first" --repeat-last-n 512 --dry-penalty-last-n 512
    local key
    for key in 'repetition_penalty_range: true' 'repetition_penalty_range: x' 'epsilon_cutoff: x'; do
        echo "$key" >no-number.yaml
        run -2 sampl --preset ./no-number.yaml --print-chain
        [ "$output" = "sampl: --preset: ./no-number.yaml: ${key%%:*} is not a number" ] || { echo "$key: $output"; return 1; }
    done
    printf 'guidance_scale: 2\ntemperature: 1\n' | refused lacking.yaml 'guidance_scale (2)'
}

@test "of many presets of SillyTavern as variants, each gets at most one note" {
    local vs=() list i tfs
    for i in $(seq 35); do
        list='["top_k", "tfs_z", "typical_p", "top_p", "min_p", "temperature"]'
        [ $((i % 3)) -ne 0 ] || list='["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature", "adaptive_p"]'
        tfs=$((i % 4 ? 10 : 9))e-1
        cat >"silly$i.json" <<-END
			{"temp": 1.$i, "top_k": $((i + 20)), "typical_p": 1, "min_p": 0, "rep_pen": 1.1, "rep_pen_range": 512, "rep_pen_slope": 1,
			 "tfs": $tfs, "top_a": 0.$((i % 2)), "epsilon_cutoff": $((i % 5)), "eta_cutoff": $((i % 3)), "skew": 0,
			 "smoothing_factor": $((i % 2)), "smoothing_curve": 1, "no_repeat_ngram_size": $((i % 3)), "encoder_rep_pen": 1.$((i % 2)),
			 "xtc_probability": 0, "xtc_threshold": 0.1, "adaptive_target": -0.01, "adaptive_decay": 0.9, "samplers": $list}
		END
        vs+=(--vs "./silly$i.json")
    done
    sampl -n 4096 -s 1 --rows :2 "${vs[@]}" "$AUSTEN" 2>notes >/dev/null
    grep -o 'silly[0-9]*\.json: .*' notes | cut -d : -f 1 | sort >named
    [ "$(uniq named | wc -l)" -ge 30 ]
    [ -z "$(uniq -d named)" ]
    [ "$(grep -cv 'silly' notes)" -le 1 ] # what holds for all chains
}

@test "an Ollama Modelfile means its parameters" {
    cat >Modelfile <<-'END'
		# a model
		FROM llama3.2
		parameter temperature 0.3
		PARAMETER top_k 20
		PARAMETER stop "<|eot|>"
		PARAMETER stop <|end|>
		PARAMETER num_ctx 4096
		PARAMETER seed 42
		SYSTEM """You are
		PARAMETER temperature 9
		"""
		TEMPLATE "{{ .Prompt }}"
	END
    same_chain --preset ./Modelfile = --neutral --temp 0.3 --top-k 20 --top-p 0.9 --seed 42
    for engine in ollama vllm batch; do
        same_chain --preset ./Modelfile --engine $engine = --engine $engine --temp 0.3 --top-k 20 --seed 42
        same_chain --engine $engine --preset ./Modelfile = --engine $engine --temp 0.3 --top-k 20 --seed 42
    done
    same_chain --engine llama --preset ./Modelfile = --neutral --top-p 0.9 --temp 0.3 --top-k 20 --seed 42
    printf 'FROM x\nPARAMETER repeat_penalty 1.1\n' >penalty.Modelfile
    sampl -n 4096 -s 3 --engine ollama --preset ./penalty.Modelfile "$AUSTEN" >got 2>notes
    sampl -n 4096 -s 3 --engine ollama "$AUSTEN" | cmp - got
    run -1 grep -q 'Ollama before' notes
    sampl -n 4096 -s 3 --rows :9 --preset ./penalty.Modelfile "$AUSTEN" >got 2>said
    grep -qx 'sampl: note: --preset: ./penalty.Modelfile: Ollama before 0.30 .*' said
    sampl -n 4096 -s 3 --rows :9 --neutral --repeat-penalty 1.1 --top-k 40 --top-p 0.9 --temp 0.8 "$AUSTEN" | cmp - got
    sampl -n 4096 -s 3 --vs '--engine ollama --preset ./penalty.Modelfile' --sweep top-k=3,5,7 "$AUSTEN" 2>vs >/dev/null
    grep -qx 'sampl: note: --preset: ./penalty.Modelfile: engine ollama has no stage for --repeat-penalty, which it ignores' notes
    [ "$(grep -c repeat-penalty vs)" -eq 1 ]
    printf 'FROM x\nPARAMETER wit 3\n' >unknown.Modelfile
    run -0 --separate-stderr sampl --preset ./unknown.Modelfile --print-chain
    [ "${stderr_lines[1]}" = 'sampl: note: --preset: ./unknown.Modelfile: Ollama before 0.30 sampled by itself: --engine ollama; keys that Ollama does not know: wit' ]
}

@test "a request with a bias for a text needs --vocab, given before or after the preset" {
    echo '{"n_predict": 1, "prompt": "x", "logit_bias": {" the": 2}}' | refused text.json 'logit_bias ({" the":2})'
    printf '%s\n' ' the' 'a"\\' b >words
    for order in '--vocab words --preset ./text.json' '--preset ./text.json --vocab=words'; do
        # shellcheck disable=SC2086 # words
        same_chain $order = --preset <(sed 's/" the"/"0"/' text.json) --vocab words
    done
    echo '{"n_predict": 1, "logit_bias": [["a\"\\", -1.5], ["b", false], [0, 1]]}' >texts.json
    same_chain --preset texts.json --vocab words = -l 1-1.5 -l 2-inf -l 0+1 --vocab words
    run -2 sampl --preset text.json --print-chain --vocab <(echo x)
    [ "${lines[-1]}" = "sampl: --logit-bias: no tokens of the vocabulary spell ' the'" ]
}

@test "llama.cpp's config.ini: FILE:SECTION selects a section, also of a file with a colon in its name" {
    printf '[org/m.gguf:Q8_0]\ntop-p = 0.1\n[*]\ntop-p = 0.9\ntop-k = 3\n' >a.ini:org
    same_chain --preset a.ini:org = --top-p 0.9 --top-k 3
    printf '[*]\nsamplers = \t temperature \t\ntop-k=  4\n' >blanks.ini
    same_chain --preset blanks.ini = --samplers temperature --top-k 4
    printf 'grammar-file = g.gbnf\n' | refused file.ini 'grammar-file ("g.gbnf")'
}

@test "a preset of another program may begin with a byte order mark, and overrides the model's parameters" {
    printf '\357\273\277{"num_ctx": 1, "top_k": 3}' | means mark.json --temp 0.8 --top-k 3 --top-p 0.9
    # The sampling parameters of the model have no effect.
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 general.sampling.sequence=s:top_k >advice.gguf
    same_chain --vocab advice.gguf --preset mark.json = --preset mark.json
}

@test "the presets of samples/presets are a part of the program; a file of that name counts more" {
    cp "$SAMPL" alone
    ./alone --list-presets 2>/dev/null >got
    (cd "$ROOT/samples/presets" && for file in *.preset; do printf '%s\t%s\n' "${file%.preset}" "$(sed -n '1s/^# //p' "$file")"; done) >want
    cmp got want
    while read -r name; do
        ./alone -s 1 --preset "$name" --print-chain=preset >of_name
        ./alone -s 1 --preset "$ROOT/samples/presets/$name.preset" --print-chain=preset >of_file
        cmp of_name of_file
    done < <(cut -f 1 want)
    mkdir -p config/sampl/presets
    echo '--top-k 3' >config/sampl/presets/chat.preset
    XDG_CONFIG_HOME=$PWD/config ./alone -s 1 --preset chat --print-chain | grep -qF 'top-k=3'
}

@test "a preset of the user's directory may have any ending, and a path makes a variant with the file's name" {
    mkdir -p config/sampl/presets other
    export XDG_CONFIG_HOME=$PWD/config
    echo '{"temp":0.5,"rep_pen":1.1,"typical_p":1}' >config/sampl/presets/tavern.json
    cp config/sampl/presets/tavern.json other/
    cp config/sampl/presets/tavern.json config/sampl/presets/min-p.json
    sampl --preset config/sampl/presets/tavern.json --print-chain=preset >want
    sampl --preset tavern --print-chain=preset | cmp - want
    sampl --preset tavern.json --print-chain=preset | cmp - want
    sampl --preset min-p --print-chain=preset | cmp - want # the user's own wins
    echo '--temp 3' >config/sampl/presets/tavern.preset
    sampl --preset tavern --print-chain | grep -q 'temp=3'
    sampl --list-presets 2>/dev/null | cut -f 1 | grep -qx tavern.json
    sampl -s 1 --vs other/tavern.json --emit stats -O json <<<'[1,2]' | jq -r .variant | tail -n 1 | grep -qx tavern.json
    sampl -s 1 --vs other/tavern.json --vs "$PWD/config/sampl/presets/tavern.json" --emit stats -O json <<<'[1,2]' | jq -r .variant | sed -n 2p | grep -qx other/tavern.json
}

@test "params of rows know the names that presets of other programs have" {
    local name
    sampl --repeat-penalty 1.5 -s 1 --prompt-tokens 1 --dump-probs -O tsv <<<'{"logits":[1,2,3]}' >want
    for name in repeat_penalty repetition_penalty rep_penalty rep_pen; do
        sampl -s 1 --prompt-tokens 1 --dump-probs -O tsv <<<"{\"params\":{\"$name\":1.5},\"logits\":[1,2,3]}" | cmp - want
    done
    run -1 sampl -s 1 <<<'{"params":{"penalty_alpha":1.5},"logits":[1,2,3]}'
}

@test "a printed chain is complete: options given before it do not count, those after it do" {
    local base=(--samplers 'top_k=9;dry;temperature' -l 304-inf --dry-multiplier 2 --dry-allowed-length 1 --dry-sequence-breaker was
        --bad-word-tokens 404 --neutral --grammar 'root ::= [a-z ]' --engine ollama)
    sampl -s 1 --dry-multiplier 0.8 --print-chain=json >plain.json
    # It names the program, llama.cpp's release and the engine, as --version does.
    [ "$(jq -r '"sampl \(.version)\ncompatible with llama.cpp \(.llama_cpp)\nengine \(.engine)"' plain.json)" = "$(sampl --version | head -n 2)
engine llama" ]
    sampl --vocab "$ROOT/samples/austen.gguf" -s 1 --dry-multiplier 0.8 --print-chain >want
    sampl --vocab "$ROOT/samples/austen.gguf" "${base[@]}" --preset ./plain.json --print-chain | unfold | sed 's/ ([a-z ]*)//g' >got
    unfold <want | sed 's/ ([a-z ]*)//g' | diff - got
    sampl --vocab "$ROOT/samples/austen.gguf" -s 1 --rows :20 "${base[@]:0:12}" "$AUSTEN" --vs 'p: --preset ./plain.json' -O json 2>/dev/null | jq .entropy >both
    sampl --vocab "$ROOT/samples/austen.gguf" -s 1 --rows :20 --preset ./plain.json "$AUSTEN" --vs 'p: --temp 1' -O json 2>/dev/null | jq .entropy | head -n 1 | cmp - <(tail -n 1 both)
    run ! cmp <(head -n 1 both) <(tail -n 1 both)
    sampl -s 7 --preset ./plain.json -l 5-inf --print-chain=json | jq -c '[.seed, .chain[0].logit_bias]' | grep -Fx '[1,[[5,false]]]'
    jq -c 'del(.seed)' plain.json >noseed.json
    sampl -s 7 --preset ./noseed.json --print-chain | grep -q '^seed 7'
}

@test "a name near to a preset's is suggested, and another one is not" {
    mkdir -p config/sampl/presets
    echo '{"num_ctx": 1}' >config/sampl/presets/wonder.json
    echo '--temp 1' >config/sampl/presets/mine.preset
    echo '{"num_ctx": 1}' >here.json
    suggestion() { XDG_CONFIG_HOME=$PWD/config sampl --preset "$1" 2>&1 | sed -n "s/.*; did you mean '\(.*\)'?/\1/p"; }
    [ "$(suggestion wonder.jsn) $(suggestion mone) $(suggestion here.jsn) $(suggestion chqt)" = 'wonder.json mine here.json chat' ]
    [ -z "$(suggestion wander)$(suggestion her)$(suggestion x)$(suggestion '')" ]
}

@test "random shell scripts: what is read without a word of doubt is what Bash starts, in any environment" {
    need python3
    need bash
    run -0 /usr/bin/python3 "$ROOT/tests/scripts.py" "$SAMPL" $((600 / STEP + 90)) $((START + 1))
    [[ $output =~ certain\ [1-9] && $output =~ changeable\ [0-9] ]]
}

@test "random mixtures of the programs' keys: each key acts, is named, or has a row that says that it is silent" {
    need python3
    run -0 /usr/bin/python3 "$ROOT/tests/marks.py" "$SAMPL" $((800 / STEP)) $((START + 1))
    [[ $output =~ ^applied\ [1-9][0-9]*,\ named\ [1-9] ]]
}
