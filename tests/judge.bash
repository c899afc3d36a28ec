# SPDX-License-Identifier: MIT
# Judges the rows of a table: errors.tsv and field.tsv. A row has a status, what the command prints on stdout and stderr, and the command;
# the head of errors.tsv explains these columns. Further columns are for people. A file that loads this one copies the files that commands
# read to $BATS_FILE_TMPDIR/files.
# shellcheck shell=bash

# matches TEXT PATTERN: succeeds if the text equals the pattern, in which {*} stands for any text.
matches() {
    local pattern=$2
    pattern=${pattern//\\/\\\\}
    pattern=${pattern//\*/\\*}
    pattern=${pattern//\?/\\?}
    pattern=${pattern//\[/\\[}
    pattern=${pattern//'{\*}'/*}
    # shellcheck disable=SC2053
    [[ $1 == $pattern ]]
}

# bytes FILE: sets `bytes` to the content of the file, without NULs. Starts no process.
bytes() {
    local part
    bytes=
    while IFS= read -r -d '' part || [ -n "$part" ]; do bytes+=$part; done <"$1"
}

# messages_match TEXT PATTERNS: checks that each line of the text begins with "sampl: ", has no control character and matches its
# pattern. Otherwise prints what is wrong and fails.
messages_match() {
    local text=$1 line
    [[ $text == *$'\n' ]] || { echo "stderr $text"; return 1; }
    while IFS= read -r line; do
        [[ $line == 'sampl: '?* && $line != *[[:cntrl:]]* ]] || { echo "control characters or broken lines in $text"; return 1; }
    done <<<"${text%$'\n'}"
    matches "$text" "sampl: ${2// \/\/ /$'\n'sampl: }"$'\n' || { echo "stderr $text"; return 1; }
}

# run_row COMMAND: runs the command of a row, and sets `status`, `out` in the form of the column stdout, and `bytes` to what it printed on stderr.
run_row() {
    status=0
    (eval "$1") >../out 2>../err </dev/null || status=$?
    bytes ../out
    out=${bytes//$'\n'/ }
    out=${out% }
    out=${out:--}
    bytes ../err
    bytes=${bytes//: Symbolic link loop$'\n'/: Too many levels of symbolic links$'\n'} # musl's text of this error differs
}

# judge STATUS STDOUT STDERR COMMAND: runs one row of the table and prints what is wrong. The command must not create or remove files.
# Starts no process besides the command, as the table has thousands of rows.
judge() {
    local status bytes out
    run_row "$4"
    [ "$status" = "$1" ] || { echo "status $status"; return 1; }
    matches "$out" "$2" || { echo "stdout $out"; return 1; }
    if [ "$3" != - ]; then
        messages_match "$bytes" "$3" || return 1
    elif [ -n "$bytes" ]; then
        echo "stderr $bytes"
        return 1
    fi
    files=(*)
    [ "${files[*]}" = "$FILES_BEFORE" ] || { echo "files changed: ${files[*]}, before: $FILES_BEFORE"; return 1; }
}

# bless_row STDOUT STDERR COMMAND: runs the row again, and adds what it prints, in the form of the table, and the command to the file BLESSED.
# Where a text still matches its pattern, the pattern stays. Fails if the table has no form for what the row prints.
bless_row() {
    local status bytes out line messages=() pattern patterns=() i
    run_row "$3"
    ! matches "$out" "$1" || out=$1
    [[ -z $bytes || $bytes == *$'\n' ]] || return 1
    while IFS= read -r pattern; do patterns+=("$pattern"); done <<<"${2// \/\/ /$'\n'}"
    while IFS= read -r line; do
        [[ $line == 'sampl: '?* && $line != *[[:cntrl:]]* ]] || return 1
        line=${line#sampl: } pattern=${patterns[${#messages[@]}]-}
        ! matches "$line" "$pattern" || line=$pattern
        messages+=("$line")
    done < <(printf %s "$bytes")
    line=${messages[0]--}
    for ((i = 1; i < ${#messages[@]}; i++)); do line+=" // ${messages[i]}"; done
    [[ $out != *[[:cntrl:]]* ]] || return 1
    printf '%s\t%s\t%s\t%s\n' "$status" "$out" "$line" "$3" >>"$BLESSED"
}

# judge_rows FOLDER FIRST STEP: judges each STEP-th row of ../table from row FIRST on, in the new folder. Prints what is wrong.
judge_rows() {
    local status out err command wrong=0 i=0 why expect files
    mkdir "$1"
    cp -R "$BATS_FILE_TMPDIR/files" "$1/files"
    cd "$1/files" || return 1
    shopt -s dotglob nullglob
    files=(*)
    FILES_BEFORE=${files[*]}
    while IFS=$'\t' read -r status out err command _; do
        (((i++ - $2) % $3 == 0)) || continue
        expect=${status#!}
        if why=$(judge "$expect" "$out" "$err" "$command"); then
            [ "$status" = "$expect" ] || { echo "this row passes now, remove its '!': $command"; wrong=1; }
        elif [ "$status" = "$expect" ]; then
            printf '%s\n   want status %s, stdout %s, stderr %s\n   got  %s\n' "$command" "$status" "$out" "$err" "$why"
            wrong=1
            [ -z "${BLESSED-}" ] || bless_row "$out" "$err" "$command" || echo '   which has no form in a table'
        fi
    done <../../table
    return "$wrong"
}

# judge_table TABLE GREP_OPTIONS [TEXT]: judges the rows whose command uses inject.so (-w) or does not (-vw), and whose message has this text.
# Each processor judges a part of the rows. A STEP of 8 or more, as of the sanitizers in CI, leaves out as many rows as of other tests:
# a STEP of 20 judges each fifth. The short suite judges every row once, but few of those with inject.so or with TEXT. bless.sh sets BLESSED
# to the name of a file, and by SAMPL_TEST_CASE chooses rows that contain a text.
judge_table() {
    local shards shard pids=() wrong=0 n every=$((STEP < 8 ? 1 : STEP / 4))
    [[ ! ${SAMPL_TEST_SHORT-} || $2 != -v* || ${3-} ]] || every=1
    shards=$(nproc)
    grep -v -e '^#' -e '^$' -e '^unreachable' "$BATS_TEST_DIRNAME/$1" | grep -E "$2" 'inject|oom' |
        case=${BLESSED:+${SAMPL_TEST_CASE-}} awk -F '\t' -v text="${3-}" -v every="$every" -v start="$START" '
            index($3, text) && index($0, ENVIRON["case"]) && (NR + start) % every == 0' >table
    for ((shard = 0; shard < shards; shard++)); do
        judge_rows "shard.$shard" "$shard" "$shards" >"wrong.$shard" 2>&1 3>&- &
        pids+=($!)
    done
    for shard in "${!pids[@]}"; do
        wait "${pids[shard]}" || wrong=1
        cat "wrong.$shard"
    done
    n=$(wc -l <table)
    echo "$n rows"
    [ "${BLESSED-}" ] || [ "$n" -gt 0 ] && [ "$wrong" = 0 ]
}
