#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what sampl reads in random shell scripts with what Bash does: `scripts.py SAMPL [CASES [SEED]]`.

Each script starts llama-server, which is a stand-in that prints its arguments, by way of variables, arrays, functions, conditions, loops,
defaults and quotes. Bash runs it in several environments and with several arguments. What sampl reads without a word of doubt must be what
each run starts; what it calls changeable must be what a run without variables and arguments starts. The last line counts both, and
the scripts that sampl refuses."""
import os
import random
import re
import subprocess
import sys
import tempfile

SAMPL = os.path.abspath(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
FLAGS = {"--temp": ["0.25", "0.5", "1.5"], "--top-k": ["3", "7", "50"], "--min-p": ["0.125", "0.25"]}
DEFAULTS = {"--temp": "0.8", "--top-k": "40", "--min-p": "0.05"}
STAND_IN = '#!/bin/sh\nprintf "START" >>"$STARTS"\nprintf "\\036%s" "$@" >>"$STARTS"\nprintf "\\037" >>"$STARTS"\n'
ENVIRONMENTS = [({}, []), ({"HOT": "1", "T": "9"}, ["hot"]), ({"K": "11", "GPU": "1"}, ["--temp", "8"]), ({}, ["cold", "5"])]


def setting(r):
    flag = r.choice(list(FLAGS))
    return flag, r.choice(FLAGS[flag])


def words(r):
    """A flag and its value, or one that has nothing to do with sampling."""
    if r.random() < 0.5:
        return r.choice(["-c 512", "-ngl 99", "--port 80"])
    return " ".join(setting(r))


def condition(r):
    return r.choice(['[ -n "$GPU" ]', 'test "$1" = hot', '[[ $HOT == 1 ]]', '[ "$#" -gt 1 ]', '[ -d / ]'])


def statement(r, depth=0):
    """A statement that may change the variables T, K, E and the array A."""
    kind = r.randrange(16 if depth < 2 else 8)
    body = lambda: "\n".join(statement(r, depth + 1) for _ in range(r.randint(1, 2)))
    if kind == 0:
        return f"T={r.choice(FLAGS['--temp'])}"
    if kind == 1:
        return f'K="{r.choice(FLAGS["--top-k"])}"'
    if kind == 2:
        return f"T=${{T:-{r.choice(FLAGS['--temp'])}}}"
    if kind == 3:
        return f'E="$E {words(r)}"'
    if kind == 4:
        return f"A+=({words(r)})"
    if kind == 5:
        return f"A=(\n  {words(r)} # {words(r)}\n  {words(r)}\n)"
    if kind == 6:
        return r.choice([f"# T={r.choice(FLAGS['--temp'])}", "echo T=3 >/dev/null", ": ${K:=7}", "cd /", "E=", "unset T"])
    if kind == 7:
        return f"export LLAMA_ARG_TOP_P=0.5; E+=' {words(r)}'"
    if kind == 8:
        return f"if {condition(r)}; then\n{body()}\nfi"
    if kind == 9:
        return f"if {condition(r)}; then\n{body()}\nelif {condition(r)}; then\n{body()}\nelse\n{body()}\nfi"
    if kind == 10:
        return f"case \"$1\" in\n  hot|warm) {body()}\n;;\n  *)\n{body()}\n;;\nesac"
    if kind == 11:
        return f"{condition(r)} {r.choice(['&&', '||'])} {statement(r, 5)}"
    if kind == 12:
        return f"for x in 1 2; do\n{body()}\ndone"
    if kind == 13:
        return f"f{depth}() {{\n{body()}\n}}\n" + r.choice([f"f{depth}", ":", f"{condition(r)} && f{depth}"])
    if kind == 14:
        return f"(\n{body()}\n)"
    return f"cat <<EOF >/dev/null\n{body()}\nEOF"


def start(r):
    """A command that starts the server."""
    parts = [r.choice([words(r), f"--temp {r.choice(FLAGS['--temp'])}", '--temp "$T"', "--temp ${T:-0.5}", "--top-k ${K:-7}", "--top-k $K", "$E", "$E", '"${A[@]}"', "${A[@]}",
                       words(r), "${HOT:+--temp 1.5}", '--temp "${1:-0.25}"', '"$@"', "-m 'a b'"]) for _ in range(r.randint(1, 4))]
    join = r.choice([" ", " \\\n  "])
    command = join.join([r.choice(["llama-server", "nohup llama-server", "exec llama-server", "env X=1 llama-server", "./llama-server"])] +
                        ["-m x.gguf"] + parts)
    where = r.random()
    if where < 0.1:
        return f"if {condition(r)}; then {command}; else {start(r)}\nfi"
    if where < 0.2:
        return f"run() {{ local T=$1; {command}; }}\nrun {r.choice(FLAGS['--temp'])}"
    if where < 0.25:
        return f"cd . && {command} >log 2>&1"
    return command


def chain_of(arguments):
    """The last value of each flag of FLAGS, as llama-server reads its arguments."""
    found, i = {}, 0
    while i < len(arguments):
        if arguments[i].startswith("-") and i + 1 < len(arguments):
            if arguments[i] in FLAGS:
                found[arguments[i]] = arguments[i + 1]
            i += 1
        i += 1
    return found


def same(a, b):
    try:
        return float(a) == float(b)
    except ValueError:
        return False


def run_bash(folder, environment, arguments):
    """The settings of each start; None: Bash ended with an error of the script."""
    starts = os.path.join(folder, "starts")
    open(starts, "w").close()
    env = {"PATH": folder + ":" + os.environ["PATH"], "STARTS": starts, "HOME": folder, **environment}
    subprocess.run(["bash", "script.sh", *arguments], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=20)
    text = open(starts).read()
    return [chain_of(part.split("\x1e")[1:]) for part in text.split("\x1f")[:-1]]


def run_sampl(folder):
    """What sampl reads, and the text of its notes; None: it refuses the script."""
    done = subprocess.run([SAMPL, "--preset", "./script.sh", "--print-chain=preset"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    printed = done.stdout.split()
    return {flag: next((printed[i + 1] for i, word in enumerate(printed) if word == flag), DEFAULTS[flag]) for flag in FLAGS}, done.stderr


def main():
    r = random.Random(SEED)
    counts = {"certain": 0, "changeable": 0, "conditional": 0, "refused": 0, "idle": 0}
    for case in range(CASES):
        script = "#!/bin/bash\n" + "\n".join(statement(r) for _ in range(r.randint(0, 4))) + "\n" + start(r) + "\n"
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "script.sh"), "w") as f:
                f.write(script)
            with open(os.path.join(folder, "llama-server"), "w") as f:
                f.write(STAND_IN)
            os.chmod(os.path.join(folder, "llama-server"), 0o755)
            read, said = run_sampl(folder)
            if read is None:
                counts["refused"] += 1
                if not re.search("not known|stands under a condition|has no value|is not a", said):
                    sys.exit(f"case {case} of seed {SEED}: refused with: {said}\n{script}")
                continue
            kind = "conditional" if re.search("the command stands under|commands is read|only a run of the script", said) else \
                "changeable" if "may change" in said else "certain"
            runs = ENVIRONMENTS if kind == "certain" else ENVIRONMENTS[:1] if kind == "changeable" else []
            counts[kind] += 1
            for environment, arguments in runs:
                starts = run_bash(folder, environment, arguments)
                counts["idle"] += not starts
                for found in starts[:1]:
                    bad = {flag: (read[flag], found.get(flag)) for flag in read if not same(read[flag], found.get(flag, DEFAULTS[flag]))}
                    if bad:
                        sys.exit(f"case {case} of seed {SEED}: with {environment} {arguments}, sampl and Bash differ (read, started): "
                                 f"{bad}\n{said}\n{script}")
    print(", ".join(f"{name} {n}" for name, n in counts.items()))


main()
