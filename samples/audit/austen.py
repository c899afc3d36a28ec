#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole of an audit on the small model of samples/austen.gguf: a run that claims tokens, and the reference for them (numpy).

usage: austen.py claim NOTES [--bits N] [--machine M] -- OPTIONS >claimed.ids      runs the model with sampl as its sampler
       austen.py reference NOTES claimed.ids >reference.f32                         the exact logits of the claimed text
then:  sampl -n 4096 --params NOTES OPTIONS --audit @claimed.ids reference.f32

Both write 16 sequences of 200 tokens, one token of each in turn; NOTES names the sequences. --bits rounds the weights: 16 (bf16, as
stored) to 2. --machine is the number of a machine: each has small errors of its own, as another GPU or batch has. Without --machine
there are none. In the environment, PROGRAM is another sampl, and TOKENS another length of the sequences.
"""
import argparse
import json
import os
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, '..', 'austen.gguf')
SEQUENCES, TOKENS, PROMPT = 16, int(os.environ.get('TOKENS', '200')), 16
LAYERS, WIDTH, HEADS = 4, 192, 4


def read_gguf(path):
    """The tensors of a GGUF file of f32 and f16, by name."""
    data, at = open(path, 'rb').read(), 8
    size = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def number(form):
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, data, at - struct.calcsize(form))[0]

    def text():
        nonlocal at
        n = number('<Q')
        at += n
        return data[at - n:at].decode('utf-8', 'replace')

    def skip(kind):
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            kind, n = number('<I'), number('<Q')
            for _ in range(n):
                skip(kind)
        else:
            at += size[kind]
    tensors, pairs = number('<Q'), number('<Q')
    for _ in range(pairs):
        text()
        skip(number('<I'))
    info = [(text(), [number('<Q') for _ in range(number('<I'))], number('<I'), number('<Q')) for _ in range(tensors)]
    base = (at + 31) // 32 * 32
    found = {}
    for name, shape, kind, offset in info:
        kind = {0: '<f4', 1: '<f2'}[kind]
        found[name] = np.frombuffer(data, kind, int(np.prod(shape)), base + offset).reshape(shape[::-1]).astype(np.float32)
    return found


def bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)


def rounded(w, bits):
    """The weights in steps of the largest of each 32 divided by 2^(bits - 1) - 1; 16 is bf16."""
    if bits == 16 or w.ndim < 2:
        return bf16(w)
    blocks = w.reshape(-1, 32)
    step = np.maximum(np.abs(blocks).max(1, keepdims=True) / (2 ** (bits - 1) - 1), 1e-12)
    return (np.round(blocks / step) * step).reshape(w.shape).astype(np.float32)


class Model:
    """Runs B texts side by side, a token of each at a time. machine: None computes in f32; a number rounds what each layer computes to
    bf16, with errors that belong to this machine."""

    def __init__(self, bits=16, machine=None, texts=SEQUENCES, most=256):
        self.w = {name: rounded(w, bits) for name, w in read_gguf(MODEL).items()}
        self.noise = None if machine is None else np.random.default_rng(machine)
        self.key = np.zeros((LAYERS, texts, HEADS, most, WIDTH // HEADS), np.float32)
        self.value = np.zeros_like(self.key)
        self.n = 0

    def coarse(self, x):
        if self.noise is None:
            return x
        return bf16(x * (1 + 2.0 ** -9 * self.noise.standard_normal(x.shape, np.float32)))

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.w[name + '.weight'] + self.w[name + '.bias']

    def linear(self, x, name):
        return self.coarse(x @ self.w[name + '.weight'].T + self.w[name + '.bias'])

    def step(self, tokens):
        """Takes a token of each text. Returns the logits of the next, [texts, 4096]."""
        n, texts = self.n, len(tokens)
        x = self.w['token_embd.weight'][tokens] + self.w['position_embd.weight'][n]
        for i in range(LAYERS):
            q, k, v = np.split(self.linear(self.norm(x, f'blk.{i}.attn_norm'), f'blk.{i}.attn_qkv'), 3, -1)
            self.key[i, :, :, n] = k.reshape(texts, HEADS, -1)
            self.value[i, :, :, n] = v.reshape(texts, HEADS, -1)
            score = np.einsum('bhd,bhtd->bht', q.reshape(texts, HEADS, -1), self.key[i, :, :, :n + 1]) / np.sqrt(WIDTH / HEADS)
            score = np.exp(score - score.max(-1, keepdims=True))
            score /= score.sum(-1, keepdims=True)
            x = x + self.linear(np.einsum('bht,bhtd->bhd', score, self.value[i, :, :, :n + 1]).reshape(texts, WIDTH), f'blk.{i}.attn_output')
            h = self.linear(self.norm(x, f'blk.{i}.ffn_norm'), f'blk.{i}.ffn_up')
            h = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h ** 3)))
            x = x + self.linear(h, f'blk.{i}.ffn_down')
        self.n += 1
        return self.coarse(self.norm(x, 'output_norm') @ self.w['token_embd.weight'].T).astype(np.float32)


def prompts(texts=SEQUENCES):
    """Beginnings of the texts: pieces of samples/austen.prompt and samples/austen.tokens."""
    text = [int(t) for name in ('austen.prompt', 'austen.tokens') for t in open(os.path.join(HERE, '..', name)).read().split()]
    return np.array([text[i * 15 % 270:][:PROMPT] for i in range(texts)])


def begin(model):
    for tokens in prompts(model.key.shape[1]).T:
        logits = model.step(tokens)
    return logits


def write_notes(path):
    with open(path, 'w') as f:
        for i in range(TOKENS):
            for text, prompt in enumerate(prompts()):
                f.write(json.dumps({'seq': f'text {text}'} | ({} if i else {'prompt_tokens': prompt.tolist()})) + '\n')


def claim(a):
    write_notes(a.notes)
    model = Model(a.bits, a.machine)
    sampl = subprocess.Popen([os.environ.get('PROGRAM', 'sampl'), '-f', 'f32', '-n', '4096', '--params', a.notes, '--line-buffered', *a.options],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    logits = begin(model)
    for i in range(TOKENS):
        sampl.stdin.write(logits.tobytes())
        sampl.stdin.flush()
        tokens = [sampl.stdout.readline() for _ in range(SEQUENCES)]
        if not tokens[-1]:
            sys.exit('austen.py: sampl has ended')
        sys.stdout.write(''.join(t.decode() for t in tokens))
        if i + 1 < TOKENS:
            logits = model.step([int(t) for t in tokens])
    sampl.stdin.close()
    sys.exit(sampl.wait())


def reference(a):
    claimed = np.array(open(a.claimed).read().split(), int).reshape(TOKENS, SEQUENCES)
    model = Model()
    logits = begin(model)
    for i, tokens in enumerate(claimed):
        sys.stdout.buffer.write(logits.tobytes())
        if i + 1 < TOKENS:
            logits = model.step(tokens)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ('claim', 'reference'):
        sys.exit(__doc__)
    parser = argparse.ArgumentParser(usage=__doc__)
    sub = parser.add_subparsers()
    p = sub.add_parser('claim')
    p.add_argument('notes')
    p.add_argument('--bits', type=int, default=16)
    p.add_argument('--machine', type=int)
    p.set_defaults(run=claim)
    p = sub.add_parser('reference')
    p.add_argument('notes')
    p.add_argument('claimed')
    p.set_defaults(run=reference)
    end = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)
    a = parser.parse_args(sys.argv[1:end])
    a.options = sys.argv[end + 1:]
    a.run(a)


if __name__ == '__main__':
    main()
