#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes small changes to the sources, one at a time, and checks that a test fails: `make mutants` (COUNT=80 SEED=1 ONLY=PATTERN).

First, a copy of the tree is built with cover.c, and each bats file runs once, to record the lines that each test reaches. Then each mutant
is built in a copy, and the tests that reach its line run, the fastest first, until one fails. JOBS=2 mutants run at a time. LIMIT=300 runs
only the fastest tests of a mutant, 300 processor seconds in total. The tests run in their short form, as in `make check`, and then, if no
test fails, in the form of `make check-all`: the last lines say how many mutants each form finds. Mutants that no test detects are listed,
and the program ends with status 1, unless mutants.tsv has the reason why no test can detect them.

The machine's load changes no verdict: a test fails if one of its processes takes more than 60 processor seconds, and tests that wait without
an end are a failure only if they end in a quarter of the time without the change.

Recorded lines and detected mutants stay in build/mutants, from where a stopped run continues. The mutants of a SEED depend only on the
text of the changed lines, so that they are mostly the same after a change elsewhere."""
import collections
import concurrent.futures
import difflib
import functools
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"  # the first of the copies
JOBS, LIMIT = int(os.environ.get("JOBS") or 2), float(os.environ.get("LIMIT") or "inf")
COUNT, SEED = int(os.environ.get("COUNT") or 80), int(os.environ.get("SEED") or 1)
ONLY = re.compile(os.environ.get("ONLY") or "")
# These files test the sources themselves, or build programs of their own.
BLIND = {"layering", "install", "samplers", "get", "readme"}
NEAR = 10   # lines around the mutant whose tests also count if its own line has none
FIRST = 12  # number of tests that run first, then four times as many, and so on
UNITS = 10  # seconds to build the unit tests
PROCESS = 60  # processor seconds of a process
STEP, SHORT = 5, 40  # SAMPL_TEST_STEP, and its value for unit tests while lines are recorded
ENV = {**os.environ, "LC_ALL": "C", "CC": "gcc"}
NO_END = "does not end"
running = set()  # process groups
# The folder of cover.c's files. Each process writes a few hundred pages, for which a disk would be slow.
scratch = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)

# The replacements. Strings, comments and preprocessor lines are not changed.
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" % ", " / "),
    (r"(?<=[ (\[])0(?=[,;)\]])", "1"), (r"(?<=[ (\[])1(?=[,;)\]])", "2"), (r"(?<=[ (\[])1(?=[,;)\]])", "0"),
    (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"), (r"\bif \(!", "if ("), (r"\bif \((?=\w)", "if (!"),
    (r"\bbreak;", "continue;"), (r"\? ", "? 0 && "),
]
CALL = re.compile(r"^\s+(?!return|assert|free|va_|else|for|while|if|do|switch|sizeof)(\w+(?:->\w+)*)\(.*\);$")


def code_of(text):
    """Returns the text with strings, characters and comments replaced by # of the same length."""
    blank = lambda m: re.sub(r"[^\n]", "#", m.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def candidates(path):
    """Yields every change of a file: (line number from 0, the line, the changed line)."""
    text = path.read_text()
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n"))):
        if re.match(r"\s*#|\s*assert\(|\w.*;|static const|\s*static const", code):
            continue
        for pattern, to in SWAPS:
            for m in re.finditer(pattern, code):
                yield number, line, line[: m.start()] + to + line[m.end() :]
        if CALL.match(code):
            yield number, line, re.match(r"\s*", line).group() + ";"


def run_bats(tree, build, files, names=(), cover=None, limit=None, short=False):
    """Runs bats files of a copy, or only their tests of these names, and yields each result: (passed, number, name). The run ends when the
    caller stops iterating, or after `limit` seconds. short: in the form of `make check`."""
    env = {**ENV, "SAMPL": str(tree / build / "sampl"), "UNITS": str(tree / build / "unit"),
           **({"SAMPL_COVER": str(cover), "SAMPL_TEST_COSTS": f"{cover}.costs"} if cover else {}),
           **({"SAMPL_TEST_SHORT": "yes"} if short else {"SAMPL_TEST_STEP": str(SHORT if cover and "units" in files else STEP)})}
    some = ["-f", "^(" + "|".join(re.sub(r"([][\\.*^$+?(){}|])", r"\\\1", name) for name in names) + ")$"] if names else []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as tmp, subprocess.Popen(
        ["bash", "-c", f'ulimit -t {PROCESS}; exec bats --tap "$@"', "-", *some, *(f"tests/{file}.bats" for file in dict.fromkeys(files))],
        cwd=tree, env={**env, "TMPDIR": tmp}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    ) as bats:
        running.add(bats.pid)
        watch = threading.Timer(limit or 3600, os.killpg, (bats.pid, signal.SIGKILL))
        watch.start()
        try:
            for line in bats.stdout:
                m = re.match(r"(not )?ok (\d+) (.*?)( # skip.*)?$", line)
                if m:
                    yield not m[1], int(m[2]), m[3]
            if bats.wait() < 0:
                yield False, 0, NO_END
        finally:
            watch.cancel()
            if bats.poll() is None:
                os.killpg(bats.pid, signal.SIGKILL)
            running.discard(bats.pid)


def end(*_):
    for group in running:
        os.killpg(group, signal.SIGKILL)
    scratch.cleanup()
    os._exit(1)


def build(tree, *args):
    """Builds the copy. Ends the program with the messages of make if this fails."""
    made = make(tree, *args)
    return made.returncode == 0 or sys.exit(made.stderr)


def make(tree, *args):
    return subprocess.run(["make", "-s", "CFLAGS=-O1", "HARDEN=", *args], cwd=tree, env=ENV, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)


def blocks_of(program):
    """Returns {return address of the call that marks a basic block: the lines of the block, as (file, number from 1)}."""
    listing = subprocess.run(["objdump", "-dl", "--no-show-raw-insn", str(program)], capture_output=True, text=True, check=True).stdout
    blocks, lines, line, called = {}, set(), None, False
    for text in listing.split("\n"):
        at = re.match(r"\S*?(src/\w+/\w+\.c):(\d+)", text)
        code = re.match(r" +([0-9a-f]+):\t", text)
        if at:
            line = (at[1], int(at[2]))
        elif re.match(r"\S*:\d+", text):
            line = None  # a line of a header
        elif re.match(r"[0-9a-f]+ <", text):
            lines, line = set(), None  # the next function begins
        elif code:
            if called:
                blocks[int(code[1], 16)] = lines
            called = "<__sanitizer_cov_trace_pc>" in text
            if called:
                lines = set()
            if line:
                lines.add(line)
    return blocks


@functools.cache
def moved(file):
    """Returns {recorded line number: present number} and {present: recorded} of a file that may have changed since lines were recorded."""
    then, now = (path.read_text().split("\n") if path.exists() else [] for path in (WORK / "learnt" / file, TREE / file))
    blocks = [(0, 0, len(now))] if not then or then == now else difflib.SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks()
    pairs = [(a + i + 1, b + i + 1) for a, b, size in blocks for i in range(size)]
    return dict(pairs), {b: a for a, b in pairs}


def learn():
    """Returns the tests that reach each line, as {"FILE:NUMBER": {(bats file, name)}}, and the seconds of each test. Records them in
    build/mutants/reached, which takes some minutes; remove this folder after many changes. Moved lines are found, new lines have no tests."""
    notes, blocks = WORK / "reached", {}
    notes.mkdir(parents=True, exist_ok=True)
    if not any(notes.iterdir()):
        shutil.rmtree(WORK / "learnt", ignore_errors=True)
        shutil.copytree(TREE / "src", WORK / "learnt" / "src")
    names = [bats.stem for bats in sorted(TREE.glob("tests/*.bats"), key=lambda p: -p.stat().st_size) if bats.stem not in BLIND]

    def note(name):
        folder = pathlib.Path(scratch.name, name)
        folder.mkdir()
        cases, reached = {}, collections.defaultdict(set)
        for passed, number, case in run_bats(TREE, "build/cov", [name], cover=folder):
            # A test may fail only with cover.c, which maps a file.
            if passed or all(ok for ok, *_ in run_bats(TREE, "build", [name], [case])):
                cases[number] = case
        costs = pathlib.Path(f"{folder}.costs")
        rows = [row.split("\t") for row in costs.read_text().splitlines()] if costs.exists() else []
        seconds = {case: float(s) for s, _, case in rows}  # of processors
        cases = {number: (case, seconds.get(case, 0)) for number, case in cases.items()}
        for seen in folder.iterdir():
            number, program = seen.name.split(".", 1)
            ran = [m.start() for m in re.finditer(rb"[^\0]", seen.read_bytes())]
            for file, line in set().union(*(blocks.get(program, {}).get(at, ()) for at in ran)):
                if line in moved(file)[1]:
                    reached[f"{file}:{moved(file)[1][line]}"].update(cases if number == "0" else {int(number)} & cases.keys())
        shutil.rmtree(folder)
        (notes / name).write_text(json.dumps({"cases": cases, "reached": {line: sorted(n) for line, n in reached.items()}}))
        print(f"{name}: {sum(s for _, s in cases.values()):.0f} s of processors", flush=True)

    missing = [name for name in names if not (notes / name).exists()]
    if missing:
        subprocess.run(["gcc", "-O2", "-c", "-o", str(WORK / "cover.o"), str(ROOT / "tests" / "cover.c")], check=True)
        build(TREE, f"-j{JOBS}", "BUILD=build/cov", "CFLAGS=-O1 -g -fsanitize-coverage=trace-pc", f"LDFLAGS={WORK / 'cover.o'}", "all", "units")
        for program in (TREE / "build" / "cov" / "sampl", *(p for p in (TREE / "build" / "cov" / "unit").iterdir() if not p.suffix)):
            blocks[program.name] = blocks_of(program)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            list(pool.map(note, missing))
    reached, seconds = collections.defaultdict(set), {}
    for name in names:
        kept = json.loads((notes / name).read_text())
        for place, numbers in kept["reached"].items():
            file, line = place.split(":")
            now = moved(file)[0].get(int(line))
            reached[f"{file}:{now}"].update((name, kept["cases"][str(n)][0]) for n in numbers)
        seconds.update({(name, case): s for case, s in kept["cases"].values()})
    return reached, seconds


def bare(line):
    """Returns the line without blanks around it and without a comment at its end."""
    return re.sub(r"\s*//[^\n]*$", "", line).strip()


def rows_of(path):
    """Returns {(file, line, changed line): reason} of the table. Lines are bare. A file may be FILE:FUNCTION, if others have the line, too."""
    rows = [row.split("\t") for row in path.read_text().splitlines() if row and not row.startswith("#")] if path.exists() else []
    return {(file, bare(line), bare(changed)): what for file, line, changed, what in rows}


def key(mutant):
    file, _, line, changed = mutant
    return file, bare(line), bare(changed)


def function_of(mutant):
    """Returns the name of the function that has the line."""
    lines = code_of((TREE / mutant[0]).read_text()).split("\n")
    heads = (re.match(r"\w[^;=]*?\b(\w+)\(", line) for line in reversed(lines[: mutant[1] + 1]))
    return next((head[1] for head in heads if head), "")


@functools.cache
def sound(cases, short, limit=None):
    """Returns whether these tests pass, and within the limit, without a change."""
    return all(passed for passed, *_ in run_bats(TREE, "base", [file for file, _ in cases], [name for _, name in cases], limit=limit, short=short))


def judge(tree, mutant, reached, seconds):
    """Builds and tests one mutant. Returns its result."""
    file, number, line, changed = mutant
    cases, away = set(), 0
    while not cases and away <= NEAR:  # the compiler moves the code of some lines to others
        cases = set().union(*(reached.get(f"{file}:{n}", ()) for n in (number + 1 - away, number + 1 + away)))
        away += 1
    if not cases:  # lines of a macro, or new lines
        cases = set().union(*(names for place, names in reached.items() if place.startswith(f"{file}:")))
    # The compiler may give the code of a line to another, which few tests reach: the cases of *.test, which take seconds, run last.
    more = sorted(c for c in seconds if c[0] == "cases" and c[1].endswith(".test") and c not in cases)
    every = sorted(cases, key=lambda c: (seconds[c] + UNITS * (c[0] == "units"), c))
    cases = [c for c, total in zip(every, itertools.accumulate(seconds[c] for c in every)) if total <= LIMIT]
    away = len(every) - len(cases)
    cases += more
    path = tree / file
    text = path.read_text()
    lines = text.split("\n")
    lines[number] = changed
    path.write_text("\n".join(lines))
    try:
        if make(tree, "all").returncode:
            return "no C"
        if (tree / "build" / "sampl").read_bytes() == (TREE / "base" / "sampl").read_bytes():
            return "no other code"
        for short in (True, False):
            killer = killed_by(tree, cases, seconds, short)
            if killer:
                return f"killed by {'the short suite' if short else 'the whole suite only'}: {killer}"
        return f"survived {len(cases)} cases" + (f" of {len(cases) + away}" if away else "")
    finally:
        path.write_text(text)


def killed_by(tree, cases, seconds, short):
    """Runs the tests, the first ones first, until one fails that passes without the mutant. Returns its file and name, or None."""
    begin, some = 0, FIRST
    while begin < len(cases):
        part = cases[begin : begin + some]
        if any(file == "units" for file, _ in part):
            make(tree, "units")
        limit = 120 + 20 * sum(seconds[c] for c in part)
        for passed, _, name in run_bats(tree, "build", [file for file, _ in part], [name for _, name in part], limit=limit, short=short):
            if passed:
                continue
            # The failure may be that of setup_file.
            if sound(tuple(part), short, limit / 4) if name == NO_END else all(sound((c,), short) for c in part if name in (c[1], "setup_file failed")):
                return f"{', '.join(c[0] for c in part if c[1] == name) or 'some'}.bats: {name}"
        begin, some = begin + some, some * 4
    return None


def mirror(tree):
    """Copies the tree, without built files."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if not (tree / name).exists() or (tree / name).read_bytes() != (ROOT / name).read_bytes():
            shutil.copy(ROOT / name, tree / name)
    for path in [*tree.glob("src/**/*.[ch]"), *tree.glob("tests/**/*")]:
        if path.is_file() and str(path.relative_to(tree)) not in names:
            path.unlink()


def main():
    signal.signal(signal.SIGHUP, end)  # under nohup the tests would otherwise ignore it
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    trees = [TREE] + [WORK / f"tree{i}" for i in range(2, JOBS + 1)]
    for tree in trees:
        mirror(tree)
    for tree in trees:
        build(tree, f"-j{JOBS}", "all")
        make(tree, "-k", f"-j{JOBS}", "units")  # a unit test that cannot be built fails without a change, too, and is not used
    shutil.rmtree(TREE / "base", ignore_errors=True)
    for program in (TREE / "build" / "sampl", *(p for p in (TREE / "build" / "unit").iterdir() if not p.suffix)):
        (TREE / "base" / program.parent.relative_to(TREE / "build")).mkdir(parents=True, exist_ok=True)
        shutil.copy(program, TREE / "base" / program.relative_to(TREE / "build"))
    reached, seconds = learn()
    every = [(str(p.relative_to(TREE)), *c) for p in sorted(TREE.glob("src/*/*.c")) for c in candidates(p)]
    known, kept = rows_of(ROOT / "tests" / "mutants.tsv"), WORK / "killed"
    there = {(str(p.relative_to(TREE)), bare(line)) for p in TREE.glob("src/*/*.c") for line in p.read_text().split("\n")}
    stale = [k for k in known if (k[0].split(":")[0], k[1]) not in there]
    every = [m for m in every if ONLY.search(f"{m[0]}:{m[1] + 1}")]
    every.sort(key=lambda m: (hashlib.sha256("\t".join((str(SEED), *key(m))).encode()).digest(), m))
    counts, left, lock, queue, before = collections.Counter(), [], threading.Lock(), iter(every), rows_of(kept)

    def work(tree):
        while True:
            with lock:
                mutant = next(queue, None) if counts["killed"] + counts["survived"] + counts["at work"] < COUNT else None
                counts["at work"] += bool(mutant)
            if not mutant:
                return
            file, number, line, changed = mutant
            why = known.get(key(mutant)) or known.get((f"{file}:{function_of(mutant)}", *key(mutant)[1:]))
            place = (f"{file}:{number + 1}", *key(mutant)[1:])
            verdict = before.get(place) or (f"survived: {why}" if why else judge(tree, mutant, reached, seconds))
            with lock:
                counts["at work"] -= 1
                counts[verdict.split(":")[0].split(" ")[0]] += 1
                if verdict.startswith("killed"):
                    counts[verdict.split(":")[0]] += 1
                print(f"{place[0]}: {line.strip()}\n    {changed.strip()}\n    {verdict}", flush=True)
                if verdict.startswith("survived") and not why:
                    left.append("\t".join(key(mutant)))
                elif verdict.startswith("killed"):
                    before[place] = verdict
                    kept.write_text("".join("\t".join((*k, v)) + "\n" for k, v in before.items()))

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(work, trees))
    print(f"{counts['killed']} of {counts['killed'] + counts['survived']} mutants killed, {len(left)} survivors unexplained")
    print(f"{counts['killed by the short suite']} by the short suite, {counts['killed by the whole suite only']} by the whole suite only")
    print(*left, *("mutants.tsv: no such line now: " + "\t".join(k) for k in stale), sep="\n")
    sys.exit(bool(left or stale))


if __name__ == "__main__":
    main()
