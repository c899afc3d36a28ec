#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rows.py SAMPL COUNT SEED: compares the rows that --rows shows with the same rows of the whole run, for random inputs, chains, engines,
sequences, outputs, shards and thread counts. Statistics, tables, differences and audits must be those of the shown rows."""
import json
import math
import random
import struct
import subprocess
import sys

SAMPL, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ENGINES = "llama ollama akunu akunu-gpu batch transformers vllm vllm-v2 sglang mlx".split()
CHAINS = [
    [], ["--temp", "1.5"], ["--mirostat", "1"], ["--mirostat", "2", "--temp", "2"], ["--xtc-probability", ".5", "--xtc-threshold", ".05"],
    ["--repeat-penalty", "1.8", "--repeat-last-n", "3"], ["--presence-penalty", "2"], ["--dry-multiplier", "1", "--dry-allowed-length", "1"],
    ["--samplers", "adaptive_p", "--adaptive-target", ".3"], ["--samplers", "no_repeat_ngram;temperature", "--no-repeat-ngram", "2"],
    ["--scatter-strength", ".3", "--scatter-collision", ".5"], ["--scatter-strength", ".3", "--scatter-absorption", ".5"],
    ["--vocab", "words", "--grammar", "root ::= [a-e]* | [f-p]*"],
    ["--reasoning-budget", "2", "--reasoning-start", "3", "--reasoning-end", "4"],
    ["--vs", "--mirostat 2", "--vs", "--temp 2"], ["--vs", "--repeat-penalty 1.9"], ["--repeat-penalty", "1.4", "--vs", "--engine vllm"],
    ["--samplers", "top_k=3"], ["--temp", "0"], ["--min-tokens", "5", "--eog-tokens", "3,4,5"]]
OUTPUTS = [["--dump-probs=4"], ["--trace"], ["--emit", "logprobs"], ["--emit", "stats"], []]


def floats(rows, code="f"):
    return b"".join(struct.pack("<%d%s" % (len(row), code), *row) for row in rows)


def npy(rows, shape):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n" % (shape,)).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + floats(rows)


def kld(rng, chunks, per_chunk, n_vocab):
    """Chunks of 2 * per_chunk + 2 tokens, of which the last per_chunk + 1, but the first, are chosen from rows."""
    n_ctx = 2 * per_chunk + 2
    out = b"_logits_" + struct.pack("<Iii", n_ctx, n_vocab, chunks)
    out += struct.pack("<%di" % (n_ctx * chunks), *(rng.randrange(n_vocab) for _ in range(n_ctx * chunks)))
    for _ in range(chunks * per_chunk):
        out += struct.pack("<ff", 0.0002, -12) + struct.pack("<%dH" % n_vocab, *(rng.randrange(60000) for _ in range(n_vocab)))
        out += b"\0\0" * (n_vocab % 2)
    return out


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def make_input(rng):
    """Writes an input. Returns its options, its files, its number of rows, and the options that its sequences allow."""
    n_vocab, n = 16, rng.choice([1, 9, 30, 70])
    rows = [[rng.gauss(0, 2) for _ in range(n_vocab)] for _ in range(n)]
    kind = rng.choice(["f32", "f16", "files", "npy", "sequences", "kld", "json", "plain", "objects", "params", "reply", "bad reply", "bad", "broken"])
    more = []
    if kind in ("f32", "f16"):
        write("in." + kind, floats(rows, "e" if kind == "f16" else "f"))
        return ["-n", "16"], ["in." + kind], n, more
    if kind == "bad":
        for i in range(n):
            if rng.random() < .2:
                rows[i][rng.randrange(n_vocab)] = float("nan")
        write("in.f32", floats(rows))
        return ["-n", "16", "--on-error", "skip"], ["in.f32"], n, more
    if kind == "files":
        cut = sorted(rng.randrange(n + 1) for _ in range(2))
        for name, part in zip("abc", (rows[:cut[0]], rows[cut[0]:cut[1]], rows[cut[1]:])):
            write(name + ".f32", floats(part))
        return ["-n", "16"], ["a.f32", "b.f32", "c.f32"], n, more
    if kind == "npy":
        write("in.npy", npy(rows, (n, n_vocab)))
        return [], ["in.npy"], n, more
    if kind == "sequences":
        length = rng.randrange(2, 9)
        count = rng.randrange(2, 6)
        rows = [[rng.gauss(0, 2) for _ in range(n_vocab)] for _ in range(length * count)]
        write("in.npy", npy(rows, (count, length, n_vocab)))
        return [], ["in.npy"], length * count, more
    if kind == "kld":
        chunks, per_chunk = rng.randrange(1, 6), rng.randrange(1, 7)
        write("in.kld", kld(rng, chunks, per_chunk, n_vocab))
        return rng.choice([[], ["--accept", "recorded"]]), ["in.kld"], chunks * per_chunk, more
    if kind in ("reply", "bad reply"):
        position = [{"token": "t%d" % rng.randrange(n_vocab), "logprob": -1, "top_logprobs": [
            {"token": "t%d" % i, "logprob": x} for x, i in sorted(((-abs(x) - .5, i) for i, x in enumerate(row)), reverse=True)]} for row in rows]
        for p in position:
            p["logprob"] = next(t["logprob"] for t in p["top_logprobs"] if t["token"] == p["token"])
        bad = kind == "bad reply"
        for p in position if bad else []:
            if rng.random() < .3:
                p["top_logprobs"] = p["top_logprobs"][:rng.randrange(1, 6)]
            if rng.random() < .15:
                p.pop("top_logprobs")
        cut = rng.randrange(n + 1)
        replies = [{"choices": [{"logprobs": {"content": part}}]} for part in (position[:cut], position[cut:]) if part]
        write("in.json", "\n".join(map(json.dumps, replies)))
        skip = ["--on-error", "skip"] if bad else []
        return ["--vocab", "texts", *skip, *rng.choice([[], ["--accept", "recorded"]])], ["in.json"], n, more
    lines = []
    for i, row in enumerate(rows):
        text = json.dumps(row)
        value = {"logits": row}
        if kind in ("objects", "params"):
            notes = {}
            if rng.random() < .7:
                notes["seq"] = rng.choice(["a", "b", "c"])
            if rng.random() < .1:
                notes["accept"] = rng.randrange(n_vocab)
            if rng.random() < .1:
                notes["params"] = rng.choice([{"temperature": .5}, {"top_k": 3}, {"seed": 9}, {"repeat_penalty": 1.4}])
            if rng.random() < .05 and "seq" in notes:
                notes["end"] = True
            value.update(notes)
            text = json.dumps(notes if kind == "params" else value)
        elif kind == "broken" and rng.random() < .15:
            text = rng.choice(["[1,", "{}", "[1,\"x\"]", "x", "[NaN,1]"])
        lines.append(text)
    if kind == "params":
        write("in.params", "\n".join(lines) + "\n")
        write("in.f32", floats(rows))
        return ["-n", "16", "--params", "in.params"], ["in.f32"], n, more
    write("in.json", "\n".join(lines) + "\n")
    return ["--on-error", "skip"] if kind == "broken" else [], ["in.json"], n, more


def random_rows(rng, n, counted):
    """Returns a value of --rows, and the set of the rows that it names."""
    shown, texts = set(), []
    for _ in range(rng.randrange(1, 4)):
        first, last = rng.randrange(-n if counted else 0, n + 2), rng.randrange(-n if counted else 0, n + 3)
        form = rng.randrange(5)
        if form == 0:
            texts.append(str(first))
            last = first + 1 if first != -1 else None
        elif form == 1:
            texts.append("%d:" % first)
            last = None
        elif form == 2:
            texts.append(":%d" % last)
            first = None
        else:
            texts.append("%d:%d" % (first, last))
        shown |= set(range(n)[first:last])
    return ",".join(texts), shown


def run(words):
    got = subprocess.run([SAMPL, *words], capture_output=True, check=False)
    return got.stdout.decode(), got.stderr.decode(), got.returncode


def records(text):
    """The records of a run by row. Those of variants have a number each."""
    by_row = {}
    for line in text.splitlines():
        record = json.loads(line)
        by_row.setdefault(record["row"], []).append(line)
    return by_row


def near(a, b):
    return a == b or (a is not None and b is not None and (math.isnan(a) and math.isnan(b) or abs(a - b) <= 2e-5 * max(1, abs(b))))


def mean(values):
    values = [math.nan if x is None else x for x in values]
    return sum(values) / len(values) if values else math.nan


def check_statistics(words, rows, shown, files):
    """--stats of a part has the means of the records that the whole run has of these rows."""
    whole, err, status = run([*words, "--emit", "stats", "-O", "json", *files])
    text, err, status = run([*words, "--rows", rows, "--stats", *files])
    if status not in (0, 1) or not shown:
        return 0
    got = dict(line.split()[:2] for line in err.splitlines() if len(line.split()) == 2)
    want = [json.loads(line) for line in whole.splitlines()]
    all_shown = [x for x in want if x["row"] in shown]
    want = [x for x in all_shown if x["id"] is not None]
    for key in ("prob", "raw_prob", "n", "entropy_raw", "entropy", "kl_raw"):
        if key in got and not near(math.nan if got[key] == "-" else float(got[key]), mean([x.get(key) for x in want])):
            return "%s is %s, not %s" % (key, got[key], mean([x.get(key) for x in want]))
    counts = int(got["rows"]), int(got["bad_rows"])
    wanted = len(all_shown), len(all_shown) - len(want)
    return counts == wanted or "rows and bad rows are %s, not %s" % (counts, wanted)


def check_table(words, rows, shown, files):
    """A table of variants has the means of the records that the whole run has of these rows."""
    whole, err, status = run([*words, "--emit", "stats", "-O", "json", *files])
    text, err, status = run([*words, "--rows", rows, "-O", "json", *files])
    if status not in (0, 1) or not text:
        return 0
    records = [json.loads(line) for line in whole.splitlines()]
    for line in map(json.loads, text.splitlines()):
        want = [x for x in records if x["row"] in shown and x["variant"] == line["name"] and x["id"] is not None]
        for key, of in (("kept", "n"), ("entropy", "entropy"), ("kl_raw", "kl_raw"), ("e_prob", "e_prob")):
            if want and not near(line[key], mean([x[of] for x in want])):
                return "%s of %s is %s, not %s" % (key, line["name"], line[key], mean([x[of] for x in want]))
        if line["rows"] != len(want):
            return "%d rows of %s, not %d" % (line["rows"], line["name"], len(want))
    return 1


def check_differences(words, rows, shown, files):
    """--diff prints the records of the whole run that are shown."""
    whole, err, status = run([*words, "--diff=1000", "-O", "json", *files])
    part, err, status = run([*words, "--rows", rows, "--diff=1000", "-O", "json", *files])
    if status not in (0, 1):
        return 0
    want, got = ([line for line in text.splitlines() if '"row":' in line] for text in (whole, part))
    want = [line for line in want if json.loads(line)["row"] in shown]
    return want == got or "%d rows differ, not %d" % (len(got), len(want))


def check_numbers(words, rows, shown, files):
    """The distributions of a part are those of the whole run, bit by bit."""
    whole, part = (subprocess.run([SAMPL, *words, *more, "--emit", "logits", "-O", "f32", *files], capture_output=True, check=False)
                   for more in ([], ["--rows", rows]))
    if whole.returncode or part.returncode:
        return 0
    lines, err, status = run([*words, "-O", "json", *files])
    numbers = [json.loads(line)["row"] for line in lines.splitlines()]
    size = len(whole.stdout) // max(1, len(numbers))
    want = b"".join(whole.stdout[i * size:(i + 1) * size] for i, row in enumerate(numbers) if row in shown)
    return want == part.stdout or "%d bytes, not %d" % (len(part.stdout), len(want))


def check_audit(words, rows, shown, files):
    """The tokens of the whole run match in an audit of a part; of one other token at its end, an audit and --expect know the row."""
    lines, err, status = run([*words, "-O", "json", *files])
    records = [x for x in map(json.loads, lines.splitlines()) if x["row"] in shown]
    if not records or None in [x["id"] for x in records]:
        return 0
    ids = [x["id"] for x in records]
    text, err, status = run([*words, "--rows", rows, "--audit", ",".join(map(str, ids)), "-O", "json", *files])
    if status == 0 and "accept" not in "".join(open(name, encoding="latin-1").read() for name in {*words, *files} if name.startswith("in.")):
        *each, total = map(json.loads, text.splitlines())
        if total["rows"] + total["unknown"] + total["bad"] != len(ids) or total["match"] != 1 or [x["row"] for x in each] != [x["row"] for x in records]:
            return "--audit: %d rows match of %s, not of %d" % (sum(x["match"] for x in each), total["rows"], len(ids))
    ids[-1] = (ids[-1] + 1) % 16
    text, err, status = run([*words, "--rows", rows, "--expect", ",".join(map(str, ids)), "-O", "json", *files])
    if status not in (0, 4):
        return 0
    found = [(x["row"], x["index"]) for x in map(json.loads, text.splitlines()) if "index" in x]
    return found == [(records[-1]["row"], len(ids) - 1)] or "--expect finds %s, not row %d" % (found, records[-1]["row"])


def check_views(words, rows, shown, files, variants):
    """Returns how many views were compared. Exits if one is wrong."""
    done = 0
    for check in (check_table, check_differences) if variants else (check_statistics, check_numbers, check_audit):
        result = check(words, rows, shown, files)
        if isinstance(result, str):
            sys.exit("%s: %s --rows %s %s: %s" % (check.__name__, " ".join(map(repr, words)), rows, files, result))
        done += bool(result)
    return done


def main():
    write("words", "\n".join("abcdefghijklmnop"))
    write("texts", "\n".join("t%d" % i for i in range(16)))
    compared = skipped = views = 0
    for i in range(COUNT):
        rng = random.Random(SEED * 1000003 + i)
        options, files, n, _ = make_input(rng)
        chain = rng.choice(CHAINS)
        if "--vocab" in chain and "--vocab" in options:
            chain = []
        if rng.random() < .4:
            chain = ["--engine", rng.choice(ENGINES), *chain]
        if "--vs" not in chain and files[0].endswith(("f32", "f16")) and rng.random() < .15:
            write("other.f32", floats([[rng.gauss(0, 2) for _ in range(16)] for _ in range(n)]))
            chain = [*chain, "--against", "other.f32"]
        variants = "--vs" in chain or "--against" in chain
        output = rng.choice([["--emit", "stats"], ["--dump-probs=3"]] if variants else OUTPUTS)
        more = ["-s", str(rng.randrange(99))]
        if "--accept" not in options and rng.random() < .25:
            more += ["--accept", ",".join(str(rng.randrange(16)) for _ in range(n))]
            if rng.random() < .2 and not variants:
                output = ["--emit", "score"]
        if rng.random() < .2:
            more += ["--independent"]
        if rng.random() < .2:
            more += ["--prompt-tokens", "1,2,1"]
        if rng.random() < .15:
            more += ["--first", str(rng.randrange(n))]
        whole = [*options, *chain, *more, *output, "-O", "json", *files]
        want, err, status = run(whole)
        if status not in (0, 1) or (status == 1 and "--on-error" not in options):
            skipped += 1
            continue
        want = records(want)
        first = int(more[more.index("--first") + 1]) if "--first" in more else 0
        if set(want) != set(range(first, n)):  # broken lines that hide rows
            skipped += 1
            continue
        counted = not files[0].endswith("json")
        rows, shown = random_rows(rng, n, counted)
        part = [*whole[:-len(files)], "--rows", rows, "-t", rng.choice("124"), *files]
        texts = []
        if counted and rng.random() < .3:
            shards = rng.randrange(2, 4)
            for k in range(shards):
                text, err, status = run([*part[:-len(files)], "--shard", "%d/%d" % (k + 1, shards), *files])
                if status == 2 and "--shard" in err:
                    texts = []
                    break
                texts.append(text)
        if not texts:
            text, err, status = run(part)
            texts = [text]
        got = records("".join(texts))
        wanted = {row: lines for row, lines in want.items() if row in shown}
        if got != wanted or status not in (0, 1):
            bad = [row for row in sorted(set(got) | set(wanted)) if got.get(row) != wanted.get(row)]
            sys.exit("case %d: %s\nstatus %d, rows %s\nwant %s\ngot  %s\n%s" % (i, " ".join(map(repr, part)), status, bad[:9], str(wanted.get(bad[0]) if bad else "")[:300],
                                                                        str(got.get(bad[0]) if bad else "")[:300], err))
        ids = [str(json.loads(line).get("id", "")).replace("None", "") for row in sorted(wanted) for line in wanted[row]]
        if ids and all(ids) and not variants and "--accept" not in whole:
            text, err, status = run([*options, *chain, *more, "--rows", rows, "--expect", ",".join(ids), *files])
            if status:
                sys.exit("case %d: --expect: status %d\n%s\n%s" % (i, status, text, err))
        if rng.random() < .2:
            views += check_views([*options, *chain, *more], rows, set(wanted), files, variants)
        compared += len(wanted)
    if compared < COUNT or skipped > COUNT // 2 or views < COUNT // 10:
        sys.exit("too few rows were compared: %d and %d views, %d runs were refused" % (compared, views, skipped))
    print("%d rows of %d runs are those of the whole run, and so are %d views; %d runs were refused" % (compared, COUNT - skipped, views, skipped))


main()
