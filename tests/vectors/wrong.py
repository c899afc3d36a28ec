#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Wrong ports: wrong.py NAME is port.py with one mistake. wrong.py --list prints each name, and the files of samples/vectors that find it.
import sys

import numpy as np

import port

SORTS = ("chains dry encoder_penalty epsilon_cutoff eta_cutoff min_k min_p mirostat mirostat_v2 no_repeat_ngram p_less p_less_norm p_step "
         "penalties scatter skew temperature tfs tfs_tg top_a top_h top_k top_n_sigma top_p typ_p xtc").split()


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


# The files that find each mistake: those of the sampler, and the chains that have it. A selector's mistake is found by every file.
MISTAKES = {top_p_without_boundary: "chains top_p", top_p_above: "top_p", min_p_above: "min_p", top_k_unstable: "chains top_k",
            temperature_first: "chains", softmax_overflow: "", penalties_on_counts: "chains penalties", dry_off_by_one: "chains dry",
            classes_ignored: "scatter_classes scatter_embeddings", neighbours_all: "scatter_embeddings",
            mirostat_natural: "mirostat mirostat_v2", dist_one_word: ""}

if sys.argv[1] == "--list":
    for mistake, files in MISTAKES.items():
        print(mistake.__name__, files)
else:
    next(mistake for mistake in MISTAKES if mistake.__name__ == sys.argv[1])()
    port.main()
