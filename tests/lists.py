#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare sampl's outcomes of lists of the likeliest tokens with its outcomes of the full rows: `make check-lists`
(COUNT=20000 SEED=1 JOBS=2 ONLY=17).

An outcome that sampl calls exact must be that of the full row: the same id, the same kept tokens, and probabilities
within the bound that it states; of a list of logits with a tail, the same bits. There are two parts:

1. A table of chains, each on 300 rows. It prints how many outcomes of each chain are exact, and fails if none is.
2. COUNT random cases. A case is a sequence of rows with a chain or an engine. SEED and its number determine it. The
   lists of every second case are lists of logits, which `--emit list` writes.

The numbers of a reply are rounded: to f32, bf16, f16 or 1 to 6 decimals, and printed with more digits or fewer. A case
of f32 numbers is on an edge, and does not count, if the full rows have another outcome once their logits are moved by
3e-6. For coarser numbers there is no such excuse. The last lines count the exact outcomes, and the inexact ones that were right all the same.
"""
import concurrent.futures
import json
import math
import os
import pathlib
import random
import shlex
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPL = os.path.abspath(os.environ.get("SAMPL") or ROOT / "build/sampl")
COUNT, SEED, JOBS = (int(os.environ.get(name) or number) for name, number in
                     (("COUNT", 20000), ("SEED", 1), ("JOBS", os.cpu_count())))
ONLY = os.environ.get("ONLY")

# ---- part 1: a table of chains

VOCAB, ROWS = 60, 300
HISTORY = "3,7,11,3,7,11,3,7"  # tokens that penalties find, and a repetition that DRY finds

TOLERANCE = 3e-5
ENGINES = ["ollama", "akunu", "akunu-gpu", "batch", "transformers", "vllm", "vllm-v2", "sglang", "mlx"]

# The chain, or an engine, its options, and whether some results must be exact and some not.
CHAINS = [
    ("top_k", "--top-k 4", True, True),
    ("top_k", "--top-k 12", True, True),
    ("top_k;top_k", "--top-k 30", False, True),
    ("top_p", "--top-p 0.5", True, True),
    ("top_p", "--top-p 0.9 --min-keep 3", True, True),
    ("min_p", "--min-p 0.2", True, True),
    ("min_p", "--min-p 0.2 --min-keep 4", True, True),
    ("min_p;top_p;temperature", "--min-p 0.05 --top-p 0.8 --temp 0.7", True, True),
    ("top_k;top_p;min_p;temperature", "--top-k 40 --top-p 0.6 --min-p 0.05 --temp 1.4", True, True),
    ("temperature;top_p", "--top-p 0.7 --temp 0.5", True, True),
    ("temperature;top_p", "--top-p 0.4 --temp 1.7", True, True),
    ("temperature;min_p", "--min-p 0.3 --temp 2", True, True),
    ("temperature", "--temp 0", True, False),
    ("temperature", "--temp 0.02", True, True),
    ("temperature", "--temp 1.1", False, True),
    ("xtc;top_k", "--xtc-probability 0.5 --xtc-threshold 0.15 --top-k 3", True, True),
    ("xtc;min_p", "--xtc-probability 1 --xtc-threshold 0.1 --min-p 0.4", True, True),
    ("penalties;top_k", "--presence-penalty 0.6 --frequency-penalty 0.3 --top-k 4", True, True),
    ("penalties;top_p", "--presence-penalty -0.5 --top-p 0.6", True, True),
    ("penalties;top_k", "--repeat-penalty 1.3 --top-k 4", True, True),
    ("dry;top_p", "--dry-multiplier 0.8 --top-p 0.6", True, True),
    ("top_k", "-l 5+1.5 -l 9-2 -l 20-8 --top-k 4", True, True),
    ("top_p", "-l 5+1.5 -l 9-2 -l 20-8 --top-p 0.6", True, True),
    ("top_k;typ_p;temperature", "--top-k 4 --typical 0.6", True, True),
    ("typ_p", "--typical 0.5", False, True),
    ("top_n_sigma", "--top-n-sigma 1", False, True),
    ("mirostat", "", True, True),
    ("mirostat", "--mirostat-ent 1", True, True),
    ("epsilon_cutoff", "--epsilon-cutoff 0.05", True, True),
    ("epsilon_cutoff;temperature", "--epsilon-cutoff 0.02 --min-keep 3 --temp 0.8", True, True),
    ("temperature;epsilon_cutoff", "--epsilon-cutoff 0.05 --temp 0.6", True, True),
    ("epsilon_cutoff", "--epsilon-cutoff 0.1 --min-keep 4", True, True),
    ("top_a", "--top-a 0.5", True, True),
    ("top_a", "--top-a 0.9 --min-keep 4", True, True),
    ("top_p;top_a", "--top-p 0.9 --top-a 0.2 --min-keep 2", True, True),
    ("p_less", "", True, True),
    ("penalties;p_less", "--presence-penalty 0.6 --min-keep 3", True, True),
    ("temperature;p_less", "--temp 1.5", True, True),
    ("p_step", "--p-step 0.5", True, True),
    ("p_step", "--p-step 0.8 --min-keep 3", True, True),
    ("scatter", "--scatter-k 4 --scatter-strength 0.5", True, True),
    ("scatter;top_k", "--scatter-k 5 --scatter-collision 0.5 --scatter-strength 0.4 --top-k 3", True, True),
    ("scatter", "--scatter-k 4 --scatter-strength 0.5 --scatter-classes --vocab {vocab}", True, True),
    ("scatter", "--scatter-k 5 --scatter-strength 0.8 --scatter-neighbours 2 --scatter-embeddings {vectors}", True, True),
    ("scatter;top_k", "--scatter-k 4 --scatter-strength 0.4 --scatter-classes --scatter-embeddings {vectors} --vocab {vocab} --top-k 3",
     True, True),
    ("smoothing;top_k", "--smoothing-factor 0.4 --top-k 4", True, True),
    ("smoothing;min_p", "--smoothing-factor 0.1 --smoothing-curve 2.5 --min-p 0.2", True, True),
    ("smoothing;top_p", "--smoothing-factor 1 --top-p 0.4", True, True),
    ("smoothing;top_k", "--smoothing-factor 0.4 --smoothing-curve 4 --top-k 4", False, True),
    ("encoder_penalty;top_k", "--encoder-repeat-penalty 0.8 --top-k 4", True, True),
    ("encoder_penalty;top_k", "--encoder-repeat-penalty 1.2 --top-k 4", False, True),
    ("mirostat", "--mirostat 1 --mirostat-ent 1", False, True),
    ("min_k;top_k", "--min-k 0.9 --top-k 4", False, True),
    ("top_k;min_k", "--min-k 0.9 --top-k 4", True, True),
    ("tfs", "--tfs 0.9", False, True),
    ("tfs_tg", "--tfs 0.9", False, True),
    ("no_repeat_ngram;top_k", "--no-repeat-ngram 3 --prompt-tokens 3,7,5,3,7 --top-k 4", True, True),
    ("top_k;dist", "--top-k 4", True, True),
    ("eta_cutoff", "--eta-cutoff 0.01", False, True),
    ("top_k;eta_cutoff", "--eta-cutoff 0.01 --top-k 4", True, True),
    ("p_less_norm", "", False, True),
    ("skew", "--skew 0.5", False, True),
    ("top_h", "--top-h 0.4", False, True),
    ("adaptive_p", "--adaptive-target 0.5", False, True),
    ("top_k;adaptive_p", "--adaptive-target 0.5 --top-k 4", True, True),
    ("greedy", "", True, True),
    ("ollama", "--top-k 4", True, True),
    ("ollama", "--top-k 40 --top-p 0.6 --min-p 0.05 --temp 0.7", True, True),
    ("ollama", "--top-k 0 --top-p 0.5 --temp 1.3", True, True),
    ("ollama", "--top-k 0 --top-p 1 --min-p 0.3", True, True),
    ("ollama", "--top-k 0 --top-p 1 --temp 1.5", False, True),
    ("akunu", "--temp 0.8 --top-k 4", False, True),
    ("akunu-gpu", "--temp 0.8 --top-k 4", False, True),
    ("batch", "--temp 0.8 --top-k 40 --top-p 0.5", True, True),
    ("transformers", "--top-k 4", True, True),
    ("transformers", "--top-k 0 --top-p 0.6 --temp 0.8", True, True),
    ("transformers", "--top-k 40 --top-p 0.6 --min-p 0.1 --temp 1.2", True, True),
    ("transformers", "--top-k 0 --epsilon-cutoff 0.05", True, True),
    ("transformers", "--top-k 0 --min-p 0.2 --encoder-repeat-penalty 0.8", True, True),
    ("transformers", "--top-k 3 --typical 0.5 --eta-cutoff 0.01", True, True),
    ("transformers", "--top-k 0 --typical 0.5", False, True),
    ("transformers", "--top-k 0 --top-h 0.4", False, True),
    ("vllm", "--top-k 4", True, True),
    ("vllm", "--top-p 0.6 --min-p 0.1 --temp 0.7", True, True),
    ("vllm", "--top-k 20 --top-p 0.5 --presence-penalty 0.5", True, True),
    ("vllm", "--top-k 4 --repeat-penalty 1.3", True, True),
    ("vllm", "--top-k 4 -l 5+1.5 -l 9-2", True, True),
    ("vllm-v2", "--top-k 4 --temp 0.7", True, True),
    ("vllm-v2", "--top-p 0.6 --min-p 0.1", True, True),
    ("sglang", "--top-k 4 --temp 0.7", True, True),
    ("sglang", "--top-p 0.6", True, True),
    ("sglang", "--top-k 20 --top-p 0.7 --min-p 0.1 --temp 1.2", True, True),
    ("sglang", "--min-p 0.3 --presence-penalty 0.5", True, True),
    ("sglang", "", False, True),
    ("mlx", "--temp 0.8 --top-k 4", True, True),
    ("mlx", "--temp 0.8 --top-p 0.6", True, True),
    ("mlx", "--temp 0.8 --min-p 0.2", True, True),
    ("mlx", "--temp 1.2 --top-k 20 --top-p 0.6 --min-p 0.1", True, True),
    ("mlx", "--temp 0.8 --top-k 4 --repeat-penalty 1.3", True, True),
]


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def bf16(x):
    bits = struct.unpack("I", struct.pack("f", x))[0]
    return struct.unpack("f", struct.pack("I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def f16(x):
    return struct.unpack("e", struct.pack("e", x))[0]


# How servers round numbers: to f32, as most do, to 16 bits, or to decimals.
ROUNDINGS = ["f32", "f32", "f32", "bf16", "f16", 1, 2, 3, 4, 5, 6]

# How the rounded numbers are printed: the shortest text of the f64, or a number of decimals or of digits.
PRINTS = ["", "", "%.17g", "%.9g", "%.6g", "%.8f", "%.6f", "%.4f", "%.3f"]


def rounded(x, to, text):
    """Return x, a log-probability or a probability, as a server sends it."""
    x = {"f32": f32, "bf16": bf16, "f16": f16}[to](x) if isinstance(to, str) else f32(round(x, to))
    return float(text % x) if text else x


def make_row(rng, i):
    """Return the logits of a full row. Some rows have ties, some have logits one unit in the last place apart."""
    width = rng.choice([0.5, 1.5, 3.0, 5.0])
    row = [f32(rng.gauss(0, width)) for _ in range(VOCAB)]
    if i % 3 == 0:
        row = [round(x * 2) / 2 for x in row]
    if i % 7 == 1:
        at, to = rng.sample(range(VOCAB), 2)
        row[to] = f32(row[at] * (1 + 2**-23))
    return row


def make_position(rng, row, i):
    """Return the position of a reply that lists the likeliest of the row's tokens, and what the server sampled."""
    top = max(row)
    log_sum = top + math.log(sum(math.exp(x - top) for x in row))
    rank = sorted(range(VOCAB), key=lambda t: (-row[t], t))
    n = rng.choice([1, 2, 5, 10, 20, VOCAB - 1])
    chosen = rank[rng.randrange(n, VOCAB)] if i % 4 == 0 else rank[rng.randrange(n)]
    record = lambda t: {"id": t, "token": "t%d" % t, "logprob": f32(row[t] - log_sum)}
    listed = rank[:n]
    if i % 8 == 0:
        listed = [chosen] + listed  # vLLM lists the sampled token first
    return {**record(chosen), "top_logprobs": [record(t) for t in listed]}


def write_files(rng, folder):
    """Write a vocabulary whose tokens are of three classes, and random vectors. Return the paths by their names in CHAINS."""
    paths = {"vocab": os.path.join(folder, "vocab.txt"), "vectors": os.path.join(folder, "vectors.npy")}
    with open(paths["vocab"], "w") as f:
        f.writelines([" word\n", "word\n", ",\n"][t * t % 7 % 3] for t in range(VOCAB))
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 20)}" % VOCAB
    with open(paths["vectors"], "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%df" % (20 * VOCAB), *[rng.gauss(0, 1) for _ in range(20 * VOCAB)]))
    return paths


def is_collapsed(row, listed):
    """Does the list have equal numbers for logits that differ?"""
    logits = {}
    return any(logits.setdefault(token["logprob"], row[token["id"]]) != row[token["id"]] for token in listed)


def run_chain(text, samplers, options):
    chain = ["--engine" if samplers in ENGINES else "--samplers", samplers]
    if samplers == "mirostat":
        chain = [] if "--mirostat " in options else ["--mirostat", "2"]
    command = [SAMPL, "-s", "1", "--independent", "--n-vocab", str(VOCAB), "--prompt-tokens", HISTORY, "-O", "json",
               "--on-error", "skip", "--dump-probs", *chain, *options.split()]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode > 1: # 1: all listed tokens of a row are banned
        sys.exit("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_exact(part):
    """A record without "exact" is that of a complete list, or of a list without an allowed token."""
    return "error" not in part and part.get("exact", True)


def difference(row, full, part):
    """Return how the result of a list differs from that of the full row, or None."""
    want = {c["id"]: c["prob"] for c in full["top_probs"]}
    have = {c["id"]: c["prob"] for c in part["top_probs"]}
    tied = sorted(c["logit"] for c in full["top_probs"])
    tied = any(abs(x - y) < 1e-5 for x, y in zip(tied, tied[1:]))  # a list's rounding may change the order of these
    near = {t: [u for u in want if abs(row[u] - row[t]) < 1e-5] for t in want}
    tied = tied or any(len(u) > 1 for u in near.values())  # scatter gives such tokens different probabilities
    odd = {t for t in want if t not in have and want[t] > 1e-6}
    odd |= {t for t in have if t not in want and have[t] > 1e-6}
    logits = {c["id"]: c["logit"] for c in part["top_probs"]}
    shift = max(c["logit"] for c in full["top_probs"]) - max(logits.values())  # a list has log-probabilities
    logits = {t: x + shift for t, x in logits.items()}
    logits.update({c["id"]: c["logit"] for c in full["top_probs"]})
    if odd and max(logits[t] for t in odd) - min(logits[t] for t in odd) > 1e-5:  # else a tie that the list rounds
        return "kept %s instead of %s" % (sorted(have), sorted(want))
    for t in set(have) & set(want):
        close = any(abs(have[t] - want[u]) <= TOLERANCE for u in near[t])
        if not close and not odd:
            return "token %d has probability %g instead of %g" % (t, have[t], want[t])
    if part["id"] != full["id"] and not odd and not tied:
        return "token %d instead of %d" % (part["id"], full["id"])
    return None


def cut_is_tied(row, options):
    """With vectors, a list's rounding may replace the last candidate of scatter by another one, and change all its neighbours."""
    words, falling = options.split(), sorted(row, reverse=True)
    k = int(words[words.index("--scatter-k") + 1]) if "--scatter-embeddings" in words else 0
    return k and falling[k - 1] - falling[k] < 1e-5


def check_table():
    """Run part 1. Return whether it holds."""
    rng = random.Random(SEED)
    rows = [make_row(rng, i) for i in range(ROWS)]
    full_text = "\n".join(map(json.dumps, rows))
    positions = [make_position(rng, row, i) for i, row in enumerate(rows)]
    reply = json.dumps({"completion_probabilities": positions})
    collapsed = [is_collapsed(row, p["top_logprobs"]) for row, p in zip(rows, positions)]
    good = True
    folder = tempfile.TemporaryDirectory()
    paths = write_files(rng, folder.name)
    for samplers, options, some_exact, some_not in CHAINS:
        options = options.format(**paths)
        exact = 0
        full, part = run_chain(full_text, samplers, options), run_chain(reply, samplers, options)
        for i, (f, p) in enumerate(zip(full, part)):
            compared = is_exact(p) and not collapsed[i] and not cut_is_tied(rows[i], options)
            wrong = difference(rows[i], f, p) if compared else None
            exact += is_exact(p)
            if wrong:
                print("%s %s: row %d: %s" % (samplers, options, i, wrong))
                good = False
        print("%s %s: %d of %d exact" % (samplers, options, exact, ROWS))
        good &= len(full) == len(part) == ROWS
        good &= not (some_exact and exact < ROWS * 0.03) and not (some_not and exact > ROWS * 0.97)
    return good


# ---- part 2: random cases

# Values of parameters. Others come from the range of their slider.
VALUES = {
    "top-k": [1, 2, 3, 4, 5, 8, 10, 20, 40], "top-p": [0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.999],
    "min-p": [0.001, 0.01, 0.05, 0.1, 0.3, 0.7], "temp": [0, 0.3, 0.5, 0.8, 1.3, 2, 4], "min-keep": [0, 0, 0, 1, 2, 3, 8],
    "typical": [0.2, 0.5, 0.9], "top-nsigma": [0.5, 1, 2, 3], "xtc-probability": [0.5, 0.5, 1],
    "xtc-threshold": [0.02, 0.1, 0.2, 0.4], "repeat-penalty": [1, 1, 1.1, 1.3, 0.8], "repeat-last-n": [-1, 64, 3],
    "frequency-penalty": [0, 0, 0.5, -0.5], "presence-penalty": [0, 0.6, -0.6], "dry-multiplier": [0.8, 2],
    "dry-base": [1.75], "dry-allowed-length": [1, 2], "dry-penalty-last-n": [-1, 6], "no-repeat-ngram": [1, 2, 3],
    "scatter-k": [2, 3, 5, 10, 64], "scatter-strength": [0, 0.3, 0.8], "scatter-absorption": [0, 0, 0.5],
    "scatter-collision": [1, 0.5], "scatter-strength-min": [0.02], "scatter-strength-max": [0.3],
    "mirostat-ent": [0.5, 1, 2, 5], "dynatemp-range": [0, 0, 0, 0.5], "dynatemp-exp": [1, 2],
    "encoder-repeat-penalty": [0.8, 1.2], "adaptive-target": [-1, 0.3, 0.7], "smoothing-curve": [1, 2, 3, 5],
    "smoothing-factor": [0.1, 0.4, 1], "eta-cutoff": [0.001, 0.01, 0.1], "epsilon-cutoff": [0.001, 0.01, 0.1],
    "min-k": [-1, 0, 0.9, 5], "repeat-penalty-slope": [1, 1, 0.5],
}
VARIANTS = ["--temp 0.7", "--top-k 3", "--top-k 20 --min-p 0.1", "--samplers min_p;xtc;top_p --min-p 0.02",
            "--samplers penalties;top_k --repeat-penalty 1.2", "--mirostat 2", "--neutral", "--samplers top_k;dry;typ_p"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
GRAMMARS = ["root ::= [a-m]*", "root ::= ([a-f] | [g-z] [a-f])*", "root ::= ([a-m] [a-z] [a-z])*", "root ::= [^abc]*"]
EDGE = 3e-6


def logits_of(rng, width):
    """Return a row: flat, peaked, tailed, rounded as a server's bf16 rounds it, or of any kind."""
    kind = rng.choice(["any", "any", "any", "flat", "peaked", "tailed", "rounded", "rounded"])
    scale = rng.choice([0.5, 1.5, 3.0, 5.0])
    if kind == "flat":
        row = [rng.gauss(0, 0.05) for _ in range(width)]
    elif kind == "tailed":
        row = [-rng.choice([1.0, 2.0]) * math.log(i + 1) for i in range(width)]
        rng.shuffle(row)
    else:
        row = [rng.gauss(0, scale) for _ in range(width)]
    if kind == "peaked":
        for t in rng.sample(range(width), min(width, rng.choice([1, 1, 2]))):
            row[t] += rng.choice([5, 10, 15])
    shift = rng.choice([-20, -3, 0, 0, 3, 20])
    step = rng.choice([0.5, 0.0625])
    return [f32(round(x / step) * step + shift if kind == "rounded" else x + shift) for x in row]


class Case:
    """A sequence of rows and a command."""

    def __init__(self, number):
        self.number = number
        self.rng = rng = random.Random("lists %d %d" % (SEED, number))
        self.width = rng.choice([8, 20, 60, 60, 200, 1000] if number % 2 else [8, 20, 60, 60, 200])
        self.rows = [logits_of(rng, self.width) for _ in range(rng.choice([6, 12, 20]))]
        self.options = ["-s", str(rng.randrange(1, 1000))]
        self.of_list = ["-n", str(self.width)] if rng.random() < 0.5 else []
        self.recorded = []
        self.bad = set()
        self.vocab = rng.random() < 0.4
        engine = rng.random() < 0.25
        self.before = None
        if rng.random() < 0.3:
            self.options.append("--independent")
        if engine:
            self.engine(rng.choice(ENGINES))
        elif number % 2 and rng.random() < 0.35:
            self.sigma()
        elif rng.random() < 0.1:
            self.options += ["--mirostat", rng.choice("12"), *self.values(["mirostat-ent", "mirostat-lr", "temp"])]
        else:
            self.chain()
        if rng.random() < 0.6:
            self.options += ["--prompt-tokens", self.ids(rng.choice([2, 8, 20]))]
        if rng.random() < 0.2 and not engine:
            self.options += ["-l", "%d%+g" % (self.likely(), rng.choice([-8, -2, -0.5, 0.5, 2]))]
        if rng.random() < 0.1:
            self.options += ["--eog-tokens", str(self.likely())]
            self.options += ["--min-tokens", "2"]
        if self.vocab and rng.random() < 0.6:
            self.options += ["--grammar", rng.choice(GRAMMARS)]
            self.options += ["--grammar-first"] if rng.random() < 0.3 or engine else []
        if rng.random() < 0.12 and not engine:
            start, end = rng.sample(range(self.width), 2)
            self.options += ["--reasoning-budget", rng.choice("012"), "--reasoning-start", str(self.likely()),
                             "--reasoning-end", str(end)]
        self.raw = number % 2  # lists of logits with a tail, which sampl writes
        self.positions()
        if rng.random() < 0.25 and "--grammar" not in self.options and "--reasoning-budget" not in self.options:
            self.options += ["--accept", self.ids(len(self.rows))]
        if self.bad or rng.random() < 0.5:
            self.options += ["--on-error", "skip"]
        # "alone"; "variants": the record of the second chain; "against": the lists are the second file
        self.form = rng.choice(["alone", "alone", "alone", "variants", "against"]) if not engine else "alone"
        self.variant = rng.choice(VARIANTS)
        if self.raw:
            self.hide()

    def hide(self):
        """Mask tokens of some rows, and choose how long the lists of logits are."""
        rng = self.rng
        for row in self.rows:
            if rng.random() < 0.2:
                for t in rng.sample(range(self.width), rng.randrange(self.width - 1)):
                    row[t] = -math.inf
        self.most = rng.choice([1, 2, 3, 5, 10, 20, 50, 50, 100, 512, rng.randrange(1, self.width + 2)])
        self.of_list = ["-n", str(self.width)] if rng.random() < 0.2 else []
        self.writes_accept = rng.random() < 0.5
        self.ending = rng.choice(["json", "safetensors"])

    def likely(self):
        row = self.rng.choice(self.rows)
        return row.index(max(row))

    def ids(self, n):
        """Ids of which some are likely and some repeat."""
        few = [self.rng.randrange(self.width) for _ in range(3)]
        return ",".join(str(self.rng.choice([self.likely(), self.rng.choice(few), self.rng.randrange(self.width)]))
                        for _ in range(n))

    def values(self, flags):
        words = []
        for flag in flags:
            option = OPTIONS[flag]
            if flag in VALUES:
                words += ["--%s=%s" % (flag, self.rng.choice(VALUES[flag]))]
            elif "slider" in option:
                low, high = option["slider"]["low"], option["slider"]["high"]
                x = self.rng.uniform(low, high)
                words += ["--%s=%s" % (flag, round(x) if option["type"] == "int" else "%.3g" % x)]
            elif option["type"] == "flag" and self.rng.random() < 0.3:
                words += ["--" + flag]
        return words

    def chain(self):
        """One to six samplers in any order; some come twice."""
        names = [s for s in SAMPLERS if s["name"] != "infill" or self.vocab]
        n = self.rng.choice([1, 2, 2, 3, 3, 4, 6])
        chosen = [self.rng.choice(names) for _ in range(n)]
        if self.rng.random() < 0.2:
            chosen.insert(self.rng.randrange(n + 1), self.rng.choice(chosen))
        if self.rng.random() < 0.5: # as most chains begin or end
            some = [s for s in SAMPLERS if s["name"] in ("top_k", "top_p", "min_p", "temperature")]
            chosen.insert(self.rng.choice([0, len(chosen)]), self.rng.choice(some))
        flags = sorted({flag for s in chosen for flag in s["params"]})
        self.options += ["--samplers", ";".join(s["name"] for s in chosen), *self.values(flags)]

    def sigma(self):
        """Choose stages that change logits, and so the deviation that top_n_sigma, behind them, cuts by."""
        names = self.rng.choices(["penalties", "penalties", "dry", "encoder_penalty", "temperature"],
                                 k=self.rng.choice([1, 1, 2, 3]))
        self.before = ";".join(names)
        self.options += ["--independent"] if self.rng.random() < 0.7 else []
        self.options += self.values(sorted({flag for s in SAMPLERS if s["name"] in names for flag in s["params"]}))

    def set_limit(self, folder):
        """Put the limit of top_n_sigma beside a candidate, where a bound of the deviation that is wrong changes the kept tokens."""
        rng = self.rng
        command = [SAMPL, "-O", "json", *self.options, "--samplers", self.before, "--emit", "logits"]
        command += ["--vocab", str(folder / ("vocab%d" % self.width))] if self.vocab else []
        done = subprocess.run(command, input=self.full_text(), capture_output=True, text=True, check=False)
        rows = [json.loads(line).get("logits") for line in done.stdout.splitlines()]
        row = sorted((x for x in rng.choice(rows or [None]) or [] if x is not None), reverse=True)
        sigma = 1.0
        if row and row[0] > row[-1]:
            mean = math.fsum(row) / len(row)
            deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in row) / len(row))
            sigma = (row[0] - rng.choice(row[:rng.choice([3, self.most, 1000])])) / deviation
        sigma *= 1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-6, -1)
        after = rng.choice(["", "", ";top_k", ";temperature", ";top_p"])
        self.options += ["--samplers", self.before + ";top_n_sigma" + after, "--top-nsigma=%.9g" % (sigma if sigma > 0 else 1)]

    def engine(self, name):
        self.options += ["--engine", name, "--temp=%s" % self.rng.choice([0, 0.5, 0.8, 1, 1.3])]
        if name in ("transformers", "vllm"):
            self.of_list = ["-n", str(self.width)]
        flags = {"transformers": ["top-k", "top-p", "min-p", "typical", "epsilon-cutoff", "eta-cutoff", "top-h",
                                  "encoder-repeat-penalty", "no-repeat-ngram"],
                 "batch": ["top-k", "top-p", "min-p"]}.get(name, ["top-k", "top-p", "min-p"])
        values = self.values(f for f in flags if self.rng.random() < 0.5)
        if name == "mlx":
            values = ["--top-k=%d" % min(int(v.split("=")[1]), self.width - 1) if "top-k" in v else v for v in values]
        if name not in ("ollama", "batch") and self.rng.random() < 0.5:
            values += ["--repeat-penalty=%s" % self.rng.choice([1.1, 1.3])]
        if name in ("vllm", "vllm-v2", "sglang", "mlx") and self.rng.random() < 0.5:
            values += ["--presence-penalty=%s" % self.rng.choice([0.5, -0.5])]
        self.options += values

    def positions(self):
        """Make the reply. Lists have 1 to 50 tokens; the chosen token may be listed besides."""
        rng, reply = self.rng, []
        sizes = rng.choice([[1], [3], [5], [10], [20], [50], [1, 3, 5, 10, 20, 50], [1, 10, self.width]])
        fails = rng.random() < 0.12
        recorded = rng.random() < 0.25
        self.round = random.Random("round %d %d" % (SEED, self.number))
        to, text, probs = self.round.choice(ROUNDINGS), self.round.choice(PRINTS), self.round.random() < 0.25
        text = "" if to == "f32" else text # else the text is what is rounded
        self.coarse = not self.raw and to not in ("f32", 6)
        number = lambda x: {"prob" if probs else "logprob": rounded(math.exp(x) if probs else x, to, text)}
        for i, row in enumerate(self.rows):
            top = max(row)
            log_sum = top + math.log(sum(math.exp(x - top) for x in row))
            rank = sorted(range(self.width), key=lambda t: (-row[t], t))
            n = min(rng.choice(sizes), self.width)
            token = rng.choice(rank) if rng.random() < 0.3 else rng.choice(rank[:n])
            record = lambda t: {"id": t, "token": LETTERS[t % 26], **number(row[t] - log_sum)}
            position = {**record(token), "top_logprobs": [record(t) for t in rank[:n]]}
            self.recorded.append(token)
            if fails and rng.random() < 0.2:
                del position["top_logprobs"]
                self.bad.add(i)
            reply.append(position)
        self.reply = json.dumps({"completion_probabilities": reply})
        self.accepts = recorded and "--grammar" not in self.options and "--reasoning-budget" not in self.options

    def command(self, folder, of_list):
        words = [SAMPL, "-O", "json", *self.options]
        if self.form == "alone":
            words += ["--dump-probs"]
        else:
            words += ["--emit", "stats"]
        if self.form == "variants":
            words += ["--vs", "v: " + self.variant]
        if self.form == "against":
            words += ["--against", str(self.list_path(folder) if of_list else folder / ("%d.full.json" % self.number))]
        if self.accepts and "--accept" not in self.options:
            records = not self.raw or (self.writes_accept and self.ending == "safetensors" and self.form != "against")
            words += ["--accept", "recorded" if of_list and records else self.tokens()]
        if self.vocab:
            words += ["--vocab", str(folder / ("vocab%d" % self.width))]
        return words + (self.of_list if of_list else [])

    def tokens(self):
        return ",".join(map(str, self.recorded))

    def list_path(self, folder):
        return folder / ("%d.list.%s" % (self.number, self.ending if self.raw else "json"))

    def write_lists(self, folder):
        """Write the lists: those of a reply, or of logits with a tail."""
        if not self.raw:
            self.list_path(folder).write_text(self.reply)
            return
        accept = ["--accept", self.tokens()] if self.accepts and self.writes_accept and "--accept" not in self.options else []
        command = [SAMPL, "-s", "1", "--neutral", "--emit", "list=%d" % self.most, "-O", self.ending, *accept]
        with open(self.list_path(folder), "wb") as f:
            subprocess.run(command, input=self.full_text().encode(), stdout=f, stderr=subprocess.DEVNULL, check=True)

    def answer(self, folder, text, of_list):
        """Return the records, the status, and the messages. text: of the full rows; without it, the lists are read."""
        command = self.command(folder, of_list)
        if of_list:
            self.write_lists(folder)
        elif self.form == "against":
            (folder / ("%d.full.json" % self.number)).write_text(text)
        if self.form == "against":
            text = self.full_text() # the file of the base
        elif of_list:
            command.append(str(self.list_path(folder)))
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        self.list_path(folder).unlink(missing_ok=True)
        lines = done.stdout.splitlines() if 0 <= done.returncode <= 2 else []
        records = [json.loads(line) for line in lines]
        if self.form != "alone":
            records = [r for r in records if r["variant"] != "base"]
        return records, done.returncode, done.stderr

    def full_text(self, moved=0):
        """The full rows. moved: a number other than 0 chooses by how much each logit is moved; equal logits stay so."""
        def move(x):
            return f32(x + random.Random("%d %r" % (moved, x)).choice([-EDGE, -EDGE / 2, EDGE / 2, EDGE]) if moved else x)
        return "\n".join(json.dumps([move(x) for x in row]) for row in self.rows)


def outcome(record):
    """The id, the kept tokens, and their probabilities."""
    return record["id"], {c["id"]: c["prob"] for c in record.get("top_probs", [])}


# Statistics that agree to 1e-12 where lists of logits are exact.
CLOSE = ["raw_prob", "entropy_raw", "entropy", "kl_raw", "mass", "e_raw_prob"]


def differ(a, b, tolerance=TOLERANCE):
    """Return how the outcomes of two records differ, or None. Statistics tell the number of kept tokens."""
    if "n" in a and "top_probs" not in a:
        same = a["id"] == b["id"] and a["n"] == b["n"] and abs(a["prob"] - b["prob"]) <= max(tolerance, 1e-12)
        for name in CLOSE if same and not tolerance else []:
            if (a[name] is None) != (b[name] is None) or abs((a[name] or 0) - (b[name] or 0)) > 1e-12 * max(1, abs(a[name] or 0)):
                return "%s %r instead of %r" % (name, b[name], a[name])
        if same and not tolerance and b["raw_rank"] not in (None, a["raw_rank"]):
            return "raw_rank %r instead of %r" % (b["raw_rank"], a["raw_rank"])
        return None if same else "token %s of %s, %s instead of token %s of %s, %s" % (b["id"], b["n"], b["prob"], a["id"], a["n"], a["prob"])
    (id_a, p_a), (id_b, p_b) = outcome(a), outcome(b)
    if set(p_a) != set(p_b):
        return "kept %s instead of %s" % (sorted(p_b), sorted(p_a))
    if id_a != id_b:
        return "token %s instead of %s" % (id_b, id_a)
    for t in p_a:
        if abs(p_a[t] - p_b[t]) > tolerance:
            return "token %d has probability %g instead of %g" % (t, p_b[t], p_a[t])
    return None


def on_edge(case, folder, full, row):
    """Have the full rows up to this one another outcome once they are moved a little?"""
    for k in range(1, 9):
        moved = case.answer(folder, case.full_text(k), False)[0]
        if len(moved) <= row or any(differ(a, b) for a, b in zip(full[:row + 1], moved)):
            return True
    return False


def tolerance_of(record):
    """The bound that an exact record states, and what f32 adds to it. Without one, the numbers were mapped in another way."""
    bound = record.get("within")
    return TOLERANCE if bound is None else bound + 2e-6


def check_case(number, folder):
    """Run a case. Return counts and what is wrong."""
    case = Case(number)
    if case.before:
        case.set_limit(folder)
    part, status, messages = case.answer(folder, None, True)
    if status == 2 or status < 0 or status > 2:
        return {"refused": 1}, None if status == 2 else "case %d: status %d: %s" % (number, status, messages)
    full = case.answer(folder, case.full_text(), False)[0]
    n = {"logits": 0, "coarse": 0, "exact": 0, "inexact": 0, "right": 0, "failed": 0, "edges": 0, "refused": 0}
    for i, (f, p) in enumerate(zip(full, part)):
        if p["id"] is None:
            n["failed"] += 1
            continue
        wrong = differ(f, p, 0 if case.raw else tolerance_of(p))
        if not is_exact(p):
            n["inexact"] += 1
            n["right"] += not wrong
            continue
        n["exact"] += 1
        n["logits"] += case.raw
        n["coarse"] += case.coarse
        if wrong and not case.raw and not case.coarse and on_edge(case, folder, full, i):
            n["edges"] += 1
            break
        if wrong:
            return n, "case %d: row %d: %s\n  %s" % (number, i, wrong, shlex.join(case.command(folder, True)))
    return n, None


def check_cases():
    """Run part 2. Return whether it holds."""
    total = {}
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for width in (8, 20, 60, 200, 1000):
            (folder / ("vocab%d" % width)).write_text("".join(LETTERS[t % 26] * (1 + t // 26) + "\n" for t in range(width)))
        numbers = [int(ONLY)] if ONLY else range(COUNT)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            for n, wrong in pool.map(lambda number: check_case(number, folder), numbers):
                for key, x in n.items():
                    total[key] = total.get(key, 0) + x
                if wrong:
                    print(wrong, flush=True)
                    good = False
    print("seed %d, %d cases: %s" % (SEED, len(numbers), ", ".join("%s %d" % x for x in total.items())))
    right = total.get("exact", 0) + total.get("right", 0)
    print("called exact: %.1f %% of the outcomes that are right" % (100 * total.get("exact", 0) / max(right, 1)))
    return good and (bool(ONLY) or total["exact"] > 0)


DESCRIPTION = json.loads(subprocess.run([SAMPL, "--generate=json"], capture_output=True, check=True).stdout)
OPTIONS = {option["flag"]: option for option in DESCRIPTION["options"]}
SAMPLERS = [s for s in DESCRIPTION["samplers"] if not s["internal"]]

if __name__ == "__main__":
    table = bool(ONLY) or check_table()
    sys.exit(not (check_cases() and table))
