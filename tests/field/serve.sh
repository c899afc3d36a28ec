#!/bin/bash
# starts the server
set -e
MODEL="$HOME/models/small.gguf"
TEMP=${TEMP:-0.6}
ARGS=(
  --ctx-size 8192   # tokens
  --top-k 20
)
echo "starting"
exec ./build/bin/llama-server -m "$MODEL" \
    --temp "$TEMP" --top_p 0.9 \
    "${ARGS[@]}" \
    -ngl 99 --jinja
