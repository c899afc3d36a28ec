#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what sampl says of grammars and schemas with recorded answers of llama.cpp v0.5.0.

usage: accepts.py SAMPL VOCAB CASES.jsonl STEP START

With --strict-grammar sampl must take what llama.cpp took, and refuse what it refused. A refusal names a place: a line, a byte, the path of a
keyword, the rule that is missing, or the schema. Without the option a note says so, or sampl has an error of its own. Uses each STEP-th case
from START on. tests/llama/accepts.py records random cases.
"""
import json, re, subprocess, sys

sampl, vocab, cases, step, start = sys.argv[1:4] + [int(sys.argv[4]), int(sys.argv[5])]
PLACE = re.compile(r"line \d+, column \d+|byte \d+: |no rule is named root|the schema|--json-schema: (llama.cpp refuses this schema: )?/|holds a NUL")
total = wrong = 0
for line in open(cases).read().splitlines()[start::step]:
    case = json.loads(line)
    words = ['--grammar', case['grammar']] if 'grammar' in case else ['-j', case['schema']]
    run = [subprocess.run([sampl, '--vocab', vocab, '--print-grammar', *strict, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
           for strict in ([], ['--strict-grammar'])]
    total += 1
    said = ''
    if run[1].returncode != (0 if case['accepted'] else 2):
        said = 'status %d' % run[1].returncode
    elif run[1].returncode and not PLACE.search(run[1].stderr):
        said = 'no place'
    elif run[1].returncode and not run[0].returncode and 'note: llama.cpp refuses this' not in run[0].stderr:
        said = 'no note'
    elif not run[1].returncode and 'refuses' in run[0].stderr:
        said = 'a wrong note'
    if said:
        wrong += 1
        print('%s: %s: %s' % (case['name'], said, run[1].stderr.strip()))
print('%d cases, %d wrong' % (total, wrong))
sys.exit(wrong > 0 or not total)
