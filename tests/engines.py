#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A second implementation, in numpy, of the engines transformers, vllm, vllm-v2, sglang and mlx, written from
sampl-spec(7), and random rows that compare sampl with it.

usage: engines.py SAMPL [ROWS [SEED]]

Kept tokens must be equal, probabilities to 1e-6, chosen ids equal (mlx: the kept tokens and the probabilities, as its draw is
sampl's own). A row is left out where two correct programs may differ: a sum or a product within 4e-6 of its threshold, or
two sums of logit and noise that are nearer than 1e-5. The last line counts the rows compared and left out.
"""
import json, math, subprocess, sys
import numpy as np

F = np.float32
EDGE = 4e-6


class Close(Exception):
    """The row lies on an edge."""


def check(value, limit):
    """Raises Close if a threshold is met almost, but not exactly."""
    value, limit = np.asarray(value, np.float64), np.float64(limit)
    gap = np.abs(value - limit)
    if np.any((gap > 0) & (gap <= EDGE * np.maximum(np.abs(limit), 1e-3))):
        raise Close


def softmax(x):
    e = np.exp((x - x.max()).astype(F).astype(np.float64)).astype(F).astype(np.float64)
    return (e / e.sum()).astype(F)


def log_softmax(x):
    z = np.log(np.sum(np.exp((x - x.max()).astype(F).astype(np.float64)).astype(F).astype(np.float64)))
    with np.errstate(invalid='ignore'):
        return ((x - x.max()).astype(F).astype(np.float64) - z).astype(F)


def entropy(x):
    p, l = softmax(x), log_softmax(x)
    alive = p > 0
    return F(-np.sum((p[alive] * l[alive]).astype(F).astype(np.float64)))


def rising(x):
    return np.argsort(x, kind='stable')


def falling(x):
    return np.argsort(-x, kind='stable')


def running(p):
    return np.cumsum(p.astype(np.float64)).astype(F)


def mask(x, where):
    y = x.copy()
    y[where] = -np.inf
    return y


def top_k_ties(x, k):
    return mask(x, x < np.sort(x)[::-1][min(k, len(x)) - 1])


def top_p_rising(x, tail, p=None):
    p = softmax(x) if p is None else p
    order = rising(x)
    c = running(p[order])
    check(c[:-1], tail)
    drop = order[:-1][c[:-1] <= tail]
    return mask(x, drop)


def min_p(x, m):
    p = softmax(x)
    floor = p.max() * F(m)
    check(p, floor)
    return mask(x, p < floor)


def top_h(x, h):
    order = falling(x)[:100]
    y = x[order]
    p = softmax(y)
    limit = F(entropy(y) * F(h))
    keep, total = [], 0.0
    for i, q in enumerate(p):
        if not q > 0:
            break
        total += float(F(-q * F(math.log(float(q)))))
        check(F(total), limit)
        if i and not F(total) <= limit:
            break
        keep.append(order[i])
    return mask(x, ~np.isin(np.arange(len(x)), keep))


def typical(x, m):
    p, l, h = softmax(x), log_softmax(x), entropy(x)
    s = np.where(np.isfinite(x), np.abs((-l - h).astype(F)), np.inf).astype(F)
    order = np.argsort(s, kind='stable')
    c = running(p[order])
    check(c, F(m))
    last = s[order[min(int(np.sum(c < F(m))), len(x) - 1)]]
    check(s[np.isfinite(s)], last)
    return mask(x, s > last)


def epsilon(x, floor):
    p = softmax(x)
    check(p, floor)
    return mask(x, (p < floor) & (x != x.max()))


def eta(x, e):
    return epsilon(x, min(F(e), F(np.sqrt(F(e)) * F(math.exp(-float(entropy(x)))))))


class Twister:
    """mt19937, and the exponential noise that torch makes of it."""

    def __init__(self, seed):
        self.state = np.random.RandomState(seed & 0xffffffff)

    def row(self, n):
        w = self.state.randint(0, 1 << 32, size=2 * n, dtype=np.uint32).astype(np.uint64)
        u = (((w[0::2] << np.uint64(32)) | w[1::2]) & np.uint64((1 << 53) - 1)).astype(np.float64) * 2.0 ** -53
        q = -np.log1p(-u)
        return np.where(u > 0, q, 2.0 ** -149).astype(F)


def winner(scores, slack):
    """The first largest; raises Close if the second is almost as large."""
    best = int(np.argmax(scores))
    others = scores[scores != scores[best]]
    if len(others) and scores[best] - others.max() <= slack * max(1.0, abs(float(scores[best]))):
        raise Close
    return best


def draw_exp(x, twister):
    q = twister.row(len(x))
    return winner((softmax(x) / q).astype(np.float64), 1e-6)


def philox(c, k):
    c, k = list(c), list(k)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ k[1], a & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c


def gumbel_philox(x, seed, pos):
    seed, pos = seed & (1 << 64) - 1, pos & (1 << 64) - 1
    g = philox([pos & 0xffffffff, pos >> 32, 0, 0], [seed & 0xffffffff, seed >> 32])[0]
    score = np.full(len(x), -np.inf)
    for i in np.flatnonzero(np.isfinite(x)):
        w = philox([int(i), 0, 0, 0], [g, 0])[0]
        w = w if w < 1 << 31 else (1 << 32) - w - 1
        u = max(F(F(w) * F(4.6566127342e-10)), F(4.6566127342e-10))
        if u < 1:
            score[i] = F(x[i] + F(-math.log(float(F(-math.log1p(-float(u)))))))
    return winner(score, 1e-5)


def murmur(words):
    def rot(v, r):
        return (v << r | v >> (32 - r)) & 0xffffffff
    h = 0
    for w in words:
        h = rot(h ^ rot(w * 0xcc9e2d51 & 0xffffffff, 15) * 0x1b873593 & 0xffffffff, 13) * 5 + 0xe6546b64 & 0xffffffff
    h ^= 4 * len(words)
    h = (h ^ h >> 16) * 0x85ebca6b & 0xffffffff
    h = (h ^ h >> 13) * 0xc2b2ae35 & 0xffffffff
    return h ^ h >> 16


def murmur_noise(seed, pos, column):
    h = murmur([seed & 0xffffffff, seed >> 32 & 0xffffffff, pos & 0xffffffff, column])
    v = math.log(h / 4294967295.0) if h else -sys.float_info.max
    return -math.log(-max(min(v, -2.0 ** -32), -sys.float_info.max))


def distinct(tokens):
    return list(dict.fromkeys(tokens))


def begun(sequence, history):
    head = sequence[:-1]
    return not head or history[-len(head):] == head


def transformers(x, o, prompt, output, state):
    history = prompt + output
    for t, b in o['bias']:
        x[t] = x[t] + F(b)
    if o['encoder'] != 1:
        r = F(1.0 / o['encoder'])
        for t in distinct(prompt):
            x[t] = x[t] * r if x[t] < 0 else x[t] / r
    if o['repeat'] != 1:
        for t in distinct(history):
            x[t] = x[t] * F(o['repeat']) if x[t] < 0 else x[t] / F(o['repeat'])
    n = o['ngram']
    if n and len(history) >= n:
        head = history[len(history) - n + 1:]
        x = mask(x, [history[i + n - 1] for i in range(len(history) - n + 1) if history[i:i + n - 1] == head])
    for s in o['bad_words']:
        if (len(s) == 1 and s[0] not in o['eog']) or (len(s) > 1 and len(history) >= len(s) and begun(s, history)):
            x[s[-1]] = -np.inf
    if len(output) < o['min_tokens']:
        x = mask(x, o['eog'])
    if o['temp'] == 0:
        return mask(x, np.arange(len(x)) != np.argmax(x)), int(np.argmax(x))
    if o['temp'] != 1:
        x = (x / F(o['temp'])).astype(F)
    if o['top_h'] > 0:
        x = top_h(x, o['top_h'])
    if o['top_k']:
        x = top_k_ties(x, o['top_k'])
    if o['top_p'] < 1:
        x = top_p_rising(x, F(1.0 - o['top_p']))
    if o['min_p'] > 0:
        x = min_p(x, o['min_p'])
    if o['typical'] < 1:
        x = typical(x, o['typical'])
    if o['epsilon'] > 0:
        x = epsilon(x, F(o['epsilon']))
    if o['eta'] > 0:
        x = eta(x, o['eta'])
    return x, state


def vllm(x, o, prompt, output, state, v2=False):
    def ban(x):
        for s in o['bad_words']:
            if len(output) >= len(s) - 1 and begun(s, output):
                x[s[-1]] = -np.inf
        return x

    def early(x):
        return mask(x, o['eog']) if len(output) < o['min_tokens'] else x
    if not v2:
        x = early(ban(x))
    for t, b in o['bias']:
        x[t] = x[t] + F(b)
    if v2:
        x = early(x)
    if o['repeat'] != 1 or o['presence'] or o['frequency']:
        for t in distinct(prompt + output):
            x[t] = x[t] * (F(1) / F(o['repeat'])) if x[t] > 0 else x[t] * F(o['repeat'])
        for t in distinct(output):
            x[t] = x[t] - F(o['frequency']) * F(output.count(t))
            x[t] = x[t] - F(o['presence'])
    if v2:
        x = ban(x)
    if o['temp'] < 1e-5:
        return mask(x, np.arange(len(x)) != np.argmax(x)), int(np.argmax(x))
    x = (x / F(max(o['temp'], 0.01))).astype(F)
    if o['min_p'] > 0 and v2:
        floor = F(x.max() + F(math.log(float(F(o['min_p'])))))
        check(x[np.isfinite(x)], floor)
        x = mask(x, x < floor)
    elif o['min_p'] > 0:
        x = min_p(x, o['min_p'])
    if 0 < o['top_k'] < len(x):
        x = top_k_ties(x, o['top_k'])
    if o['top_p'] < 1:
        x = top_p_rising(x, F(1) - F(o['top_p']))
    return x, state


def sglang(x, o, prompt, output, state):
    for t in distinct(output):
        a = F(0)
        for _ in range(output.count(t)):
            a = F(a + F(o['frequency']))
        x[t] = x[t] + F(F(0 - a) - F(o['presence']))
    if len(output) < o['min_tokens']:
        x = mask(x, o['eog'])
    for t in distinct(output):
        x[t] = x[t] * F(o['repeat']) if x[t] < 0 else x[t] / F(o['repeat'])
    for t, b in o['bias']:
        x[t] = x[t] + F(b)
    if o['temp'] < 1e-6 or o['top_k'] == 1:
        return mask(x, np.arange(len(x)) != np.argmax(x)), int(np.argmax(x))
    x = (x / F(o['temp'])).astype(F)
    p = softmax(x)
    pos, seed = len(prompt) + state['row'] - 1, state['seed']
    if o['top_k'] < 0 and o['top_p'] >= 1 and o['min_p'] <= 0:
        score = np.full(len(x), -np.inf)
        for i in np.flatnonzero(p > 0):
            score[i] = float(F(math.log(float(p[i])))) + murmur_noise(seed, pos, int(i))
        return x, winner(score, 1e-7)
    order = falling(p)
    c, keep = running(p[order]), np.ones(len(x), bool)
    if o['top_k'] > 0:
        keep[o['top_k']:] = False
    if o['top_p'] < 1:
        before = (c - p[order]).astype(F)
        check(before, F(o['top_p']))
        keep &= ~(before > F(o['top_p']))
    if o['min_p'] > 0:
        floor = p[order[0]] * F(o['min_p'])
        check(p, floor)
        keep &= ~(p[order] < floor)
    keep &= p[order] > 0
    score = np.full(len(x), -np.inf)
    for r in np.flatnonzero(keep):
        score[r] = math.log(float(p[order[r]])) + murmur_noise(seed, pos, int(r))
    return mask(x, order[~keep]), int(order[winner(score, 1e-7)])


def mlx(x, o, prompt, output, state):
    window = (prompt[-1:] + output)[-o['last_n']:]
    for t, b in o['bias']:
        x[t] = x[t] + F(b)
    for t in distinct(window):
        x[t] = x[t] * F(o['repeat']) if x[t] < 0 else x[t] / F(o['repeat'])
        x[t] = x[t] - F(o['presence'])
        for _ in range(window.count(t)):
            x[t] = x[t] - F(o['frequency'])
    x = log_softmax(x)
    if o['temp'] == 0:
        return mask(x, np.arange(len(x)) != np.argmax(x)), int(np.argmax(x))
    if 0 < o['top_p'] < 1:
        with np.errstate(under='ignore'):
            x = top_p_rising(x, F(1.0 - o['top_p']), np.exp(x.astype(np.float64)).astype(F))
    if o['min_p'] > 0:
        floor = F(x.max() + F(math.log(o['min_p'])))
        check(x[np.isfinite(x)], floor)
        x = mask(x, x < floor)
    if o['top_k'] > 0:
        x = mask(x, falling(x)[o['top_k']:])
    return (x * F(1.0 / o['temp'])).astype(F), None


ENGINES = {'transformers': transformers, 'vllm': vllm, 'vllm-v2': lambda *a: vllm(*a, v2=True), 'sglang': sglang, 'mlx': mlx}
FLAGS = {'temp': '--temp', 'top_k': '--top-k', 'top_p': '--top-p', 'min_p': '--min-p', 'typical': '--typical', 'top_h': '--top-h',
         'epsilon': '--epsilon-cutoff', 'eta': '--eta-cutoff', 'repeat': '--repeat-penalty', 'encoder': '--encoder-repeat-penalty',
         'presence': '--presence-penalty', 'frequency': '--frequency-penalty', 'ngram': '--no-repeat-ngram',
         'min_tokens': '--min-tokens', 'last_n': '--repeat-last-n'}


def options(engine, n, r):
    """Random options of an engine: values by name, and the command line."""
    def some(chance, *values):
        return values[r.integers(len(values))] if r.random() < chance else None
    o = {'temp': some(.7, 0.0, 0.3, 0.7, 0.8, 1.0, 1.3, 2.0), 'top_k': some(.5, 1, 2, 5, 20, n - 1),
         'top_p': some(.5, .1, .5, .8, .9, .95, .999, 0.123456789), 'min_p': some(.4, .01, .05, .1, .3, 1.0),
         'repeat': some(.4, .8, 1.1, 1.3, 1.9)}
    if engine != 'transformers':
        o |= {'presence': some(.3, -.5, .3, 1.1), 'frequency': some(.3, -.3, .1, .7)}
    if engine == 'transformers':
        o |= {'typical': some(.3, .2, .5, .9, .95), 'top_h': some(.2, .3, .6, .9), 'epsilon': some(.2, 1e-3, .02, .1),
              'eta': some(.2, 1e-3, .02, .3), 'encoder': some(.3, .7, 1.3), 'ngram': some(.3, 1, 2, 3)}
    if engine == 'mlx':
        o |= {'last_n': some(.3, 1, 3, 64), 'top_k': o['top_k'] and min(o['top_k'], n - 1)}
    if engine != 'mlx':
        o |= {'min_tokens': some(.3, 1, 4)}
    args = ['--engine', engine]
    for name, value in o.items():
        if value is not None:
            args += [FLAGS[name], repr(value)]
    defaults = {'temp': 0.0 if engine == 'mlx' else 1.0, 'top_k': {'transformers': 50, 'sglang': -1}.get(engine, 0), 'min_p': 0.0,
                'top_p': 0.0 if engine == 'mlx' else 1.0, 'repeat': 1.0, 'presence': 0.0, 'frequency': 0.0, 'typical': 1.0,
                'top_h': 0.0, 'epsilon': 0.0, 'eta': 0.0, 'encoder': 1.0, 'ngram': 0, 'min_tokens': 0, 'last_n': 20}
    o = defaults | {k: v for k, v in o.items() if v is not None}
    o |= {'bias': [], 'bad_words': [], 'eog': []}
    if r.random() < .4:
        o['bias'] = [(int(t), float(b)) for t, b in zip(r.choice(n, 2, replace=False), r.normal(0, 3, 2).round(3))]
        for t, b in o['bias']:
            args += ['-l', f'{t}{b:+}']
    if (o['min_tokens'] or r.random() < .5) and engine != 'mlx':
        o['eog'] = [int(t) for t in r.choice(n, 2, replace=False)]
        args += ['--eog-tokens', ','.join(map(str, o['eog']))]
    if r.random() < .4 and engine in ('transformers', 'vllm', 'vllm-v2'):
        o['bad_words'] = [[int(t) for t in r.integers(0, min(n, 6), r.integers(1, 4))] for _ in range(3)]
        for s in o['bad_words']:
            args += ['--bad-word-tokens', ','.join(map(str, s))]
    return o, args


def rows_of(n, count, r):
    """Random rows with ties, masked tokens, flat and steep ones."""
    rows = []
    for _ in range(count):
        x = r.normal(0, r.choice([.05, 1, 4, 12]), n).astype(F)
        if r.random() < .4:
            x = (np.round(x * 2) / 2).astype(F)
        if r.random() < .3:
            x[r.random(n) < .3] = -np.inf
            x[r.integers(n)] = F(1)
        rows.append(x)
    return rows


def compare(sampl, engine, r):
    """One random command over a few rows. Returns how many rows were compared and left out."""
    n, count = int(r.choice([2, 3, 7, 60, 300])), 8
    n = max(n, 7) if engine == 'mlx' else n
    seed = int(r.choice([0, 1, 42, r.integers(1 << 32)] if engine == 'mlx' else [1, 42, r.integers(1 << 32), r.integers(1 << 62), -7]))
    o, args = options(engine, n, r)
    rows = rows_of(n, count, r)
    prompt = [int(t) for t in r.integers(0, min(n, 6), r.integers(0, 5))]
    accept = [int(t) for t in r.integers(0, min(n, 6), count)]
    args += ['--seed', str(seed), '--accept', ','.join(map(str, accept)), '-f', 'json', '--dump-probs', '-O', 'json', '--on-error', 'skip']
    args += ['--prompt-tokens', ','.join(map(str, prompt))] if prompt else []
    text = ''.join(json.dumps([float(v) if np.isfinite(v) else None for v in x]) + '\n' for x in rows)
    run = subprocess.run([sampl, *args], input=text, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f'{" ".join(args)}\nstatus {run.returncode}: {run.stderr}')
    got = {record['row']: record for record in map(json.loads, run.stdout.splitlines()) if record['id'] is not None}
    twister, compared, left_out = Twister(seed), 0, 0
    for i, row in enumerate(rows):
        state, words = {'row': i, 'seed': seed}, twister.state.get_state()
        try:
            x, chosen = ENGINES[engine](row.copy(), o, prompt, accept[:i], state)
            cold = o['temp'] < {'vllm': 1e-5, 'vllm-v2': 1e-5, 'sglang': 1e-6}.get(engine, 1e-300)
            if not np.any(np.isfinite(x)):
                if i in got:
                    raise AssertionError('nothing is left, but sampl has a row')
                if engine in ('transformers', 'vllm') and not cold:
                    twister.row(n)
                continue
            if isinstance(chosen, dict):
                chosen = draw_exp(x, twister) if engine in ('transformers', 'vllm') else gumbel_philox(x, seed, len(prompt) + i - 1)
            if i not in got:
                raise AssertionError('sampl has no row')
            kept = {c['id']: c['prob'] for c in got[i]['top_probs']}
            if cold:
                p = {chosen: 1.0}
            else:
                alive = np.isfinite(x)
                y = np.exp(x[alive].astype(np.float64) - float(x.max()))
                p = dict(zip(np.flatnonzero(alive).tolist(), y / y.sum()))
            if set(kept) != set(p):
                raise AssertionError(f'kept {sorted(kept)}, expected {sorted(p)}')
            for t in p:
                if abs(kept[t] - p[t]) > 2e-6 * p[t] + 1e-12:
                    raise AssertionError(f'token {t} has {kept[t]!r}, expected {p[t]!r}')
            if chosen is not None and got[i]['id'] != chosen:
                raise AssertionError(f'chose {got[i]["id"]}, expected {chosen}')
            compared += 1
        except Close:
            left_out += 1
            twister.state.set_state(words)
            if engine in ('transformers', 'vllm') and o['temp'] >= 1e-5:
                twister.row(n)
        except AssertionError as why:
            print(f'{" ".join(args)}\nrow {i}: {why}\n{json.dumps([float(v) if np.isfinite(v) else None for v in row])}')
            sys.exit(1)
    return compared, left_out


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sampl, want, seed = sys.argv[1], int((sys.argv[2:] or [1000])[0]), int((sys.argv[3:] or [1])[0])
    print(f'seed {seed}')
    compared = {engine: 0 for engine in ENGINES}
    left_out = dict(compared)
    r = np.random.default_rng(seed)
    while sum(compared.values()) < want:
        for engine in ENGINES:
            a, b = compare(sampl, engine, r)
            compared[engine] += a
            left_out[engine] += b
    print(', '.join(f'{engine} {compared[engine]} rows' for engine in ENGINES))
    print(f'{sum(compared.values())} rows compared, {sum(left_out.values())} left out')


if __name__ == '__main__':
    np.seterr(all='ignore')
    main()
