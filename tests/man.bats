# SPDX-License-Identifier: MIT
# The manual page against the program: options, defaults, samplers, and examples that run.
bats_require_minimum_version 1.5.0

setup() {
    ROOT=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    PAGE=${PAGE:-$ROOT/man/sampl.1}
    SAMPL=${SAMPL:-$ROOT/build/sampl}
    [[ $SAMPL == /* ]] || SAMPL=$PWD/$SAMPL
}

# The page from one heading (.Sh or .Ss) to the next.
section() {
    awk -v heading="$1" '/^\.S[hs] / { inside = substr($0, 5) == heading; next } inside' "$PAGE"
}

# One line for each option of --help: its names, a tab, its text.
help_options() {
    "$SAMPL" --help | awk '
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

# The commands under EXAMPLES, each into a file of its own: $1/0, $1/1, ...
extract_examples() {
    section EXAMPLES | awk -v dir="$1" '
        /^\.Bd -literal/ { file = dir "/" n++; next }
        /^\.Ed/ { file = ""; next }
        /^\.Dl / { print substr($0, 5) > (dir "/" n++); next }
        file != "" { gsub(/\\e/, "\\"); print > file }'
}

@test "the page and --help have the same long options" {
    help_options | cut -f 1 | long_names >"$BATS_TEST_TMPDIR/help"
    page_options | cut -f 1 | long_names >"$BATS_TEST_TMPDIR/page"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/help")" -gt 50 ]
    diff "$BATS_TEST_TMPDIR/help" "$BATS_TEST_TMPDIR/page"
}

@test "the page names no option that does not exist" {
    help_options | cut -f 1 | long_names >"$BATS_TEST_TMPDIR/help"
    sed -n 's/Fl -\([a-z]\)/--\1/gp' "$PAGE" | long_names >"$BATS_TEST_TMPDIR/page"
    run comm -13 "$BATS_TEST_TMPDIR/help" "$BATS_TEST_TMPDIR/page"
    [ -z "$output" ]
}

@test "aliases and short forms stand together, as in --help" {
    sed 's/\t.*//; s/ [A-Z].*//; s/\[=.*//' <(help_options) | sort >"$BATS_TEST_TMPDIR/help"
    sed 's/\t.*//; s/ Ns.*//; s/ Ar.*//' <(page_options) | sort >"$BATS_TEST_TMPDIR/page"
    diff "$BATS_TEST_TMPDIR/help" "$BATS_TEST_TMPDIR/page"
}

@test "each default of --help stands in the option's paragraph" {
    local names text name default body n=0
    page_options >"$BATS_TEST_TMPDIR/page"
    while IFS=$'\t' read -r names text; do
        [[ $text =~ \(([^\ ()]+)\)(\ \[not\ available\ yet\])?$ ]] || continue
        default=${BASH_REMATCH[1]}
        name=$(long_names <<<"$names" | head -n 1)
        body=$(grep -E -- "^[^	]*$name( |,|	)" "$BATS_TEST_TMPDIR/page" | cut -f 2)
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
    help_options >"$BATS_TEST_TMPDIR/help"
    while IFS=$'\t' read -r names body; do
        [[ $body =~ The\ default\ is\ ([^\ ]+)\.( |$) ]] || continue
        default=${BASH_REMATCH[1]}
        name=$(long_names <<<"$names" | head -n 1)
        text=$(grep -E -- "^[^	]*$name( |,|	)" "$BATS_TEST_TMPDIR/help" | cut -f 2)
        if [[ $text != *"($default)"* ]]; then
            echo "$name: the page says $default, --help: $text"
            return 1
        fi
        n=$((n + 1))
    done < <(page_options)
    [ "$n" -gt 35 ]
}

@test "every sampler has its entry and its letter" {
    local name letter letters item
    section SAMPLERS >"$BATS_TEST_TMPDIR/samplers"
    run -2 "$SAMPL" --sampler-seq '?' /dev/null
    letters=${output##* known are }
    while read -r letter; do
        name=$("$SAMPL" --vocab "$ROOT/samples/austen-vocab.gguf" --sampler-seq "$letter" --print-chain=json |
            perl -ne 'print join " ", grep { !/^(logit_bias|dist)$/ } /"name":"([a-z_]+)"/g')
        item=".It Cm $name Pq letter Ql $letter"
        grep -qxF -- "$item" "$BATS_TEST_TMPDIR/samplers" || { echo "missing: $item" && return 1; }
    done < <(fold -w 1 <<<"$letters")
    [ "${#letters}" -ge 12 ]
}

@test "the page has an entry for every sampler that the program knows" {
    local name
    section SAMPLERS >"$BATS_TEST_TMPDIR/samplers"
    run -2 "$SAMPL" --samplers 'no such sampler' /dev/null
    [[ $output == *' known are '* ]]
    while read -r name; do
        grep -qE -- "^\.It Cm $name( |\$)" "$BATS_TEST_TMPDIR/samplers" || { echo "missing: $name" && return 1; }
    done < <(sed 's/.* known are //; s/, /\n/g' <<<"$output")
}

@test "every example runs from the root of the source tree and prints something" {
    local example tree=$BATS_TEST_TMPDIR/tree commands=$BATS_TEST_TMPDIR/commands n=0
    mkdir -p "$tree" "$commands" "$BATS_TEST_TMPDIR/bin"
    cp -r "$ROOT/samples" "$tree" # examples may write files
    ln -s "$SAMPL" "$BATS_TEST_TMPDIR/bin/sampl"
    extract_examples "$commands"
    cd "$tree"
    for example in "$commands"/*; do
        echo "example: $(<"$example")"
        run -0 --separate-stderr env PATH="$BATS_TEST_TMPDIR/bin:$PATH" bash -eo pipefail "$example"
        echo "stderr: $stderr"
        [ -n "$output" ]
        [ -z "$stderr" ]
        n=$((n + 1))
    done
    [ "$n" -ge 8 ]
    [ "$n" -eq "$(section EXAMPLES | grep -cE '^\.(Dl|Bd)')" ]
}

@test "mandoc has nothing to say" {
    command -v mandoc >/dev/null || skip 'no mandoc'
    run -0 mandoc -Tlint -Wwarning "$PAGE"
    [ -z "$output" ]
}

@test "man has nothing to say" {
    command -v man >/dev/null || skip 'no man'
    run -0 --separate-stderr env LC_ALL=C.UTF-8 MANWIDTH=80 MANPAGER=cat man -l --warnings "$PAGE"
    [ -z "$stderr" ]
}
