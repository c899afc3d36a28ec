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

# judge STATUS STDOUT STDERR COMMAND: runs one row of the table and prints what is wrong. The command must not create or remove files.
# Starts no process besides the command, as the table has thousands of rows.
judge() {
    local status=0 bytes out
    (eval "$4") >../out 2>../err </dev/null || status=$?
    [ "$status" = "$1" ] || { echo "status $status"; return 1; }
    bytes ../out
    out=${bytes//$'\n'/ }
    out=${out% }
    matches "${out:--}" "$2" || { echo "stdout $out"; return 1; }
    bytes ../err
    bytes=${bytes//: Symbolic link loop$'\n'/: Too many levels of symbolic links$'\n'} # musl's text of this error differs
    if [ "$3" != - ]; then
        messages_match "$bytes" "$3" || return 1
    elif [ -n "$bytes" ]; then
        echo "stderr $bytes"
        return 1
    fi
    files=(*)
    [ "${files[*]}" = "$FILES_BEFORE" ] || { echo "files changed: ${files[*]}, before: $FILES_BEFORE"; return 1; }
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
        fi
    done <../../table
    return "$wrong"
}

# judge_table TABLE GREP_OPTIONS [TEXT]: judges the rows whose command uses inject.so (-w) or does not (-vw), and whose message has this text.
# Each processor judges a part of the rows. A STEP of 8 or more, as of the sanitizers in CI, leaves out as many rows as of other tests:
# a STEP of 20 judges each fifth. The short suite judges every row once, but few of those with inject.so or with TEXT.
judge_table() {
    local shards shard pids=() wrong=0 n every=$((STEP < 8 ? 1 : STEP / 4))
    [[ ! ${SAMPL_TEST_SHORT-} || $2 != -v* || ${3-} ]] || every=1
    shards=$(nproc)
    grep -v -e '^#' -e '^$' -e '^unreachable' "$BATS_TEST_DIRNAME/$1" | grep -E "$2" 'inject|oom' |
        awk -F '\t' -v text="${3-}" -v every="$every" -v start="$START" 'index($3, text) && (NR + start) % every == 0' >table
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
    [ "$n" -gt 0 ] && [ "$wrong" = 0 ]
}
