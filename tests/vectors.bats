#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# samples/vectors: the test vectors are fresh, sampl and a port in numpy pass them, and wrong ports fail where their mistake is.

load helper

# check ARGUMENT...: runs check.py.
check() {
    /usr/bin/python3 "$ROOT/samples/vectors/check.py" "$@"
}

@test "make vectors writes the files of samples/vectors" {
    need python3
    python3 "$ROOT/tests/vectors/make.py" "$SAMPL" .
    diff -r . "$ROOT/samples/vectors" -x README.md -x check.py -x functions.c
}

@test "samples/vectors has at least 15 files and 400 lines in 4 MB, and marks fewer than half as edge" {
    local lines edge file
    [ "$(find "$ROOT"/samples/vectors -name '*.jsonl' | wc -l)" -ge 15 ]
    [ "$(du -sb "$ROOT/samples/vectors" | cut -f 1)" -le 4000000 ]
    [ "$(wc -l <"$ROOT/samples/vectors/check.py")" -le 100 ]
    lines=$(cat "$ROOT"/samples/vectors/*.jsonl | wc -l)
    edge=$(cat "$ROOT"/samples/vectors/*.jsonl | grep -c '"edge":true')
    [ "$lines" -ge 400 ]
    [ $((2 * edge)) -lt "$lines" ]
    # Names are unique, and begin with the name of the file.
    for file in "$ROOT"/samples/vectors/*.jsonl; do
        [ "$(jq -r '.name | split("/")[0]' "$file" | sort -u)" = "$(basename "$file" .jsonl)" ]
    done
    [ "$(jq -r .name "$ROOT"/samples/vectors/*.jsonl | sort | uniq -d | wc -l)" = 0 ]
}

# answers: answers the lines on standard input by one process of sampl.
answers() {
    /usr/bin/python3 "$ROOT/tests/vectors/sampl.py" "$SAMPL"
}

@test "sampl passes the vectors through one process, and answers with the same bits on every tier" {
    local tier
    run -0 check /usr/bin/python3 "$ROOT/tests/vectors/sampl.py" "$SAMPL"
    [[ ${lines[-1]} =~ ^all\ +([0-9]+)\ +([0-9]+)\ +0\ +0$ ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    cat "$ROOT"/samples/vectors/*.jsonl | awk -v step="$STEP" -v start="$START" 'NR % step == start' >some
    answers <some >expected
    [ "$(wc -l <expected)" = "$(wc -l <some)" ]
    for tier in $(tiers); do
        SAMPL_CPU=$tier answers <some >got
        same expected got
    done
}

@test "sampl passes the vectors by the flags of a line, too" {
    run -0 --separate-stderr check --only /another python3 "$ROOT/tests/vectors/sampl.py" "$SAMPL" flags
    [[ ${lines[-1]} =~ ^all\ +([0-9]+)\ +([0-9]+)\ +0\ +0$ ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    [ "${BASH_REMATCH[1]}" -ge 25 ]
    run -0 --separate-stderr check --only chains/ python3 "$ROOT/tests/vectors/sampl.py" "$SAMPL" flags
    run -0 --separate-stderr check --only /values-0 python3 "$ROOT/tests/vectors/sampl.py" "$SAMPL" flags # engines
    [[ ${lines[-1]} =~ ^all\ +10\ +10\ +0\ +0$ ]]
}

@test "a port in numpy, written from the manual, passes the vectors" {
    need_numpy
    run -0 check /usr/bin/python3 "$ROOT/tests/vectors/port.py"
    [[ ${lines[-1]} =~ ^all\ +[0-9]+\ +[0-9]+\ +0\ +[0-9]+$ ]]
}

@test "wrong ports fail in the files of their mistake" {
    need_numpy
    local name files n=0 file
    declare -A found
    /usr/bin/python3 "$ROOT/tests/vectors/wrong.py" --list >every
    few 8 <every >list
    # shellcheck disable=SC2046 # words
    /usr/bin/python3 "$ROOT/tests/vectors/wrong.py" --found $(cut -d ' ' -f 1 list) >found # with numpy's warnings on standard error
    while read -r name files; do found[$name]=$files; done <found
    while read -r name files; do
        n=$((n + 1))
        for file in $files; do # the README says which file catches it
            grep -qE "^\| \`$file\` \|.*[ ]${name}[ ,]" "$ROOT/samples/vectors/README.md" || { echo "README: $name, $file" && return 1; }
        done
        if [ "$files" ]; then
            [ "${found[$name]-}" = "$files" ] || { echo "$name: found in ${found[$name]-}" && return 1; }
        else
            [ "$(wc -w <<<"${found[$name]-}")" -ge 20 ] || { echo "$name: found in ${found[$name]-}" && return 1; }
        fi
    done <list
    enough "$n" 95
    # Each file catches a mistake of its own; dist those of the draw, which nearly every file catches.
    for file in "$ROOT"/samples/vectors/*.jsonl; do
        grep -qw "$(basename "$file" .jsonl)" every || [ "$(basename "$file")" = dist.jsonl ] ||
            { echo "no wrong port: $file" && return 1; }
    done
    # An overflow concerns rows of high logits only, and the report says so.
    run -1 check --all /usr/bin/python3 "$ROOT/tests/vectors/wrong.py" softmax_overflow
    [ "$(grep -c '^    [a-z]' <<<"$output")" -gt 50 ]
    odd=$(grep '^    [a-z]' <<<"$output" | grep -vE '/(high|huge)|-high:|\(edge\)$' || true)
    [ -z "$odd" ]
}

@test "check.py --only NAMES gives a port the lines of these samplers, and no others" {
    run check --only top_k,temperature,min_p sh -c 'tee lines | jq -c "{name, ids: .stages[-1].ids, probs: .stages[-1].probs, id}"'
    jq -r '.stages[].name' lines | sort -u | paste -sd ' ' | grep -qx 'dist min_p temperature top_k'
    [ "$(wc -l <lines)" -eq "$(cat "$ROOT"/samples/vectors/*.jsonl |
        jq -c 'select(all(.stages[].name; IN("top_k", "temperature", "min_p", "dist")))' | wc -l)" ]
    grep -q '"name":"chains/' <(jq -c . lines) # a chain of the three, too
    run -1 check --only top_k,no_such cat
    [ "$output" = "check.py: --only: no line has a stage 'no_such'" ]
}

@test "check.py reports what is wrong with an answer" {
    cat >port <<'END'
#!/bin/sh
exec jq -c '{name, ids: .stages[-1].ids, probs: .stages[-1].probs, id}
    | if .name == "top_k/ties" then .id += 1
      elif .name == "top_k/flat" then .ids[0] = 99
      elif .name == "top_k/two" then .probs[0] = 0.5
      elif .name == "top_k/three" then .ids = .ids[1:]
      elif .name == "top_k/one" then empty
      else . end'
END
    chmod +x port
    run -1 check --all --only top_k/t ./port
    [ "$output" = 'file              lines  right  wrong   edge
top_k                 9      6      3      0
    top_k/two: token 1 has probability 0.5; expected is 0.7310586
        two candidates, the likeliest last
    top_k/three: 2 tokens are kept, without 0; expected are 3
        three candidates
    top_k/ties: token 2 is chosen; expected is 1, draw 0.22733907496470684
        equal logits: the lower id ranks first
all                   9      6      3      0' ]
    run -1 check --only top_k/one ./port
    [[ $output == *'top_k/one: no answer'* ]]
    run -1 check --only top_k/flat ./port
    [[ $output == *'top_k/flat: token 0 is not kept'* ]]
    run -1 check --only 'no such name' ./port
    for words in '' --help --only; do
        # shellcheck disable=SC2086
        run -1 check $words
        [[ $output == 'Checks a sampler against the test vectors'* ]]
    done
    run -1 check ./missing
    [ "$output" = 'check.py: cannot run ./missing: No such file or directory' ]
    run -1 check echo hi
    [ "$output" = 'check.py: echo printed a line that is not an object with a "name"' ]
    run -1 check --only top_k/one jq -c '{name, id}'
    [[ $output == *'top_k/one: the answer has no ids, probs'* ]]
    run -1 check --only top_k/one jq -c '{name, id, ids: null, probs: []}'
    [[ $output == *'top_k/one: ids and probs are not lists of numbers'* ]]
    run -1 check --only top_k/one jq -c '{name, id, ids: .stages[-1].ids, probs: [null]}' # NaN in JavaScript's JSON
    [[ $output == *'top_k/one: ids and probs are not lists of numbers'* ]]
    run -1 check --only top_k/two jq -c '{name, id, ids: .stages[-1].ids, probs: .stages[-1].probs[1:]}'
    [[ $output == *'top_k/two: token '*' has probability '* ]]
}
