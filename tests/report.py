#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the figures of --report with numpy, and compares them with the report that sampl printed as JSON and as text.
usage: report.py JSON TEXT BASE OTHER CHAIN_BASE CHAIN_OTHER TOKENS
BASE and OTHER are .npy files of the raw rows, or their log-probabilities; CHAIN_*: what the chain left of each (--emit logits);
TOKENS: the ids that follow the rows, or an empty file. Reports of kld files: kld.py."""
import json
import math
import re
import sys

import numpy as np

report = json.load(open(sys.argv[1]))
text = open(sys.argv[2], encoding="utf-8").read()
base, other, chain_base, chain_other = (np.load(name).astype("f8") for name in sys.argv[3:7])
tokens = [int(x) for x in open(sys.argv[7]).read().split()][:len(base)]
n, width = len(base), min(base.shape[1], other.shape[1])
base, other = base[:, :width], other[:, :width]


def log_softmax(x):
    x = x - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def figure(x):
    x = np.asarray(x, "f8")
    return {"mean": x.mean(), "se": math.sqrt(max(0.0, (x * x).mean() - x.mean() ** 2) / (len(x) - 1)) if len(x) > 1 else None}


def spread(x, quartiles):
    shares = {"p99_9": 99.9, "p99": 99, "p95": 95, "p90": 90, "p75": 75, "median": 50, "p25": 25, "p10": 10, "p5": 5, "p1": 1, "p0_1": .1}
    result = {"max": x.max(), "min": x.min()}
    for name, share in shares.items():
        if quartiles or name not in ("p75", "p25"):
            result[name] = np.percentile(x, share)
    return result


def best(x, k):
    order = np.lexsort((np.arange(len(x)), -x))[:k]
    return {i for i in order if x[i] > -np.inf}


lp, lq = log_softmax(base), log_softmax(other)
p, q = np.exp(lp), np.exp(lq)
at, top = np.arange(n), lp.argmax(1)
token = np.array(tokens) if tokens else top
want = {"rows": n, "ppl": None, "lists": 0}
if tokens:
    a, b = -lq[at, token], -lp[at, token]
    fa, fb, fr = figure(a), figure(b), figure(a - b)
    ppl_q, ppl_base, ratio = math.exp(fa["mean"]), math.exp(fb["mean"]), math.exp(fr["mean"])
    want["ppl"] = {"q": {"mean": ppl_q, "se": None}, "base": {"mean": ppl_base, "se": None}, "cor": None, "ln_ratio": fr,
                   "ratio": {"mean": ratio, "se": None}, "diff": {"mean": ppl_q - ppl_base, "se": None}}
    if n > 1:
        covariance = ((a * b).mean() - a.mean() * b.mean()) / (n - 1)
        want["ppl"]["q"]["se"] = ppl_q * fa["se"]
        want["ppl"]["base"]["se"] = ppl_base * fb["se"]
        want["ppl"]["cor"] = covariance / (fa["se"] * fb["se"])
        want["ppl"]["ratio"]["se"] = ratio * fr["se"]
        want["ppl"]["diff"]["se"] = math.sqrt((ppl_q * fa["se"]) ** 2 + (ppl_base * fb["se"]) ** 2 - 2 * ppl_q * ppl_base * covariance)
counts = p > 0
kld = np.where(counts, p * (np.where(counts, lp, 0) - np.where(counts, lq, 0)), 0).sum(1)
dp = q[at, token] - p[at, token]
rms, square = math.sqrt((dp ** 2).mean()), figure(dp ** 2)
same = (lp.argmax(1) == lq.argmax(1)).mean()
want["kld"] = {**figure(kld), **spread(kld, False)}
want["dp"] = {**figure(dp), **spread(dp, True), "rms": rms, "rms_se": square["se"] and square["se"] / (2 * rms)}
want["same_top"] = {"mean": same, "se": math.sqrt(same * (1 - same) / (n - 1)) if n > 1 else None}
both = (base > -np.inf) & (other > -np.inf)
error = power = 0.0
for x, y, m in zip(base, other, both):
    x, y = x[m] - x[m].mean(), y[m] - y[m].mean()
    error, power = error + ((x - y) ** 2).sum(), power + (x ** 2).sum()
want["nmse"] = error / power
likely = (p > 1e-4) | (q > 1e-4)
with np.errstate(invalid="ignore"):
    d = np.abs(lp - lq)[likely]
want["dlogp"] = {"max": d.max(), "mean": d.mean()}
for k in 5, 10:
    want[f"top{k}"] = np.mean([len(best(x, k) & best(y, k)) / len(best(x, k)) for x, y in zip(lp, lq)])
draft, target = np.exp(log_softmax(chain_base[:, :width])), np.exp(log_softmax(chain_other[:, :width]))
rate = np.minimum(draft, target).sum(1)
want["acceptance"], want["acceptance_equal"] = rate.mean(), (draft * target).sum(1).mean()
want["acceptance_greedy"] = draft[at, target.argmax(1)].mean()
want["accepted"] = {str(k): np.mean([np.cumprod(rate[i:i + k]).sum() for i in range(n - k + 1)]) if n >= k else None for k in range(1, 9)}


def compare(path, got, expected):
    if isinstance(expected, dict):
        assert got.keys() == expected.keys(), f"{path}: {sorted(got)}, not {sorted(expected)}"
        for name in expected:
            compare(f"{path}.{name}", got[name], expected[name])
    elif expected is None or not math.isfinite(expected):
        assert got is None, f"{path}: {got}, not null"
    else:
        assert got is not None and abs(got - expected) <= 1e-9 * max(1.0, abs(expected)), f"{path}: {got}, not {expected}"


compare("report", report, want)

# Every number of the text is a figure of the JSON, with llama-perplexity's digits and in its order.
lines, values = [line for line in text.split("\n") if line and "====" not in line], []
if tokens:
    ppl = report["ppl"]
    values += [(ppl["q"], 6, 1), (ppl["base"], 6, 1), (ppl["cor"], 2, 100), (ppl["ln_ratio"], 6, 1), (ppl["ratio"], 6, 1), (ppl["diff"], 6, 1)]
both_names = ["max", "p99_9", "p99", "p95", "p90", "median", "p10", "p5", "p1", "p0_1", "min"]
dp_names = ["max", "p99_9", "p99", "p95", "p90", "p75", "median", "p25", "p10", "p5", "p1", "p0_1", "min"]
values += [(report["kld"], 6, 1)] + [(report["kld"][name], 6, 1) for name in both_names]
values += [(report["dp"], 3, 100)] + [(report["dp"][name], 3, 100) for name in dp_names]
values += [({"mean": report["dp"]["rms"], "se": report["dp"]["rms_se"]}, 3, 100), (report["same_top"], 3, 100), (report["nmse"], 6, 1)]
values += [(report["dlogp"]["mean"], 6, 1), (report["dlogp"]["max"], 6, 1)] + [(report[name], 3, 100) for name in ("top5", "top10", "acceptance", "acceptance_greedy", "acceptance_equal")]
values += [(report["accepted"][str(k)], 6, 1) for k in range(1, 9)]
assert len(lines) == len(values), f"{len(lines)} lines, not {len(values)}"
for line, (value, digits, unit) in zip(lines, values):
    numbers = re.findall(r"-?(?:[\d.]+|nan|inf)", line[line.rindex(":"):])
    parts = [value["mean"], value["se"]] if isinstance(value, dict) else [value]
    assert len(numbers) == len(parts), line
    for number, part in zip(numbers, parts):
        assert number.lstrip("-") in ("nan", "inf") if part is None else number == f"{part * unit:.{digits}f}", f"{line}: {part}"
