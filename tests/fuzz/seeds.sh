#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the fuzzer's first inputs, small valid ones of each kind, and the files that its runs read. usage: seeds.sh SAMPL FOLDER
set -eu
sampl=$(realpath "$1") tests=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$2"
mkdir -p "$2"
cd "$2"
# helper.bash calls this function of bats.
bats_require_minimum_version() { :; }
export BATS_TEST_DIRNAME=$tests
# shellcheck source=/dev/null
. "$tests/helper.bash"

# seed TARGET NAME: writes standard input as a seed.
seed() {
    mkdir -p "$1"
    cat >"$1/$2"
}

# seeds TARGET TEXT...: writes each text as a seed.
count=0
seeds() {
    local text target=$1
    shift
    for text; do
        count=$((count + 1))
        printf '%s' "$text" | seed "$target" "t$count"
    done
}

# a vocabulary and rows for it
printf '%s\n' a b c '"' '{' '}' '[' ']' ':' ',' 0 1 ' ' true null '":' '{"' '</s>' é '\xe2' >words
perl -e 'for my $r (0 .. 7) { print "[", join(",", map { ($_ * 7 + $r * 5) % 20 } 0 .. 19), "]\n" }' >words.json
"$sampl" -s 1 --emit logits -O f32 words.json >words.f32

# rows
f32 1 2 3 4 5 5 4 3 2 1 | seed f32 two
f32 1 nan 3 4 5 | seed f32 nan
f32 1 2 3 inf -inf -inf | seed auto raw
"$sampl" -f f32 -n 5 -s 1 --emit logits -O npy f32/two | tee >(seed auto npy) | seed npy f4
"$sampl" -f f32 -n 5 -s 1 --emit logits -O f16 f32/two >half
{ head -c 128 npy/f4 | sed 's/<f4/<f2/' && cat half; } | seed npy f2
{ head -c 128 npy/f4 | sed 's/<f4/>f4/' && tail -c 40 npy/f4; } | seed npy swapped
perl -e 'print pack("Q</a*f<*", q({"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}), 1 .. 6)' | tee >(seed auto tensors) | seed safetensors one
perl -e 'print pack("Q</a*f<*", q({"x":{"dtype":"BF16","shape":[1,2,3],"data_offsets":[0,12]},"__metadata__":{"a":"b"}}), 1 .. 3)' | seed safetensors bf16
perl -e 'print "_logits_", pack("Vll", 8, 5, 2), pack("l*", map { $_ * 7 % 5 } 0 .. 15),
    map { my $r = $_; pack("ff", 1e-4, -6), pack("v*", map { ($r * 977 + $_ * 13007) % 65536 } 1 .. 5), pack("v", 0) } 1 .. 6' |
    tee >(seed auto kld) | seed kld two
seeds pairs $'0: 1\n1: 3\n2: 2\n\n0: 3\n1: 1\n2: 2\n' $'9: -1e3\n5: 3\n' $'0: nan\n'
seeds json '[1,2.5e1,-3] [3,2,1]' '{"logits":[1,-2e-3,null],"id":{"a":["x\"y",true]}}' '{"logits":[1,2,3],"ids":[9,5,7]}' \
    '{"ids":[1,2],"probs":[0.5,0.5]}' '[[1,2],[3,4]]' '{"logits":[2,1],"seq":"a","params":{"temperature":0.5},"accept":1,"end":true}' \
    '{"logits":[2,1],"prompt_tokens":[1,1,0]}' '{"logits":[NaN,Infinity,-Infinity]}'
"$sampl" -f f32 -n 5 --neutral --accept 4,1 --emit list=2 f32/two 2>/dev/null | seed json list
"$sampl" -f f32 -n 5 --neutral --accept 4,1 --emit list=2 -O safetensors f32/two 2>/dev/null | seed safetensors list
seed replies openai <"$tests/../samples/reply.json"
seeds replies '{"prompt_logprobs":[null,{"2":{"logprob":-1},"1":{"logprob":-2}}],"prompt_token_ids":[1,2],"choices":[{"logprobs":{"content":
    [{"token":"token_id:3","logprob":-1,"top_logprobs":[{"token":"token_id:2","logprob":-2}]}]}}]}' \
    '{"completion_probabilities":[{"id":3,"token":"a","logprob":-1,"top_logprobs":[{"id":3,"token":"a","logprob":-1},{"id":4,"token":"b","logprob":-2}]}]}' \
    '{"choices":[{"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":[{"a":-1,"b":-2}]}}]}' \
    '{"meta_info":{"output_token_logprobs":[[-1,5,"a"]],"output_top_logprobs":[[[-1,5,"a"],[-2,6,"b"]]]}}'
seeds params '{"temperature":0.5,"top_k":5,"seed":3}' '{"samplers":["top_k","penalties","dry","xtc"],"repeat_penalty":1.2,"dry_multiplier":1}' \
    '{"logit_bias":[[1,2.5],["a",false]],"ignore_eos":true}' '{"logit_bias":{"1":-1,"b":3}}' '{"grammar":"root ::= [ab]+"}' \
    '{"json_schema":{"type":"integer"}}' '{"dry_sequence_breakers":["a","bc"],"mirostat":2,"typical_p":0.9}'

# vocabularies
gguf model=s:llama 'tokens=a:</s>,▁a,b,<0x41>' token_type=i:3,1,1,6 eos_token_id=u:0 | tee >(seed recommends spm) | seed vocab spm
gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_k=u:2 general.sampling.sequence=s:top_k suppress_tokens=i:1 |
    tee >(seed recommends advice) | seed vocab gpt2
seeds vocab '{"model":{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2}},"added_tokens":[{"id":0,"content":"[PAD]","special":true}]}' \
    '{"model":{"type":"BPE","vocab":{"a":0,"Ġb":1}},"decoder":{"type":"ByteLevel"}}' '{"a":0,"b":1}' $'a\nb\\n\n<0x41>\n' \
    '{"model":{"type":"Unigram","vocab":[["<unk>",0],["▁a",-1]]}}'

# grammars of the recorded cases, and others
seeds gbnf $'root ::= "a" | [b-c]* ("{" root "}"){0,2}\n' 'root ::= [^"\n\u00e9] .+ # comment' $'root ::= x? y\nx ::= <[3]> | !<b>\ny ::= "\\xe9"' \
    $'root ::= ((x | y "b")* x)* x\nx ::= "a"? [ab]?\ny ::= x "a" root?'
mapfile -t texts < <(grep -o 'root ::=[^\t]*' "$tests/cases/grammars.tsv" | awk 'length < 300' | head -n 60)
for text in "${texts[@]}"; do seeds gbnf "$(printf '%b' "$text")"; done
mapfile -t texts < <(grep -v '^[-#+]' "$tests/schemas.tsv" | awk 'length > 1 && length < 400 && NR % 2')
seeds schema "${texts[@]}"
cp -R schema matches

# options
for file in "$tests"/../samples/presets/*.preset; do seeds preset "$(<"$file")"; done
seeds preset '{"temp":1.3,"top_p":0.9,"min_p":0.1,"rep_pen":1.05,"sampler_priority":["top_k","temperature"]}' \
    '{"temperature":0.7,"top_k":20,"do_sample":true,"repetition_penalty":1.05,"transformers_version":"4"}' \
    '{"params":{"temperature":0.7,"stop":["a"],"logit_bias":{"1":2}}}' $'FROM x\nPARAMETER temperature 0.5\nPARAMETER top_k 9\n' \
    $'[a]\ntop-k = 3\n' $'temperature: 0.7\ntop_p: 0.9\n' '{"fields":[{"key":"llm.prediction.temperature","value":2}]}'
seeds preset $'# about\n--temp 1 --top-k=5 \\\n -l 1+2 --dry-sequence-breaker "a b"\n' "--samplers 'top_k;dist'"
mapfile -t texts < <(cut -f 4 "$tests/errors.tsv" | grep -E '^(g|sampl) ' | grep -v "[\"'/@\$<>|]" | cut -d ' ' -f 2- | awk 'NR % 5 == 0')
for text in "${texts[@]}"; do seeds options "${text// /$'\n'}"; done
"$sampl" --help=all | grep -o -- ' --[a-z-]*' | tr -d ' ' | sed 's/$/\n1/' | split -l 20 - options-
for i in options-*; do seeds options "$(<"$i")"; done
seeds ids '1,2,3' $'1 2\n3\t4' '0' '2147483647' ' 1 , 2 '
seeds vs 'neutral' 'a: --temp 2 --top-k 3' $'b:--min-p 0.5\n--seed 4\nchat'
seeds sweep 'temp=0.5,1' $'top-k=1:9:4\nmin-p=0,0.5' 'seed=1:3:1'
seeds biases '1+2.5' '1-inf' '"a"+1' $'"\\n"-3' '3-1e-3'

# options of rows, and several chains
seeds lines $'{"params":{"temperature":2,"seed":5}}\n{"params":{"top_k":1},"accept":1}\n' $'{"seq":"a","end":true}\n{"prompt_tokens":[1,2]}\n' \
    $'{"params":{"grammar":"root ::= [ab]+"}}\n{}\n' $'{"params":{"samplers":["top_k","dry"],"dry_multiplier":1}}\n'
seeds rows '1:3' $'0\n2\n7\n' '-3:' '5,1:2,:9'
seeds expect $'3\n9\n15\n1\n7\n13\n19\n5\n' '3 9 15'
seed against same <words.json
seeds against '[1,2,3]' $'{"logits":[1,2,3],"ids":[9,5,7]}\n'
for target in page panels figures differ budget; do
    seed "$target" words <words.json
    seeds "$target" '[1,2.5e1,-3] [3,2,1]' '{"logits":[1,2,3],"ids":[9,5,7]} {"logits":[2,1],"seq":"<a>"}' '[NaN,1] [2,3]'
    seed "$target" reply <"$tests/../samples/reply.json"
done

# chains over rows; driver.c explains the first bytes
perl -e 'for my $chain (0 .. 29) { for my $width (0, 3, 5, 9 + $chain % 2) {
    open my $f, ">", "filter-$chain-$width" or die; print $f pack("C3f<*", $chain, $width, 0, map { sin($_ * $chain) * 8 } 1 .. 40) } }'
mkdir filter
mv filter-* filter
rm -f options-* half
