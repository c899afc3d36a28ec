#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries to make a line of a table for people too wide: widths.py SAMPL COUNT SEED. Runs COUNT cases. Each has a random chain and a random mode, and
runs in a pipe, where lines have at most 80 columns, and in windows of 80 and 120. Run in an empty folder."""
import json
import os
import random
import shlex
import subprocess
import sys

from terminal import run, width, COLOUR

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SAMPL, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
GENERATED = json.loads(subprocess.run([SAMPL, "--generate=json"], capture_output=True, check=True).stdout)
SAMPLERS = [s["name"] for s in GENERATED["samplers"] if s["name"] not in ("adaptive_p", "mirostat", "mirostat_v2")]
AUSTEN, TOKENS = f"{ROOT}/samples/austen.f16", f"@{ROOT}/samples/austen.tokens"
VOCAB = ["--vocab", f"{ROOT}/samples/austen.gguf"]
SETTINGS = {"dry-multiplier": ".8 2", "repeat-penalty": "1.1 .7", "presence-penalty": ".5 -1", "xtc-probability": ".5 1", "xtc-threshold": ".05 .3",
            "top-k": "1 3 40 4000", "top-p": ".3 .95", "min-p": ".001 .3", "typical": ".5 .9", "top-nsigma": "1 3", "temp": "0 .1 .8 5", "dynatemp-range": ".5",
            "smoothing-factor": ".3", "top-a": ".2", "tfs": ".5 .9", "min-k": "3", "skew": "1", "top-h": ".4 1", "scatter-strength": ".3", "min-keep": "5",
            "no-repeat-ngram": "2", "mirostat": "1 2", "engine": "vllm-v2 sglang ollama transformers akunu-gpu mlx"}
LONG = "a-name-of-a-variant-that-goes-on-and-on-until-no-window-is-wide-enough-for-it"


def chain(rng):
    words = []
    if rng.random() < .4:
        words += ["--samplers", ";".join(rng.sample(SAMPLERS, rng.randrange(1, 5)))]
    for flag in rng.sample(list(SETTINGS), rng.randrange(0, 5)):
        words += [f"--{flag}", rng.choice(SETTINGS[flag].split())]
    return words


def variant(rng):
    name = rng.choice(["", "", "", "b: ", "日本語: ", f"{LONG}: "])
    return ["--vs", name + (shlex.join(chain(rng)) or "--temp .5")]


def command(rng):
    first = rng.randrange(200)
    words = [SAMPL, "-s", "1", "--rows", f"{first}:{first + rng.randrange(1, 6)}", *chain(rng)]
    words += rng.choice([[*VOCAB], ["-n", "4096"]])
    words += rng.choice([[], ["--accept", TOKENS], ["--accept", TOKENS]])
    mode = rng.choice(["trace", "trace", "trace", "dump", "table", "table", "beside", "diff", "report", "expect"])
    if mode in ("trace", "dump"):
        words += {"trace": [rng.choice(["--trace", "--trace=2"])], "dump": []}[mode]
        words += rng.choice([["--dump-probs=4"], ["--dump-probs=40"], []]) if mode == "trace" else ["--dump-probs=7"]
    elif mode == "expect":
        words = [w for w in words if w not in ("--accept", TOKENS)] + ["--expect", TOKENS]
    elif mode == "report":
        words += ["--report", "--against", AUSTEN]
    else:
        words += [w for _ in range(rng.randrange(1, 4)) for w in variant(rng)]
        words += {"table": rng.choice([[], [], ["--columns", "all"]]), "beside": ["--dump-probs=3"], "diff": ["--diff"]}[mode]
    return [*words, AUSTEN]


number = ran = wide = 0
while ran < COUNT and number < 50 * COUNT: # most of the cases that do not run have options that do not go together
    number += 1
    rng = random.Random(f"{SEED} {number}")
    words = command(rng)
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LANG", "LC_CTYPE")}
    texts = [(80, "pipe", locale, subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**env, "LC_ALL": locale})) for locale in ("C", "C.UTF-8")]
    if texts[0][3].returncode not in (0, 4):
        continue
    ran += 1
    outs = [(most, where, locale, done.stdout) for most, where, locale, done in texts]
    for most in 80, 120:
        outs.append((most, "window", "C.UTF-8", run(most, {}, ["sh", "-c", shlex.join(words) + " 2>/dev/null"])[0]))
    for most, where, locale, out in outs:
        for line in COLOUR.sub("", out.decode()).splitlines():
            if width(line) > most:
                wide += 1
                print(f"case {number}, {where} of {most}, {locale}: {width(line)} columns: {line}\n  {shlex.join(words)}")
                break
print(f"{ran} of {number} ran, {wide} too wide")
sys.exit(wide > 0 or ran < COUNT)
