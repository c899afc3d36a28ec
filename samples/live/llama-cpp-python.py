#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates a text with llama-cpp-python's model and sampl's samplers.

usage: llama-cpp-python.py MODEL PROMPT NUMBER [OPTION...], where OPTIONs are sampl's
needs: pip install llama-cpp-python
"""
import subprocess
import sys

if len(sys.argv) < 4:
    sys.exit(__doc__)
import numpy as np
from llama_cpp import Llama

model, prompt, number, *options = sys.argv[1:]
llama = Llama(model, n_ctx=2048, verbose=False)
tokens = llama.tokenize(prompt.encode())
sampl = subprocess.Popen(["sampl", "-f", "f32", "-n", str(llama.n_vocab()), "--prompt-tokens", ",".join(map(str, tokens)), *options],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for _ in range(int(number)):
    llama.eval(tokens)
    row = np.ctypeslib.as_array(llama._ctx.get_logits_ith(-1), (llama.n_vocab(),)) # of the last token
    sampl.stdin.write(row.astype("<f4").tobytes())
    sampl.stdin.flush()
    line = sampl.stdout.readline()
    if not line:
        break
    tokens = [int(line)]
    if tokens[0] == llama.token_eos():
        break
    print(llama.detokenize(tokens).decode(errors="replace"), end="", flush=True)
sampl.stdin.close()
sys.exit(sampl.wait())
