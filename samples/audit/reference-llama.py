#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the reference of an audit: the logits that llama.cpp computes for a claimed text (teacher forcing), with llama-cpp-python.

usage: reference-llama.py MODEL.gguf PROMPT CLAIMED OUT.npy      PROMPT and CLAIMED are files of token ids
then:  sampl -s 42 --temp 0.8 --prompt-tokens @PROMPT --audit @CLAIMED OUT.npy
"""
import sys

if len(sys.argv) != 5:
    sys.exit(__doc__)

import numpy
from llama_cpp import Llama

name, prompt, claimed, out = sys.argv[1], *([int(t) for t in open(path).read().split()] for path in sys.argv[2:4]), sys.argv[4]
llm = Llama(name, n_ctx=len(prompt) + len(claimed), logits_all=True, verbose=False)
llm.eval(prompt + claimed[:-1])
numpy.save(out, numpy.array(llm.scores[len(prompt) - 1:len(prompt) + len(claimed) - 1], numpy.float32)) # row i predicts token i
