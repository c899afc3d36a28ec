python -m mlx_lm.server --model small --temp 0.7 --top-p 0.8
