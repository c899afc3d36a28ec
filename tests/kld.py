#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Kld files: computes llama-perplexity's figures with numpy, in its arithmetic, and compares them with those of --report; checks that all
other views have a distribution. The steps are those of perplexity.cpp (llama.cpp v0.5.0): f32 where it says float, sums in f64, in order."""
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPL = os.path.abspath(os.environ.get("SAMPL") or ROOT / "build/sampl")
F = np.float32


def expf(x):
    return np.exp(np.asarray(x, F).astype("f8")).astype(F)


def total(x):
    return float(np.add.accumulate(np.asarray(x).astype("f8"))[-1])


def write_kld(path, rows, tokens, n_ctx):
    """Store rows as --kl-divergence-base does. Return the stored log-probabilities and, of each row, the clipped tokens."""
    stored, clipped = [], []
    with open(path, "wb") as f:
        f.write(b"_logits_" + struct.pack("<3i", n_ctx, rows.shape[1], len(tokens) // n_ctx) + np.array(tokens, "<i4").tobytes())
        for x in rows:
            top = x.max()
            low = max(x.min(), F(top - F(16)))
            lse = F(np.log(total(expf(x - top))))
            scale, least = F(F(top - low) / F(65535)), F(F(low - top) - lse)
            q = np.where(x > low, np.rint(F(F(1) / scale) * (x - low).astype(F)), 0).astype("<u2") if scale else np.zeros(len(x), "<u2")
            f.write(struct.pack("<2f", scale, least) + q.tobytes() + b"\0\0" * (len(x) % 2))
            stored.append(((scale * q.astype(F)).astype(F) + least).astype(F))
            clipped.append((q == 0) & (low > x.min()))
    return np.array(stored), np.array(clipped)


def figures(lp, x, tokens):
    """The figures of base log-probabilities and logits, unrounded. x: None: the base itself."""
    nll, base, kld, dp, same = [], [], [], [], []
    for p, y, t in zip(lp, lp if x is None else x, tokens):
        top = F(0) if x is None else F(y.max() + F(np.log(total(expf(y - y.max())))))
        m = p > -16
        nll.append(F(top - y[t]))
        base.append(F(-p[t]))
        kld.append(total(expf(p[m]) * ((p[m] - y[m]).astype(F) + top).astype(F)))
        dp.append(F(expf(-nll[-1]) - expf(-base[-1])))
        same.append(y.argmax() == p.argmax())
    nll, base, dp, n = np.array(nll), np.array(base), np.array(dp), len(kld)

    def mean(x, squares):
        f = total(x) / n
        d = total(squares) / n - f * f
        return f, (d / (n - 1)) ** 0.5 if d > 0 and n > 10 else 0.0
    q, b = mean(nll, nll * nll), mean(base, base * base)
    cov = (total(nll * base) / n - q[0] * b[0]) / (n - 1) if n >= 10 else 0.0
    d2 = (dp * dp).astype("f8")
    square = mean(d2, d2 * d2)
    k, s = np.sort(np.array(kld).astype(F)), np.mean(same)

    def share(a, f):
        at = F(F(f) * F(n - 1))
        i = int(at)
        at = F(at - F(i))
        return float(F(F(1) - at) * a[i] + F(at * a[min(i + 1, n - 1)]))
    median = lambda a: float(F(0.5) * F(a[n // 2] + a[n // 2 - 1]) if n % 2 == 0 else a[n // 2])
    shares = {"p99_9": 0.999, "p99": 0.99, "p95": 0.95, "p90": 0.9, "p10": 0.1, "p5": 0.05, "p1": 0.01, "p0_1": 0.001}
    spread = lambda a, also={}: {"max": float(a[-1]), "min": float(a[0]), "median": median(a),
                                 **{name: share(a, f) for name, f in {**shares, **also}.items()}}
    mean_k, mean_d = mean(np.array(kld), np.array(kld) ** 2), mean(dp, dp * dp)
    root = lambda x: x**0.5 if x >= 0 else float("nan")
    ratio = q[0] - b[0], root(q[1] ** 2 + b[1] ** 2 - 2 * cov)
    ppl_q, ppl_b = np.exp(q[0]), np.exp(b[0])
    more = {"ppl.cor": cov / (q[1] * b[1]) if q[1] and b[1] else float("nan"),
            "ppl.ratio.mean": np.exp(ratio[0]), "ppl.ratio.se": np.exp(ratio[0]) * ratio[1], "ppl.diff.mean": ppl_q - ppl_b,
            "ppl.diff.se": root((ppl_q * q[1]) ** 2 + (ppl_b * b[1]) ** 2 - 2 * ppl_q * ppl_b * cov),
            "dp.rms_se": 0.5 / square[0] ** 0.5 * square[1] if square[0] else float("nan")}
    if x is None: # then two numbers that are equal are subtracted
        more = {}
    return {**more, "ppl.q.mean": np.exp(q[0]), "ppl.q.se": np.exp(q[0]) * q[1], "ppl.base.mean": np.exp(b[0]), "ppl.base.se": np.exp(b[0]) * b[1],
            "ppl.ln_ratio.mean": q[0] - b[0], "ppl.ln_ratio.se": max(0.0, q[1] ** 2 + b[1] ** 2 - 2 * cov) ** 0.5,
            "kld.mean": mean_k[0], "kld.se": mean_k[1], **{"kld." + name: y for name, y in spread(k).items()},
            "dp.mean": mean_d[0], "dp.se": mean_d[1], **{"dp." + name: y for name, y in spread(np.sort(dp), {"p75": 0.75, "p25": 0.25}).items()},
            "dp.rms": square[0] ** 0.5, "same_top.mean": s, "same_top.se": (s * (1 - s) / (n - 1)) ** 0.5}


def sampl(*words):
    done = subprocess.run([SAMPL, "-s", "1", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: status %d: %s" % (words, done.returncode, done.stderr))
    return done.stdout, done.stderr


def check_report(want, *words):
    report = json.loads(sampl("--report", "--accept", "recorded", "-O", "json", *words)[0])
    for name, x in want.items():
        have = report
        for part in name.split("."):
            have = have[part]
        if not (math.isnan(x) and have is None) and not abs(have - x) <= 2e-7 * max(1.0, abs(x)):
            sys.exit("%s: %s: %r instead of %r" % (words, name, have, x))
    check_text(want, sampl("--report", "--accept", "recorded", *words)[0])


# The lines of llama-perplexity's report: the figure, its error, the factor, and the decimals that are printed.
LINES = {"Mean PPL(Q)": ("ppl.q.mean", "ppl.q.se", 1, 6), "Mean PPL(base)": ("ppl.base.mean", "ppl.base.se", 1, 6),
         "Cor(ln(PPL(Q)), ln(PPL(base)))": ("ppl.cor", None, 100, 2), "Mean ln(PPL(Q)/PPL(base))": ("ppl.ln_ratio.mean", "ppl.ln_ratio.se", 1, 6),
         "Mean PPL(Q)/PPL(base)": ("ppl.ratio.mean", "ppl.ratio.se", 1, 6), "Mean PPL(Q)-PPL(base)": ("ppl.diff.mean", "ppl.diff.se", 1, 6),
         "RMS \u0394p": ("dp.rms", "dp.rms_se", 100, 3), "Same top p": ("same_top.mean", "same_top.se", 100, 3),
         "Mean KLD": ("kld.mean", "kld.se", 1, 6), "Mean \u0394p": ("dp.mean", "dp.se", 100, 3)}
for title, name in [("Maximum", "max"), ("99.9%", "p99_9"), ("99.0%", "p99"), ("95.0%", "p95"), ("90.0%", "p90"), ("75.0%", "p75"), ("Median", "median"),
                    ("25.0%", "p25"), ("10.0%", "p10"), ("5.0%", "p5"), ("1.0%", "p1"), ("0.1%", "p0_1"), ("Minimum", "min")]:
    LINES[title + " KLD"] = ("kld." + name, None, 1, 6)
    LINES[title + " \u0394p"] = ("dp." + name, None, 100, 3)


def check_text(want, text):
    """Each figure is printed with llama-perplexity's decimals."""
    found = 0
    for line in text.split("====== Beyond")[0].splitlines():
        title, numbers = " ".join(line.split(":")[0].split()), re.findall(r"-?[0-9]+\.[0-9]+", line.rpartition(":")[2])
        if title not in LINES or not numbers or LINES[title][0] not in want:
            continue
        mean, error, factor, decimals = LINES[title]
        for name, number in zip((mean, error), numbers):
            if name not in want:
                continue
            found += 1
            if len(number.split(".")[1]) != decimals or abs(float(number) - factor * want[name]) > 0.51 * 10**-decimals + 3e-7 * abs(factor * want[name]):
                sys.exit("%s: %s is %s instead of %.9g" % (title, name, number, factor * want[name]))
    assert found >= 30 or len(want) < 20, found


def check_distribution(path, stored, clipped, tokens, first):
    """raw_prob of a stored token is e^stored; the clipped ones share the rest, so that the whole mass is 1."""
    out, err = sampl("--neutral", "--accept", "recorded", "--emit", "stats", "-O", "json", path)
    for i, line in enumerate(out.splitlines()):
        p, c = np.exp(stored[i].astype("f8")), clipped[i]
        left = max(2.0**-24, 1 - p[~c].sum())
        if c.any():
            p[c] = min(p[c].min(), left / c.sum())
        r = json.loads(line)
        for name, t in (("raw_prob", r["id"]), ("accepted_prob", tokens[i])):
            if abs(r[name] - p[t] / p.sum()) > 1e-6 * p[t]:
                sys.exit("%s: row %d: %s of token %d is %r instead of %r" % (path, i, name, t, r[name], p[t]))
        assert r["mass"] <= 1
    note = "sampl: note: %s: row %d: llama-perplexity clipped %d of %d tokens; they share a probability of " % (
        path, first, clipped[first].sum() if first >= 0 else 0, stored.shape[1])
    assert (note in err) == (first >= 0), err


def main():
    os.chdir(tempfile.mkdtemp())
    for seed, (width, n_ctx, chunks, scale, noise) in enumerate([(300, 64, 6, 3, 0.3), (2001, 20, 13, 5, 0.1), (40, 18, 1, 1, 0.5), (5000, 12, 1, 4, 0.02)]):
        rng = np.random.default_rng(seed)
        scored = n_ctx - 1 - n_ctx // 2
        a = rng.normal(0, scale, (chunks * scored, width)).astype(F)
        a[np.arange(0, len(a), 2), rng.integers(0, width, len(a[::2]))] += F(12)
        b = (a + noise * rng.normal(0, 1, a.shape)).astype(F)
        tokens = rng.integers(0, width, n_ctx * chunks)
        for c in range(chunks):
            for r in range(scored):
                if rng.random() < 0.8:
                    tokens[c * n_ctx + n_ctx // 2 + 1 + r] = a[c * scored + r].argmax()
        next_tokens = tokens.reshape(-1, n_ctx)[:, n_ctx // 2 + 1:].reshape(-1)
        stored, clipped = write_kld("a.kld", a, tokens, n_ctx)
        np.save("a.npy", a), np.save("b.npy", b)
        check_report(figures(stored, b, next_tokens), "--against", "b.npy", "a.kld")
        check_report(figures(stored, a, next_tokens), "--against", "a.npy", "a.kld")
        check_report(figures(stored, None, next_tokens), "--against", "a.kld", "a.kld")
        some = np.flatnonzero(clipped.any(1))
        check_distribution("a.kld", stored, clipped, next_tokens, int(some[0]) if len(some) else -1)
    print("the figures of llama-perplexity")


main()
