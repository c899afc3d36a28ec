#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares what --preset makes of requests to llama-server, and of ini files of llama.cpp, with what release v0.5.0 makes of them.

usage: requests.py SAMPL CASES VOCAB            runs the cases of a file
       requests.py --record DRIVER VOCAB request|text|ini [COUNT [SEED]]
                                                prints cases: random files with the driver's answers; text: requests with repeated
                                                keys and odd spellings of numbers. DRIVER is a program that
                                                compiles the release's own code: it reads a job a line, and prints the resolved
                                                parameters or an error

The first case is a request without parameters, and has all of them; the others have only what differs.
"""
import json
import math
import random
import re
import struct
import subprocess
import sys
import tempfile

NUMBERS = ("top_k top_p min_p top_n_sigma xtc_probability xtc_threshold typical_p temperature dynatemp_range dynatemp_exponent "
           "repeat_last_n repeat_penalty frequency_penalty presence_penalty dry_multiplier dry_base dry_allowed_length "
           "dry_penalty_last_n mirostat mirostat_tau mirostat_eta adaptive_target adaptive_decay min_keep seed").split()
VALUES = [0, 1, -1, 2, 3.7, -0.5, 0.5, 1e-3, 5, 40, 64, -3, 2.5e3, 3000000000, 4294967296, 4294967301, -4294967295, 1e10, -1e10, 1.0,
          0.99, 0.995, 1e20, 1e-50, True, False, "5", "", None, [], {}, -0.0, 18446744073709551616, 12345678901234567890, 2147483647,
          2147483648, -2147483648, -2147483649]
FLAGS = ("verbose timings_per_token stream cache_prompt return_tokens return_progress backend_sampling post_sampling_probs "
         "parse_tool_calls echo reasoning_control ignore_eos logprobs").split()
COUNTS = ("sse_ping_interval n_predict max_completion_tokens max_tokens n_indent n_keep n_discard n_cmpl n n_cache_reuse n_probs logprobs "
          "t_max_predict_ms").split()
NAMES = ("dry top_k top_p min_p typ_p TOP_K top-k topk typical_p typical xtc infill penalties adaptive_p adaptive-p temperature temp "
         "typ nucleus tfs_z dist mirostat top_n_sigma topnsigma top-n_sigma minp typp").split()
SCHEMA = {"type": "integer"}
INI_KEYS = ("temp temperature LLAMA_ARG_TEMPERATURE top-k LLAMA_ARG_TOP_K top-p min-p top-nsigma top-n-sigma xtc-probability xtc-threshold "
            "typical typical-p repeat-last-n repeat-penalty LLAMA_ARG_REPEAT_PENALTY presence-penalty frequency-penalty dry-multiplier dry-base "
            "dry-allowed-length dry-penalty-last-n adaptive-target adaptive-decay dynatemp-range dynatemp-exp mirostat mirostat-lr mirostat-ent "
            "seed s").split()
INI_VALUES = ["0", "1", "-1", "2", "3.7", "-0.5", ".3", "1e-3", "5", "0x10", "0x1p1", "1e50", "1e-50", "abc", "5abc", "5,1", '"5"', "2147483648",
              "-2147483649", "4294967295", "-2", "99999999999999999999", "+3", "010", "true", "", "5 ; c", "5#c", " 5  "]


def single(x):
    """Returns a number rounded to f32."""
    return struct.unpack("f", struct.pack("f", x))[0] if abs(x) < 3e38 else x


def random_member(rnd):
    """Returns a member of a request that is no number of a sampler."""
    token = lambda: rnd.choice([5, -1, 4095, 4096, 6.0, 7.5, 4294967301, True, None, [1], 3])
    bias = lambda: rnd.choice([1, -2.5, False, True, None, "1", 1e-50, [], -1e40, 0])
    keys = ["5", " 6", "+7", "", "-1", "4294967301", "99999999999999999999", "4095", "4096", "0"]
    return rnd.choice([
        lambda: ("samplers", rnd.choice([[rnd.choice(NAMES) for _ in range(rnd.randrange(5))], 5, None, ["top_k", None], {},
                                         "".join(rnd.choice("edskypmxtria?;Z") for _ in range(4)), ["top_k;top_p"]])),
        lambda: ("logit_bias", rnd.choice([[[token(), bias()] for _ in range(3)], {rnd.choice(keys): bias() for _ in range(3)},
                                           [[5], [5, 1, 2], [], {}, 5, "x"], [{"token": 5, "bias": 1}], "x", 5, None, []])),
        lambda: ("ignore_eos", rnd.choice([True, False, 1, "true", None])),
        lambda: ("dry_sequence_breakers", rnd.choice([["a"], [], ["a", 3], "a", None, ["none"], {}, ["\n", "x"], True])),
        lambda: ("grammar", rnd.choice(['root ::= "a"', "", None, 5, True, {}])),
        lambda: ("json_schema", rnd.choice([SCHEMA, {}, None, True, "x", 5, []])),
        lambda: ("grammar_lazy", rnd.choice([False, None, 1, "x"])),
        lambda: (rnd.choice(["typ_p", "temp", "repetition_penalty", "top_a"]), rnd.choice(VALUES)),
        lambda: (rnd.choice(FLAGS), rnd.choice([True, False, None, 1, 0, "true", []])),
        lambda: (rnd.choice(COUNTS), rnd.choice([1, 2, -1, -2, 0, 4294967297, 3000000000, True, 1.5, None, "3", [], {}, False])),
        lambda: (rnd.choice(["reasoning_format", "reasoning_budget_start_tag", "reasoning_budget_end_tag", "generation_prompt",
                             "reasoning_budget_message", "reasoning_effort", "thinking_budget_tokens"]),
                 rnd.choice([None, "", " was", " the", 5, [" a"], {}, False])),
        lambda: ("reasoning_format", rnd.choice(["none", "auto", "deepseek", "x", "deepseek-legacy", 5])),
        lambda: ("reasoning_budget_end_tags", rnd.choice([[" was"], [" was", " it"], [], [5], None, " was", {"a": " was"}, [""]])),
        lambda: ("reasoning_budget_start_tag", " it"), lambda: ("reasoning_budget_end_tag", " was"),
        lambda: ("reasoning_budget_tokens", rnd.choice([-2, -1, 0, 3, None, "3", True])),
        lambda: (rnd.choice(["stop", "preserved_tokens", "lora", "response_fields", "message_delimiters", "stream_options"]),
                 rnd.choice([[], ["x"], [5], [None], "x", 5, {}, None, {"include_usage": 1}, {"include_usage": True}, [[]],
                             [{"role": 5}], [{"id": 0, "scale": 1}]])),
        lambda: ("tools", rnd.choice([[], None, 5, [{"type": "function", "function": {"name": "f"}}], [{"type": "function"}],
                                      [{"type": "x", "function": {"name": "f"}}], {}])),
        lambda: ("tool_choice", rnd.choice(["auto", "none", "required", "x", None, 5, {"type": "function"}])),
        lambda: ("top_logprobs", rnd.choice([3, None, 0, "x"])),
        lambda: ("chat_template_kwargs", rnd.choice([{}, {"enable_thinking": "x"}, {"enable_thinking": False}, 5, None])),
        lambda: ("continue_final_message", rnd.choice([True, False, "content", None])),
        lambda: ("add_generation_prompt", rnd.choice([True, False, None])),
    ])()


PROMPTS = ["It was", "", [], [1030, 304], [1030, "It"], ["It", "was"], [["It", 5], [6]], 5, None, True, [1.5], [5, 1.5], [[]], [None], {},
           {"prompt_string": "It"}, {"prompt_string": 5}, {"prompt_string": ["It", 5]}, [5, "It", None], [5, "It", True], [-1], [{}]]
MESSAGES = [[{"role": "user", "content": "Hi"}]] * 8 + [
    "x", 5, [5], [{"role": "user"}], [{"content": "Hi"}], [{"role": 5, "content": "Hi"}], [{"role": "user", "content": 5}],
    [{"role": "user", "content": None}], [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    [{"role": "user", "content": [{"type": "text"}]}], [{"role": "user", "content": [{"type": "x", "text": "Hi"}]}],
    [{"role": "user", "content": "Hi", "name": None}], [{"role": "user", "content": "Hi", "name": "x"}],
    [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [
        {"type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "content": "x", "tool_call_id": "1"}],
    [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f"}}]},
     {"role": "user", "content": "x"}]]


def random_case(rnd):
    """Returns a random request, its endpoint, and the options that stand before it."""
    chat = rnd.random() < 0.25
    body = {"messages": rnd.choice(MESSAGES)} if chat else {"prompt": rnd.choice(PROMPTS) if rnd.random() < 0.2 else "It was"}
    for _ in range(rnd.randrange(1, 4)):
        key, value = (rnd.choice(NUMBERS), rnd.choice(VALUES)) if rnd.random() < 0.55 else random_member(rnd)
        body[key] = value
    if rnd.random() < 0.2:
        body |= {"reasoning_budget_tokens": 3, "reasoning_budget_start_tag": " it", "reasoning_budget_end_tags": [" was", " the"]}
        body |= rnd.choice([{}, {"reasoning_budget_message": rnd.choice(["", " it was", 5])}])
        key, value = random_member(rnd)
        body[key] = value
    if rnd.random() < 0.5:
        body["response_format"] = rnd.choice([
            {"type": "json_object"}, {"type": "text"}, {"type": "foo"}, {"type": ""}, {}, None, "x", {"type": "json_schema"},
            {"type": "json_schema", "json_schema": {"schema": SCHEMA}}, {"type": "json_object", "schema": SCHEMA},
            {"type": "json_object", "schema": None}])
    options = rnd.choice([[], [], [], ["--temp", "0.3", "--top-k", "5"], ["-l", "7-1"], ["--ignore-eos"], ["--dry-base", "3"],
                          ["--grammar", 'root ::= "b"']])
    return {"endpoint": "/v1/chat/completions" if chat else "/completion", "body": body, "args": options}


SPELT = ("0 1 -1 2 0.5 -0 -0.0 0e0 1E2 1e+2 1e-2 1e-400 1e-46 2147483647 2147483648 -2147483649 4294967295 9223372036854775807 "
         "9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775808 -9223372036854775809 40.999999999 16777217 "
         "0.30000000000000004 1e400 -1e400 .5 +1 0x10 01 1. 1.e2 - NaN Infinity 1e true null \"5\" [] 3e9 0.990001 1e10 1e20").split()


def random_text(rnd):
    """Returns a request as text: numbers in odd spellings, and repeated keys."""
    keys = NUMBERS + ["n_predict", "n_probs", "n_keep", "t_max_predict_ms", "reasoning_budget_tokens", "id_slot", "unknown"]
    number = lambda: (rnd.choice(keys), rnd.choice(SPELT))
    members = [("prompt", '"It was"')] + [number() for _ in range(rnd.randrange(1, 4))]
    if rnd.random() < 0.5:
        members.append(rnd.choice([("logit_bias", "[[5,1],[6,%s]]" % rnd.choice("-1 0 1e-50 false true null".split())),
                                   ("logit_bias", '{"5":1,"5":2,"+6":-1}'), ("samplers", '["top_k"]'), ("samplers", '"kpt"'),
                                   ("grammar_triggers", rnd.choice(["5", "{}", "true"])), ("dry_sequence_breakers", '["a"]'),
                                   ("json_schema", '{"type":"integer"}'), ("generation_prompt", rnd.choice(['"12"', '"x"', '""']))]))
    if rnd.random() < 0.5:
        key = rnd.choice(members[1:])[0]
        members.append((key, rnd.choice(SPELT)) if key in keys else (key, rnd.choice(["[]", "null", '"x"'])))
    rnd.shuffle(members)
    names = [key for key, _ in members]
    # A number that overflows is seen only where it counts.
    members = [(key, "1" if value.endswith("1e400") and names.count(key) > 1 else value) for key, value in members]
    text = "{" + ",".join(f'"{key}":{value}' for key, value in members) + "}"
    return {"endpoint": "/completion", "text": text, "args": []}


def random_line(rnd):
    """Returns a random line of an ini."""
    return rnd.choice([
        lambda: rnd.choice(INI_KEYS) + rnd.choice([" = ", "=", "\t="]) + rnd.choice(INI_VALUES),
        lambda: rnd.choice(INI_KEYS) + " = " + rnd.choice(INI_VALUES),
        lambda: rnd.choice(INI_KEYS) + " = " + rnd.choice(INI_VALUES),
        lambda: "samplers = " + rnd.choice([";", ",", " ; "]).join(rnd.choice(NAMES) for _ in range(rnd.randrange(4))),
        lambda: rnd.choice(["sampling-seq", "sampler-seq"]) + " = " + "".join(rnd.choice("edskypmxtr?Z") for _ in range(3)),
        lambda: rnd.choice(["l", "logit-bias"]) + " = " + rnd.choice(["5+1", "5 + 1", "5--1", "5-inf", "x", "5*1", "5+", "+5+1", "5+1x"]),
        lambda: rnd.choice(["ignore-eos", "jinja", "LLAMA_ARG_NO_JINJA", "escape"]) + " = " + rnd.choice(["true", "false", "off", "1", "no", ""]),
        lambda: "dry-sequence-breaker = " + rnd.choice(["x", "none", "a b", "\\n", "\\\\", "*"]),
        lambda: rnd.choice(['grammar = root ::= "a"', "j = {}", 'json-schema = {"type":"integer"}', "grammar ="]),
        lambda: rnd.choice(["c = 4096", "n-gpu-layers = 99", "version = 1", "load-on-startup = true", "; x", "", "  ", " # z"]),
        lambda: rnd.choice(["n-predict", "keep", "t", "rope-freq-base", "threads-draft", "draft-max"]) + " = " + rnd.choice(INI_VALUES),
        lambda: rnd.choice(["top_p = 0.9", "topk = 3", "LLAMA_ARG_FOO = 1", "Temp = 1", " temp = 1", "= 5"]),
    ])()


def random_ini(rnd):
    """Returns a random ini: a preset of --models-preset, or a config.ini."""
    config = rnd.random() < 0.35
    sections = rnd.choice([[""], ["*"], ["*", ""], ["", "*", "b"], ["", "default"]] if config else
                          [["a"], ["a"], ["*", "a"], ["a", "*"], ["*", "b", "a"], ["a", "b", "a"], ["default", "*", "a"]])
    text = ""
    for section in sections:
        text += f"[{section}]\n" if section else ""
        text += "".join(random_line(rnd) + "\n" for _ in range(rnd.randrange(1, 4)))
    options = rnd.choice([[], [], [], ["-l", "7-1"], ["-l", "7-1", "-l", "8+2"], ["--dry-sequence-breaker", "a", "--temp", "0.3"],
                          ["--dry-sequence-breaker", "a", "--dry-sequence-breaker", "b"], ["--dry-sequence-breaker", "none"]])
    return {"ini": text, "args": options, **({"mode": "config"} if config else {"section": "a"})}


def record(driver, vocab, kind, count, seed):
    """Prints random cases with the driver's answers."""
    rnd = random.Random(seed)
    ini = kind == "ini"
    usual = {"ini": "[a]\n", "section": "a", "args": []} if ini else {"endpoint": "/completion", "body": {"prompt": "It was"}, "args": []}
    make = {"ini": random_ini, "request": random_case, "text": random_text}[kind]
    cases = [usual] + [make(rnd) for _ in range(count)]
    jobs = "".join(json.dumps({**case, "vocab": vocab}) + "\n" for case in cases)
    ask = lambda jobs: [json.loads(line) for line in
                        subprocess.run([driver], input=jobs, capture_output=True, text=True, check=True).stdout.splitlines()]
    answers = ask(jobs)
    alone = ask("".join(json.dumps({**case, "vocab": vocab, "args": []}) + "\n" for case in cases)) if ini else answers
    usual = answers[0]["params"]
    for i, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        if "params" in answer and "params" not in alone[i]:
            continue # a flag hides a value that sampl refuses in the file
        if "died" in answer or "bad_alloc" in str(answer):
            continue # a lack of memory or time
        if re.search(r'\b(?:inf|nan)\b', json.dumps(answer)):
            continue # sampl refuses infinite values
        params = answer.get("params") if answer.get("stage") != "load" else None
        expect = {k: v for k, v in params.items() if not i or v != usual.get(k)} if params else None
        print(json.dumps({**case, "expect": expect}))


def biases(list_):
    """Returns the sum of a list of biases by token."""
    total = {}
    for token, bias in list_:
        total[token] = single(total.get(token, 0.0) + (-math.inf if bias == "-inf" or bias is False else bias))
    return total


def given(sampl, vocab, case):
    """Returns the parameters that sampl makes of a request; None: it refuses the request."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini" if "ini" in case else ".json") as file:
        file.write(case.get("ini") or case.get("text") or json.dumps(case["body"]))
        file.flush()
        name = file.name + (":" + case["section"] if "section" in case else "")
        before, behind = ([], case["args"]) if "ini" in case else (case["args"], []) # flags count more than an ini
        run = lambda form: subprocess.run([sampl, "--vocab", vocab, *before, "--preset", name, *behind, f"--print-chain={form}"],
                                          capture_output=True, text=True, check=False)
        request, chain = run("server"), run("json")
    if request.returncode or chain.returncode:
        return None
    params = json.loads(request.stdout)
    params["samplers"] = [name for name in params["samplers"] if name != "scatter"]
    params["seed"] %= 2**32
    stages = json.loads(chain.stdout)["chain"]
    params["logit_bias"] = [bias for stage in stages for bias in stage.get("logit_bias", [])]
    params["grammar"] = bool(params.get("grammar") or params.get("json_schema"))
    params["reasoning"] = json.loads(chain.stdout).get("reasoning")
    return params


def budget(reasoning):
    """Returns what counts of a reasoning budget: its tokens, its start, the tokens that it forces, its ends; None: it forces none."""
    if not reasoning or not reasoning["start"] or not reasoning["end"] or reasoning.get("budget", reasoning.get("tokens")) < 0:
        return None
    forced = reasoning["forced"] if "forced" in reasoning else reasoning["message"] + reasoning["end"][0]
    return (reasoning.get("budget", reasoning.get("tokens")), reasoning["start"], forced, reasoning["end"]) if forced else None


def same(key, got, want):
    """Returns whether a parameter is as llama-server has it."""
    if key == "dry_sequence_breakers": # sampl prints those that an option or a file gave, and [""] for an empty list
        return (got or ["\n", ":", '"', "*"]) == want if want else got in (None, [""])
    if key == "logit_bias":
        return biases(got) == biases(want)
    if key == "reasoning":
        return budget(got) == budget(want)
    if key == "grammar":
        return got == bool(want)
    if isinstance(want, (int, float)) and not isinstance(want, bool):
        return isinstance(got, (int, float)) and single(got) == single(want)
    if key == "samplers": # adaptive_p runs once, at the end
        once = lambda names: [name for i, name in enumerate(names) if name != "adaptive_p" or "adaptive_p" not in names[:i]]
        return once(got) == once(want)
    return got == want


def main():
    """Runs the cases of a file, or records some."""
    if sys.argv[1] == "--record":
        count, seed = map(int, (sys.argv[5:] + ["100", "1"][len(sys.argv) - 5:])[:2])
        record(sys.argv[2], sys.argv[3], sys.argv[4], count, seed)
        return
    sampl, file, vocab = sys.argv[1:4]
    with open(file, encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    usual, wrong = cases[0]["expect"], 0
    compared = set(NUMBERS) | {"samplers", "logit_bias", "grammar", "reasoning", "dry_sequence_breakers"}
    for case in cases:
        got, expect = given(sampl, vocab, case), case["expect"]
        if (got is None) != (expect is None):
            bad = "refused" if got is None else "not refused"
        elif got is None:
            continue
        else:
            want = {**usual, **expect}
            bad = ", ".join(f"{key} {got.get(key)!r}, not {want.get(key)!r}" for key in sorted(compared)
                            if not same(key, got.get(key), want.get(key)))
        if bad:
            wrong += 1
            print(f"{json.dumps(case.get('body', case.get('text', case.get('ini'))))} {case['args']}: {bad}")
    print(f"{len(cases)} files, {wrong} wrong")
    sys.exit(wrong > 0)


main()
