#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare scatter's classes and embeddings with numpy, written from sampl-spec(7) only.

Usage: scatter.py SAMPL [ROWS [SEED]]

Writes random rows, a vocabulary and embedding matrices to the current folder. Runs random options on them, on every
SIMD tier. Each probability must be numpy's to 1e-6, each list sorted, and each likeliest token that without scatter.
"""
import json
import math
import os
import random
import re
import struct
import subprocess
import sys

import numpy as np

from scatter_classes import class_of

F = np.float32
V, D = 240, 40
SAMPL = sys.argv[1]
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1

TEXTS = [" the", " a", "word", "ing", "12", " 3.5", "1,000", "1.", ".", ",", " (", "'s", "1st", "\n", "  ", "\t", "é", " Ünder", "日本", "。",
         "—", " “", "5€", "€", "ª", "²", "×", "µm", "！", "Ａ", "🙂", "１", "\u200b", "\u3000", "-1", " 7", "don't", "a1", "!\n", ";",
         " - ", "..", "3,4", "3,,4", "_x", "\x01"]


# ---- distances, in f32 and in the kernels' order


def dots(a, b):
    """The dot product of each vector of a with each of b; their widths are multiples of 16."""
    lane = np.zeros((len(a), len(b), 16), F)
    for at in range(0, a.shape[1], 16):
        lane = lane + a[:, None, at: at + 16] * b[None, :, at: at + 16]
    half = 8
    while half:
        lane = lane[..., :half] + lane[..., half: 2 * half]
        half //= 2
    return lane[..., 0]


def distances(matrix, metric):
    width = (matrix.shape[1] + 15) // 16 * 16
    x = np.zeros((len(matrix), width), F)
    x[:, : matrix.shape[1]] = matrix
    length = np.sqrt(np.array([dots(v[None], v[None])[0, 0] for v in x], F))
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = np.where(length[:, None] > 0, x * (F(1) / length)[:, None], x).astype(F)
    dot = dots(unit, unit)
    d = F(1) - dot if metric == "cosine" else F(2) - F(2) * dot
    d = np.maximum(d, F(0)).astype(F)
    return (d if metric == "cosine" else np.sqrt(d)), length > 0


# ---- scatter


def one_row(logits, a, texts, matrix, history):
    """Returns ids and probabilities by rank; None: scatter leaves the row alone."""
    order = sorted((t for t in range(V) if logits[t] > -math.inf), key=lambda t: (-logits[t], t))[: a["k"]]
    k = len(order)
    if k < 2:
        return None
    p = np.exp((logits[order] - logits[order[0]]).astype(F), dtype=F).astype(np.float64)
    p /= p.sum()
    rate = max(a["strength"], 0)
    if a["adaptive"]:
        h = -(p[p > 0] * np.log(p[p > 0])).sum() / math.log(k)
        rate = min(max(rate + (0.55 - h) * (0.3 - 0.02), 0.02), 0.3)
    group = np.array([class_of(texts[t]) for t in order]) if a["classes"] else np.full(k, "one")
    limited = len(set(group)) > 1
    if matrix is None:
        places = np.arange(k)
        w = np.exp(-((places[:, None] - places[None, :]) ** 2) / (2 * a["radius"] ** 2))
        w[w.astype(F) == 0] = 0
        w[group[:, None] != group[None, :]] = 0
    else:
        d, usable = distances(matrix[order], a["metric"])
        near = []
        for i in range(k):
            mine = [j for j in range(k) if j != i and usable[i] and usable[j] and group[i] == group[j]]
            near.append(sorted(mine, key=lambda j: (d[i, j], j))[: a["neighbours"]])
        far = sorted(float(d[i, n[-1]]) for i, n in enumerate(near) if n)
        sigma = float(F(a["sigma"])) or (far[(len(far) - 1) // 2] if far else 0)
        w = np.eye(k)
        for i in range(k):
            for j in near[i] if sigma else []:
                w[i, j] = math.exp(-float(d[i, j]) ** 2 / (2 * sigma ** 2))
        limited = True
    w /= w.sum(axis=1)[:, None]
    for _ in range(a["steps"]):
        p = (1 - rate) * p + rate * (w @ p)
        p /= p.sum()
    if matrix is None:
        for name in set(group):
            p[group == name] = np.minimum.accumulate(p[group == name])
    if limited:
        p[0] = p.max()
        p /= p.sum()
    if a["absorption"]:
        p = p * np.exp(-a["absorption"] * np.array([history.count(t) for t in order]))
        p /= p.sum()
    by = sorted(range(k), key=lambda i: -p[i])
    return [order[i] for i in by], p[by], order[0]


# ---- files


def write_files():
    rng = np.random.default_rng(SEED)
    texts = [TEXTS[t % len(TEXTS)].encode() + (b"" if t < len(TEXTS) or t % 3 else b"q") for t in range(V)]
    texts[7], texts[8], texts[9] = b"\xff", b" \xe2\x80", b"a\xc3"
    with open("v.txt", "wb") as f:
        for t in texts:
            f.write(b"".join(b"\\x%02x" % b for b in t) + b"\n")
    rows = rng.normal(0, 3, (ROWS, V)).astype(F)
    for i, row in enumerate(rows):
        if i % 4 == 1:
            row[:] = np.round(row)  # ties
        if i % 5 == 2:
            row[rng.random(V) < 0.8] = -np.inf
        if i % 7 == 3:
            row[:] *= F(0.01)
    rows[-1] = np.where(np.arange(V) < 3, 1, -np.inf)
    rows.tofile("rows.f32")
    base = rng.normal(0, 1, (V, D)).astype(F)
    base[::11] = base[1::11][: len(base[::11])]  # equal vectors, so equal distances
    base[5::50] = 0
    base[6::50] *= F(1e-6)
    q8 = np.clip(np.round(rng.normal(0, 40, (V, 64))), -127, 127).astype(np.int8)
    scale = (rng.random((V, 2)) + 0.1).astype(np.float16)
    matrices = {"f32.npy": base, "f16.npy": base.astype(np.float16), "bf16.safetensors": (base.view(np.uint32) >> 16).astype(np.uint16),
                "f16.gguf": base.astype(np.float16), "q8.gguf": None}
    np.save("f32.npy", base)
    np.save("f16.npy", matrices["f16.npy"])
    head = json.dumps({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                       "model.embed_tokens.weight": {"dtype": "BF16", "shape": [V, D], "data_offsets": [4, 4 + 2 * V * D]}}).encode()
    with open("bf16.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + b"\0\0\0\0" + matrices["bf16.safetensors"].tobytes())
    blocks = b"".join(scale[t, b].tobytes() + q8[t, 32 * b: 32 * b + 32].tobytes() for t in range(V) for b in range(2))
    for name, kind, width, data in (("f16.gguf", 1, D, matrices["f16.gguf"].tobytes()), ("q8.gguf", 8, 64, blocks)):
        def text(s):
            return struct.pack("<Q", len(s)) + s
        out = b"GGUF" + struct.pack("<IQQ", 3, 2, 1) + text(b"general.alignment") + struct.pack("<II", 4, 64)
        out += text(b"other") + struct.pack("<IQIQ", 1, 8, 0, 0)
        out += text(b"token_embd.weight") + struct.pack("<IQQIQ", 2, width, V, kind, 64)
        out += b"\0" * (-len(out) % 64) + b"\0" * 64 + data
        with open(name, "wb") as f:
            f.write(out)
    matrices["bf16.safetensors"] = (matrices["bf16.safetensors"].astype(np.uint32) << 16).view(F)
    matrices["q8.gguf"] = (scale.astype(F)[:, :, None] * q8.reshape(V, 2, 32).astype(F)).reshape(V, 64)
    return texts, rows, {name: m.astype(F) for name, m in matrices.items()}


def dump(options, tier):
    command = [SAMPL, "-n", str(V), "-s", "1", "--independent", "--samplers", "scatter", "--dump-probs", "-O", "tsv", *options, "rows.f32"]
    out = subprocess.run(command, env={**os.environ, "SAMPL_CPU": tier}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True).stdout
    rows = [([], []) for _ in range(ROWS)]
    for line in out.splitlines()[1:]:
        row, _, token, _, p = line.split("\t")[:5]
        rows[int(row)][0].append(int(token))
        rows[int(row)][1].append(float(p))
    return out, rows


def random_options(rng, files):
    a = dict(k=rng.choice((2, 5, 17, 64, 64, 300)), strength=rng.choice((0.1, 0.3, 0.6, 1.0)), radius=rng.choice((0.3, 1.0, 2.5, 9.0)),
             steps=rng.choice((1, 1, 2, 5)), adaptive=rng.random() < 0.25, absorption=rng.choice((0, 0, 0.5)), classes=rng.random() < 0.6,
             metric=rng.choice(("cosine", "l2")), neighbours=rng.choice((1, 3, 5, 5, 20, 500)), sigma=rng.choice((0, 0, 0, 0.3, 1.5)))
    file = rng.choice(files) if not a["classes"] or rng.random() < 0.5 else None
    options = ["--scatter-k", a["k"], "--scatter-strength", a["strength"], "--scatter-radius", a["radius"], "--scatter-steps", a["steps"],
               "--scatter-absorption", a["absorption"], "--vocab", "v.txt"]
    options += ["--scatter-adaptive"] * a["adaptive"] + ["--scatter-classes"] * a["classes"]
    if file:
        options += ["--scatter-embeddings", file, "--scatter-metric", a["metric"], "--scatter-neighbours", a["neighbours"], "--scatter-sigma",
                    a["sigma"]]
    history = [rng.randrange(V) for _ in range(40)]
    return a, file, [str(o) for o in options] + ["--prompt-tokens", ",".join(map(str, history))], history


def main():
    rng = random.Random(SEED)
    texts, rows, matrices = write_files()
    version = subprocess.run([SAMPL, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    tiers = re.search(r"SIMD tier .*\(of (.*)\)", version)[1].split()
    kinds, compared = set(), 0
    for case in range(24):
        a, file, options, history = random_options(rng, sorted(matrices))
        kinds.add((a["classes"], file))
        out, got = dump(options, tiers[0])
        for tier in tiers[1:]:
            assert dump(options, tier)[0] == out, f"{tier} differs from {tiers[0]}: {options}"
        for i, row in enumerate(rows):
            want = one_row(row, a, texts, matrices.get(file), history)
            where = f"case {case} row {i}: {' '.join(options)}"
            if want is None:
                continue
            ids, p, first = want
            assert sorted(ids) == sorted(got[i][0]), where
            mine = dict(zip(*got[i]))
            worst = max(abs(mine[t] - x) for t, x in zip(ids, p))
            assert worst < 1e-6, f"{where}: a probability is {worst} off"
            assert all(x >= y for x, y in zip(got[i][1], got[i][1][1:])), f"{where}: not sorted"
            assert a["absorption"] or mine[first] == got[i][1][0], f"{where}: the likeliest token changed"
            last = {}
            for t in sorted(ids, key=lambda t: (-row[t], t)) if not file and not a["absorption"] else []:
                name = class_of(texts[t]) if a["classes"] else ""
                assert mine[t] <= last.get(name, 2), f"{where}: token {t} rose within its class"
                last[name] = mine[t]
            compared += len(ids)
    assert len(kinds) >= 6 and compared > 1000, (kinds, compared)
    print(f"{compared} probabilities of 24 chains on {', '.join(tiers)} are numpy's")


main()
