#!/bin/sh
# SPDX-License-Identifier: MIT
# Lets SGLang generate, and saves its reply with the N_PROBS likeliest candidates of each token. Their log-probabilities are taken after the
# temperature, so ask at temperature 0, which leaves them as they are.
# usage: sglang.sh PROMPT [N_PREDICT [N_PROBS]] >reply.json      (SGLANG=http://127.0.0.1:30000)
# then:  sampl -s 1 reply.json
set -eu
[ $# -ge 1 ] || { sed -n '/^# usage: /,/^# then: /s/^# //p' "$0" >&2; exit 2; }
body='import json, sys
print(json.dumps({"text": sys.argv[1], "sampling_params": {"temperature": 0, "max_new_tokens": int(sys.argv[2])},
                  "return_logprob": True, "top_logprobs_num": int(sys.argv[3])}))'
python3 -c "$body" "$1" "${2:-16}" "${3:-50}" |
    curl -fsS "${SGLANG:-http://127.0.0.1:30000}/generate" -H 'Content-Type: application/json' --data-binary @-
