#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Prints src/programs/llama_options.def: the options of a release of llama-server, from its --help and its common/arg.cpp.

usage: llama-server --help | options.py RELEASE ARG_CPP

llama.cpp applies the options of an ini in the order of their first names, dashes included, and so are the rows.
"""
import re
import sys

PRESET_ONLY = [  # options that only an ini has (common/arg.cpp: common_params_add_preset_options)
    ["load-on-startup", "__PRESET_LOAD_ON_STARTUP"], ["stop-timeout", "__PRESET_STOP_TIMEOUT"],
    ["dedup-cache-models", "__PRESET_DEDUP_CACHE_MODELS"]]


def rows(text):
    """Returns the options of a help text: their names, their variables, and whether they have a value."""
    found = []
    for line in text.splitlines():
        if line.startswith("-") and not line.startswith("-----"):
            head = re.match(r"(-[^\s,]+)((?:,\s+-[^\s,]+)*)(\s\S.*)?", line)
            names = [head[1]] + re.findall(r"-[^\s,]+", head[2])
            rest = line[len(head[1] + head[2]):]
            at = len(head[1] + head[2])
            valued = bool(rest.strip()) and len(rest) - len(rest.lstrip()) == 1 and at < 40
            found.append([names, [], valued])
        variable = re.search(r"\(env: (\w+)\)", line)
        if variable and found:
            found[-1][1].append(variable[1])
    return found


def values(source):
    """Returns what the options read as their value, by the options' names. Those that were removed are errors."""
    found = {}
    for option in source.split("add_opt(common_arg(")[1:]:
        names = re.match(r"\s*\{([^}]*)\}", option)
        handler = re.search(r"\[\]\(common_params &[^,)]*(?:, (int|const std::string &|bool)[^)]*)?\)[^{]*\{([^;]*);", option)
        if names and handler:
            kind = "REMOVED" if "arg_removed" in handler[2] else "WHOLE" if handler[1] == "int" else \
                "NONE" if handler[1] in (None, "bool") else "NUMBER" if "std::stof(value)" in handler[2] else "TEXT"
            found |= dict.fromkeys(re.findall(r'"(-[^"]+)"', names[1]), kind)
    return found


def main():
    """Prints the table."""
    table = []
    with open(sys.argv[2], encoding="utf-8") as source:
        kinds = values(source.read())
    for names, variables, valued in rows(sys.stdin.read()):
        plain = [name.lstrip("-") for name in names]
        off = [name for name, word in zip(names, plain, strict=True)
               if not valued and (word.startswith("no-") or (word[0] == "n" and word[1:] in plain))]
        on = [name for name in names if name not in off]
        if not on:
            on, off = names, []
        negative = [v.replace("LLAMA_ARG_", "LLAMA_ARG_NO_") for v in variables] if off else []
        value = kinds.get(on[0], "TEXT" if valued else "NONE")
        table.append((on[0], [n.lstrip("-") for n in on] + variables, [n.lstrip("-") for n in off] + negative, value))
    table += [(names[0], names, [], "TEXT") for names in PRESET_ONLY]
    print("// SPDX-License-Identifier: MIT")
    print(f"// The options of llama-server, release {sys.argv[1]}, written by tests/llama/options.py: OPTION(names, negative")
    print("// names, value).")
    for _, on, off, value in sorted(table):
        line = f'OPTION("{" ".join(on)}", "{" ".join(off)}", {value})'
        print(line if len(line) <= 120 else line.replace('", "', '",\n       "', 1))


main()
