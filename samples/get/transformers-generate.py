#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets a transformers model generate, and saves the logits of each step before processors, penalties and temperature.

usage: transformers-generate.py MODEL PROMPT N OUT      writes OUT.npy, OUT.prompt and OUT.tokens
then:  sampl --vocab tokenizer.json -s 1 --prompt-tokens @OUT.prompt --accept @OUT.tokens OUT.npy
"""
import sys

if len(sys.argv) != 5:
    sys.exit(__doc__)

import numpy
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name, prompt, n, out = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)
inputs = tokenizer(prompt, return_tensors='pt')
# output_scores would be what the processors leave; output_logits is what the model says.
result = model.generate(**inputs, max_new_tokens=int(n), return_dict_in_generate=True, output_logits=True)
length = inputs['input_ids'].shape[1]
numpy.save(out + '.npy', torch.stack(result.logits, 1)[0].float().cpu().numpy())
numpy.savetxt(out + '.prompt', inputs['input_ids'][0].numpy(), fmt='%d')
numpy.savetxt(out + '.tokens', result.sequences[0, length:].cpu().numpy(), fmt='%d')
