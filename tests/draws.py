#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Draws from distributions that sampl writes, and checks sampl's report of --draws.
# usage: draws.py numbers                 the report's numbers, computed with numpy
#        draws.py right RUNS [SEED]       right draws: no report rejects them, and the p-values are uniform
#        draws.py wrong                   wrong samplers with 100 draws from each of the sample's rows: each report rejects them
# SAMPL names the program, AUSTEN the sample's rows.
import json
import math
import os
import subprocess
import sys

import numpy as np

sampl, austen = os.environ["SAMPL"], os.environ["AUSTEN"]
BETAS = 2.0 ** (np.arange(9) / 2 - 2)


def run(args, status=0):
    done = subprocess.run([sampl, *args], capture_output=True, check=False)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done.stdout


def logits_of(args):
    """The rows' logits after a chain."""
    run([*args, "--emit", "logits", "-O", "npy", "-o", "after.npy"])
    return np.load("after.npy").astype("f8")


def softmax(x):
    p = np.exp(x - x.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def draw(rng, p, k):
    """A list of ids for each row: k[i] of row i."""
    return [rng.choice(len(row), n, p=row) for row, n in zip(p, k)]


def write(draws):
    with open("draws", "w") as f:
        f.writelines(" ".join(map(str, d)) + "\n" for d in draws)


def report(args, status=None):
    done = subprocess.run([sampl, *args, "--draws", "draws", "-O", "json"], capture_output=True, check=False)
    assert done.returncode in (0, 4) and (status is None or done.returncode == status), (done.returncode, done.stderr, done.stdout)
    return done.returncode, json.loads(done.stdout)


# ---- a second implementation of the tests

def chi2_p(x, df):
    """Upper probability of chi-square, for whole df, by its finite sums."""
    h, odd = x / 2, df % 2
    total = math.erfc(math.sqrt(h)) if odd else 0.0
    for k in range(int(df) // 2):
        a = k + odd / 2
        total += math.exp(a * math.log(h) - h - math.lgamma(a + 1)) if h > 0 else float(a == 0)
    return total


def poisson_p(n, mean):
    terms = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(n + 1)]
    return min(1, 2 * min(sum(terms), 1 - sum(terms[:-1])))


def rank_classes():
    first, step = 1, 1
    while True:
        for _ in range(4 if step == 1 else 2):
            yield first, first + step
            first += step
        step *= 2


def classes_of(n):
    found = []
    for first, end in rank_classes():
        if first > n:
            return found
        found.append((first - 1, min(end - 1, n)))


def numbers(x, draws):
    """The report's numbers for logits after the chain."""
    out = {"outside": 0, "token_chi2": 0.0, "token_df": 0, "last": 0, "expected": 0.0}
    most = classes_of(max((row > -np.inf).sum() for row in x))
    seen, share = np.zeros(len(most)), np.zeros(len(most))
    cov, score = np.zeros((len(most), len(most))), np.zeros(9)
    information = np.zeros(9)
    for row, ids in zip(x, draws):
        count = np.bincount(ids, minlength=len(row)).astype(float)
        inside = row > -np.inf
        out["outside"] += int(count[~inside].sum())
        order = np.lexsort((np.arange(len(row)), -row))[:inside.sum()]
        count = count[order]
        k, d = count.sum(), row[order] - row.max()
        if not k:
            continue
        p = np.exp(d) / np.exp(d).sum()
        e = np.array([p[a:b].sum() for a, b in most])
        seen += [count[a:b].sum() for a, b in most]
        share += k * e
        cov += k * (np.diag(e) - np.outer(e, e))
        if len(p) > 1:
            out["last"] += int(count[-1])
            out["expected"] += k * p[-1]
        m = int((k * p >= 5).sum())
        if m >= 2:
            expected, got = list(k * p[:m]), list(count[:m])
            rest, rest_seen = k * p[m:].sum(), count[m:].sum()
            if rest >= 5:
                expected.append(rest)
                got.append(rest_seen)
            else:
                expected[-1] += rest
                got[-1] += rest_seen
            out["token_chi2"] += sum((g - e) ** 2 / e for g, e in zip(got, expected))
            out["token_df"] += len(got) - 1
        for i, beta in enumerate(BETAS):
            w = np.exp(beta * d)
            w /= w.sum()
            mean = (w * d).sum()
            score[i] += (count * d).sum() - k * mean
            information[i] += k * (w * (d - mean) ** 2).sum()
    ends, first = [], 0
    for end in range(1, len(most)):
        if cov[first:end, first:end].sum() >= 10 and cov[:end, :end].sum() >= 10:
            ends.append(end)
            first = end
    if ends:
        starts = [0, *ends]
        join = np.array([[a <= i < b for i in range(len(most))] for a, b in zip(starts, ends)], float)
        d = join @ (seen - share)
        out["rank_chi2"], out["rank_df"] = d @ np.linalg.solve(join @ cov @ join.T, d), len(ends)
    out["score"], out["information"] = score, information
    return out


def compare(x, draws, got):
    want = numbers(x, draws)
    assert got["outside"]["n"] == want["outside"] and got["last"]["n"] == want["last"], (got, want)
    assert math.isclose(got["last"]["expected"], want["expected"], rel_tol=1e-9), (got, want)
    assert math.isclose(got["last"]["p"], poisson_p(want["last"], want["expected"]), rel_tol=1e-6), (got, want)
    for name in ("rank", "token"):
        assert got[name]["df"] == want[name + "_df"], (name, got, want)
        assert math.isclose(got[name]["chi2"], want[name + "_chi2"], rel_tol=1e-7), (name, got, want)
        assert math.isclose(got[name]["p"], chi2_p(got[name]["chi2"], got[name]["df"]), rel_tol=1e-6, abs_tol=1e-12), (name, got)
    # The temperature by bisection of the score itself, which the report interpolates.
    pairs = [(row[row > -np.inf] - row.max(), np.bincount(ids, minlength=len(row))[row > -np.inf]) for row, ids in zip(x, draws)]

    def score_at(beta):
        total = 0.0
        for d, count in pairs:
            w = np.exp(beta * d)
            total += (count * d).sum() - count.sum() * (w * d).sum() / w.sum()
        return total

    def likelihood(beta):
        return sum((count * (beta * d - np.log(np.exp(beta * d).sum()))).sum() for d, count in pairs)
    low, high = 0.25, 4.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if score_at(middle) > 0 else (low, middle)
    f, se = got["temperature"]["f"], got["temperature"]["se"]
    assert abs(f - 1 / low) < 0.02 * se + 1e-3 * abs(f - 1), (f, 1 / low, se)
    information = sum(count.sum() * ((np.exp(low * d) * d * d).sum() / np.exp(low * d).sum()
                                     - ((np.exp(low * d) * d).sum() / np.exp(low * d).sum()) ** 2) for d, count in pairs)
    assert math.isclose(se, 1 / (math.sqrt(information) * low * low), rel_tol=0.02), (se, information)
    p = math.erfc(math.sqrt(max(0, likelihood(low) - likelihood(1.0))))
    assert abs(got["temperature"]["p"] - p) < 0.01 * p + 1e-4, (got, p)


AUSTEN = ["-n", "4096", "-s", "1", austen]
CHAIN = ["--samplers", "top_k;top_p;temperature", "--top-k", "60", "--top-p", "0.95", "--temp", "0.8"]


def check_numbers():
    rng = np.random.default_rng(5)
    for chain, hot in ((CHAIN, 1), (["--samplers", "temperature", "--temp", "0.7"], 1), (CHAIN, 1.1), (["--samplers", "min_p"], 0.8),
                       (["--engine", "akunu-gpu", "--temp", "0.9"], 1)):
        x = logits_of([*chain, *AUSTEN])
        draws = draw(rng, softmax(x / hot), rng.integers(0, 200, len(x)))
        write(draws)
        _, got = report([*chain, *AUSTEN])
        assert got["rows"] == len(x) and got["draws"] == sum(map(len, draws)) and got["left_out"] == 0
        compare(x, draws, got)


def uniform_p(p):
    """The probability of the largest distance of p-values from uniform ones (Kolmogorov)."""
    p = np.sort(p)
    n = len(p)
    steps = np.arange(n + 1) / n
    t = max((p - steps[:-1]).max(), (steps[1:] - p).max()) * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))
    return min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * t * t) for k in range(1, 101)))


def check_right(runs, seed):
    rng = np.random.default_rng(seed)
    x = logits_of([*CHAIN, *AUSTEN])
    points = rng.normal(0, 1, (300, 20)).astype("f4") + np.where(np.arange(20) == 3, 25, 0).astype("f4")
    np.save("points.npy", points)
    # Rows of two tokens beside flat rows of many: hardly any draw can go from the first ranks to the others.
    mixed = np.where(np.arange(3000) < 2, 0, -np.inf) + rng.normal(0, 1, (100, 3000))
    mixed[::40] = 0
    np.save("mixed.npy", mixed.astype("f4"))
    cases = [("sample", softmax(x), [*CHAIN, *AUSTEN], 100), ("one draw", softmax(x), [*CHAIN, *AUSTEN], 1),
             ("points", softmax(logits_of(["--samplers", "temperature", "--temp", "2", "points.npy"])),
              ["--samplers", "temperature", "--temp", "2", "points.npy"], 1),
             ("mixed", softmax(logits_of(["--neutral", "mixed.npy"])), ["--neutral", "mixed.npy"], 100)]
    for name, p, args, k in cases:
        found = {"rank": [], "token": [], "last": [], "temperature": []}
        too_good = 0
        for _ in range(runs):
            write(draw(rng, p, [k] * len(p)))
            status, got = report(args)
            assert status == 0, (name, got)
            too_good += got["verdict"]["too_good"]
            for test, values in found.items():
                if got[test]["p"] is not None:
                    values.append(got[test]["p"])
        assert too_good <= 1 + runs // 1000, (name, too_good)
        for test, values in found.items():
            values = np.array(values)
            # Counts of a few draws have few values, so that their p-values are not uniform. They may not be small too often.
            for limit in (0.01, 0.1):
                often = (values < limit).sum()
                assert often <= limit * runs + 5 * math.sqrt(limit * runs) + 1, (name, test, limit, often)
            if name == "sample" and test != "last":
                assert uniform_p(values) > 1e-4, (name, test, values)
            print(name, test, len(values), "p-values", *(f"{q:.3f}" for q in np.quantile(values, (0.05, 0.5, 0.95))) if len(values) else "")


def check_wrong():
    rng = np.random.default_rng(9)
    chain = ["--samplers", "top_p;temperature", "--top-p", "0.9", "--temp", "0.8"]
    before = logits_of(["--samplers", "temperature", "--temp", "1", *AUSTEN])
    x = logits_of([*chain, *AUSTEN])
    right, k = softmax(x), [100] * len(x)

    def without_last(p):
        p = p.copy()
        for row in p:
            kept = np.flatnonzero(row)
            if len(kept) > 1:
                row[kept[np.lexsort((kept, -row[kept]))[-1]]] = 0
        return p / p.sum(1, keepdims=True)

    ids = np.argsort(-right.sum(0))[[0, 5]]
    swapped = right.copy()
    swapped[:, ids] = right[:, ids[::-1]]
    early = logits_of(["--samplers", "temperature;top_p", "--top-p", "0.9", "--temp", "0.8", *AUSTEN])
    for name, p in (("temperature 4 % off", softmax(x / 1.04)), ("top_p without its boundary token", without_last(right)),
                    ("two ids swapped", swapped), ("temperature before top_p", softmax(early))):
        write(draw(rng, p, k))
        status, got = report([*chain, *AUSTEN])
        print(name, status, {test: got[test]["p"] for test in ("rank", "token", "last", "temperature")}, "outside", got["outside"]["n"])
        assert status == 4, (name, got)
        print("   ", verdict([*chain, *AUSTEN], got))
    assert before.shape == x.shape
    write(draw(rng, right, k))
    print("right:", verdict([*chain, *AUSTEN], report([*chain, *AUSTEN], 0)[1]))
    # Draws of tokens that are not kept: top_p that keeps one more.
    write(draw(rng, softmax(logits_of(["--samplers", "top_p;temperature", "--top-p", "0.93", "--temp", "0.8", *AUSTEN])), k))
    got = report([*chain, *AUSTEN], 4)[1]
    assert got["verdict"]["by"][0] == {"test": "outside", "p": 0}, got
    print("a larger top_p:", verdict([*chain, *AUSTEN], got))
    # Stratified draws differ too little; they are suspicious, and not rejected.
    for n in (50, 100, 400):
        write([np.minimum(np.searchsorted(np.cumsum(row), (np.arange(n) + rng.random(n)) / n), np.flatnonzero(row)[-1]) for row in right])
        got = report([*chain, *AUSTEN], 0)[1]
        assert got["verdict"]["too_good"] and not got["verdict"]["rejected"], got
    print("stratified:", verdict([*chain, *AUSTEN], got))
    check_power(rng, chain, x, right)


def verdict(args, got):
    """The verdict of the text, which says what that of JSON says."""
    done = subprocess.run([sampl, *args, "--draws", "draws"], capture_output=True, text=True, check=False)
    lines = done.stdout.split("verdict")[1].splitlines()
    said = got["verdict"]
    assert (done.returncode == 4) == said["rejected"] == bool(said["by"]) == ("rejected by" in lines[0]), (lines, said)
    assert ("suspicious" in done.stdout) == said["too_good"], (lines, said)
    assert lines[0].count(", p ") == len(said["by"]), (lines, said)
    return " / ".join(line.strip() for line in lines)


def check_power(rng, chain, x, right):
    """A temperature that is off by as much as the verdict says is found in most runs; one off by a third of it in few."""
    write(draw(rng, right, [50] * len(x)))
    said = report([*chain, *AUSTEN], 0)[1]
    z = 4.8916 + 0.84
    assert math.isclose(said["verdict"]["factor"], z * said["temperature"]["se"], rel_tol=1e-3), said
    assert math.isclose(said["verdict"]["missing"], -math.log(5e-7) / (50 * ((right > 0).sum(1) > 1).sum()), rel_tol=1e-6), said
    for part, least, most in ((1, 11, 20), (1 / 3, 0, 3)):
        found = 0
        for _ in range(20):
            write(draw(rng, softmax(x / (1 + part * said["verdict"]["factor"])), [50] * len(x)))
            found += report([*chain, *AUSTEN])[0] == 4
        print(f"off by {part * said['verdict']['factor']:.3f}: {found} of 20 runs reject")
        assert least <= found <= most, (part, found)
    # --draws-p moves the limit.
    write(draw(rng, softmax(x / 1.02), [50] * len(x)))
    p = report([*chain, *AUSTEN])[1]["temperature"]["p"]
    for limit, status in ((p * 1.01, 4), (p * 0.99, 0)):
        assert report([*chain, "--draws-p", repr(limit), *AUSTEN])[0] == status or min(report([*chain, *AUSTEN])[1][t]["p"] for t in ("rank", "token", "last")) < limit, (p, limit)


if sys.argv[1] == "numbers":
    check_numbers()
elif sys.argv[1] == "right":
    check_right(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
else:
    check_wrong()
