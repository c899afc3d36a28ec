#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries to make the sentences below a table of chains false: verdict.py SAMPL COUNT SEED. Each case has random rows, a text whose tokens are
drawn from a known distribution for each row, and random chains: some are nested, and some mask what nobody writes. What a chain loses in truth is the probability,
in these distributions, of the tokens that it removes. Run in an empty folder."""
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys

SAMPL, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "LC_ALL": "C"}
WIDTH, ALIVE = 40, 30 # tokens; those of them that people write in each text
said, false = {"better": 0, "neither": 0, "most lost": 0, "too short": 0, "silent": 0}, []


def run(*words):
    done = subprocess.run([SAMPL, "-f", "f32", "-n", str(WIDTH), "-s", "1", "--neutral", *words, "rows"], capture_output=True, env=ENV, check=True)
    return done.stdout.decode()


def softmax(row, t):
    weights = [math.exp((x - max(row)) / t) for x in row]
    return [w / sum(weights) for w in weights]


def chain(rng):
    value = lambda low, high: f"{rng.uniform(low, high):.4g}"
    masked = " ".join(f"-l {token}-inf" for token in rng.sample(range(WIDTH), rng.randrange(2, 12))) # loses what it removes
    return rng.choice([masked, f"--top-p {value(.3, .99)}", f"--min-p {value(.01, .6)}", f"--top-k {rng.randrange(1, 12)}",
                       f"--top-p {value(.3, .99)} --min-p {value(.01, .3)}", f"--top-nsigma {value(.3, 2)}", f"--top-a {value(.05, .6)}"])


def masks(rng, first):
    """Masks tokens that people write and some that they do not: the first chain fewer of the former and more of the latter."""
    alive, others = (rng.randrange(5), rng.randrange(4, WIDTH - ALIVE)) if first else (rng.randrange(1, 7), rng.randrange(5))
    tokens = rng.sample(range(ALIVE), alive) + rng.sample(range(ALIVE, WIDTH), others)
    return " ".join(f"-l {token}-inf" for token in tokens) or "--top-p 1"


for number in range(COUNT):
    rng = random.Random(f"{SEED} {number}")
    dead = rng.random() < .5
    n, heat = rng.choice([100, 400, 1500] if dead else [25, 100, 400, 1500]), rng.choice([.8, 1.0, 1.3])
    rows = [[rng.gauss(0, scale) for _ in range(WIDTH)] for scale in (rng.choice([1, 2, 4]) for _ in range(n))]
    truth = [softmax(row, heat) for row in rows]
    # In half of the cases people never write some tokens, and chains that mask these compete with chains that mask others: then one chain
    # often is better, or nearly so. In truth each loses what its other tokens have.
    if dead:
        truth = [[p * (token < ALIVE) / sum(ps[:ALIVE]) for token, p in enumerate(ps)] for ps in truth]
    tokens = [rng.choices(range(WIDTH), p)[0] for p in truth]
    pathlib.Path("rows").write_bytes(b"".join(struct.pack(f"<{WIDTH}f", *row) for row in rows))
    pathlib.Path("tokens").write_text(" ".join(map(str, tokens)))
    chains = {f"c{i}": masks(rng, not i) if dead else chain(rng) for i in range(rng.choice([2, 2, 3]))}
    if not dead and rng.random() < 0.3: # nearly the first chain
        flag, value, *_ = chains["c0"].split()
        chains["c1"] = f"{flag} {float(value) * 1.02:.5g}" if flag not in ("--top-k", "-l") else f"-l {value} -l 7-inf" if flag == "-l" else f"{flag} {int(value) + 1}"
    variants = [word for name, spec in chains.items() for word in ("--vs", f"{name}: {spec}")]
    rate = rng.choice([.02, .1, .3])
    out = run("--accept", "@tokens", *variants, "--most-lost", str(rate))
    table = {line["name"]: line for line in map(json.loads, run("--accept", "@tokens", *variants, "-O", "json").splitlines())}
    kept = {name: [json.loads(line)["probs"] for line in run(*spec.split(), "--emit", "probs", "-O", "json").splitlines()]
            for name, spec in chains.items()}
    lost = {name: sum(p for q, ps in zip(kept[name], truth) for x, p in zip(q, ps) if not x) / n for name in chains}
    seen = {name: sum(not q[t] for q, t in zip(kept[name], tokens)) for name in chains}
    text = "\n".join(line for line in out.replace("\n    ", " ").splitlines()[len(chains) + 2:])

    def claim(holds, *what):
        if not holds:
            false.append((number, n, chains, lost, text, *what))
    names = [name for name in chains if 1 - table[name]["mass"] > 1e-9]
    few = sum(seen.values()) < 10
    claim(not few or not re.search("removes|better", text), "few tokens are lost, but there is a verdict", seen)
    for name, removed, share in re.findall(r"^(c\d) removes (\S+) %(?: of the model's probability)? and loses (\S+)", text, re.M):
        claim(abs(100 * (1 - table[name]["mass"]) - float(removed)) < 0.51, "removes", name)
        claim(abs(100 * seen[name] / n - float(share)) < 0.51 or math.isclose(100 * seen[name] / n, float(share), rel_tol=.06), "loses", name)
    pairs = re.findall(r"^(c\d) is better than (c\d)$", text, re.M)
    for a, b in pairs:
        said["better"] += 1
        claim(table[a]["mass"] < table[b]["mass"], "removes more", a, b)
        claim(lost[a] <= lost[b], "loses no more", a, b)
        claim(seen[a] < seen[b], "lost fewer", a, b)
    none = re.search("^(neither|none) is better", text, re.M)
    said["neither"] += bool(none)
    claim(few or len(names) < 2 or bool(none) != bool(pairs), "one of both", none, pairs)
    said["silent"] += not none and not pairs
    answer = re.search(r"^--most-lost \S+: (.*)$", text, re.M)[1]
    if best := re.match(r"(c\d) removes", answer):
        said["most lost"] += 1
        most = float(re.search(r"at most (\S+) %", answer)[1])
        claim(lost[best[1]] < rate and 100 * lost[best[1]] <= most + 1e-9, "most lost", answer)
        claim(most < 100 * rate + .1, "most below the rate", answer)
    else:
        said["too short"] += 1
        claim("not shown: the text is too short" in answer or "lost more" in answer, "an answer", answer)
        claim("lost more" not in answer or all(seen[name] / n >= rate for name in names), "each lost more", answer)
print(said)
for what in false:
    print("FALSE", *what)
sys.exit(bool(false) or (COUNT >= 150 and said["better"] < COUNT / 30))
