#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The programs of samples/live, which generate texts with sampl's samplers. Small stand-ins for the libraries give the rows of
# samples/austen-gen.f32; make check-llama runs live/llama.c with llama.cpp itself.
load helper

# Writes the stand-ins. Each text of a token is its id in brackets.
setup() {
    need_numpy
    cd "$BATS_TEST_TMPDIR" || return 1
    export SAMPLES=$ROOT/samples PATH=${SAMPL%/*}:$PATH PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
    cat >rows.py <<'END'
import os
import numpy as np
rows = np.fromfile(os.environ["SAMPLES"] + "/austen-gen.f32", "<f4").reshape(-1, 4096)
prompt = [int(x) for x in open(os.environ["SAMPLES"] + "/austen.prompt")]
asked = []  # the tokens that the model was asked to go on from


def next_row(tokens):
    asked.append(list(tokens))
    return rows[len(asked) - 1]
END
    cat >llama_cpp.py <<'END'
import ctypes
from rows import next_row, prompt
class Llama:
    def __init__(self, model, n_ctx, verbose): self._ctx = self
    def n_vocab(self): return 4096
    def tokenize(self, text): return prompt
    def token_eos(self): return -1
    def detokenize(self, tokens): return b"[%d]" % tokens[0]
    def eval(self, tokens): self.row = next_row(tokens).copy()
    def get_logits_ith(self, i): return self.row.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
END
    cat >torch.py <<'END'
import contextlib
import numpy as np
no_grad, cat, tensor = contextlib.nullcontext, np.concatenate, np.array
END
    cat >transformers.py <<'END'
from types import SimpleNamespace
import numpy as np
from rows import next_row, prompt
class Row(np.ndarray):
    def float(self): return self
    cpu = float
    def numpy(self): return np.asarray(self)
class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name):
        return lambda ids, past_key_values, use_cache: SimpleNamespace(logits=next_row(ids[0])[None, None].view(Row), past_key_values=1)
class AutoTokenizer:
    eos_token_id = -1
    from_pretrained = staticmethod(lambda name: AutoTokenizer())
    def __call__(self, text, return_tensors): return SimpleNamespace(input_ids=np.array([prompt]))
    def decode(self, token): return f"[{token}]"
END
    cat >server.py <<'END'
import json, os
from http.server import BaseHTTPRequestHandler, HTTPServer
import numpy as np
from rows import next_row, prompt
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *words): pass
    def do_GET(self): self.answer({"eos_token": "</s>"} if self.path == "/props" else {})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            reply = {"tokens": [int(os.environ.get("EOS", 4095))] if body["content"] == "</s>" else prompt}
        else:
            x = next_row(body["prompt"]).astype(np.float64)
            x -= x.max() + np.log(np.exp(x - x.max()).sum())
            best = np.argsort(-x, kind="stable")[:body["n_probs"]]
            reply = {"completion_probabilities": [{"top_logprobs": [{"id": int(i), "logprob": float(x[i]), "token": f"[{i}]"} for i in best]}],
                     "stop_type": "eos"}  # of the server's own token
        self.answer(reply)
    def answer(self, reply):
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
END
    sed 's/.*/[&]/' "$ROOT/samples/austen-gen.tokens" | tr -d '\n' >want
}

@test "samples/live: llama-cpp-python.py and transformers.py print the text that llama.cpp's own samplers chose" {
    local name
    for name in llama-cpp-python transformers; do
        timeout 60 /usr/bin/python3 "$ROOT/samples/live/$name.py" model 'a prompt' 32 -s 2 >got
        cmp got want
        run ! timeout 60 /usr/bin/python3 "$ROOT/samples/live/$name.py" model 'a prompt' 3 --temp x
        [[ $output == *"--temp: 'x' is not a number"* ]]
        run -1 /usr/bin/python3 "$ROOT/samples/live/$name.py" model
        [[ $output == *usage:* ]]
    done
}

@test "samples/live: llama-server.py prints it from lists of all tokens, and from ten tokens if the chain needs no more" {
    mkfifo port again
    /usr/bin/python3 server.py >port 3>&- &
    read -r number <port
    LLAMA_SERVER=http://127.0.0.1:$number timeout 60 /usr/bin/python3 "$ROOT/samples/live/llama-server.py" 'a prompt' 32 4096 -s 2 >got
    kill $!
    cmp got want
    /usr/bin/python3 server.py >again 3>&- &
    read -r number <again
    LLAMA_SERVER=http://127.0.0.1:$number timeout 60 /usr/bin/python3 "$ROOT/samples/live/llama-server.py" 'a prompt' 32 10 -s 2 --top-k 5 >got 2>notes
    kill $!
    timeout 60 /usr/bin/python3 "$ROOT/samples/live/llama-cpp-python.py" model 'a prompt' 32 -s 2 --top-k 5 >five
    cmp got five
    [ ! -s notes ]
    # It ends before the token that ends the text.
    local ids end
    mapfile -t ids <"$ROOT/samples/austen-gen.tokens"
    end=${ids[5]}
    mkfifo third
    EOS=$end /usr/bin/python3 server.py >third 3>&- &
    read -r number <third
    LLAMA_SERVER=http://127.0.0.1:$number timeout 60 /usr/bin/python3 "$ROOT/samples/live/llama-server.py" 'a prompt' 32 4096 -s 2 >got
    kill $!
    [ "$(<got)" = "$(sed "s/\[$end\].*//" want)" ]
}
