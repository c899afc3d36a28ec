#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs random command lines over random rows, and compares runs that must print the same output: `make check-same`
(COUNT=500 SEED=1).

Each function in RELATIONS is one relation. Case N tests relation N modulo their number. SEED and N determine the case.
ONLY=shards runs COUNT cases of this relation, ONLY=17 runs case 17. A case holds, or fails, or the program refuses its
command (status 2 and one message). A failed case prints its commands and the first difference; its files stay in
build/same/SEED-N.

The program prints its samplers, parameters, engines, presets and tiers, so that new ones are tested without a change
here."""
import array
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPL = os.path.abspath(os.environ.get("SAMPL") or ROOT / "build/sampl")
COUNT, SEED, JOBS = (int(os.environ.get(name) or number) for name, number in
                     (("COUNT", 500), ("SEED", 1), ("JOBS", os.cpu_count())))
ONLY = os.environ.get("ONLY") or ""
ENV = {name: value for name, value in os.environ.items() if name == "PATH" or name.endswith("SAN_OPTIONS")}
ENV |= {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "LC_ALL": "C"}

# Conditions under which a relation fails, and the reason. Such cases are left out. tests/README.md lists them.
LEFT_OUT = {
    "halves: candidates": "removed candidates become masked, and tfs, skew and no_repeat_ngram count masked candidates",
}

# A parameter's values are the PROBES that the program accepts, and numbers between them.
PROBES = "-1 -0.5 0 0.01 0.3 0.9 1 1.5 4 30 true false".split()
WIDTHS, WIDE = [1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 65, 100, 257, 300], [1025, 4097, 33000]
TEXTS = 'a,b, the,c,\\n,{,},", 1,2,:, of,</s>,ab,\\xc3,\\xa9,true,[,]'.split(",")
OF_VOCAB = ["", "", "--ignore-eos", "-l '\"a\"+2'", "--dry-sequence-breaker a --dry-multiplier 1", "-j '{}'",
            "--grammar 'root ::= [a-c ]*'", "--grammar 'root ::= (\" the\" | \"a\"+ \"b\")* \"2\"?'",
            "--grammar 'root ::= [^x]*' --grammar-first"]
OF_TOKENS = ["--bad-word-tokens={0}", "--eog-tokens={0} --min-tokens=2", "--dry-breaker-tokens={0} --dry-multiplier=1",
             "--reasoning-budget=1 --reasoning-start={1} --reasoning-end={0}"]
OUTPUTS = ["", "", "-O tsv", "-O json", "-O html", "-O json --stats", "--dump-probs", "--dump-probs=3 -O tsv",
           "--dump-probs -O json", "--trace", "--trace=2 --dump-probs -O tsv", "--trace=2 -O json", "--emit stats",
           "--emit stats -O json", "--emit probs -O text", "--emit probs -O f32", "--emit logits -O json",
           "--emit logits -O f16", "--emit logits", "--emit logprobs -O tsv", "--emit logprobs -O npy"]
TABLES = ["--vs '--temp 2'", "--vs '--temp 2' -O json", "--vs '--temp 2' --diff -O tsv",
          "--vs '--temp 2' --dump-probs=3", "--sweep temp=0,1 -O html"]
RAW = {"f32": "<f", "f16": "<e", "bf16": ""} # codes of module struct
COUNTABLE = [*RAW, "npy", "safetensors"]
FORMS = [*COUNTABLE, "json", "json", "pairs"]
IN_PARAMS = {"temp": "temperature", "top_nsigma": "top_n_sigma", "typical": "typical_p", "mirostat_ent": "mirostat_tau",
             "mirostat_lr": "mirostat_eta", "dynatemp_exp": "dynatemp_exponent",
             "repeat_penalty_slope": "rep_pen_slope", "no_repeat_ngram": "no_repeat_ngram_size",
             "encoder_repeat_penalty": "encoder_repetition_penalty"}


class Failed(Exception):
    """A relation does not hold: the reason and the runs."""


class Passed(Exception):
    """A case without a comparison: refused, or left out."""


Run = collections.namedtuple("Run", "line status out err")


def without_command(out):
    """The output without the line of a page that shows the command: -t and -o differ there."""
    return re.sub(rb'(?m)^<p class="command">.*\n', b"", out)


def execute(words, folder, tier=None, stdin=None):
    """Runs sampl. Checks the status, and that an error has one message."""
    line = (f"SAMPL_CPU={tier} " if tier else "") + shlex.join([SAMPL, *words]) + (f" <{stdin}" if stdin else "")
    with open(folder / stdin if stdin else os.devnull, "rb") as source:
        done = subprocess.run([SAMPL, *words], cwd=folder, env=ENV | {"SAMPL_CPU": tier} if tier else ENV, stdin=source,
                              capture_output=True, timeout=300, check=False)
    run = Run(line, done.returncode, without_command(done.stdout), done.stderr.decode(errors="replace"))
    errors = re.findall("^sampl: (?!warning:|note:)", run.err, re.MULTILINE)
    if run.status not in (0, 1, 2, 4) or re.search("Sanitizer|runtime error:", run.err) or (
            run.status == 2 and len(errors) != 1) or (run.status == 1 and not errors) or (
            run.status == 4 and (errors or "--expect" not in words)):
        raise Failed(f"status {run.status}, messages {run.err.strip()[:2000]!r}", run)
    return run


def leave_out(name, condition):
    if condition and name in LEFT_OUT:
        raise Passed("left out")


def same(why, one, other, *runs):
    """Fails with the first difference if two texts differ."""
    if one != other:
        lines = [(text.decode("latin-1") if isinstance(text, bytes) else str(text)).split("\n") + ["nothing"]
                 for text in (one, other)]
        p, q = next(pair for pair in zip(*lines) if pair[0] != pair[1])
        skip = max(0, len(os.path.commonprefix([p, q])) - 30)
        raise Failed(f"{why}: line {lines[0].index(p) + 1}, from character {skip}: {p[skip:skip + 150]!r} and "
                     f"{q[skip:skip + 150]!r}", *runs)


def agree(why, one, other, change=lambda text: ""):
    """Fails unless two runs have the same status, output, and messages after `change`."""
    same(f"{why}: status", one.status, other.status, one, other)
    same(why, one.out, other.out, one, other)
    same(f"{why}: messages", change(one.err), change(other.err), one, other)


def parameters(*chains):
    return sorted({name for stages in chains for params in stages.values() for name in params} - {"logit-bias"})


def sampler_names(fish):
    """Returns the samplers that the completions of fish name."""
    return re.search(r"-l samplers .*printf \S+ ([a-z0-9_ ]+)\"", fish)[1].split()


class Program:
    """The program's tiers, presets, engines, samplers and parameters, which the program prints."""

    def __init__(self, pool, folder):
        self.folder = folder
        (folder / "vocab").write_text("\n".join(TEXTS) + "\n")
        version, presets, fish = (self.ask(f"--{word}").out.decode() for word in
                                  ("version", "list-presets", "generate=fish"))
        self.tiers = re.search(r"\(of ([^)]*)\)", version)[1].split()
        self.presets = re.findall(r"(?m)^([^\t\n]+)\t", presets)
        engines = re.search(r"-l engine .*-a '(.*?)'", fish)[1].split()[1:]
        self.stages = {name: self.chain(f"--samplers={name}")[1] for name in sampler_names(fish)}
        self.selectors = [name for name, stages in self.stages.items() if list(stages)[-1] == name]
        kinds = ([[]], [["--neutral"]], [["--mirostat=1"], ["--mirostat=2"]],
                 [["--preset", name] for name in self.presets], [["--engine", name, "--temp=0.9"] for name in engines])
        self.starts = [[(words, *self.chain(*words)) for words in kind] for kind in kinds]
        chains = [stages for kind in self.starts for _, _, stages in kind] + list(self.stages.values())
        tries = [(name, value) for name in parameters(*chains) for value in PROBES]
        self.values = collections.defaultdict(list)
        for (name, value), run in zip(tries, pool.map(lambda t: self.ask(f"--{t[0]}={t[1]}", "--print-chain"), tries)):
            if run.status == 0:
                self.values[name].append(value)

    def ask(self, *words):
        return execute(["--vocab", "vocab", *words], self.folder)

    def chain(self, *words):
        """Returns the engine, and the options of each stage."""
        printed = json.loads(self.ask(*words, "--print-chain=json").out)
        return printed.get("engine", "llama"), {
            stage["name"]: [key.replace("_", "-") for key in stage if key not in ("name", "enabled", "min_tokens")]
            for stage in printed["chain"]}

    def value(self, rng, name):
        """Returns a random value for a parameter."""
        values = self.values[name]
        if values[0] in ("true", "false") or len(values) < 2 or rng.random() < 0.5:
            return rng.choice(values)
        at = rng.randrange(1, len(values))
        low, high, whole = float(values[at - 1]), float(values[at]), not any("." in value for value in values)
        return str(rng.randint(int(low), int(high))) if whole else f"{rng.uniform(low, high):.4g}"


class Rows:
    """Random rows of one width: short numbers, which every format holds exactly, or any f32 numbers."""

    def __init__(self, rng, short):
        self.short, self.ids, self.members = short, None, None
        self.v = rng.choice(WIDE) if rng.random() < 0.03 else rng.choice(WIDTHS)
        self.n = rng.randint(1, 2 if self.v > 1000 else 8)
        masked, style = rng.choice([0, 0, 0, 0.1, 0.5, 0.95]), rng.choice(["any", "any", "peak", "ties", "flat"])
        self.values = []
        for _ in range(self.n):
            scale, best = rng.choice([0.1, 1, 3, 10]), rng.randrange(self.v)
            row = [1.5 if style == "flat" else rng.randint(-4, 4) / 2 if style == "ties" else rng.gauss(0, scale)
                   for _ in range(min(self.v, 300))]
            row = row if self.v <= 300 else rng.choices(row, k=self.v)
            row[best] += 20 * (style == "peak")
            row = [max(-255, min(255, round(x * 8))) / 8 for x in row] if short else array.array("f", row).tolist()
            if masked:
                row = [x if i == best or rng.random() >= masked else -math.inf for i, x in enumerate(row)]
            self.values.append(list(rng.choice(self.values)) if self.values and rng.random() < 0.1 else row)
        if rng.random() < 0.06: # a bad row
            row = rng.choice(self.values)
            row[:] = [-math.inf] * self.v if rng.random() < 0.3 else row
            row[rng.randrange(self.v)] = rng.choice([math.nan, math.inf, -math.inf])


def pack(code, values):
    """Returns the bytes of numbers; without a code as bf16, the upper halves of f32."""
    data = struct.pack(f"{(code or '<f')[0]}{len(values)}{(code or '<f')[1]}", *values)
    return data if code else b"".join(data[i:i + 2] for i in range(2, len(data), 4))


class Case:
    """One case: its random numbers, its folder, and a random command."""

    def __init__(self, program, number, base):
        self.program, self.rng, self.dir = program, random.Random(f"{SEED} {number}"), base / str(number)
        self.dir.mkdir()

    def chance(self, share):
        return self.rng.random() < share

    def run(self, *words, **how):
        return execute(words, self.dir, **how)

    def first(self, *words):
        """Runs sampl, which may refuse the command."""
        run = self.run(*words)
        if run.status == 2:
            raise Passed("refused")
        return run

    def put(self, name, lines):
        (self.dir / name).write_text("".join(f"{line}\n" for line in lines))

    def tokens(self, n=0):
        return [self.rng.randrange(self.rows.v) for _ in range(n or self.rng.randint(1, 6))]

    def ids(self, n=0):
        return ",".join(map(str, self.tokens(n)))

    def names(self, most):
        """Returns samplers for a chain, some with a value."""
        chosen = []
        for name in self.rng.choices(list(self.program.stages), k=self.rng.randint(0, most)):
            own = self.program.stages[name].get(name)
            if name not in self.program.selectors and (self.vocab or name != "infill"):
                chosen.append(f"{name}={self.program.value(self.rng, own[0])}" if own and self.chance(0.2) else name)
        return chosen

    def stages(self, names):
        """Sets params to the options of the samplers."""
        self.params = parameters(*(self.program.stages[name.split("=")[0]] for name in names))

    def options(self, most):
        """Returns values for some of params."""
        names = self.rng.sample(self.params, self.rng.randint(0, min(most, len(self.params))))
        return [f"--{name}={self.program.value(self.rng, name)}" for name in names]

    def chain(self):
        """Returns the options of a random chain, the seed first. Sets engine, params and vocab (words)."""
        rng, words, self.vocab = self.rng, ["-s", str(self.rng.randrange(100))], ["--vocab", "vocab"] * self.chance(0.2)
        more, self.engine, stages = rng.choice(rng.choice(self.program.starts))
        self.params = parameters(stages)
        if self.chance(0.4):
            names = self.names(6) + [rng.choice(self.program.selectors)] * self.chance(0.15)
            more, self.engine = ["--samplers=" + ";".join(names)], "llama"
            self.stages(names)
        elif not more: # the default chain, to which options add samplers
            self.stages(self.program.stages)
        return words + more + self.options(6)

    def members(self):
        """Returns the members of each JSON row besides its numbers. The first row has a name."""
        rng, rows, seen = self.rng, [], set()
        for i in range(self.rows.n):
            name = rng.choice(["a", 7, None]) if i else "a"
            row = {} if name is None else {"seq": name}
            if self.params and self.chance(0.3):
                option = rng.choice(self.params)
                key, value = option.replace("-", "_"), self.program.value(rng, option).lstrip("-")
                row["params"] = {IN_PARAMS.get(key, key): json.loads(value)}
            row |= {"prompt_tokens": self.tokens()} if name not in seen and self.chance(0.3) else {}
            row |= {"accept": rng.randrange(self.rows.v)} if self.chance(0.2) else {}
            row |= {"end": True} if self.chance(0.1) and self.engine != "batch" else {}
            (seen.discard if "end" in row else seen.add)(name)
            rows.append(row)
        return rows

    def write(self, form):
        """Writes the rows in a format. Returns the words that read them, the file's name last."""
        rng, rows, n, v = self.rng, self.rows, self.rows.n, self.rows.v
        values, words, texts = [x for row in rows.values for x in row], ["-f", form] * self.chance(0.5), rows.values
        if form in RAW:
            data, words = pack(RAW[form], values), ["-f", form, "-n", str(v)] # without -f some bytes are recognised as JSON
        elif form == "npy":
            code, version = rng.choice(["<e", ">e"] * rows.short + ["<f", ">f", "<d", ">d"]), rng.choice([1, 2, 3])
            shape = rng.choice([(n, v), (n, 1, v), (1, n, v)] + [(v,)] * (n == 1))
            descr = code.replace("e", "f2").replace("d", "f8") if code[1] != "f" else code + "4"
            head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
            data = struct.pack("<6sBBH" if version == 1 else "<6sBBI", b"\x93NUMPY", version, 0, len(head)) + head
            data += pack(code, values)
        elif form == "safetensors":
            dtype = rng.choice(["F16", "BF16"] * rows.short + ["F32", "F64"])
            data = pack({"F16": "<e", "BF16": "", "F32": "<f", "F64": "<d"}[dtype], values)
            head = json.dumps({"rows": {"dtype": dtype, "shape": [n, v], "data_offsets": [0, len(data)]}}).encode()
            data = struct.pack("<Q", len(head)) + head + data
        elif form == "pairs":
            data = "".join(f"{i}: {x}\n" for i, x in rng.sample(list(enumerate(values)), v)).encode()
        else:
            if rows.members or self.chance(0.3):
                ids = [{"ids": ids} for ids in rows.ids or []] or [{}] * n
                texts = [{**m, **i, "logits": row} for m, i, row in zip(rows.members or [{}] * n, ids, texts)]
            data = (json.dumps(texts) if self.chance(0.2) else "\n".join(map(json.dumps, texts))).encode()
        (self.dir / f"rows.{form}").write_bytes(data)
        return words + [f"rows.{form}"]

    def source(self, forms=FORMS):
        """Writes random rows in one of the formats. Returns the words that read them."""
        self.form = self.rng.choice(forms)
        self.rows = rows = Rows(self.rng, self.form in ("f16", "bf16") or self.chance(0.3))
        if self.form == "pairs":
            rows.values, rows.n = rows.values[:1], 1
        if self.form == "json" and self.chance(0.5):
            rows.members = self.members()
            if self.chance(0.4): # sparse
                rows.v += self.rng.randint(0, 9)
                rows.ids = [self.rng.sample(range(rows.v), len(row)) for row in rows.values]
        return ["-n", str(rows.v)] * (rows.ids is not None and self.chance(0.7)) + self.write(self.form)

    def extras(self):
        """Options of the chain that name tokens. Writes the vocabulary."""
        rng, v, words = self.rng, self.rows.v, []
        self.put("vocab", (TEXTS + [f"t{i}" for i in range(len(TEXTS), v)])[:v])
        if self.engine != "llama":
            return words
        while self.chance(0.25):
            words.append(f"--logit-bias={rng.randrange(v)}{rng.choice(['-inf', '+1.5', '-2', '+10', '-0.25'])}")
        for option in OF_TOKENS:
            words += option.format(self.ids(rng.randint(1, 2)), rng.randrange(v)).split() * self.chance(0.08)
        return words + (shlex.split(rng.choice(OF_VOCAB)) if self.vocab else [])

    def context(self, plain=False):
        """Returns the options of prompt tokens and, unless plain, of accepted tokens, --independent and bad rows."""
        words = self.vocab + [f"--prompt-tokens={self.ids()}"] * self.chance(0.3)
        return words if plain else words + [f"--accept={self.ids(self.rows.n)}"] * self.chance(0.25) + [
            "--independent"] * self.chance(0.25) + ["--on-error=skip"] * self.chance(0.4)

    def command(self, output="", forms=FORMS, plain=False):
        """Returns a random command line."""
        chain, source = self.chain(), self.source(forms)
        return shlex.split(output) + chain + self.extras() + self.context(plain) + source


# ---- relations: each returns its first run


def tiers(case):
    """Every SIMD tier prints the same bytes."""
    words = case.command(case.rng.choice(OUTPUTS + TABLES))
    run = case.run(*words)
    for tier in case.program.tiers[:-1]:
        agree(f"tier {tier}", run, case.run(*words, tier=tier), str)
    return run


def threads(case):
    """Any number of threads prints the same bytes, also with --line-buffered and -o."""
    words = case.command(case.rng.choice([words for words in OUTPUTS + TABLES if "npy" not in words]))
    run = case.run(*words, "-t", "1")
    agree("2 threads", run, case.run(*words, "-t", "2"), str)
    more = case.rng.choice([["-t", "3"], ["-t", "3", "-o", "out"], ["--line-buffered"]])
    other = case.run(*words, *more)
    if "-o" in more: # a failed run leaves no file
        other = other._replace(out=run.out if other.status else without_command((case.dir / "out").read_bytes()))
    agree(" ".join(more), run, other, str)
    return run


def shards(case):
    """The outputs of parts, made by --shard or by pipes with --row-base, concatenate to the run."""
    output = case.rng.choice([words for words in OUTPUTS if not re.search("npy|html|stats$|logits$", words)])
    words = ["--independent"] * case.chance(0.4) + case.command(output, COUNTABLE)
    whole, n, out, worst, rows = case.first(*words), case.rng.randint(2, 4), b"", 0, case.rows.n
    piped = case.form in RAW and rows >= n and case.chance(0.4)
    for k in range(n):
        if piped:
            begin, end, data = rows * k // n, rows * (k + 1) // n, (case.dir / words[-1]).read_bytes()
            (case.dir / f"part{k}").write_bytes(data[len(data) * begin // rows:len(data) * end // rows])
            part = case.run(*words[:-1], "--row-base", str(begin), "-f", case.form, stdin=f"part{k}")
        else:
            part = case.run(*words, "--shard", f"{k + 1}/{n}")
        if part.status == 2 and k: # the chain needs the rows before
            raise Passed("refused")
        out, worst = out + part.out, max(worst, part.status)
        same(f"part {k + 1} of {n}", whole.out[:len(out)], out, whole, part)
        if part.status and len(out) == len(whole.out): # the whole run stopped here
            break
    same("all parts", whole.out, out, whole, part)
    same("status of the parts", whole.status, worst, whole, part)
    return whole


def without_empty_seq(text):
    """A TSV without its column seq, if that is empty in all rows: TSV of JSON rows always has it, as they may name a sequence."""
    lines = [line.split("\t") for line in text.split("\n")]
    if "seq" not in lines[0]:
        return text
    at, full = lines[0].index("seq"), [line for line in lines[1:] if len(line) == len(lines[0])]
    if any(line[at] for line in full):
        return text
    for line in lines[:1] + full:
        del line[at]
    return "\n".join("\t".join(line) for line in lines)


def formats(case):
    """Rows give the same output in any format, with their members in JSON or in a file of --params."""
    chain = case.chain()
    case.rows = data = Rows(case.rng, case.chance(0.7))
    data.members = case.members() if case.chance(0.3) else None
    case.put("params", map(json.dumps, data.members or []))
    output = case.rng.choice([words for words in OUTPUTS if not re.search("npy|html|logits$", words)])
    words, first = shlex.split(output) + chain + case.extras() + case.context(), None
    forms = ["f32", "npy", "safetensors", "json"] + ["f16", "bf16"] * data.short
    for form in case.rng.sample(forms + ["pairs"] * (data.n == 1 and not data.members), 3):
        reads = ["--params", "params"] * (data.members is not None and form != "json") + case.write(form)
        piped = case.chance(0.3)
        run = case.run(*words, *reads[:-1], "-f", form, stdin=reads[-1]) if piped else case.run(*words, *reads)
        if b"\tseq" in run.out.split(b"\n", 1)[0]:
            run = run._replace(out=without_empty_seq(run.out.decode("latin-1")).encode("latin-1"))
        first = first or run
        agree("formats", first, run, lambda text: re.sub(r"rows\.\w+|standard input", "rows", text))
    return first


def variants(case):
    """The records of a variant are those of a separate run."""
    stats, words, specs, own = case.chance(0.5), case.command(), [], [[]]
    if case.params and case.chance(0.3):
        option = case.rng.choice(case.params)
        values = list(dict.fromkeys(case.program.value(case.rng, option) for _ in range(3)))
        specs, own = ["--sweep", f"{option}={','.join(values)}"], own + [[f"--{option}={value}"] for value in values]
    for i in range(0 if specs else case.rng.randint(1, 3)):
        preset, options = case.rng.choice(case.program.presets), case.options(3)
        own.append(options or ["--preset", "default", "--preset", preset])
        specs += ["--vs", f"v{i}: {shlex.join(options)}" if options else preset]
    words = (["--emit", "stats", "-O", "json"] if stats else ["--emit", "ids"]) + words
    table, failures = case.first(*words, *specs), 0
    lines = table.out.decode().splitlines()
    for i, more in enumerate(own):
        run = case.run(*words, *more)
        alone, mine = run.out.decode().splitlines(), [line.split("\t")[i] for line in lines if not stats]
        if stats:
            mine = [re.sub(r',"variant":"([^"\\]|\\.)*"', "", line) for line in lines[i::len(own)]]
            # the numbers of scatter are there if any chain has it
            mine, alone = ([re.sub(r',"scatter_\w+":null', "", line) for line in some] for some in (mine, alone))
        alone = alone[:len(mine)] if table.status else alone # all variants stop at the row where one fails
        same("records of a variant", "\n".join(mine), "\n".join(alone), table, run)
        failures = max(failures, run.status)
    same("the worst status of the variants", table.status, failures, table, run)
    return table


def printed(case):
    """The output of --print-chain means the same chain as a preset, or, for llama's flags, as a command line."""
    form = case.rng.choice(["json", "preset", "server", "llama"])
    foreign = form in ("server", "llama") # without stages that are off, so that later options cannot change these
    chain, source = case.chain(), case.source(COUNTABLE if foreign else FORMS)
    chain += case.extras()
    if foreign: # other programs' scatter has none of these
        chain = [word for word in chain if not re.match("--scatter-(classes|neighbours|sigma)=", word)]
    later = [] if foreign else case.options(1)
    shown = case.first(*chain, *case.vocab, "--print-chain")
    saved = (case.first if foreign else case.run)(*chain, *case.vocab, f"--print-chain={form}")
    (case.dir / f"chain.{form}").write_bytes(saved.out)
    words = ["--preset", f"./chain.{form}"]
    if form == "llama":
        split = subprocess.run(["bash", "-c", "eval \"set -- $(cat chain.llama)\"; printf '%s\\0' \"$@\""],
                               cwd=case.dir, capture_output=True, check=True)
        words = split.stdout.decode().split("\0")[:-1]
    read = case.run(*words, *case.vocab, "--print-chain")
    if form == "server" and read.status == 2 and " is out of range" in read.err: # llama-server refuses the number, too
        raise Passed("refused")
    unfolded = [re.sub(r"\n +", " ", run.out.decode()) for run in (shown, read)]
    chains = [re.sub(r" \((command line|preset|neutral|model)\)", "", chain) for chain in unfolded]
    if foreign:
        chains = [re.sub(r"(?m)^\S+ +off .*\n", "", chain) for chain in chains]
    if form != "server": # which clamps numbers: a temperature of -1 is 0, and chooses the same tokens
        same(f"the chain by way of {form}", *chains, shown, saved, read)
    # A row's parameter may add its sampler to the default chain, but not to the printed one, which names its samplers.
    options = {value: key for key, value in IN_PARAMS.items()}
    given = [options.get(name, name).replace("_", "-") for row in case.rows.members or [] for name in row.get("params", {})]
    if any(f" {option}=" not in chains[0] for option in given):
        raise Passed("refused")
    more = case.context() + source + [word for word in later if f" {word[2:].split('=')[0]}=" in chains[0]]
    run = case.run(*chain, *more)
    agree(f"ids by way of {form}", run, case.run(*words, *more))
    return run


def again(case):
    """A printed distribution reads back with the same numbers."""
    form = case.rng.choice(["f32", "f16", "npy", "json"])
    what = case.rng.choice(["logits", "logprobs"] + ["probs"] * (form == "json"))
    run = case.first(*case.command(f"--emit {what} -O {form} -o printed.{form}", plain=True))
    if run.status:
        return run
    data, v = (case.dir / f"printed.{form}").read_bytes(), case.rows.v
    words = ["-s", "1", "--samplers=", "-f", form, *(["-n", str(v)] if form != "json" else []), f"printed.{form}"]
    if form == "f16" and b"\0\xfc" * v in data: # logits below the lowest f16, which masks the whole row
        return run
    if what == "probs": # read as logits by their logarithm
        read = case.run(*words, "--emit", what, "--expect", f"printed.{form}")
        same("probabilities", "", read.out.decode(), run, read)
    else:
        read = case.run(*words, "--emit", "logits", "-O", form)
        same(what, data.replace(b"logprobs", b"logits"), read.out, run, read)
    return run


def halves(case):
    """Two runs with the halves of a chain choose the ids of the whole chain, if the first half has no state."""
    chain, case.vocab, case.engine, cut = case.chain()[:2], [], "llama", "halves: candidates" in LEFT_OUT
    one, two = ([name for name in case.names(4) if not (cut and name.startswith("p_less"))] for _ in range(2))
    case.stages(one + two)
    chain += [word for word in case.options(5) if not (cut and word.startswith("--min-keep"))]
    source, extras, context = case.source(COUNTABLE), case.extras(), case.context(plain=True)
    two = [f"top_k={case.rows.v}"] + ["min_p=1e-30"] * cut + two # min_p removes masked candidates
    words = chain + extras + context + source
    whole = case.first(*words, "--samplers=" + ";".join(one + two))
    words += ["--samplers=" + ";".join(one), "--emit", "logits", "-O", "npy", "-o", "half.npy"]
    case.first(*words, "--shard", "2/2") # refused if the half has state
    half = case.run(*words)
    if whole.status == 0 and half.status == 0:
        rest = case.run(*chain, *context, "--samplers=" + ";".join(two), "half.npy")
        agree("the second half", whole, rest._replace(line=f"{half.line} && {rest.line}"))
    return whole


def accepted(case):
    """Accepting the chosen ids changes nothing, and --expect finds no difference from the run's own output."""
    words, what = case.command(forms=COUNTABLE, plain=True), case.rng.choice(["probs", "logprobs", "logits"])
    run = case.first(*words)
    if run.status:
        return run
    (case.dir / "ids").write_bytes(run.out)
    agree("its own ids accepted", run, case.run(*words, "--accept", "@ids"))
    dist = case.run(*words, "--emit", what, "-O", "npy", "-o", "expected.npy")
    for more in (["--expect", "@ids"], ["--emit", what, "--expect", "expected.npy", "--tolerance", "0"]):
        check = case.run(*words, *more)
        same("its own output expected", "", check.out.decode(), run, dist, check)
    return run


def numbers(case):
    """Text, TSV and JSON have the same numbers, and --stats has the means of --emit stats."""
    what = case.rng.choice(["ids", "dump", "stats", "logits", "probs", "table"])
    output = {"ids": "", "dump": "--dump-probs", "table": "--vs '--temp 2'"}.get(what, f"--emit {what}")
    words = case.command(output + " --stats")
    js = case.first(*words, "-O", "json")
    tsv, text = case.run(*words, "-O", "tsv"), case.run(*words, "-O", "tsv" if what == "stats" else "text")
    for run in (tsv, text):
        agree("another format", js, run._replace(out=js.out), str)
    found = [json.loads(line, parse_float=str, parse_int=str) for line in js.out.decode().splitlines()]
    good = items = [item for item in found if "error" not in item]
    if what == "dump":
        items = [item | top | {"rank": str(i + 1)} for item in good for i, top in enumerate(item["top_probs"])]
    elif what in ("logits", "probs"):
        items = [{"row": item["row"], "id": str(i), what[:-1]: x or "-inf"} for item in good
                 for i, x in enumerate(item[what])]
    head, *lines = [line.split("\t") for line in tsv.out.decode().splitlines()] or [[]]
    bad = [item["row"] for item in found if "error" in item]
    lines = [line for line in (dict(zip(head, line)) for line in lines) if line.get("row") not in bad]
    same("lines of TSV", len(items), len(lines), js, tsv)
    for item, line in zip(items, lines):
        both = [name for name in line if isinstance(item.get(name, {}), (str, type(None)))]
        mine = [line[name] if item[name] is None and line[name] in ("nan", "inf") else item[name] for name in both]
        same("a line of TSV", mine, [line[name] for name in both], js, tsv)
    shown = text.out.decode().splitlines()
    if what == "ids":
        same("text", [item["id"] or "-1" for item in found], shown, js, text)
    elif what in ("logits", "probs"):
        mine = [" ".join(x or "-inf" for x in item[what] or ["nan"] * case.rows.v) for item in found]
        same("text", mine, shown, js, text)
    elif what == "dump":
        noise = r"( +\S+){2}$" if any(line.split()[-2:] == ["noise", "value"] for line in shown) else "$"
        lines, shown, before = shown, [], ""
        for line in lines:
            if line.split()[:2] == ["rank", "id"]:
                before = r"\S+ +" if "before" in line.split() else ""
            if match := re.search(r"^[> +] *(\d+) +(\d+) .*?(\S+) +" + before + r"(\S+) +(\S+)" + noise, line):
                shown.append(tuple(map(float, match.groups()[:5])))
        mine = [tuple(float(item[name]) for name in ("rank", "id", "logit", "prob", "cum")) for item in items]
        near = [math.isclose(x, y, rel_tol=1e-6, abs_tol=5.1e-5) for p, q in zip(mine, shown) for x, y in zip(p, q)]
        same("text", mine, mine if all(near) and len(mine) == len(shown) else shown, js, text)
    elif what == "stats":
        for name, mean in re.findall(r"(?m)^(prob|raw_prob|raw_rank|n|entropy|kl_raw) +([\d.e+-]*\d)$", js.err):
            mine = [float(item[name]) for item in good if item[name] is not None]
            if len(mine) == len(good) and not math.isclose(sum(mine) / len(mine), float(mean), rel_tol=6e-6):
                raise Failed(f"the mean of {name} is {sum(mine) / len(mine)}", js)
    return js


RELATIONS = [tiers, threads, shards, formats, variants, printed, again, halves, accepted, numbers]


def main():
    names, kinds = [relation.__name__ for relation in RELATIONS], ["held", "refused", "left out", "failed"]
    cases = range(COUNT)
    if ONLY:
        cases = [int(ONLY)] if ONLY.isdigit() else range(names.index(ONLY), COUNT * len(names), len(names))
    with tempfile.TemporaryDirectory() as base, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        program = Program(pool, pathlib.Path(base))

        def outcome(number):
            relation, case = RELATIONS[number % len(RELATIONS)], Case(program, number, pathlib.Path(base))
            kept = ROOT / f"build/same/{SEED}-{number}"
            shutil.rmtree(kept, ignore_errors=True)
            try:
                found = ["held", "held", "refused"][relation(case).status]
            except Passed as why:
                found = why.args[0]
            except Exception as why:
                found, runs = "failed", why.args[1:] if isinstance(why, Failed) else ()
                shutil.copytree(case.dir, kept)
                print(f"{relation.__name__}, case {number} of seed {SEED}: {why.args[0] if runs else repr(why)}",
                      f"cd {kept}", *dict.fromkeys(run.line for run in runs), sep="\n    ", flush=True)
            shutil.rmtree(case.dir)
            return relation.__name__, found

        counts = collections.Counter(pool.map(outcome, cases))
    print(f"seed {SEED}; {', '.join(kinds)}:",
          "; ".join(" ".join([name, *(str(counts[name, kind]) for kind in kinds)]) for name in names))
    sys.exit(any(kind == "failed" for _, kind in counts) or not counts)


if __name__ == "__main__":
    main()
