@echo off
set GPU=99
C:\llama\llama-server.exe -m small.gguf -ngl %%GPU%% ^
  --temp 0.9 --repeat-penalty 1.1
pause
