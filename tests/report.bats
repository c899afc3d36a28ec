#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# --report: how far the raw rows of two inputs agree.

load helper

# rows NAME SEED ROWS WIDTH NOISE: writes rows of logits to NAME.npy, some of them masked. Rows of one seed differ by noise only.
rows() {
    /usr/bin/python3 - "$@" <<'END'
import sys
import numpy as np
name, seed, n, width, noise = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
x = np.random.default_rng(seed).normal(0, 3, (n, 300))[:, :width]
x = x + noise * np.random.default_rng(seed + 1).normal(0, 1, x.shape)
x[:, 7] = x[:, 11]
x[0, 3] = -np.inf
np.save(name, x.astype("f4"))
END
}

# shellcheck disable=SC2094 # OTHER may be BASE
# report_as_numpy BASE OTHER TOKENS OPTION...: checks the report on two .npy files against numpy, alone and in threads.
report_as_numpy() {
    local base=$1 other=$2 tokens=$3 accept=()
    shift 3
    [ ! -s "$tokens" ] || accept=(--accept "@$tokens")
    sampl -s 1 "$@" --against "$other" "${accept[@]}" --report -O json "$base" >json 2>notes
    sampl -s 1 "$@" --against "$other" "${accept[@]}" --report "$base" >text 2>notes
    sampl -s 1 "$@" --against "$other" "${accept[@]}" --report -t 3 "$base" 2>notes | cmp - text
    sampl -s 1 "$@" "${accept[@]}" --emit logits -O npy "$base" >chain.base.npy
    sampl -s 1 "$@" "${accept[@]}" --emit logits -O npy "$other" >chain.other.npy
    sampl -s 1 --samplers '' --emit logits -O npy "$base" >raw.base.npy
    sampl -s 1 --samplers '' --emit logits -O npy "$other" >raw.other.npy
    /usr/bin/python3 "$ROOT/tests/report.py" json text raw.base.npy raw.other.npy chain.base.npy chain.other.npy "$tokens"
}

@test "--report has the figures that numpy computes, with and without tokens" {
    need_numpy
    rows a 1 60 300 0
    rows b 1 60 300 .3
    : >none
    seq 20 79 >tokens
    report_as_numpy a.npy b.npy tokens --top-k 40
    report_as_numpy a.npy b.npy none --temp 1.5
    report_as_numpy a.npy a.npy none
    report_as_numpy a.npy b.npy tokens --repeat-penalty 1.2 --samplers 'penalties;top_p'
}

@test "--report of one row, of a masked token, and of rows of two widths" {
    need_numpy
    rows a 2 1 300 0
    rows b 2 1 300 .5
    rows wide 3 40 300 .2
    rows narrow 3 40 200 0
    : >none
    echo 5 >tokens
    report_as_numpy a.npy b.npy tokens
    report_as_numpy a.npy b.npy none
    seq 10 49 >tokens
    report_as_numpy wide.npy narrow.npy tokens --samplers ''
    # the base masks token 3 of row 0: its perplexity is infinite
    seq 3 42 >tokens
    sampl -s 1 --against narrow.npy --report -O json --accept @tokens narrow.npy | jq -e '.ppl.q == {"mean":null,"se":null} and .kld.max == 0'
}

@test "--report of no rows prints nan, on every processor without a sign, and ends with status 1: nothing was compared" {
    [ "$(sampl -f f32 -n 3 --report --against /dev/null /dev/null | grep -c 'nan')" -eq 44 ]
    [ "$(sampl -f f32 -n 3 --report --against /dev/null /dev/null | grep -c -e '-nan')" -eq 0 ]
    run -1 --separate-stderr sampl -f f32 -n 3 --report -O json --against /dev/null /dev/null
    jq -e '.rows == 0 and .kld.mean == null' <<<"$output"
    # shellcheck disable=SC2154 # `run` sets stderr
    [ "$stderr" = 'sampl: --report: nothing was compared: no row is good' ]
    run -1 sampl -s 1 --on-error skip --report --against <(echo '[1,2]') <(echo '["x"]')
    # the check of sampl-compare(7) fails if a figure is infinite, which JSON has as null
    check=$(sed -n "s/.*samples.austen.f16 | jq -e '\(.*kld.*\)'$/\1/p" "$ROOT/man/sampl-compare.7")
    sampl -s 1 --neutral --report -O json --against <(echo '[1,null]') <<<'[1,2]' | run -1 jq -e "$check"
}

@test "--report of a kld file has llama-perplexity's figures, and other views a distribution" {
    need_numpy
    /usr/bin/python3 "$ROOT/tests/kld.py"
}

@test "--report counts a sparse row's missing token as masked" {
    echo '{"ids":[1,5,9],"logits":[2,1,0]}' >a.json
    echo '{"ids":[1,7,9],"logits":[2,1,0]}' >b.json
    sampl -s 1 --against b.json --report -O json a.json >got
    jq -e '.rows == 1 and .kld.mean == null and .same_top.mean == 1 and (.top5 * 3 | round) == 2 and .dp.mean == 0' got
    sampl -s 1 --against a.json --report a.json | grep -qx 'Mean    KLD:   0.000000 ±        nan'
}

# Two numbers of -1.12 may stand for -1.116 and -1.124, in either order.
@test "--report does not compare the likeliest tokens of a list whose rounded numbers are equal there" {
    local numbers top1 top5
    while read -r numbers top1 top5; do
        jq -nc "[$numbers] | to_entries | map({id: .key, logprob: .value}) | {completion_probabilities: [.[0] + {top_logprobs: .}]}" >a.json
        sampl -s 1 --against a.json --report -O json a.json >got 2>/dev/null || { echo "$numbers"; return 1; }
        jq -e --argjson top1 "$top1" --argjson top5 "$top5" '.same_top.mean == $top1 and .top5 == $top5' got || { echo "$numbers" && cat got && return 1; }
    done <<'END'
-0.81,-1.52,-2.03,-2.54,-3.35,-4.16 1 1
-1.12,-1.12,-2.03,-2.54,-3.35,-4.16 null 1
-0.81,-1.52,-2.03,-2.54,-3.05,-3.05,-4.16 1 null
-0.81,-1.52,-2.03,-2.54,-3.05,-3.12,-4.16 1 1
END
}

@test "--report prints the figures of the rows before an error, and leaves bad rows out" {
    f32 1 2 3 1 nan 3 3 2 1 >a.f32
    f32 1 2 3 1 2 3 3 2 2 >b.f32
    run -1 --separate-stderr sampl -n 3 -s 1 --on-error skip --against b.f32 --report -O json a.f32
    [ "$(jq .rows <<<"$output")" -eq 2 ]
    run -1 --separate-stderr sampl -n 3 -s 1 --against b.f32 --report -O json a.f32
    [ "$(jq .rows <<<"$output")" -eq 1 ]
    sampl -n 3 -s 1 --rows 5: --against b.f32 --report -O json b.f32 2>/dev/null | jq -e '.rows == 0 and .kld.mean == null'
}

# Lists of the k likeliest tokens of a.npy are compared with those of b.npy, and with the whole rows of b.npy.
@test "--report of lists: KLD is the divergence with the unlisted tokens as one, and no other figure differs from whole rows" {
    need_numpy
    /usr/bin/python3 - >runs <<'END'
import json
import numpy as np
r = np.random.default_rng(11)
a = r.normal(0, 2.5, (12, 60)).astype("f4")
b = (a + r.normal(0, .4, a.shape)).astype("f4")
np.save("a.npy", a), np.save("b.npy", b)
def log_p(x):
    x = x.astype("f8") - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))
p, q = log_p(a), log_p(b)
def listed(x, k):
    return np.argsort(-x, 1, kind="stable")[:, :k]
for k in (1, 3, 8, 20, 59):
    for name, x in (("a", p), ("b", q)):
        ids = listed(x, k)
        with open(f"{name}{k}.json", "w") as f:
            json.dump({"topk_ids": ids.tolist(), "topk_logprobs": np.take_along_axis(x, ids, 1).tolist()}, f)
    for whole in (False, True):
        bound = []
        for i in range(len(a)):
            both = set(listed(p, k)[i]) & (set(range(60)) if whole else set(listed(q, k)[i]))
            at = np.array(sorted(both), int)
            P, Q = 1 - np.exp(p[i, at]).sum(), 1 - np.exp(q[i, at]).sum()
            bound.append((np.exp(p[i, at]) * (p[i, at] - q[i, at])).sum() + (P * np.log(P / Q) if P > 1e-9 else 0))
        print(f"a{k}.json", "b.npy" if whole else f"b{k}.json", np.mean(bound))
END
    sampl -s 1 --against b.npy --report -O json --samplers top_k --top-k 5 a.npy >whole
    local base other bound
    while read -r base other bound; do
        sampl -s 1 -n 60 --against "$other" --report -O json --samplers top_k --top-k 5 "$base" >got 2>said
        grep -q '^sampl: note: --report: 12 of 12 rows are lists: ' said
        jq -en --slurpfile got got --slurpfile whole whole --argjson bound "$bound" '
            def near($x; $y): $x == null or ($x - $y | fabs) < 1e-5;
            $got[0] as $g | $whole[0] as $w | near($g.kld.mean; $bound) and $g.kld.mean <= $w.kld.mean + 1e-6 and $g.lists == 12 and $w.lists == 0
            and ([["dp", "mean"], ["dp", "p95"], ["dp", "rms"], ["same_top", "mean"], ["top5"], ["top10"], ["acceptance"], ["nmse"], ["dlogp", "max"], ["dlogp", "mean"]]
            | all(. as $path | near($g | getpath($path); $w | getpath($path))))' >true || { echo "$base $other"; cat got; return 1; } >&2
        jq -c '[.dp.mean, .same_top.mean, .top5, .top10, .acceptance, .dlogp.mean] | map(. != null)' got
    done <runs >known
    # same_top is known of every list, top5 and top10 of lists that are long enough, dp if both list the base's best
    [ "$(grep -c '^\[.*,true,' known)" -eq 10 ]
    [ "$(sed -n '1p;5p;7p;9p' known)" = '[false,true,false,false,false,false]
[true,true,true,false,true,false]
[true,true,true,true,true,false]
[true,true,true,true,true,true]' ] || { cat known; return 1; }
}

@test "--report: drafts of several tokens lie within one text" {
    printf '%s\n' '{"seq":"a","logits":[0,0]}' '{"seq":"a","logits":[0,9]}' '{"seq":"b","logits":[0,0]}' '{"seq":"a","logits":[0,0]}' >rows.json
    printf '%s\n' '[0,-99]' '[0,9]' '[0,0]' '[0,0]' >other.json
    sampl -s 1 --neutral --report -O json --against other.json rows.json |
        jq -c '[.acceptance, .acceptance_equal, .accepted["1"], .accepted["2"], .accepted["3"]] | map(if . then . * 1000 | round else . end)' >got
    [ "$(cat got)" = '[875,625,875,1000,null]' ]
}

@test "--emit residual is max(p - q, 0) divided by its sum, also where rows list other tokens, and p where both are equal" {
    need_numpy
    sampl -n 4096 --samplers temperature --temp 1.5 --emit logits -O f32 "$AUSTEN" >q.f32
    sampl -n 4096 --neutral --emit logits -O f32 "$AUSTEN" >p.f32
    local chain n=0
    for chain in --neutral '--top-k 40 --temp 0.7' '--samplers top_p --top-p 0.9'; do
        # shellcheck disable=SC2086
        {
            sampl -n 4096 -f f32 $chain --emit probs -O f32 p.f32 >p
            sampl -n 4096 -f f32 $chain --emit probs -O f32 q.f32 >q
            sampl -n 4096 -f f32 $chain --emit residual -O f32 --against q.f32 p.f32 >r
            sampl -n 4096 -f f32 $chain --emit residual -O f32 --against p.f32 p.f32 >same
        }
        /usr/bin/python3 -c 'import numpy as np
p, q, r, same = (np.fromfile(name, np.float32).astype(float).reshape(-1, 4096) for name in ("p", "q", "r", "same"))
want = np.maximum(p - q, 0)
total = want.sum(1, keepdims=True)
clear = total[:, 0] > 1e-3
want = np.where(total == 0, p, want / np.where(total == 0, 1, total))
assert len(p) == 256 and clear.sum() > 100 and abs(want - r)[clear].max() < 1e-4 and abs(r.sum(1) - 1).max() < 1e-5 and abs(p - same).max() < 1e-7'
        n=$((n + 1))
    done
    [ "$n" = 3 ]
    [ "$(sampl -n 3 --neutral --emit residual -O text --against <(echo '[0,0,-1e30]') <<<'[0,-1e30,0]')" = '0 0 1' ]
}
