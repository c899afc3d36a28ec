# SPDX-License-Identifier: MIT
# Compares tables of sampl-presets(5) and sampl-output(5) with the program: the tables of presets, and the names in JSON.
bats_require_minimum_version 1.5.0

setup() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    PRESETS=$ROOT/man/sampl-presets.5
    SAMPL=${SAMPL:-$ROOT/build/sampl}
    [[ $SAMPL == /* ]] || SAMPL=$PWD/$SAMPL
    unset SAMPL_CPU NO_COLOR
    export XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent
    cd "$BATS_TEST_TMPDIR" || return 1
}

# ---- sampl-presets(5)

# preset_rows: prints a line for each row of a program's table: the program, the name of the row, and its text without macros, separated by tabs.
preset_rows() {
    awk '
        function flush() { if (name != "") print program "\t" name "\t" text; name = text = "" }
        /^\.Bl -tag -width Ds/ { depth = 1; next }
        /^\.Bl/ { depth++; next }
        /^\.El/ { flush(); depth--; next }
        /^\.It / && depth == 1 { program = substr($0, 5); next }
        /^\.It / && depth == 2 { flush(); name = $2; next }
        depth == 2 { gsub(/\\[:%]/, ""); gsub(/\\-/, "-"); sub(/^\.[A-Z][a-z] /, ""); gsub(/ ,$/, ","); text = text (text == "" ? "" : " ") $0 }
        END { flush() }' "$PRESETS"
}

# effective FILE: prints an option and its value a line: those that make the chain of the preset in engine llama, but for the samplers.
effective() {
    "$SAMPL" --engine llama --preset "$1" --print-chain=preset 2>/dev/null | sed 's/ --samplers "[^"]*"//; s/ --/\n/g' | sed 1d | grep -vx neutral | sort
}

@test "sampl-presets(5) has the mark, the engine, the chain and the defaults of each program" {
    local program file content mark engine chain
    preset_rows >rows
    # a file of each program: a mark, and no value that is not the default
    while IFS='|' read -r program file content; do
        printf '%s\n' "$content" >"$file"
        row() { awk -F '\t' -v program="$program" -v name="$1" '$1 == program && $2 == name { print $3 }' rows; }
        mark=$(grep -oE '[a-z_]+' <<<"$content" | head -n 1)
        [[ $file == *.yaml || $file == *.ini || $file == *.args || $program == bare ]] || row marks | grep -qw -- "$mark" || { echo "$program: no mark $mark" && return 1; }

        engine=$(row engine)
        run -0 --separate-stderr "$SAMPL" --preset "./$file" --print-chain=preset
        [[ $output == "--engine ${engine:-llama} "* ]] || { echo "$program: $output" && return 1; }

        run -0 --separate-stderr "$SAMPL" --engine llama --preset "./$file" --print-chain=preset
        chain=$(sed -n 's/.*--samplers "\([^"]*\)".*/\1/p' <<<"$output")
        case $program in
        KoboldCpp) [[ $chain == 'dry;top_k=3000;'*';xtc' && $(row chain) == 'dry;top_k=3000,'*', xtc' ]] ;;
        *) [[ $(row chain) == *"$chain" ]] || { echo "$program: chain $chain" && return 1; } ;;
        esac

        # --print-chain does not print a window of 64, which is the default of every chain.
        row defaults | sed 's/, /\n/g' | sed '/^repeat-last-n 64$/d' | sort >page
        ! grep -qx 'those of sampl' page || "$SAMPL" --print-chain=preset | sed 's/ --/\n/g' | sed 1d | grep -vx neutral | sort >page
        effective "./$file" >program || true
        diff page program || { echo "$program" && return 1; }
        echo "$program" >>programs
    done <<'END'
sampl|printed.json|{"chain":[]}
llama-server|server.json|{"n_predict":1}
llama-server-reply|reply.json|{"generation_settings":{}}
LM Studio|studio.json|{"fields":[]}
SillyTavern|silly.json|{"rep_pen":1,"temperature_last":true}
SillyTavern-chat|chat.json|{"chat_completion_source":"openai"}
KoboldCpp|kobold.json|{"sampler_order":[6,0,1,3,4,2,5],"temp":1}
transformers|hf.json|{"do_sample":true}
Ollama|ollama.json|{"num_ctx":1}
SGLang|sglang.json|{"sampling_params":{}}
vLLM|vllm.json|{"structured_outputs":{}}
mlx_lm.server|mlx.json|{"repetition_context_size":20}
OpenAI|openai.json|{"model":"m","prompt":"x"}
text-generation-webui|webui.yaml|temperature: 1
TabbyAPI|tabby.yaml|temperature: {"override": 1}
TGI|tgi.json|{"inputs":"x","parameters":{"do_sample":true}}
Open-WebUI|webui.json|{"id":"m","params":{"temperature":0.8}}
bare|bare.json|{"temperature":0.8}
llama.cpp|llama.ini|port = 8080
llama.cpp-command|serve.args|--port 8080
END
    cut -f 1 rows | uniq | diff programs -
}

# ---- names in JSON

# section PAGE HEADING: prints the lines of a section or a subsection.
section() { awk -v heading="$2" '/^\.S[hs] / { inside = substr($0, 5) == heading } inside' "$ROOT/man/$1"; }

# members [-x] COMMAND...: prints the names of all members of the JSON that sampl prints. Members of `params` are names of options, and those of
# `notes` depend on the stage: both are left out, or with -x only those of `notes` are printed.
members() {
    local wanted=false
    [ "$1" != -x ] || { wanted=true; shift; }
    { "$SAMPL" -s 1 -O json "$@" 2>/dev/null || true; } | jq -r --argjson wanted $wanted '
        paths | select((.[:-1] | index("params")) == null) | select(((.[:-1] | index("notes")) != null) == $wanted) | .[-1] | strings'
}

# left: reads a section. Prints the names in the left columns of its literal blocks, one a line.
left() { awk '/^\.Bd/ { on = 1; next } /^\.Ed/ { on = 0 } on' | grep -oE '^ {0,4}[a-z][a-z0-9_]*(, [a-z0-9_]+)*(  |$)' | tr -d ' ' | tr ',' '\n'; }

# Fails unless the file `printed` has each name of the file `page`, and the section in the file `text` has each name of `printed` as a word.
same_names() {
    sort -u -o printed printed
    sort -u -o page page
    [ "$(wc -l <printed)" -ge 5 ]
    comm -13 printed page >never
    [ ! -s never ] || { echo "never printed: $(<never)" && return 1; }
    tr -c 'a-z0-9_' '\n' <text | sort -u >words
    comm -23 printed words >missing
    [ ! -s missing ] || { echo "not on the page: $(<missing)" && return 1; }
}

V=(--vocab samples/austen.gguf) N=(-n 4096) F=samples/austen.f16 T=(--accept @samples/austen.tokens)

@test "the index of sampl-output(5) has exactly the fields and columns that records have" {
    cd "$ROOT" || return 1
    local out=$BATS_TEST_TMPDIR
    {
        members "${V[@]}" "${T[@]}" --rows :2 --dump-probs=2 --trace=2 "$F"
        members "${V[@]}" "${T[@]}" --rows 30:31 --repeat-penalty 1.1 --dry-multiplier 1 --dry-allowed-length 1 --trace "$F"
        members "${V[@]}" --rows :2 --grammar 'root ::= .*' --reasoning-budget 2 --reasoning-start 258 --reasoning-end 5 --accept 258,258 --trace "$F"
        members "${N[@]}" --rows :1 --engine vllm-v2 --dump-probs=2 "$F"
        members --rows :1 --dump-probs=2 samples/reply.json
        for what in probs logprobs logits; do members "${N[@]}" --rows :1 --emit $what "$F"; done
        members "${N[@]}" "${T[@]}" --rows :1 --emit score "$F"
        members "${V[@]}" "${T[@]}" --rows :1 --emit stats --scatter-strength 0.2 --vs '--temp 2' "$F"
        members "${N[@]}" --rows :1 --emit stats --against "$F" "$F"
        members "${N[@]}" --rows :1 "$F" "$F"
        members --on-error skip <<<'{"seq":"a","logits":[1,NaN]}'
        "$SAMPL" -s 1 "${V[@]}" --rows :1 --dump-probs=2 --trace -O tsv "$F" | head -n 1 | tr '\t' '\n'
    } | sort -u >"$out/printed"
    cd "$out" || return 1
    section sampl-output.5 'FIELDS AND COLUMNS' | sed -n 's/^\.It Li //p' | sed 's/ , /\n/g' | sort -u >page
    [ "$(wc -l <page)" -ge 40 ]
    diff printed page
}

@test "sampl-output(5) has exactly the numbers that stages add to a trace" {
    cd "$ROOT" || return 1
    local out=$BATS_TEST_TMPDIR
    { printf '\x93NUMPY\1\0v\0%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2), }" && printf '\0\0\0\0\0\0\200?%.0s' 1 2 3 4; } >"$out/vectors.npy"
    {
        members -x "${N[@]}" --rows :9 --trace --repeat-penalty 1.1 --xtc-probability 0.5 "$F"
        members -x "${N[@]}" --rows :9 --trace --scatter-adaptive --scatter-strength 0.2 --scatter-collision 0.5 "$F"
        members -x --trace --scatter-strength 0.2 --scatter-embeddings "$out/vectors.npy" <<<'[1,2,3,2.5]'
        for version in 1 2; do members -x "${N[@]}" --rows :2 --trace --mirostat $version "$F"; done
        members -x "${N[@]}" --rows :2 --trace --samplers adaptive_p --adaptive-target 0.3 "$F"
    } | sort -u >"$out/printed"
    cd "$out" || return 1
    section sampl-output.5 Traces | awk "/A stage's main parameter/ { on = 1 } on" | left | sort -u >page
    diff printed page
}

@test "sampl-output(5) has exactly the members of the reports of --expect and --draws" {
    cd "$ROOT" || return 1
    local out=$BATS_TEST_TMPDIR seed
    "$SAMPL" -s 1 "${N[@]}" --emit logits -O npy --rows :2 --samplers top_k --top-k 41 -o "$out/port.npy" "$F"
    {
        members "${V[@]}" --expect @samples/austen.tokens "$F"
        members "${N[@]}" --rows :4 --engine vllm-v2 --expect @samples/austen.tokens "$F"
        members "${V[@]}" --rows :2 --after top_k --emit logits --expect "$out/port.npy" "$F"
        members "${N[@]}" --rows :4 --expect 0,0,0,0 "$F" "$F"
        members --on-error skip --expect 0 <<<'{"seq":"a","logits":[1,NaN]}'
    } >"$out/printed"
    section sampl-output.5 Differences >"$out/text"
    left <"$out/text" >"$out/page"
    (cd "$out" && same_names)

    for seed in 1 2 3; do "$SAMPL" "${N[@]}" -s $seed --neutral --temp 5 -o "$out/draws.$seed" "$F"; done
    paste -d ' ' "$out"/draws.? >"$out/draws"
    members "${V[@]}" --draws "$out/draws" "$F" >"$out/printed"
    section sampl-output.5 'Tests of draws' >"$out/text"
    left <"$out/text" >"$out/page"
    (cd "$out" && same_names)
}

@test "sampl-input(5) and sampl-compare(7) have exactly the members of lists and of the report" {
    cd "$ROOT" || return 1
    local out=$BATS_TEST_TMPDIR
    members "${N[@]}" "${T[@]}" --rows :2 --emit list=2 "$F" >"$out/printed"
    section sampl-input.5 'Lists with a tail' >"$out/text"
    # The block of tensors follows the block of members.
    awk '/^\.Fl O Cm safetensors/ { exit } 1' "$out/text" | left >"$out/page"
    (cd "$out" && same_names)

    members "${N[@]}" "${T[@]}" --rows :9 --report --against "$F" "$F" >"$out/printed"
    section sampl-compare.7 REPORT >"$out/text"
    awk '/prints one object/ { on = 1 } /Undefined/ { exit } on' "$out/text" | left >"$out/page"
    (cd "$out" && same_names)
}
