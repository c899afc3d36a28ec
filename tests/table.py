#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Computes the table of a run with variants from separate runs of its chains, with numpy, and compares it with the table that sampl printed.
# usage: table.py TABLE RAW TOKENS NAME...
#   TABLE: -O json; RAW: .npy of the rows; TOKENS: the ids of --accept; NAME.npy and NAME.ids: each chain's --emit logits and ids, the base first
# With --against, RAW2 in the environment names the rows of the variant.
import json
import os
import sys

import numpy as np

table = [json.loads(line) for line in open(sys.argv[1])]
raws = [np.load(name).astype("f8") for name in (sys.argv[2], os.environ.get("RAW2", sys.argv[2]))]
tokens = np.array([int(x) for x in open(sys.argv[3]).read().split()])
names = sys.argv[4:]


def log_softmax(x):
    x = x - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def expect(p, x):
    with np.errstate(invalid="ignore"):
        return np.where(p > 0, p * np.where(p > 0, x, 0), 0).sum(1)


def error(x):
    return x.std(ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.nan


def rows_of(name, raw, base):
    """The values of each row in each column; NaN where a row has none."""
    x = np.load(name + ".npy").astype("f8")
    ids = np.loadtxt(name + ".ids", dtype=int, ndmin=1)
    n, v = x.shape
    at, accepted = np.arange(n), tokens[:n]
    lp, lq = log_softmax(x), log_softmax(raw)
    p, q = np.exp(lp), np.exp(lq)
    base = base or (p, lp, ids)
    m = (p + base[0]) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        lm = np.log(m)
        kl = np.where(((base[0] > 0) & (x == -np.inf)).any(1), np.inf, expect(base[0], base[1] - np.where(x > -np.inf, lp, 0)))
        of_token = p[at, accepted]
        nll = np.where(of_token > 0, -np.log(of_token), np.nan)
    mass, lost = np.where(x > -np.inf, q, 0).sum(1), (of_token == 0).astype(float)
    return (p, lp, ids), {
        "kept": (x > -np.inf).sum(1).astype(float), "entropy": -expect(p, lp), "e_prob": (p * p).sum(1), "e_raw_prob": (p * q).sum(1),
        "e_greedy": p[at, raw.argmax(1)], "kl_raw": expect(p, lp - lq), "same": (ids == base[2]).astype(float),
        "overlap": np.minimum(p, base[0]).sum(1), "js": (expect(p, lp - lm) + expect(base[0], base[1] - lm)) / 2, "kl": kl,
        "nll": nll, "ppl": nll, "lost": lost, "mass": mass, "gain": (1 - mass) - lost,
        "eps_ppl": -np.log((1 - 1e-4) * of_token + 1e-4 / v), "top1": (p.argmax(1) == base[0].argmax(1)).astype(float)}


PAIRED = ["kept", "entropy", "e_prob", "e_raw_prob", "e_greedy", "kl_raw", "nll", "ppl", "lost", "mass", "eps_ppl", "gain"]
assert len(table) == len(names), (len(table), names)
checked, base, of_base = 0, None, None
for i, (line, name) in enumerate(zip(table, names)):
    found, rows = rows_of(name, raws[i > 0], base)
    base = base or found
    of_base = of_base or rows
    want = {"rows": len(found[2]), "kl_inf": np.isinf(rows["kl"]).sum()}
    for column, x in rows.items():
        exp = np.exp if column in ("ppl", "eps_ppl") else lambda y: y
        own = x[np.isfinite(x) if column in ("kl", "nll", "ppl") else slice(None)]
        want[column] = exp(own.mean()) if len(own) else np.nan
        want[column + "_se"] = error(own) * (want[column] if exp is np.exp else 1)
        if column not in PAIRED or i == 0:
            want[column + "_diff"] = want[column + "_diff_se"] = np.nan
            continue
        both = ~np.isnan(x) & ~np.isnan(of_base[column])
        x, y = x[both], of_base[column][both]
        want[column + "_diff"] = exp(x.mean()) - exp(y.mean()) if exp is np.exp else (x - y).mean()
        want[column + "_diff_se"] = error(exp(x.mean()) * x - exp(y.mean()) * y if exp is np.exp else x - y)
    for column, x in line.items():
        if column in ("name", "options", "swept", "of_the_draw") or column.startswith("scatter_"): # stats.bats checks these
            continue
        y = float(want[column])
        y = None if not np.isfinite(y) else y
        good = x is None and y is None if x is None or y is None else abs(x - y) <= 1e-7 * max(1e-3, abs(y)) + (2e-9 if "_se" in column else 1e-11)
        if not good:
            sys.exit(f"{line['name']}: {column} is {x!r}, numpy has {y!r}")
        checked += 1
print(f"{checked} numbers")
