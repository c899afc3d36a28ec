#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads rows as each of the raw types, and counts the notes on types. usage: misread.py SAMPL FILE:WIDTH:EVERY...

Of each file it takes each EVERY-th row.
A row is written as each type, also widened to f32 and with masked tokens, and read as each type: a right reading must be silent, and a wrong
one must name the right type. Prints the counts. Status 1: a right reading has a note, or a kind of wrong reading is missed too often.
"""
import collections
import itertools
import os
import subprocess
import sys

import numpy as np

NAMES = {"f32": np.dtype("<f4"), "f16": np.dtype("<f2"), "bf16": np.dtype("<u2")}
MASKS = (None, -1e9, -65504, -1e4, -np.inf, float(np.finfo(np.float32).min))
# Numbers of bf16 look like f16 between 0.5 and 4, so that nothing tells them from small logits.
BLIND = {("bf16", "f16")}


def bf16(x):
    bits = x.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def widen_bf16(bits):
    return (bits.astype("<u4") << 16).view("<f4")


def rows(spec):
    path, width, every = spec.rsplit(":", 2)
    width = int(width)
    kind = os.path.splitext(path)[1][1:]
    data = np.fromfile(path, NAMES.get(kind, NAMES["f32"])).reshape(-1, width)
    for row in data[::int(every)]:
        yield widen_bf16(row) if kind == "bf16" else row.astype("<f4")


def toys():
    """Yields rows that no model computes, but that tests and examples have: flat, stepped, steep, and log-probabilities."""
    rng = np.random.default_rng(1)
    for n in (1, 31, 32, 33, 1000):
        at = np.arange(n)
        yield from (at * 0.0, at * 0.0 + 2, at * 0.25, -at / 8, at * 1.0, at % 2 * 3.0, (at % 2 == 0) * -7.5, rng.integers(-9, 9, n) / 4)
        for scale in (0.01, 1, 30):
            x = rng.normal(0, scale, n)
            yield from (x, x - np.log(np.exp(x).sum()), np.exp(x - x.max()))


def written(row):
    """Yields the name of a type, a word for the case, and the bytes."""
    for mask in MASKS:
        x = row.copy()
        if mask is not None:
            x[:: 7] = mask
        word = "plain" if mask is None else f"masked with {mask:g}"
        yield "f32", word, x.tobytes()
        yield "f32", word + ", widened from bf16", np.where(x == mask, x, widen_bf16(bf16(x))).astype("<f4").tobytes()
        with np.errstate(over="ignore"):
            yield "f32", word + ", widened from f16", np.where(x == mask, x, x.astype("<f2")).astype("<f4").tobytes()
            yield "f16", word, x.astype("<f2").tobytes()
        yield "bf16", word, bf16(x).tobytes()


def main():
    program = sys.argv[1]
    right, wrong, noted = 0, collections.Counter(), collections.Counter()
    false, other = [], []
    few = bool(os.environ.get("SAMPL_TEST_SHORT"))
    for spec in sys.argv[2:]:
        for number, row in itertools.islice(enumerate(rows(spec)), 1 if few else None):
            for kind, word, data in written(row):
                for read, dtype in NAMES.items():
                    n = len(data) // dtype.itemsize
                    p = subprocess.run([program, "-f", read, "-n", str(n), "-s", "1", "--rows", "0"], input=data, capture_output=True, check=False)
                    said = [line for line in p.stderr.decode().split("\n") if line.endswith("meant?")]
                    if read == kind:
                        right += 1
                        false += [f"{spec} row {number} {kind} {word}: {line}" for line in said]
                        continue
                    wrong[spec, kind, read, word] += 1
                    noted[spec, kind, read, word] += bool(said)
                    other += [f"{spec} row {number} {kind} {word}: {line}" for line in said if f"-f {kind} " not in line]
    for number, row in itertools.islice(enumerate(toys()), 0, None, 9 if few else 1):
        for kind, word, data in written(row.astype("<f4")):
            n = len(data) // NAMES[kind].itemsize
            p = subprocess.run([program, "-f", kind, "-n", str(n), "-s", "1"], input=data, capture_output=True, check=False)
            right += 1
            false += [f"toy {number} {kind} {word}: {line}" for line in p.stderr.decode().split("\n") if line.endswith("meant?")]
    print(f"{right} right readings, {len(false)} notes; {len(other)} notes name another type")
    print(*false[:20], *other[:20], sep="\n")
    missed = False
    for key in sorted(wrong):
        spec, kind, read, word = key
        if noted[key] < wrong[key]:
            print(f"{spec}: {kind} read as {read}, {word}: {noted[key]} of {wrong[key]} noted")
        missed = missed or (word == "plain" and (kind, read) not in BLIND and noted[key] < 0.9 * wrong[key])
    print(f"{sum(noted.values())} of {sum(wrong.values())} wrong readings noted")
    sys.exit(bool(false or missed or other))


main()
