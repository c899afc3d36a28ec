#!/usr/bin/env bats
# Recorded cases of llama.cpp (build 10587), and of a separate program for the samplers of other programs. Chosen ids, numbers of kept
# candidates and probabilities must be equal to the last bit. tests/cases/import.py made the tables.

load helper

# run_case NAME FILE DTYPE N ROWS ARGS PROMPT ACCEPT [OPTION...]: runs sampl for a case, with further options.
run_case() {
    local file=$2 dtype=$3 n=$4 rows=$5 args=$6 prompt=$7 accept=$8 words
    shift 8
    eval "words=($args)"
    [ "$prompt" = - ] || words+=(--prompt-tokens "$prompt")
    [ "$accept" = - ] || words+=(--accept "$accept")
    [ -e "$ROOT/samples/$file" ] && file=$ROOT/samples/$file || file=$ROOT/tests/cases/$file
    sampl -f "$dtype" -n "$n" --rows ":$rows" "${words[@]}" "$@" "$file" 2>/dev/null
}

# close NAME: checks that the files want and got have the same ids and probabilities. scatter's reference is an f64 program, compared to
# 1e-6.
close() {
    case $1 in
    scatter-*|*-creative)
        paste want got | awk '{ d = $3 - $6; if (d < 0) d = -d; if ($1 != $4 || $2 != $5 || d > 1e-6 * ($3 > 1e-6 ? $3 : 1e-6) + 1e-9) exit 1 }' ;;
    *)  cmp -s want got ;;
    esac
}

# check_table NAME LEAST: checks every case of the table, which has at least LEAST cases.
check_table() {
    local failed=0 cases=0 got
    awk -F'\t' '{ file = "want." $1; print $2 "\t" $3 "\t" $4 >file } file != last { if (last) close(last); last = file }' "$ROOT/tests/cases/$1.probs"
    while IFS=$'\t' read -r name file dtype n rows args prompt accept ids kept; do
        local case=("$name" "$file" "$dtype" "$n" "$rows" "$args" "$prompt" "$accept")
        cases=$((cases + 1))
        got=$(run_case "${case[@]}" -O tsv | awk -F'\t' 'NR > 1 { ids = ids "," $2; kept = kept "," $4 } END { print substr(ids, 2) "\t" substr(kept, 2) }')
        if [ "$got" != "$ids"$'\t'"$kept" ]; then
            echo "$name: other ids or counts"
            failed=1
        fi
        mv "want.$name" want
        run_case "${case[@]}" --dump-probs -O tsv |
            awk -F'\t' 'NR == FNR { want[$1 + 0]++; next } FNR > 1 && $2 <= want[$1 + 0] { print $1 "\t" $3 "\t" $5 }' want - >got
        if ! close "$name"; then
            echo "$name: other probabilities"
            diff want got | head -4
            failed=1
        fi
    done <"$ROOT/tests/cases/$1.tsv"
    echo "$cases cases"
    [ "$failed" -eq 0 ]
    [ "$cases" -ge "$2" ]
}

@test "every recorded case of llama.cpp gives its ids, counts and probabilities" {
    check_table llama 100
}

@test "every recorded case of other programs' samplers gives its ids, counts and probabilities" {
    check_table extra 57
}
