#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --draws: tests of draws that another program made. draws.py computes the same numbers with numpy.

load helper

# draws_py ARGUMENT...: runs draws.py.
draws_py() {
    need_numpy
    /usr/bin/python3 "$ROOT/tests/draws.py" "$@"
}

@test "--draws: missing is a probability, or null where the draws are too few to show any" {
    for n in 1 2 10 14 15 16 100 1000; do
        printf '[0,-1,-2]' >row.json
        yes 0 | head -n $n | paste -sd' ' >drawn
        sampl --neutral --draws drawn -O json row.json | jq -r .verdict.missing >missing || [ $? = 4 ]
        awk -v n=$n '{ exit !(n < 15 ? $1 == "null" : $1 > 0 && $1 < 1 && $1 * n > 14.5 && $1 * n < 14.51) }' missing
    done
    # a token of that probability, which the chain has and nobody draws, is found; one of less is not
    printf '[0,%s]' "$(awk 'BEGIN { p = 0.0150; printf "%.6f", log(p / (1 - p)) }')" >above.json
    printf '[0,%s]' "$(awk 'BEGIN { p = 0.0140; printf "%.6f", log(p / (1 - p)) }')" >below.json
    yes 0 | head -n 1000 | paste -sd' ' >drawn
    sampl --neutral --draws drawn -O json above.json | jq -e '.verdict.by[0].test == "last"' || [ "${PIPESTATUS[0]}" = 4 ]
    sampl --neutral --draws drawn -O json below.json | jq -e 'all(.verdict.by[]; .test != "last") and .verdict.missing > 0.0140 and .verdict.missing < 0.0150'
}

@test "--draws reports the numbers that numpy computes" {
    draws_py numbers
}

@test "--draws rejects no right draws in 50 runs, and its p-values are uniform; also with one draw a row and rows that are nearly points" {
    draws_py right $((STEP < 64 ? 50 : 10)) "$START"
}

@test "--draws rejects a temperature 4 % off, top_p without its boundary token, two swapped ids, and temperature before top_p; the verdict says so" {
    draws_py wrong
}

@test "--draws prints the same bytes on every number of threads and on every tier" {
    local n tier
    sampl -n 4096 -s 7 --temp 1.2 "$AUSTEN" >draws
    sampl -n 4096 --draws draws "$AUSTEN" -O json >want || [ $? = 4 ]
    [ -s want ]
    for n in 2 3; do
        sampl -n 4096 --draws draws -t $n -O json "$AUSTEN" | cmp - want
    done
    for tier in $(tiers); do
        SAMPL_CPU=$tier sampl -n 4096 --draws draws -O json "$AUSTEN" | cmp - want
    done
}

@test "--draws reads text and every integer type of .npy alike" {
    need_numpy
    local file
    /usr/bin/python3 -c '
import numpy as np
ids = np.random.default_rng(3).integers(0, 4, (2, 5))
np.savetxt("text", ids, "%d", delimiter=",")
for kind in ("<i1", "|u1", "<i2", ">i2", "<u4", ">i4", "<i8", ">u8"):
    np.save(kind[1:] + str(kind[0] == ">") + ".npy", ids.astype(kind))
np.save("one.npy", ids[:, 0])
np.savetxt("one", ids[:, 0], "%d")'
    echo '[3,2,1,0] [1,1,1,1]' >rows
    sampl --neutral --draws text -O json rows >want
    [ "$(jq .draws want)" = 10 ]
    for file in ??False.npy ??True.npy; do
        sampl --neutral --draws "$file" -O json rows | cmp - want
    done
    cmp <(sampl --neutral --draws one rows) <(sampl --neutral --draws one.npy rows)
    # Windows' ends of lines
    sed 's/$/\r/' text >crlf
    sampl --neutral --draws crlf -O json rows | cmp - want
}

@test "--draws recorded tests the tokens that the input records, and accepts them" {
    # logits of a .kld file, with its tokens
    perl -e '
        print "_logits_", pack("Vll", 8, 5, 2), pack("l*", map { $_ * 7 % 5 } 0 .. 15),
            map { my $r = $_; pack("ff", 1e-4, -6), pack("v*", map { ($r * 977 + $_ * 13007) % 65536 } 1 .. 5), pack("v", 0) } 1 .. 6' >a.kld
    local options
    for options in '--neutral' '--neutral --repeat-penalty 1.5'; do
        # shellcheck disable=SC2086
        run --separate-stderr sampl $options --draws recorded -O json a.kld # the tokens are no draws: status 0 or 4
        [ "$(jq -c '[.rows, .draws]' <<<"$output")" = '[6,6]' ]
        # shellcheck disable=SC2086
        sampl $options --accept recorded --emit stats -s 1 -O json a.kld | jq .accepted >ids
        # shellcheck disable=SC2086
        [ "$(sampl $options --accept recorded --draws ids -O json a.kld || [ $? = 4 ])" = "$output" ]
    done
}

@test "--draws rejects draws whose probability is too small for a number" {
    printf '1 1 0\n' >draws
    run -4 sampl --neutral --temp 1e-30 --draws draws <<<'[1,2,3]'
    [[ $output == *"temperature            >4 of the chain's, p < 1e-300"* ]]
    [ "${lines[0]}" = 'verdict                rejected by last kept token, p < 1e-300; temperature, p < 1e-300' ]
    printf '2 2 2\n' >draws
    run -0 sampl --neutral --temp 1e-30 --draws draws <<<'[1,2,3]'
    [ "${lines[-1]}" = 'temperature            not tested: no draw inside is from a row with a choice' ]
}

@test "--draws writes to the file of --output, and ends with status 4 if it rejects the draws" {
    seq 300 | sed 's/.*/0/' | paste -sd ' ' >draws
    run -4 sampl --draws draws -o report <<<'[1,1]'
    [ -z "$output" ]
    [ "$(sed -n 2p report)" = '1 row, 300 draws' ]
    run -0 sampl --draws draws <<<'[20,0]'
}
