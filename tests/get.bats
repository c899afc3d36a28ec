#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The scripts of samples/get: their syntax, their requests to servers, and replies that sampl reads. make check-llama runs the C program.

# shellcheck disable=SC2154 # stderr is set by run

load helper

GET=$ROOT/samples/get

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p bin
    # A stand-in for curl: writes its arguments to `asked` and its input to sent.json, and prints the file `answer`.
    cat >bin/curl <<'END'
#!/bin/sh
printf '%s\n' "$@" >asked
cat >sent.json
cat answer
END
    chmod +x bin/curl
    PATH=$PWD/bin:$PATH
}

# sent KEY...: prints the value under these keys of the request, as JSON.
sent() {
    /usr/bin/python3 -c 'import json, sys
x = json.load(open("sent.json"))
for key in sys.argv[1:]:
    x = x[int(key) if isinstance(x, list) else key]
print(json.dumps(x))' "$@"
}

@test "every script of samples/get has valid syntax, a usage line and an example with sampl" {
    local script n=0
    for script in "$GET"/*; do
        case $script in
        *.sh) sh -n "$script" ;;
        *.py) /usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$script" ;;
        *.c) grep -q '<llama.h>' "$script" ;;
        *) false ;;
        esac || { echo "$script"; return 1; }
        grep -q 'usage: ' "$script" && grep -q '^.*then: .*sampl' "$script" || { echo "$script does not say how"; return 1; }
        n=$((n + 1))
    done
    [ "$n" -ge 10 ]
}

@test "a script of samples/get without arguments says how to use it and how sampl reads its output, and fails" {
    local script
    for script in "$GET"/*.sh "$GET"/*.py; do
        case $script in
        *.sh) run -2 --separate-stderr "$script" ;;
        *) run -1 --separate-stderr /usr/bin/python3 "$script" ;;
        esac
        [ -z "$output" ]
        [[ $'\n'$stderr == *$'\n'"usage: ${script##*/} "*$'\n'"then:  sampl "* ]] || { echo "$script: $stderr"; return 1; }
    done
}

@test "llama-server.sh requests candidates, and sampl reads the reply" {
    cp "$ROOT/samples/reply.json" answer
    LLAMA_SERVER=http://box:1 "$GET/llama-server.sh" 'say "é" \ ' 8 10 >reply.json
    grep -qx 'http://box:1/completion' asked
    [ "$(sent prompt)" = '"say \"\u00e9\" \\ "' ]
    [ "$(sent n_predict) $(sent n_probs) $(sent post_sampling_probs)" = '8 10 false' ]
    sampl -s 1 --top-k 10 reply.json >got
    sampl -n 4096 -s 1 --top-k 10 --rows :8 "$AUSTEN" >want
    same want got
    sampl -s 1 --accept recorded reply.json >got
    [ "$(wc -l <got)" -eq 8 ]
    echo '{"tokens": [1, 22, 333]}' >answer
    LLAMA_SERVER=http://box:1 "$GET/llama-server.sh" 'say "é"' 8 10 ids >reply.json
    [ "$(<ids)" = '1 22 333' ]
    # Without a server there is one message, that of curl, and no file of ids.
    printf '#!/bin/sh\ncat >/dev/null; echo "curl: no server" >&2; exit 7\n' >bin/curl
    run -7 "$GET/llama-server.sh" x 8 10 none
    [ "$output" = 'curl: no server' ]
    [ ! -e none ]
}

@test "sglang.sh, ollama.sh and openai.sh send the request of their server" {
    cat >answer <<'END'
{"meta_info":{"output_token_logprobs":[[-1.75,7,null]],"output_top_logprobs":[[[-0.25,5,null],[-1.75,7,null]]]},"text":" sea"}
END
    "$GET/sglang.sh" 'By the' 1 2 >reply.json
    grep -qx 'http://127.0.0.1:30000/generate' asked
    [ "$(sent text) $(sent sampling_params temperature) $(sent return_logprob) $(sent top_logprobs_num)" = '"By the" 0 true 2' ]
    [ "$(sampl --temp 0 reply.json)" = 5 ]
    cat >answer <<'END'
{"model":"m","response":" sea","done":true,"logprobs":[{"token":" sea","logprob":-1.75,"bytes":[32,115,101,97],"top_logprobs":[
{"token":" way","logprob":-0.25,"bytes":[32,119,97,121]},{"token":" sea","logprob":-1.75,"bytes":[32,115,101,97]}]}]}
END
    "$GET/ollama.sh" m 'By the' >reply.json
    grep -qx 'http://127.0.0.1:11434/api/generate' asked
    [ "$(sent model) $(sent prompt) $(sent logprobs) $(sent top_logprobs) $(sent stream)" = '"m" "By the" true 20 false' ]
    [ "$(sampl --temp 0 --ids rank reply.json)" = 0 ]
    cat >answer <<'END'
{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":" sea"},"logprobs":{"content":[
{"token":" sea","logprob":-1.75,"bytes":[32,115,101,97],"top_logprobs":[{"token":" way","logprob":-0.25,"bytes":[32,119,97,121]},
{"token":" sea","logprob":-1.75,"bytes":[32,115,101,97]}]}]}}]}
END
    OPENAI_API_KEY=k OPENAI_BASE_URL=http://box/v1 "$GET/openai.sh" m 'By the' 4 5 >reply.json
    grep -qx 'http://box/v1/chat/completions' asked
    grep -qx 'Authorization: Bearer k' asked
    [ "$(sent messages 0 content) $(sent max_completion_tokens) $(sent logprobs) $(sent top_logprobs)" = '"By the" 4 true 5' ]
    [ "$(sampl --temp 0 --ids rank reply.json)" = 0 ]
}

@test "llama-perplexity.sh runs llama-perplexity with --kl-divergence-base" {
    printf '#!/bin/sh\nprintf "%%s\\n" "$*" >asked\n' >bin/llama-perplexity
    chmod +x bin/llama-perplexity
    "$GET/llama-perplexity.sh" m.gguf text.txt out.kld
    [ "$(<asked)" = '-m m.gguf -f text.txt -c 512 --kl-divergence-base out.kld' ]
}

# The script has the name of the library, and lies in the folder where Python looks first.
@test "vllm.py imports the library of this name, and writes rows that sampl reads" {
    mkdir lib
    cat >lib/vllm.py <<'END'
from types import SimpleNamespace as Of
SamplingParams = Of
class LLM:
    def __init__(self, model, max_logprobs, logprobs_mode): assert (max_logprobs, logprobs_mode) == (-1, 'raw_logits')
    def generate(self, prompts, params):
        steps = [{2: Of(logprob=1.5), 0: Of(logprob=0.5)}, {1: Of(logprob=3.0), 2: Of(logprob=-1.0)}]
        return [Of(prompt_token_ids=[7, 8], outputs=[Of(token_ids=[0, 1], logprobs=steps)])]
END
    PYTHONPATH=$PWD/lib PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$GET/vllm.py" m 'By the' 2 >rows.jsonl
    [ "$(head -n 1 rows.jsonl)" = '{"ids": [2, 0], "logits": [1.5, 0.5], "accept": 0, "prompt_tokens": [7, 8]}' ]
    [ "$(sampl --temp 0 rows.jsonl | xargs)" = '2 1' ]
}

@test "a script of samples/audit without arguments says how to use it and how sampl reads its output, and fails" {
    local script n=0
    for script in "$ROOT"/samples/audit/*.py; do
        if [[ $script == */austen.py ]]; then need_numpy; fi
        run -1 --separate-stderr /usr/bin/python3 "$script"
        [ -z "$output" ]
        [[ $'\n'$stderr == *$'\n'"usage: ${script##*/} "*$'\n'"then:  sampl "* ]] || { echo "$script: $stderr"; return 1; }
        n=$((n + 1))
    done
    [ "$n" = 3 ]
}
