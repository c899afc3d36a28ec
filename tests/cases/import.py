#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns recorded reference cases (JSON lines) into the text tables that reference.bats reads with a shell.

usage: import.py CASES.jsonl LOGITS... >llama.tsv 3>llama.probs      (cases over other logits than LOGITS are left out)
       import.py ENGINE-CASES.jsonl LOGITS... >engines.tsv 3>/dev/null

llama.tsv: name, file, dtype, n_vocab, rows, arguments, prompt ids, forced ids, chosen ids, kept counts.
llama.probs: name, row, id, probability (fewest digits that read back to the same float), best first.
"""
import json, os, shlex, struct, sys


def shortest(x):
    bits = struct.pack('<f', x)
    x = struct.unpack('<f', bits)[0]
    for digits in range(1, 10):
        text = '%.*g' % (digits, x)
        if struct.pack('<f', float(text)) == bits:
            return text


def main():
    names = {os.path.basename(f) for f in sys.argv[2:]}
    probs = os.fdopen(3, 'w')
    for case in map(json.loads, open(sys.argv[1])):
        if os.path.basename(case['logits']) not in names or case.get('vocab'):
            continue
        ids = lambda key: ','.join(map(str, case.get(key) or [])) or '-'
        print(case['name'], os.path.basename(case['logits']), case['dtype'], case['n_vocab'], case['rows'],
              ' '.join(shlex.quote(a) for a in case['args']), ids('prompt'), ids('accept'), ids('ids'), ids('n'), sep='\t')
        for row, want in enumerate(case.get('detail', [])):
            for token, _, p in want['top']:
                print(case['name'], row, token, shortest(p), sep='\t', file=probs)


main()
