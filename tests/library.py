#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares libsampl with the program: random chains, engines, options, vocabularies, sequences, histories and
parameters of rows, by the generators of same.py. Ids, kept tokens, probabilities and texts of errors must agree.

    SAMPL=build/sampl COUNT=1000 SEED=1 tests/library.py

LIBSAMPL is the library, by default libsampl.so.0 beside the program.
"""
import array
import collections
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_float, c_size_t, c_uint32, c_uint64, c_void_p

import same
from same import COUNT, JOBS, OF_VOCAB, RAW, ROOT, SEED, TEXTS, Case, Failed, Passed, Program

os.environ.setdefault("LIBSAMPL", os.path.join(os.path.dirname(same.SAMPL), "libsampl.so.0"))
sys.path.insert(0, str(ROOT / "samples/lib"))
import sampl  # noqa: E402

lib, WANT_P, WANT_KEPT = sampl.lib, 1, 2
lib.sampl_vocab.restype = c_void_p


class Token(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("p", c_float)]


lib.sampl_kept.restype = POINTER(Token)


def vocabulary(texts):
    """Makes a vocabulary of lines as --vocab reads them."""
    lines = [re.sub(rb"\\(n|x..)", lambda m: b"\n" if m[1] == b"n" else bytes([int(m[1][1:], 16)]), text.encode()) for text in texts]
    lengths = (c_size_t * len(lines))(*map(len, lines))
    return c_void_p(lib.sampl_vocab((c_char_p * len(lines))(*lines), lengths, c_size_t(len(lines))))


class Reader:
    """A run of the library over rows with members: an answer for each row, as the program's JSON has it."""

    def __init__(self, words, texts, kept):
        self.vocab, self.sequences, self.kept, self.words = vocabulary(texts) if texts else None, {}, kept, words
        typed = (c_char_p * len(words))(*map(str.encode, words))
        self.chain = c_void_p(lib.sampl_chain(self.vocab, typed, c_size_t(len(words)), None))

    def error(self):
        text = lib.sampl_error(self.chain)
        return text and text.decode(errors="replace")

    def close(self):
        for sequence in self.sequences.values():
            lib.sampl_sequence_free(sequence)
        lib.sampl_chain_free(self.chain)
        lib.sampl_vocab_free(self.vocab)

    def sequence(self, name, prompt):
        """Finds the sequence of a row, or begins it."""
        if name not in self.sequences:
            offset = len(self.sequences) if "batch" in self.words or "--engine=batch" in self.words else 0
            found = c_void_p(lib.sampl_sequence(self.chain, c_uint64(offset)))
            self.sequences[name] = found
            lib.sampl_prompt(found, (c_uint32 * len(prompt))(*prompt), c_size_t(len(prompt)))
        return self.sequences[name]

    def answer(self, kind, data, n, members, prompt, ids=None, width=0):
        """Returns the answer to a row; None if its parameters are wrong, as the program then goes on in another way."""
        sequence = self.sequence(members.get("seq"), members.get("prompt_tokens", prompt))
        if "params" in members and lib.sampl_params(sequence, json.dumps(members["params"]).encode()):
            return None
        pairs = sorted(zip(ids, data)) if ids else []
        if ids:
            ids, data = (c_uint32 * n)(*(i for i, _ in pairs)), array.array("f", (x for _, x in pairs)).tobytes()
        address = ctypes.cast(c_char_p(data), c_void_p)
        row = sampl.Row(address, ctypes.cast(ids, c_void_p) if ids else None, n, width, kind, WANT_KEPT if self.kept else WANT_P)
        token, count = Token(), c_size_t()
        failed = lib.sampl_row(sequence, byref(row), byref(token))
        found = {"error": self.error()} if failed else {"id": token.id, "p": token.p}
        kept = lib.sampl_kept(self.chain, byref(count))
        if self.kept and not failed:
            found["top_probs"] = [(kept[i].id, kept[i].p) for i in range(count.value)]
        if "accept" in members or not failed:
            if lib.sampl_accept(sequence, c_uint32(members.get("accept", token.id))):
                found["stop"] = self.error()
        return found


def rounded(text):
    return array.array("f", [float(text)])[0]


def compare(case):
    """The library's answers are those of the program."""
    chain, source = case.chain(), case.source([*RAW, "json", "json"])
    words, members = chain + case.extras(), case.rows.members or [{}] * case.rows.n
    if any(word == "--preset" for word in words) or any("end" in row for row in members):
        raise Passed("left out")
    # The program counts the position of rows without a name by their number in the input.
    if {"akunu-gpu", "sglang", "vllm-v2"} & set(words) and len({row.get("seq") for row in members}) > 1:
        raise Passed("left out")
    prompt, kept = case.tokens() if case.chance(0.3) else [], case.chance(0.5)
    run = case.run(*words, *case.vocab, *["--prompt-tokens=" + ",".join(map(str, prompt))] * bool(prompt), "--on-error=skip",
                   *["--dump-probs"] * kept, "-O", "json", *source)
    texts = (case.dir / "vocab").read_text().rstrip("\n").split("\n") if case.vocab else None
    reader = Reader(words, texts, kept)
    try:
        return answers(case, run, reader, source, members, prompt)
    finally:
        reader.close()


def answers(case, run, reader, source, members, prompt):
    if run.status == 2:
        said = re.search("(?m)^sampl: (?!warning:|note:)(.*)$", run.err)[1]
        if reader.error():
            same.same("the error", said, reader.error(), run)
        elif not re.search(r"rows\.|prompt|--n-vocab|needs --vocab|engine .* --", said):
            raise Failed(f"the library accepts the words; the program says {said!r}", run)
        return run
    if reader.error():
        raise Failed(f"the library refuses the words: {reader.error()}", run)
    lines, rows = [json.loads(line, parse_float=rounded) for line in run.out.decode().splitlines()], case.rows
    known = rows.v if "-n" in source else 0
    for number, (values, row) in enumerate(zip(rows.values, members)):
        if case.form == "json":
            kind, data = 0, array.array("f", values).tobytes()
        else:
            kind, data = list(RAW).index(case.form), same.pack(RAW[case.form], values)
        ids = rows.ids[number] if rows.ids else None
        got = reader.answer(kind, values if ids else data, len(values), row, prompt, ids, known if ids else 0)
        if number >= len(lines):
            if got and "stop" not in got and "error" not in got:
                raise Failed(f"row {number}: the program stopped, the library gives {got}", run)
            return run
        want, line = {}, lines[number]
        if got is None or "tokens the vocabulary ends" in line.get("error", ""):
            return run
        if line.get("error"):
            want["error"] = line["error"]
        else:
            want |= {"id": line["id"], "p": float(line["prob"])}
            if reader.kept:
                want["top_probs"] = [(top["id"], float(top["prob"])) for top in line["top_probs"]]
        stop = got.pop("stop", None)
        same.same(f"row {number}", want, got, run)
        if stop:
            return run
    return run


def main():
    with tempfile.TemporaryDirectory() as base, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        program = Program(pool, pathlib.Path(base))

        def outcome(number):
            try:
                return ["held", "held", "refused"][compare(Case(program, number, pathlib.Path(base))).status]
            except Passed as why:
                return why.args[0]
            except Failed as why:
                print(f"case {number} of seed {SEED}: {why.args[0]}", *(run.line for run in why.args[1:]), sep="\n    ", flush=True)
                return "failed"

        counts = collections.Counter(pool.map(outcome, range(COUNT)))
    print(f"seed {SEED}: " + ", ".join(f"{counts[kind]} {kind}" for kind in ("held", "refused", "left out", "failed")))
    sys.exit(counts["failed"] or not counts["held"])


if __name__ == "__main__":
    main()
