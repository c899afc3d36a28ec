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
        depth == 2 { gsub(/\\:/, ""); sub(/^\.[A-Z][a-z] /, ""); gsub(/ ,$/, ","); text = text (text == "" ? "" : " ") $0 }
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
        [[ $file == *.yaml || $file == *.ini ]] || row marks | grep -qw -- "$mark" || { echo "$program: no mark $mark" && return 1; }

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
        ! grep -q '^sampl Ns' page || "$SAMPL" --print-chain=preset | sed 's/ --/\n/g' | sed 1d | grep -vx neutral | sort >page
        effective "./$file" >program || true
        diff page program || { echo "$program" && return 1; }
        echo "$program" >>programs
    done <<'END'
sampl|printed.json|{"chain":[]}
llama-server|server.json|{"n_predict":1}
LM Studio|studio.json|{"fields":[]}
SillyTavern|silly.json|{"rep_pen":1,"temperature_last":true}
KoboldCpp|kobold.json|{"sampler_order":[6,0,1,3,4,2,5],"temp":1}
transformers|hf.json|{"do_sample":true}
Ollama|ollama.json|{"num_ctx":1}
SGLang|sglang.json|{"sampling_params":{}}
vLLM|vllm.json|{"structured_outputs":{}}
mlx_lm.server|mlx.json|{"repetition_context_size":20}
OpenAI|openai.json|{"model":"m","prompt":"x"}
text-generation-webui|webui.yaml|temperature: 1
llama.cpp|llama.ini|port = 8080
END
    cut -f 1 rows | uniq | diff programs -
}
