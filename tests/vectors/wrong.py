#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Wrong ports: wrong.py NAME is port.py with one mistake. wrong.py --list prints each name, and the files of samples/vectors that find it.
# wrong.py --found [NAME...] prints the names, and the files in which check.py finds the port wrong.
import ast
import os
import sys
import types

import numpy as np


def top_p_without_boundary():
    kept = port.top_p_kept
    port.top_p_kept = lambda p, a: max(kept(p, a) - 1, a["min_keep"], 1)


def top_p_above():
    port.top_p_kept = lambda p, a: max(port.first(port.running(p) > a["top_p"], len(p)) + 1, a["min_keep"])


def min_p_above():
    port.min_p_stays = lambda x, floor: x > floor


def top_k_unstable():
    def top_k(c, a, s):
        c.keep(np.lexsort((-c.id, -c.x))[: a["top_k"]])
        c.sorted = True
    port.SAMPLERS["top_k"] = top_k


def temperature_first():
    chain = port.chain
    def reordered(a):
        stages, select = chain(a)
        return sorted(stages, key=lambda f: f is not port.temperature), select
    port.chain = reordered


def softmax_overflow():
    def weights(x, top):
        with np.errstate(over="ignore"):
            return np.exp(x)
    port.weights = weights
    np.seterr(all="ignore")


def penalties_on_counts():
    port.repeated = lambda factor, n: factor**n


def dry_off_by_one():
    port.dry_exponent = lambda n, allowed: n - allowed + 1


def mirostat_natural():
    def surprise(p):
        with np.errstate(divide="ignore"):
            return -np.log(p)
    port.surprise = surprise


def dist_one_word():
    port.Generator.f64 = port.Generator.f32


def classes_ignored():
    port.class_of = lambda text: "one"


def neighbours_all():
    near = port.scatter_near
    port.scatter_near = lambda a, vectors, alike: near({**a, "scatter_neighbours": len(vectors)}, vectors, alike)


# Mistakes of one place: the function or table of port.py, text that stands there once, and what stands there instead.
EDITS = {
    "top_k_one_less": ("top_k", 'c.keep(slice(0, a["top_k"]))', 'c.keep(slice(0, max(a["top_k"] - 1, 1)))'),
    "top_p_without_min_keep": ("top_p_kept", 'enough[: max(a["min_keep"] - 1, 0)] = False\n    return first', "return first"),
    "min_p_of_the_sum": ("min_p", 'c.x.max() + F(math.log(a["min_p"]))', 'c.x.max() + F(math.log(a["min_p"] * softmax(c).max()))'),
    "min_p_without_min_keep": ("min_p", "elif stays.sum() >= n:", "elif True:"),
    "typ_p_at_least": ("typ_p", 'running(p[by]) > a["typical_p"]', 'running(p[by]) >= a["typical_p"]'),
    "typ_p_signed": ("typ_p", "score = np.abs(surprise -", "score = (surprise -"),
    "typ_p_by_rank": ("typ_p", 'by = np.argsort(score, kind="stable")', "by = np.arange(len(c))"),
    "top_n_sigma_sample": ("top_n_sigma", "/ F(len(x)))", "/ F(max(len(x) - 1, 1)))"),
    "top_n_sigma_of_mean": ("top_n_sigma", 'c.x.max() - F(a["top_n_sigma"])', 'x.mean() + F(a["top_n_sigma"])'),
    "top_a_linear": ("top_a", "* p[0] * p[0]", "* p[0]"),
    "tfs_first_difference": ("bends", "d = np.abs((p[:-2] - p[1:-1]) - (p[1:-1] - p[2:]))", "d = np.abs(p[:-2] - p[1:-1])"),
    "tfs_at_least": ("tfs", 'over = bends(softmax(c, True)) > a["tfs"]', 'over = bends(softmax(c, True)) >= a["tfs"] * 0.9'),
    "epsilon_above": ("drop", "stays = p >= t", "stays = p > t"),
    "eta_without_root": ("eta_cutoff", "math.sqrt(e) *", "e *"),
    "eta_in_bits": ("eta_cutoff", "(p[p > 0] * np.log(p[p > 0])).sum(dtype=np.float64)\n        drop", "(p[p > 0] * np.log2(p[p > 0])).sum(dtype=np.float64)\n        drop"),
    "xtc_above": ("xtc", ">= F(a[\"xtc_threshold\"])", "> F(a[\"xtc_threshold\"])"),
    "xtc_removes_all": ("xtc", "c.keep(slice(t - 1, None))", "c.keep(slice(min(t, len(c) - 1), None))"),
    "xtc_no_chance": ("xtc", 's.generator("xtc").f32() > a["xtc_probability"]', 'a["xtc_probability"] <= 0'),
    "p_step_equal": ("p_step", 'p[1:] < F(a["p_step"])', 'p[1:] <= F(a["p_step"])'),
    "p_less_cubed": ("p_less", "q = (p * p).sum()", "q = (p * p * p).sum()"),
    "top_h_in_place": ("top_h", "c.keep(slice(0, 100))", "c.keep(slice(0, 50))"),
    "min_k_one_less": ("min_k", "max(1 + int(np.argmax(w))", "max(int(np.argmax(w))"),
    "skew_inverse": ("skew", 'math.exp(a["skew"])', 'math.exp(-a["skew"])'),
    "smoothing_no_curve": ("smoothing", "k, q, top, live = (3 - curve) / 2, (curve - 1) / 2,", "k, q, top, live = 1, 0,"),
    "dynatemp_in_bits": ("temperature", "(h / math.log(len(c)))", "(h / math.log2(len(c)))"),
    "temperature_multiplies": ("temperature", "c.x = c.x / F(t)", "c.x = c.x * F(t)"),
    "presence_by_count": ("penalties", '+ F(a["presence_penalty"])', '+ F(n) * F(a["presence_penalty"])'),
    "repeat_always_divides": ("penalties", "np.where(x <= 0, x * r, x / r)", "x / r"),
    "penalties_on_all": ("penalties", 's.history[max(0, len(s.history) - a["repeat_last_n"]):]\n    for token in set', "s.history\n    for token in set"),
    "encoder_on_answers": ("encoder_penalty", "np.isin(c.id, s.prompt)", "np.isin(c.id, s.history[:1])"),
    "ngram_one_longer": ("no_repeat_ngram", "n, h = a[\"no_repeat_ngram_size\"], s.history", "n, h = a[\"no_repeat_ngram_size\"] + 1, s.history"),
    "dry_last_length": ("dry", "longest[h[k - 1]] = max(n, longest.get(h[k - 1], 0))", "longest[h[k - 1]] = n"),
    "dry_without_breakers": ("dry", "limit = {}, dry_limit(h, breakers)", "limit = {}, len(h)"),
    "dry_continues_with_breaker": ("dry", " and [h[k - 1]] not in breakers", ""),
    "dry_breaker_last_token": ("dry_limit", "return i + 1 - max(begin)", "return i"),
    "bias_last_counts": ("logit_bias", "c.x[c.id == token] += F(-INF if bias is False else bias)", "c.x[c.id == token] = c.start[c.id == token] + F(-INF if bias is False else bias)"),
    "bans_one_token": ("bans", "if not before or s.history[-len(before):] == before:", "if not before:"),
    "mirostat_wrong_way": ("mirostat", "mu - rate *", "mu + rate *"),
    "adaptive_without_decay": ("adaptive_p", "float(before[at]) + decay * v", "float(before[at]) + v"),
    "top_k_of_f16": ("top_k", "c.sort()\n    c.keep(slice(0, a[\"top_k\"]))", "c.keep(np.lexsort((c.id, -c.x.astype(np.float16)))[: a[\"top_k\"]])\n    c.sorted = True"),
    "top_p_tolerant": ("top_p_kept", 'enough = running(p) >= a["top_p"]', 'enough = running(p) >= a["top_p"] - 1e-6'),
    "epsilon_tolerant": ("drop", "stays = p >= t", "stays = p >= t - 1e-6"),
    "xtc_tolerant": ("xtc", ">= F(a[\"xtc_threshold\"])", ">= F(a[\"xtc_threshold\"] - 1e-6)"),
    "min_p_tolerant": ("min_p", 'c.x.max() + F(math.log(a["min_p"]))', 'c.x.max() + F(math.log(a["min_p"])) - F(1e-6)'),
    "greedy_of_f16": ("greedy", "at = int(np.argmax(c.x))", "at = int(np.argmax(c.x.astype(np.float16)))"),
    "greedy_last": ("greedy", "at = int(np.argmax(c.x))", "at = len(c) - 1 - int(np.argmax(c.x[::-1]))"),
    "scatter_one_step": ("scatter", 'for _ in range(a["scatter_steps"]):', "for _ in range(1):"),
    "scatter_without_absorption": ("scatter", 'if a["scatter_absorption"] > 0:', "if False:"),
    "p_step_f64": ("p_step", 'p[1:] < F(a["p_step"]) * p[:-1]', 'p[1:] < a["p_step"] * p[:-1].astype(np.float64)'),
    "top_a_f64": ("top_a", 'p < F(a["top_a"])', 'p.astype(np.float64) < np.float64(a["top_a"])'),
    "min_p_f64": ("min_p", 'c.x.max() + F(math.log(a["min_p"]))\n    stays = min_p_stays(c.x, floor)',
                  'float(c.x.max()) + math.log(a["min_p"])\n    stays = c.x.astype(np.float64) >= floor'),
    "top_h_at_least": ("top_h", 'running(t) > a["top_h"]', 'running(t) >= a["top_h"]'),
    "top_k_ties_k": ("top_k_ties", "c.x[c.x < t] = -INF", 'c.x[np.setdiff1d(np.arange(len(c)), order(c)[: a["top_k"]])] = -INF'),
    "top_k_ties_at_most": ("top_k_ties", "c.x[c.x < t] = -INF", "c.x[(c.x <= t) & (c.x < c.x.max())] = -INF"),
    "rising_below": ("mask_rising", "gone = running(p[by]).astype(F) <= limit", "gone = running(p[by]).astype(F) < limit"),
    "rising_lower_ids": ("mask_rising", "by = np.lexsort((c.id, c.x))", "by = np.lexsort((-c.id, c.x))"),
    "rising_sum_of_f64": ("mask_rising", "gone = running(p[by]).astype(F) <= limit", "gone = running(p[by]) <= limit"),
    "rising_keeps_ties": ("mask_rising", "c.x[by[gone]] = -INF", "c.x[c.x < c.x[by[~gone]].min()] = -INF"),
    "rising_limit_of_f32": ("top_p_rising", 'F(1.0 - a["top_p"])', '(F(1) - F(a["top_p"]))'),
    "rising_limit_of_f64": ("top_p_rising_f32", 'F(1) - F(a["top_p"])', 'F(1.0 - a["top_p"])'),
    "min_p_prob_at_most": ("min_p_prob", 'c.x[p < p.max() * F(a["min_p"])]', 'c.x[(p < p.max()) & (p <= p.max() * F(a["min_p"]))]'),
    "min_p_prob_f64": ("min_p_prob", 'p < p.max() * F(a["min_p"])', 'p.astype(np.float64) < float(p.max()) * a["min_p"]'),
    "top_h_ties_below": ("top_h_ties", "stays = running(t).astype(F) <= F(F", "stays = running(t).astype(F) < F(F"),
    "top_h_ties_of_all": ("top_h_ties", "p = softmax_wide(c.x[best])", "p = softmax_wide(c.x)[best]"),
    "vllm_top_p_of_all": ("top_p_rising_f32", "mask_rising(c, softmax_wide(c.x), F(1) -", "mask_rising(c, softmax_wide(c.start / F(a[\"temperature\"])), F(1) -"),
    "vllm_min_p_last": ("ENGINES", '"vllm": ([temperature, min_p_prob, top_k_ties, top_p_rising_f32]', '"vllm": ([temperature, top_k_ties, top_p_rising_f32, min_p_prob]'),
    "cut_below": ("softmax_cut", 'stays &= before <= F(a["top_p"])', 'stays &= before < F(a["top_p"])'),
    "cut_of_rest": ("softmax_cut", "before = running(c.p).astype(F) - c.p",
                    'q = c.p / c.p[: a["top_k"] if a["top_k"] > 0 else len(c)].sum()\n        before = running(q).astype(F) - q'),
    "cut_min_p_above": ("softmax_cut", "(c.p >= c.p[0] * F(a[\"min_p\"]))", "(c.p > c.p[0] * F(a[\"min_p\"]))"),
    "cut_min_p_f64": ("softmax_cut", '(c.p >= c.p[0] * F(a["min_p"]))', '(c.p.astype(np.float64) >= float(c.p[0]) * a["min_p"])'),
    "cut_ties_turned": ("softmax_cut", "c.keep(np.lexsort((c.id, -c.p)))", "c.keep(np.lexsort((-c.id, -c.p)))"),
    "cut_keeps_zero": ("softmax_cut", "stays = (c.p > 0) & ", "stays = "),
    "exp_low_word_first": ("draw_exp", "(high << np.uint64(32) | low)", "(low << np.uint64(32) | high)"),
    "exp_of_candidates": ("draw_exp", "reshape(-1, 2).T", "reshape(-1, 2)[np.maximum(np.cumsum(c.x > -INF) - 1, 0)].T"),
    "gumbel_sum_of_f32": ("gumbel", "* -ln(-ln(u))).astype(np.float16)", "* -ln(-ln(u)))"),
    "gumbel_last": ("gumbel", "min(np.flatnonzero(y == y.max())", "max(np.flatnonzero(y == y.max())"),
    "gumbel_no_rows": ("gumbel", '(rows + a["seed"]) * 2654435761', 'a["seed"] * 2654435761'),
    "gumbel_without_temperature": ("gumbel", 'y = (c.x + F(a["temperature"]) * -ln', "y = (c.x - ln"),
    "philox_last": ("gumbel_philox", "return int(np.argmax(c.x + g))", "return len(c) - 1 - int(np.argmax((c.x + g)[::-1]))"),
    "philox_unsigned": ("signed_magnitude", "np.where(w < 0, -w - 1, w)", "(w & 0xFFFFFFFF) / 2"),
    "noise_of_answers": ("newest", "return len(s.history) - 1", "return len(s.history) - len(s.prompt)"),
    "philox_short_seed": ("gumbel_philox", 'halves(a["seed"])))', 'halves(a["seed"] & 0xFFFFFFFF)))'),
    "min_p_masks_at_most": ("min_p_masks", 'c.x[c.x < c.x.max() + F', 'c.x[c.x <= c.x.max() + F'),
    "akunu_top_p_above": ("filters", 'running(c.p).astype(F) >= F(a["top_p"])', 'running(c.p).astype(F) > F(a["top_p"])'),
    "akunu_min_p_above": ("filters", 'c.p[1:] < c.p[0] * F(a["min_p"])', 'c.p[1:] <= c.p[0] * F(a["min_p"])'),
    "murmur_short_seed": ("gumbel_murmur", 'murmur([*halves(a["seed"])', 'murmur([*halves(a["seed"] & 0xFFFFFFFF)'),
    "murmur_of_ids": ("gumbel_murmur", "np.arange(len(c)) if s.cut else c.id", "c.id"),
    "murmur_by_rank": ("gumbel_murmur", "np.arange(len(c)) if s.cut else c.id", "np.argsort(order(c))"),
}

# The files that find each mistake: those of the sampler, and the chains that have it. A selector's mistake is found by every file.
FOUND = {
    "top_p_without_boundary": "chains top_p",
    "top_p_above": "top_p",
    "min_p_above": "min_p",
    "top_k_unstable": "chains top_k",
    "temperature_first": "chains",
    "softmax_overflow": "",
    "penalties_on_counts": "chains penalties",
    "dry_off_by_one": "chains dry",
    "classes_ignored": "scatter_classes scatter_embeddings",
    "neighbours_all": "scatter_embeddings",
    "mirostat_natural": "mirostat mirostat_v2",
    "dist_one_word": "",
    "top_k_one_less": "chains top_k",
    "top_p_without_min_keep": "top_p",
    "min_p_of_the_sum": "chains min_p",
    "min_p_without_min_keep": "min_p",
    "typ_p_at_least": "typ_p",
    "typ_p_signed": "chains typ_p",
    "typ_p_by_rank": "chains typ_p",
    "top_n_sigma_sample": "chains top_n_sigma",
    "top_n_sigma_of_mean": "chains top_n_sigma",
    "top_a_linear": "top_a",
    "tfs_first_difference": "tfs tfs_tg",
    "tfs_at_least": "tfs",
    "epsilon_above": "epsilon_cutoff p_less",
    "eta_without_root": "eta_cutoff",
    "eta_in_bits": "eta_cutoff",
    "xtc_above": "xtc",
    "xtc_removes_all": "chains xtc",
    "xtc_no_chance": "xtc",
    "p_step_equal": "p_step",
    "p_less_cubed": "p_less p_less_norm",
    "top_h_in_place": "top_h",
    "min_k_one_less": "min_k",
    "skew_inverse": "skew",
    "smoothing_no_curve": "smoothing",
    "dynatemp_in_bits": "chains temperature",
    "temperature_multiplies": "chains gumbel_murmur gumbel_philox min_p_prob softmax_cut temperature top_h_ties top_k_ties top_p_rising "
                              "top_p_rising_f32 vllm",
    "presence_by_count": "penalties",
    "repeat_always_divides": "chains penalties",
    "penalties_on_all": "penalties",
    "encoder_on_answers": "encoder_penalty",
    "ngram_one_longer": "no_repeat_ngram",
    "dry_last_length": "dry",
    "dry_without_breakers": "dry",
    "dry_continues_with_breaker": "dry",
    "dry_breaker_last_token": "dry",
    "bias_last_counts": "logit_bias",
    "bans_one_token": "bans",
    "mirostat_wrong_way": "mirostat mirostat_v2",
    "adaptive_without_decay": "adaptive_p",
    "top_k_of_f16": "chains top_k",
    "top_p_tolerant": "top_p",
    "epsilon_tolerant": "epsilon_cutoff p_less p_less_norm",
    "xtc_tolerant": "xtc",
    "min_p_tolerant": "min_p",
    "greedy_of_f16": "greedy",
    "greedy_last": "greedy",
    "scatter_one_step": "scatter scatter_classes scatter_embeddings",
    "scatter_without_absorption": "scatter",
    "p_step_f64": "p_step",
    "top_a_f64": "top_a",
    "min_p_f64": "min_p",
    "top_h_at_least": "top_h",
    "top_k_ties_k": "gumbel_philox top_k_ties vllm",
    "top_k_ties_at_most": "gumbel_philox top_k_ties vllm",
    "rising_below": "top_p_rising top_p_rising_f32 vllm",
    "rising_lower_ids": "top_p_rising top_p_rising_f32 vllm",
    "rising_sum_of_f64": "top_p_rising top_p_rising_f32",
    "rising_keeps_ties": "top_p_rising top_p_rising_f32 vllm",
    "rising_limit_of_f32": "top_p_rising",
    "rising_limit_of_f64": "top_p_rising_f32",
    "min_p_prob_at_most": "min_p_prob",
    "min_p_prob_f64": "min_p_prob",
    "top_h_ties_below": "top_h_ties",
    "top_h_ties_of_all": "top_h_ties",
    "vllm_top_p_of_all": "gumbel_philox vllm",
    "vllm_min_p_last": "vllm",
    "cut_below": "softmax_cut",
    "cut_of_rest": "gumbel_murmur softmax_cut",
    "cut_min_p_above": "softmax_cut",
    "cut_min_p_f64": "softmax_cut",
    "cut_ties_turned": "gumbel_murmur softmax_cut",
    "cut_keeps_zero": "softmax_cut",
    "exp_low_word_first": "min_p_prob top_h_ties top_k_ties top_p_rising top_p_rising_f32 vllm",
    "exp_of_candidates": "min_p_prob top_h_ties top_k_ties top_p_rising top_p_rising_f32 vllm",
    "gumbel_sum_of_f32": "gumbel",
    "gumbel_last": "gumbel",
    "gumbel_no_rows": "gumbel",
    "gumbel_without_temperature": "gumbel",
    "philox_last": "gumbel_philox",
    "philox_unsigned": "gumbel_philox",
    "noise_of_answers": "gumbel_murmur gumbel_philox softmax_cut",
    "philox_short_seed": "gumbel_philox",
    "min_p_masks_at_most": "gumbel_philox",
    "akunu_top_p_above": "gumbel",
    "akunu_min_p_above": "gumbel",
    "murmur_short_seed": "gumbel_murmur",
    "murmur_of_ids": "gumbel_murmur softmax_cut",
    "murmur_by_rank": "gumbel_murmur",
}

functions = (top_p_without_boundary, top_p_above, min_p_above, top_k_unstable, temperature_first, softmax_overflow, penalties_on_counts,
             dry_off_by_one, classes_ignored, neighbours_all, mirostat_natural, dist_one_word)



def edited(text, place, old, new):
    """Returns port.py's text with `old` replaced in the function, class or table `place` of its top level. Other places may have the same text."""
    own = [part for part in ast.parse(text).body if place in (getattr(part, "name", None), *(getattr(x, "id", None) for x in getattr(part, "targets", ())))]
    assert len(own) == 1, f"port.py has {len(own)} {place}"
    lines = text.splitlines(keepends=True)
    before, part, after = (lines[i:j] for i, j in ((0, own[0].lineno - 1), (own[0].lineno - 1, own[0].end_lineno), (own[0].end_lineno, None)))
    part = "".join(part)
    assert part.count(old) == 1, f"{place} of port.py has {part.count(old)} times: {old}"
    return "".join((*before, part.replace(old, new), *after))


def wrong_port(name):
    """Returns a new module: port.py with this mistake; without a name, the right port. The functions above change the module `port`."""
    global port
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "port.py"), encoding="utf-8") as file:
        text = file.read()
    if name in EDITS:
        text = edited(text, *EDITS[name])
    port = types.ModuleType("port")
    exec(compile(text, "port.py", "exec"), port.__dict__)
    for f in functions:
        if f.__name__ == name:
            f()
    return port


def codes(module):
    """The code of each function of a port, by its name."""
    return {name: f.__code__ for name, f in vars(module).items() if isinstance(f, types.FunctionType)}


def called(module, line):
    """The names of the functions that answer a line."""
    names = set()
    sys.setprofile(lambda frame, event, _: names.add(frame.f_code.co_name) if event == "call" and frame.f_code.co_filename == "port.py" else None)
    module.answer(line)
    sys.setprofile(None)
    return names


def found(names):
    """Prints each name, and the files with wrong lines. If a mistake changes functions, the lines that call none of them keep their answers."""
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/vectors"))
    from check import fault, vectors
    lines = [line for line in vectors() if not line["edge"]]
    right = wrong_port(None)
    own, calls = codes(right), [called(right, line) for line in lines]
    for name in names:
        with np.errstate():
            module = wrong_port(name)
            changed = {f for f, code in codes(module).items() if code != own[f]}
            files = set()
            for line, used in zip(lines, calls):
                file = line["name"].split("/")[0]
                if file not in files and (not changed or changed & used) and fault(line, module.answer(line)):
                    files.add(file)
        print(name, *sorted(files))


mistakes = [*(f.__name__ for f in functions), *EDITS]
if sys.argv[1] == "--list":
    for mistake in mistakes:
        print(mistake, FOUND[mistake])
elif sys.argv[1] == "--found":
    found(sys.argv[2:] or mistakes)
else:
    wrong_port(sys.argv[1]).main()
