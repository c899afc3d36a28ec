#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""margins.py SAMPL COUNT SEED: for random rows, finds the value of each stage's option at which its kept tokens change, and compares them
just below and just above by --expect: within --tolerance 1e-3 they agree, in both directions, and within 1e-5 they differ. The ranks of
top-k are compared by the distance of two logits, and so is a token that a greedy choice passes over with the best one."""
import json
import random
import subprocess
import sys

RANGES = {"--top-p": (.2, .9), "--min-p": (.05, .9), "--epsilon-cutoff": (.02, .4), "--eta-cutoff": (.05, .9), "--typical": (.1, .95),
          "--top-h": (.2, .9), "--tfs": (.1, .95), "--p-step": (.1, .95), "--top-a": (.1, .95), "--top-nsigma": (.1, 2), "--xtc-threshold": (.02, .4),
          "--min-k": (.1, 30)}
ENGINES = {"transformers": "--top-p --min-p --epsilon-cutoff --eta-cutoff --typical --top-h", "vllm": "--top-p --min-p",
           "vllm-v2": "--top-p --min-p", "mlx": "--top-p --min-p", "sglang": "--top-p --min-p", "ollama": "--top-p --min-p",
           "akunu": "--top-p --min-p", "akunu-gpu": "--top-p --min-p", "batch": "--top-p"}
STAGES = {"top_p": "--top-p", "min_p": "--min-p", "epsilon_cutoff": "--epsilon-cutoff", "eta_cutoff": "--eta-cutoff", "typ_p": "--typical",
          "top_h": "--top-h", "tfs": "--tfs", "p_step": "--p-step", "top_a": "--top-a", "top_n_sigma": "--top-nsigma", "xtc=1": "--xtc-threshold",
          "min_k": "--min-k"}


def sampl(args, row):
    return subprocess.run([sys.argv[1], "-s", "1", *args], input=json.dumps(row), capture_output=True, text=True)


def kept(args, row):
    """Returns the kept tokens of a chain."""
    run = sampl([*args, "--emit", "probs", "-O", "json"], row)
    if run.returncode:
        sys.exit(f"{args} {row}: {run.stderr}")
    return [p > 0 for p in json.loads(run.stdout)["probs"]]


def check(here, there, row, tolerances):
    """Compares the distribution of one chain with that of another: within the first tolerance, and beyond the second."""
    with open("there.json", "w", encoding="ascii") as file:
        file.write(sampl([*there, "--emit", "probs"], row).stdout)
    for tolerance, want in zip(tolerances, ("0 of 1 rows differ, 1 more within the tolerance", "1 of 1 rows differ")):
        got = sampl([*here, "--emit", "probs", "--tolerance", repr(tolerance), "--expect", "there.json"], row)
        if want not in got.stdout.splitlines():
            sys.exit(f"{row}: {' '.join(here)} beside {' '.join(there)}, tolerance {tolerance}:\n{got.stdout}{got.stderr}")


def find(chain, option, row):
    """Checks the value at which the kept tokens change between the ends of the option's range. Returns whether there is one."""
    low, high = RANGES[option]
    first = kept([*chain, f"{option}={low!r}"], row)
    if first == kept([*chain, f"{option}={high!r}"], row):
        return False
    while high - low > 1e-6 * low:
        middle = (low + high) / 2
        if kept([*chain, f"{option}={middle!r}"], row) == first:
            low = middle
        else:
            high = middle
    below, above = [*chain, f"{option}={low * (1 - 2e-4)!r}"], [*chain, f"{option}={high * (1 + 2e-4)!r}"]
    if kept(below, row) == kept(above, row):
        return False
    check(below, above, row, (1e-3, 1e-5))
    check(above, below, row, (1e-3, 1e-5))
    return True


def check_greedy(rng, row):
    """The margin of a token that is not the best is the distance of its logit from the best one's."""
    chain = rng.choice([["--neutral", "--temp", "0"], ["--samplers", "greedy"], ["--samplers", "top_k=1"], ["--samplers", "temperature=0"],
                        *(["--engine", engine, "--temp", "0"] for engine in [*ENGINES])])
    best = row.index(max(row))
    token = rng.choice([i for i in range(len(row)) if i != best])
    margin = row[best] - row[token]
    for tolerance, want in ((margin * 1.01 + 0.01, "0 of 1 rows differ, 1 more within the tolerance"), (margin * 0.99 - 0.01, "1 of 1 rows differ")):
        got = sampl([*chain, "--expect", str(token), "--tolerance", repr(max(tolerance, 0))], row)
        if want not in got.stdout.splitlines() and margin > 0.02:
            sys.exit(f"{row}: {' '.join(chain)}, token {token}, tolerance {tolerance}:\n{got.stdout}{got.stderr}")


def main():
    rng = random.Random(int(sys.argv[3]))
    chains = [(["--samplers", stage], option) for stage, option in STAGES.items()]
    for engine, options in ENGINES.items():
        chains += [(["--engine", engine, "--temp", rng.choice(["1", "1.2"])], option) for option in options.split()]
    found = 0
    for _ in range(int(sys.argv[2])):
        chain, option = rng.choice(chains)
        found += find(chain, option, [round(rng.gauss(0, 1.5), 3) for _ in range(rng.randint(3, 9))])
        check_greedy(rng, [round(rng.gauss(0, 1.5), 3) for _ in range(rng.randint(3, 9))])
        # A rank more or less: the two logits are that far from each other.
        row = [3, 2.984375, 2.96875, 2.953125]
        chain = ["--engine", rng.choice(list(ENGINES) + ["llama"]), "--temp", "1", "--top-k"]
        check([*chain, "2"], [*chain, "3"], row, (.016, .015))
        check([*chain, "3"], [*chain, "2"], row, (.016, .015))
    print(f"{found} values found")
    sys.exit(found < int(sys.argv[2]) // 2)


main()
