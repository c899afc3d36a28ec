#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compare each number that --emit list writes with numpy's, for random rows: list_numbers.py [SEED]."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPL = os.path.abspath(os.environ.get("SAMPL") or ROOT / "build/sampl")
LOWEST = {"f32": np.finfo(np.float32).min, "f16": np.float16(-65504)}
TABLE = 2.0 ** (np.arange(32) / 32)


def expf(x):
    """The f32 exponential of sampl-spec(7)."""
    z = x.astype(np.float64) * (float.fromhex("0x1.71547652b82fep+0") * 32)
    k = np.rint(z)
    r = z - k
    c0, c1, c2 = (float.fromhex(c) for c in ("0x1.c6af84b912394p-5", "0x1.ebfce50fac4f3p-3", "0x1.62e42ff0c52d6p-1"))
    y = (c0 / 32**3 * r + c1 / 32**2) * (r * r) + (c2 / 32 * r + 1.0)
    s = TABLE[k.astype(int) % 32] * 2.0 ** np.floor(k / 32)
    return np.where(x < float.fromhex("-0x1.9fe368p+6"), 0.0, y * s).astype(np.float32)


def want(row, n, token):
    """The list of a row of f32 logits, -inf where they are masked."""
    alive = row > -np.inf
    order = np.lexsort((np.arange(len(row)), -row))[:min(n, alive.sum())]
    tail = alive.copy()
    tail[order] = False
    x = row[tail].astype(np.float64)
    logits = row[alive]
    mean = np.add.accumulate(logits, dtype=np.float32)[-1] / np.float32(len(logits))
    squares = np.float32(0)
    for d in (logits - mean).astype(np.float64):
        squares = np.float32(np.float64(squares) + d * d)
    t = {"n": len(x), "masked": int((~alive).sum()), "max": x.max() if len(x) else -np.inf,
         "sum": np.add.accumulate(expf(logits - row.max()), dtype=np.float32)[-1],
         "sd": np.sqrt(squares / np.float32(len(logits))), "lse": -np.inf, "xmean": -np.inf}
    if len(x):
        w = np.exp(x - x.max())
        t["lse"] = x.max() + np.log(w.sum())
        t["xmean"] = (w * x).sum() / w.sum()
    t["rank"] = 1 + int((row > row[token]).sum() + (row[:token] == row[token]).sum())
    return order, row[order], t


def read_tensors(data):
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    types = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I32": "<i4"}
    out = {}
    assert size % 8 == 0
    for name, t in header.items():
        if name != "__metadata__":
            begin, end = t["data_offsets"]
            out[name] = np.frombuffer(data[8 + size + begin:8 + size + end], types[t["dtype"]]).reshape(t["shape"])
    assert out["topk_logits"].dtype.itemsize > 2 or header["topk_logits"]["dtype"] in ("F16", "BF16")
    if header["topk_logits"]["dtype"] == "BF16":
        out["topk_logits"] = (out["topk_logits"].astype(np.uint32) << 16).view(np.float32)
    return out, header


def check(name, a, b, exact):
    a, b = np.float64(a), np.float64(b)
    if not (a == b or (not exact and abs(a - b) <= 2e-13 * max(1, abs(b)))):
        sys.exit("%s: %r instead of %r" % (name, a, b))


def check_rows(folder, rows, kind, n, tokens):
    path = os.path.join(folder, "rows." + kind)
    if kind == "bf16":
        stored = (rows.view(np.uint32) >> 16).astype(np.uint16)
        rows = (stored.astype(np.uint32) << 16).view(np.float32)
    else:
        stored = rows.astype(np.float16 if kind == "f16" else np.float32)
        rows = np.where(stored == LOWEST[kind], -np.inf, stored).astype(np.float32)
    stored.tofile(path)
    command = [SAMPL, "-f", kind, "-n", str(rows.shape[1]), "--neutral", "-s1", "--emit", "list=%d" % n,
               "--accept", ",".join(map(str, tokens)), path]
    run = lambda *more: subprocess.run(command + list(more), capture_output=True, check=True)
    done = run("-O", "json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    tensors, header = read_tensors(run("-O", "safetensors").stdout)
    run("-O", "safetensors", "-o", os.path.join(folder, "a"))
    assert open(os.path.join(folder, "a"), "rb").read() == run("-O", "safetensors").stdout
    assert len(lines) == len(rows) == len(tensors["tail_n"]) and header["__metadata__"]["n_vocab"] == str(rows.shape[1])
    assert header["topk_logits"]["dtype"] == kind.upper()
    shares = []
    for i, row in enumerate(rows):
        ids, logits, t = want(row, n, tokens[i])
        line, no = lines[i], lambda x: -np.inf if x is None else x
        if line["ids"] != ids.tolist() or [np.float32(x) for x in line["logits"]] != logits.tolist():
            sys.exit("row %d: another list" % i)
        k = len(ids)
        assert tensors["topk_ids"][i].tolist() == ids.tolist() + [-1] * (n - k)
        assert tensors["topk_logits"][i].astype(np.float32).tolist() == logits.tolist() + [-np.inf] * (n - k)
        assert line["accept"] == tensors["tokens"][i] == tokens[i]
        for name, x in (("accept_logit", row[tokens[i]]), ("accept_rank", t["rank"])):
            check(name, np.float32(no(line[name])), x, True)
            check(name, tensors["token_" + name[7:] + "s"][i], x, True)
        for name in ("n", "masked", "max", "sum", "sd", "lse", "xmean"):
            exact = name not in ("lse", "xmean")
            check("row %d: tensor %s" % (i, name), tensors["tail_" + name][i], t[name], exact)
            if line["tail"] is None:
                assert t["n"] == t["masked"] == 0
                continue
            x = no(line["tail"][name])
            check("row %d: %s" % (i, name), np.float32(x) if name in ("max", "sum", "sd") else x, t[name], exact)
        top = row.max()
        shares.append(np.exp(logits.astype(np.float64) - top).sum() / np.exp(row[row > -np.inf].astype(np.float64) - top).sum())
    note = done.stderr.decode().split(" hold ")[1].split()
    check("the note's mean", float(note[0]), np.floor(np.mean(shares) * 1e4 + 1e-9) / 1e4, False)
    check("the note's least", float(note[6]), np.floor(min(shares) * 1e3 + 1e-9) / 1e3, False)
    return len(rows)


def main():
    rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("f32", "f16", "bf16"):
            for width, n in ((7, 1), (40, 3), (300, 300), (300, 512), (1000, 64), (20000, 256)):
                rows = (rng.standard_normal((4, width)) * rng.choice([0.5, 3, 8])).astype(np.float32)
                rows[0] = np.round(rows[0])  # ties
                if kind != "bf16":
                    rows[1][rng.random(width) < 0.3] = -np.inf if kind == "f16" else LOWEST[kind]
                    rows[1][0] = 1.5
                rows[2] += 200
                done += check_rows(folder, rows, kind, n, rng.integers(0, width, len(rows)).tolist())
    print("%d rows: each number is numpy's" % done)


main()
