#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the README's trace as a terminal of 80 columns shows it, as SVG: picture.py SAMPL >man/pictures/trace.svg. The command is that of the
README, with a list of candidates. The text of the picture is the program's output, so that a test can tell whether it is fresh. Run in the
project's folder."""
import html
import os
import re
import subprocess
import sys

COLUMNS, WIDTH, HEIGHT, PAD = 80, 8.4, 19, 16  # WIDTH, HEIGHT: of a cell
PAPER, INK = "#16181d", "#d8dee9"
COLOURS = {"38;5;63": "#5f5fff", "38;5;130": "#af5f00", "39": INK}  # as a terminal with xterm's colours has them
EIGHTHS = " ▏▎▍▌▋▊▉█"


def command_of_readme():
    block = re.search(r"<!-- trace -->\n```\n\$ (.*)\n", open("README.md").read())
    return block[1] + " --dump-probs=2"


def folded(command):
    """The command as one types it: in lines that end with a backslash."""
    lines = [""]
    for word in re.findall(r"\S+", command):
        if lines[-1] and len(lines[-1] + word) > COLUMNS - 5:
            lines.append("   ")
        lines[-1] += (" " if lines[-1] else "") + word
    return [("$ " if not i else "") + line + (" \\" if i + 1 < len(lines) else "") for i, line in enumerate(lines)]


def runs(line):
    """The parts of a line with one look: their text, colour and weight."""
    colour, bold = INK, False
    for part in re.split("(\033\\[[0-9;]*m)", line):
        if code := re.fullmatch("\033\\[([0-9;]*)m", part):
            bold = code[1] == "1" or (bold and code[1] != "0")
            colour = INK if code[1] == "0" else COLOURS.get(code[1], colour)
            assert code[1] in ("0", "1") or code[1] in COLOURS, code[1]
        elif part:
            yield part, colour, bold


def drawn(line, row):
    """The elements of a line: texts as wide as their cells, and bars."""
    column, base = 0, PAD + (row + .75) * HEIGHT
    for text, colour, bold in runs(line):
        for part in re.findall("[▏▎▍▌▋▊▉█]+|  +|(?:(?!  )[^▏▎▍▌▋▊▉█])+", text): # browsers join blanks
            x = PAD + column * WIDTH
            column += len(part)
            if part[0] in EIGHTHS[1:]:
                cells = sum(EIGHTHS.index(c) for c in part) / 8
                yield f'<rect x="{x:.1f}" y="{base - .7 * HEIGHT:.1f}" width="{cells * WIDTH:.1f}" height="{.9 * HEIGHT:.1f}" fill="{colour}"/>'
            elif part.strip():
                x += (len(part) - len(part.lstrip())) * WIDTH
                part = part.strip()
                weight = ' font-weight="bold"' if bold else ""
                yield f'<text x="{x:.1f}" y="{base:.1f}" textLength="{len(part) * WIDTH:.1f}" fill="{colour}"{weight}>{html.escape(part, quote=False)}</text>'
    assert column <= COLUMNS, line


sampl, command = sys.argv[1], command_of_readme()
words = [sampl if word == "build/sampl" else word for word in command.split()]
terminal = [sys.executable, "tests/terminal.py", "run", str(COLUMNS), "--", *words]
env = {k: v for k, v in os.environ.items() if k != "RUN_ENV"}
lines = folded(command) + subprocess.run(terminal, stdout=subprocess.PIPE, check=True, env=env).stdout.decode().rstrip("\n").split("\n")
width, height = COLUMNS * WIDTH + 2 * PAD, len(lines) * HEIGHT + 2 * PAD
print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img"')
print('  font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">')
print(f"<title>{html.escape(command, quote=False)}</title>")
print(f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>')
for row, line in enumerate(lines):
    for element in drawn(line, row):
        print(element)
print("</svg>")
