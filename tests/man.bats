# SPDX-License-Identifier: MIT
# The manual pages against the program: options, defaults, samplers, engines and formats are those that it knows, and every example prints
# what stands under it. What the program knows is read from what it says of itself, not from its sources.
bats_require_minimum_version 1.5.0

setup() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    PAGES=("$ROOT"/man/sampl*.[157])
    PAGE=$ROOT/man/sampl.1
    SAMPLERS=$ROOT/man/sampl-samplers.7
    ENGINES=$ROOT/man/sampl-engines.7
    FORMATS=$ROOT/man/sampl-formats.5
    SAMPL=${SAMPL:-$ROOT/build/sampl}
    [[ $SAMPL == /* ]] || SAMPL=$PWD/$SAMPL
    unset SAMPL_CPU NO_COLOR
    export XDG_CONFIG_HOME=/nonexistent HOME=/nonexistent
    cd "$BATS_TEST_TMPDIR" || return 1
}

# ---- what the pages say

# section PAGE HEADING [SUBHEADING]: the lines of a section, of one of its subsections, in literal blocks too.
section() {
    awk -v heading="$2" -v sub_heading="${3-}" '
        /^\.Sh / { inside = substr($0, 5) == heading; here = sub_heading == ""; next }
        /^\.Ss / && sub_heading != "" { here = substr($0, 5) == sub_heading; next }
        inside && here' "$1"
}

# subheadings PAGE HEADING...: the subsections of these sections.
subheadings() {
    local page=$1 heading
    shift
    for heading; do section "$page" "$heading" | sed -n 's/^\.Ss //p'; done
}

# item NAME: from the lines of a list on standard input, the words of the item of that name, without macros and punctuation.
item() {
    awk -v name="$1" '
        /^\.(It|El|Pp|Ss|Sh|Bd)/ { inside = $0 == ".It Cm " name; next }
        inside { gsub(/^\.(Fl|Cm|Ql) | ,$| No | ,/, " "); print }' | tr -s ' ' '\n' | sed '/^$/d'
}

# heads: the words of all ".It Cm" lines on standard input, one a line.
heads() {
    sed -n 's/^\.It Cm //p' | tr -d ',' | tr -s ' ' '\n' | sed '/^$/d; /^No$/d'
}

# The items of the OPTIONS lists: names as in --help, a tab, the body as one line without macros.
page_options() {
    awk '
        function flush() { if (names != "") print names "\t" body; names = body = "" }
        /^\.Sh / { flush(); inside = $2 == "OPTIONS"; next }
        !inside { next }
        /^\.(El|Ss)/ { flush(); next }
        /^\.It / {
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

# ---- what the program says

# One line for each option of --help: its names, a tab, its text.
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

# Long names, one a line, from lines that spell them --name.
long_names() {
    grep -o -- '--[a-z][a-z0-9-]*' | sort -u
}

# The long names of the options that --help has in other groups than input and output: those of the chain.
chain_options() {
    "$SAMPL" --help=all | awk '
        /^[A-Z].*:$/ { inside = $0 !~ "^(Input|Output|Comparing and checking chains|Other):$" }
        inside && match($0, /^ +-/) && RLENGTH < 9 { print $0 }' | sed -E 's/^ +(-[^- ][^ ]*, )?//' | grep -oE '^--[a-z-]+' | sort -u
}

# choices OPTION: the values that an option takes, one a line.
choices() {
    run -2 "$SAMPL" "$1" '?' /dev/null
    [[ $output == *' is none of '* ]]
    sed 's/.* is none of //; s/,/\n/g' <<<"$output"
}

# known OPTION: the names or letters of samplers, one a line.
known() {
    run -2 "$SAMPL" "$1" '?' /dev/null
    [[ $output == *', known are '* ]]
    sed 's/.*, known are //; s/, /\n/g' <<<"$output"
}

# chain ARGUMENT...: a line for each stage, its name, whether it is on, and NAME=VALUE for each parameter with options' names.
chain() {
    "$SAMPL" -s 1 --vocab "$ROOT/samples/austen.gguf" "$@" --print-chain=json | perl -0ne '
        my ($list) = /"chain":\[(.*)\]/s or die;
        while ($list =~ /\{"name":"(\w+)","enabled":(true|false)((?:,"[\w-]+":(?:\[.*?\]|[^,}]*))*)\}/g) {
            my ($name, $on, $rest) = ($1, $2, $3);
            my @params = map { tr/_/-/; s/":/=/; s/"//gr } $rest =~ /,("[\w-]+":(?:\[.*?\]|[^,}]*))/g;
            print join(" ", $name, $on, @params), "\n";
        }'
}

# Every stage that there is.
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

@test "the pages name no option that does not exist" {
    help_options | cut -f 1 | long_names >help
    cat "${PAGES[@]}" | sed -n 's/Fl -\([a-z]\)/--\1/gp' | long_names >page
    [ "$(wc -l <page)" -gt 50 ]
    run comm -13 help page
    [ -z "$output" ]
}

@test "aliases and short forms stand together, as in --help" {
    sed 's/\t.*//; s/ [A-Z].*//; s/\[=.*//' <(help_options) | sort >help
    sed 's/\t.*//; s/ Ns.*//; s/ Ar.*//' <(page_options) | sort >page
    diff help page
}

@test "each default of --help stands in the option's paragraph" {
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

@test "each default of the page is one of --help" {
    local name default text n=0
    help_options >help
    while IFS=$'\t' read -r names body; do
        [[ $body =~ The\ default\ is\ ([^\ ]+)\.( |$) ]] || continue
        default=${BASH_REMATCH[1]}
        name=$(long_names <<<"$names" | head -n 1)
        text=$(grep -E -- "^[^	]*$name( |,|	)" help | cut -f 2)
        if [[ $text != *"($default)"* ]]; then
            echo "$name: the page says $default, --help: $text"
            return 1
        fi
        n=$((n + 1))
    done < <(page_options)
    [ "$n" -gt 35 ]
}

# ---- sampl-samplers(7)

stage_sections=(SAMPLERS SELECTORS 'STAGES OF ENGINES')

@test "sampl-samplers(7) has every stage that the program knows, and no other" {
    { known --samplers && all_stages | cut -d ' ' -f 1; } | sort -u >program
    subheadings "$SAMPLERS" "${stage_sections[@]}" | sort >page
    [ "$(wc -l <program)" -ge 28 ]
    diff program page
    # those of chains stand apart from those of engines
    { known --samplers && { chain; chain --mirostat 1; chain --mirostat 2; } | cut -d ' ' -f 1; } | sort -u >program
    subheadings "$SAMPLERS" SAMPLERS SELECTORS | sort >page
    diff program page
}

@test "sampl-samplers(7) has every letter, and the right one" {
    local letter heading name
    for letter in $(known --sampler-seq | grep -o .); do
        echo "$letter $(chain --sampler-seq "$letter" | cut -d ' ' -f 1 | grep -vxE 'logit_bias|bans|dist')"
    done | sort >program
    [ "$(wc -l <program)" -ge 12 ]
    for heading in "${stage_sections[@]}"; do
        for name in $(subheadings "$SAMPLERS" "$heading"); do
            section "$SAMPLERS" "$heading" "$name" | item letter | sed "s/\$/ $name/"
        done
    done | sort >page
    diff program page
    # and so has sampl(1)
    section "$PAGE" OPTIONS | grep -A 1 '^\.Cm [a-z_]*$' | paste -sd ' ' | grep -oE '\.Cm [a-z_]+ \.Pq [a-z] ' | awk '{ print $4, $2 }' | sort >page
    diff program page
    # the default chain
    section "$SAMPLERS" 'THE CHAIN' | sed -n 's/^\.Ql \([a-z]*\) \.$/\1/p' | grep -qx "$("$SAMPL" --help | grep -o '[a-z]* is the default chain' | cut -d ' ' -f 1)"
    [ "$(chain --sampler-seq edskypmxrt)" = "$(chain)" ]
}

# With every sampler of another program made to run: the order that the page promises for those that join the default chain.
@test "sampl-samplers(7) has the samplers in the order of the default chain" {
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

@test "sampl-samplers(7) has every other name of a sampler" {
    local name alias n=0
    # each that the page has is one
    for name in $(subheadings "$SAMPLERS" SAMPLERS SELECTORS); do
        for alias in $(section "$SAMPLERS" SAMPLERS "$name" | item also); do
            chain --samplers "$alias" | grep -q "^$name "
            n=$((n + 1))
        done
    done
    [ "$n" -ge 5 ]
    # each name of an option that passes for a sampler's is one
    while read -r alias; do
        "$SAMPL" -s 1 --samplers "$alias" --print-chain >/dev/null 2>&1 || continue
        name=$(chain --samplers "$alias" | cut -d ' ' -f 1 | grep -vxE 'logit_bias|bans|dist')
        { echo "$name" && section "$SAMPLERS" SAMPLERS "$name" | item also; } | tr -d _ | grep -qxF "${alias//-/}" || { echo "missing: $alias" && return 1; }
    done < <(help_options | cut -f 1 | long_names | sed 's/^--//')
}

@test "sampl-samplers(7) has every parameter of each stage, in order" {
    local name heading params param
    # the page has options besides that are no single value, which the program need not print
    local lists='/^--(ignore-eos|dry-sequence-breaker|dry-breaker-tokens|bad-word-tokens|eog-tokens)$/d'
    all_stages | sort -u -k 1,1 >stages
    while read -r name _ params; do
        for param in $params; do echo "--${param%%=*}"; done | sed -E "$lists" >program
        for heading in "${stage_sections[@]}"; do section "$SAMPLERS" "$heading" "$name"; done | item options | sed -E "s/^-/--/; $lists" >page
        diff program page || { echo "$name" && return 1; }
    done <stages
    [ "$(grep -c = stages)" -ge 15 ]
}

@test "the conditions of sampl-samplers(7) switch a stage off" {
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
}

# ---- sampl-engines(7)

@test "sampl-engines(7) has every engine, its stages and its defaults" {
    local engine lines
    choices --engine | sort >program
    subheadings "$ENGINES" ENGINES | sort >page
    [ "$(wc -l <program)" -ge 5 ]
    diff program page
    for engine in $(choices --engine | grep -vx llama); do
        lines=$(section "$ENGINES" ENGINES "$engine")
        diff <(item stages <<<"$lines") <(chain --engine "$engine" --temp 0.7 | cut -d ' ' -f 1)
        diff <(item cold <<<"$lines") <(chain --engine "$engine" --temp 0 | cut -d ' ' -f 1)
        # options with values, and the temperature, which decides between the two
        item options <<<"$lines" | paste -sd ' ' | sed 's/ -\([a-z]\)/\n-\1/g' | grep ' ' | sed 's/^-/--/; s/ /=/' | sort >page
        {
            chain --engine "$engine" | cut -d ' ' -f 3- # with the default temperature
            chain --engine "$engine" --temp 0.7 | cut -d ' ' -f 3- | tr ' ' '\n' | grep -v '^temp=' # the stages that it leaves out
        } | tr ' ' '\n' | sed '/^$/d; s/^/--/' | grep -vE '^--(dynatemp|min-keep|frequency|presence)' | sort -u >values
        # a cold engine may have no stage that knows the temperature: greedy says what it is
        grep -q '^--temp=' values || { chain --engine "$engine" | grep -q '^greedy' && echo --temp=0 >>values; }
        diff page <(sort -u values)
    done
}

@test "sampl-engines(7) has the options that each engine listens to" {
    local engine option
    echo '{}' >schema
    for engine in $(choices --engine | grep -vx llama); do
        while read -r option; do
            case $option in
            --seed | --engine | --neutral | --backend-sampling) continue ;;
            --ignore-eos | --scatter-adaptive) run "$SAMPL" --engine "$engine" "$option" --print-chain /dev/null ;;
            --json-schema) run "$SAMPL" --engine "$engine" "$option" '{}' --print-chain /dev/null ;;
            --json-schema-file) run "$SAMPL" --engine "$engine" "$option" schema --print-chain /dev/null ;;
            --epsilon-cutoff | --eta-cutoff) run "$SAMPL" --engine "$engine" "$option" 0.5 --print-chain /dev/null ;;
            --logit-bias) run "$SAMPL" --engine "$engine" "$option" 1+1 --print-chain /dev/null ;;
            *) run "$SAMPL" --engine "$engine" "$option" 1 --print-chain /dev/null ;;
            esac
            [[ $output == *"engine $engine has "* ]] || echo "$option"
        done < <(chain_options) >program
        [ -s program ]
        section "$ENGINES" ENGINES "$engine" | item options | grep '^-[a-z]' | sed 's/^-/--/' | sort >page
        diff <(sort program) page || { echo "engine $engine" && return 1; }
    done
}

# ---- sampl-formats(5)

@test "sampl-formats(5) has every input format, and the endings that mean it" {
    local format ending n=0
    choices --format | grep -vx auto | sort >program
    section "$FORMATS" 'INPUT FORMATS' | awk '/^\.Ss/ { exit } 1' | heads | sort >page
    diff program page
    # a subsection for each
    subheadings "$FORMATS" 'INPUT FORMATS' | sed 's/.*: //' | tr -d ' ' | tr ',' '\n' | grep -v ' ' | grep -v Masked | sort >page
    diff program page
    for format in $(<program); do
        for ending in $(section "$FORMATS" 'INPUT FORMATS' | awk -v head=".It Cm $format" '/^\.(It|El)/ { inside = $0 == head } inside' | sed -n 's/^\.Pa //p'); do
            printf '\1\2\3\4' >"x$ending"
            run "$SAMPL" -n 1 --temp 0 "x$ending"
            printf '%s %s: %s\n' "$format" "$ending" "$output"
            [[ $output != *'cannot tell the format'* ]]
            # read as it says, it comes to the same
            [ "$output" = "$("$SAMPL" -f "$format" -n 1 --temp 0 "x$ending" 2>&1)" ]
            n=$((n + 1))
        done
    done
    [ "$n" -ge 10 ]
    run -2 "$SAMPL" -n 1 --temp 0 <(printf '\1\2\3\4')
    [[ $output == *'cannot tell the format'* ]]
}

@test "sampl-formats(5) has every output format and everything that can be printed" {
    choices --output-format | sort >program
    section "$FORMATS" 'OUTPUT FORMATS' | awk '/^\.Ss/ { exit } 1' | heads | sort >page
    diff program page
    choices --emit | sort >program
    section "$FORMATS" 'OUTPUT FORMATS' | awk '/^\.Fl -emit ,/ { on = 1; next } /^and of/ { exit } on' | sed -n 's/^\.Cm //p' | tr -d ' ' | tr ',' '\n' | sed '/^$/d' | sort >page
    diff program page
}

@test "sampl-formats(5) has every parameter of a request" {
    local name
    section "$FORMATS" 'JSON ROWS' Parameters >parameters
    { heads <parameters && sed -n 's/^\.Cm //p' parameters | tr -d ' .' | tr ',' '\n'; } | sed '/^$/d' | sort -u >page
    # those of the chain that the program would ask a server for
    "$SAMPL" -s 1 --vocab "$ROOT/samples/austen.gguf" --print-chain=server -l 5+1 --grammar 'root ::= "a"' --dry-sequence-breaker x |
        grep -oE '"[a-z_]+":' | tr -d '":' | sort -u >program
    [ "$(wc -l <program)" -gt 30 ]
    run comm -13 page program
    [ -z "$output" ]
    # each on the page is known to a row: null leaves it as it is, and is no error only where the name is none
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

# The examples of a page: literal blocks that begin with a prompt, each into a file of its own: $2/0, $2/1, ...
extract_examples() {
    awk -v dir="$2" '
        /^\.Bd -literal/ { first = 1; next }
        /^\.Ed/ { file = ""; first = 0; next }
        first && /^\$ / { file = sprintf("%s/%02d", dir, n++) }
        { first = 0 }
        file != "" { gsub(/\\e/, "\\"); gsub(/\\&/, ""); print > file }' "$1"
}

# rerun FILE FOLDER: prints an example as it comes out there. Its commands have "$ " and, in further lines, "> " before them, as in a shell;
# what they print replaces what the example says.
rerun() (
    local line='' command='' printed=''
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

@test "every example of every page prints what stands under it, from the root of the source tree" {
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
            n=$((n + 1))
            for tool in datamash jq; do
                grep -q "$tool" "$example" && ! command -v $tool >/dev/null && continue 2
            done
            rerun "$example" "tree.$name" >printed || true
            diff "$example" printed || { echo "$page, example ${example#*/}" && return 1; }
        done
    done
    [ "$n" -ge 25 ]
    [ "$n" -eq "$(grep -h -A 1 '^\.Bd -literal' "${PAGES[@]}" | grep -c '^\$ ')" ]
    # no prompt elsewhere, which would not be run
    [ "$(cat "${PAGES[@]}" | grep -c '^\$ ')" -eq "$(cat ./*.[157]/* | grep -c '^\$ ')" ]
}

# ---- as manual pages

@test "mandoc has nothing to say" {
    command -v mandoc >/dev/null || { echo "mandoc is missing"; return 1; }
    run -0 mandoc -Tlint -Wwarning "${PAGES[@]}"
    [ -z "$output" ]
}

@test "man has nothing to say, and keeps to 80 columns" {
    local page
    command -v man >/dev/null || { echo "man is missing (man-db)"; return 1; }
    for page in "${PAGES[@]}"; do
        run -0 --separate-stderr env LC_ALL=C.UTF-8 MANWIDTH=80 MANPAGER=cat man -l --warnings "$page"
        [ -z "$stderr" ]
        perl -CS -ne 'chomp; s/.\x08//g; if (length > 80) { print "$_\n"; $long = 1 } END { exit $long }' <<<"$output"
    done
}

@test "what the pages refer to is there" {
    local page name number
    for page in "${PAGES[@]}"; do
        sed -n 's/^\.S[hs] //p' "$page" | sort -u >headings
        run comm -23 <(sed -nE 's/.*(^\.|[^A-Za-z])Sx ([A-Za-z0-9_ -]*[A-Za-z0-9_]).*/\2/p' "$page" | sort -u) headings
        [ -z "$output" ] || { echo "$page: no section $output" && return 1; }
        while read -r name number; do
            [ -f "$ROOT/man/$name.$number" ] || { echo "$page: no $name($number)" && return 1; }
        done < <(sed -nE 's/^\.Xr (sampl[a-z-]*) ([157]).*/\1 \2/p' "$page" | sort -u)
    done
    # the headers and the help cite pages that are there
    while IFS='()' read -r name number; do
        [ -f "$ROOT/man/$name.$number" ]
    done < <(grep -rhoE 'sampl(-[a-z]+)?\([157]\)' "$ROOT/src" "$ROOT/README.md" | sort -u)
}
