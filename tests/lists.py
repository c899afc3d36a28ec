#!/usr/bin/env python3
"""Compare sampl's results on lists of the likeliest tokens with its results on the full rows.

Usage: lists.py SAMPL [SEED]

Makes 300 random rows, and a reply of a server that lists some tokens of each row. Runs each chain on both. Where sampl
calls a list's result exact, the token, the kept tokens and their probabilities must be those of the full row. Prints
how many results of each chain were exact.
"""
import json
import math
import random
import struct
import subprocess
import sys

VOCAB, ROWS = 60, 300
HISTORY = "3,7,11,3,7,11,3,7"  # tokens that penalties find, and a repetition that DRY finds

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


def run(sampl, text, samplers, options):
    chain = ["--engine" if samplers in ENGINES else "--samplers", samplers]
    if samplers == "mirostat":
        chain = [] if "--mirostat " in options else ["--mirostat", "2"]
    command = [sampl, "-s", "1", "--independent", "--n-vocab", str(VOCAB), "--prompt-tokens", HISTORY, "-O", "json",
               "--dump-probs", *chain, *options.split()]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_exact(part, samplers, options):
    """A record without "exact" is that of a complete list. Repeat penalties and f16 need logits even so."""
    return part.get("exact", "repeat-penalty" not in options and "akunu" not in samplers)


def difference(row, full, part, temp):
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
    most = max(abs(x) for x in row)
    error = 4 * 2**-24 * (most + max(abs(row[t]) + 10 for t in have)) / max(temp, 0.01) + 1e-5 * bool(odd)
    for t in set(have) & set(want):
        # A draw may include the listed tokens alone if the others weigh less than 1e-6.
        close = any(math.isclose(have[t], want[u], rel_tol=error + 2e-6, abs_tol=1e-30) for u in near[t])
        if not close and not odd:
            return "token %d has probability %g instead of %g" % (t, have[t], want[t])
    if part["id"] != full["id"] and not odd and not tied:
        return "token %d instead of %d" % (part["id"], full["id"])
    return None


def main():
    sampl, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    rows = [make_row(rng, i) for i in range(ROWS)]
    full_text = "\n".join(map(json.dumps, rows))
    reply = json.dumps({"completion_probabilities": [make_position(rng, row, i) for i, row in enumerate(rows)]})
    failed = False
    for samplers, options, some_exact, some_not in CHAINS:
        words = options.split()
        temp = float(words[words.index("--temp") + 1]) if "--temp" in words else 1.0
        exact = 0
        full, part = run(sampl, full_text, samplers, options), run(sampl, reply, samplers, options)
        for i, (f, p) in enumerate(zip(full, part)):
            wrong = difference(rows[i], f, p, temp) if is_exact(p, samplers, options) else None
            exact += is_exact(p, samplers, options)
            if wrong:
                print("%s %s: row %d: %s" % (samplers, options, i, wrong))
                failed = True
        print("%s %s: %d of %d exact" % (samplers, options, exact, ROWS))
        failed |= len(full) != ROWS or len(part) != ROWS or (some_exact and exact < ROWS * 0.03) or (some_not and exact > ROWS * 0.97)
    sys.exit(failed)


main()
