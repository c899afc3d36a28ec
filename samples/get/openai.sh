#!/bin/sh
# SPDX-License-Identifier: MIT
# Asks a server that speaks OpenAI's chat completions, and saves its reply with the candidates of each token. OpenAI's own gives at most 20
# without ids; llama-server has no limit and gives ids, vLLM does with "return_tokens_as_token_ids".
# usage: openai.sh MODEL PROMPT [N_PREDICT [N_PROBS]] >reply.json      (OPENAI_BASE_URL=https://api.openai.com/v1, OPENAI_API_KEY)
# then:  sampl -s 1 reply.json, or where there are no ids: sampl -s 1 --ids rank reply.json
set -eu
[ $# -ge 2 ] || { sed -n '/^# usage: /,/^# then: /s/^# //p' "$0" >&2; exit 2; }
body='import json, sys
print(json.dumps({"model": sys.argv[1], "messages": [{"role": "user", "content": sys.argv[2]}],
                  "max_completion_tokens": int(sys.argv[3]), "logprobs": True, "top_logprobs": int(sys.argv[4])}))'
python3 -c "$body" "$1" "$2" "${3:-16}" "${4:-20}" |
    curl -fsS "${OPENAI_BASE_URL:-https://api.openai.com/v1}/chat/completions" -H 'Content-Type: application/json' \
        -H "Authorization: Bearer ${OPENAI_API_KEY:-none}" --data-binary @-
