#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the reference of an audit: the log-probabilities that vLLM computes for a claimed text (teacher forcing), a row for each token.

usage: reference-vllm.py MODEL PROMPT CLAIMED >rows.jsonl      PROMPT and CLAIMED are files of token ids
then:  sampl --engine vllm-v2 -s 42 --temp 0.8 --audit recorded rows.jsonl
"""
import json
import sys

if len(sys.argv) != 4:
    sys.exit(__doc__)

from vllm import LLM, SamplingParams

name, prompt, claimed = sys.argv[1], *([int(t) for t in open(path).read().split()] for path in sys.argv[2:])
llm = LLM(name, max_logprobs=-1)
output = llm.generate({'prompt_token_ids': prompt + claimed}, SamplingParams(max_tokens=1, prompt_logprobs=-1))[0]
for i, token in enumerate(claimed):
    step = output.prompt_logprobs[len(prompt) + i] # of the token at this place, from those before it
    row = {'ids': list(step), 'logprobs': [x.logprob for x in step.values()], 'accept': token}
    if not i:
        row['prompt_tokens'] = prompt
    print(json.dumps(row))
