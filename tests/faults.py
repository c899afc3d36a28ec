#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes calls fail one at a time, in a run of every feature: `make check-faults` (STEP=5: each fifth call only, from the call that
SAMPL_TEST_TURN selects; ONLY=TEXT: commands that contain TEXT).

The runs are the `oom` rows of errors.tsv and those of RUNS. inject.c makes the N-th memory allocation, system call or thread start fail,
for N from 1 until there is no such call. The run must give the result of a run without failure, or end with status 3 and a message. Then
standard output must be a prefix of the good output, no file may be new or changed, and no more memory in use than without failure."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
SAMPL = os.environ["SAMPL"]
STEP, ONLY = int(os.environ.get("STEP") or 1), os.environ.get("ONLY") or ""
FIRST = 1 + int(os.environ.get("SAMPL_TEST_TURN") or 0) % STEP

# Runs besides those of errors.tsv: the command, and standard input: None, <FILE, or |FILE for a pipe.
RUNS = [
    ("sampl -n 3 -s 1 -t 3 --independent -o out ok.f32 ok.f32 ok.f32", None),
    ("sampl -n 3 -s 1 -t 2 --dump-probs -O json ok.f32 ok.f32", None),
    ("sampl -n 3 -s 1 -f f32", "|ok.f32"),
    ("sampl -n 3 -s 1 -t 2 -f f32", "|ok.f32"),
    ("sampl -n 3 -s 1 --vs '--top-k 2' --vs '--temp 2' -O tsv ok.f32", None),
    ("sampl -n 3 -s 1 --vs 'x: --top-k 2' --base x --columns kept,kept_diff ok.f32", None),
    ("sampl -n 3 -s 1 --dry-multiplier 1 --dry-breaker-tokens 1 --vs 'x: -l 1-inf' -O html ok.f32", None),
    ("sampl -n 3 --neutral --draws ids -t 2 -O json -o out ok.f32", None),
    ("sampl -n 3 -s 1 --engine vllm-v2 --temp 1 --trace=2 ok.f32", None),
    ("sampl -n 3 -s 1 --rows -1: -", "<ok.f32"),
    ("sampl -n 3 -s 1 --shard 2/2 -", "<ok.f32"),
    ("sampl -s 1 -o out", "|sparse.json"),
    ("sampl -s 1 --line-buffered", "|ok.json"),
    ("sampl -n 3 -s 1 --emit logits -O npy -o out ok.f32", None),
    ("sampl -n 3 -s 1 --emit probs -O npy ok.f32 ok.f32", None),
    ("sampl -s 1 --emit probs -O npy -o out", "|ok.json"),
    ("sampl -n 3 -s 1 --emit logprobs -o link ok.f32", None),
    ("sampl -n 3 -s 1 --emit list=2 -O safetensors -o out ok.f32", None),
    ("sampl -s 1 --emit list=2 -O safetensors", "|ok.json"),
    ("sampl -n 3 -s 1 --on-error skip --stats nan.f32", None),
    ("sampl --help", None),
    ("sampl --list-presets", None),
    ("sampl --version", None),
    ("sampl --generate=fish", None),
    ("sampl --generate=json", None),
    ("sampl -n 3 -s 1 --preset p/good ok.f32", None),
    ("sampl -s 1 --vocab v.gguf --emit text --prompt-tokens @ids ok.f32", None),
    ("sampl -s 1 --vocab v.json --grammar-file any.gbnf ok.f32", None),
    ("sampl -s 1 --vocab abc.vocab -jf any.schema --print-grammar", None),
    ("sampl -n 3", "|ok.f32"),
    ("sampl -n 3 -s 1 --lenient --samplers 'top_k;bogus' ok.f32", None),
    ("sampl -n 3 -s 1 --preset p/foreign ok.f32", None),
    ("sampl -n 3 -s 1 --preset p/order.yaml -O json ok.f32", None),
    ("sampl --preset p/studio --print-chain=preset", None),
    ("sampl -n 3 -s 1 --params lines.jsonl ok.f32", None),
    ("sampl -n 3 -s 1 --params - -O json ok.f32", "|lines.jsonl"),
    ("sampl -s 1 --vocab abc.vocab --accept recorded", "|events"),
    ("sampl -s 1 --ids rank -O json events", None),
    ("sampl -s 1 --vocab abc.vocab --reasoning-start a --reasoning-end '</s>' --reasoning-budget 0 --reasoning-budget-message b "
     "--accept 0,1 -n 3 ok.f32", None),
]
CALLS = [("memory", 12)] + [
    (f"sys_{name}:{{}}", error)
    for name, error in [("read", 5), ("read", 4), ("read", 0), ("write", 28), ("write", 0), ("openat", 24), ("openat", 13), ("mmap", 12),
                        ("lseek", 29), ("fstat", 5), ("fcntl", 9), ("rename", 13), ("unlink", 13), ("readlink", 5), ("fchmod", 1),
                        ("close", 5), ("munmap", 22), ("ioctl", 25), ("getdents", 5)]
] + [("mkstemp:{}", 13), ("fdopen:{}", 12), ("access:{}", 13), ("getrandom:{}", 38), ("pthread_create:{}", 11)]
# Calls whose failure does not matter: the work is done, or the call is optional.
HARMLESS = {"close", "munmap", "fcntl", "ioctl", "fchmod", "unlink"}


def shell(text, **more):
    """Runs text in a bash with the functions of errors.bats."""
    functions = ("bats_require_minimum_version() { :; }; BATS_TEST_DIRNAME=$0; . \"$0/helper.bash\"; "
                 "eval \"$(sed '/^@test/,/^}/d; /^load/d' \"$0/errors.bats\")\"; ")
    return subprocess.run(["bash", "-c", functions + text, str(TESTS)], check=True, capture_output=True, **more)


def table():
    """Yields the runs: text, arguments and input."""
    texts = [(row.split("\t")[3][4:], None) for row in (TESTS / "errors.tsv").read_text().splitlines() if "\toom " in row]
    for text, stdin in texts + RUNS:
        if ONLY in text:
            words = shell(f"sampl() {{ printf '%s\\0' \"$@\"; }}; {text}").stdout.decode().split("\0")[:-1]
            yield text, words, stdin


class Run:
    """One command in a folder of its own."""

    def __init__(self, base, text, words, stdin):
        self.text, self.words, self.stdin = text, words, stdin
        self.dir = tempfile.TemporaryDirectory(dir=base)
        self.at = pathlib.Path(self.dir.name)
        subprocess.run(["cp", "-a", f"{base}/files/.", self.at], check=True)
        self.before = self.files()
        self.faults = 0
        self.good = self.run("none")

    def files(self):
        return {p.name: str(p.readlink()).encode() if p.is_symlink() else p.read_bytes() for p in self.at.iterdir() if not p.is_dir()}

    def run(self, inject):
        """Returns (status, output, messages, changed files, blocks in use, whether the call was reached)."""
        log, live = self.at.parent / f"{self.at.name}.log", self.at.parent / f"{self.at.name}.live"
        env = {**os.environ, "SAMPL_INJECT": inject, "SAMPL_INJECT_LOG": str(log), "SAMPL_INJECT_LIVE": str(live),
               "LD_PRELOAD": str(self.at.parent / "inject.so"), "XDG_CONFIG_HOME": str(self.at), "LC_ALL": "C",
               "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
        data = (self.at / self.stdin[1:]).read_bytes() if self.stdin else b""
        how = {"input": data}
        if self.stdin and self.stdin[0] == "<":
            how = {"stdin": open(self.at / self.stdin[1:], "rb")}
        done = subprocess.run([SAMPL, *self.words], cwd=self.at, env=env, capture_output=True, check=False, **how)
        changed = {name: content for name, content in self.files().items() if self.before.get(name) != content}
        for name in changed:
            (self.at / name).unlink()
        if changed.keys() & self.before.keys():
            subprocess.run(["cp", "-a", f"{self.at.parent}/files/.", self.at], check=True)
        left = int(live.read_text()) if live.exists() else -1
        live.unlink(missing_ok=True)
        reached = log.exists()
        log.unlink(missing_ok=True)
        messages = re.sub(rb"rows_per_second .*", b"", done.stderr)
        return done.returncode, done.stdout, messages, changed, left, reached

    def wrong(self, call, got):
        """Returns what is wrong with the result of a run, or None."""
        status, out, err, changed, left, _ = got
        good_status, good_out, good_err, good_changed, good_left, _ = self.good
        name = re.sub(r"^sys_|:.*", "", call)
        if status < 0 or status > 3:
            return f"status {status}"
        if left > good_left:
            return f"{left} blocks are left, {good_left} without it"
        if any(name not in good_changed or good_changed[name] != content for name, content in changed.items()) and call.split(":")[0] != "sys_unlink":
            return f"files {', '.join(changed)}"
        lists = "--list-presets" in self.text  # needs readlink to find the presets of the source tree
        if lists and name == "readlink":
            return None
        if name != "write" and re.search(rb"sampl: (note: |warning: )?\n", err):
            return "a message without its text"
        if (status, out, changed) == (good_status, good_out, good_changed):
            return None if err.endswith(good_err) or name in ("write", "fstat") or b"out of memory: a note is missing" in err else "other messages"
        if name in HARMLESS and call.endswith(":0"):
            return "another result"
        if status != 3:
            return f"status {status}, output differs"
        if "-O html" in self.text:  # after an error, the page ends with the rows before it
            out = out.split(b"</div>\n" if isinstance(out, bytes) else "</div>\n")[0]
        if "--report" in self.text and re.sub(rb"[-\dna. ]", b"", out) == re.sub(rb"[-\dna. ]", b"", good_out):
            out = b""  # after an error, the report has the figures of the rows before it
        if not good_out.startswith(out) and not lists:
            return "output that does not belong there"
        if name == "write" and "--stats" in self.text and out == good_out and good_err.startswith(err):
            return None  # standard error is full: neither the summary nor a message can be written
        if not re.fullmatch(rb"(sampl: [^\n]+\n|[a-z_]+ [^\n]*\n)*sampl: [^\n]+\n", err):
            return "no message"
        return None

    def each(self):
        """Returns lines about wrong results. Counts the faults."""
        lines = []
        for call, error in CALLS:
            for n in itertools.count(FIRST, STEP):
                inject = f"{call.format(n) if '{' in call else f'{call}:{n}'}:{error}"
                got = self.run(inject)
                if not got[5]:
                    break
                self.faults += 1
                why = self.wrong(inject, got)
                if why:
                    lines.append(f"{self.text}\n    {inject}: {why}; status {got[0]}, {got[2].decode(errors='replace').strip()}")
        for inject in ("sys_read:0:0", "sys_read:0:4", "sys_write:0:0"): # every other call is short or interrupted
            got = self.run(inject)
            if got[:4] != self.good[:4]:
                lines.append(f"{self.text}\n    {inject}: another result; status {got[0]}, {got[2].decode(errors='replace').strip()}")
        self.dir.cleanup()
        return lines


def main():
    with tempfile.TemporaryDirectory() as base:
        (pathlib.Path(base) / "files").mkdir()
        shell("make_files; echo 'root ::= [^x]*' >any.gbnf; echo '{\"type\":\"string\"}' >any.schema; ln -s out link; "
              "mkdir -p sampl/presets; cp p/good sampl/presets/good.preset", cwd=f"{base}/files")
        subprocess.run([os.environ.get("CC") or "cc", "-shared", "-fPIC", "-o", f"{base}/inject.so", TESTS / "inject.c", "-ldl"], check=True)
        runs = list(table())
        faults, bad = 0, 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            def go(row):
                run = Run(base, *row)
                return run.each(), run.faults
            for lines, n in pool.map(go, runs):
                faults += n
                bad += len(lines)
                for line in lines:
                    print(line, flush=True)
        print(f"{len(runs)} runs, {faults} faults, {bad} of them handled wrongly")
        sys.exit(bool(bad) or not faults)


if __name__ == "__main__":
    main()
