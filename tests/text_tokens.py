#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tokens of biases by text with those that llama.cpp v0.5.0's tokenizer made.

usage: text_tokens.py SAMPL AUSTEN.gguf CASES.jsonl STEP START
       text_tokens.py --record DRIVER AUSTEN.gguf COUNT >CASES.jsonl

A case is {"vocab": "austen" or "spm", "text": TEXT, "ids": [ID...]}; "spm" is a SentencePiece vocabulary that this script makes. Each case is a
row whose parameters bias the text by 1: the logits say how often each token is in the text. DRIVER answers {"vocab": FILE, "text": TEXT,
"parse_special": false, "add_special": false} with {"ids": [...]}, one a line.
"""
import collections, json, random, struct, subprocess, sys, tempfile

LETTERS = 'abcdé'


def string(text):
    return struct.pack('<Q', len(text.encode())) + text.encode()


def array(kind, items):
    return struct.pack('<IIQ', 9, kind, len(items)) + b''.join(items)


def write_spm(path):
    """Writes a vocabulary of special tokens, bytes, a user-defined token, and random pieces with random scores, some of them equal."""
    rng = random.Random(5)
    pieces = [('<unk>', 2, 0), ('<s>', 3, 0), ('</s>', 3, 0)] + [('<0x%02X>' % i, 6, 0) for i in range(256)] + [('<tool>', 4, 0)]
    known = set()
    for length in (1, 2, 2, 2, 3, 3, 4, 5):
        for _ in range(30):
            text = ''.join(rng.choice(LETTERS + '▁') for _ in range(length))
            if text not in known:
                known.add(text)
                pieces.append((text, 1, -rng.randrange(40)))
    keys = [('general.architecture', struct.pack('<I', 8) + string('llama')), ('tokenizer.ggml.model', struct.pack('<I', 8) + string('llama')),
            ('tokenizer.ggml.tokens', array(8, [string(p[0]) for p in pieces])), ('tokenizer.ggml.scores', array(6, [struct.pack('<f', p[2]) for p in pieces])),
            ('tokenizer.ggml.token_type', array(5, [struct.pack('<i', p[1]) for p in pieces])),
            ('tokenizer.ggml.bos_token_id', struct.pack('<II', 4, 1)), ('tokenizer.ggml.eos_token_id', struct.pack('<II', 4, 2)),
            ('tokenizer.ggml.unknown_token_id', struct.pack('<II', 4, 0))]
    with open(path, 'wb') as f:
        f.write(b'GGUF' + struct.pack('<IQQ', 3, 0, len(keys)) + b''.join(string(k) + v for k, v in keys))
    return len(pieces)


def random_text(rng, vocab):
    if vocab == 'austen':
        word = ''.join(rng.choice('etaoinshrdlucmfwypvbgkqjxz'[:rng.choice([8, 14, 26])]) for _ in range(rng.randrange(1, 14)))
        word = rng.choice([word, word, rng.choice(['Elizabeth', 'darcy', 'pride', 'Netherfield', 'acknowledged', 'universally', 'A', 'I', 'a'])])
        return rng.choice(['', ' ']) + (word[0].upper() + word[1:] if rng.random() < .3 else word)
    return rng.choice(['</s>', '<s>', '<0x41>', '<tool>', '  ', ' a', 'x\n\ty', '▁▁', '日本']) if rng.random() < .1 else \
        ''.join(rng.choice(LETTERS + LETTERS + ' ▁e\u0301日z') for _ in range(rng.randrange(1, 24)))


scratch = tempfile.mkdtemp()
spm = scratch + '/spm.gguf'
sizes = {'spm': write_spm(spm), 'austen': 4096}
if sys.argv[1] == '--record':
    driver, austen, count = sys.argv[2:4] + [int(sys.argv[4])]
    rng = random.Random(1)
    cases = [{'vocab': v, 'text': random_text(rng, v)} for v in ('spm', 'austen') for _ in range(count)]
    jobs = ''.join(json.dumps({'vocab': spm if c['vocab'] == 'spm' else austen, 'text': c['text'], 'parse_special': False, 'add_special': False}) + '\n' for c in cases)
    for case, said in zip(cases, subprocess.run([driver], input=jobs, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()):
        print(json.dumps({**case, 'ids': json.loads(said)['ids']}, ensure_ascii=False))
    sys.exit()

sampl, austen, cases, step, start = sys.argv[1:4] + [int(sys.argv[4]), int(sys.argv[5])]
total = wrong = 0
for vocab, path in (('spm', spm), ('austen', austen)):
    chosen = [c for c in map(json.loads, open(cases)) if c['vocab'] == vocab][start::step]
    zeros = ','.join(['0'] * sizes[vocab])
    rows = ''.join('{"logits":[%s],"params":{"logit_bias":[[%s,1]]}}\n' % (zeros, json.dumps(c['text'])) for c in chosen)
    said = subprocess.run([sampl, '-s', '1', '--vocab', path, '--samplers', '', '--emit', 'logits', '-O', 'tsv'], input=rows, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    found = collections.defaultdict(dict)
    for row, token, logit in (line.split('\t') for line in said.stdout.splitlines()[1:]):
        if float(logit):
            found[int(row)][int(token)] = float(logit)
    for row, case in enumerate(chosen):
        total += 1
        if found[row] != dict(collections.Counter(case['ids'])):
            wrong += 1
            print('%s: %r: llama.cpp %s, sampl %s %s' % (vocab, case['text'], case['ids'], found[row], said.stderr.strip()[-200:]))
print('%d texts, %d wrong' % (total, wrong))
sys.exit(wrong > 0 or not total)
