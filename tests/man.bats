# SPDX-License-Identifier: MIT
# Compares the manual pages with the program: options, defaults, samplers, engines, formats, and the output of every example.
# The tests get the program's lists from its --help, --print-chain and error messages, not from its sources.
load helper

setup() {
    PAGES=("$ROOT"/man/sampl*.[1357])
    PAGE=$ROOT/man/sampl.1
    SAMPLERS=$ROOT/man/sampl-samplers.7
    SPEC=$ROOT/man/sampl-spec.7
    ENGINES=$ROOT/man/sampl-engines.7
    INPUT=$ROOT/man/sampl-input.5 OUTPUT=$ROOT/man/sampl-output.5
    [[ $SAMPL == /* ]] || SAMPL=$PWD/$SAMPL
    cd "$BATS_TEST_TMPDIR" || return 1
}

# ---- readers of the pages

# section PAGE HEADING [SUBHEADING]: prints the lines of a section, or of one of its subsections, including literal blocks.
section() {
    awk -v heading="$2" -v sub_heading="${3-}" '
        /^\.Sh / { inside = substr($0, 5) == heading; here = sub_heading == ""; next }
        /^\.Ss / && sub_heading != "" { here = substr($0, 5) == sub_heading; next }
        inside && here' "$1"
}

# subheadings PAGE HEADING...: prints the headings of the subsections of these sections.
subheadings() {
    local page=$1 heading
    shift
    for heading; do section "$page" "$heading" | sed -n 's/^\.Ss //p'; done
}

# item NAME: reads a list from standard input. Prints the words of the item of this name, without macros and punctuation.
item() {
    awk -v name="$1" '
        /^\.(It|El|Pp|Ss|Sh|Bd)/ { inside = $0 == ".It Cm " name; next }
        inside { gsub(/^\.(Fl|Cm|Ql) | ,$| No | ,/, " "); print }' | tr -s ' ' '\n' | sed '/^$/d'
}

# heads: prints the words of all ".It Cm" lines of standard input, one word a line.
heads() {
    sed -n 's/^\.It Cm //p' | tr -d ',' | tr -s ' ' '\n' | sed '/^$/d; /^No$/d'
}

# page_options: prints the items of the OPTIONS lists. Each line has the names as in --help, a tab, and the body without macros.
page_options() {
    awk '
        function flush() { if (names != "") print names "\t" body; names = body = "" }
        /^\.Sh / { flush(); inside = $2 == "OPTIONS"; next }
        !inside { next }
        /^\.Bl/ { depth++; next }
        /^\.El/ { if (!--depth) flush(); next }
        /^\.It / && depth < 2 {
            flush()
            names = substr($0, 5)
            gsub(/Fl -/, "--", names)
            gsub(/Fl /, "-", names)
            gsub(/ ,/, ",", names)
            next
        }
        {
            sub(/^\.[A-Z][a-z] /, "")
            gsub(/\\[:&]/, "")
            sub(/ \.$/, ".")
            body = body " " $0
        }
        END { flush() }' "$PAGE"
}

# ---- readers of the program's output

# help_options: prints a line for each option of --help: its names, a tab, its text.
help_options() {
    "$SAMPL" --help=all | awk '
        function flush() { if (names != "") print names "\t" text; names = text = "" }
        { match($0, /[^ ]/) }
        RSTART > 1 && RSTART < 9 && substr($0, RSTART, 1) == "-" {
            flush()
            names = $0
            sub(/^ +/, "", names)
            if (match(names, /  +/)) {
                text = substr(names, RSTART + RLENGTH)
                names = substr(names, 1, RSTART - 1)
            }
            next
        }
        names != "" && RSTART > 20 { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
        { flush() }
        END { flush() }'
}

# long_names: prints the long option names, such as --name, of standard input, one a line.
long_names() {
    grep -o -- '--[a-z][a-z0-9-]*' | sort -u
}

# chain_options: prints the long names of the chain's options: the groups of --help besides input, output, comparing and other.
chain_options() {
    "$SAMPL" --help=all | awk '
        /^[A-Z].*:$/ { inside = $0 !~ "^(Input|Output|Comparing and checking chains|Other):$" }
        inside && match($0, /^ +-/) && RLENGTH < 9 { print $0 }' | sed -E 's/^ +(-[^- ][^ ]*, )?//' | grep -oE '^--[a-z0-9-]+' | sort -u
}

# choices OPTION: prints the values that an option accepts, one a line, from its error message.
choices() {
    run -2 "$SAMPL" "$1" '?' /dev/null
    [[ $output == *' is not one of '* ]]
    sed 's/.* is not one of //; s/,/\n/g' <<<"$output"
}

# known OPTION: prints the names or letters of samplers that an option accepts, one a line, from its error message.
known() {
    run -2 "$SAMPL" "$1" '?' /dev/null
    [[ $output == *', known are '* ]]
    sed 's/.*, known are //; s/, /\n/g' <<<"$output"
}

# chain ARGUMENT...: prints a line for each stage: its name, true if it is on, and NAME=VALUE for each parameter, named by its option.
chain() {
    "$SAMPL" -s 1 --vocab "$ROOT/samples/austen.gguf" "$@" --print-chain=json | perl -0ne '
        my ($list) = /"chain":\[(.*)\]/s or die;
        while ($list =~ /\{"name":"(\w+)","enabled":(true|false)((?:,"[\w-]+":(?:\[.*?\]|[^,}]*))*)\}/g) {
            my ($name, $on, $rest) = ($1, $2, $3);
            my @params = map { tr/_/-/; s/":/=/; s/"//gr } $rest =~ /,("[\w-]+":(?:\[.*?\]|[^,}]*))/g;
            print join(" ", $name, $on, @params), "\n";
        }'
}

# all_stages: prints the lines of `chain` for every stage of the program; stages may come twice.
all_stages() {
    local engine
    chain
    chain --mirostat 1
    chain --mirostat 2
    for name in $(known --samplers); do chain --samplers "$name"; done
    for engine in $(choices --engine | grep -vx llama); do
        "$SAMPL" -s 1 --engine "$engine" --temp 0.7 --print-chain=json >/dev/null
        chain --engine "$engine" --temp 0.7
        chain --engine "$engine" --temp 0
    done
}

# ---- options

@test "sampl(1) and --help have the same long options" {
    help_options | cut -f 1 | long_names >help
    page_options | cut -f 1 | long_names >page
    [ "$(wc -l <help)" -gt 50 ]
    diff help page
}

@test "every option that a page names is in --help" {
    help_options | cut -f 1 | long_names >help
    cat "${PAGES[@]}" | sed -n 's/Fl -\([a-z]\)/--\1/gp' | long_names >page
    [ "$(wc -l <page)" -gt 50 ]
    run comm -13 help page
    [ -z "$output" ]
}

@test "sampl(1) lists aliases and short forms of an option together, as --help does" {
    sed 's/\t.*//; s/ [A-Z].*//; s/\[=.*//' <(help_options) | sort >help
    sed 's/\t.*//; s/ Ns.*//; s/ Ar.*//' <(page_options) | sort >page
    diff help page
}

@test "each default of --help is in the option's paragraph of sampl(1)" {
    local names text name default body n=0
    page_options >page
    while IFS=$'\t' read -r names text; do
        [[ $text =~ \(([^\ ()]+)\)(\ \[not\ available\ yet\])?$ ]] || continue
        default=${BASH_REMATCH[1]}
        name=$(long_names <<<"$names" | head -n 1)
        body=$(grep -E -- "^[^	]*$name( |,|	)" page | cut -f 2)
        if [[ "$body " != *"The default is $default. "* ]]; then
            echo "$name: --help says $default, the page:$body"
            return 1
        fi
        n=$((n + 1))
    done < <(help_options)
    [ "$n" -gt 35 ]
}

@test "each default of sampl(1) is in --help" {
    local name default text n=0
    help_options >help
    while IFS=$'\t' read -r names body; do
        [[ $body =~ The\ default\ is\ ([^\ ]+)\.( |$) ]] || continue
        default=${BASH_REMATCH[1]}
        name=$(long_names <<<"$names" | head -n 1)
        text=$(grep -E -- "^[^	]*$name( |,|	)" help | cut -f 2)
        if [[ ${text//; /;} != *"($default)"* ]]; then
            echo "$name: the page says $default, --help: $text"
            return 1
        fi
        n=$((n + 1))
    done < <(page_options)
    [ "$n" -gt 35 ]
}

# ---- sampl-samplers(7) and sampl-spec(7)

stage_sections=(SAMPLERS SELECTORS 'STAGES OF ENGINES')

@test "sampl-samplers(7) and sampl-spec(7) describe exactly the stages of the program" {
    local manual
    { known --samplers && all_stages | cut -d ' ' -f 1; } | sort -u >program
    subheadings "$SPEC" "${stage_sections[@]}" | sort >page
    [ "$(wc -l <program)" -ge 28 ]
    diff program page
    # Stages of chains and stages of engines have sections of their own.
    { known --samplers && { chain; chain --mirostat 1; chain --mirostat 2; } | cut -d ' ' -f 1; } | sort -u >program
    for manual in "$SAMPLERS" "$SPEC"; do
        subheadings "$manual" SAMPLERS SELECTORS | sort >page
        diff program page
    done
}

@test "each section of sampl-spec(7) about a stage has its edge cases in the last paragraph" {
    run awk '
        /^\.S[hs] / { if (stage && !edge) print stage; stage = "" }
        /^\.Sh / { on = /SAMPLERS|SELECTORS|STAGES/ }
        on && /^\.Ss / { stage = $2; edge = 0; n++ }
        /^\.Pp/ { edge = 0 }
        /^Edge cases: ./ { edge = 1 }
        END { if (n < 60) print n " sections" }' "$SPEC"
    [ -z "$output" ] || { echo "$output"; return 1; }
}

@test "sampl-samplers(7) names the letter of each sampler" {
    local letter
    for letter in $(known --sampler-seq | grep -o .); do
        echo "$letter $(chain --sampler-seq "$letter" | cut -d ' ' -f 1 | grep -vxE 'logit_bias|bans|dist')"
    done | sort >program
    [ "$(wc -l <program)" -ge 12 ]
    section "$SAMPLERS" 'THE DEFAULT ORDER' | awk '/^\.It Cm / && $5 ~ /^[a-z]$/ { print $5, $3 }' | sort >page
    diff program page
    # the default chain
    section "$SAMPLERS" 'THE DEFAULT ORDER' | sed -n 's/^\.Ql \([a-z]*\) :$/\1/p' | grep -qx "$("$SAMPL" --help=sampler-seq | tr -s '\n ' ' ' | grep -o '[a-z]* is the default chain' | cut -d ' ' -f 1)"
    [ "$(chain --sampler-seq edskypmxrt)" = "$(chain)" ]
}

# Options bring every sampler of another program into the default chain.
@test "sampl-samplers(7) lists the samplers in the order of the default chain" {
    local words=()
    while read -r option; do
        case $option in
        --smoothing-curve) ;;
        --no-repeat-ngram) words+=("$option" 2) ;;
        *) words+=("$option" 0.5) ;;
        esac
    done < <("$SAMPL" --help=all | awk '/^Samplers of other/ { inside = 1; next } /^[A-Z]/ { inside = 0 } inside' | grep -oE '^ +--[a-z-]+')
    [ "${#words[@]}" -ge 2 ]
    chain "${words[@]}" | cut -d ' ' -f 1 | grep -vxE dist >program
    subheadings "$SAMPLERS" SAMPLERS | grep -xFf program >page
    diff program page
    diff <(chain "${words[@]}" --sampler-seq edskypmxrt) <(chain)
}

@test "sampl-samplers(7) lists every alias of a sampler" {
    local name alias n=0
    # The program accepts each alias of the page.
    for name in $(subheadings "$SAMPLERS" SAMPLERS SELECTORS); do
        for alias in $(section "$SAMPLERS" SAMPLERS "$name" | item also); do
            chain --samplers "$alias" | grep -q "^$name "
            n=$((n + 1))
        done
    done
    [ "$n" -ge 5 ]
    # The page has each option name that --samplers accepts.
    while read -r alias; do
        "$SAMPL" -s 1 --samplers "$alias" --print-chain >/dev/null 2>&1 || continue
        name=$(chain --samplers "$alias" | cut -d ' ' -f 1 | grep -vxE 'logit_bias|bans|dist')
        { echo "$name" && section "$SAMPLERS" SAMPLERS "$name" | item also; } | tr -d _ | grep -qxF "${alias//-/}" || { echo "missing: $alias" && return 1; }
    done < <(help_options | cut -f 1 | long_names | sed 's/^--//')
}

# options without a single value, which a page lists and the program may not print
lists='/^--(ignore-eos|dry-sequence-breaker|dry-breaker-tokens|bad-word-tokens|eog-tokens)/d'

@test "sampl-samplers(7) lists every parameter of each sampler, in order, with its default" {
    local name params param heading n=0
    { chain; chain --mirostat 1; chain --mirostat 2; for name in $(known --samplers); do chain --samplers "$name"; done; } | sort -u >stages
    while read -r name _ params; do
        for param in $params; do echo "--$param"; done | sed -E "$lists; s/=(true|false|\[.*)//" >program
        for heading in SAMPLERS SELECTORS; do section "$SAMPLERS" "$heading" "$name"; done | item options |
            paste -sd ' ' | sed 's/ -\([a-z]\)/\n-\1/g' | sed -E "s/^-/--/; s/ /=/; $lists" | sed '/^$/d' >page
        diff program page || { echo "$name" && return 1; }
        n=$((n + $(wc -l <page)))
    done <stages
    [ "$n" -ge 60 ]
}

@test "sampl-spec(7) lists every parameter of each stage of engines, in order" {
    local name params param
    all_stages | sort -u -k 1,1 >stages
    while read -r name _ params; do
        subheadings "$SPEC" 'STAGES OF ENGINES' | grep -qxF "$name" || continue
        for param in $params; do echo "--${param%%=*}"; done | sed -E "$lists" >program
        section "$SPEC" 'STAGES OF ENGINES' "$name" | item options | sed -E "s/^-/--/; $lists" >page
        diff program page || { echo "$name" && return 1; }
        echo "$name" >>seen
    done <stages
    [ "$(wc -l <seen)" -ge 30 ]
}

@test "the neutral values that sampl-spec(7) names switch a sampler off" {
    local name args
    while read -r name args; do
        # shellcheck disable=SC2086
        chain --samplers "$name" $args | grep -q "^$name false" || { echo "on: $name $args" && return 1; }
    done <<'END'
penalties --repeat-penalty 1 --frequency-penalty 0 --presence-penalty 0
penalties --repeat-penalty 2 --repeat-last-n 0
encoder_penalty --encoder-repeat-penalty 1
no_repeat_ngram --no-repeat-ngram 0
dry --dry-multiplier 0
dry --dry-multiplier 1 --dry-penalty-last-n 0
top_n_sigma --top-nsigma 0
top_k --top-k 0
top_a --top-a 0
tfs --tfs 1
tfs_tg --tfs 1
p_step --p-step 0
top_h --top-h 0
min_k --min-k -0.5
epsilon_cutoff --epsilon-cutoff 0
eta_cutoff --eta-cutoff 0
smoothing --smoothing-factor 0 --smoothing-curve 3
skew --skew 0
typ_p --typical 1
top_p --top-p 1
min_p --min-p 0
xtc --xtc-probability 0
xtc --xtc-probability 1 --xtc-threshold 0.51
scatter --scatter-strength 0
scatter --scatter-strength 1 --scatter-k 1
scatter --scatter-strength 1 --scatter-radius 0
scatter --scatter-adaptive --scatter-steps 0
scatter --scatter-absorption 1 --scatter-collision 0
temperature --temp 1
END
    chain --samplers xtc --xtc-probability 1 --xtc-threshold 0.5 | grep -q '^xtc true'
    chain --samplers top_p --top-p 0 | grep -q '^top_p true'
    chain --engine akunu-gpu --temp 0.8 | grep -q '^softmax_scaled false'
    chain --engine akunu-gpu --temp 0.8 --top-k 5 | grep -q '^softmax_scaled true'
}

# ---- sampl-engines(7)

# engine_words ENGINE NAME: prints the words of a line of the engine's item in the generated block of sampl-engines(7), one a line.
engine_words() {
    awk -v head=".It Cm $1" -v name="$2: " '/^\.(It|El)/ { inside = $0 == head } inside && index($0, name) == 1 { print substr($0, length(name) + 1) }' "$ENGINES" |
        sed 's/, /\n/g; s/\\-/-/g' | grep -vx none
}

@test "sampl-engines(7) describes every engine with its stages and defaults" {
    local engine temp top_k top_p min_p value
    choices --engine | sort >program
    subheadings "$ENGINES" ENGINES | sort >page
    [ "$(wc -l <program)" -ge 5 ]
    diff program page
    for engine in $(choices --engine); do
        if [ "$engine" != llama ]; then
            diff <(engine_words "$engine" stages) <(chain --engine "$engine" --temp 0.7 | cut -d ' ' -f 1)
            diff <(engine_words "$engine" cold) <(chain --engine "$engine" --temp 0 | cut -d ' ' -f 1)
        fi
        {
            chain --engine "$engine" | cut -d ' ' -f 3- # with the default temperature
            # stages that the default temperature leaves out
            chain --engine "$engine" --temp 0.7 | cut -d ' ' -f 3- | tr ' ' '\n' | grep -v '^temp='
        } | tr ' ' '\n' | sed '/^$/d' | sort -u >values
        # At temperature 0 an engine may have no stage with the temperature; its stage greedy then means 0.
        grep -q '^temp=' values || { chain --engine "$engine" | grep -q '^greedy' && echo temp=0 >>values; }
        { engine_words "$engine" defaults || true; } | tr ' ' = >page
        read -r temp top_k top_p min_p < <(section "$ENGINES" DEFAULTS | awk -v engine="$engine" '$1 == engine && NF > 4 { print $2, $3, $4, $5 }')
        printf '%s\n' "temp=$temp" "top-k=$top_k" "top-p=$top_p" "min-p=$min_p" | grep -v '=none$' >>page
        while read -r value; do
            # a default that is not an option of the engine is not in its chain
            [ "$engine" = llama ] || engine_words "$engine" options | grep -qxF -- "--${value%%=*}" || continue
            grep -qxF -- "$value" values || { echo "$engine: $value" && return 1; }
        done <page
        ! grep -qx min-p=none <<<"min-p=$min_p" || ! grep -q '^min-p=' values
    done
}

@test "sampl-engines(7) lists the options that each engine accepts" {
    local engine option
    echo '{}' >schema
    for engine in $(choices --engine | grep -vx llama | few 3); do
        while read -r option; do
            case $option in
            --seed | --engine | --neutral | --backend-sampling | --perf | --no-perf | --escape | --no-escape | --gpt-oss-*) continue ;;
            --ignore-eos | --scatter-adaptive) run "$SAMPL" --engine "$engine" "$option" --print-chain /dev/null ;;
            --json-schema) run "$SAMPL" --engine "$engine" "$option" '{}' --print-chain /dev/null ;;
            --json-schema-file) run "$SAMPL" --engine "$engine" "$option" schema --print-chain /dev/null ;;
            --epsilon-cutoff | --eta-cutoff) run "$SAMPL" --engine "$engine" "$option" 0.5 --print-chain /dev/null ;;
            --scatter-metric) run "$SAMPL" --engine "$engine" "$option" l2 --print-chain /dev/null ;;
            --logit-bias) run "$SAMPL" --engine "$engine" "$option" 1+1 --print-chain /dev/null ;;
            *) run "$SAMPL" --engine "$engine" "$option" 1 --print-chain /dev/null ;;
            esac
            [[ $output == *"engine $engine has "* ]] || echo "$option"
        done < <(chain_options) >program
        [ -s program ]
        engine_words "$engine" options | sort >page
        diff <(sort program) page || { echo "engine $engine" && return 1; }
    done
}

# ---- sampl-input(5), sampl-output(5)

@test "sampl-input(5) lists every input format and the file name endings that select it" {
    local format ending n=0
    choices --format | grep -vx auto | sort >program
    section "$INPUT" 'INPUT FORMATS' | awk '/^\.Ss/ { exit } 1' | heads | sort >page
    diff program page
    # Each format has a subsection.
    subheadings "$INPUT" 'INPUT FORMATS' | sed 's/.*: //' | tr -d ' ' | tr ',' '\n' | grep -v ' ' | grep -v Masked | sort >page
    diff program page
    for format in $(<program); do
        for ending in $(section "$INPUT" 'INPUT FORMATS' | awk -v head=".It Cm $format" '/^\.(It|El)/ { inside = $0 == head } inside' | sed -n 's/^\.Pa //p'); do
            printf '\1\2\3\4' >"x$ending"
            run "$SAMPL" -n 1 --temp 0 "x$ending"
            printf '%s %s: %s\n' "$format" "$ending" "$output"
            [[ $output != *'cannot tell the format'* ]]
            # --format with the format's name gives the same output.
            [ "$output" = "$("$SAMPL" -f "$format" -n 1 --temp 0 "x$ending" 2>&1)" ]
            n=$((n + 1))
        done
    done
    [ "$n" -ge 10 ]
    run -2 "$SAMPL" -n 1 --temp 0 <(printf '\1\2\3\4')
    [[ $output == *'cannot tell the format'* ]]
}

@test "sampl-output(5) lists every output format and every choice of --emit" {
    choices --output-format | sort >program
    section "$OUTPUT" 'OUTPUT FORMATS' | awk '/^\.Ss/ { exit } 1' | heads | sort >page
    diff program page
    choices --emit | sort >program
    section "$OUTPUT" 'OUTPUT FORMATS' | awk '/^\.Fl -emit$/ { on = 1; next } /^\.Fl -dump-probs/ { exit } on' | sed -n 's/^\.Cm //p' | tr -d ' )' | tr ',' '\n' | sed '/^$/d' | sort >page
    diff program page
}

@test "sampl-input(5) lists every parameter of a JSON row" {
    local name
    section "$INPUT" 'JSON ROWS' Parameters >parameters
    {
        heads <parameters
        sed -n 's/^\.Cm //p' parameters | tr -d ' .' | tr ',' '\n'
        # the block of members that are ignored
        sed -n '/^add_generation_prompt /,/^\.Ed/p' parameters | grep -v '^\.Ed' | tr ' ' '\n'
    } | sed '/^$/d' | sort -u >page
    grep -qx verbose page
    # the parameters that --print-chain=server prints
    "$SAMPL" -s 1 --vocab "$ROOT/samples/austen.gguf" --print-chain=server -l 5+1 --grammar 'root ::= "a"' --dry-sequence-breaker x |
        grep -oE '"[a-z_]+":' | tr -d '":' | sort -u >program
    [ "$(wc -l <program)" -gt 30 ]
    run comm -13 page program
    [ -z "$output" ]
    # A row accepts each parameter of the page; an unknown name is an error.
    while read -r name; do
        case $name in
        samplers) value='"k"' ;;
        logit_bias | dry_sequence_breakers | json_schema | grammar) value='[]' ;;
        grammar_lazy | ignore_eos | scatter_adaptive) value=false ;;
        *) value=0 ;;
        esac
        run "$SAMPL" -s 1 <<<"{\"params\":{\"$name\":$value},\"logits\":[1]}"
        [[ $output != *unknown* ]] || { echo "$name: $output" && return 1; }
    done <page
    run -1 "$SAMPL" -s 1 <<<'{"params":{"no_such":0},"logits":[1]}'
    [[ $output == *unknown* ]]
}

# ---- examples

# extract_examples PAGE FOLDER: writes each example to a file: FOLDER/00, FOLDER/01, ... The block after a line .\" run has commands, and the next
# block has their output. In the file, commands have prompts.
extract_examples() {
    awk -v dir="$2" '
        /^\.\\" run$/ { run = 1; next }
        /^\.Bd -literal/ { first = 1; if (run == 1) { file = sprintf("%s/%02d", dir, n++); printf "" > file } else if (run == 2) { file = last; run = 3 } next }
        /^\.Ed/ { last = file; file = ""; first = 0; if (run == 1) run = 2; else run = 0; next }
        run == 2 && !/^\.Pp/ { run = 0 }
        file != "" {
            gsub(/\\e/, "\\"); gsub(/\\&/, ""); gsub(/\\\[\+-\]/, "±"); gsub(/\\\[\*D\]/, "Δ")
            print (run == 1 ? first ? "$ " : "> " : "") $0 > file
        }
        { first = 0 }' "$1"
}

# rerun FILE FOLDER: runs the commands of an example in the folder. Prints the example with the real output in place of the recorded output.
# A command begins with "$ ", its further lines with "> ".
rerun() (
    local line='' command='' printed=''
    export LC_ALL=C.UTF-8 # which has the sign ±
    exec 3<"$1"
    cd "$2" || return 1
    while IFS= read -r line <&3; do
        if [[ $line == '$ '* || ($line == '> '* && -z $printed) ]]; then
            [[ $line == '> '* ]] || { eval "$command"; command=''; }
            command+=${command:+$'\n'}${line#??} printed=''
            printf '%s\n' "$line"
        else
            printed=yes
        fi
    done
    eval "$command"
) 2>&1 </dev/null

@test "every example of every page prints the output that the page shows" {
    local page name example tool n=0
    mkdir bin
    ln -s "$SAMPL" bin/sampl
    PATH=$PWD/bin:$PATH
    for page in "${PAGES[@]}"; do
        name=$(basename "$page")
        mkdir "$name" "tree.$name"
        cp -r "$ROOT/samples" "tree.$name" # examples may write files
        extract_examples "$page" "$name"
        for example in "$name"/*; do
            [ -e "$example" ] || continue # a page without examples
            n=$((n + 1))
            for tool in datamash jq zstd; do
                grep -q "$tool" "$example" && ! command -v $tool >/dev/null && continue 2
            done
            rerun "$example" "tree.$name" >printed || true
            diff "$example" printed || { echo "$page, example ${example#*/}" && return 1; }
        done
    done
    [ "$n" -ge 25 ]
    [ "$n" -eq "$(cat "${PAGES[@]}" | grep -c '^\.\\" run$')" ]
    # Commands can be pasted as they are.
    run ! grep -n '^\$ ' "${PAGES[@]}"
}

@test "each message that sampl(1) explains is a message of the program" {
    section "$PAGE" DIAGNOSTICS Messages | sed -n 's/^\.It Li "\(.*\)"$/\1/p' >messages
    [ "$(wc -l <messages)" -ge 25 ]
    # the column of standard error
    cut -f 3 "$ROOT/tests/errors.tsv" >printed
    while IFS= read -r line; do
        grep -qF -- "$line" printed || { echo "no message: $line" && return 1; }
    done <messages
}

# ---- as manual pages

@test "mandoc reports no warning for any page" {
    need mandoc
    run -0 mandoc -Tlint -Wwarning "${PAGES[@]}"
    [ -z "$output" ]
}

@test "man prints every page without a warning, in at most 80 columns" {
    local page
    need man
    for page in "${PAGES[@]}"; do
        run -0 --separate-stderr env LC_ALL=C.UTF-8 MANWIDTH=80 MANPAGER=cat man -l --warnings "$page"
        [ -z "$stderr" ]
        perl -CS -ne 'chomp; s/.\x08//g; if (length > 80) { print "$_\n"; $long = 1 } END { exit $long }' <<<"$output"
    done
}

# groff 1.23 indents a page by 7 columns, older ones by 5.
@test "no literal line of a page is longer than 73 columns, less the block's offset" {
    awk '/^\.Bd -literal/ { on = 1; most = 73 - ($0 ~ /offset/ ? $4 + 0 : 0); next } /^\.Ed/ { on = 0 }
        on { line = $0; gsub(/\\e/, "\\", line); gsub(/\\&/, "", line); gsub(/\\\[[^]]*\]/, "x", line) }
        on && length(line) > most { print FILENAME ":" FNR ": " $0; long = 1 } END { exit long }' "${PAGES[@]}"
}

@test "sections and pages that a page refers to exist" {
    local page name number
    for page in "${PAGES[@]}"; do
        sed -n 's/^\.S[hs] //p' "$page" | sort -u >headings
        run comm -23 <(sed -nE 's/.*(^\.|[^A-Za-z])Sx ([A-Za-z0-9_ -]*[A-Za-z0-9_]).*/\2/p' "$page" | sort -u) headings
        [ -z "$output" ] || { echo "$page: no section $output" && return 1; }
        while read -r name number; do
            [ -f "$ROOT/man/$name.$number" ] || { echo "$page: no $name($number)" && return 1; }
        done < <(sed -nE 's/^\.Xr (sampl[a-z-]*) ([1357]).*/\1 \2/p' "$page" | sort -u)
    done
    # Pages that the sources and the README cite exist.
    while IFS='()' read -r name number; do
        [ -f "$ROOT/man/$name.$number" ]
    done < <(grep -rhoE 'sampl(-[a-z]+)?\([1357]\)' "$ROOT/src" "$ROOT/README.md" | sort -u)
}

@test "options stand in the same groups in --help=all and in sampl(1)" {
    $SAMPL --help=all | awk '/^[A-Z].*:$/ { group = $0 }
        match($0, /^ +(-[a-z]+, )?--[a-z-]+/) && !/^        / { sub(/^ +(-[a-z]+, )?/, ""); sub(/[^a-z-].*/, ""); print $0 "\t" group }' |
        sed 's/Samplers:$/Chain/; s/ chains:$//; s/Other:$/Presets, threads and help/; s/:$//' | sort >help
    awk '/^\.S[sh] / { group = substr($0, 5) } /^\.It Fl / && match($0, / -[a-z][a-z-]+/) { print "-" substr($0, RSTART + 1, RLENGTH - 1) "\t" group }' \
        "$ROOT/man/sampl.1" | sort >page
    [ "$(wc -l <help)" -gt 100 ]
    join -t $'\t' help page | awk -F '\t' '$2 != $3 { print; wrong = 1 } END { exit wrong }'
    [ "$(join help page | wc -l)" -gt 100 ]
}

@test "the generated blocks of the pages are those of the program" {
    for page in "$ROOT"/man/*.[1357]; do
        "$ROOT/packaging/manual.sh" "$SAMPL" "$page" >got
        cmp got "$page" || { echo "$page is stale: make manual"; return 1; }
    done
}
