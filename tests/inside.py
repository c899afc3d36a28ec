#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inside.py SAMPL COUNT SEED: nests replies at random in objects, arrays and texts of JSON, beside values that are no replies. What sampl
does not read at once, the jq filter of its message must take out: the rows are those of the replies alone."""
import json
import random
import re
import subprocess
import sys

SAMPL, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
NAMES = ["a", "body", "x y", "2nd", "payload-1", "é", "content", "interactions", "_", "output_data", "messages", "$ref", "logs", "it.em"]


def token(i, logprob):
    return {"token": "token_id:%d" % i, "logprob": logprob}


def reply(rng):
    """A reply of some server, as a value or as the text of a stream, and its rows."""
    rows = [[(i, round(-rng.random() * 3 - .2, 5)) for i in rng.sample(range(50), 3)] for _ in range(rng.randrange(1, 3))]
    tops = [[token(*x) for x in sorted(row, key=lambda x: -x[1])] for row in rows]
    texts = [{t["token"]: t["logprob"] for t in top} for top in tops]
    content = [dict(token(*row[0]), top_logprobs=top) for row, top in zip(rows, tops)]
    kind = rng.randrange(5)
    if kind == 0:
        return {"choices": [{"index": 0, "logprobs": {"content": content}}]}
    if kind == 1:
        return {"choices": [{"text": "x", "logprobs": {"tokens": [row["token"] for row in content], "top_logprobs": texts,
                                                       "token_logprobs": [row["logprob"] for row in content]}}]}
    if kind == 2:
        return {"completion_probabilities": [{"id": row[0][0], "token": "x", "logprob": row[0][1], "top_logprobs": [
            {"id": i, "token": "y", "logprob": x} for i, x in row]} for row in rows]}
    if kind == 3:
        return {"meta_info": {"output_token_logprobs": [[row[0][1], row[0][0], None] for row in rows],
                              "output_top_logprobs": [[[x, i, None] for i, x in row] for row in rows]}}
    return "".join("data: %s\n\n" % json.dumps({"id": "s", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": {"content": "x"}, "logprobs": {"content": [one]}}]}) for one in content) + "data: [DONE]\n\n"


def other(rng):
    """A value that is no reply."""
    return rng.choice([None, 7, True, "text", "", "{", "a, b", {}, [], {"model": "m", "usage": {"n": 3}}, [1, "x"], {"answer": None}])


def nest(rng, value, form, alone, reply):
    """Puts a value into something else. alone: as the only element. reply: it is the reply; sampl
    refuses other objects beside it."""
    if form == "text":
        return json.dumps(value, ensure_ascii=rng.random() < .5)
    if form == "array":
        items = [other(rng) for _ in range(0 if alone else rng.randrange(3))]
        items = [x for x in items if not (isinstance(x, dict) and reply)]
        items.insert(rng.randrange(len(items) + 1), value)
        return items
    members = [(name, other(rng)) for name in rng.sample(NAMES, rng.randrange(3))]
    name = rng.choice([x for x in NAMES if x not in dict(members)])
    members.insert(rng.randrange(len(members) + 1), (name, value))
    return dict(members)


def rows_of(text):
    got = subprocess.run([SAMPL, "-s", "1", "--samplers", "", "--dump-probs", "-O", "json"], input=text, capture_output=True, text=True, check=False)
    rows = [[(t["id"], t["logit"]) for t in json.loads(line).get("top_probs", [])] for line in got.stdout.splitlines()]
    return rows, got.stderr, got.returncode


def main():
    direct = filtered = 0
    for i in range(COUNT):
        rng = random.Random(SEED * 1000003 + i)
        value = alone = reply(rng)
        want, err, status = rows_of(alone if isinstance(alone, str) else json.dumps(alone))
        assert want and not status, (alone, err)
        forms = [rng.choice(["object", "array"])]  # the outermost first
        forms += [rng.choice(["object", "object", "array", "text"]) for _ in range(rng.randrange(5))]
        for k in range(len(forms) - 1, -1, -1):  # elements of an outermost array are rows
            if forms[k] != "text" or not isinstance(value, str):
                value = nest(rng, value, forms[k], set(forms[:k]) <= {"array", "text"}, value is alone)
        text = json.dumps(value, ensure_ascii=rng.random() < .5)
        got, err, status = rows_of(text)
        if not status and got == want:
            direct += 1
            continue
        where = "case %d: %s\n%s\n" % (i, " > ".join(forms), text)
        for _ in range(5):  # a text in an array of texts may need a filter of its own
            filters = re.findall(r"jq (-rc?) '(.*)' FILE \| sampl", err)
            if not filters:
                sys.exit("no filter: %s%s" % (where, err))
            out = subprocess.run(["jq", *filters[0]], input=text, capture_output=True, text=True, check=False)
            where += "jq %s\n" % filters[0][1]
            text = out.stdout
            got, err, status = rows_of(text)
            if not status or out.returncode:
                break
        if out.returncode or status or got != want:
            sys.exit("the filter takes out something else: %s\njq: %d %s\n%s\n%s" % (where, out.returncode, out.stderr, text, err))
        filtered += 1
    if filtered < COUNT // 4:
        sys.exit("only %d of %d values needed a filter" % (filtered, COUNT))
    print("%d values were read at once, %d by the filter of the message" % (direct, filtered))


main()
