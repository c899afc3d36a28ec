#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chooses tokens with libsampl by ctypes, without a build. Prints the id of each row of a file of f16 logits:
    sampl.py austen.f16 4096 --seed 1 --repeat-penalty 1.1 --dry-multiplier 0.8 --xtc-probability 0.5
LIBSAMPL names the library, if it is not installed. As a module:
    sequence = Sequence(Chain("--temp", "0.8", "--seed", "7"))
    token = sequence.row(logits.ctypes.data, len(logits), F32)  # numpy, or any address of logits
    sequence.accept(token)                                      # the token joins the history
"""
import ctypes, os, sys
from ctypes import byref, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p

F32, F16, BF16 = range(3)
lib = ctypes.CDLL(os.environ.get("LIBSAMPL", "libsampl.so.0"))
lib.sampl_error.restype, lib.sampl_chain.restype, lib.sampl_sequence.restype = c_char_p, c_void_p, c_void_p


class Row(ctypes.Structure):
    _fields_ = [("logits", c_void_p), ("ids", c_void_p), ("n", c_size_t), ("n_vocab", c_size_t),
                ("type", c_uint32), ("flags", c_uint32), ("position", c_uint32)]


class Chain:
    def __init__(self, *words, params=None):
        typed = (c_char_p * len(words))(*map(str.encode, words))
        self.at = c_void_p(lib.sampl_chain(None, typed, c_size_t(len(words)), params and params.encode()))
        self.check(lib.sampl_error(self.at))

    def __del__(self):
        lib.sampl_chain_free(self.at)

    def check(self, failed):
        if failed:
            raise ValueError(lib.sampl_error(self.at).decode())


class Sequence:
    def __init__(self, chain, offset=0):
        self.chain, self.input, self.token = chain, Row(), (c_uint32 * 2)()  # token: id, p
        self.at = c_void_p(lib.sampl_sequence(chain.at, c_uint64(offset)))
        chain.check(not self.at)

    def row(self, address, n, kind=F32):
        self.input.logits, self.input.n, self.input.type = address, n, kind
        self.chain.check(lib.sampl_row(self.at, byref(self.input), self.token))
        return self.token[0]

    def accept(self, token):
        self.chain.check(lib.sampl_accept(self.at, c_uint32(token)))

    def __del__(self):
        lib.sampl_sequence_free(self.at)


if __name__ == "__main__":
    rows, width = open(sys.argv[1], "rb").read(), int(sys.argv[2])
    sequence, first = Sequence(Chain(*sys.argv[3:])), ctypes.cast(c_char_p(rows), c_void_p).value
    for at in range(0, len(rows) - 2 * width + 1, 2 * width):
        sequence.accept(token := sequence.row(first + at, width, F16))
        print(token)
