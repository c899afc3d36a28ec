#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a sampler against the test vectors: check.py [--only NAMES] [--all] YOUR_COMMAND [ARGUMENT...]

YOUR_COMMAND reads the lines of the vectors on standard input, and writes a line for each on standard output:
{"name": the name of the line, "ids": the tokens that are kept, "probs": their probabilities, "id": the chosen token}
--only NAMES: only lines whose stages are all among NAMES, as top_k,min_p, or are dist; of one NAME with a slash: whose name contains it.
--all: prints every wrong line, not only the first three of a file.
Exit status: 0 if all lines are right, or if only lines with "edge" are wrong; else 1."""
import json
import os
import subprocess
import sys

PROBABILITY = 1e-4  # by which part of itself a probability may differ
SMALLEST = 1e-7  # or by how much, where it is small


def fault(line, got):
    """What is wrong with an answer; None: nothing."""
    absent = [member for member in ("ids", "probs", "id") if member not in (got or {})]
    if absent:
        return f"the answer has no {', '.join(absent)}" if got else "no answer"
    last, ids, probs = line["stages"][-1], got["ids"], got["probs"]
    if not (isinstance(ids, list) and isinstance(probs, list) and None not in probs):
        return "ids and probs are not lists of numbers"
    kept = dict(zip(ids, probs + [float("nan")] * len(ids)))  # of too few probabilities the last are NaN
    missing = [i for i in last["ids"] if i not in kept]
    if len(ids) != last["n"]:
        more = f", without {missing[0]}" if missing else ""
        return f"{len(ids)} tokens are kept{more}; expected are {last['n']}"
    if missing:
        return f"token {missing[0]} is not kept"
    for i, want in zip(last["ids"], last["probs"]):
        if not abs(kept[i] - want) <= max(PROBABILITY * want, SMALLEST):  # NaN is not, either
            return f"token {i} has probability {kept[i]:.7g}; expected is {want:.7g}"
    return None if got["id"] == line["id"] else f"token {got['id']} is chosen; expected is {line['id']}, draw {line['draw']}"


def vectors():
    folder = os.path.dirname(os.path.abspath(__file__))
    names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    return [json.loads(line) for name in names for line in open(os.path.join(folder, name), encoding="ascii")]


def chosen(lines, only):
    """The lines that --only asks for."""
    if not only or "/" in only:
        return [line for line in lines if only in line["name"]]
    names, known = set(only.split(",")), {stage["name"] for line in lines for stage in line["stages"]}
    if names - known:
        sys.exit(f"check.py: --only: no line has a stage '{min(names - known)}'")
    return [line for line in lines if {stage["name"] for stage in line["stages"]} <= names | {"dist"}]


def answers(command, lines):
    try:
        done = subprocess.run(command, input="".join(json.dumps(line) + "\n" for line in lines), stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"{command[0]} ended with status {done.returncode}")
        return {got["name"]: got for got in map(json.loads, done.stdout.splitlines())}
    except OSError as error:
        sys.exit(f"check.py: cannot run {command[0]}: {error.strerror}")
    except (ValueError, TypeError, KeyError):
        sys.exit(f'check.py: {command[0]} printed a line that is not an object with a "name"')


def main():
    words, only, shown = sys.argv[1:], "", 3
    while words and words[0] in ("--only", "--all"):
        shown, only, words = (1 << 30, only, words[1:]) if words[0] == "--all" else (shown, "".join(words[1:2]), words[2:])
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    lines = chosen(vectors(), only)
    got, total = answers(words, lines), [0, 0, 0]
    print(f"{'file':<16} {'lines':>6} {'right':>6} {'wrong':>6} {'edge':>6}")
    for name in sorted({line["name"].split("/")[0] for line in lines}):
        own = [line for line in lines if line["name"].split("/")[0] == name]
        bad = [(line, why) for line in own if (why := fault(line, got.get(line["name"])))]
        edge = sum(line["edge"] for line, _ in bad)
        counts = [len(own) - len(bad), len(bad) - edge, edge]
        total = [a + b for a, b in zip(total, counts)]
        print(f"{name:<16} {len(own):>6} {counts[0]:>6} {counts[1]:>6} {counts[2]:>6}")
        for line, why in bad[:shown]:
            print(f"    {line['name']}: {why}{' (edge)' if line['edge'] else ''}\n        {line['why']}")
    print(f"{'all':<16} {len(lines):>6} {total[0]:>6} {total[1]:>6} {total[2]:>6}")
    sys.exit(1 if total[1] or not lines else 0)


if __name__ == "__main__":
    main()
