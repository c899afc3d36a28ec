#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes small changes to the source, one at a time, and sees whether a test notices: `make mutants` (COUNT=80 SEED=1 ONLY=PATTERN).

A copy of the tree is built with gcc's coverage, and each bats file runs once to learn which lines it reaches. Then each mutant is
built in the copy and the files that reach its line run, the quickest first, until one fails. What no test notices is listed, and the
program ends with status 1, unless mutants.tsv says why it cannot be seen."""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"
COUNT, SEED = int(os.environ.get("COUNT") or 80), int(os.environ.get("SEED") or 1)
ONLY = re.compile(os.environ.get("ONLY") or "")
# These look at the source itself, or build programs of their own.
BLIND = {"layering", "install", "samplers", "get", "readme"}
NEAR = 10
ENV = {**os.environ, "LC_ALL": "C", "CC": "gcc"}

# What is changed to what. Neither strings nor comments nor preprocessor lines are.
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \+= ", " -= "), (r" % ", " / "),
    (r"(?<=[ (\[])0(?=[,;)\]])", "1"), (r"(?<=[ (\[])1(?=[,;)\]])", "2"), (r"(?<=[ (\[])1(?=[,;)\]])", "0"),
    (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"), (r"\bif \(!", "if ("), (r"\bif \((?=\w)", "if (!"),
    (r"\bbreak;", "continue;"), (r"\? ", "? 0 && "),
]
CALL = re.compile(r"^\s+(?!return|assert|free|va_|else|for|while|if|do|switch|sizeof)(\w+(?:->\w+)*)\(.*\);$")


def code_of(text):
    """The text with strings, characters and comments blanked out, at the same places."""
    blank = lambda m: re.sub(r"[^\n]", "#", m.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def candidates(path):
    """Every change that can be made to a file: (line number from 0, the line, the changed line)."""
    text = path.read_text()
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n"))):
        if re.match(r"\s*#|\s*assert\(|\w.*;|static const|\s*static const", code):
            continue
        for pattern, to in SWAPS:
            for m in re.finditer(pattern, code):
                yield number, line, line[: m.start()] + to + line[m.end() :]
        if CALL.match(code):
            yield number, line, re.match(r"\s*", line).group() + ";"


def run_bats(name, build, prefix=None, limit=None):
    """Runs a bats file of the copy; returns the first case that fails, or None."""
    env = {**ENV, "SAMPL": str(TREE / build / "sampl"), "UNITS": str(TREE / build / "unit"), "SAMPL_TEST_STEP": "5"}
    if prefix:
        env["GCOV_PREFIX"] = str(prefix)
    bats = subprocess.Popen(["bats", "--tap", f"tests/{name}.bats"], cwd=TREE, env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    if limit:
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(bats.pid, signal.SIGKILL))
        signal.alarm(int(limit))
    failed, lines = None, 0
    for line in bats.stdout:
        lines += line.startswith("ok ")
        if line.startswith("not ok ") and failed is None:
            failed = line.split(" ", 3)[3].strip()
            if not prefix:
                try:
                    os.killpg(bats.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
    status = bats.wait()
    signal.alarm(0)
    return failed or (None if status == 0 and lines else "does not end")


def build(*args):
    """True, or why it cannot be built goes out."""
    made = make(*args)
    return made.returncode == 0 or sys.exit(made.stderr)


def make(*args):
    return subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "CFLAGS=-O1", "HARDEN=", *args], cwd=TREE, env=ENV,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)


def lines_reached(prefix, objects):
    """Of each source file the lines that ran, from what gcov's counters say below prefix."""
    lines = collections.defaultdict(set)
    for gcda in prefix.rglob("*.gcda"):
        at = pathlib.Path("/") / gcda.relative_to(prefix)
        if objects not in at.parents or not at.with_suffix(".gcno").exists():
            continue
        shutil.copy(at.with_suffix(".gcno"), gcda.with_suffix(".gcno"))
        out = subprocess.run(["gcov", "--stdout", "--json-format", str(gcda)], cwd=TREE, capture_output=True, text=True, check=False)
        for report in out.stdout.splitlines():
            for source in json.loads(report)["files"]:
                lines[source["file"]].update(x["line_number"] for x in source["lines"] if x["count"])
    return {f: sorted(n) for f, n in lines.items() if f.startswith("src/")}


def learn():
    """Which lines each bats file reaches, and how long it takes: {name: {seconds, lines: {file: [number from 1]}}}. Takes long,
    and is kept: remove build/mutants/reached when much has changed."""
    notes = WORK / "reached"
    notes.mkdir(parents=True, exist_ok=True)
    reached, built = {}, False
    for bats in sorted(TREE.glob("tests/*.bats")):
        note = notes / bats.stem
        if bats.stem in BLIND:
            continue
        if not note.exists():
            built = built or build("BUILD=build/cov", "CFLAGS=-O0 --coverage -fprofile-update=atomic", "LDFLAGS=--coverage", "all", "units")
            prefix, start = WORK / "gcov" / bats.stem, time.monotonic()
            failed = run_bats(bats.stem, "build/cov", prefix) # of counters that cannot be written, when memory is made to fail
            seconds = time.monotonic() - start
            print(f"{bats.stem}: {seconds:.0f} s{', fails: ' + failed if failed else ''}", flush=True)
            note.write_text(json.dumps({"seconds": seconds, "lines": lines_reached(prefix, TREE / "build" / "cov")}))
            shutil.rmtree(prefix, ignore_errors=True)
        reached[bats.stem] = json.loads(note.read_text())
    return reached


def excuses():
    """{(file, line, changed line): why}, the lines without the blanks around them."""
    rows = [row.split("\t") for row in (ROOT / "tests" / "mutants.tsv").read_text().splitlines() if row and not row.startswith("#")]
    return {(file, line, changed): why for file, line, changed, why in rows}


def judge(mutant, reached):
    """Builds and tests one mutant: what became of it."""
    file, number, line, changed = mutant
    tests, away = [], 0
    while not tests and away <= NEAR: # the compiler has moved some lines' code to others
        near = range(number + 1 - away, number + 2 + away)
        tests = sorted((r["seconds"], name) for name, r in reached.items() if not set(near).isdisjoint(r["lines"].get(file, [])))
        away += 1
    if not tests:
        return "survived 0 files"
    path = TREE / file
    text = path.read_text()
    lines = text.split("\n")
    lines[number] = changed
    path.write_text("\n".join(lines))
    try:
        if make("all", *(["units"] if any(name == "units" for _, name in tests) else [])).returncode:
            return "no C"
        for seconds, name in tests:
            failed = run_bats(name, "build", limit=60 + 2 * seconds)
            if failed:
                return f"killed by {name}.bats: {failed}"
        return f"survived {len(tests)} files"
    finally:
        path.write_text(text)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # the copy's source is put back
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        if not (TREE / name).exists() or (TREE / name).read_bytes() != (ROOT / name).read_bytes():
            shutil.copy2(ROOT / name, TREE / name)
    reached = learn()
    build("all", "units")
    every = [(str(p.relative_to(TREE)), *c) for p in sorted(TREE.glob("src/*/*.c")) for c in candidates(p)]
    every = [m for m in every if ONLY.search(m[0])]
    random.Random(SEED).shuffle(every)
    known, counts, left = excuses(), collections.Counter(), []
    for mutant in every:
        if counts["killed"] + counts["survived"] >= COUNT:
            break
        file, number, line, changed = mutant
        why = known.get((file, line.strip(), changed.strip()))
        verdict = f"survived: {why}" if why else judge(mutant, reached)
        counts[verdict.split(":")[0].split(" ")[0]] += 1
        print(f"{file}:{number + 1}: {line.strip()}\n    {changed.strip()}\n    {verdict}", flush=True)
        if verdict.startswith("survived") and not why:
            left.append(f"{file}\t{line.strip()}\t{changed.strip()}")
    print(f"{counts['killed']} of {counts['killed'] + counts['survived']} mutants killed, {len(left)} survivors unexplained")
    print(*left, sep="\n")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
