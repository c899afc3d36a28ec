#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks llama.cpp and sampl which random grammars and schemas they take, and compares the answers.

usage: accepts.py SAMPL DRIVER VOCAB COUNT SEED [RECORD]

`DRIVER accepts VOCAB` answers {"grammar": TEXT} or {"schema": TEXT}, one a line, with {"accepted": BOOL}. sampl must refuse with --strict-grammar what the
driver refuses, and take what it takes. Of a schema that the driver takes, sampl's printed grammar must be taken, too; of one that it refuses,
the note must say truly whether the printed grammar is taken. On some grammars of items that can be empty llama.cpp
computes until its driver stops it: these are counted. RECORD gets the answers as lines of
tests/cases/accepts.jsonl. In the lists below many items are on the edge of what is taken.
"""
import json, random, subprocess, sys

sampl, driver, vocab, count, seed = sys.argv[1:4] + [int(sys.argv[4]), int(sys.argv[5])]
record = open(sys.argv[6], 'w') if sys.argv[6:] else None
rng = random.Random(seed)
pick = rng.choice


def repetition():
    kind = rng.random()
    if kind < .55:
        return pick('*+??')
    low = pick([0, 0, 1, 2, 3, 10, 40, 44, 45, 50, 63, 1000, 1999, 2000, 2001])
    if kind < .65:
        return '{%d}' % low
    if kind < .75:
        return '{%d,}' % low
    return '{%d,%d}' % (low, low + pick([0, 1, 2, 9, 40, 45, 60, 1000, 1990, 2000, 5000]))


TOKENS = ['<s>', '</s>', '!<s>', '<unk>', '< the>', '!< was>', '< zebra>', '<the>', '<>', '<a b>', '<é>', '<\\n>', '<[5>', '<5>', '<[05]>', '<[ 5]>', '<[4095]>', '<[4096]>', '! <s>', '<s']


def item(depth, names):
    kind = rng.random()
    if kind < .04:
        return pick(TOKENS)
    if depth and kind < .35:
        return '(' + alternatives(depth - 1, names) + ')'
    if kind < .5:
        return pick(names)
    return pick(['"a"', '"ab"', '"é"', '""', '[a-z]', '[^"]', '.', '<[5]>', '!<[5]>', '[z-a]', '[]', '"\\x41"', '[\\]\\-]', '[^\\x00-\\x7F]', '<[99999]>'])


def sequence(depth, names):
    text = []
    for _ in range(rng.randrange(4)):
        one = item(depth, names)
        while rng.random() < .35:
            one += repetition()
        text.append(one)
    return ' '.join(text)


def alternatives(depth, names):
    return ' | '.join(sequence(depth, names) for _ in range(pick([1, 1, 1, 2, 3])))


def grammar():
    names = ['root', 'x', 'y-1', 'z9'][:pick([1, 2, 3, 4])]
    text = '\n'.join('%s ::= %s' % (name, alternatives(pick([0, 1, 2, 3]), pick([names, names[1:] or names, ['"q"']]))) for name in names)
    if rng.random() < .03:
        levels = pick([10, 31, 32, 33, 64, 65, 100, 101, 256, 257, 400, 401, 1000, 2000])
        text = 'root ::= %s"a"%s' % ('(' * levels, (')' + pick(['', '', '?', '*'])) * (levels - (rng.random() < .1)))
    if rng.random() < .05:
        at = rng.randrange(len(text))
        text = text[:at] + pick(['(', ')', '"', '|', '\\', ']', '{', '\n', '_', '']) + text[at + 1:]
    return text


def pattern():
    def part(depth):
        kind = rng.random()
        if depth and kind < .25:
            return '(' + pick(['', '', '?:']) + '|'.join(seq(depth - 1) for _ in range(pick([1, 1, 2]))) + ')'
        return pick(['a', 'b', 'ab', '.', '[a-z]', '[^x]', '\\.', '"', '\\\\', '\\n', '\\x41', 'é', '€', ' ', '0', '-', ',', '\\-', '/', ':'] * 3 +
                    ['\\d', '\\w', '\\/', '(?=a)', '(?<n>a)', '^', '$', ']', '}', '[]', '[^]', '[z-a]', '\\u00e9', '\n'])

    def seq(depth):
        text = ''
        for _ in range(pick([0, 1, 1, 2, 2, 3])):
            text += part(depth)
            while rng.random() < .3:
                text += pick(['*', '+', '?', '{2}', '{0,3}', '{,4}', '{2,}', '{0}', '{,}', '{1,40}', '{0,63}', '{2000}', '{2001}', '{0,2001}'])
        return text
    body = '|'.join(seq(3) for _ in range(pick([1, 1, 1, 2])))
    return pick(['^%s$'] * 19 + ['%s']) % body


NAMES = ['a', 'b', 'ab', 'abc', 'a b', 'a-b', 'a_b', 'a.b', 'é', '', '*', '^', ']', '\\', '"', '-', 'item', 'root', 'string', 'integral_part', 'kv', 'x-kv',
         'rest', 'value', 'additional', 'date_time', '1', 'space', 'char']


def schema(depth, root):
    kind = rng.random()
    less = depth - 1
    if depth <= 0:
        kind = .55 + .45 * rng.random()
    if kind < .3:
        s = {'type': 'object'} if rng.random() < .7 else {}
        names = rng.sample(NAMES[:9] if rng.random() < .6 else NAMES, pick([0, 1, 2, 3, 4]))
        if rng.random() < .9:
            s['properties'] = {name: schema(less, root) for name in names}
        if rng.random() < .5:
            s['required'] = [name for name in names if rng.random() < .5]
        if rng.random() < .4:
            s['additionalProperties'] = pick([True, False, schema(less, root)])
        return s
    if kind < .42:
        s = {'type': 'array', pick(['items', 'items', 'items', 'prefixItems']): pick([schema(less, root), schema(less, root), [schema(less, root), schema(less, root)]])}
        if rng.random() < .5:
            s['maxItems'] = pick([0, 1, 2, 3, 50, 1990, 1995, 1996, 1997, 1998, 1999, 2000, 2001, 2002, 2003, 4000])
        if rng.random() < .3:
            s['minItems'] = pick([0, 1, 2, 3] if s.get('maxItems', 9) > 2 else [0])
        return s
    if kind < .48:
        return {pick(['anyOf', 'oneOf']): [schema(less, root) for _ in range(pick([1, 2, 3]))]}
    if kind < .51:
        return {'allOf': [schema(less, root) for _ in range(pick([1, 2]))]}
    if kind < .55:
        return {'type': [pick(['string', 'null', 'integer', 'object', 'array', 'number']) for _ in range(pick([1, 2]))], 'minLength': 2}
    if kind < .63:
        return {'$ref': pick(root)}
    if kind < .78:
        return {'type': 'string', 'pattern': pattern()}
    return pick([{'type': 'string'}, {'type': 'integer'}, {'type': 'integer', 'minimum': rng.randrange(-200, 200)}, {'type': 'integer', 'maximum': rng.randrange(-200, 200)},
                 {'type': 'integer', 'minimum': rng.randrange(-200, 200), 'maximum': rng.randrange(-200, 200)},
                 {'const': pick(['a', 1, None, 'é"\\', [1], {'a': 1.5}])}, {'enum': [pick(['a', 'b', 1, None]), 'c']}, {}, {'type': 'null'}, {'type': 'boolean'}, {'type': 'number'},
                 {'type': 'string', 'format': pick(['date', 'time', 'date-time', 'uuid', 'email'])}, {'minLength': pick([0, 1, 2000])}, {'maxLength': pick([0, 1, 2000, 2001])},
                 {'type': 'array'}, {'type': 'object'}, {'description': 'x'}])


def document():
    root = ['#/$defs/a', '#/$defs/b', '#/$defs/a', '#/$defs/a', '#/$defs/a_b', '#/properties/a', '#']
    root = root[:pick([2, 4, 4, 5, 6, 7])]
    s = schema(3, root)
    s['$defs'] = {name: schema(2, root) for name in ('a', 'b', 'a_b', 'a-b')}
    return json.dumps(s, ensure_ascii=False)


def ask(jobs):
    """Returns the driver's answers."""
    text = ''.join(json.dumps(job) + '\n' for job in jobs)
    said = subprocess.run([driver, 'accepts', vocab], input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.splitlines()
    return [json.loads(line) for line in said]


def run(*options):
    return subprocess.run([sampl, '--vocab', vocab, '--print-grammar', *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace')


READS = 'it reads the grammar that --print-grammar prints'
differ = taken = total = beyond = endless = 0
# What sampl refuses and llama.cpp takes (sampl-input(5), GRAMMARS: the list of differences).
ALONE = ['no value satisfies it', 'the grammar grows too large', 'too deep', 'more than 4194304 elements', "is no token's id", 'not a pattern at']
while total < count:
    jobs = [{'grammar': grammar()} if rng.random() < .5 else {'schema': document()} for _ in range(min(200, count - total))]
    later = []
    for job, answer in zip(jobs, ask(jobs)):
        total += 1
        text = job.get('grammar', job.get('schema'))
        words = ['--grammar', text] if 'grammar' in job else ['-j', text]
        strict, lax = run('--strict-grammar', *words), run(*words)
        accepted = answer.get('accepted', False)
        taken += accepted
        if record and 'died' not in answer:
            print(json.dumps({'name': 'random %d' % total, **job, 'accepted': accepted}, ensure_ascii=False), file=record)
        wrong = ''
        if strict.returncode not in (0, 2):
            wrong = 'status %d' % strict.returncode
        elif accepted and strict.returncode:
            if any(word in strict.stderr for word in ALONE) and lax.returncode:
                beyond += 1
            else:
                wrong = 'llama.cpp takes it'
        elif not accepted and not strict.returncode and 'died' in answer:
            endless += 1
        elif not accepted and not strict.returncode:
            wrong = 'llama.cpp refuses it'
        elif strict.returncode and not lax.returncode and 'refuses this' not in lax.stderr:
            wrong = 'no note'
        if wrong:
            differ += 1
            print('%s: %s\n    sampl: %s\n    llama.cpp: %s' % (wrong, json.dumps(job, ensure_ascii=False), strict.stderr.strip(), json.dumps(answer)[:300]))
        if 'schema' in job and not lax.returncode:
            later.append((job, lax, READS in lax.stderr or 'refuses this' not in lax.stderr))
    for (job, lax, reads), answer in zip(later, ask([{'grammar': lax.stdout} for _, lax, _ in later])):
        if answer.get('accepted', False) != reads and 'died' not in answer:
            differ += 1
            print('llama.cpp %s the grammar that sampl prints of %s\n%s    %s' % ('refuses' if reads else 'takes', json.dumps(job, ensure_ascii=False), lax.stdout, json.dumps(answer)[:300]))
print('accepts: %d grammars and schemas, %d taken by both, %d that sampl alone refuses, %d on which llama.cpp does not end: %d differ' %
      (total, taken - beyond, beyond, endless, differ))
sys.exit(differ > 0)
