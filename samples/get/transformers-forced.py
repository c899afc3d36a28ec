#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Saves the logits of a transformers model at every position of a given text (teacher forcing), in one forward pass.

usage: transformers-forced.py MODEL TEXT OUT      writes OUT.npy (row i predicts token i + 1), OUT.first and OUT.rest
then:  sampl --vocab tokenizer.json -s 1 --rows :-1 --prompt-tokens @OUT.first --accept @OUT.rest OUT.npy
small: sampl --neutral --emit list --rows :-1 --accept @OUT.rest -O safetensors -o OUT.safetensors OUT.npy
"""
import sys

if len(sys.argv) != 4:
    sys.exit(__doc__)

import numpy
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name, text, out = sys.argv[1:]
ids = AutoTokenizer.from_pretrained(name)(text, return_tensors='pt')['input_ids']
with torch.no_grad():
    logits = AutoModelForCausalLM.from_pretrained(name)(ids).logits[0]
numpy.save(out + '.npy', logits.float().cpu().numpy()) # numpy has no bf16
numpy.savetxt(out + '.first', ids[0, :1].numpy(), fmt='%d')
numpy.savetxt(out + '.rest', ids[0, 1:].numpy(), fmt='%d')
