#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts recorded cases (JSON lines) to the tables that reference.bats reads with a shell.

usage: import.py CASES.jsonl LOGITS... >llama.tsv 3>llama.probs      (without cases over logits other than LOGITS, or with other
vocabularies; a case has as many rows as its LOGITS)
       import.py EXTRA-CASES.jsonl LOGITS... >extra.tsv 3>extra.probs
       import.py ENGINE-CASES.jsonl LOGITS... >engines.tsv 3>/dev/null
       import.py ENGINE3-CASES.jsonl syn2000.* syn32000.f16 >engines3.tsv 3>/dev/null
       import.py GRAMMAR-CASES.jsonl tinylm-gen.f32 >grammars.tsv 3>/dev/null

tinylm-* are the first rows of logits of the model that samples/README.md describes.

llama.tsv: name, file, dtype, n_vocab, rows, arguments, prompt ids, forced ids, chosen ids, kept counts.
A case may bring its rows, which are equal. The row is then in the column of the file, with the dtype json.
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


def quote(text):
    """Returns a quoted word for bash without newlines."""
    return shlex.quote(text) if '\n' not in text else "$'" + ''.join({'\n': '\\n', "'": "\\'", '\\': '\\\\'}.get(c, c) for c in text) + "'"


def main():
    files = {os.path.basename(f): f for f in sys.argv[2:]}
    probs = os.fdopen(3, 'w')
    for case in map(json.loads, open(sys.argv[1])):
        vocab = os.path.basename(case.get('vocab') or '')
        if 'inline' in case:
            rows = len(case['inline'])
            assert all(row == case['inline'][0] for row in case['inline'])
            name = json.dumps(case['inline'][0], separators=(',', ':'))
            case |= {'dtype': 'json', 'n_vocab': len(case['inline'][0])}
        else:
            name = os.path.basename(case['logits'])
            if name not in files or vocab not in ('', 'tinylm-vocab.gguf'):
                continue
            rows = min(case['rows'], os.path.getsize(files[name]) // case['n_vocab'] // (4 if case['dtype'] == 'f32' else 2))
        args = [shlex.quote(a) for a in case['args']] + (['--vocab "$ROOT/samples/austen.gguf"'] if vocab else [])
        args += ['--grammar ' + quote(case['grammar'].strip())] if case.get('grammar') else []
        ids = lambda key: ','.join(map(str, (case.get(key) or [])[:None if key == 'prompt' else rows])) or '-'
        print(case['name'], name, case['dtype'], case['n_vocab'], rows, ' '.join(args), ids('prompt'), ids('accept'), ids('ids'),
              ids('n'), sep='\t')
        for row, want in enumerate(case.get('detail', [])[:rows]):
            for token, _, p in want['top']:
                print(case['name'], row, token, shortest(p), sep='\t', file=probs)


main()
