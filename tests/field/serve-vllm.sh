vllm serve small/model --max-model-len 4096 --override-generation-config '{"temperature": 0.6, "top_p": 0.9}'
