#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# How many tokens `sampl --audit --trusted` needs to find what a provider may have changed, on the model of samples/austen.gguf: prints the
# share of runs of 300, 1000 and 3200 tokens that are flagged, for honest runs and for changed ones. The sampler of vllm-v2 is computed here,
# so that it can be changed in ways that no option has. usage: audit_power.py SAMPL RUNS SEED    (about 100 s of a processor for each run)
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'vectors'), os.path.join(HERE, '..', 'samples', 'audit')]
import austen  # noqa: E402
import port  # noqa: E402

F = np.float32
TEMP, TOP_P, LIMIT, CLIP = .8, .95, .001 / 3, .5
KINDS = {  # bits of the weights, the seed's change, and the sampler's changes
    'honest': (16, 0, {}), '8-bit weights': (8, 0, {}), '6-bit weights': (6, 0, {}), '4-bit weights': (4, 0, {}),
    'temperature +2 %': (16, 0, {'temp': TEMP * 1.02}), 'temperature +10 %': (16, 0, {'temp': TEMP * 1.1}),
    'no boundary token': (16, 0, {'boundary': False}), 'cut before temperature': (16, 0, {'early': True}), 'another seed': (16, 1, {}),
}


def kept_by_top_p(x, boundary):
    by = np.lexsort((np.arange(len(x)), -x))
    p = port.softmax_wide(x)[by]
    before = np.cumsum(p, dtype=np.float64) - p
    n = max(1, int((before < TOP_P).sum()) - (0 if boundary else 1))
    mask = np.full(len(x), -np.inf, F)
    mask[by[:n]] = 0
    return mask


def sample(logits, position, seed, temp=TEMP, boundary=True, early=False):
    """vllm-v2: temperature, top-p, and Gumbel noise of Philox."""
    key = int(port.philox((*port.halves(position), 0, 0), port.halves(seed)))
    w = port.philox((np.arange(logits.shape[1]), 0, 0, 0), (key, 0)).astype(np.uint32).view(np.int32).astype(np.int64)
    u = np.maximum(port.signed_magnitude(w).astype(F) * F(4.6566127342e-10), F(4.6566127342e-10))
    with np.errstate(divide='ignore'):
        g = -np.log((-np.log1p(-u.astype(np.float64))).astype(F).astype(np.float64)).astype(F)
    tokens = []
    for row in logits:
        x = row / F(temp)
        tokens.append(int(np.argmax(x + kept_by_top_p(row if early else x, boundary) + g)))
    return tokens


def claim(bits, machine, seed, changes):
    model = austen.Model(bits, machine)
    logits, out = austen.begin(model), []
    for i in range(austen.TOKENS):
        out.append(sample(logits, austen.PROMPT + i - 1, seed, **changes))
        if i + 1 < austen.TOKENS:
            logits = model.step(out[-1])
    return np.array(out)


def reference(claimed, path):
    model = austen.Model()
    logits = austen.begin(model)
    with open(path, 'wb') as f:
        for i, tokens in enumerate(claimed):
            f.write(logits.tobytes())
            if i + 1 < len(claimed):
                logits = model.step(tokens)


def fisher(hits, n, other, m):
    """The probability of at most `hits`, by exact whole numbers."""
    all_hits = hits + other
    ln = lambda a, b: math.lgamma(a + 1) - math.lgamma(b + 1) - math.lgamma(a - b + 1)  # noqa: E731
    terms = [ln(n, k) + ln(m, all_hits - k) - ln(n + m, all_hits) for k in range(max(0, all_hits - m), hits + 1)]
    return min(1.0, sum(math.exp(t) for t in terms))


def error(x, sequence):
    dev = x - x.mean()
    groups = [dev[sequence == s] for s in np.unique(sequence)]
    if len(groups) < 20:
        groups = [g[i:i + 32] for g in groups for i in range(0, len(g), 32)]
    best = math.sqrt((dev ** 2).sum() * len(x) / (len(x) - 1)) / len(x), len(x) - 1
    if len(groups) >= 8:
        k, squares = len(groups), sum(g.sum() ** 2 for g in groups)
        best = max(best, (math.sqrt(squares * k / (k - 1)) / len(x), k - 1))
    return best


def flagged(a, b):
    """The verdict on records, and the three probabilities; Welch's by the normal distribution, so only near its limit unlike the program's."""
    def numbers(records):
        return (np.array([r['match'] for r in records]), np.array([r['inside'] for r in records]),
                np.array([min(r['margin'], CLIP) if r['inside'] else CLIP for r in records]), np.array([r['seq'] for r in records]))
    (ma, ia, xa, sa), (mb, ib, xb, sb) = numbers(a), numbers(b)
    match = fisher(int(ma.sum()), len(ma), int(mb.sum()), len(mb))
    outside = fisher(int(ia.sum()), len(ia), int(ib.sum()), len(ib))
    (ea, _), (eb, _) = error(xa, sa), error(xb, sb)
    z = (xa.mean() - xb.mean()) / math.hypot(ea, eb) if ea or eb else (1e9 if xa.mean() > xb.mean() else -1e9)
    margin = .5 * math.erfc(z / math.sqrt(2))
    return min(match, outside, margin) < LIMIT, (match, outside, margin)


def audit(sampl, folder, name, seed):
    words = ['-n', '4096', '--params', f'{folder}/notes', '--engine', 'vllm-v2', '-s', str(seed), '--temp', str(TEMP), '--top-p', str(TOP_P)]
    more = ['--trusted', f'@{folder}/trusted.ids', '--trusted-rows', f'{folder}/trusted.f32']
    out = subprocess.run([sampl, *words, '--audit', f'@{folder}/{name}.ids', *more, '-O', 'json', f'{folder}/{name}.f32'], text=True,
                         capture_output=True)
    assert out.returncode in (0, 4), out.stderr
    lines = [json.loads(line) for line in out.stdout.splitlines()]
    return lines[:-1], lines[-1], out.returncode


def main():
    sampl, runs, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sizes = (300, 1000, austen.TOKENS * austen.SEQUENCES)
    found = {kind: {n: [] for n in sizes} for kind in KINDS}
    share = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        austen.write_notes(f'{folder}/notes')

        def make(name, bits, machine, s, changes):
            claimed = claim(bits, machine, s, changes)
            np.savetxt(f'{folder}/{name}.ids', claimed.reshape(-1), fmt='%d')
            reference(claimed, f'{folder}/{name}.f32')
        for run in range(runs):
            s = seed + 1000 * run
            make('trusted', 16, 17 * s, s, {})
            trusted = audit(sampl, folder, 'trusted', s)[0]
            for k, (kind, (bits, other, changes)) in enumerate(KINDS.items()):
                make('claimed', bits, 17 * s + k + 1, s + other, changes)
                records, summary, status = audit(sampl, folder, 'claimed', s)
                share[kind].append(summary['match'])
                whole, p = flagged(records, trusted)
                assert summary['differs'] == (status == 4)
                for name, value in zip(('match_p', 'outside_p', 'margin_p'), p):
                    assert abs(summary[name] - value) < 1e-6 + .2 * value * (name == 'margin_p') or name == 'margin_p' and value < 1e-3, (kind, name, value, summary)
                assert summary['differs'] == whole or min(abs(math.log((x + 1e-300) / LIMIT)) for x in p) < 3, (kind, p, summary)
                found[kind][sizes[-1]].append(summary['differs'])
                for n in sizes[:-1]:
                    for at in range(0, len(records) - n + 1, n):
                        found[kind][n].append(flagged(records[at:at + n], trusted[at:at + n])[0])
            print('run', run, {kind: round(x[-1], 4) for kind, x in share.items()}, file=sys.stderr)
    print(f'{"":24}  match  ' + '  '.join(f'{n:>5}' for n in sizes) + '   share of runs of so many tokens that are flagged')
    for kind, by in found.items():
        print(f'{kind:24}  {np.mean(share[kind]):.3f}  ' + '  '.join(f'{np.mean(by[n]):5.2f}' for n in sizes))
    if found['honest'][sizes[-1]].count(True):
        sys.exit('an honest run was flagged')


if __name__ == '__main__':
    main()
