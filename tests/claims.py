#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tries to make sentences of the program false: claims.py SAMPL COUNT SEED. Each case is a random chain over random rows, whole or as lists
of log-probabilities. A claim of it is compared with another run: without an option that is said to have no effect, without a stage that is
said to be off, with one temperature for two, with the chain up to the stage that is said to have removed a token, and so on. Run in an empty
folder. Prints how often each claim was tried, and the cases that falsify one."""
import collections
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys

SAMPL, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ONLY = int(sys.argv[4]) if len(sys.argv) > 4 else None
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "LC_ALL": "C"}
GENERATED = json.loads(subprocess.run([SAMPL, "--generate=json"], capture_output=True, env=ENV, check=True).stdout)
MOVED = ["adaptive_p"] # runs last wherever it stands
SAMPLERS = [s["name"] for s in GENERATED["samplers"] if not s["internal"] and s["name"] not in ("infill", "dist", "greedy")]
PARAMS = {p: s["name"] for s in GENERATED["samplers"] if s["name"] in SAMPLERS for p in s["params"]}
PROBES = "-1 -0.5 0 0.01 0.1 0.3 0.6 0.9 1 1.5 2 4 30".split()
ENGINES = "akunu akunu-gpu batch mlx ollama sglang transformers vllm vllm-v2".split()
FLAGS = [o["flag"] for o in GENERATED["options"]]
tried, failed = collections.Counter(), 0


class Case:
    def __init__(self, number):
        self.rng = random.Random(f"{SEED} {number}")
        self.number, self.claims = number, 0
        rng = self.rng
        self.n = rng.choice([5, 12, 30])
        self.logits = [[round(rng.gauss(0, rng.choice([1, 3, 6])) * 8) / 8 for _ in range(self.n)] for _ in range(rng.choice([3, 8]))]
        if rng.random() < 0.1 and ATTACKS[number % len(ATTACKS)] not in (lists, partial): # a list has no masked tokens
            self.logits[0][:3] = [-math.inf] * 3
        self.accept = [rng.randrange(min(self.n, 4)) for _ in self.logits]
        pathlib.Path("rows").write_bytes(b"".join(struct.pack(f"<{self.n}f", *row) for row in self.logits))
        self.base = ["-f", "f32", "-n", str(self.n), "-s", "7"] + (["--accept", ",".join(map(str, self.accept))] if rng.random() < 0.6 else [])

    def run(self, *words, stdin=b""):
        done = subprocess.run([SAMPL, *self.base, *words, "rows"], input=stdin, capture_output=True, env=ENV)
        self.command = [*self.base, *words]
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def outcome(self, *words):
        """Ids and logits behind the chain, bit for bit, and the status."""
        return self.run(*words)[:2], self.run(*words, "--emit", "logits", "-O", "text")[:2]

    def claim(self, name, holds, *what):
        global failed
        tried[name] += 1
        if not holds:
            failed += 1
            print(f"FALSE {name}: case {self.number}:", *what, "|", " ".join(self.command))


def options(rng, engine):
    """Random typed options: pairs of a name and a value."""
    names = rng.sample(list(PARAMS), rng.randrange(1, 6))
    if rng.random() < 0.3:
        names.append("mirostat")
    return [(f"--{name}", rng.choice(PROBES if name != "mirostat" else ["1", "2", "0"])) for name in names]


def words(pairs):
    return [word for name, value in pairs for word in ([f"{name}={value}"] if value is not None else [name])]


def accepted(case, pairs, chain):
    """Leaves out values that the program refuses."""
    kept = []
    for pair in pairs:
        if pair[0] in [p[0] for p in kept]:
            continue
        if case.run(*chain, *words(kept + [pair]), "--print-chain")[0] == 0:
            kept.append(pair)
    return kept


def idle(case):
    """--X has no effect ..., --X of V switches S off, and stages that --print-chain calls off."""
    rng = case.rng
    engine = rng.choice(ENGINES) if rng.random() < 0.3 else None
    names = [rng.choice(SAMPLERS) for _ in range(rng.randrange(1, 6))]
    chain = ["--engine", engine] if engine else ["--samplers", ";".join(names)] if rng.random() < 0.8 else []
    own = next(s["params"] for s in GENERATED["samplers"] if s["name"] == names[0]) # several of one sampler
    pairs = accepted(case, [(f"--{p}", rng.choice(PROBES)) for p in own if rng.random() < 0.7] + options(rng, engine), chain)
    whole = chain + words(pairs)
    text = re.sub(r"\n {6,}", " ", case.run(*whole, "--print-chain")[1]) # without folds
    _, _, notes = case.run(*whole)
    first = case.outcome(*whole)
    for name, phrase in re.findall(r"^sampl: note: (--[a-z0-9-]+):? (.*)$", notes, re.M):
        left = [p for p in pairs if p[0] != name]
        if "leaves scatter no effect" in phrase and "--samplers" in chain:
            left = [s for s in names if s != "scatter"]
            case.claim("leaves scatter no effect", case.outcome("--samplers", ";".join(left), *words(pairs)) == first, name, phrase)
        elif "no effect" in phrase and "bias" not in phrase and "leaves scatter" not in phrase:
            other = [p for p in pairs if p[0] == name and p[0] == "--mirostat"]
            case.claim("has no effect", case.outcome(*chain, *words(left + other)) == first, name, phrase)
        switched = re.match(r"of (\S+) switches (\S+) off", phrase)
        if switched and not engine:
            stages = [s for s in (names if "--samplers" in chain else []) if s != switched[2]]
            if "--samplers" in chain:
                case.claim("switches off", case.outcome("--samplers", ";".join(stages), *words(pairs)) == first, name, phrase)
    on = re.findall(r"^(\S+) +(on|off)\b", text, re.M)
    if "--samplers" in chain and not any(p[0] == "--mirostat" and p[1] != "0" for p in pairs) and len(names) == len(set(names)):
        off = [s for s in names if (s, "off") in on]
        if off:
            left = [s for s in names if s not in off]
            case.claim("off", case.outcome("--samplers", ";".join(left), *words(pairs)) == first, off)
    remarks(case, chain, names, pairs, text)


def remarks(case, chain, names, pairs, text):
    """The remarks of --print-chain."""
    for remark in re.findall(r"^note: (.*)$", text, re.M):
        if remark == "top-p 0 keeps one token":
            code, out, _ = case.run(*chain, *words(pairs), "--emit", "stats", "-O", "json")
            if code == 0:
                case.claim("keeps one", all(json.loads(line)["n"] == 1 for line in out.splitlines()), remark)
        elif "then act on divided logits" in remark and "--samplers" in chain:
            temps = [float(v) for k, v in pairs if k == "--temp"] or [0.8]
            case.claim("divided logits", temps[0] > 0 and "temperature" in names, remark)
        elif "multiply" not in remark:
            tried[remark] += 0


def temperatures(case):
    rng = case.rng
    values = [rng.choice(["-1", "-2", "0", "0.5", "2", "3", "1", "1.25"]) for _ in range(rng.randrange(2, 4))]
    between = rng.choice(["", ";top_k", ";min_p"])
    chain = "--samplers", between.join([f"temperature={v}" + ";" for v in values]).replace(";;", ";").strip(";")
    _, text, _ = case.run(*chain, "--print-chain")
    for count, product in re.findall(r"note: (\d+) temperatures multiply: together they are (\S+)", text):
        plain = case.run("--samplers", ";".join(f"temperature={v}" for v in values), "--emit", "probs", "-O", "json")[1]
        one = case.run("--samplers", f"temperature={product}", "--emit", "probs", "-O", "json")[1]
        a, b = ([json.loads(line) for line in x.splitlines()] for x in (plain, one))
        near = all(abs(x - y) < 1e-3 for r, s in zip(a, b) for x, y in zip(*(next(v for v in t.values() if isinstance(v, list)) for t in (r, s))))
        case.claim("temperatures multiply", near and len(a) == len(b), count, product)


def removal(case):
    """removed by S, rank R, the next best: of --draws; --expect; lists of JSON dumps."""
    rng = case.rng
    names = rng.sample([s for s in SAMPLERS if s not in MOVED], rng.randrange(1, 5))
    pairs = accepted(case, [p for p in options(rng, None) if p[0] != "--mirostat"], ["--samplers", ";".join(names)])
    chain = ["--samplers", ";".join(names), *words(pairs)]
    pathlib.Path("draws").write_text("\n".join(" ".join(map(str, range(case.n))) for _ in case.logits) + "\n")
    accept = [] if "--accept" in case.base else ["--independent"]
    code, out, err = case.run(*chain, *accept, "--draws", "draws")
    kept = {}

    def survivors(stages):
        if stages not in kept:
            _, text, _ = case.run("--samplers", ";".join(names[:stages]), *words(pairs), *accept, "--emit", "logits", "-O", "text")
            kept[stages] = [[float(x) for x in line.split()] for line in text.splitlines()]
        return kept[stages]
    for row, token, stage, rank, best in re.findall(r"row (\d+): (\d+)(?: \S+)? removed by (\S+), rank (\d+)(, the next best)?", out):
        row, token, rank = int(row), int(token), int(rank)
        if stage not in names:
            tried["removed by another"] += 1
            continue
        at = names.index(stage)
        before, after = survivors(at), survivors(at + 1)
        if len(before) <= row or len(after) <= row:
            continue
        case.claim("removed by", before[row][token] > -math.inf and after[row][token] == -math.inf, row, token, stage)
        above = sum(x > before[row][token] for x in before[row])
        ties = sum(x == before[row][token] for x in before[row])
        case.claim("rank", above < rank <= above + ties, row, token, stage, rank, before[row])
        if best:
            alive = [x for x, y in zip(before[row], after[row]) if y == -math.inf and x > before[row][token]]
            case.claim("the next best", not alive, row, token, stage, before[row], after[row])
    for row, token in re.findall(r"row (\d+): (\d+)(?: \S+)? is masked in the row", out):
        case.claim("masked in the row", case.logits[int(row)][int(token)] == -math.inf, row, token)
    # --expect names the same stage
    wanted = [rng.randrange(case.n) for _ in case.logits]
    _, out, _ = case.run(*chain, *accept, "--expect", ",".join(map(str, wanted)))
    for row, token, number, stage in re.findall(r"^row (\d+).*\n(?:  .*\n)*?  (\d+) is not among the (\d+) kept: [^;\n]*; (\S+) (?:removed it|keeps)", out, re.M):
        row, token = int(row), int(token)
        if stage.rstrip(":") not in names:
            tried["expect: removed by another"] += 1
            continue
        at = names.index(stage.rstrip(":"))
        if len(survivors(at + 1)) > row and len(survivors(len(names))) > row:
            case.claim("expect: removed it", survivors(at)[row][token] > -math.inf and survivors(at + 1)[row][token] == -math.inf, row, token, stage)
            case.claim("expect: kept", sum(x > -math.inf for x in survivors(len(names))[row]) == int(number), row, number)


def reply_of(logits, length):
    """A reply that lists the likeliest tokens of each row."""
    out = []
    for row in logits:
        top = max(row)
        log_sum = math.log(sum(math.exp(x - top) for x in row)) + top
        order = sorted(range(len(row)), key=lambda i: (-row[i], i))[:length]
        tokens = [{"id": i, "token": f"t{i}", "logprob": row[i] - log_sum} for i in order if row[i] > -math.inf]
        out.append({**tokens[0], "top_logprobs": tokens})
    return json.dumps({"completion_probabilities": out})


def lists(case):
    """ask the server for M: longer lists help."""
    rng = case.rng
    names = rng.sample([s for s in SAMPLERS], rng.randrange(1, 4))
    pairs = accepted(case, [p for p in options(rng, None) if p[0] != "--mirostat"], ["--samplers", ";".join(names)])
    chain = ["--samplers", ";".join(names), *words(pairs)]
    width = ["-n", str(case.n)] if rng.random() < 0.5 else []

    def notes(length):
        pathlib.Path("list.json").write_text(reply_of(case.logits, length))
        case.command = [*width, *chain, "list", str(length)]
        done = subprocess.run([SAMPL, "-s", "7", *width, *chain, "list.json"], capture_output=True, env=ENV)
        return done.stderr.decode(), done.returncode
    listed = rng.randrange(1, case.n)
    text, code = notes(listed)
    held = re.search(r"rows list up to (\d+) tokens, which hold (\S+) to (\S+) of the probability; (\d+) of (\d+) rows are known to come out", text)
    if held:
        reply = json.loads(pathlib.Path("list.json").read_text())["completion_probabilities"]
        sums = [sum(math.exp(t["logprob"]) for t in p["top_logprobs"]) for p in reply]
        out = subprocess.run([SAMPL, "-s", "7", *width, *chain, "-O", "json", "list.json"], capture_output=True, env=ENV).stdout.decode()
        exact = [json.loads(line).get("exact", True) for line in out.splitlines()]
        case.claim("lists hold", abs(min(sums) - float(held[2])) < 0.0051 and abs(max(sums) - float(held[3])) < 0.0051, held[0], sums)
        case.claim("rows are known to come out as full rows would", (sum(exact), len(exact)) == (int(held[4]), int(held[5])), held[0], exact)
        case.claim("rows list up to", int(held[1]) == max(len(p["top_logprobs"]) for p in reply), held[0])
    m = re.search(r"; (\d+) of (\d+) rows are known to come out.*ask the server for (more than )?(\d+)", text)
    if m:
        case.claim("ask for more than the list has", int(m[4]) + bool(m[3]) > listed, m[0])
        if int(m[4]) <= case.n - 1:
            longer, code2 = notes(int(m[4]) + (1 if m[3] else 0))
            k = re.search(r"; (\d+) of (\d+) rows are known to come out", longer)
            case.claim("more rows with the asked length", code2 != code or not k or int(k[1]) >= int(m[1]) or "more than" in longer, m[0], longer)
    if m and width:
        longer, code2 = notes(case.n)
        k = re.search(r"; (\d+) of (\d+) rows are known to come out", longer)
        case.claim("some list is long enough", code2 != 0 or not k or k[1] == k[2], m[0], longer)
    if "this chain needs whole rows" in text and width:
        for length in (case.n - 2, case.n - 1):
            longer, code2 = notes(length)
            k = re.search(r"; (\d+) of (\d+) rows are known to come out", longer)
            case.claim("this chain needs whole rows", bool(k) or code2 != 0, length, text, longer)


def names(case):
    """did you mean: the options exist, and none is nearer."""
    rng = case.rng
    flag = rng.choice(FLAGS)
    for _ in range(rng.randrange(1, 3)):
        i = rng.randrange(len(flag) + 1)
        flag = flag[:i] + rng.choice(["", "x", "-", "e"]) + flag[i + rng.randrange(2):]
    _, _, text = case.run(f"--{flag}")
    case.command = [f"--{flag}"]
    for suggestion in re.findall(r"--([a-z0-9-]+)", text.partition("did you mean")[2]):
        _, _, again = case.run(f"--help={suggestion}")
        case.claim("did you mean", suggestion in FLAGS or "unknown" not in again and "no option" not in again, flag, suggestion, again[:60])


def draws_of_seed(case):
    """The numbers of chains that are not marked do not depend on the seed."""
    rng = case.rng
    chains = []
    for i in range(2):
        stages = rng.sample(SAMPLERS, rng.randrange(1, 4))
        pairs = accepted(case, options(rng, None), ["--samplers", ";".join(stages)])
        chains += [f"v{i}: --samplers {';'.join(stages)} {' '.join(words(pairs))}"]
    command = ["--neutral", *[x for c in chains for x in ("--vs", c)], "-O", "tsv"]
    tables = []
    for seed in "7", "8":
        _, out, notes = case.run(*command, "-s", seed)
        lines = [line.split("\t") for line in out.splitlines()]
        if not lines:
            return
        same = [i for i, name in enumerate(lines[0]) if name.startswith("same")]
        mark = lines[0].index("of_the_draw")
        tables.append([[c for i, c in enumerate(line) if i not in same] for line in lines if line[mark] != "true"])
    case.claim("not of the draw", tables[0] == tables[1], notes, [x for x, y in zip(*tables) if x != y], [y for x, y in zip(*tables) if x != y])


def trace(case):
    """What --trace says of each stage: candidates, the mass that they keep, the tokens that went."""
    rng = case.rng
    stages = rng.sample([s for s in SAMPLERS if s not in MOVED], rng.randrange(1, 5))
    pairs = accepted(case, [p for p in options(rng, None) if p[0] != "--mirostat"], ["--samplers", ";".join(stages)])
    accept = [] if "--accept" in case.base else ["--independent"]
    code, out, _ = case.run("--samplers", ";".join(stages), *words(pairs), *accept, "--trace", "-O", "json")
    if code:
        return
    rows = [json.loads(line) for line in out.splitlines()]
    for i, stage in enumerate(stages):
        before, after = ([[float(x) for x in line.split()] for line in case.run("--samplers", ";".join(stages[:k]), *words(pairs), *accept, "--emit", "logits",
                                                                                 "-O", "text")[1].splitlines()] for k in (i, i + 1))
        if len(before) < len(rows) or len(after) < len(rows):
            return
        for row, x, y in zip(rows, before, after):
            line = next((s for s in row["stages"] if s["name"] == stage), None)
            if line is None or not line["enabled"]:
                case.claim("trace: a stage that is off changes nothing", x == y, stage, x, y)
                continue
            alive = [a for a in x if a > -math.inf]
            top = max(alive)
            total = sum(math.exp(a - top) for a in alive)
            mass = sum(math.exp(a - top) for a, b in zip(x, y) if b > -math.inf and a > -math.inf) / total
            gone = sum(a > -math.inf and b == -math.inf for a, b in zip(x, y))
            case.claim("trace: before and after", (line["before"], line["after"]) == (len(alive), sum(b > -math.inf for b in y)), stage, line, x, y)
            case.claim("trace: mass", line["mass"] is None or abs(line["mass"] - mass) < 1e-4, stage, line["mass"], mass)
            case.claim("trace: removed", line["removed"] == gone, stage, line, x, y)
            case.claim("trace: top_after", y[line["top_after"]] == max(y), stage, line, y)
            lost = sorted(((math.exp(a - top) / total, t) for t, (a, b) in enumerate(zip(x, y)) if a > -math.inf and b == -math.inf), reverse=True)
            said = line["likeliest_removed"]
            case.claim("trace: likeliest removed", all(abs(s["prob"] - l[0]) < 1e-4 for s, l in zip(said, lost)) and
                       all(y[s["id"]] == -math.inf for s in said), stage, said, lost)


def twins(case):
    """Variants that come to the same chain choose the same tokens; without a suffix also from rows with parameters."""
    rng = case.rng
    stages = rng.sample(SAMPLERS, rng.randrange(1, 4))
    pairs = accepted(case, options(rng, None), ["--samplers", ";".join(stages)])
    order = stages[:]
    rng.shuffle(order)
    second = [p for p in pairs if rng.random() < 0.6] + accepted(case, options(rng, None)[:rng.randrange(2)], [])
    second = list({p[0]: p for p in second}.values())
    if rng.random() < 0.4:
        order.insert(rng.randrange(len(order) + 1), rng.choice(SAMPLERS))
    variants = [f"{n}: --samplers {';'.join(s)} {' '.join(words(p))}" for n, s, p in (("a", stages, pairs), ("b", order, second))]
    params = rng.choice([{"temperature": 0.5}, {"top_k": 2}, {"min_p": 0.3}, {"repeat_penalty": 1.5}, {"samplers": ["top_k"], "top_k": 1},
                         {"xtc_probability": 1, "xtc_threshold": 0.1}, {"dry_multiplier": 2}, {"typical_p": 0.3}, {"mirostat": 1}, {"min_keep": 3}])
    pathlib.Path("plain.json").write_text("".join(json.dumps({"logits": [max(x, -99) for x in row]}) + "\n" for row in case.logits))
    pathlib.Path("params.json").write_text("".join(json.dumps({"logits": [max(x, -99) for x in row], "params": params}) + "\n" for row in case.logits))
    accept = ["--accept", ",".join(map(str, case.accept))] if "--accept" in case.base else []

    def variants_of(rows):
        ids = subprocess.run([SAMPL, "-s", "7", *accept, "--neutral", "--vs", variants[0], "--vs", variants[1], "--diff", "-O", "json", rows],
                             capture_output=True, env=ENV)
        return ids.stderr.decode(), ids.stdout.decode()
    notes, _ = variants_of("plain.json")
    case.command = variants
    m = re.search(r"variants '(a)' and '(b)' come to the same chain( for rows without parameters)?", notes)
    if not m:
        return
    for rows in ["plain.json"] + ["params.json"] * (not m[3]):
        outs = []
        for v in variants:
            words_ = v[3:].split()
            done = subprocess.run([SAMPL, "-s", "7", *accept, "--neutral", *words_, "--emit", "logits", "-O", "text", rows], capture_output=True, env=ENV)
            ids = subprocess.run([SAMPL, "-s", "7", *accept, "--neutral", *words_, rows], capture_output=True, env=ENV)
            outs.append((done.returncode, done.stdout, ids.stdout))
        case.claim("same chain" + (m[3] or ""), outs[0] == outs[1], rows, params, notes)


def schemas(case):
    """llama.cpp ignores this keyword: the grammar is the same without it."""
    rng = case.rng
    text = {"type": "string"}
    extra = {"minLength": 2, "maxLength": 4, "pattern": "^a+$", "format": rng.choice(["date", "email", "uuid"]), "minimum": 2, "maximum": 9, "multipleOf": 3,
             "uniqueItems": True, "minItems": 1, "maxItems": 3, "enum": ["x", "y"], "const": "c", "additionalProperties": rng.random() < 0.5,
             "required": ["k"], "title": "t", "not": {"const": "q"}, "if": {"const": 1}, "contains": text, "propertyNames": text, "minProperties": 1,
             "patternProperties": {"^a": text}, "exclusiveMinimum": 1, "anyOf": [text, {"type": "null"}], "oneOf": [text], "allOf": [{"type": "object"}],
             "items": text, "prefixItems": [text, {"type": "null"}], "properties": {"k": text, "m": {"type": "integer", "minimum": 3}}, "x-own": 1,
             "dependentRequired": {"k": ["m"]}, "contentEncoding": "base64", "unevaluatedProperties": False}
    kinds = ["string", "integer", "number", "array", "object", "boolean", "null", ["string", "null"]]
    schema = {"type": rng.choice(kinds)} if rng.random() < 0.8 else {}
    schema |= {k: extra[k] for k in rng.sample(list(extra), rng.randrange(1, 5))}
    inner = rng.random() < 0.3
    whole = {"type": "object", "properties": {"p": schema}} if inner else schema

    def grammar(s):
        done = subprocess.run([SAMPL, "--print-grammar", "-j", json.dumps(s)], capture_output=True, env=ENV)
        return done.returncode, done.stdout, done.stderr.decode()
    first = grammar(whole)
    for path, keyword in re.findall(r"note: (\S*?)/?([A-Za-z-]+): llama.cpp ignores this keyword", first[2]):
        if keyword not in schema:
            continue
        left = {k: v for k, v in schema.items() if k != keyword}
        other = grammar({"type": "object", "properties": {"p": left}} if inner else left)
        case.command = ["-j", json.dumps(whole)]
        case.claim("ignores this keyword", first[:2] == other[:2], keyword, first, other)


def silent(case):
    """Options that other notes call idle."""
    rng = case.rng
    pathlib.Path("v.txt").write_text("".join(f"t{i}\n" for i in range(case.n)))
    for extra, note, instead in ((["--ignore-eos", "--vocab", "v.txt"], "no end-of-generation token", ["--vocab", "v.txt"]),
                                 (["--reasoning-budget", "1"], "has no effect without", []),
                                 (["--dry-sequence-breaker", ""], "an empty breaker is left out", []),
                                 (["--dry-multiplier", "2", "--dry-sequence-breaker", "t1"], "match nothing", ["--dry-multiplier", "2"]),
                                 (["-v", "--backend-sampling"], "there is no backend", []),
                                 (["--rows", f":{len(case.logits) + 3}"], "is beyond the last row", [])):
        notes = case.run(*extra)[2]
        if note in notes:
            case.claim(note, case.outcome(*extra) == case.outcome(*instead), extra)


def partial(case):
    """What is said of tokens of lists is true of the whole rows: --draws, --diff, --dump-probs, --expect."""
    rng = case.rng
    stages = rng.sample([s for s in SAMPLERS if s not in MOVED], rng.randrange(1, 4))
    pairs = accepted(case, [p for p in options(rng, None) if p[0] != "--mirostat"], ["--samplers", ";".join(stages)])
    chain = ["--samplers", ";".join(stages), *words(pairs)]
    ids = [rng.randrange(case.n) for _ in case.logits]
    pathlib.Path("list.json").write_text(reply_of(case.logits, rng.randrange(1, case.n)))
    pathlib.Path("draws").write_text("\n".join(map(str, ids)) + "\n")
    accept = ["--accept", ",".join(map(str, case.accept))] if "--accept" in case.base else ["--independent"]

    def run(rows, *more):
        done = subprocess.run([SAMPL, "-s", "7", "-n", str(case.n), *accept, *chain, *more, *(["-f", "f32"] if rows == "rows" else []), rows],
                              capture_output=True, env=ENV)
        case.command = [*accept, *chain, *more]
        return done.returncode, done.stdout.decode()
    for view in (["--draws", "draws"], ["--expect", ",".join(map(str, ids))]):
        if view[0] == "--expect" and run("list.json", "--emit", "stats", "-O", "json")[1].count('"exact":false'):
            continue
        listed, whole = run("list.json", *view)[1], run("rows", *view)[1]

        def said(text):
            text = re.sub(r' "[^"]*"', "", text)
            found = re.findall(r"row (\d+): (\d+) (?:removed by|not kept after) (\S+?)(?:, rank (\d+)(, the next best)?|, (not listed|below the list))$", text, re.M)
            found += [(r, i, s, "ranked", "", "") for r, i, s in re.findall(r"row (\d+): expected (\d+).*\n  \d+ is not among the \d+ kept: [^;\n]*; (\S+) (?:removed it|keeps)", text)]
            found += [(r, i, s, "", "", "") for r, i, s in re.findall(r"row (\d+): expected (\d+).*\n  \d+ is not among the \d+ kept: (?:not listed|below the list); not kept after (\S+)", text)]
            return {(r, i): (s, rank, best) for r, i, s, rank, best, _ in found}
        there = said(whole)
        for place, (stage, rank, best) in said(listed).items():
            if place in there:
                # A token without a rank is not kept after the stage: that one or an earlier one of the whole row removed it.
                by = there[place][0].rstrip(":,")
                earlier = by in stages and stage.rstrip(":,") in stages and stages.index(by) <= stages.index(stage.rstrip(":,"))
                case.claim("list: removed by", by == stage.rstrip(":,") or (not rank and earlier), place, stage, there[place])
            if place in there and view[0] == "--draws":
                case.claim("list: rank", not rank or there[place][1:] == (rank, best), place, rank, best, there[place])
            elif view[0] == "--draws":
                case.claim("list: removed", len(there) >= 10, place, stage, whole[:300])
    _, out = run("list.json", "--vs", "v: --top-k 3", "--dump-probs=2", "-O", "json", *(["--accept", ",".join(map(str, ids))] if accept[0] == "--accept" else []))
    _, full = run("rows", "--vs", "v: --top-k 3", f"--dump-probs={case.n}", "-O", "json", *(["--accept", ",".join(map(str, ids))] if accept[0] == "--accept" else []))
    for a, b in zip(out.splitlines(), full.splitlines()):
        a, b = json.loads(a), json.loads(b)
        if "top_probs" not in a or "top_probs" not in b:
            continue
        whole = {t["id"]: t["probs"] for t in b["top_probs"]}
        for token in a["top_probs"]:
            for name, p in token["probs"].items():
                case.claim("list: masked in the row", p != "row", a["row"], token)


def variants(case):
    """Options of a variant that are said to have no effect, or that its engine is said to ignore."""
    rng = case.rng
    engine = rng.choice(ENGINES)
    stages = ";".join(rng.choice(SAMPLERS) for _ in range(rng.randrange(1, 4)))
    base = accepted(case, options(rng, None)[:2], [])
    own = accepted(case, options(rng, None)[:3], ["--samplers", stages])
    for name, command in (("v", ["--vs", f"v: --samplers {stages} "]), (f"engine={engine}", ["--sweep", f"engine={engine}", ""])):
        def table(base, own):
            extra = [command[0], command[1] + " ".join(words(own))] if name == "v" else command[:2]
            code, out, notes = case.run(*words(base), *extra, "--diff=100", "-O", "json")
            lines = [json.loads(line) for line in out.splitlines() if f'"variant":"{name}"' in line]
            return code, sorted((line["row"], line["id"], line["prob"]) for line in lines), notes
        first = table(base, own)
        for option, phrase in re.findall(rf"variant '{name}': --(\S+) (has no effect.*)", first[2]):
            if option in ("samplers", "mirostat"):
                continue
            case.claim("variant: has no effect", table(base, [p for p in own if p[0] != f"--{option}"])[:2] == first[:2], option, phrase)
        ignored = re.search(rf"variant '{name}': engine \S+ has no stage for (.*), which it ignores", first[2])
        if ignored and name != "v":
            left = [p for p in base if p[0] not in ignored[1].split(", ")]
            case.claim("variant: which it ignores", table(left, own)[1] == first[1], ignored[1], first[1], table(left, own)[1])


SHORT = r"(-?[0-9.]+(?:e[-+]\d+)?)"


def accounts(case):
    """What a stage says of a row: against the candidates before and behind it, and the history."""
    rng, n = case.rng, case.n
    names = [rng.choice(SAMPLERS) for _ in range(rng.randrange(1, 5))]
    case.base += [] if "--accept" in case.base else ["--accept", ",".join(map(str, case.accept))]
    prompt = [rng.randrange(min(n, 4)) for _ in range(rng.choice([0, 1, 8]))]
    case.base += ["--prompt-tokens", ",".join(map(str, prompt))] if prompt else []
    chain = ["--mirostat", "2", "--mirostat-ent", rng.choice("1589")] if rng.random() < 0.1 else ["--samplers", ";".join(names)]
    chain += ["--engine", rng.choice(ENGINES)] if rng.random() < 0.2 else []
    chain = [w for w in chain if "--engine" not in chain or w not in ("--samplers", ";".join(names))]
    own = [p for s in GENERATED["samplers"] if s["name"] in names for p in s["params"]]
    pairs = accepted(case, [(f"--{p}", rng.choice(PROBES)) for p in dict.fromkeys(own) if rng.random() < 0.8], chain)
    code, out, _ = case.run(*chain, *words(pairs), f"--trace={n}", "-O", "json")
    if code:
        return
    repeats = {"penalties", "repeat_each", "penalties_vllm", "penalties_output", "penalties_window"}
    for record in map(json.loads, out.splitlines()):
        row = record["row"]
        history = prompt + case.accept[:row]
        before = {i: x for i, x in enumerate(case.logits[row]) if x > -math.inf}
        for stage in (s for s in record["stages"] if s["enabled"]):
            name, says, params, notes = stage["name"], stage.get("says", ""), stage["params"], stage["notes"]
            after = {t["id"]: t["logit"] for t in stage["top_probs"]}
            same, what = before == after, (row, stage["name"], says, params)
            idle = re.match("did not act|kept all|changed no logit|only sorts", says)
            if idle:
                case.claim("says: the row stays as it was", same, *what, before, after)
            elif same and stage is not record["stages"][-1] and not name.startswith("softmax"):
                case.claim("says: there is a reason", False, *what, before)
            most = max(before.values())
            weights = {i: math.exp(x - most) for i, x in before.items()}
            p = {i: w / sum(weights.values()) for i, w in weights.items()}
            near = lambda text, x: math.isclose(float(text), x, rel_tol=6e-3, abs_tol=1e-9)
            if drew := re.search(rf"(did not act|acted): drew {SHORT}, (?:acts|collides) below {SHORT}", says):
                limit = params.get("xtc_probability", params.get("scatter_collision"))
                case.claim("says: drew", near(drew[2], notes["draw"]) and near(drew[3], limit) and
                           (float(drew[2]) > float(drew[3])) == (drew[1] == "did not act") == (notes["draw"] > limit), *what, notes)
            if few := re.search(rf"(no|1) token above {SHORT}", says):
                above = sum(x >= params["xtc_threshold"] for x in p.values())
                case.claim("says: tokens above", above == (few[1] == "1") and near(few[2], params["xtc_threshold"]), *what, p)
            if rank := re.search(r"kept all: (\d+) candidates?, at most (\d+)", says):
                case.claim("says: candidates", len(before) == int(rank[1]) <= int(rank[2]), *what, before)
            if least := re.search(rf"the least probability is {SHORT}, at least {SHORT}", says):
                case.claim("says: least probability", near(least[1], min(p.values())) and float(least[1]) >= float(least[2]), *what, p)
            if ratio := re.search(rf"the least likely has {SHORT} of the largest probability, at least {SHORT}", says):
                case.claim("says: ratio", near(ratio[1], min(weights.values())) and near(ratio[2], next(iter(params.values()))) and
                           float(ratio[1]) >= float(ratio[2]), *what, weights)
            if total := re.search(rf"without the last they have {SHORT}, (?:below|not above) {SHORT}", says):
                case.claim("says: sum", near(total[1], 1 - min(p.values())) and float(total[1]) < float(total[2]), *what, p)
            if typical := re.search(rf"without the least typical they have {SHORT}, not above {SHORT}", says):
                entropy = -sum(x * math.log(x) for x in p.values() if x)
                far = max(abs(-math.log(x) - entropy) for x in p.values())
                case.claim("says: typical", any(near(typical[1], 1 - x) for x in p.values() if abs(abs(-math.log(x) - entropy) - far) < 1e-5)
                           and float(typical[1]) < float(typical[2]), *what, p)
            if repeated := re.match(r"(\d+) repeated", says):
                changed = {i: after[i] - x for i, x in before.items() if i in after and after[i] != x}
                case.claim("says: repeated", len(changed) == int(repeated[1]), *what, changed)
                largest = sorted(changed, key=lambda i: (-abs(changed[i]), i))[:3]
                case.claim("says: changed most", [abs(f["change"]) for f in stage["found"]] == sorted((abs(f["change"]) for f in stage["found"]), reverse=True)
                           and all(math.isclose(abs(f["change"]), abs(changed[i]), rel_tol=1e-4, abs_tol=1e-5) for f, i in zip(stage["found"], largest)), *what, changed)
                window = params.get("repeat_last_n", len(history))
                seen = history if window < 0 else history[len(history) - min(window, len(history)):]
                for f in stage["found"]:
                    counted = f["count"] == seen.count(f["id"]) if name in ("penalties", "repeat_each", "penalties_vllm") else f["count"] > 0
                    case.claim("says: counted", counted and f"{f['id']} x{f['count']} " in says, *what, seen)
            if name in repeats and same and says.startswith("did not act: no token was accepted"):
                case.claim("says: nothing accepted", not history or name in ("penalties_output", "penalties_window"), *what, history)
            if match := re.match(rf"repeats (\d+) tokens?(?: (?:\.\.\. )?([0-9 ]+))? of (\d+) tokens? back, {SHORT} \* {SHORT}\^(\d+) = {SHORT} for (\d+)", says):
                length, back, token = int(match[1]), int(match[3]), int(match[8])
                newest = history[len(history) - length:]
                older = history[len(history) - back - length:len(history) - back]
                case.claim("says: repetition", newest == older and history[-back] == token and
                           (not length or list(map(int, match[2].split())) == newest[-12:]), *what, history)
                value = float(match[4]) * params["dry_base"] ** int(match[6])
                case.claim("says: penalty", math.isclose(value, float(match[7]), rel_tol=6e-3, abs_tol=1e-9) and
                           int(match[6]) == length - params["dry_allowed_length"], *what)
                lost = min(after[i] - before[i] for i in after) if params["dry_multiplier"] > 0 else max(after[i] - before[i] for i in after)
                case.claim("says: lost most", math.isclose(after[token] - before[token], lost, rel_tol=1e-4, abs_tol=1e-5), *what, before, after)
            whole = not stage.get("rest") and not record.get("rest")
            case.claim("says: a reason with a number", not whole or says not in ("kept all", "changed no logit"), *what, before)
            if few := re.search(r"kept all: (\d+) candidates?, fewer than (\d+)", says):
                case.claim("says: few candidates", len(before) == int(few[1]) < int(few[2]), *what, before)
            if least := re.search(r"kept all: min-keep is (\d+)", says):
                case.claim("says: min-keep", params["min_keep"] == int(least[1]) >= len(before) - 3, *what, before)
            if tau := re.search(rf"tau over the range of the logits is {SHORT}, at least (\d+)", says):
                case.claim("says: tau", near(tau[1], params["min_k"] / (most - min(before.values()))) and int(tau[2]) == len(before) < float(tau[1]), *what, before)
            if power := re.search(rf"the power is {SHORT}", says):
                case.claim("says: power", near(power[1], math.exp(params["skew"])), *what)
            if stays := re.search(rf"the lowest stays {SHORT} below the largest", says):
                factor, curve, low = params["smoothing_factor"], params["smoothing_curve"], most - min(before.values())
                case.claim("says: lowest", near(stays[1], low) and
                           math.isclose(low, (3 - curve) / 2 * factor * low ** 2 + (curve - 1) / 2 * factor * low ** 3, rel_tol=1e-5), *what, before)
            if re.search("all are equal|it is the largest|they are equally likely", says):
                case.claim("says: equal", len(set(before.values())) == 1, *what, before)
            if re.search("logit: (each|it) is 0", says):
                case.claim("says: zeros", not any(before.values()), *what, before)
            if terms := re.search(r"kept all: (\d+) candidates?, and the limit is all of their entropy", says):
                case.claim("says: entropy", int(terms[1]) == len(before) and next(iter(params.values())) == 1, *what, before)
            if re.search("no repetition of", says):
                least, depth = max(params["dry_allowed_length"], 0), params["dry_penalty_last_n"]
                seen = history if depth < 0 else history[len(history) - min(depth, len(history)):]
                tail = seen[len(seen) - least:]
                found = [k for k in range(1, len(seen) - least + 1) if seen[len(seen) - k - least:len(seen) - k] == tail]
                case.claim("says: no repetition", not found, *what, seen)
            before = after


ATTACKS = [variants, partial, trace, twins, schemas, silent, idle, idle, temperatures, removal, lists, names, draws_of_seed, accounts, accounts, accounts]
for number in range(COUNT) if ONLY is None else [ONLY]:
    case = Case(number)
    ATTACKS[number % len(ATTACKS)](case)
for name, count in sorted(tried.items()):
    print(f"{count:6} {name}")
print(f"{failed} false")
sys.exit(failed > 0)
