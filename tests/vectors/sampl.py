#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# sampl.py SAMPL [flags]: answers lines of samples/vectors as check.py expects, with one process of sampl for all lines. Each line is a
# sequence. With the word `flags`, each line is a process of its own, which gets the line's flags in place of its parameters.
import functools
import json
import os
import shlex
import subprocess
import sys
import tempfile

import make

COMMAND = [sys.argv[1], "-s", "1", "--dump-probs", "-O", "json"]


@functools.lru_cache(maxsize=None)  # many lines share a row
def generated(seed, n):
    return json.dumps(make.splitmix64(seed, n))


def rows(line):
    """The rows of a line's sequence as JSON rows."""
    x = json.dumps(line["logits"]) if "logits" in line else generated(line["row"]["seed"], line["row"]["n"])
    sequence = [{"seq": line["name"], "prompt_tokens": line["history"], "params": line["params"]}]
    sequence += [{"seq": line["name"]} for _ in range(line["step"])]
    sequence[-1]["end"] = True
    return "".join(json.dumps(row)[:-1] + f', "logits": {x}}}\n' for row in sequence)


def sampled(words, text):
    done = subprocess.run(COMMAND + words, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return map(json.loads, done.stdout.splitlines())


def answer(record):
    best = record["top_probs"]
    print(json.dumps({"name": record["seq"], "ids": [x["id"] for x in best], "probs": [x["prob"] for x in best], "id": record["id"]}))


def tokens(line):
    return len(line["logits"]) if "logits" in line else line["row"]["n"]


def main():
    lines, groups, flags = [json.loads(line) for line in sys.stdin], {}, sys.argv[2:] == ["flags"]
    for line in lines:  # lines with the same engine, texts and vectors share a process
        medium = make.medium_of(line)
        groups.setdefault(line["name"] if flags else json.dumps([medium, tokens(line)]) if medium else "", []).append(line)
    for group in groups.values():
        with tempfile.TemporaryDirectory() as folder:
            words = make.medium_files(make.medium_of(group[0]), tokens(group[0]), folder)
            if flags:
                words += shlex.split(group[0]["flags"])
                group = [{**group[0], "params": {}}]
            last = {record["seq"]: record for record in sampled(words, "".join(map(rows, group)))}
        for record in last.values():
            answer(record)


main()
