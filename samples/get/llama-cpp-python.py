#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Saves the raw logits at every position of a text, with llama-cpp-python.

usage: llama-cpp-python.py MODEL.gguf TEXT OUT      writes OUT.npy, OUT.tokens and OUT.rest; row i predicts token i + 1
then:  sampl -s 1 --rows :-1 --prompt-tokens "$(sed -n 1p OUT.tokens)" --accept @OUT.rest OUT.npy
"""
import sys

if len(sys.argv) != 4:
    sys.exit(__doc__)

import numpy
from llama_cpp import Llama

model, text, out = sys.argv[1:]
# Without logits_all the scores are never filled. They take 4 * n_ctx * vocabulary bytes.
llm = Llama(model, logits_all=True, n_ctx=1024, verbose=False)
tokens = llm.tokenize(text.encode())
llm.eval(tokens)
numpy.save(out + '.npy', llm.scores[:llm.n_tokens])
with open(out + '.tokens', 'w') as f, open(out + '.rest', 'w') as rest:
    print(*tokens, sep='\n', file=f)
    print(*tokens[1:], sep='\n', file=rest)
