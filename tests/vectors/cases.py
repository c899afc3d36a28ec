# SPDX-License-Identifier: MIT
# The cases of samples/vectors. Each case: name FILE/CASE, why, row, params, history, step, edge (None: make.py finds it out).

import struct

MASKED = None
# Parameters that a computed number is compared with.
LIMITS = {"top_p", "min_p", "typical_p", "top_a", "tfs", "p_step", "top_h", "min_k", "epsilon_cutoff", "eta_cutoff", "top_n_sigma",
          "xtc_threshold", "mirostat_tau"}


def generated(n, seed=1):
    return ("generated", seed, n)


# Rows that every sampler gets, with the reason.
ROWS = {
    "ordinary": (generated(1000), "1000 generated logits"),
    "another": (generated(1000, 2), "another 1000 generated logits"),
    "wide": (generated(32000, 3), "32000 generated logits: sums of many small weights"),
    "one": ([0.5], "one candidate"),
    "two": ([1.0, 2.0], "two candidates, the likeliest last"),
    "three": ([2.0, 0.5, 1.0], "three candidates"),
    "ties": ([1.0, 3.0, 3.0, 2.0, 3.0, 2.0, 1.0, -1.0], "equal logits: the lower id ranks first"),
    "flat": ([0.25] * 8, "all candidates are equally likely"),
    "one-hot": ([0.0, 0.0, 30.0, 0.0, 0.0], "one candidate has nearly everything"),
    "two-level": ([1.0, -3.0] * 6, "six equal candidates, and six unlikely ones"),
    "masked": ([MASKED, 1.5, MASKED, 2.25, -0.5, MASKED, 0.75], "masked tokens have probability 0 and never come back"),
    "denormal": ([0.0, -95.0, -100.0, -103.0, -104.0, -120.0], "weights that are denormal in f32, or 0"),
    "huge": ([1e30, -1e30, 5e29, 1e30, 0.0], "logits of 1e30: subtract the largest before exp"),
    "high": ([1001.0, 1000.0, 998.5, 1000.5, 990.0], "logits near 1000: exp without the largest subtracted overflows"),
}
PLAIN = ("ordinary", "another", "wide", "one", "two", "three", "ties", "flat", "one-hot", "two-level", "masked", "denormal", "huge", "high")

# The parameters of each sampler's cases: the values of all rows, and more values for the ordinary row.
KEEP = {"min_keep": 0}
SAMPLERS = {
    "top_k": [{"top_k": 3}, {"top_k": 40}, {"top_k": 1}, {"top_k": 2000}],
    "top_p": [{"top_p": 0.9, **KEEP}, {"top_p": 0.5, **KEEP}, {"top_p": 0.01, **KEEP}, {"top_p": 0.5, "min_keep": 300}],
    "min_p": [{"min_p": 0.05, **KEEP}, {"min_p": 0.5, **KEEP}, {"min_p": 0.9, "min_keep": 20}],
    "typ_p": [{"typical_p": 0.7, **KEEP}, {"typical_p": 0.2, **KEEP}, {"typical_p": 0.2, "min_keep": 400}],
    "top_n_sigma": [{"top_n_sigma": 1.0}, {"top_n_sigma": 0.2}, {"top_n_sigma": 3.0}],
    "top_a": [{"top_a": 0.4, **KEEP}, {"top_a": 1.0, **KEEP}, {"top_a": 1.0, "min_keep": 5}],
    "tfs": [{"tfs": 0.9, **KEEP}, {"tfs": 0.3, **KEEP}, {"tfs": 0.1, "min_keep": 7}],
    "tfs_tg": [{"tfs": 0.9, **KEEP}, {"tfs": 0.3, **KEEP}, {"tfs": 0.1, "min_keep": 7}],
    "epsilon_cutoff": [{"epsilon_cutoff": 0.004, **KEEP}, {"epsilon_cutoff": 0.1, **KEEP}, {"epsilon_cutoff": 0.1, "min_keep": 9}],
    "eta_cutoff": [{"eta_cutoff": 0.01, **KEEP}, {"eta_cutoff": 0.3, **KEEP}, {"eta_cutoff": 0.3, "min_keep": 400}],
    "p_step": [{"p_step": 0.7, **KEEP}, {"p_step": 0.95, **KEEP}, {"p_step": 0.99, "min_keep": 12}],
    "min_k": [{"min_k": 3.0, **KEEP}, {"min_k": 0.0, **KEEP}, {"min_k": 50.0, **KEEP}, {"min_k": 0.0, "min_keep": 6}],
    "top_h": [{"top_h": 0.4, **KEEP}, {"top_h": 0.9, **KEEP}, {"top_h": 0.1, "min_keep": 30}],
    "p_less": [{**KEEP}, {"min_keep": 500}],
    "p_less_norm": [{**KEEP}, {"min_keep": 500}],
    "smoothing": [{"smoothing_factor": 0.25, "smoothing_curve": 1.0}, {"smoothing_factor": 0.1, "smoothing_curve": 2.5}],
    "skew": [{"skew": 0.5}, {"skew": -0.7}],
    "temperature": [{"temperature": 0.7, "dynatemp_range": 0.0, "dynatemp_exponent": 1.0},
                    {"temperature": 2.5, "dynatemp_range": 0.0, "dynatemp_exponent": 1.0},
                    {"temperature": 0.0, "dynatemp_range": 0.0, "dynatemp_exponent": 1.0},
                    {"temperature": 1.0, "dynatemp_range": 0.5, "dynatemp_exponent": 1.0},
                    {"temperature": 0.8, "dynatemp_range": 1.5, "dynatemp_exponent": 0.5}],
    "xtc": [{"xtc_probability": 1.0, "xtc_threshold": 0.01, **KEEP}, {"xtc_probability": 0.5, "xtc_threshold": 0.01, **KEEP},
            {"xtc_probability": 1.0, "xtc_threshold": 0.01, "min_keep": 999}],
    "scatter": [dict(scatter_k=64, scatter_strength=0.6, scatter_radius=2.5, scatter_steps=1, scatter_adaptive=False, scatter_collision=1.0,
                     scatter_absorption=0.0),
                dict(scatter_k=20, scatter_strength=0.4, scatter_radius=1.0, scatter_steps=3, scatter_adaptive=False, scatter_collision=1.0,
                     scatter_absorption=0.0),
                dict(scatter_k=64, scatter_strength=0.1, scatter_radius=2.5, scatter_steps=1, scatter_adaptive=True, scatter_strength_min=0.02,
                     scatter_strength_max=0.3, scatter_entropy_target=0.55, scatter_collision=1.0, scatter_absorption=0.0),
                dict(scatter_k=64, scatter_strength=0.6, scatter_radius=2.5, scatter_steps=1, scatter_adaptive=False, scatter_collision=0.5,
                     scatter_absorption=0.0)],
    "penalties": [dict(repeat_penalty=1.3, frequency_penalty=0.0, presence_penalty=0.0, repeat_last_n=64),
                  dict(repeat_penalty=1.0, frequency_penalty=0.4, presence_penalty=0.0, repeat_last_n=64),
                  dict(repeat_penalty=1.0, frequency_penalty=0.0, presence_penalty=0.7, repeat_last_n=64),
                  dict(repeat_penalty=1.5, frequency_penalty=0.2, presence_penalty=-0.3, repeat_last_n=3)],
    "encoder_penalty": [{"encoder_repetition_penalty": 1.4}, {"encoder_repetition_penalty": 0.6}],
    "dry": [dict(dry_multiplier=0.8, dry_base=1.75, dry_allowed_length=2, dry_penalty_last_n=64),
            dict(dry_multiplier=2.0, dry_base=1.1, dry_allowed_length=0, dry_penalty_last_n=64),
            dict(dry_multiplier=1.0, dry_base=1.0, dry_allowed_length=1, dry_penalty_last_n=6)],
    "no_repeat_ngram": [{"no_repeat_ngram_size": 2}, {"no_repeat_ngram_size": 1}, {"no_repeat_ngram_size": 4}],
    "dist": [{}],
    "greedy": [{}],
    "adaptive_p": [{"adaptive_target": 0.3, "adaptive_decay": 0.9}, {"adaptive_target": -1.0, "adaptive_decay": 0.9},
                   {"adaptive_target": 0.05, "adaptive_decay": 0.0}],
    "mirostat": [{"mirostat": 1, "mirostat_tau": 5.0, "mirostat_eta": 0.1}, {"mirostat": 1, "mirostat_tau": 2.0, "mirostat_eta": 0.5}],
    "mirostat_v2": [{"mirostat": 2, "mirostat_tau": 5.0, "mirostat_eta": 0.1}, {"mirostat": 2, "mirostat_tau": 2.0, "mirostat_eta": 0.5}],
    "logit_bias": [{"logit_bias": [[1, 1.5], [0, -0.75], [1, 0.25]]}, {"logit_bias": [[4, False], [0, 2.0]]}],
    "bans": [{"bad_words_ids": [[3], [0, 1, 2], [2, 1, 0]]}, {"bad_words_ids": [[1, 4], [2, 1, 5]]}],
}
# A text that repeats itself, for samplers that look back.
TEXT = [1, 2, 0, 1, 2, 3, 1, 2, 0, 4, 1, 2, 0, 1]
LOOKS_BACK = {"penalties", "encoder_penalty", "dry", "no_repeat_ngram", "bans"}
NEEDS_WIDTH = {"logit_bias": 5, "bans": 6}  # tokens that the parameters name
HISTORIES = {"none": [], "short": [2], "repeat": [0, 1, 0, 1, 0, 1], "far": [0, 2] + [1] * 70, "twice": [3, 0, 2, 3, 0, 2, 3, 0]}


def params_of(sampler, more, seed):
    params = {"seed": seed}
    if sampler not in ("mirostat", "mirostat_v2"):
        params["samplers"] = [] if sampler in ("dist", "logit_bias", "bans") else [sampler]
    else:
        params.update(temperature=1.0, dynatemp_range=0.0)
    return {**params, **more}


def case(name, why, row, params, history=(), step=0, edge=None, **medium):
    """medium: the texts or the vectors of the tokens, for scatter."""
    return dict(name=name, why=why, row=row, params=params, history=list(history), step=step, edge=edge, **medium)


def width(row):
    return row[2] if row[0] == "generated" else len(row)


def battery(sampler):
    """The rows that every sampler gets, and the ordinary row with the other values."""
    sets, history = SAMPLERS[sampler], TEXT if sampler in LOOKS_BACK else []
    for number, row in enumerate(PLAIN):
        logits, why = ROWS[row]
        inside = [token for token in history[: 14 if width(logits) > 3 else 2] if token < width(logits)]
        if width(logits) >= NEEDS_WIDTH.get(sampler, 1):
            overflow = True if (sampler, row) == ("top_n_sigma", "huge") else None  # of squares, in f32 only
            yield case(f"{sampler}/{row}", why, logits, params_of(sampler, sets[0], number + 1), inside, edge=overflow)
    for number, more in enumerate(sets[1:], 1):
        yield case(f"{sampler}/values-{number}", "other values", generated(1000, 9), params_of(sampler, more, number + 7), history)
        yield case(f"{sampler}/ties-{number}", "other values, equal logits", ROWS["ties"][0], params_of(sampler, more, number + 20),
                   [t for t in history if t < 8])


def exact():
    """Limits that are met exactly, in every precision: the comparison itself is tested."""
    def one(sampler, name, why, row, **more):
        return case(f"{sampler}/{name}", why, row, params_of(sampler, {**SAMPLERS[sampler][0], **more}, 4), edge=False)
    yield one("top_p", "reached", "4 equal candidates, P 0.5: the sum reaches P exactly at the second, which stays", [0.0] * 4, top_p=0.5)
    yield one("top_p", "reached-of-8", "8 equal candidates, P 0.75: six stay", [1.0] * 8, top_p=0.75)
    yield one("top_p", "zero", "P 0 keeps one", [1.0, 2.0, 3.0], top_p=0.0)
    yield one("min_p", "equal", "P 1 keeps what equals the largest: >=, not >", [2.0, 1.0, 2.0, 2.0, 0.0], min_p=1.0)
    yield one("min_p", "equal-two", "P 1, two equal candidates behind a lesser one", [0.5, 2.0, 2.0], min_p=1.0)
    yield one("typ_p", "reached", "4 equal candidates, P 0.5: the sum must be above P, so that three stay", [0.0] * 4, typical_p=0.5)
    yield one("top_k", "ties-across", "the cut lies among equal logits: the lower ids stay", [1.0, 2.0, 2.0, 2.0, 2.0, 0.0], top_k=2)
    yield one("top_k", "ties-first", "all equal: ids 0, 1 and 2 stay", [7.0] * 300, top_k=3)
    yield one("top_k", "masked-kept", "masked candidates fill up the k, but are not drawn", [1.0, MASKED, MASKED, 2.0], top_k=3)
    yield one("epsilon_cutoff", "equal", "p is E exactly: it stays", [0.0] * 4, epsilon_cutoff=0.25)
    yield one("p_step", "equal", "S 1 keeps those that equal the likeliest", [1.0, 3.0, 3.0, 2.0], p_step=1.0)
    yield one("top_n_sigma", "equal", "one deviation below the largest: x < limit is removed, x at it stays", [3.0, 1.0, 3.0, 1.0], top_n_sigma=2.0)
    yield one("xtc", "equal", "p is the threshold exactly: it counts, and all top choices but the last go", [0.0] * 4, xtc_threshold=0.25)
    yield one("xtc", "single", "one top choice stays", [5.0, 0.0, 0.0], xtc_threshold=0.25)
    yield one("xtc", "above-half", "a threshold above 0.5 switches it off", [5.0, 0.0, 0.0], xtc_threshold=0.6)
    yield one("temperature", "negative-zero", "+0 and -0 are equal: the first stays at temperature 0", [-0.0, 0.0, -1.0], temperature=0.0)
    yield one("greedy", "ties-last", "the first of equal largest logits", [1.0, 4.0, 4.0, 4.0])
    yield one("top_p", "inexact", "10 equal candidates, P 0.9: rounding decides whether nine or ten stay", [0.0] * 10, top_p=0.9) | {"edge": True}


def ulp(x, n):
    """The f32 number n places from x > 0."""
    return struct.unpack("f", struct.pack("i", struct.unpack("i", struct.pack("f", x))[0] + n))[0]


# Logits whose weights are exact in f32: 1 and 1/2; 1, 7/8 and 7/8.
HALF = [0.0, -0.6931472]
SEVEN_EIGHTHS = [0.0, -0.13353139, -0.13353139]
MIN_P_SUM = 5.6974149  # 8 + ln 0.1


def boundaries():
    """Rows on a limit, one ulp below and one ulp above, where every sum is exact: a wrong comparison fails."""
    def three(sampler, name, why, row, parameter, limit, **more):
        for n, where in ((-1, "below"), (0, "at"), (1, "above")):
            yield case(f"{sampler}/{name}-{where}", f"{why}; the limit is {('one ulp ' + where) if n else 'met'}", row,
                       params_of(sampler, {**SAMPLERS[sampler][0], **more, parameter: ulp(limit, n)}, 5), edge=False)
    yield from three("top_p", "half", "4 equal candidates, P about 0.5", [0.0] * 4, "top_p", 0.5)
    yield from three("top_p", "quarter", "8 equal candidates, P about 0.25", [2.0] * 8, "top_p", 0.25)
    yield from three("typ_p", "half", "4 equal candidates, P about 0.5: the sum must be above", [0.0] * 4, "typical_p", 0.5)
    yield from three("epsilon_cutoff", "quarter", "4 equal candidates, E about 0.25", [0.0] * 4, "epsilon_cutoff", 0.25)
    yield from three("xtc", "quarter", "4 equal candidates, threshold about 0.25", [0.0] * 4, "xtc_threshold", 0.25)
    yield from three("top_n_sigma", "two", "candidates 2 below the largest, whose deviation is 1", [3.0, 1.0, 3.0, 1.0], "top_n_sigma", 2.0)
    yield from three("top_h", "half", "4 equal candidates, H about 0.5: two have half of the entropy", [0.0] * 4, "top_h", 0.5)
    yield from three("top_h", "three-quarters", "8 equal candidates, H about 0.75", [1.0] * 8, "top_h", 0.75)
    yield from three("p_step", "product", "p[1] is S * p[0], rounded to f32; S * p[0] in f64 is more", SEVEN_EIGHTHS, "p_step", 0.875)
    yield from three("top_a", "product", "p[1] is A * p[0] * p[0], rounded to f32; the product in f64 is more", HALF, "top_a", 0.75)
    for n, where in ((-1, "below"), (0, "at"), (1, "above")):
        yield case(f"min_p/sum-{where}", "a logit is max + ln P, rounded to f32; the sum in f64 is more", [8.0, ulp(MIN_P_SUM, n), 0.0],
                   params_of("min_p", {"min_p": 0.1, **KEEP}, 5), edge=False)
        yield case(f"top_k/ulp-{where}", "the cut lies between logits that differ by an ulp at most", [1.0, ulp(1.0, n), 2.0],
                   params_of("top_k", {"top_k": 2}, 5), edge=False)
        yield case(f"min_p/one-{where}", "P 1 keeps what equals the largest, and nothing an ulp below", [ulp(1.0, n), 1.0, 0.0],
                   params_of("min_p", {"min_p": 1.0, **KEEP}, 5), edge=False)
        yield case(f"p_step/one-{where}", "S 1: a candidate an ulp below the next likelier one may be as likely in f32", [ulp(8.0, 4 * n), 8.0, 0.0],
                   params_of("p_step", {"p_step": 1.0, **KEEP}, 5), edge=False)
        yield case(f"greedy/ulp-{where}", "logits that differ by an ulp at most", [1.0, ulp(1.0, n), 0.0], params_of("greedy", {}, 5), edge=False)


def histories():
    for sampler in ("penalties", "dry", "no_repeat_ngram", "encoder_penalty"):
        for number, more in enumerate(SAMPLERS[sampler]):
            for name, tokens in HISTORIES.items():
                yield case(f"{sampler}/history-{name}-{number}", "history " + name, [0.5, -1.0, 2.0, 0.0, -0.25, 1.25],
                           params_of(sampler, more, number + 31), tokens)
    plain = SAMPLERS["dry"][0]
    for name, tokens, breakers, why in (
            ("one", [1, 2, 0, 3, 1, 2, 0, 4, 1, 2, 0], [[4]], "a breaker of one token"),
            ("near", [1, 2, 0, 3, 1, 2, 0, 4, 2, 0], [[4], [9]], "two tokens after the last breaker, and allowed are two"),
            ("two", [1, 2, 0, 3, 5, 1, 2, 0, 3, 5, 1, 2, 0], [[3, 5]], "a breaker of two tokens ends the repetition"),
            ("two-apart", [1, 2, 0, 3, 1, 2, 0, 5, 1, 2, 0], [[3, 5]], "both tokens of a breaker, but not together"),
            ("long", [1, 2, 0, 1, 2, 0, 1, 2, 0], [[0, 1], [0, 1, 2]], "two breakers begin at one token: the longer counts"),
            ("follows", [1, 2, 0, 3, 1, 2, 0], [[3]], "the token that followed is a breaker by itself"),
            ("follows-two", [1, 2, 0, 3, 5, 1, 2, 0], [[3, 5]], "the token that followed only begins a breaker"),
            ("newest", [1, 2, 0, 3, 1, 2, 3], [[3]], "the newest token is a breaker"),
            ("others", [1, 2, 0, 3, 1, 2, 0], [[5, 3]], "no breaker is in the text")):
        yield case(f"dry/breaker-{name}", why, [0.5, -1.0, 2.0, 0.0, -0.25, 1.25],
                   params_of("dry", {**plain, "dry_breaker_tokens": breakers}, 61), tokens)
    yield case("dry/shorter-later", "two continuations of one token: the longest counts", [0.5, -1.0, 2.0, 0.0, -0.25, 1.25],
               params_of("dry", plain, 62), [2, 0, 3, 4, 1, 2, 0, 3, 5, 1, 2, 0])
    yield case("dry/longer-later", "two continuations of one token, the longer one earlier", [0.5, -1.0, 2.0, 0.0, -0.25, 1.25],
               params_of("dry", plain, 63), [1, 2, 0, 3, 4, 2, 0, 3, 5, 1, 2, 0])
    more = {**SAMPLERS["scatter"][0], "scatter_absorption": 0.2, "scatter_absorption_last_n": 64}
    yield case("scatter/absorption", "absorption, which reorders candidates", generated(1000, 4), params_of("scatter", more, 3),
               [5, 5, 5, 9, 700, 640, 640])
    yield case("scatter/absorption-ties", "absorption among equal candidates", [1.0] * 6, params_of("scatter", more, 4), [0, 0, 2])


# Token t has the text t mod 12. The classes are space-word, word, number, punctuation, space, other, and these again in another order.
TOKEN_TEXTS = [" the", "ing", "12", ",", " ", "1st", ".", " of", "a", " 3.5", " (", "\n"]
TOKEN_VECTORS = {"generator": "splitmix64", "seed": 7, "width": 16}


def media():
    """scatter with classes and with embeddings."""
    plain = {**SAMPLERS["scatter"][0], "scatter_strength": 0.5}
    wide, steps = {**plain, "scatter_radius": 6.0}, {**plain, "scatter_steps": 3, "scatter_k": 20, "scatter_strength": 0.3}
    recent = {**plain, "scatter_absorption": 0.2, "scatter_absorption_last_n": 64}
    tokens = [5, 5, 5, 9, 700, 640, 640]
    rows = ("ordinary", "another", "two", "ties", "flat", "one-hot", "two-level", "masked", "denormal", "high")
    for number, row in enumerate(rows):
        logits, why = ROWS[row]
        yield case(f"scatter_classes/{row}", why, logits, params_of("scatter", {**wide, "scatter_classes": True}, number + 1), texts=TOKEN_TEXTS)
        more = {"scatter_neighbours": 5, "scatter_sigma": 0.0}
        yield case(f"scatter_embeddings/{row}", why, logits, params_of("scatter", {**plain, **more}, number + 1), vectors=TOKEN_VECTORS)
    for name, why, more in (("steps", "three steps", steps), ("absorption", "absorption, which reorders candidates", recent)):
        yield case(f"scatter_classes/{name}", why, generated(1000, 4), params_of("scatter", {**more, "scatter_classes": True}, 3), tokens,
                   texts=TOKEN_TEXTS)
        yield case(f"scatter_embeddings/{name}", why, generated(1000, 4),
                   params_of("scatter", {**more, "scatter_neighbours": 3, "scatter_sigma": 0.7}, 3), tokens, vectors=TOKEN_VECTORS)
    yield case("scatter_classes/first", "the second would pass the first, which stays the likeliest", [3.0, 2.97, -1.0, -1.0],
               params_of("scatter", {**plain, "scatter_classes": True}, 5), texts=TOKEN_TEXTS)
    yield case("scatter_embeddings/classes", "neighbours of the same class only", generated(1000, 8),
               params_of("scatter", {**plain, "scatter_classes": True, "scatter_neighbours": 5, "scatter_sigma": 0.0}, 6), texts=TOKEN_TEXTS,
               vectors=TOKEN_VECTORS)


def steps():
    """A sequence that goes on: the generator, mu, and the sums of adaptive_p."""
    for seed in (0, 1, 42, 5489, 4294967294):
        for step in range(10):
            yield case(f"dist/seed-{seed}-draw-{step}", "the first ten draws of a seed", [0.0] * 500, params_of("dist", {}, seed), step=step)
    for sampler in ("mirostat", "mirostat_v2", "adaptive_p", "xtc", "penalties"):
        more = SAMPLERS[sampler][1 if sampler != "adaptive_p" else 0]
        for step in (1, 2, 5, 9):
            yield case(f"{sampler}/step-{step}", "the state after earlier rows", generated(1000, 6), params_of(sampler, more, 11), step=step)


def wide():
    for sampler in ("top_k", "top_p", "min_p", "temperature", "dist"):
        yield case(f"{sampler}/vocabulary", "128256 generated logits", generated(128256, 5), params_of(sampler, SAMPLERS[sampler][0], 2))


# The default chain of llama.cpp, and other orders.
DEFAULT = ["penalties", "dry", "top_n_sigma", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"]
CHAINS = {
    "default": (DEFAULT, dict(top_k=40, top_p=0.95, min_p=0.05, temperature=0.8)),
    "default-penalised": (DEFAULT, dict(top_k=40, top_p=0.95, min_p=0.05, temperature=0.8, repeat_penalty=1.2, dry_multiplier=0.1)),
    "temperature-first": (["temperature", "top_k", "top_p"], dict(top_k=40, top_p=0.8, temperature=1.8)),
    "temperature-last": (["top_k", "top_p", "temperature"], dict(top_k=40, top_p=0.8, temperature=1.8)),
    "cold-last": (["top_p", "min_p", "temperature"], dict(top_p=0.8, min_p=0.2, temperature=0.3)),
    "unsorted-min-p": (["min_p", "temperature"], dict(min_p=0.1, temperature=1.3)),
    "typical-then-top-k": (["typ_p", "top_k", "temperature"], dict(typical_p=0.6, top_k=10, temperature=0.9)),
    "sigma-dynamic": (["top_n_sigma", "temperature"], dict(top_n_sigma=1.0, temperature=1.0, dynatemp_range=0.4)),
    "greedy-end": (["penalties", "temperature"], dict(repeat_penalty=1.5, temperature=0.0)),
    "xtc-behind-top-k": (["top_k", "xtc", "temperature"], dict(top_k=12, xtc_probability=0.5, xtc_threshold=0.05, temperature=0.6)),
}
ALL = dict(min_keep=0, temperature=1.0, dynatemp_range=0.0, dynatemp_exponent=1.0, top_k=0, top_p=1.0, min_p=0.0, typical_p=1.0, top_n_sigma=-1.0,
           xtc_probability=0.0, xtc_threshold=0.1, dry_multiplier=0.0, dry_base=1.75, dry_allowed_length=2, dry_penalty_last_n=64,
           repeat_last_n=64, repeat_penalty=1.0, frequency_penalty=0.0, presence_penalty=0.0)


def chains():
    for name, (samplers, more) in CHAINS.items():
        for row in ("ordinary", "another", "ties", "masked", "high"):
            logits, why = ROWS[row]
            params = {"seed": len(name), "samplers": samplers, **ALL, **more}
            yield case(f"chains/{name}-{row}", why, logits, params, [t for t in TEXT if t < width(logits)])


ENGINES = {"transformers": dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0), "vllm": dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0),
           "vllm-v2": dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0), "sglang": dict(temperature=1.0, top_p=1.0, min_p=0.0),
           "akunu-gpu": dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)}


def engine_case(engine, name, why, row, seed=5, history=(1, 2), step=0, edge=False, **more):
    """edge None: for rows with rounded sums."""
    return case(name, why, row, {"seed": seed, **ENGINES[engine], **more}, history, step, edge, engine=engine)


def engine_three(engine, name, why, row, parameter, limit, **more):
    for n, where in ((-1, "below"), (0, "at"), (1, "above")):
        yield engine_case(engine, f"{name}-{where}", f"{why}; the limit is {('one ulp ' + where) if n else 'met'}", row,
                          **{**more, parameter: ulp(limit, n)})


def engine_rows(engine, file, *settings):
    """Generated rows."""
    for number, more in enumerate(settings):
        yield engine_case(engine, f"{file}/values-{number}", "1000 generated logits", generated(1000, number + 1), number + 3, edge=None, **more)


def engine_ties(file):
    one = "transformers"
    yield engine_case(one, f"{file}/across", "the cut lies among equal logits: all of them stay", [3.0, 2.0, 2.0, 2.0, 1.0], top_k=2)
    yield engine_case(one, f"{file}/flat", "all equal: all stay", [7.0] * 8, top_k=3)
    yield engine_case(one, f"{file}/zeros", "+0 and -0 are equal", [0.0, -0.0, 1.0, -1.0], top_k=2)
    yield engine_case(one, f"{file}/all", "k is the width", [1.0, 3.0, 2.0], top_k=3)
    yield engine_case(one, f"{file}/more", "k is above the width, and a token is masked", [1.0, MASKED, 2.0], top_k=9)
    yield engine_case(one, f"{file}/masked", "fewer candidates than k", [1.0, MASKED, MASKED, 2.0], top_k=3)
    for n, where in ((-1, "below"), (0, "at"), (1, "above")):
        yield engine_case(one, f"{file}/ulp-{where}", "the cut lies between logits that differ by an ulp at most", [1.0, ulp(1.0, n), 1.0, 2.0],
                          top_k=2)
    yield from engine_rows(one, file, {"top_k": 40}, {"top_k": 7, "temperature": 0.7})


def engine_rising(engine, file):
    yield from engine_three(engine, f"{file}/half", "4 equal candidates, P about 0.5: the lower ids go", [0.0] * 4, "top_p", 0.5)
    yield from engine_three(engine, f"{file}/three-quarters", "8 equal candidates, P about 0.75", [2.0] * 8, "top_p", 0.75)
    yield from engine_three(engine, f"{file}/behind", "three candidates, and two half as likely, P about 0.75", [0.0] * 3 + HALF[1:] * 2,
                            "top_p", 0.75)
    yield engine_case(engine, f"{file}/ten", "10 equal candidates, P 0.8: 1.0 - P in f64 and in f32 differ", [0.0] * 10, top_p=0.8)
    yield engine_case(engine, f"{file}/ten-f32", "10 equal candidates, P 0.3: the sum of seven is the limit in f32, and more in f64",
                      [0.0] * 10, top_p=0.3)
    yield engine_case(engine, f"{file}/last", "the last candidate stays", [1.0, 2.0, 3.0], top_p=0.01)
    yield engine_case(engine, f"{file}/last-ties", "of equal candidates the highest id stays", [3.0, 3.0, 3.0, 1.0], top_p=0.01)
    yield from engine_rows(engine, file, {"top_p": 0.9}, {"top_p": 0.5, "temperature": 1.5})


def engine_min_p(file):
    one = "transformers"
    yield from engine_three(one, f"{file}/half", "a p of half the largest, P about 0.5", HALF + [-1.0], "min_p", 0.5)
    yield from engine_three(one, f"{file}/product", "p[1] is max p * P, rounded to f32; the product in f64 is more", SEVEN_EIGHTHS, "min_p", 0.875)
    yield engine_case(one, f"{file}/one", "P 1 keeps what equals the largest", [2.0, 1.0, 2.0, 2.0, 0.0], min_p=1.0)
    yield engine_case(one, f"{file}/masked", "masked tokens", [MASKED, 1.5, MASKED, 2.25, -0.5], min_p=0.1)
    yield from engine_rows(one, file, {"min_p": 0.05}, {"min_p": 0.3, "temperature": 1.5})


def engine_top_h(file):
    one = "transformers"
    yield from engine_three(one, f"{file}/half", "4 equal candidates, h about 0.5: two have half of the entropy", [0.0] * 4, "top_h", 0.5)
    yield from engine_three(one, f"{file}/three-quarters", "8 equal candidates, h about 0.75", [1.0] * 8, "top_h", 0.75)
    yield engine_case(one, f"{file}/hundred", "128 equal candidates: p and H are of the first 100", [1.0] * 128, top_h=0.899)
    yield engine_case(one, f"{file}/first", "the first stays", [5.0, 0.0, 0.0], top_h=0.01)
    yield from engine_rows(one, file, {"top_h": 0.4}, {"top_h": 0.8, "temperature": 1.5})


def engine_vllm(file):
    one = "vllm"
    yield from engine_three(one, f"{file}/joint", "top-k leaves two, top-p is a share of these", [2.0, 2.0, 1.0, 1.0, 0.0, 0.0], "top_p", 0.5,
                            top_k=2)
    yield from engine_three(one, f"{file}/ties", "top-k leaves four equal candidates, of which top-p keeps half", [1.0, 2.0, 2.0, 2.0, 2.0],
                            "top_p", 0.5, top_k=2)
    yield from engine_three(one, f"{file}/three", "min-p leaves four, top-k all, top-p keeps three", [0.0] * 4 + [-1.0] * 4, "top_p", 0.75,
                            top_k=3, min_p=0.5)
    yield engine_case(one, f"{file}/min-p-first", "min-p comes first: of the candidates that it leaves, top-p keeps one", [1.0, 1.0] + [-0.5] * 12,
                      top_p=0.5, min_p=0.5)
    yield from engine_rows(one, file, {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "temperature": 0.8}, {"top_k": 7, "top_p": 0.5},
                           {"top_k": 100, "top_p": 0.3, "temperature": 2.0})


def engine_cut(file):
    one = "sglang"
    yield from engine_three(one, f"{file}/half", "4 equal candidates: what has 0.5 before it stays", [0.0] * 4, "top_p", 0.5)
    yield from engine_three(one, f"{file}/quarter", "8 equal candidates: what has 0.25 before it stays", [2.0] * 8, "top_p", 0.25)
    yield from engine_three(one, f"{file}/joint", "top-k leaves three, top-p is a share of all four", [0.0] * 4, "top_p", 0.25, top_k=3)
    yield from engine_three(one, f"{file}/min-p", "a p of half the largest, P about 0.5", HALF + [-1.0], "min_p", 0.5)
    yield from engine_three(one, f"{file}/product", "p[1] is p[0] * P, rounded to f32; the product in f64 is more", SEVEN_EIGHTHS, "min_p", 0.875)
    yield engine_case(one, f"{file}/ties", "the cut lies among equal logits: the lower ids stay", [1.0, 2.0, 3.0, 2.0, 2.0], top_k=3)
    yield engine_case(one, f"{file}/underflow", "a p of 0 in f32 goes", [0.0, -200.0, -1.0], top_k=3)
    yield engine_case(one, f"{file}/ten", "10 equal candidates, P 0.8", [0.0] * 10, top_p=0.8)
    yield from engine_rows(one, file, {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "temperature": 0.8}, {"top_k": 7, "top_p": 0.5}, {"top_p": 0.9})


# Seeds whose noise makes a tie. gumbel: 9 + the noises of ids 0 and 1 are one f16 number, and the sum of id 1 is the larger one in f32.
# gumbel_philox: the noises of ids 4 and 6 are equal at position 1.
GUMBEL_TIE, PHILOX_TIE = 265, 1551667


def engine_noise(engine, file):
    """Rows whose tokens the noise decides."""
    for seed in (0, 42, 5489 if engine == "akunu-gpu" else 2**52 + 12345):
        for step in (0, 1, 5):
            yield engine_case(engine, f"{file}/seed-{seed}-row-{step}", "noise of a seed and a position", [0.0] * 16, seed, step=step)
    for length in (1, 2, 9):
        yield engine_case(engine, f"{file}/prompt-{length}", f"{length} tokens before the row", [0.0] * 16, 7, [3] * length)
    yield engine_case(engine, f"{file}/masked", "masked tokens are not chosen", [MASKED, 1.5, MASKED, 2.25, -0.5, MASKED, 0.75])
    yield engine_case(engine, f"{file}/warm", "the temperature", [2.0, 1.0, 0.0, -1.0, -2.0, 3.0, 1.5, 0.5], 11, temperature=2.0)
    yield engine_case(engine, f"{file}/cool", "the temperature", [2.0, 1.0, 0.0, -1.0, -2.0, 3.0, 1.5, 0.5], 12, temperature=0.5)
    yield engine_case(engine, f"{file}/cut", "noise of the candidates that stay", [1.0, 0.0, 2.0, 1.0, 2.0, 0.0, 1.0, 2.0, 1.0], 13, top_k=6)
    yield from engine_rows(engine, file, {}, {"temperature": 1.7}, {"top_k": 40, "top_p": 0.9}, {"top_k": 40, "top_p": 0.9, "temperature": 1.7})


def engine_sums():
    """Sums of logit and noise that are equal, and an ulp beside; and limits of the filters before the noise."""
    yield from engine_three("akunu-gpu", "gumbel/half", "4 equal candidates, P about 0.5: what reaches it stays", [0.0] * 4, "top_p", 0.5)
    yield engine_case("akunu-gpu", "gumbel/min-p", "P 1 keeps what equals the largest", [1.0, 2.0, 2.0, 0.0], min_p=1.0)
    yield from engine_three("vllm-v2", "gumbel_philox/min-p", "a logit of max + ln 0.5, P about 0.5", HALF + [-1.0], "min_p", 0.5)
    for n, where in ((-1, "below"), (0, "at"), (1, "above")):
        yield engine_case("akunu-gpu", f"gumbel/tie-{where}", "sums that are equal in f16, but not in f32, or an f16 ulp apart",
                          [9.0, 9.0 + n * 2.0**-7, MASKED], GUMBEL_TIE)
        yield engine_case("vllm-v2", f"gumbel_philox/tie-{where}", "tokens 4 and 6 have equal noise; their logits are equal or an ulp apart",
                          [0.0, 0.0, 0.0, 0.0, 8.0, 0.0, ulp(8.0, n), 0.0], PHILOX_TIE)


def engines():
    yield from engine_ties("top_k_ties")
    yield from engine_rising("transformers", "top_p_rising")
    yield from engine_rising("vllm", "top_p_rising_f32")
    yield from engine_min_p("min_p_prob")
    yield from engine_top_h("top_h_ties")
    yield from engine_vllm("vllm")
    yield from engine_cut("softmax_cut")
    yield from engine_noise("akunu-gpu", "gumbel")
    yield from engine_noise("vllm-v2", "gumbel_philox")
    yield from engine_noise("sglang", "gumbel_murmur")
    yield from engine_sums()


def cases():
    for sampler in SAMPLERS:
        yield from battery(sampler)
    yield from exact()
    yield from boundaries()
    yield from histories()
    yield from media()
    yield from steps()
    yield from wide()
    yield from chains()
    yield from engines()
