#!/bin/sh
# SPDX-License-Identifier: MIT
# Lets llama-server generate, and saves its reply with the candidates of each token: log-probabilities of the raw logits, before bias,
# grammar, penalties and temperature. N_PROBS = size of the vocabulary gives whole rows, at about 90 bytes a candidate.
# usage: llama-server.sh PROMPT [N_PREDICT [N_PROBS [IDS]]] >reply.json      (LLAMA_SERVER=http://127.0.0.1:8080; IDS: a file for the prompt's ids)
# then:  sampl -s 1 reply.json;  sampl -s 1 --prompt-tokens @IDS --accept recorded reply.json   follows the server's tokens
set -eu
[ $# -ge 1 ] || { sed -n '/^# usage: /,/^# then: /s/^# //p' "$0" >&2; exit 2; }
body='import json, sys
print(json.dumps({"prompt": sys.argv[1], "n_predict": int(sys.argv[2]), "n_probs": int(sys.argv[3]),
                  "post_sampling_probs": False, "return_tokens": True}))'
server=${LLAMA_SERVER:-http://127.0.0.1:8080}
json='Content-Type: application/json'
if [ $# -ge 4 ]; then
    tokens=$(python3 -c 'import json, sys; print(json.dumps({"content": sys.argv[1], "add_special": True}))' "$1" |
        curl -fsS "$server/tokenize" -H "$json" --data-binary @-)
    echo "$tokens" | python3 -c 'import json, sys; print(*json.load(sys.stdin)["tokens"])' >"$4"
fi
python3 -c "$body" "$1" "${2:-16}" "${3:-50}" |
    curl -fsS "$server/completion" -H "$json" --data-binary @-
