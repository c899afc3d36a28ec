#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Recomputes with numpy what `sampl --audit` measures of each row: the chain's id, match, inside, margin, below and prob, for ten kinds of
# chains, with histories, masked tokens, and rows whose parameters change the chain. The stages come from vectors/port.py; the measures are
# written from trace/audit.h. Of tables of chains it recomputes which one is marked as best, from the records of one run for
# each. usage: audit.py SAMPL COUNT SEED
import copy
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'vectors'))
import port  # noqa: E402

F, INF = np.float32, np.inf
SLACK = 1e-6


def penalties_of(engine):
    """The repetition penalty of an engine, on (logits, prompt, output, factor)."""
    def transformers(x, prompt, output, r):
        for t in set(prompt + output):
            x[t] = x[t] * F(r) if x[t] < 0 else x[t] / F(r)

    def vllm(x, prompt, output, r):
        for t in set(prompt + output):
            x[t] = x[t] * (F(1) / F(r)) if x[t] > 0 else x[t] * F(r)

    def sglang(x, prompt, output, r):
        for t in set(output):
            x[t] = x[t] * F(r) if x[t] < 0 else x[t] / F(r)
    return {'transformers': transformers, 'vllm': vllm, 'vllm-v2': vllm, 'sglang': sglang}[engine]


def logit(x):
    return -INF if x <= 0 else INF if x >= 1 else math.log(x / (1 - x))


def drawn_margin(p, at, u, by_rank):
    """Of a draw u from the cumulative sums of p: how far the claimed place must move."""
    p = p.astype(np.float64)
    ends = np.cumsum(p) / p.sum()
    starts = np.concatenate([[0], ends[:-1]])
    ln = np.log(p)
    if u > ends[at]:
        places = range(at, len(p)) if by_rank else [at]
        return min(max(ln[at] - ln[i], 0 if i == len(p) - 1 else logit(u) - logit(ends[i])) for i in places)
    places = range(at, -1, -1) if by_rank else [at]
    return min(max(ln[i] - ln[at], 0 if i == 0 else logit(starts[i]) - logit(u)) for i in places)


def scores_of(engine, c, s):
    """The scores that an engine's selector compares, and the noise in them, by place of the list."""
    kept = np.isfinite(c.x)
    if engine in ('transformers', 'vllm'):
        high, low = s.generator('draw_exp').words(2 * len(c)).reshape(-1, 2).T
        words = (high << np.uint64(32) | low) & np.uint64(2**53 - 1)
        q = (-np.log1p(-words.astype(np.float64) * 2.0**-53)).astype(F)
        with np.errstate(divide='ignore'):
            return np.where(kept, np.log(port.softmax_wide(c.x).astype(np.float64)) - np.log(q.astype(np.float64)), -INF), None
    if engine == 'vllm-v2':
        key = int(port.philox((*port.halves(port.newest(s)), 0, 0), port.halves(s.seed)))
        w = port.philox((c.id, 0, 0, 0), (key, 0)).astype(np.uint32).view(np.int32).astype(np.int64)
        u = np.maximum(port.signed_magnitude(w).astype(F) * F(4.6566127342e-10), F(4.6566127342e-10))
        g = -np.log((-np.log1p(-u.astype(np.float64))).astype(F).astype(np.float64)).astype(F)
        return (c.x + g).astype(np.float64), None
    h = port.murmur([*port.halves(s.seed), port.newest(s) % 2**32, np.arange(len(c)) if s.cut else c.id]).astype(np.float64)
    noise = -np.log(-np.clip(np.log(h / 4294967295.0), -np.finfo(np.float64).max, -(2.0**-32)))
    with np.errstate(divide='ignore'):
        return np.log(c.p.astype(np.float64)) + noise, noise


def audited(engine, stages, a, s, x, prompt, claimed):
    """The expected record of a row."""
    c = port.List(x)
    if engine and a['repeat'] != 1:
        penalties_of(engine)(c.x, prompt, s.history[len(prompt):], a['repeat'])
    t, below, greedy = 1.0, None, False
    removed_from = None  # the candidates that the stage was handed that removed the claimed token, and T before it
    handed = None
    for f in stages:
        if port.off(f, a):
            continue
        before = copy.deepcopy(c)
        if not greedy and ((f is port.temperature and a['temperature'] <= 0) or (f is port.top_k and a['top_k'] == 1)):
            greedy, handed = True, (before, t)
        f(c, a, s)
        alive = set(c.id[np.isfinite(c.x)].tolist())
        if removed_from is None and not greedy and claimed not in alive:
            removed_from = before, t
        if f is port.temperature and a['temperature'] > 0 and not greedy:
            t *= float(F(a['temperature']))
    if engine and a['temperature'] == 0:
        greedy, handed = True, (c, t)
    kept_list, _ = handed if greedy else (c, t)
    kept = kept_list.id[np.isfinite(kept_list.x)].tolist()
    inside = claimed in kept
    if greedy:
        if engine is None:
            s.generator('dist').f64()  # dist draws from the one token, too
        best = int(np.argmax(np.where(np.isfinite(kept_list.x), kept_list.x, -INF)))
        chosen, prob = int(kept_list.id[best]), None
        margin = handed[1] * (float(kept_list.x[best]) - float(kept_list.x[kept_list.id == claimed][0])) if inside else None
        prob = float(chosen == claimed)
    else:
        p = (port.softmax_wide(c.x) if c.p is None or not engine == 'sglang' else c.p / c.p.sum()).astype(np.float64)
        at = int(np.flatnonzero(c.id == claimed)[0]) if inside else None
        if engine is None:
            u = s.generator('dist').f64()
            place = port.first(np.cumsum(p) / p.sum() >= u, len(c) - 1)
            margin = t * drawn_margin(p, at, u, c.sorted) if inside else None
        else:
            scores, noise = scores_of(engine, c, s)
            place = int(np.argmax(scores))
            if inside and engine == 'sglang' and s.cut:
                ln = scores - noise
                margin = t * min(max(abs(ln[r] - ln[at]), scores[place] - ln[at] - noise[r]) for r in range(len(c)))
            elif inside:
                margin = t * (scores[place] - scores[at])
        chosen = int(c.id[place])
        prob = float(p[at] / p.sum()) if inside else 0.0
    if not inside:
        margin = None
        if removed_from and np.isfinite(removed_from[0].x[removed_from[0].id == claimed][0]):
            before, scale = removed_from
            least = min(float(before.x[before.id == i][0]) for i in kept)
            below = scale * (least - float(before.x[before.id == claimed][0]))
    if chosen == claimed:
        margin = 0.0
    return {'id': chosen, 'match': chosen == claimed, 'inside': inside, 'margin': margin, 'below': below, 'prob': prob}


def near(a, b):
    if a is None or b is None or isinstance(a, bool):
        return a == b
    return abs(a - b) <= SLACK * max(1.0, abs(a), abs(b))


# name: engine or None, stages of llama, parameters, and the command line
CHAINS = {
    'greedy': (None, [port.penalties, port.temperature], {'temperature': 0, 'repeat_penalty': 1.2},
               '--samplers penalties;temperature --temp 0 --repeat-penalty 1.2'),
    'greedy by rank': (None, [port.temperature, port.top_k], {'temperature': .7, 'top_k': 1}, '--samplers temperature;top_k --temp .7 --top-k 1'),
    'llama sorted': (None, [port.penalties, port.top_k, port.top_p, port.min_p, port.temperature],
                     {'temperature': .8, 'top_k': 40, 'top_p': .95, 'min_p': .05, 'repeat_penalty': 1.1},
                     '--samplers penalties;top_k;top_p;min_p;temperature --temp .8 --top-k 40 --top-p .95 --min-p .05 --repeat-penalty 1.1'),
    'llama unsorted': (None, [port.penalties, port.temperature], {'temperature': 1.3, 'repeat_penalty': 1.1},
                       '--samplers penalties;temperature --temp 1.3 --repeat-penalty 1.1'),
    'transformers': ('transformers', None, {'temperature': .7, 'top_k': 30, 'top_p': .9, 'repeat': 1.2},
                     '--engine transformers --temp .7 --top-k 30 --top-p .9 --repeat-penalty 1.2'),
    'vllm': ('vllm', None, {'temperature': .8, 'top_p': .95, 'repeat': 1.1}, '--engine vllm --temp .8 --top-p .95 --repeat-penalty 1.1'),
    'vllm-v2': ('vllm-v2', None, {'temperature': .8, 'top_k': 50, 'top_p': .95, 'repeat': 1.1},
                '--engine vllm-v2 --temp .8 --top-k 50 --top-p .95 --repeat-penalty 1.1'),
    'vllm-v2 whole': ('vllm-v2', None, {'temperature': 1.1, 'repeat': 1.1}, '--engine vllm-v2 --temp 1.1 --repeat-penalty 1.1'),
    'sglang': ('sglang', None, {'temperature': .9, 'top_k': -1, 'repeat': 1.1}, '--engine sglang --temp .9 --repeat-penalty 1.1'),
    'sglang cut': ('sglang', None, {'temperature': .9, 'top_k': 40, 'top_p': .9, 'repeat': 1.1},
                   '--engine sglang --temp .9 --top-k 40 --top-p .9 --repeat-penalty 1.1'),
}


def changes(engine, count, r):
    """Parameters that rows change, by row: the chain is another one from there on."""
    def change():
        key = r.choice(['temperature'] if engine else ['temperature', 'top_k', 'top_p', 'min_p'])
        value = {'temperature': float(r.choice([0, .5, .8, 1.2])), 'top_k': int(r.choice([0, 1, 5, 30])), 'top_p': float(r.choice([.7, .9, 1])),
                 'min_p': float(r.choice([0, .05, .2]))}
        return {str(key): value[key]}
    return {int(i): change() for i in r.choice(count, max(1, count // 8), replace=False)}


def write_json(path, rows, params):
    with open(path, 'w', encoding='ascii') as to:
        for i, row in enumerate(rows):
            numbers = [float(x) if np.isfinite(x) else None for x in row]
            to.write(json.dumps({'logits': numbers} | ({'params': params[i]} if i in params else {})) + '\n')


def check(sampl, name, count, r):
    engine, stages, given, words = CHAINS[name]
    a = port.DEFAULTS | {'repeat': 1} | given
    n, seed = int(r.integers(60, 200)), int(r.integers(1, 2**31))
    prompt = [int(t) for t in r.integers(0, n, 3)]
    rows = (r.normal(0, 2.5, (count, n))).astype(F)
    moved = (rows + r.normal(0, .15, rows.shape)).astype(F)
    masked = r.random(rows.shape) < r.choice([0, .1])  # one chain in two has rows with masked tokens
    rows[masked] = moved[masked] = -INF
    options = [*words.split(), '-n', str(n), '-s', str(seed), '--prompt-tokens', ','.join(map(str, prompt))]
    params = changes(engine, count, r) if r.random() < .5 else {}
    with tempfile.TemporaryDirectory() as folder:
        for file, x in (('rows.f32', rows), ('moved.f32', moved)):
            x.tofile(f'{folder}/{file}')
        if params:
            write_json(f'{folder}/rows.json', rows, params)
            write_json(f'{folder}/moved.json', moved, params)
        kind = 'json' if params else 'f32'
        run = lambda *more: subprocess.run([sampl, *options, *more], check=True, capture_output=True, text=True).stdout  # noqa: E731
        claimed = [int(t) for t in run(f'{folder}/moved.{kind}').split()]
        for i in r.choice(count, max(1, count // 10), replace=False):
            claimed[i] = int(r.integers(n))
        out = run('--audit', ','.join(map(str, claimed)), '-O', 'json', f'{folder}/rows.{kind}').splitlines()
    records, summary = [json.loads(line) for line in out[:-1]], json.loads(out[-1])
    assert len(records) == count, (name, len(records))
    s = port.Sequence(a | {'seed': seed}, prompt)
    kinds = {'match': 0, 'inside': 0, 'outside': 0}
    for i, got in enumerate(records):
        a |= params.get(i, {})
        s.cut = False
        want = audited(engine, stages or port.ENGINES[engine][0] * (a['temperature'] != 0), a, s, rows[i], prompt, claimed[i])
        for key, value in want.items():
            assert near(value, got[key]), (name, seed, i, key, value, got)
        kinds['match' if got['match'] else 'inside' if got['inside'] else 'outside'] += 1
        s.history.append(claimed[i])
    clipped = [0.5 if not x['inside'] else min(x['margin'], 0.5) for x in records]
    for key, value in {'rows': count, 'match': kinds['match'] / count, 'outside': kinds['outside'], 'margin': float(np.mean(clipped))}.items():
        assert near(value, summary[key]), (name, key, value, summary)
    return kinds


def mean_error(x, sequences):
    """Of margins: the mean, and the larger of its errors as independent rows and as independent groups of rows."""
    def error(groups):
        sums = [sum(g) - len(g) * mean for g in groups]
        return math.sqrt(sum(s * s for s in sums) * len(groups) / (len(groups) - 1)) / len(x) if len(groups) > 1 else math.nan
    if not x:
        return math.nan, math.nan
    mean = sum(x) / len(x)
    groups = {}
    for value, sequence in zip(x, sequences):
        groups.setdefault(sequence, []).append(value)
    groups = list(groups.values())
    if len(groups) < 20:
        groups = [g[i:i + 32] for g in groups for i in range(0, len(g), 32)]
    rows = error([[value] for value in x])
    return mean, max(rows, error(groups)) if len(groups) >= 8 else rows


def check_best(sampl, r):
    """Recomputes which chains a table marks as best, from the records of one run for each: rows, lists, sequences, and params of rows."""
    count, n, seed = int(r.integers(30, 300)), int(r.integers(20, 60)), int(r.integers(1, 2**31))
    rows = r.normal(0, 2, (count, n)).astype(F)
    engine = str(r.choice(['llama', 'vllm-v2', 'sglang']))
    chain = ['--engine', engine, '-n', str(n), '-s', str(seed)]
    named = int(r.choice([0, 3, 40]))
    notes = [{'seq': str(r.integers(named))} if named else {} for _ in range(count)]
    for i in r.choice(count, int(r.choice([0, 4])), replace=False):
        notes[i]['params'] = {'temperature': float(r.choice([.5, 1.2]))}
    values = [.6, .8, 1, .80001][:int(r.integers(2, 5))]
    length = int(r.choice([0, 3, 8]))
    chain += ['--top-k', str(r.choice([2, 6]))] if length else []
    with tempfile.TemporaryDirectory() as folder:
        rows.tofile(f'{folder}/rows.f32')
        (rows + r.normal(0, .2, rows.shape)).astype(F).tofile(f'{folder}/moved.f32')
        with open(f'{folder}/notes', 'w', encoding='ascii') as to:
            to.writelines(json.dumps(x) + '\n' for x in notes)

        def run(*words):
            got = subprocess.run([sampl, *words], check=False, capture_output=True, text=True)
            assert not got.returncode or 'nothing was compared' in got.stderr, (words, got.stderr)
            return got.stdout
        file = f'{folder}/rows.f32'
        if length:
            file = f'{folder}/rows.json'
            some, one = (run('--neutral', '--emit', f'list={k}', '-n', str(n), '-O', 'json', f'{folder}/rows.f32').splitlines() for k in (length, 2))
            with open(file, 'w', encoding='ascii') as to:  # of two lengths, so that each chain knows other rows
                to.writelines(json.dumps(json.loads(r.choice(pair)) | x) + '\n' for pair, x in zip(zip(some, one), notes))
        params = ['--params', f'{folder}/notes']
        claimed = run(*chain, *params, '--temp', '0.8', f'{folder}/moved.f32' if r.random() < .7 else f'{folder}/rows.f32').split()
        words = [*chain, *([] if length else params), '--audit', ','.join(claimed), '-O', 'json', file]
        table = [json.loads(x) for x in run('--temp', str(values[0]), *(w for v in values[1:] for w in ('--vs', f'{v}: --temp {v}')), *words).splitlines()]
        runs = []
        for value in values:
            *records, total = map(json.loads, run('--temp', str(value), *words).splitlines())
            margins = [None if x['inside'] is None else .5 if not x['inside'] else min(x['margin'], .5) for x in records]
            runs.append((margins, total))
    known = [[x for x in margins if x is not None] for margins, _ in runs]
    means = [sum(x) / len(x) if x else math.inf for x in known]
    least = means.index(min(means))
    best, clear = [False] * len(values), bool(known[least])
    if clear:
        total = runs[least][1]
        chance = total['chance']
        clear = total['match'] > chance + 3 * math.sqrt(chance * (1 - chance) / total['rows'])
    for i, (margins, _) in enumerate(runs):
        pairs = [(a - b, x.get('seq')) for a, b, x in zip(margins, runs[least][0], notes) if a is not None and b is not None]
        mean, error = mean_error([x for x, _ in pairs], [s for _, s in pairs])
        best[i] = i == least or (bool(pairs) and mean == 0 and error == 0)
        if not best[i] and known[i]:
            if pairs and abs(mean - 2 * error) < 1e-9:
                return None  # within the rounding of the records
            clear = clear and mean > 2 * error
    for i, line in enumerate(table):
        want = known[i] and sum(known[i]) / len(known[i])
        assert line['best'] == (best[i] and clear), (engine, seed, length, named, values, i, best, clear, table)
        assert not known[i] or near(want, line['margin']), (engine, seed, i, want, line)
    return clear


def main():
    sampl, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    r = np.random.default_rng(seed)
    total = {'match': 0, 'inside': 0, 'outside': 0}
    tables = [check_best(sampl, r) for _ in range(max(40, count // 10))]
    print('tables with a best chain, and without:', tables.count(True), tables.count(False))
    assert True in tables and False in tables
    for name in CHAINS:
        kinds = check(sampl, name, count, r)
        print(name, kinds)
        total = {k: total[k] + kinds[k] for k in total}
    assert all(total.values()), total


main()
