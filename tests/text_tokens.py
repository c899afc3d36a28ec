#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the tokens of biases by text and of tags with those that llama.cpp v0.5.0's tokenizer made.

usage: text_tokens.py SAMPL AUSTEN.gguf CASES.jsonl STEP START
       text_tokens.py --record DRIVER AUSTEN.gguf COUNT >CASES.jsonl

A case is {"vocab": VOCAB, "text": TEXT, "special": BOOL, "ids": [ID...]}. VOCAB is "austen", or the name of a SentencePiece vocabulary that
this script makes: "phi" has special tokens that contain or overlap one another and drop the white space behind them, and in "harmony" llama.cpp changes
the type of <|end|>. Where special is false, the
case is a row whose parameters bias the text by 1: the logits say how often each token is in the text. Else it is an end tag of a reasoning budget, in
which special tokens count. DRIVER answers {"vocab": FILE, "text": TEXT, "parse_special": BOOL, "add_special": false} with {"ids": [...]}, one a line.
"""
import collections, json, random, struct, subprocess, sys, tempfile

LETTERS = 'abcdé'
TAGS = {'austen': ['<|endoftext|>'], 'spm': ['<unk>', '<s>', '</s>', '<tool>'],
        'phi': ['<unk>', '<s>', '</s>', '<tool>', '<|endoftext|>', '<|end|>', '<a>', '<a><b>', '<b>', '<b>c<', 'aba', '<|x', 'x|>d'],
        'harmony': ['<unk>', '<s>', '</s>', '<tool>', '<|return|>', '<|call|>', '<|end|>', '<|message|>']}


def string(text):
    return struct.pack('<Q', len(text.encode())) + text.encode()


def array(kind, items):
    return struct.pack('<IIQ', 9, kind, len(items)) + b''.join(items)


def write_spm(path, name):
    """Writes a vocabulary of special tokens, bytes, user-defined tokens, and random pieces with random scores, some of them equal."""
    rng = random.Random(5)
    pieces = [('<unk>', 2, 0), ('<s>', 3, 0), ('</s>', 3, 0)] + [('<0x%02X>' % i, 6, 0) for i in range(256)] + [('<tool>', 4, 0)]
    pieces += [(tag, 3 + i % 2, 0) for i, tag in enumerate(TAGS[name][4:])]
    known = set()
    for length in (1, 2, 2, 2, 3, 3, 4, 5):
        for _ in range(30):
            text = ''.join(rng.choice(LETTERS + '▁') for _ in range(length))
            if text not in known and text not in TAGS[name]:
                known.add(text)
                pieces.append((text, 1, -rng.randrange(40)))
    keys = [('general.architecture', struct.pack('<I', 8) + string('llama')), ('tokenizer.ggml.model', struct.pack('<I', 8) + string('llama')),
            ('tokenizer.ggml.tokens', array(8, [string(p[0]) for p in pieces])), ('tokenizer.ggml.scores', array(6, [struct.pack('<f', p[2]) for p in pieces])),
            ('tokenizer.ggml.token_type', array(5, [struct.pack('<i', p[1]) for p in pieces])),
            ('general.name', struct.pack('<I', 8) + string('Tiny Phi-3' if name == 'phi' else name)),
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


def random_tag(rng, vocab):
    """Returns a text with special tokens in it, and parts of them."""
    text = ''
    for _ in range(rng.randrange(1, 5)):
        text += rng.choice(TAGS[vocab])
        if rng.random() < .6:
            text += rng.choice(['\n', '\t', ' ', random_text(rng, vocab)])
        elif rng.random() < .3 and vocab != 'austen':
            text += rng.choice(TAGS[vocab])[:-1] + rng.choice([' ', '\n ', '>', ''])
    return text[text.index('>') + 1:] if vocab != 'austen' and rng.random() < .3 and not text.endswith('>') and '>' in text else text


def biased(said):
    """Returns, for each row of logits, how often each token is in the text."""
    found = collections.defaultdict(dict)
    for row, token, logit in (line.split('\t') for line in said.splitlines()[1:]):
        if float(logit):
            found[int(row)][int(token)] = float(logit)
    return found


scratch = tempfile.mkdtemp()
files = {name: '%s/%s.gguf' % (scratch, name) for name in TAGS}
files['austen'] = sys.argv[3 if sys.argv[1] == '--record' else 2]
sizes = {name: 4096 if name == 'austen' else write_spm(path, name) for name, path in files.items()}
if sys.argv[1] == '--record':
    driver, count = sys.argv[2], int(sys.argv[4])
    rng = random.Random(1)
    cases = [{'vocab': v, 'text': (random_tag if special else random_text)(rng, v), 'special': special} for special in (False, True) for v in files
             for _ in range(count)]
    cases += [{'vocab': v, 'text': random_tag(rng, v), 'special': False} for v in ('phi', 'harmony') for _ in range(count)]
    jobs = ''.join(json.dumps({'vocab': files[c['vocab']], 'text': c['text'], 'parse_special': c['special'], 'add_special': False}) + '\n' for c in cases)
    for case, said in zip(cases, subprocess.run([driver], input=jobs, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()):
        print(json.dumps({**case, 'ids': json.loads(said)['ids']}, ensure_ascii=False))
    sys.exit()

sampl, cases, step, start = sys.argv[1], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
total = wrong = 0
for vocab, path in files.items():
    for special in (False, True):
        chosen = [c for c in map(json.loads, open(cases)) if c['vocab'] == vocab and c['special'] == special][start::step]
        zeros = ','.join(['0'] * sizes[vocab])
        rows = ''.join('{"logits":[%s],"params":{"logit_bias":[[%s,1]]}}\n' % (zeros, json.dumps(c['text'])) for c in chosen)
        tags = [word for c in chosen for word in ('--reasoning-end', c['text'])]
        args = ['--reasoning-budget', '1', '--reasoning-start', '1'] + tags + ['--print-chain=json'] if special else \
            ['--samplers', '', '--emit', 'logits', '-O', 'tsv']
        said = subprocess.run([sampl, '-s', '1', '--vocab', path] + args, input=rows, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = json.loads(said.stdout or '{"reasoning":{"end":[]}}')['reasoning']['end'] if special else biased(said.stdout)
        for row, case in enumerate(chosen):
            total += 1
            wanted = case['ids'] if special else dict(collections.Counter(case['ids']))
            got = found[row] if row < len(found) or not special else None
            if got != wanted:
                wrong += 1
                print('%s: %r: llama.cpp %s, sampl %s %s' % (vocab, case['text'], case['ids'], got, said.stderr.strip()[-200:]))
for prompt, forced in (('<tool>ab', True), ('ab', False)):  # the first token of the latter has a space that the prompt lacks, and is left out
    row = {'logits': [9] + [0] * (sizes['spm'] - 1), 'params': {'reasoning_budget_tokens': 0, 'reasoning_budget_message': '', 'generation_prompt': prompt,
                                                               'reasoning_budget_start_tag': prompt, 'reasoning_budget_end_tag': '</s>'}}
    said = subprocess.run([sampl, '-s', '1', '--samplers', 'greedy', '--vocab', files['spm']], input=json.dumps(row), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    total += 1
    if said.stdout + said.stderr != ('2\n' if forced else '0\n'):
        wrong += 1
        print('generation prompt %r: %s%s' % (prompt, said.stdout, said.stderr))
for vocab in ('spm', 'phi', 'harmony'):  # the space that the tokenizer adds is no part of a tag
    said = subprocess.run([sampl, '--vocab', files[vocab], '--reasoning-budget', '1', '--reasoning-start', '<tool>ab', '--reasoning-end', 'cd</s>',
                           '--print-chain=server'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    total += 1
    if '"reasoning_budget_start_tag":"<tool>ab","reasoning_budget_end_tags":["cd</s>"]' not in said.stdout:
        wrong += 1
        print('%s: %s%s' % (vocab, said.stdout, said.stderr))
print('%d texts, %d wrong' % (total, wrong))
sys.exit(wrong > 0 or not total)
