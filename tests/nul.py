#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a NUL into strings of JSON inputs, one of STEP from START on: nul.py SAMPL CASES STEP START. The program either refuses the NUL by a message, or prints what it
prints for U+0001 in the same place, with the NUL for it. Run in an empty folder. Prints the numbers of refused and kept NULs."""
import json
import pathlib
import re
import struct
import subprocess
import sys

SAMPL, CASES, STEP, START = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
VOCAB = ["a", "b", "</s>", "the", " of"]

ROW = {"seq": "chat", "logits": [3, 1, 2, 0, 1], "note": "x", "params": {
    "dry_multiplier": 1, "dry_sequence_breakers": ["a", "of"], "logit_bias": {"b": 1, "3": 2}, "samplers": ["top_k", "temperature"],
    "grammar": 'root ::= "a" | "b"', "prompt": "p", "stop": ["x", "y"], "reasoning_budget_tokens": 1, "reasoning_budget_message": "the",
    "reasoning_budget_end_tag": "b", "reasoning_budget_start_tag": "a"}}
SCHEMA = {"type": "object", "properties": {"k": {"enum": ["a", "b"]}, "p": {"type": "string", "pattern": "a+"}}, "required": ["k"]}
TOKENIZER = {"model": {"type": "WordPiece", "continuing_subword_prefix": "##", "unk_token": "[UNK]",
                       "vocab": {"[UNK]": 0, "a": 1, "##b": 2, "the": 3, "of": 4}},
             "added_tokens": [{"id": 5, "content": "<x>", "special": False}], "decoder": {"type": "WordPiece"}}
SAFETENSORS = {"__metadata__": {"format": "pt"}, "rows": {"dtype": "F32", "shape": [1, 5], "data_offsets": [0, 20]}}
ROWS = '{"seq":"chat","ids":[0,1,2,3,4],"logits":[3,1,2,0,1],"end":false}'

# name: the JSON text and the command; the text is file x, which the command reads.
REPLY = "-O json -s 1 -v x"
KINDS = {
    "row": (json.dumps(ROW), "-s 1 -O json --vocab v.json x"),
    "schema in a row": (json.dumps({"logits": [3, 1], "params": {"json_schema": SCHEMA}}), "-s 1 -O json --vocab v2.json x"),
    "rows": (ROWS + ROWS, "-s 1 -O json x"),
    "lists": ('{"seq":"s","topk_ids":[[1,2],[0,3]],"topk_logprobs":[[-1,-2],[-1,-2]],"model":"m"}', REPLY),
    "--params": (json.dumps({"seq": "s", "params": ROW["params"]}), "-f f32 -n 5 -s 1 -O json --vocab v.json --params x rows.f32"),
    "batch": (json.dumps({"custom_id": "q", "response": {"body": json.loads((CASES / "reply-llama.json").read_text())}}), REPLY),
    "vocab.json": (json.dumps({t: i for i, t in enumerate(VOCAB)}), "-s 1 -O json --dump-probs --vocab x rows.json"),
    "vocab.json of GPT-2": (json.dumps({"\u0120a": 0, "b": 1, "c": 2, "d": 3, "e": 4}, ensure_ascii=False),
                            "-s 1 -O json --dump-probs --vocab x rows.json"),
    "tokenizer.json": (json.dumps(TOKENIZER), "-s 1 -O json --dump-probs --vocab x rows6.json"),
    "unigram": (json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": [[t, 0.5] for t in VOCAB]}}),
                "-s 1 -O json --dump-probs --vocab x rows.json"),
    "request": (json.dumps(ROW["params"]), "-s 1 -O json --vocab v.json --preset ./x rows.json"),
    "schema in a request": (json.dumps({"samplers": ["top_k"], "json_schema": SCHEMA}), "-s 1 --print-chain --vocab v2.json --preset ./x"),
    "printed chain": ((CASES / "printed.json").read_text(), "--preset ./x --print-chain --vocab v.json"),
    "list in a string": (json.dumps({"temp": 1, "rep_pen": 1.1, "typical_p": 1, "dry_multiplier": 1, "custom_token_bans": "1,2",
                                     "dry_sequence_breakers": '["a", "b"]'}), "-s 1 --print-chain --vocab v.json --preset ./x"),
    "yaml": ('---\ntemperature: "0.5"\ngrammar_string: "root ::= [a]"\n', "--print-chain --vocab v.json --preset ./x"),
    "schema": (json.dumps(SCHEMA), "--vocab v2.json --print-grammar --json-schema-file x"),
    "safetensors": (json.dumps(SAFETENSORS), "-f safetensors -s 1 -O json x"),
}
for path in sorted(CASES.glob("reply-*.json")) + sorted(CASES.glob("list-*.json")):
    KINDS[path.name] = (path.read_text(), REPLY)


def write(kind, text):
    data = text.encode()
    if kind == "safetensors":
        data = struct.pack("<Q", len(data)) + data + struct.pack("<5f", 3, 1, 2, 0, 1)
    pathlib.Path("x").write_bytes(data)


def run(kind, text, command):
    write(kind, text)
    done = subprocess.run([SAMPL, *command.split()], stdin=subprocess.DEVNULL, capture_output=True)
    tamed = re.sub(r"\?+|`[^`]*'", "?", done.stderr.decode(errors="replace"))
    return done.returncode, done.stdout.decode(errors="surrogateescape"), tamed


def as_nul(text):
    """Output for U+0001 as it would be for a NUL."""
    text = re.sub("(u000|x0)1", r"\g<1>0", text).replace("\x01", "\0")
    return re.sub(r'"bytes":\[[^\]]*\]', lambda m: re.sub(r"\b(1|49)\b", lambda n: str(int(n[0]) - 1), m[0]), text)


for name, rows in (("rows.json", "[3,1,2,0,1]"), ("rows6.json", "[3,1,2,0,1,2]"), ("v.json", json.dumps({t: i for i, t in enumerate(VOCAB)})),
                   ("v2.json", json.dumps({t: i for i, t in enumerate('{"')}))):
    pathlib.Path(name).write_text(rows)
pathlib.Path("rows.f32").write_bytes(struct.pack("<5f", 3, 1, 2, 0, 1))
failed = refused = kept = 0
for kind, (text, command) in KINDS.items():
    first = run(kind, text, command)
    kinds = [0, 0]
    strings = list(STRING.finditer(text))
    for number, m in enumerate(strings):
        for at in {m.start(1), m.end(1)} if len(strings) < 20 or number % STEP == START else ():
            nul, one = (run(kind, text[:at] + f"\\u000{i}" + text[at:], command) for i in range(2))
            if nul[0] and "holds a NUL, which only texts of tokens may" in nul[2] and one[1].startswith(nul[1]):
                kinds[0] += 1
            elif (nul[0], as_nul(nul[1]), as_nul(nul[2])) == (one[0], as_nul(one[1]), as_nul(one[2])):
                kinds[1] += 1
            else:
                failed += 1
                if failed < 20:
                    print(f"{kind}: {text[max(0, at - 30):at]}\\u0000{text[at:at + 20]}\n  {nul}\n  {one}")
    print(f"{kind}: status {first[0]}, {kinds[0]} refused, {kinds[1]} kept", first[2][:150] if first[0] else "")
    failed += first[0] != 0 and print(f"{kind}: {first}") is None
    refused += kinds[0]
    kept += kinds[1]
print(f"{refused} refused, {kept} kept, {failed} failed")
sys.exit(failed > 0 or not refused or not kept)
