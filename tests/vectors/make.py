#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Writes samples/vectors: make.py SAMPL FOLDER. cases.py has the cases; sampl computes stages, draws and tokens.
import array
import functools
import json
import os
import struct
import subprocess
import sys
import tempfile

import cases

SHOWN = 64
# The name of a flag, where it is not the parameter's with hyphens.
FLAGS = {"temperature": "temp", "top_n_sigma": "top-nsigma", "typical_p": "typical", "dynatemp_exponent": "dynatemp-exp",
         "mirostat_tau": "mirostat-ent", "mirostat_eta": "mirostat-lr", "no_repeat_ngram_size": "no-repeat-ngram",
         "encoder_repetition_penalty": "encoder-repeat-penalty"}


def flags(params, engine=None):
    words = ["--engine " + engine] if engine else []
    for name, value in params.items():
        if name == "samplers":
            words.append("--samplers '%s'" % ";".join(value))
        elif name == "logit_bias":
            words += ["-l %d%s" % (token, "-inf" if bias is False else "%+g" % bias) for token, bias in value]
        elif name == "dry_breaker_tokens":
            words += ["--dry-breaker-tokens %s" % ",".join(map(str, ids)) for ids in value]
        elif name == "bad_words_ids":
            words += ["--bad-word-tokens %s" % ",".join(map(str, ids)) for ids in value]
        else:
            value = str(value).lower() if isinstance(value, bool) else value
            words.append("--%s=%s" % (FLAGS.get(name, name.replace("_", "-")), value))
    return " ".join(words)


def f32(x):
    return x if x is None else struct.unpack("f", struct.pack("f", x))[0]


def shortest(x):
    """The shortest text that is this f32."""
    if x is None:
        return "null"
    return next(text for text in ("%.*g" % (n, x) for n in range(1, 10)) if f32(float(text)) == x)


@functools.lru_cache(maxsize=None)  # many cases share a row
def splitmix64(seed, n):
    mask, row = 2**64 - 1, []
    for _ in range(n):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        row.append(((z ^ (z >> 31)) >> 40) * 2.0**-20 - 8)
    return tuple(row)


def rows_of(case):
    row = case["row"]
    return splitmix64(row[1], row[2]) if row and row[0] == "generated" else tuple(map(f32, row))


@functools.lru_cache(maxsize=None)
def logits_text(row, factor):
    """The row times the factor, as f32 in JSON."""
    return json.dumps([x if x is None else f32(x * factor) for x in row] if None in row else array.array("f", [x * factor for x in row]).tolist())


def request(case, logits, params):
    return json.dumps({"seq": "case", "params": params, "prompt_tokens": case["history"]})[:-1] + f', "logits": {logits}}}', \
        f'{{"seq": "case", "logits": {logits}}}'


def medium_of(case):
    """The engine of a case, and the texts and the vectors of its tokens, if it has them."""
    return {name: case[name] for name in ("engine", "texts", "vectors") if name in case}


def medium_files(medium, n, folder):
    """Writes the texts and vectors of n tokens. Returns the options that read them, and name the engine."""
    words = ["--engine", medium["engine"]] if "engine" in medium else ["--dry-sequence-breaker", "none"]
    if "texts" in medium:
        words += ["--vocab", os.path.join(folder, "texts.txt")]
        with open(words[-1], "w", encoding="ascii") as out:
            out.writelines(medium["texts"][t % len(medium["texts"])].replace("\n", "\\n") + "\n" for t in range(n))
    if "vectors" in medium:
        width = medium["vectors"]["width"]
        words += ["--scatter-embeddings", os.path.join(folder, "vectors.npy")]
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {width})}}".encode()
        with open(words[-1], "wb") as out:
            out.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head)
            out.write(struct.pack(f"<{n * width}f", *splitmix64(medium["vectors"]["seed"], n * width)))
    return words


def run(sampl, lines, more):
    """One sampl process for all lines: a row each."""
    command = [sampl, "-s", "1", "--trace=%d" % SHOWN, "--dump-probs=%d" % SHOWN, "-O", "json", *more]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        sys.exit("sampl: " + done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def sampled(sampl, trials):
    """Returns the record of each trial. Trials with the same engine, texts and vectors share a process."""
    groups, records = {}, {}
    for number, (case, row, _, _) in enumerate(trials):
        medium = medium_of(case)
        groups.setdefault(json.dumps([medium, len(row)]) if medium else "", []).append(number)
    for numbers in groups.values():
        case, row, _, _ = trials[numbers[0]]
        with tempfile.TemporaryDirectory() as folder:
            more = medium_files(medium_of(case), len(row), folder)
            records.update(zip(numbers, sampled_together(sampl, [trials[i] for i in numbers], more)))
    return [records[number] for number in range(len(trials))]


def sampled_together(sampl, trials, more):
    """Each trial is a sequence of its own. Returns the record of its last row."""
    lines, last = [], []
    for number, (case, _, logits, params) in enumerate(trials):
        head, rest = request(case, logits, params)
        rows = [head] + [rest] * case["step"]
        rows[-1] = '{"end":true,' + rows[-1][1:]
        lines += [text.replace('"seq": "case"', '"seq": "%d"' % number, 1) for text in rows]
        last.append(len(lines) - 1)
    records = run(sampl, lines, more)
    return [records[i] for i in last]


def nudged(params, factor):
    """The parameters that a comparison is made with, a little off."""
    return {name: value * factor if isinstance(value, float) and name in cases.LIMITS and value not in (0, 1) else value
            for name, value in params.items()}


def outcome(record):
    return record["n"], record["id"], sorted(x["id"] for x in record["top_probs"])


def stages(record):
    kept = []
    for stage in record["stages"]:
        if not stage["enabled"]:
            continue
        best = stage["top_probs"]
        kept.append({"name": stage["name"], "n": stage["after"], "ids": [x["id"] for x in best], "logits": [x["logit"] for x in best],
                     "probs": [x["prob"] for x in best], **({"noise": [x["noise"] for x in best]} if "noise" in best[0] else {})})
    return kept


def line(case, row, params, records):
    first = records[0]
    draw = next((s["notes"]["draw"] for s in reversed(first["stages"]) if s["enabled"] and s["notes"].get("draw") is not None), None)
    generated = case["row"][0] == "generated"
    body = {"v": 1, "name": case["name"], "why": case["why"], "flags": flags(params, case.get("engine")), "params": params,
            **medium_of(case)}
    text = json.dumps(body, separators=(",", ":"))[:-1]
    if generated:
        text += ',"row":' + json.dumps({"generator": "splitmix64", "seed": case["row"][1], "n": case["row"][2]}, separators=(",", ":"))
    else:
        text += ',"logits":[%s]' % ",".join(map(shortest, row))
    edge = case["edge"] if case["edge"] is not None else any(outcome(r) != outcome(first) for r in records[1:])
    tail = {"history": case["history"], "step": case["step"], "stages": stages(first), "draw": draw, "id": first["id"], "edge": edge}
    return text + "," + json.dumps(tail, separators=(",", ":"))[1:] + "\n"


def write(sampl, folder, name, group):
    trials = []
    for case in group:
        row, params = rows_of(case), case["params"]
        by = 2e-5 if len(row) > 1000 else 2e-6
        logits = logits_text(row, 1)
        trials += [(case, row, logits, params)]
        if case["edge"] is None:
            trials += [(case, row, logits_text(row, 1 + by), params), (case, row, logits_text(row, 1 - by), params),
                       (case, row, logits, nudged(params, 1 + by)), (case, row, logits, nudged(params, 1 - by))]
    records = sampled(sampl, trials)
    with open(os.path.join(folder, name + ".jsonl"), "w", encoding="ascii") as out:
        at = 0
        for case in group:
            n = 1 if case["edge"] is not None else 5
            out.write(line(case, trials[at][1], case["params"], records[at : at + n]))
            at += n


def main():
    sampl, folder = sys.argv[1:]
    groups = {}
    for case in cases.cases():
        groups.setdefault(case["name"].split("/")[0], []).append(case)
    for name, group in groups.items():
        write(sampl, folder, name, group)


if __name__ == "__main__":
    main()
