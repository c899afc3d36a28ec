#!/bin/sh
# SPDX-License-Identifier: MIT
# Lets Ollama generate, and saves its reply with the candidates of each token: at most 20, without ids, before the temperature.
# usage: ollama.sh MODEL PROMPT [N_PREDICT [N_PROBS]] >reply.json      (OLLAMA_HOST=http://127.0.0.1:11434)
# then:  sampl -s 1 --vocab MODEL.gguf reply.json, or without the vocabulary: sampl -s 1 --ids rank reply.json
set -eu
[ $# -ge 2 ] || { sed -n '/^# usage: /,/^# then: /s/^# //p' "$0" >&2; exit 2; }
body='import json, sys
print(json.dumps({"model": sys.argv[1], "prompt": sys.argv[2], "stream": False, "logprobs": True,
                  "options": {"num_predict": int(sys.argv[3])}, "top_logprobs": int(sys.argv[4])}))'
python3 -c "$body" "$1" "$2" "${3:-16}" "${4:-20}" |
    curl -fsS "${OLLAMA_HOST:-http://127.0.0.1:11434}/api/generate" -H 'Content-Type: application/json' --data-binary @-
