#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the table of sampl-samplers(7) on the probability that temperature and scatter move between classes.

Usage: scatter_table.py SAMPL SAMPLES

Each way to flatten the 64 best candidates of the sample's rows gets the strength at which the mean entropy is that of scatter 0.18.
Prints the strength, the probability that moves, and how much of it crosses from one class of tokens to another.
"""
import functools
import itertools
import json
import subprocess
import sys

import numpy as np

from scatter_classes import class_of

SAMPL, SAMPLES = sys.argv[1:3]
WAYS = {
    "temperature": ("temperature", "--temp", ""),
    "scatter": ("scatter", "--scatter-strength", ""),
    "classes": ("scatter", "--scatter-strength", "--scatter-classes"),
    "embeddings": ("scatter", "--scatter-strength", f"--scatter-embeddings {SAMPLES}/austen.gguf"),
    "both": ("scatter", "--scatter-strength", f"--scatter-classes --scatter-embeddings {SAMPLES}/austen.gguf"),
}


kind = {}  # the class of each token that was seen


def run(*options):
    command = [SAMPL, "-n", "4096", "-s", "1", "--top-k", "64", "--vocab", f"{SAMPLES}/austen-vocab.json", "-O", "json", *options,
               f"{SAMPLES}/austen.f16"]
    return [json.loads(line) for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]


def rows(*options):
    """The probabilities of each row's 64 best, by token."""
    dump = [row["top_probs"] for row in run("--dump-probs", *options)]
    kind.update((t["id"], class_of(bytes(t["bytes"]))) for row in dump for t in row)
    return [{t["id"]: t["prob"] for t in row} for row in dump]


def entropy(*options):
    return np.mean([row["entropy"] for row in run("--emit", "stats", *options)])


def way(name, strength):
    sampler, option, more = WAYS[name]
    return "--samplers", f"top_k;{sampler}", option, repr(strength), *more.split()


def match(name, target):
    """The strength, with three decimals, at which the entropy is nearest to the target: halves the range and interpolates, in turn."""
    excess = functools.cache(lambda s: entropy(*way(name, s / 1000)) - target)
    low, high = (1000, 3000) if name == "temperature" else (1, 1000)
    for step in itertools.count():
        if high - low == 1:
            return min((low, high), key=lambda s: abs(excess(s))) / 1000
        line = low + (high - low) * excess(low) / (excess(low) - excess(high))
        middle = (low + high) // 2 if step % 2 else min(max(round(line), low + 1), high - 1)
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)


def main():
    before = rows("--samplers", "top_k")
    target = entropy(*way("scatter", 0.18))
    print(f"before {entropy('--samplers', 'top_k'):.3f}, after {target:.3f} nats")
    for name in WAYS:
        strength = match(name, target)
        moved, across = [], []
        for p, q in zip(before, rows(*way(name, strength))):
            change = {t: q[t] - p[t] for t in p}
            moved.append(sum(map(abs, change.values())) / 2)
            gain = {}
            for t, x in change.items():
                gain[kind[t]] = gain.get(kind[t], 0) + x
            across.append(sum(map(abs, gain.values())) / 2)
        print(f"{name} {strength:g} {np.mean(moved):.4f} {np.mean(across):.4f} {100 * np.mean(across) / np.mean(moved):.0f} %")


main()
