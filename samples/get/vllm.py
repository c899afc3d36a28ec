#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets vLLM generate, and writes the raw logits of each step as a line of JSON, with the token that was chosen.

usage: vllm.py MODEL PROMPT N >rows.jsonl
then:  sampl -s 1 rows.jsonl
"""
import json
import sys

if len(sys.argv) != 4:
    sys.exit(__doc__)

sys.path.pop(0) # this file has the name of the library
from vllm import LLM, SamplingParams

name, prompt, n = sys.argv[1:]
llm = LLM(name, max_logprobs=-1, logprobs_mode='raw_logits') # by default they are log-probabilities, 20 at the most
output = llm.generate([prompt], SamplingParams(max_tokens=int(n), logprobs=-1))[0]
for i, (chosen, step) in enumerate(zip(output.outputs[0].token_ids, output.outputs[0].logprobs)):
    row = {'ids': list(step), 'logits': [x.logprob for x in step.values()], 'accept': chosen}
    if not i:
        row['prompt_tokens'] = list(output.prompt_token_ids)
    print(json.dumps(row))
