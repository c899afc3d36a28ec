#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Lists as servers send them, of a real model's logits: `units.py SAMPL ROWS.f16 N_VOCAB`. Each server computes log-probabilities or
probabilities in its precision and prints them in its way. Where sampl calls the outcome of a list exact, that of the whole row must have the
same id and kept tokens, and probabilities within the bound that sampl states. Prints how many outcomes of each server are exact."""
import json
import subprocess
import sys

import numpy as np

SAMPL, PATH, WIDTH = sys.argv[1], sys.argv[2], int(sys.argv[3])
F = np.float32


def bf16(x):
    bits = np.asarray(x, F).view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype("u4").view(F)


def f16(x):
    return np.asarray(x).astype(np.float16).astype(F)


def exact(x):
    return (x.astype("f8") - x.max() - np.log(np.exp(x.astype("f8") - x.max()).sum())).astype(F)


def probs(x):
    return np.exp(exact(x).astype("f8"))


# A server: its name, how many tokens it lists, the numbers that it sends, whether they are probabilities, and how it prints them.
SERVERS = [
    ("vLLM, SGLang: f32", 20, exact, False, "%.17g"),
    ("llama-server: f32, short", 20, exact, False, "%.9g"),
    ("llama-server: probabilities", 20, lambda x: probs(x).astype(F), True, "%.9g"),
    ("f32 with 6 digits", 20, exact, False, "%.6g"),
    ("TGI: log-probabilities in f16", 5, lambda x: f16(exact(x)), False, "%.8g"),
    ("bf16 at the end", 20, lambda x: bf16(exact(x)), False, "%.17g"),
    ("bf16 printed with 4 decimals", 20, lambda x: bf16(exact(x)), False, "%.4f"),
    ("4 decimals", 20, exact, False, "%.4f"),
    ("2 decimals", 20, exact, False, "%.2f"),
    ("probabilities with 3 decimals", 20, probs, True, "%.3f"),
    ("probabilities with 5 decimals", 10, probs, True, "%.5f"),
    ("probabilities in bf16", 10, lambda x: bf16(probs(x)), True, "%.9g"),
]
CHAINS = ["--samplers top_k --top-k 5", "--samplers top_p --top-p 0.6", "--samplers min_p --min-p 0.2", "--samplers top_k;top_p --top-k 10 --top-p 0.8",
          "--samplers min_p;temperature --min-p 0.1 --temp 0.7", "--samplers temperature;top_p --temp 0.5 --top-p 0.9", "--temp 0",
          "--engine vllm --top-k 8 --top-p 0.9"]


def run(path, chain):
    done = subprocess.run([SAMPL, "-s", "7", "-n", str(WIDTH), "--independent", "--dump-probs", "-O", "json", *chain.split(), path],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s %s: status %d: %s" % (path, chain, done.returncode, done.stderr))
    return [json.loads(line) for line in done.stdout.splitlines()]


def write_reply(path, rows, most, send, name, text):
    positions = []
    for x in rows:
        best, sent = np.lexsort((np.arange(len(x)), -x))[:most], send(x)
        record = lambda t: '{"id":%d,"%s":%s}' % (t, name, text % sent[t])
        positions.append(record(best[0])[:-1] + ',"top_logprobs":[' + ",".join(map(record, best)) + "]}")
    with open(path, "w") as f:
        f.write('{"choices":[{"logprobs":{"content":[' + ",".join(positions) + "]}}]}")


def main():
    rows = np.fromfile(PATH, "<f2").reshape(-1, WIDTH).astype(F)
    whole = {chain: run(PATH, chain) for chain in CHAINS}
    total = wrong = 0
    for name, most, send, probabilities, text in SERVERS:
        write_reply("reply.json", rows, most, send, "prob" if probabilities else "logprob", text)
        n = 0
        for chain in CHAINS:
            for i, (w, r) in enumerate(zip(whole[chain], run("reply.json", chain))):
                if not r.get("exact", True):
                    continue
                n += 1
                have, want = ({c["id"]: c["prob"] for c in x["top_probs"]} for x in (r, w))
                bound = (r["within"] if r.get("within") is not None else 3e-5) + 2e-6
                if r["id"] != w["id"] or have.keys() != want.keys() or any(abs(have[t] - want[t]) > bound for t in have):
                    wrong += 1
                    print("%s: %s: row %d: %s instead of %s, within %g" % (name, chain, i, r["id"], w["id"], bound))
        total += n
        print("%s: %d of %d exact" % (name, n, len(CHAINS) * len(rows)))
    sys.exit(wrong > 0 or total < 1000)


main()
