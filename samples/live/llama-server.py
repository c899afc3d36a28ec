#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates a text with a running llama-server and sampl's samplers: one request a token, which asks for the likeliest tokens.

usage: llama-server.py PROMPT NUMBER N_PROBS [OPTION...], where OPTIONs are sampl's; LLAMA_SERVER is the address of the server
"""
import json
import os
import subprocess
import sys
import urllib.request

if len(sys.argv) < 4:
    sys.exit(__doc__)
prompt, number, n_probs, *options = sys.argv[1:]
server = os.environ.get("LLAMA_SERVER", "http://127.0.0.1:8080")


def ask(path, body=None):
    request = urllib.request.Request(server + path, body and json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


tokens = ask("/tokenize", {"content": prompt, "add_special": True})["tokens"]
ends = ask("/tokenize", {"content": ask("/props")["eos_token"]})["tokens"]
sampl = subprocess.Popen(["sampl", "-f", "json", "--prompt-tokens", ",".join(map(str, tokens)), *options],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for _ in range(int(number)):
    reply = ask("/completion", {"prompt": tokens, "n_predict": 1, "n_probs": int(n_probs), "cache_prompt": True, "temperature": 0})
    listed = reply["completion_probabilities"][0]["top_logprobs"]
    row = {"ids": [t["id"] for t in listed], "logprobs": [t["logprob"] for t in listed]}
    sampl.stdin.write(json.dumps(row).encode() + b"\n")
    sampl.stdin.flush()
    line = sampl.stdout.readline()
    if not line or int(line) in ends: # the reply's stop_type is about the server's own token
        break
    tokens.append(int(line))
    text = next(t["token"] for t in listed if t["id"] == tokens[-1])
    print(text, end="", flush=True)
sampl.stdin.close()
sys.exit(sampl.wait())
