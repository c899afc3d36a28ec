#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates a text with a model of Hugging Face's transformers and sampl's samplers.

usage: transformers.py MODEL PROMPT NUMBER [OPTION...], where OPTIONs are sampl's
needs: pip install torch transformers
"""
import subprocess
import sys

sys.path.pop(0) # this file has the name of the library
if len(sys.argv) < 4:
    sys.exit(__doc__)
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name, prompt, number, *options = sys.argv[1:]
tokenizer, model = AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name)
ids, past, sampl = tokenizer(prompt, return_tensors="pt").input_ids, None, None
for _ in range(int(number)):
    with torch.no_grad():
        out = model(ids if past is None else ids[:, -1:], past_key_values=past, use_cache=True)
    row, past = out.logits[0, -1].float().cpu().numpy(), out.past_key_values
    sampl = sampl or subprocess.Popen(["sampl", "-f", "f32", "-n", str(len(row)), "--prompt-tokens", ",".join(map(str, ids[0].tolist())), *options],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    sampl.stdin.write(row.astype("<f4").tobytes())
    sampl.stdin.flush()
    line = sampl.stdout.readline()
    if not line or int(line) == tokenizer.eos_token_id:
        break
    print(tokenizer.decode(int(line)), end="", flush=True)
    ids = torch.cat([ids, torch.tensor([[int(line)]])], 1)
sampl.stdin.close()
sys.exit(sampl.wait())
