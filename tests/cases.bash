# SPDX-License-Identifier: MIT
# Reads and runs the cases of a .test file, for cases.bats and bless.sh. In the environment: ROOT, the function `sampl`, and
# BATS_TEST_TMPDIR, a folder for scratch files.
# shellcheck shell=bash

# WORDS: matches options that a shell only splits into words. Text that the shell would run or expand is in quotes.
WORDS=$'^([^\'"\\\\$`;|&<>()#]|\'[^\']*\'|\\$\'([^\'\\\\]|\\\\.)*\'|"([^"\\\\$`]|\\\\.)*"|\\\\.)*$'
# MARKED: matches the valid expected lines that begin with ! or a backslash.
MARKED='^(!( [0-9]+|!)( .*)?|\\(c|[\\!].*)?)$'

# run_cases FILE: runs the cases whose title contains SAMPL_TEST_CASE, by default all; of a file of the suite, if SAMPL_TEST_CASES is N, only
# the first and each N-th. Prints each case that fails with its line, its
# command and the difference. Fails if a case fails, or if a line does not have the form of a case.
run_cases() {
    local file=$1 shown=${1#"$ROOT/"} lines at title='' remark='' cases=0 ran=0 failed=0 each=1
    [[ $1 != "$ROOT"/* ]] || each=${SAMPL_TEST_CASES:-1}
    trap - DEBUG # the trap of bats would take more time than a case
    mapfile -t lines <"$file"
    cd "$ROOT" || return 1
    for ((at = 0; at < ${#lines[@]}; at++)); do
        case ${lines[at]} in
        '#'*)
            title=${lines[at]#'#'}
            title=${title# } remark=yes
            ;;
        '') # a comment before a blank line is no title
            [ -z "$remark" ] || title=''
            remark=''
            ;;
        *)
            remark='' cases=$((cases + 1))
            run_case || failed=$((failed + 1))
            ;;
        esac
    done
    [ "$cases" -gt 0 ] || { echo "$shown: the file has no case" && return 1; }
    echo "$shown: $failed of $ran cases failed"
    [ "$failed" -eq 0 ] || return 1
    [ "$ran" -gt 0 ] || skip "no title in $shown contains '$SAMPL_TEST_CASE'"
}

# run_case: runs the case that begins in lines[at], and sets `at` to its last line. Fails if the program prints something else.
run_case() {
    local - first=$((at + 1)) options=${lines[at]} rows=${lines[at + 1]-} want='' printed words files=() name status=0
    local input command=${RUN_ENV:+$RUN_ENV }${SAMPL#"$ROOT/"} odd=''
    set -f # words and file names are not patterns
    while [ -n "${lines[at + 1]-}" ]; do
        at=$((at + 1))
        [ "$at" -gt "$first" ] || continue
        want+=${lines[at]}$'\n'
        [[ ${lines[at]} != [\\!]* || ${lines[at]} =~ $MARKED ]] || odd=$((at + 1))
    done
    [[ $title == *"${SAMPL_TEST_CASE-}"* ]] || return 0
    ((cases == 1 || (cases + ${SAMPL_TEST_TURN:-0}) % each == 0)) || return 0
    ran=$((ran + 1))
    [ -n "$title" ] || malformed "$first" 'a case needs a title, a comment in the line above it' || return
    [ -n "$want" ] || [ "${BLESS:+$rows}" ] || malformed "$first" 'a case needs options, rows, and the lines that are printed or ! 0' || return
    [ -z "$odd" ] || malformed "$odd" 'a line that begins with ! or \ has none of the known forms' || return
    [[ $options =~ $WORDS ]] || malformed "$first" 'the options are not words as a shell splits them' || return
    eval "words=($options)"
    case $rows in
    '['* | '{'*) input="<<<'${rows//\'/\'\\\'\'}'" ;;
    -) input='</dev/null' ;;
    *)
        input=$rows
        read -ra files <<<"$rows"
        for name in "${files[@]}"; do
            [ -f "$name" ] || malformed "$((first + 1))" "rows are JSON, files or -; there is no file '$name'" || return
        done
        ;;
    esac
    if [[ $input == '<<<'* ]]; then
        sampl "${words[@]}" <<<"$rows"
    else
        sampl "${words[@]}" "${files[@]}" </dev/null
    fi >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
    read_printed
    [ "$printed" != "$want" ] || return 0
    printf '%s:%d: %s\n%s %s %s\n' "$shown" "$first" "$title" "$command" "$options" "$input"
    diff -u --label expected --label printed <(printf %s "$want") <(printf %s "$printed")
    bless_case $((first + 1)) "$at" "$printed"
}

# bless_case BEGIN END PRINTED: called for a case that prints something else than the lines from index BEGIN to END. bless.sh has another.
bless_case() {
    return 1
}

# malformed LINE TEXT: reports that this line of the file does not have the form of a case. Fails.
malformed() {
    echo "$shown:$1: $2"
    return 1
}

# read_printed: sets `printed` to the contents of the files out and err and to the status, in the form of a case.
read_printed() {
    local line stdout stderr reported=''
    printed=''
    mapfile stdout <"$BATS_TEST_TMPDIR/out"
    for line in "${stdout[@]}"; do
        [[ $line != [\\!$'\n']* ]] || line=\\$line
        [[ $line == *$'\n' ]] || line+=$'\n\\c\n'
        printed+=$line
    done
    mapfile -t stderr <"$BATS_TEST_TMPDIR/err"
    for line in "${stderr[@]}"; do
        case $line in
        'sampl: '*) line="! $status ${line#sampl: }" reported=yes ;;
        *) line="!! $line" ;;
        esac
        printed+=$line$'\n'
    done
    if [ -z "$reported" ] && { [ -z "$printed" ] || [ "$status" -ne 0 ]; }; then printed+="! $status"$'\n'; fi
}
