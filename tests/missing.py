#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: missing.py SAMPL. Prints a line for each sampler of SAMPL that a part of the suite does not know, such as a second implementation.
Exit status 1 if there is one. A sampler that needs no such part is in LEFT_OUT, with the reason."""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "vectors"), str(HERE.parent / "samples" / "vectors")]
sys.dont_write_bytecode = True
import cases  # noqa: E402
import port  # noqa: E402
import same  # noqa: E402

# Part of the suite, sampler: why it is not there.
NEEDS_TEXTS = "it needs the texts of tokens; vocab_check has its second implementation"
LEFT_OUT = {
    ("tests/vectors/cases.py", "infill"): NEEDS_TEXTS,
    ("tests/vectors/port.py", "infill"): NEEDS_TEXTS,
    ("tests/unit/oracle.h and parity.c", "infill"): NEEDS_TEXTS,
    ("tests/lists.py", "infill"): NEEDS_TEXTS,
    ("tests/foreign.bats", "p_less"): "it has no parameter, and so no value that switches it off",
    ("tests/foreign.bats", "p_less_norm"): "it has no parameter, and so no value that switches it off",
}


def ask(sampl, what):
    return subprocess.run([sampl, f"--generate={what}"], stdout=subprocess.PIPE, check=True, text=True).stdout


def off_values():
    """Returns the samplers whose off values foreign.bats tests."""
    return set(re.findall(r"(?m)^([a-z_]+) \S+ \S+$", (HERE / "foreign.bats").read_text()))


def parity():
    """Returns the samplers that parity runs, and that have a function in oracle.h."""
    functions = set(re.findall(r"\[(ORACLE_\w+)\] = oracle_\w+,", (HERE / "unit" / "oracle.h").read_text()))
    names = re.findall(r"\[(ORACLE_\w+)\] = \"(\w+)\",", (HERE / "unit" / "parity.c").read_text())
    return {name for kind, name in names if kind in functions}


def in_chains():
    """Returns the samplers of the chains that lists.py runs on partial rows."""
    tree = ast.parse((HERE / "lists.py").read_text())  # which runs its tests when it is imported
    chains = next(ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "CHAINS")
    return {name for samplers, *_ in chains for name in samplers.split(";")}


def main():
    sampl = sys.argv[1]
    samplers = [s for s in json.loads(ask(sampl, "json"))["samplers"] if not s["internal"]]
    everywhere = {
        "tests/vectors/cases.py": set(cases.SAMPLERS),
        "tests/vectors/port.py": set(port.SAMPLERS) | set(port.SELECTORS),
        "tests/unit/oracle.h and parity.c": parity(),
        "tests/lists.py": in_chains(),
        "tests/same.py": set(same.sampler_names(ask(sampl, "fish"))),
    }
    wrong = 0
    for sampler in samplers:
        places = everywhere | ({"tests/foreign.bats": off_values()} if sampler["foreign"] else {})
        for place, known in places.items():
            if sampler["name"] not in known and (place, sampler["name"]) not in LEFT_OUT:
                print(f"{place}: there is nothing of sampler {sampler['name']}")
                wrong = 1
            elif sampler["name"] in known and (place, sampler["name"]) in LEFT_OUT:
                print(f"{place}: sampler {sampler['name']} is there now; remove its line of LEFT_OUT in tests/missing.py")
                wrong = 1
    sys.exit(wrong)


if __name__ == "__main__":
    main()
