#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# A port of the samplers to numpy, written from sampl-spec(7) and sampl-engines(7) alone. Reads lines of samples/vectors, and answers each
# as check.py expects. wrong.py replaces single functions of it.
import json
import math
import re
import sys

import numpy as np

F = np.float32
INF = np.inf


class List:
    """The candidates: ids and logits in list order, and the mark `sorted`."""

    def __init__(self, x):
        self.id, self.x, self.sorted, self.start, self.p = np.arange(len(x)), np.array(x, F), False, np.array(x, F), None

    def __len__(self):
        return len(self.id)

    def keep(self, places):
        self.id, self.x, self.p = self.id[places], self.x[places], None if self.p is None else self.p[places]

    def sort(self):
        if not self.sorted:
            self.keep(order(self))
        self.sorted = True


def order(c):
    return np.lexsort((c.id, -c.x))


def weights(x, top):
    return np.exp(x - top)


def softmax(c, sort=False):
    if sort:
        c.sort()
    w = weights(c.x, c.x[0] if c.sorted else c.x.max())
    return (w / w.sum(dtype=np.float64)).astype(F)


def running(p):
    return np.cumsum(p, dtype=np.float64)


def first(condition, otherwise):
    where = np.flatnonzero(condition)
    return int(where[0]) if len(where) else otherwise


def least(c, a):
    return min(max(a["min_keep"], 1), len(c))


def cut(c, i, a):
    c.sort()
    c.keep(slice(0, max(i, least(c, a))))


def drop(c, p, t, a):
    stays = p >= t
    if stays.sum() >= least(c, a):
        c.keep(stays)
    else:
        cut(c, 0, a)


class Generator:
    def __init__(self, seed):
        self.state = np.random.RandomState(seed)

    def words(self, n):
        return np.frombuffer(self.state.bytes(4 * n), "<u4").astype(np.uint64)

    def f64(self):
        low, high = map(int, self.words(2))
        return min((low + high * 2.0**32) * 2.0**-64, 1 - 2.0**-53)

    def f32(self):
        return min(float(F(self.words(1)[0])) * 2.0**-32, 1 - 2.0**-24)


def discrete(p, g):
    if len(p) < 2:
        return 0
    return min(first(running(p) / p.sum(dtype=np.float64) >= g.f64(), len(p) - 1), len(p) - 1)


# ---- samplers: f(candidates, parameters, sequence)


def logit_bias(c, a, s):
    for token, bias in a["logit_bias"]:
        c.x[c.id == token] += F(-INF if bias is False else bias)
    c.sorted = False


def bans(c, a, s):
    for *before, last in a["bad_words_ids"]:
        if not before or s.history[-len(before):] == before:
            c.x[c.id == last] = -INF
    c.sorted = False


def repeated(factor, n):
    return factor  # once, however often the token occurs


def penalties(c, a, s):
    window = s.history[max(0, len(s.history) - a["repeat_last_n"]):]
    for token in set(window):
        at, n = c.id == token, window.count(token)
        x, r = c.x[at], repeated(F(a["repeat_penalty"]), n)
        c.x[at] = np.where(x <= 0, x * r, x / r) - (F(n) * F(a["frequency_penalty"]) + F(a["presence_penalty"]))
    c.sorted = False


def encoder_penalty(c, a, s):
    r = F(1) / F(a["encoder_repetition_penalty"])
    at = np.isin(c.id, s.prompt)
    if len(c) > 1:
        c.x[at] = np.where(c.x[at] < 0, c.x[at] * r, c.x[at] / r)
        c.sorted = False


def dry_length(h, k, limit):
    n = 0
    while k + n < len(h) and h[n] == h[k + n]:
        n += 1
    return min(n, limit)


def dry_exponent(n, allowed):
    return n - allowed


def dry_limit(h, breakers):
    """The number of tokens after the last breaker. h: the newest token first."""
    for i in range(len(h)):
        begin = [len(b) for b in breakers if i + 1 >= len(b) and h[i + 1 - len(b) : i + 1][::-1] == b]
        if begin:
            return i + 1 - max(begin)
    return len(h)


def dry(c, a, s):
    h, allowed = s.history[::-1][: a["dry_penalty_last_n"]], a["dry_allowed_length"]
    if len(h) <= allowed:
        return
    breakers = a["dry_breaker_tokens"]
    longest, limit = {}, dry_limit(h, breakers)
    if limit < allowed:
        return
    for k in range(1, len(h)):
        n = dry_length(h, k, limit)
        if n >= allowed and [h[k - 1]] not in breakers:
            longest[h[k - 1]] = max(n, longest.get(h[k - 1], 0))
    for token, n in longest.items():
        e = dry_exponent(n, allowed)
        if a["dry_base"] > 1.000001:
            most = int(88.7228391 / math.log(a["dry_base"]))
            e = min(e, most) if most > 0 else e
        c.x[c.id == token] -= F(a["dry_multiplier"] * float(F(a["dry_base"])) ** e)
    c.sorted = False


def no_repeat_ngram(c, a, s):
    n, h = a["no_repeat_ngram_size"], s.history
    if len(c) > 1:
        for i in range(len(h) - n + 1):
            if n == 1 or h[i : i + n - 1] == h[len(h) - n + 1 :]:
                c.x[c.id == h[i + n - 1]] = -INF
        c.sorted = c.sorted and len(h) < n


def top_n_sigma(c, a, s):
    x = c.x[c.x > -INF].astype(np.float64)
    with np.errstate(over="ignore"):
        deviation = np.sqrt(F(((x - x.mean()) ** 2).sum()) / F(len(x)))
    if len(c) > 1:
        c.x[c.x < c.x.max() - F(a["top_n_sigma"]) * deviation] = -INF


def min_k(c, a, s):
    c.sort()
    x = c.x[c.x > -INF]
    if len(c) < 2 or len(x) < 2:
        return cut(c, 1, a) if len(c) > 1 else None
    r = F(x[0] - x[-1]) + F(1e-8)
    w = (x[:-1] - x[1:]) / r / np.arange(1, len(x), dtype=F)
    t = a["min_k"] / r
    cut(c, max(1 + int(np.argmax(w)), min(math.ceil(t) - 1, len(x))), a)


def top_k(c, a, s):
    c.sort()
    c.keep(slice(0, a["top_k"]))


def top_a(c, a, s):
    if len(c) > 1:
        p = softmax(c, True)
        cut(c, first(p < F(a["top_a"]) * p[0] * p[0], len(c)), a)


def bends(p):
    d = np.abs((p[:-2] - p[1:-1]) - (p[1:-1] - p[2:]))
    return running(d / d.sum(dtype=np.float64) if d.sum() > 1e-6 else np.full(len(d), 1 / F(len(d))))


def tfs(c, a, s):
    if len(c) > 2:
        over = bends(softmax(c, True)) > a["tfs"]
        over[: least(c, a)] = False
        cut(c, first(over, len(c)), a)


def tfs_tg(c, a, s):
    if len(c) > 2:
        cut(c, first(bends(softmax(c, True)) > a["tfs"], len(c) - 2) + 1, a)


def typ_p(c, a, s):
    p = softmax(c, True)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = -np.log(p)
        score = np.abs(surprise - np.where(p > 0, p * surprise, 0).sum(dtype=np.float64).astype(F))
    by = np.argsort(score, kind="stable")
    enough = running(p[by]) > a["typical_p"]
    enough[: max(a["min_keep"] - 1, 0)] = False
    c.keep(by[: first(enough, len(c)) + 1])
    c.sorted = False


def top_p_kept(p, a):
    enough = running(p) >= a["top_p"]
    enough[: max(a["min_keep"] - 1, 0)] = False
    return first(enough, len(p)) + 1


def top_p(c, a, s):
    p = softmax(c, True)
    c.keep(slice(0, top_p_kept(p, a)))


def epsilon_cutoff(c, a, s):
    if len(c) > 1:
        drop(c, softmax(c), a["epsilon_cutoff"], a)


def eta_cutoff(c, a, s):
    if len(c) > 1:
        p, e = softmax(c), a["eta_cutoff"]
        entropy = -(p[p > 0] * np.log(p[p > 0])).sum(dtype=np.float64)
        drop(c, p, min(e, math.sqrt(e) * math.exp(-entropy)), a)


def min_p_stays(x, floor):
    return x >= floor


def min_p(c, a, s):
    n, floor = least(c, a), c.x.max() + F(math.log(a["min_p"]))
    stays = min_p_stays(c.x, floor)
    if c.sorted:
        c.keep(slice(0, max(n, int(stays.sum()))))
    elif stays.sum() >= n:
        c.keep(stays)
    else:
        cut(c, n, a)


def p_step(c, a, s):
    if len(c) > 1:
        p = softmax(c, True)
        cut(c, first(p[1:] < F(a["p_step"]) * p[:-1], len(c) - 1) + 1, a)


def xtc(c, a, s):
    if len(c) < 2 or s.generator("xtc").f32() > a["xtc_probability"]:
        return
    t = int((softmax(c, True) >= F(a["xtc_threshold"])).sum())
    if t > 1 and len(c) - (t - 1) >= a["min_keep"]:
        c.keep(slice(t - 1, None))


def class_of(text):
    """The class of a text in ASCII."""
    rest = text.lstrip()
    if not rest:
        return "space" if text else "other"
    if rest[0].isalpha():
        return "word" if rest == text else "space-word"
    if re.fullmatch(r"[0-9]+([.,][0-9]+)*", rest):
        return "number"
    return "other" if re.search(r"[0-9A-Za-z]", rest) else "punctuation"


def scatter_ranks(a, places, alike):
    w = np.exp(-(places**2) / (2 * a["scatter_radius"] ** 2))
    w[w.astype(F) == 0] = 0
    return w[np.abs(places[:, None] - places[None, :])] * alike


def scatter_near(a, vectors, alike):
    unit = vectors / np.sqrt((vectors**2).sum(axis=1))[:, None]
    d = np.where(alike, np.maximum(0, 1 - unit @ unit.T), INF)
    np.fill_diagonal(d, INF)
    near = np.argsort(d, axis=1, kind="stable")[:, : a["scatter_neighbours"]]
    near = [[j for j in js if d[i, j] < INF] for i, js in enumerate(near)]
    far = sorted(d[i, js[-1]] for i, js in enumerate(near) if js)
    sigma = a["scatter_sigma"] or (far[(len(far) - 1) // 2] if far else 0)
    kernel = np.eye(len(vectors))
    for i, js in enumerate(near if sigma else []):
        kernel[i, js] = np.exp(-d[i, js] ** 2 / (2 * sigma**2))
    return kernel


def scatter(c, a, s):
    if len(c) < 2 or (a["scatter_collision"] < 1 and s.generator("scatter").f32() > a["scatter_collision"]):
        return
    k = min(a["scatter_k"], int((c.x > -INF).sum()))
    if k < 2:
        return
    c.sort()
    c.keep(slice(0, k))
    p, rate, places = softmax(c).astype(np.float64), max(a["scatter_strength"], 0), np.arange(k)
    if a["scatter_adaptive"]:
        h = -(p[p > 0] * np.log(p[p > 0])).sum()
        low, high = a["scatter_strength_min"], a["scatter_strength_max"]
        rate = min(max(rate + (a["scatter_entropy_target"] - h / math.log(k)) * (high - low), low), high)
    classes = np.array([class_of(s.texts[t % len(s.texts)]) for t in c.id]) if a["scatter_classes"] else np.zeros(k, int)
    alike = classes[:, None] == classes[None, :]
    plain = s.vectors is None and alike.all()
    kernel = scatter_ranks(a, places, alike) if s.vectors is None else scatter_near(a, s.vectors[c.id], alike)
    for _ in range(a["scatter_steps"]):
        p = (1 - rate) * p + rate * (kernel @ p) / kernel.sum(axis=1)
        p = p / p.sum()
    for name in set(classes) if s.vectors is None else ():
        p[classes == name] = np.minimum.accumulate(p[classes == name])
    if not plain:
        p[0] = p.max()
        p = p / p.sum()
        by = np.argsort(-p, kind="stable")
        p = p[by]
        c.keep(by)
    if a["scatter_absorption"] > 0:
        window = s.history[max(0, len(s.history) - a["scatter_absorption_last_n"]):]
        p = p * np.exp(-a["scatter_absorption"] * np.array([window.count(i) for i in c.id]))
        by = np.argsort(-p, kind="stable")
        p = (p / p.sum())[by]
        c.keep(by)
    c.x = np.log(np.maximum(p, np.finfo(F).tiny)).astype(F)


def temperature(c, a, s):
    t, span = a["temperature"], a["dynatemp_range"]
    if span > 0:
        if len(c) < 2:
            return
        p = softmax(c, True)
        h = -(p[p > 0] * np.log(p[p > 0])).sum(dtype=np.float64)
        low, high = max(0, max(t, 0) - span), max(t, 0) + span
        t = low + (high - low) * (h / math.log(len(c))) ** a["dynatemp_exponent"]
    if t <= 0:
        c.x[np.arange(len(c)) != np.argmax(c.x)] = -INF
    else:
        c.x = c.x / F(t)


def smoothing(c, a, s):
    f, curve = F(a["smoothing_factor"]), F(a["smoothing_curve"])
    k, q, top, live = (3 - curve) / 2, (curve - 1) / 2, c.x.max(), c.x > -INF
    if len(c) < 2:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        d = c.x[live] - top
        x = -(k * f * d * d) + (q * f * d * d * d) + top
    c.x[live] = np.where(np.isnan(x), -INF, x)
    c.sorted = False


def top_h(c, a, s):
    if len(c) > 1:
        c.sort()
        c.keep(slice(0, 100))
        p = softmax(c)
        t = np.where(p > 0, -p * np.log(np.where(p > 0, p, 1)), 0)
        cut(c, first((p == 0) | (running(t) > a["top_h"] * t.sum(dtype=np.float64)), len(c)), a)


def p_less(c, a, s, norm=False):
    p, v = softmax(c).astype(np.float64), int((c.x > -INF).sum())
    total = p.sum()
    q = (p * p).sum() / (total * total)
    if len(c) > 1 and not (norm and v == 1):
        drop(c, p.astype(F), F((v * q - 1) / (v - 1) * total if norm else q * total), a)


def p_less_norm(c, a, s):
    p_less(c, a, s, True)


def skew(c, a, s):
    if len(c) < 2:
        return
    total = running(softmax(c, True))
    g = (total / total[-1]) ** math.exp(a["skew"])
    p = np.diff(g, prepend=0).astype(F)
    with np.errstate(divide="ignore"):
        c.x = np.where(p > 0, np.log(p), -INF).astype(F)
    c.sorted = False


# ---- selectors: f(candidates, parameters, sequence) returns the place of the token


def dist(c, a, s):
    w = weights(c.x, c.x.max()).astype(np.float64)
    c.p = w / w.sum()
    return min(first(running(w) >= w.sum() * s.generator("dist").f64(), len(c) - 1), len(c) - 1)


def greedy(c, a, s):
    at = int(np.argmax(c.x))
    c.p = (np.arange(len(c)) == at).astype(F)
    return at


def adaptive_p(c, a, s):
    target, decay = a["adaptive_target"], min(max(a["adaptive_decay"], 0), 0.99)
    v, n = s.state.get("adaptive_p", (target / (1 - decay), 1 / (1 - decay)))
    c.p = before = softmax(c)
    if target >= 0:
        d = np.abs((c.p - min(max(2 * min(target, 1) - v / n, 0), 1)) * F(1 / 0.3))
        c.x = np.where(c.x > -INF, 5 - 10 * d * d / (1 + d), c.x)
        c.p = softmax(c)
    at = discrete(c.p, s.generator("adaptive_p"))
    s.state["adaptive_p"] = float(before[at]) + decay * v, 1 + decay * n
    return at


def surprise(p):
    with np.errstate(divide="ignore"):
        return -np.log2(p)


def mirostat(c, a, s):
    tau, rate = a["mirostat_tau"], a["mirostat_eta"]
    mu, n_vocab, n = s.state.get("mu", 2 * tau), len(c), len(c)
    p = softmax(c, True)
    if a["mirostat"] == 1:
        c.p = p
        if n == 1:
            return 0
        with np.errstate(all="ignore"):
            i = np.arange(min(n, 100) - 1)
            t, b = np.log((i + 2) / (i + 1)), np.log(p[i] / p[i + 1])
            z = (t * b).sum() / (t * t).sum()
            k = ((z - 1) * 2.0**mu / (1 - float(n_vocab) ** -(z - 1))) ** (1 / z)
        c.keep(slice(0, int(k) if 1 <= k < 2**31 else 1))
    else:
        c.keep(slice(0, max(first(surprise(p) > mu, n), 1)))
    c.p = softmax(c)
    at = discrete(c.p, s.generator("mirostat"))
    s.state["mu"] = mu - rate * (float(surprise(c.p[at])) - tau)
    return at


# ---- stages of engines. All but those of sglang and akunu-gpu mask, so that the list stays the whole row


def softmax_wide(x):
    w = weights(x, x.max()).astype(np.float64)
    return (w / w.sum()).astype(F)


def top_k_ties(c, a, s):
    t = np.sort(c.x)[::-1][min(a["top_k"], len(c)) - 1]
    c.x[c.x < t] = -INF


def mask_rising(c, p, limit):
    by = np.lexsort((c.id, c.x))
    gone = running(p[by]).astype(F) <= limit
    gone[-1] = False
    c.x[by[gone]] = -INF


def top_p_rising(c, a, s):
    mask_rising(c, softmax_wide(c.x), F(1.0 - a["top_p"]))


def top_p_rising_f32(c, a, s):
    mask_rising(c, softmax_wide(c.x), F(1) - F(a["top_p"]))


def min_p_prob(c, a, s):
    p = softmax_wide(c.x)
    c.x[p < p.max() * F(a["min_p"])] = -INF


def min_p_masks(c, a, s):
    c.x[c.x < c.x.max() + F(math.log(F(a["min_p"])))] = -INF


def top_h_ties(c, a, s):
    best = order(c)[:100]
    p = softmax_wide(c.x[best])
    best, p = best[p > 0], p[p > 0]
    t = -p * np.log(p)
    stays = running(t).astype(F) <= F(F(t.sum(dtype=np.float64)) * F(a["top_h"]))
    stays[0] = True
    c.x[np.setdiff1d(np.arange(len(c)), best[stays])] = -INF


def softmax_cut(c, a, s):
    c.p = softmax_wide(c.x)
    s.cut = a["top_k"] > 0 or a["top_p"] < 1 or a["min_p"] > 0
    if s.cut:
        c.keep(np.lexsort((c.id, -c.p)))
        before = running(c.p).astype(F) - c.p
        stays = (c.p > 0) & (c.p >= c.p[0] * F(a["min_p"])) & (np.arange(len(c)) < (a["top_k"] if a["top_k"] > 0 else len(c)))
        if a["top_p"] < 1:
            stays &= before <= F(a["top_p"])
        c.keep(stays)


def round_f16(c, a, s):
    c.x = c.x.astype(np.float16).astype(F)
    c.x[c.x <= -65504] = -INF


def filters(c, a, s):
    """softmax_scaled, top_k_prob_all, min_p_cut and top_p_reach."""
    if a["top_k"] <= 0 and a["top_p"] >= 1 and a["min_p"] <= 0:
        return
    f = F(1) / F(a["temperature"])
    w = weights(c.x * f, c.x.max() * f)
    c.p = w * (F(1) / F(w.sum(dtype=np.float64)))
    c.keep(np.lexsort((c.id, -c.p))[: a["top_k"] if a["top_k"] > 0 else len(c)])
    if a["min_p"] > 0:
        c.keep(slice(0, first(c.p[1:] < c.p[0] * F(a["min_p"]), len(c)) + 1))
    if a["top_p"] < 1:
        c.keep(slice(0, first(running(c.p).astype(F) >= F(a["top_p"]), len(c)) + 1))


# ---- selectors of engines


def draw_exp(c, a, s):
    high, low = s.generator("draw_exp").words(2 * len(c)).reshape(-1, 2).T
    words = (high << np.uint64(32) | low) & np.uint64(2**53 - 1)
    q = -np.log1p(-words.astype(np.float64) * 2.0**-53)
    q = np.where(q == 0, np.finfo(F).smallest_subnormal, q).astype(F)
    c.p = softmax_wide(c.x)
    return int(np.argmax(c.p / q))


def newest(s):
    return len(s.history) - 1


def halves(n):
    return n & 0xFFFFFFFF, n >> 32 & 0xFFFFFFFF


def philox(counter, key):
    """Word 0 of Philox4x32-10 of arrays of counters."""
    word, low, by = [np.asarray(n, np.uint64) for n in counter], np.uint64(0xFFFFFFFF), np.uint64(32)
    for i in range(10):
        k = [np.uint64((key[0] + i * 0x9E3779B9) % 2**32), np.uint64((key[1] + i * 0xBB67AE85) % 2**32)]
        a, b = np.uint64(0xD2511F53) * word[0], np.uint64(0xCD9E8D57) * word[2]
        word = [b >> by ^ word[1] ^ k[0], b & low, a >> by ^ word[3] ^ k[1], a & low]
    return word[0]


def signed_magnitude(w):
    return np.where(w < 0, -w - 1, w)


def gumbel_philox(c, a, s):
    key = int(philox((*halves(newest(s)), 0, 0), halves(a["seed"])))
    w = philox((c.id, 0, 0, 0), (key, 0)).astype(np.uint32).view(np.int32).astype(np.int64)
    u = np.maximum(signed_magnitude(w).astype(F) * F(4.6566127342e-10), F(4.6566127342e-10))
    with np.errstate(divide="ignore"):
        g = -np.log((-np.log1p(-u.astype(np.float64))).astype(F).astype(np.float64)).astype(F)
    c.p = softmax_wide(c.x)
    return int(np.argmax(c.x + g))


def murmur(words):
    """MurmurHash3_x86_32 with seed 0 of four words; the last may be an array."""
    h, low = np.uint64(0), np.uint64(0xFFFFFFFF)

    def turned(n, by):
        return (n << np.uint64(by) | n >> np.uint64(32 - by)) & low
    for word in words:
        k = np.asarray(word, np.uint64) * np.uint64(0xCC9E2D51) & low
        h = turned(h ^ turned(k, 15) * np.uint64(0x1B873593) & low, 13) * np.uint64(5) + np.uint64(0xE6546B64) & low
    h = h ^ np.uint64(16)
    h = (h ^ h >> np.uint64(16)) * np.uint64(0x85EBCA6B) & low
    h = (h ^ h >> np.uint64(13)) * np.uint64(0xC2B2AE35) & low
    return h ^ h >> np.uint64(16)


def gumbel_murmur(c, a, s):
    column = np.arange(len(c)) if s.cut else c.id
    h = murmur([*halves(a["seed"]), newest(s) % 2**32, column]).astype(np.float64)
    with np.errstate(divide="ignore"):
        v = np.clip(np.log(h / 4294967295.0), -np.finfo(np.float64).max, -(2.0**-32))
        log_p = np.log(c.p.astype(np.float64)) if s.cut else np.log(c.p).astype(np.float64)
    noise = -np.log(-v)
    c.p = (c.p / c.p.sum(dtype=np.float64)).astype(F)
    return int(np.argmax(log_p + noise))


def gumbel_hash(counter):
    n, low = np.asarray(counter, np.uint64) & np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFF)
    n = n * np.uint64(747796405) + np.uint64(2891336453) & low
    w = ((n >> (n >> np.uint64(28)) + np.uint64(4)) ^ n) * np.uint64(277803737) & low
    return w >> np.uint64(22) ^ w


def ln(x):
    return np.log(x.astype(np.float64)).astype(F)


def gumbel(c, a, s):
    rows = len(s.history) - len(s.prompt)
    u = np.clip(gumbel_hash((rows + a["seed"]) * 2654435761 % 2**32 + c.id).astype(F) * F(2.0**-32), F(1e-7), F(1) - F(1e-7))
    y = (c.x + F(a["temperature"]) * -ln(-ln(u))).astype(np.float16)
    c.p = softmax_wide(c.x / F(a["temperature"]))
    return min(np.flatnonzero(y == y.max()), key=lambda i: c.id[i])


SELECTORS = {"dist": dist, "greedy": greedy, "adaptive_p": adaptive_p}
SAMPLERS = {f.__name__: f for f in (penalties, encoder_penalty, dry, no_repeat_ngram, top_n_sigma, min_k, top_k, top_a, tfs, tfs_tg, typ_p, top_p,
                                    epsilon_cutoff, eta_cutoff, min_p, p_step, xtc, scatter, temperature, smoothing, top_h, p_less, p_less_norm, skew)}


ENGINES = {
    "transformers": ([temperature, top_h_ties, top_k_ties, top_p_rising, min_p_prob], draw_exp),
    "vllm": ([temperature, min_p_prob, top_k_ties, top_p_rising_f32], draw_exp),
    "vllm-v2": ([temperature, min_p_masks, top_k_ties, top_p_rising_f32], gumbel_philox),
    "sglang": ([temperature, softmax_cut], gumbel_murmur),
    "akunu-gpu": ([round_f16, filters], gumbel),
}
# Stages of engines that a sampler's parameter switches off.
LIKE = {"top_h_ties": "top_h", "top_k_ties": "top_k", "top_p_rising": "top_p", "top_p_rising_f32": "top_p", "min_p_prob": "min_p",
        "min_p_masks": "min_p"}


class Sequence:
    def __init__(self, a, history):
        self.texts, self.vectors = None, None  # of the tokens, for scatter
        self.cut = False  # by softmax_cut
        self.seed, self.prompt, self.history, self.generators, self.state = a["seed"], list(history), list(history), {}, {}

    def generator(self, name):
        return self.generators.setdefault(name, Generator(self.seed))


def chain(a):
    if "engine" in a:
        return ENGINES[a["engine"]]
    names = [] if a["mirostat"] else list(a["samplers"])
    selector = next((SELECTORS[name] for name in names if name in SELECTORS), dist)
    stages = [SAMPLERS[name] for name in names if name not in SELECTORS]
    before = [f for f, name in ((logit_bias, "logit_bias"), (bans, "bad_words_ids")) if a[name]]
    return before + ([temperature] if a["mirostat"] else stages), mirostat if a["mirostat"] else selector


def off(f, a):
    """Does the parameter switch the stage off?"""
    return {"top_k": a["top_k"] <= 0, "top_p": a["top_p"] >= 1, "min_p": a["min_p"] <= 0, "typ_p": a["typical_p"] >= 1,
            "penalties": not a["repeat_last_n"] or (a["repeat_penalty"] == 1 and not a["frequency_penalty"] and not a["presence_penalty"]),
            "temperature": a["temperature"] == 1 and a["dynatemp_range"] <= 0, "dry": not a["dry_multiplier"] or not a["dry_penalty_last_n"],
            "xtc": a["xtc_probability"] <= 0 or a["xtc_threshold"] > 0.5, "top_n_sigma": a["top_n_sigma"] <= 0,
            "top_h": not a["top_h"]}.get(LIKE.get(f.__name__, f.__name__), False)


DEFAULTS = {"scatter_classes": False, "mirostat": 0, "logit_bias": [], "bad_words_ids": [], "min_keep": 0, "temperature": 1, "dynatemp_range": 0, "dynatemp_exponent": 1,
            "top_k": 0, "top_p": 1, "min_p": 0, "typical_p": 1, "top_n_sigma": -1, "xtc_probability": 0, "xtc_threshold": 0.1, "dry_multiplier": 0, "dry_breaker_tokens": [],
            "dry_penalty_last_n": 64, "repeat_last_n": 64, "repeat_penalty": 1, "frequency_penalty": 0, "presence_penalty": 0, "top_h": 0}


def logits(line):
    if "logits" in line:
        return [-INF if x is None else x for x in line["logits"]]
    return splitmix64(line["row"]["seed"], line["row"]["n"])


def splitmix64(seed, n):
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) * 2.0**-20 - 8


def answer(line):
    a = {**DEFAULTS, **line["params"], **({"engine": line["engine"]} if "engine" in line else {})}
    s = Sequence(a, line["history"])
    s.texts = line.get("texts")
    if "vectors" in line:
        n, width = len(logits(line)), line["vectors"]["width"]
        s.vectors = splitmix64(line["vectors"]["seed"], n * width).reshape(n, width)
    stages, select = chain(a)
    for _ in range(line["step"] + 1):
        c = List(logits(line))
        for f in stages:
            if not off(f, a):
                f(c, a, s)
        at = select(c, a, s)
        chosen = int(c.id[at])
        s.history.append(chosen)
    kept = (c.p > 0) if select is greedy else (c.x > -INF)
    return {"name": line["name"], "ids": c.id[kept].tolist(), "probs": c.p[kept].astype(F).tolist(), "id": chosen}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))))


if __name__ == "__main__":
    main()
