#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes each input form of sampl-input(5) to a pipe, row by row, and waits for the record of each row before it writes the next one.
live.py SAMPL. A form is a list of pieces: bytes, and the number of rows that are whole when these bytes have arrived."""
import itertools
import json
import os
import struct
import subprocess
import sys

V = 4
ROWS = [[1.5, 2.25, 0.5, -1], [-2, 0.25, 3, 1], [1, 4, 2, 0.5], [0.5, -1, 0.25, 2]]


def one_by_one(texts, before=b"", after=b""):
    """One row for each text."""
    pieces = [(text if isinstance(text, bytes) else text.encode(), 1) for text in texts]
    return [(before + pieces[0][0], 1), *pieces[1:], *([(after, 0)] if after else [])]


def npy(rows, shape, descr="<f4", pack="<%df"):
    head = b"{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (descr.encode(), shape.encode())
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head, [struct.pack(pack % V, *row) for row in rows]


def safetensors(tensors):
    at, header = 0, {}
    for name, kind, shape, data in tensors:
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


def token(i, x, **more):
    return {"id": i, "token": "t%d" % i, "logprob": x, **more}


def logprobs(row):
    return sorted(((x - 5, i) for i, x in enumerate(row)), reverse=True)


def records(row):
    return [token(i, x) for x, i in logprobs(row)]


def raw(code):
    return [struct.pack("<%d%s" % (V, code), *row) for row in ROWS]


FORMS = {}  # name: (format, is it recognised without -f, options, pieces)


def form(name, fmt, pieces, *options, auto=True):
    FORMS[name] = fmt, auto, options, pieces


TEXT = [json.dumps(row) for row in ROWS]
OBJECTS = [json.dumps({"seq": "ab"[i % 2], "logits": row}) for i, row in enumerate(ROWS)]
form("arrays in lines", "json", one_by_one([t + "\n" for t in TEXT]))
form("arrays without white space", "json", one_by_one(TEXT))
form("an array of short rows", "json", one_by_one(["[1,2]", "[2,1]", "[1,2]"]))
form("an array of rows", "json", one_by_one(["," * (i > 0) + t for i, t in enumerate(TEXT)], b"[", b"]\n"))
form("an array of rows that ends before the next value", "json", [
    (b"[" + TEXT[0].encode(), 1), (b", " + TEXT[1].encode() + b"]", 1), (b"\n[" + TEXT[2].encode() + b"]", 1)])
form("an array of one row each", "json", one_by_one(["[%s]" % t for t in TEXT]))
form("an array of objects", "json", one_by_one(["," * (i > 0) + t for i, t in enumerate(OBJECTS)], b"[", b"]"))
form("an array of arrays and objects", "json", one_by_one(["," * (i > 0) + (TEXT[i] if i % 2 else OBJECTS[i]) for i in range(4)], b"[", b"]"))
form("objects", "json", one_by_one(OBJECTS))
form("objects of logits alone", "json", one_by_one(['{"logits":%s}' % t for t in TEXT]))
form("objects of logits alone, in lines", "json", one_by_one(['{ "logits" : %s }\r\n' % t for t in TEXT]))
form("objects of probabilities", "json", one_by_one([json.dumps({"probs": [0.5, 0.25, 0.125, 0.125]})] * 3))
form("objects of log-probabilities", "json", one_by_one([json.dumps({"logprobs": [x - 5 for x in row], "end": False}) for row in ROWS]))
form("objects of ids", "json", one_by_one([json.dumps({"ids": [7, 1, 3, 2], "logits": row}) + "\n" for row in ROWS]))
form("lists of a data set", "json", [(json.dumps({"topk_ids": [[3, 1], [2, 0]], "topk_logprobs": [[-0.5, -1.5], [-1, -2]]}).encode(), 2)] * 2)
for name, reply in {
        "llama-server": lambda row: {"content": "a", "completion_probabilities": [token(1, -1, top_logprobs=records(row))]},
        "an old llama-server": lambda row: {"content": "a", "completion_probabilities": [
            {"content": "token_id:1", "probs": [{"tok_str": "token_id:%d" % i, "prob": 2.0 ** x / 9} for x, i in logprobs(row)]}]},
        "chat completions": lambda row: {"choices": [{"index": 0, "logprobs": {"content": [token(1, -1, top_logprobs=records(row))]}}]},
        "completions": lambda row: {"choices": [{"index": 0, "logprobs": {
            "tokens": ["token_id:1"], "token_logprobs": [-1], "top_logprobs": [{"token_id:%d" % i: x for x, i in logprobs(row)}]}}]},
        "vLLM's prompt": lambda row: {"choices": [], "prompt_logprobs": [None, {str(i): {"logprob": x, "rank": 1} for x, i in logprobs(row)}]},
        "SGLang": lambda row: {"text": "a", "meta_info": {"output_token_logprobs": [[-1, 1, "a"]],
                                                         "output_top_logprobs": [[[x, i, "t%d" % i] for x, i in logprobs(row)]]}},
        "Text Generation Inference": lambda row: {"generated_text": "a", "details": {
            "prefill": [], "tokens": [token(1, -1)], "top_tokens": [records(row)]}},
        "KoboldCpp": lambda row: {"results": [{"text": "a", "logprobs": {"content": [token(1, -1, top_logprobs=records(row))]}}]},
        "OpenAI's responses": lambda row: {"output": [{"content": [{"text": "a", "logprobs": [token(1, -1, top_logprobs=records(row))]}]}]},
        "Ollama": lambda row: {"done": False, "response": "a", "logprobs": [token(1, -1, top_logprobs=records(row))]},
        "vLLM's Python objects": lambda row: {str(i): {"logprob": x, "rank": 1, "decoded_token": "t"} for x, i in logprobs(row)},
        "OpenAI's batches": lambda row: {"custom_id": "a", "response": {"body": {
            "choices": [{"index": 0, "logprobs": {"content": [token(1, -1, top_logprobs=records(row))]}}]}}},
}.items():
    texts = [json.dumps(reply(row)) for row in ROWS]
    form("replies: " + name, "json", one_by_one(texts))
    if name != "SGLang":
        form("events: " + name, "json", one_by_one(["data: %s\n\n" % t for t in texts], b"", b"data: [DONE]\n"))
form("events with names", "json", one_by_one(["event: row\nid: 7\ndata: %s" % t + "\n\n" * (i < 3) for i, t in enumerate(OBJECTS)]))
for code, fmt in (("f", "f32"), ("e", "f16"), ("H", "bf16")):
    rows = raw(code) if code != "H" else [b"".join(struct.pack("<f", x)[2:] for x in row) for row in ROWS]
    form(fmt, fmt, one_by_one(rows), "-n", str(V), auto=False)
for descr, pack in (("<f2", "<%de"), ("<f4", "<%df"), (">f4", ">%df"), ("<f8", "<%dd")):
    head, rows = npy(ROWS, "(4, 4)", descr, pack)
    form("npy " + descr, "npy", one_by_one(rows, head))
head, rows = npy(ROWS, "(2, 2, 4)")
form("npy of sequences", "npy", one_by_one(rows, head))
form("npy arrays of one row each", "npy", one_by_one([b"".join([npy([row], "(1, 4)")[0], *npy([row], "(1, 4)")[1]]) for row in ROWS]))
for kind, code in (("F16", "e"), ("F32", "f"), ("F64", "d")):
    form("safetensors " + kind, "safetensors", one_by_one(raw(code), safetensors([("x", kind, [4, V], b"".join(raw(code)))])))
other, ids = ("y", "I32", [1], b"\1\0\0\0"), b"".join(struct.pack("<4i", 3, 1, 0, 2) for _ in ROWS)
form("safetensors with a tensor behind the rows", "safetensors", one_by_one([*raw("f")[:3], raw("f")[3] + other[3]],
                                                                            safetensors([("x", "F32", [4, V], b"".join(raw("f"))), other])))
lists = [("topk_ids", "I32", [4, V], ids), ("topk_logits", "F32", [4, V], b"".join(raw("f")))]
form("safetensors of lists", "safetensors", [(safetensors(lists) + lists[0][3] + lists[1][3], 4)])
form("kld", "kld", one_by_one([struct.pack("<ff4H", 0.001, -9, *(int(9000 + 1000 * x) for x in row)) for row in ROWS],
                              b"_logits_" + struct.pack("<Iii", 10, V, 1) + struct.pack("<10i", *(i % V for i in range(10)))))
form("pairs", "pairs", [("".join("%d: %s\n" % (i, x) for i, x in enumerate(ROWS[0])).encode(), 0)])


def ahead(pieces):
    """The same bytes, of which half of the next piece arrives with each piece."""
    halves = [0, *(len(text) // 2 for text, _ in pieces[1:]), 0]
    return [(text[halves[i]:] + (pieces[i + 1][0] if i + 1 < len(pieces) else b"")[:halves[i + 1]], n) for i, (text, n) in enumerate(pieces)]


def converse(command, pieces, what):
    whole = subprocess.run(command, input=b"".join(text for text, _ in pieces), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    got, wanted = b"", 0
    for text, n in pieces:
        run.stdin.write(text)
        run.stdin.flush()
        wanted += n
        print(what, "waits for record", wanted, file=sys.stderr)
        while got.count(b"\n") < wanted:
            part = os.read(run.stdout.fileno(), 1 << 16)
            assert part, (what, wanted, got)
            got += part
    run.stdin.close()
    got += run.stdout.read()
    assert run.wait() == 0 and got == whole, (what, got, whole)
    assert whole.count(b"\n") == max(wanted, 1), (what, whole)


n, turn = 0, int(os.environ.get("SAMPL_TEST_TURN") or 0)
for (name, (fmt, auto, options, pieces)), words in itertools.product(
        FORMS.items(), ("-t 1", "-t 2", "-t 2 --mirostat 2 --vs --temp=2 --emit ids")):
    for given, split in itertools.product(([], ["-f", fmt]), (list, ahead)):
        turn += 1
        if (given or auto) and (turn % 6 == 0 or not os.environ.get("SAMPL_TEST_SHORT")):
            converse([sys.argv[1], "-s", "1", *given, *options, *words.split()], split(pieces), (name, words, given, split.__name__))
            n += 1
print(n, "conversations in", len(FORMS), "forms")
