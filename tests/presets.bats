#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Presets: where they are found, what they may hold, those that come along, and what other programs' files become.

# Each test is a subshell, and means what it sets to end there.
# shellcheck disable=SC2030,SC2031
# Backslashes are JSON's, and breakers'.
# shellcheck disable=SC1003,SC2028

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
    sampl -s 1 --preset ./p --print-chain=preset >got
    sampl -s 1 --samplers 'top_k;temperature' --dry-sequence-breaker 'a "b" #c' --dry-sequence-breaker "it's" --dry-sequence-breaker d#e \
        -l 1+2 --temp 0.5 --dry-sequence-breaker 'two
lines' --print-chain=preset >want
    same got want
    printf -- '--top-k 3' >p # no newline at the end
    spelt --preset ./p = --top-k 3
    printf -- '--top-k\r\n3\r\n' >p
    spelt --preset ./p = --top-k 3
    : >p
    spelt --preset ./p = --top-k 40
    echo '# nothing' >p
    spelt --preset ./p = --top-k 40
    printf '%s\n' "--dry-sequence-breaker a\$'\\'b \\x1b\\\\n'\$c" >p
    spelt --preset ./p = --dry-sequence-breaker $'a\'b \x1b\\n$c'
    for open in "\$'" "\$'\\'" "\$'\\"; do
        printf -- '--dry-sequence-breaker %s' "$open" >p
        run -2 --separate-stderr sampl --preset ./p --print-chain
        [ "$stderr" = 'sampl: --preset: ./p: a quote is not closed' ]
    done
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
        # of two with the same name the one that is taken
        printf '# my own\n--top-k 3\n' >config/sampl/presets/chat.preset
        [ "$(sampl --list-presets 2>where | grep -P '^chat\t')" = $'chat\tmy own' ]
        grep -qF "$ROOT/samples/presets" where
    fi
}

@test "--list-presets: names and first lines do not command the terminal" {
    mkdir -p config/sampl/presets
    printf '# about \e[31m \302\233 é \377\n--temp 1\n' >config/sampl/presets/$'a\eb'.preset
    XDG_CONFIG_HOME=$PWD/config sampl --list-presets 2>/dev/null >got
    grep -qxF $'a?b\tabout ?[31m ? é ?' got
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
    # shellcheck disable=SC2054 # the commas are the list's
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

# becomes FILE OPTION...: the preset of another program means these options, all else being off, its text being standard input.
becomes() {
    cat >"$1"
    spelt --preset "./$1" = --neutral "${@:2}"
}

# refused FILE TEXT: not without --lenient, which says what of it is left out.
refused() {
    cat >"$1"
    run -2 --separate-stderr sampl --preset "./$1" --print-chain
    [ "$stderr" = "sampl: --preset: ./$1: sampl has nothing for $2; --lenient leaves that out" ] || { echo "$stderr"; return 1; }
    run -0 --separate-stderr sampl --preset "./$1" --print-chain --lenient
    [ "$stderr" = "sampl: warning: --preset: ./$1: left out, as sampl has nothing for it: $2" ]
}

# denied FILE TEXT: it is not read, for that reason.
denied() {
    cat >"$1"
    run -2 --separate-stderr sampl --preset "./$1" --print-chain
    [ "$stderr" = "sampl: --preset: ./$1: $2" ] || { echo "$stderr"; return 1; }
}

@test "presets of SillyTavern" {
    becomes universal.json --samplers 'top_k;typ_p;top_p;min_p;temperature' --temp 1.25 --min-p 0.1 --repeat-last-n 0 <<-'END'
		{"temp": 1.25, "temperature_last": true, "top_p": 1, "top_k": 0, "top_a": 0, "tfs": 1, "typical_p": 1, "min_p": 0.1, "rep_pen": 1,
		 "rep_pen_range": 0, "no_repeat_ngram_size": 0, "penalty_alpha": 0, "num_beams": 1, "guidance_scale": 1, "negative_prompt": "",
		 "grammar_string": "", "json_schema": {}, "banned_tokens": "", "mirostat_mode": 0, "n": 1, "logit_bias": [], "add_bos_token": true,
		 "samplers": ["top_k", "tfs_z", "typical_p", "top_p", "min_p", "temperature"],
		 "sampler_priority": ["temperature", "dynamic_temperature", "top_k"], "sampler_order": [6, 0, 1, 3, 4, 2, 5]}
	END
    becomes moving.json --samplers 'penalties;dry;min_p;xtc;temperature;adaptive_p' --temp 1.5 --dynatemp-range 0.5 --dynatemp-exp 2 \
        --repeat-penalty 1.1 --repeat-last-n 512 --frequency-penalty 0.1 --presence-penalty 0.2 --dry-multiplier 0.8 --dry-allowed-length 3 \
        --dry-penalty-last-n 0 --dry-sequence-breaker '\n' --dry-sequence-breaker ':' --dry-sequence-breaker '\\' --xtc-probability 0.5 \
        --adaptive-target 0.4 --adaptive-decay 0.8 --top-k 40 <<-'END'
		{"temp": 0.7, "dynatemp": true, "min_temp": 1, "max_temp": 2, "dynatemp_exponent": 2, "typical_p": 1, "top_k": 40, "seed": -1,
		 "rep_pen": 1.1, "rep_pen_range": 512, "freq_pen": 0.1, "presence_pen": 0.2, "dry_multiplier": 0.8, "dry_allowed_length": 3,
		 "dry_penalty_last_n": 0, "dry_sequence_breakers": "[\"\\n\", \":\", \"\\\\\"]", "xtc_probability": 0.5, "xtc_threshold": 0.1,
		 "adaptive_target": 0.4, "adaptive_decay": 0.8, "samplers": ["penalties", "dry", "min_p", "xtc", "temperature", "adaptive_p"]}
	END
    # no order: llama.cpp's; a target of 0 is off
    becomes plain.json --seed 1 --temp 0.9 --top-p 0.9 --top-nsigma 1.5 --min-keep 2 -l 5-inf -l 6+1.5 <<-'END'
		{"rep_pen": 1, "typical_p": 1, "temp": 0.9, "top_p": 0.9, "nsigma": 1.5, "min_keep": 2, "seed": 1, "adaptive_target": 0,
		 "logit_bias": {"5": false, "6": 1.5}}
	END
    # what its order does not name does nothing there, which is said once
    sed 's/"min_p": 0.1/"min_p": 0.1, "nsigma": 1, "rep_pen": 1.1, "xtc_probability": 0.5, "mirostat_tau": 4/' universal.json >idle.json
    run -0 --separate-stderr sampl --preset idle.json --print-chain
    [ "$stderr" = "sampl: note: --preset: penalties, top_n_sigma, xtc: set, but not in SillyTavern's order, and so without effect" ]
    run -0 --separate-stderr sampl --preset universal.json --print-chain
    [ -z "$stderr" ]
    refused lacking.json 'guidance_scale (1.5), banned_tokens ("[1,2]"), penalty_alpha (0.6)' <<-'END'
		{"rep_pen": 1, "typical_p": 1, "guidance_scale": 1.5, "banned_tokens": "[1,2]", "penalty_alpha": 0.6, "rep_pen_decay": 0}
	END
}

@test "presets of KoboldAI and KoboldCpp" {
    echo '{"temp": 0.7, "rep_pen": 1.1, "rep_pen_range": 1024, "rep_pen_slope": 1, "top_p": 0.5, "top_a": 0, "typical": 0.19, "tfs": 1,
        "sampler_order": [6, 5, 4, 3, 2, 1, 0]}' | becomes godlike.json --samplers \
        'dry;top_k=3000;penalties;temperature=0.7;typ_p=0.19;top_p=0.5;min_p;top_k;xtc' --temp 0.7 --typical 0.19 --top-p 0.5 --repeat-penalty 1.1 \
        --repeat-last-n 1024 --dry-penalty-last-n 320 --xtc-threshold 0.2
    # the usual order; a request is completed by its server
    echo '{"prompt": "Once", "max_length": 80, "rep_pen": 1.05, "typical": 1, "rep_pen_range": 0, "sampler_seed": 7}' | becomes request.json -s 7 \
        --samplers 'dry;top_k=3000;penalties;top_k;typ_p;top_p;min_p;temperature;xtc' --temp 0.75 --top-k 100 --top-p 0.92 --repeat-penalty 1.05 \
        --repeat-last-n 1 --dry-penalty-last-n 320 --xtc-threshold 0.2
    echo '{"temp": 1, "rep_pen": 1, "typical": 1, "nsigma": 1.2, "dry_multiplier": 0.8, "top_k": -1, "dynatemp_range": 0.2, "mirostat": 0,
        "adaptive_target": 0.5, "rep_pen_slope": 0, "use_default_badwordsids": true, "grammar": ""}' | becomes sigma.json \
        --samplers 'dry;top_k=3000;penalties;top_k=-1;typ_p;top_p;min_p;temperature;top_n_sigma;xtc;adaptive_p' --top-k -1 --temp 1 --top-nsigma 1.2 \
        --dry-multiplier 0.8 --dynatemp-range 0.2 --dry-sequence-breaker none --dry-penalty-last-n 320 --repeat-last-n 320 --xtc-threshold 0.2 \
        --adaptive-target 0.5
    echo '{"temp": 1, "rep_pen": 1.1, "typical": 1, "mirostat": 2}' >mirostat.json
    run -0 --separate-stderr sampl --preset mirostat.json --print-chain
    [ "$stderr" = 'sampl: warning: --preset: KoboldCpp penalises before mirostat, which here runs alone' ]
    echo '{"model_param": "m.gguf", "threads": 4}' | denied launch.kcpps 'a .kcpps file says how KoboldCpp is started, not how it samples'
}

@test "presets of text-generation-webui" {
    local first='penalties;dry;top_n_sigma;temperature;top_k;top_p;typ_p;min_p;xtc' rest=(--repeat-last-n 1024 --dry-penalty-last-n 1024)
    printf 'temperature: 1.31\ntop_p: 0.14\nrepetition_penalty: 1.17\ntop_k: 49 # best\n' |
        becomes simple.yaml --samplers "$first" --temp 1.31 --top-p 0.14 --repeat-penalty 1.17 --top-k 49 "${rest[@]}"
    cat <<-'END' | becomes order.yaml --samplers 'temperature;penalties;dry;top_k;min_p' --temp 1.5 --dynatemp-range 0.5 --min-p 0.05 \
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
    cat <<-'END' | becomes list.yaml --samplers 'top_k;typ_p;temperature' --top-k 5 --typical 0.9 --temp 0.5 "${rest[@]}"
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
    cat <<-'END' | becomes block.yaml --samplers 'min_p;temperature' --min-p 0.2 "${rest[@]}"
		sampler_priority: |-
		  min_p
		  temperature
		min_p: 0.2
	END
    printf 'sampler_priority: skew, top_k, skew\nskew: 0.5\ntop_k: 5\n' | becomes twice.yaml --samplers 'skew;top_k' --skew 0.5 --top-k 5 "${rest[@]}"
    printf 'sampler_priority: "min_p\\n\\\n \ttempera\\\n  ture"\nmin_p: 0.2\n' |
        becomes joined.yaml --samplers 'min_p;temperature' --min-p 0.2 "${rest[@]}"
    printf 'temperature_last: true\nmin_p: 0.1\n' |
        becomes last.yaml --samplers 'penalties;dry;top_n_sigma;top_k;top_p;typ_p;min_p;xtc;temperature' --min-p 0.1 "${rest[@]}"
    printf 'do_sample: false\nrepetition_penalty: 1.2\n' |
        becomes greedy.yaml --samplers 'penalties;dry;temperature' --temp 0 --repeat-penalty 1.2 "${rest[@]}"
    printf 'custom_token_bans: 5, 7\n' | becomes bans.yaml --samplers "$first" -l 5-inf -l 7-inf "${rest[@]}"
    printf 'guidance_scale: 2\ntemperature: 1\n' | refused lacking.yaml 'guidance_scale (2)'
}

@test "generation_config.json" {
    local chain='penalties;temperature;top_k;top_p;min_p;typ_p'
    echo '{"do_sample": true, "temperature": 0.7, "top_p": 0.8, "top_k": 20, "repetition_penalty": 1.05, "eos_token_id": [1, 2],
        "pad_token_id": 0, "transformers_version": "4.40.0"}' |
        becomes sampled.json --samplers "$chain" --temp 0.7 --top-p 0.8 --top-k 20 --repeat-penalty 1.05 --repeat-last-n -1
    echo '{"_from_model_config": true, "bos_token_id": 1, "eos_token_id": 2, "temperature": 0.9, "top_p": 0.6}' |
        becomes greedy.json --samplers 'penalties;temperature' --temp 0 --repeat-last-n -1
    echo '{"do_sample": true, "top_k": null, "eos_token_id": 2, "suppress_tokens": [7, 8], "max_new_tokens": 9, "sequence_bias": null,
        "num_beams": 1}' | becomes fifty.json --samplers "$chain" --top-k 50 --repeat-last-n -1 -l 7-inf -l 8-inf
    echo '{"do_sample": true, "num_beams": 4, "min_length": 3}' | refused beams.json 'num_beams (4), min_length (3)'
    echo '{"do_sample": true, "top_k": -1}' | denied below.json 'top_k is below 0, which transformers refuses'
}

@test "Modelfiles and Ollama's options" {
    local absent=(--temp 0.8 --top-k 40 --top-p 0.9 --repeat-last-n 64)
    cat <<-'END' | becomes Modelfile "${absent[@]}" --temp 0.3 --top-k 20 --seed 42
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
    echo '{"model": "m", "prompt": "hi", "stream": false, "options": {"temperature": 0, "num_predict": 5, "repeat_penalty": 1.1, "min_p": 0.05}}' |
        becomes request.json "${absent[@]}" --temp 0 --repeat-penalty 1.1 --min-p 0.05
    echo '{"num_ctx": 2048, "typical_p": 0.7, "mirostat": 2, "penalize_newline": true, "presence_penalty": 1.5}' |
        becomes options.json "${absent[@]}" --typical 0.7 --presence-penalty 1.5
    printf 'FROM x\nPARAMETER wit 3\n' | refused unknown.Modelfile 'wit (3)'
    echo '{"model": "m", "format": "json", "options": {}}' | refused format.json 'format ("json")'
}

@test "presets of LM Studio" {
    local absent=(--temp 0.8 --top-k 40 --repeat-penalty 1.1 --min-p 0.05 --top-p 0.95)
    echo '{"name": "p", "operation": {"fields": [{"key": "llm.prediction.temperature", "value": 0.6},
        {"key": "llm.prediction.topPSampling", "value": {"checked": true, "value": 0.5}}, {"key": "llm.prediction.systemPrompt", "value": "Be"}]}}' |
        becomes a.preset.json "${absent[@]}" --temp 0.6 --top-p 0.5
    echo '{"fields": [{"key": "llm.prediction.minPSampling", "value": {"checked": false, "value": 0.3}}, {"key": "llm.prediction.topKSampling", "value": -1},
        {"key": "llm.prediction.repeatPenalty", "value": {"checked": false, "value": 1.3}}, {"key": "llm.load.contextLength", "value": 9}]}' |
        becomes unchecked.json --temp 0.8 --top-p 0.95 --top-k -1
    echo '{"fields": [{"key": "llm.prediction.llama.frequencyPenalty", "value": {"checked": true, "value": 0.1}},
        {"key": "llm.prediction.llama.mirostatSampling", "value": {"version": 2, "learningRate": 0.2, "targetEntropy": 4}},
        {"key": "llm.prediction.llama.logitBias", "value": [[5, -1.5]]}, {"key": "llm.prediction.structured", "value": {"type": "none"}}]}' |
        becomes mirostat.json "${absent[@]}" --frequency-penalty 0.1 --mirostat 2 --mirostat-lr 0.2 --mirostat-ent 4 -l 5-1.5
    echo '{"fields": [{"key": "llm.prediction.structured", "value": {"type": "json"}}]}' | refused s.json 'structured ({"type":"json"})'
}

@test "bodies of llama-server and of OpenAI's kind, and what they answer" {
    echo '{"prompt": "hi", "n_predict": 8, "samplers": ["top_k", "temperature"], "top_k": 9, "temperature": 0.5, "cache_prompt": true}' >request.json
    spelt --preset request.json = --samplers 'top_k;temperature' --top-k 9 --temp 0.5
    echo '{"content": "x", "generation_settings": {"seed": 4294967295, "temperature": 0.5, "top_k": 7, "samplers": ["penalties", "top_k"],
        "logit_bias": [{"bias": null, "token": 5}, {"bias": 1.5, "token": 6}], "ignore_eos": true, "grammar": "", "dry_sequence_breakers": ["\n", ":"],
        "stop": [], "n_probs": 0, "speculative.n_max": 3, "stream": false}}' >reply.json
    spelt --preset reply.json = --samplers 'penalties;top_k' --temp 0.5 --top-k 7 -l 5-inf -l 6+1.5 --dry-sequence-breaker '\n' --dry-sequence-breaker :
    echo '{"default_generation_settings": {"id": 0, "params": {"min_p": 0.2, "samplers": "kt"}}, "model_path": "m"}' >props.json
    spelt --preset props.json = --sampler-seq kt --min-p 0.2
    echo '{"model": "m", "messages": [], "temperature": 0.6, "top_p": 0.9, "top_k": -1, "max_tokens": 5, "repetition_penalty": 1.1,
        "response_format": {"type": "text"}}' | becomes chat.json --samplers 'penalties;temperature;min_p;top_k;top_p' --temp 0.6 --top-p 0.9 --top-k -1 \
        --repeat-penalty 1.1 --repeat-last-n -1
    echo '{"model": "m", "prompt": "x", "guided_regex": "a+"}' | refused guided.json 'guided_regex ("a+")'
    echo '{"model": "m", "prompt": "x", "logit_bias": {" the": 2}}' | refused text.json 'logit_bias ({" the":2})'
    # with a vocabulary there are texts, wherever it stands
    printf '%s\n' ' the' 'a"\\' b >words
    for order in '--vocab words --preset ./text.json' '--preset ./text.json --vocab=words'; do
        # shellcheck disable=SC2086 # words
        spelt $order = --preset <(sed 's/" the"/"0"/' text.json) --vocab words
    done
    echo '{"n_predict": 1, "logit_bias": [["a\"\\", -1.5], ["b", false], [0, 1]]}' >texts.json
    spelt --preset texts.json --vocab words = -l 1-1.5 -l 2-inf -l 0+1 --vocab words
    run -2 sampl --preset text.json --print-chain --vocab <(echo x)
    [ "$output" = "sampl: --logit-bias: no token of the vocabulary says ' the'" ]
}

@test "llama.cpp's config.ini" {
    cat >config.ini <<-'END'
		temp = 0.5
		[*]
		ctx-size = 4096
		LLAMA_ARG_TOP_K = 12 ; a comment
		samplers = top_k;top_p
		[default]
		sampler-seq = kpt
		[other]
		temp = 3
	END
    spelt --preset config.ini = --temp 0.5 --top-k 12 --sampler-seq kpt
    printf 'top-p = 0.5\n[m]\ntop-p = 0.1\n' >plain.ini
    spelt --preset plain.ini = --top-p 0.5
    # a section by its name, over what all have, wherever that stands
    spelt --preset ./config.ini:other = --temp 3 --top-k 12 --samplers top_k
    spelt --preset config.ini:default = --temp 0.5 --top-k 12 --sampler-seq kpt
    printf '[org/m.gguf:Q8_0]\ntop-p = 0.1\n[*]\ntop-p = 0.9\ntop-k = 3\n' >models.ini
    spelt --preset models.ini:org/m.gguf:Q8_0 = --top-p 0.1 --top-k 3
    spelt --preset models.ini = --top-p 0.9 --top-k 3
    cp models.ini a.ini:org # which is a file
    spelt --preset a.ini:org = --top-p 0.9 --top-k 3
    printf 'grammar-file = g.gbnf\n' | refused file.ini 'grammar-file ("g.gbnf")'
}

@test "presets of other programs: places, marks, and what is none" {
    printf '\357\273\277{"num_ctx": 1, "top_k": 3}' | becomes mark.json --temp 0.8 --top-k 3 --top-p 0.9 --repeat-last-n 64
    spelt --top-k 7 --engine ollama --preset mark.json --top-k 5 = --neutral --temp 0.8 --top-k 5 --top-p 0.9 --repeat-last-n 64
    # what the model recommends does not count
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 general.sampling.sequence=s:top_k >advice.gguf
    spelt --vocab advice.gguf --preset mark.json = --preset mark.json
    echo '{"colour": "red"}' | denied none.json 'JSON of no program whose presets sampl knows'
    echo '{"num_ctx": 1, "top_k": "many"}' | denied bad.json 'top_k is not a number'
    echo '{"num_ctx": 1, "top_k": 2.5}' | denied bad.json "--top-k: '2.5' is not a whole number from -2147483648 to 2147483647"
}
