#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mixes the keys of programs at random, and looks what becomes of each: `marks.py SAMPL [CASES [SEED]]`.

An object has the marks of one program, keys of its own, and a key of another program or of none. The tables of --generate=json say what
each key does. Each key must change the chain, or be named in a note or an error, or have a row that says that it is silent, in the
program that the file is read as. The last line counts the fates, and the files that were refused."""
import fnmatch
import json
import os
import random
import re
import subprocess
import sys

SAMPL = os.path.abspath(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
TABLES = json.loads(subprocess.run([SAMPL, "--generate=json"], capture_output=True, text=True, check=True).stdout)
PROGRAMS = {p["name"]: p for p in TABLES["programs"] if p.get("reads") and p.get("keys")}
# Programs whose files are no objects of settings.
PROGRAMS = {name: p for name, p in PROGRAMS.items() if name not in ("llama.cpp", "llama.cpp-command", "sampl", "sampl-chain", "LM-Studio", "TabbyAPI")}
VALUES = {
    "temp": (0.3, 0.6), "top-k": (3, 9), "seed": (5, 7), "repeat-last-n": (11, 13), "dry-penalty-last-n": (12, 14), "mirostat": (1, 2),
    "logit-bias": ({"5": 1}, {"6": 2}), "dry-sequence-breaker": (["a"], ["b"]), "grammar": ('root ::= "a"', 'root ::= "b"'),
    "json-schema": ({"type": "integer"}, {"type": "boolean"}), "bad-word-tokens": ([[1]], [[2]]), "min-tokens": (2, 3),
    "repeat-penalty": (1.25, 1.5), "no-repeat-ngram": (2, 3), "dry-allowed-length": (3, 4), "dry-base": (1.5, 2), "min-keep": (2, 3),
    "adaptive-target": (0.25, 0.5), "ignore-eos": (True, True), "samplers": (["top_k"], ["temperature"]), "reasoning-start": ("a", "b"), "reasoning-end": ("a", "b"),
    "reasoning-budget-message": ("a", "b"), "reasoning-budget": (3, 4),
}
MARKS = {
    "n_predict": 5, "samplers": ["top_k", "temperature"], "cache_prompt": True, "generation_settings": {}, "options": {}, "num_ctx": 512,
    "num_predict": 5, "transformers_version": "5.0", "_from_model_config": True, "do_sample": True, "eos_token_id": 2, "sampling_params": {},
    "structured_outputs": {}, "bad_words": [], "stop_token_ids": [1], "repetition_context_size": 20, "model": "m",
    "messages": [{"role": "user", "content": "x"}], "prompt": "x", "input": "x", "chat_completion_source": "openai",
    "openai_max_context": 4095, "sampler_order": [6, 0, 1, 3, 4, 2, 5], "truncation_length": 2048, "auto_max_new_tokens": False,
    "instruction_template": "x", "inputs": "x", "parameters": {}, "temperature_last": False, "params": {}, "id": "m",
}
# Parameters that have no effect alone, with what they need.
PARTNERS = [("mirostat_*", "mirostat", 2), ("dry_*", "dry_multiplier", 0.8), ("xtc*hreshold", "xtc_probability", 0.5),
            ("adaptive_decay", "adaptive_target", 0.5), ("smoothing_curve", "smoothing_factor", 0.3), ("dynatemp_exponent", "dynatemp_range", 0.25),
            ("*_last_n", "repeat_penalty", 1.3), ("*range", "repetition_penalty", 1.3), ("rep_pen_slope", "repetition_penalty", 1.3)]
# Keys that another one makes void by the program's own rule: a reply's biases have the bans of ignore_eos.
# KoboldCpp takes the largest of three penalties.
VOID = {("llama-server-reply", "ignore_eos"): ["logit_bias"], ("llama-server", "json_schema"): ["grammar"]}
VOID |= {("KoboldCpp", key): ["rep_pen", "repetition_penalty", "repeat_penalty"] for key in ("rep_pen", "repetition_penalty", "repeat_penalty")}
# Marks that the tables say in words.
FOUND = {"Ollama": ["options", "num_ctx"], "llama-server-reply": ["generation_settings"], "TGI": ["inputs and parameters"], "Open-WebUI": ["id and params"]}


def names(row):
    return row["keys"].split()


def row_of(program, key):
    """The program's row of a key; None: it has none but for the samplers' parameters of llama-server."""
    for row in program["keys"]:
        if any(fnmatch.fnmatchcase(key, name) for name in names(row) if name != "*"):
            return row
    return None


def values(key, row):
    """Two values that a key may have, which switch something on."""
    option = (row or {}).get("option") or key.replace("_", "-")
    return VALUES.get(option) or VALUES.get(key.replace("_", "-")) or (0.3, 0.6)


def is_plain(key):
    """Texts of the reasoning budget act only together."""
    return "*" not in key and key not in MARKS and not key.startswith(("reasoning_", "generation_prompt"))


def build(r):
    """A program, and an object with its marks and keys, and a foreign one. Also the member that holds the settings."""
    program = PROGRAMS[r.choice(sorted(PROGRAMS))]
    marks = r.choice([m.split(" and ") for m in program["marks"] or FOUND.get(program["name"], [])] or [[]])
    outer = {}
    for mark in marks:
        outer[mark] = MARKS.get(mark, values(mark, row_of(program, mark))[0])
    other = PROGRAMS[r.choice(sorted(PROGRAMS))]
    own = [(name, row) for row in program["keys"] for name in names(row) if is_plain(name) and row["fate"] == "option"]
    foreign = [(name, row) for row in other["keys"] for name in names(row) if is_plain(name)]
    picked = r.sample(own, min(len(own), r.randint(1, 3))) + [r.choice(foreign) if r.random() < 0.85 else ("no_such_key", None)]
    settings = next((v for v in outer.values() if isinstance(v, dict)), None)
    inside = dict(settings) if settings is not None and r.random() < 0.8 else outer
    for key, row in picked:
        inside.setdefault(key, values(key, row)[r.randrange(2)])
        for pattern, partner, value in PARTNERS:
            if fnmatch.fnmatchcase(key, pattern):
                inside.setdefault(partner, value)
    if inside is not outer:
        outer = {k: inside if v is settings else v for k, v in outer.items()}
    return program, outer, inside, [key for key, _ in picked]


def run(tree, extra=()):
    done = subprocess.run([SAMPL, "--preset", "/dev/stdin", "--print-chain=preset", *extra], input=json.dumps(tree), capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"status {done.returncode} of {json.dumps(tree)}: {done.stderr}")
    return done.returncode, done.stdout, done.stderr


def about_sampling(key):
    return any((row_of(p, key) or {}).get("fate") in ("option", "sampler", "refused") for p in PROGRAMS.values())


def is_said(key, program, said):
    """Is the key, or the option that it sets, in a message?"""
    options = {(row_of(p, key) or {}).get("option") for p in [program, *PROGRAMS.values()]} - {None} | {key.replace("_", "-")}
    return bool(re.search(rf"\b{re.escape(key)}\b", said)) or any(re.search(rf"--{re.escape(option)}\b", said) for option in options)


def reader_of(said):
    """The program that a note says the file is read as."""
    found = re.search(r"is read as (.*) \(", said)
    for program in TABLES["programs"]:
        reads = program.get("reads") or ""
        name = program["name"] + ("' " if program["name"].endswith("s") else "'s ") + reads
        if found and found.group(1) in (name, reads):
            return program
    return None


def main():
    r = random.Random(SEED)
    counts = {"applied": 0, "named": 0, "silent": 0, "refused": 0}
    for case in range(CASES):
        program, tree, inside, keys = build(r)
        at = f"case {case} of seed {SEED}: {json.dumps(tree)}"
        status, chain, said = run(tree)
        if status == 2:
            if not any(is_said(key, program, said) for key in [*tree, *inside]) and not re.search("of no program|has no settings", said):
                sys.exit(f"{at}: the error names no key: {said}")
            counts["refused"] += 1
            continue
        reader = reader_of(said)
        if reader is None:
            sys.exit(f"{at}: no note names the program: {said}")
        for key in keys:
            row = row_of(reader, key)
            if is_said(key, reader, said):
                counts["named"] += 1
                continue
            partner = next((partner for pattern, partner, _ in PARTNERS if fnmatch.fnmatchcase(key, pattern)), None)
            if partner and is_said(partner, reader, said):
                counts["named"] += 1
                continue
            if any(other in inside and other != key for other in VOID.get((reader["name"], key), [])):
                counts["silent"] += 1
                continue
            chains = {chain}
            before = inside.pop(key)
            chains.add(run(tree)[1])
            for value in values(key, next((at for at in (row_of(p, key) for p in [reader, *PROGRAMS.values()]) if at and at.get("option")), row)):
                inside[key] = value
                chains.add(run(tree)[1])
            inside[key] = before
            if len(chains) > 1:
                counts["applied"] += 1
            elif row and row["fate"] == "silent" or not row and not about_sampling(key) and (
                    reader["name"] == "SillyTavern-chat" or any(isinstance(v, dict) for v in tree.values())):
                counts["silent"] += 1
            else:
                sys.exit(f"{at}: {key} is lost; its row: {row}\n{chain}{said}")
    print(", ".join(f"{name} {n}" for name, n in counts.items()))


main()
