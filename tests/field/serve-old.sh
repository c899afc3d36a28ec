GEN="${GEN:---ctx_size 2048
--temp 0.7 --top_k 40}"
./llama-cli $GEN \
  --model "small.gguf" \
  --color --interactive
