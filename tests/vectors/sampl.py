#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# sampl.py SAMPL [flags]: answers lines of samples/vectors as check.py expects, with one process of sampl for all lines. Each line is a
# sequence. With the word `flags`, each line is a process of its own, which gets the line's flags in place of its parameters.
import json
import os
import shlex
import subprocess
import sys

import make

COMMAND = [sys.argv[1], "-s", "1", "--dry-sequence-breaker", "none", "--dump-probs", "-O", "json"]


def rows(line):
    """The rows of a line's sequence as JSON rows."""
    x = line["logits"] if "logits" in line else make.splitmix64(line["row"]["seed"], line["row"]["n"])
    head = {"seq": line["name"], "prompt_tokens": line["history"], "params": line["params"], "logits": x}
    sequence = [head] + [{"seq": line["name"], "logits": x} for _ in range(line["step"])]
    sequence[-1]["end"] = True
    return "".join(json.dumps(row) + "\n" for row in sequence)


def sampled(words, text):
    done = subprocess.run(COMMAND + words, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return map(json.loads, done.stdout.splitlines())


def answer(record):
    best = record["top_probs"]
    print(json.dumps({"name": record["seq"], "ids": [x["id"] for x in best], "probs": [x["prob"] for x in best], "id": record["id"]}))


def main():
    lines = [json.loads(line) for line in sys.stdin]
    if sys.argv[2:] == ["flags"]:
        for line in lines:
            answer(list(sampled(shlex.split(line["flags"]), rows({**line, "params": {}})))[-1])
    else:
        last = {}
        for record in sampled([], "".join(map(rows, lines))):
            last[record["seq"]] = record
        for record in last.values():
            answer(record)


main()
