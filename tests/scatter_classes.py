# SPDX-License-Identifier: MIT
"""The class of a token by its bytes, written from sampl-spec(7) only."""

BLANK = {9, 10, 11, 12, 13, 32, 0x85, 0xA0, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000} | set(range(0x2000, 0x200B))
HIDDEN = set(range(32)) | set(range(0x7F, 0xA0)) | {0xAD} | set(range(0x200B, 0x2010)) | set(range(0x202A, 0x202F)) | set(range(0x2060, 0x2070))
OTHERS = ((0x2000, 0x2BFF), (0x3000, 0x303F), (0xFE00, 0xFE0F), (0xFF00, 0xFF20), (0x1F000, 0x1FAFF))


def is_letter(c):
    x = ord(c)
    if x < 0x80:
        return "a" <= c.lower() <= "z"
    if x < 0xC0:
        return c in "ªµº"
    return c not in "×÷" and not any(low <= x <= high for low, high in OTHERS)


def class_of(token):
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "other"
    rest = text
    while rest and ord(rest[0]) in BLANK:
        rest = rest[1:]
    if not text:
        return "other"
    if not rest:
        return "space"
    if is_letter(rest[0]):
        return "word" if rest == text else "space-word"
    digits = set("0123456789")
    if any(c in digits for c in rest):
        good = all(c in digits or (c in ".," and 0 < i < len(rest) - 1 and rest[i - 1] in digits and rest[i + 1] in digits)
                   for i, c in enumerate(rest))
        return "number" if good else "other"
    if any(is_letter(c) for c in rest):
        return "other"
    return "punctuation" if any(ord(c) not in BLANK | HIDDEN for c in rest) else "other"
