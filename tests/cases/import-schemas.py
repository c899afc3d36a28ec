#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Converts recorded cases of JSON schemas (JSON lines) to the table that schema.bats reads with a shell.

usage: import-schemas.py SAMPL SCHEMA-CASES.jsonl json4096.f32 >schemas.tsv

schemas.tsv: name, options, chosen ids, schema. Cases over json4096.f32, whose vocabulary is that of samples/, keep their options, and one id
for each row of the file. Other cases keep the chosen text as ids of bytes, with 256 for the end token. Their options are "-".
"""
import json, os, shlex, subprocess, sys


def text_of(sampl, case, base, token):
    """Returns the text of a token, which sampl chooses as the only candidate."""
    command = [sampl, '-f', case['dtype'], '-n', str(case['n_vocab']), '--vocab', os.path.join(base, case['vocab']), '--rows', ':1',
               '--emit', 'text', '--samplers', 'greedy', '-l', f'{token}+10000', os.path.join(base, case['logits'])]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def main():
    sampl, cases, logits = sys.argv[1:]
    rows = os.path.getsize(logits) // (4 * 4096)
    for case in map(json.loads, open(cases)):
        options, ids = '-', case['ids']
        if case['logits'] == os.path.basename(logits):
            options, ids = ' '.join(map(shlex.quote, case['args'])), ids[:rows]
        else:
            texts = [text_of(sampl, case, os.path.dirname(cases), token) for token in ids]
            ids = [byte for text in texts for byte in text or b'\0'] # only the end token has no text
            ids = [byte or 256 for byte in ids]
        print(case['name'], options, ','.join(map(str, ids)), json.dumps(json.loads(case['schema']), ensure_ascii=False), sep='\t')


main()
