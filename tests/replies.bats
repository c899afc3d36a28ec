#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Replies of servers as input: each position with a list of tokens is a sparse row.

load helper

# What every reply below says, as rows of our own: position 0 lists 5, 7 and 12 and chose 7; position 1 lists 3 and 5 and chose 40, which
# is not in the list.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >want.json <<'END'
{"ids":[5,7,12],"logprobs":[-0.25,-1.75,-4.5]}
{"ids":[3,5,40],"logprobs":[-0.125,-2.5,-9.75]}
END
    printf '7\n40\n' >chosen
    bodies
}

# dumped ARGUMENT...: the candidates, without their texts, which only replies tell.
dumped() {
    sampl --dump-probs -O json "$@" | sed -E 's/,"token":"([^"\\]|\\.)*","bytes":\[[0-9,]*\]//g; s/,"file":.*,/,/'
    return "${PIPESTATUS[0]}"
}

# gives FILE [RANKS]: the file's rows are those of want.json, and its recorded tokens the chosen ones.
gives() {
    dumped -s 4 --temp 2 want.json >want
    dumped -s 4 --temp 2 "$1" >got
    same want got || { echo "$1"; return 1; }
    dumped -s 4 --repeat-penalty 5 --accept @chosen want.json >want
    dumped -s 4 --repeat-penalty 5 --accept recorded "$1" >got
    same want got || { echo "$1, recorded"; return 1; }
}

bodies() {
    # llama-server, /completion with n_probs
    cat >llama.json <<'END'
{"index":0,"content":" sea.","tokens":[7,40],"id_slot":0,"stop":true,"model":"tiny.gguf","tokens_predicted":2,"tokens_evaluated":4,
 "generation_settings":{"seed":1,"temperature":0.8,"top_k":40,"samplers":["penalties","top_k"],"logit_bias":[],"n_probs":3},
 "prompt":"<s> By the","has_new_line":false,"truncated":false,"stop_type":"limit","stopping_word":"","tokens_cached":5,
 "timings":{"prompt_n":4,"prompt_ms":10.5,"predicted_n":2},
 "completion_probabilities":[
  {"id":7,"token":" sea","bytes":[32,115,101,97],"logprob":-1.75,"top_logprobs":[
    {"id":5,"token":" way","bytes":[32,119,97,121],"logprob":-0.25},
    {"id":7,"token":" sea","bytes":[32,115,101,97],"logprob":-1.75},
    {"id":12,"token":"\u00e9\"\\","bytes":[195,169,34,92],"logprob":-4.5}]},
  {"id":40,"token":".","bytes":[46],"logprob":-9.75,"top_logprobs":[
    {"id":3,"token":",","bytes":[44],"logprob":-0.125},
    {"id":5,"token":" way","bytes":[32,119,97,121],"logprob":-2.5}]}]}
END
    sed 's/completion_probabilities/probs/' llama.json >readme.json
    # vLLM with return_token_ids, return_tokens_as_token_ids and prompt_logprobs
    cat >vllm.json <<'END'
{"id":"chatcmpl-1","object":"chat.completion","created":1754380000,"model":"tiny","choices":[{"index":0,
 "message":{"role":"assistant","content":" sea.","tool_calls":[]},"finish_reason":"length","stop_reason":null,"token_ids":[7,40],
 "logprobs":{"content":[
  {"token":"token_id:7","logprob":-1.75,"bytes":[116,111],"top_logprobs":[
    {"token":"token_id:5","logprob":-0.25,"bytes":[116]},
    {"token":"token_id:7","logprob":-1.75,"bytes":[116]},{"token":"token_id:12","logprob":-4.5,"bytes":[116]}]},
  {"token":"token_id:40","logprob":-9.75,"bytes":[116],"top_logprobs":[
    {"token":"token_id:3","logprob":-0.125,"bytes":[116]},{"token":"token_id:5","logprob":-2.5,"bytes":[116]}]}]}}],
 "usage":{"prompt_tokens":4,"total_tokens":6,"completion_tokens":2},"prompt_logprobs":null,"prompt_token_ids":[1,2]}
END
    cat >legacy.json <<'END'
{"id":"cmpl-1","object":"text_completion","model":"tiny","choices":[{"index":0,"text":" sea.","finish_reason":"length","logprobs":{
 "text_offset":[0,4],"token_logprobs":[-1.75,-9.75],"tokens":["token_id:7","token_id:40"],
 "top_logprobs":[{"token_id:5":-0.25,"token_id:7":-1.75,"token_id:12":-4.5},{"token_id:3":-0.125,"token_id:5":-2.5}]}}]}
END
    cat >prompt.json <<'END'
{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":""},"logprobs":null}],
 "prompt_token_ids":[2,7,40],"prompt_logprobs":[null,
 {"7":{"logprob":-1.75,"rank":2,"decoded_token":" sea"},"5":{"logprob":-0.25,"rank":1,"decoded_token":" way"},
  "12":{"logprob":-4.5,"rank":3,"decoded_token":null}},
 {"40":{"logprob":-9.75,"rank":17,"decoded_token":"."},"3":{"logprob":-0.125,"rank":1,"decoded_token":","},
  "5":{"logprob":-2.5,"rank":2,"decoded_token":" way"}}]}
END
    cat >sglang.json <<'END'
{"text":" sea.","output_ids":[7,40],"meta_info":{"id":"f1","finish_reason":{"type":"length","length":2},"prompt_tokens":2,
 "input_token_logprobs":[],"input_top_logprobs":[],
 "output_token_logprobs":[[-1.75,7," sea"],[-9.75,40,null]],
 "output_top_logprobs":[[[-0.25,5,null],[-1.75,7,null],[-4.5,12,null]],[[-0.125,3,null],[-2.5,5,null]]],
 "completion_tokens":2,"cached_tokens":0,"e2e_latency":0.1}}
END
}

@test "replies: llama-server's, and under the name in its README" {
    gives llama.json
    gives readme.json
}

@test "replies: llama-server's probabilities after sampling become logs" {
    cat >x.json <<'END'
{"content":" sea","completion_probabilities":[{"id":7,"token":" sea","bytes":[32],"prob":0.25,"top_probs":[
 {"id":5,"token":" way","bytes":[32],"prob":0.5},{"id":7,"token":" sea","bytes":[32],"prob":0.25},{"id":8,"token":"x","bytes":[120],"prob":0}]}]}
END
    echo '{"ids":[5,7,8],"probs":[0.5,0.25,0]}' | dumped -s 1 >want
    dumped -s 1 x.json >got
    same want got
}

@test "replies: llama-server's lowest float is a mask" {
    sed 's/-4.5}/-3.4028234663852886e+38}/; s/-0.25/-Infinity/' llama.json >x.json
    sampl -s 1 --samplers "" --dump-probs --rows 0:1 x.json >got
    head -1 got | grep -q 'chosen 7 " sea" (1.0000)  kept 1/3'
}

@test "replies: what became of a position may be told by its text alone, the list having the ids" {
    echo '{"content":"a","completion_probabilities":[{"token":"a","logprob":-1,"top_logprobs":[
        {"id":0,"token":"a","logprob":-1},{"id":3,"token":"b","logprob":-2}]}]}' >x.json
    [ "$(sampl -s 1 --samplers greedy --accept recorded x.json)" = 0 ]
}

@test "replies: one that lists nothing leaves no prompt to a stream behind it" {
    cat >x.json <<'END'
{"prompt_logprobs":[null,{"2":{"logprob":-1},"1":{"logprob":-2}}],"prompt_token_ids":[1,2],"choices":[]}
{"model":"gemma3","response":"","done":true}
{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"},"logprobs":{"content":[
 {"token":"token_id:1","logprob":-1,"top_logprobs":[{"token":"token_id:2","logprob":-1.5}]}]}}]}
END
    sampl -s 1 --samplers 'penalties;greedy' --repeat-penalty 9 --accept recorded x.json | cmp - <(printf '%s\n' 2 1)
}

@test "replies: an old llama-server's" {
    cat >x.json <<'END'
{"content":" sea.","stop":true,"completion_probabilities":[
 {"content":" sea","probs":[{"prob":0.5,"tok_str":" way"},{"prob":0.25,"tok_str":" sea"}]},
 {"content":".","probs":[{"prob":0.125,"tok_str":","},{"prob":0.875,"tok_str":"."}]}]}
END
    printf '%s\n' '{"ids":[0,1],"probs":[0.5,0.25]}' '{"ids":[1,0],"probs":[0.125,0.875]}' | dumped -s 1 >want
    dumped -s 1 --ids rank x.json >got 2>err
    same want got
    [ "$(wc -l <err)" = 1 ]
    # only the list
    perl -0777 -ne 'print /(\[.*\])/s' x.json | dumped -s 1 --ids rank >got 2>err
    same want got
    printf '1\n0\n' >chosen
    printf '%s\n' '{"ids":[0,1],"probs":[0.5,0.25]}' '{"ids":[1,0],"probs":[0.125,0.875]}' |
        dumped -s 1 --repeat-penalty 9 --accept @chosen >want
    for file in x.json <(perl -0777 -ne 'print /(\[.*\])/s' x.json); do
        dumped -s 1 -f json --repeat-penalty 9 --accept recorded --ids rank "$file" >got 2>err
        same want got
    done
}

@test "replies: OpenAI's shapes, chat and legacy, with vLLM's ids" {
    gives vllm.json
    gives legacy.json
    # ids from token_ids, where the texts are real ones
    perl -pe 's/"token":"token_id:7"/"token":"way"/ if /-1.75,"bytes":\[116,111\]/' vllm.json >x.json
    gives x.json
    perl -pe 's/"tokens":\["token_id:7"/"tokens":["way"/; s/"index":0,/$&"token_ids":[7,40],/' legacy.json >x.json
    gives x.json
    perl -pe 's/"token":"token_id/"id":null,$&/g' vllm.json >x.json
    gives x.json
}

@test "replies: tokens without ids are numbered by rank, said once" {
    cat >x.json <<'END'
{"id":"chatcmpl-9","object":"chat.completion","created":1741569952,"model":"gpt-4.1","choices":[{"index":0,
 "message":{"role":"assistant","content":"Hi!","refusal":null,"annotations":[]},"logprobs":{"content":[
  {"token":"Hi","logprob":-1.5,"bytes":[72,105],"top_logprobs":[{"token":"Hello","logprob":-0.5,"bytes":[72,101,108,108,111]},
   {"token":"Hi","logprob":-1.5,"bytes":[72,105]},{"token":"Hey","logprob":-9999.0,"bytes":[72,101,121]}]},
  {"token":"!","logprob":-2.5,"bytes":null,"top_logprobs":[{"token":"?","logprob":-3.5,"bytes":null},{"token":".","logprob":-0.75,"bytes":null}]}],
  "refusal":null},"finish_reason":"stop"}],"usage":{"total_tokens":5},"service_tier":"default"}
END
    printf '%s\n' '[-0.5,-1.5,-9999]' '[-0.75,-2.5,-3.5]' >ranks.json
    printf '1\n1\n' >chosen
    dumped -s 1 ranks.json ranks.json >want
    dumped -s 1 --ids rank x.json x.json >got 2>err
    same want got
    [ "$(<err)" = "sampl: note: --ids rank: the ids of servers' tokens are ranks within their row; histories and biases mean nothing" ]
    sampl -s 1 --repeat-penalty 3 --accept @chosen ranks.json >want
    sampl -s 1 --repeat-penalty 3 --accept recorded --ids rank x.json >got 2>err
    same want got
    # where there are ids, too
    dumped -s 1 --ids rank llama.json >got 2>err
    printf '%s\n' '[-0.25,-1.75,-4.5]' '[-0.125,-2.5,-9.75]' | dumped -s 1 >want
    same want got
}

@test "replies: tokens without ids are found in the vocabulary, by their bytes rather than their text" {
    # the vocabulary's token 2 is half of a character
    printf '{"a":0,"b":1,"\xc3\x83":2,"\xc2\xa9":3,"\xc4\xa0c":4}' >vocab.json
    cat >x.json <<'END'
{"choices":[{"logprobs":{"content":[
  {"token":"\ufffd","logprob":-1.5,"bytes":[195],"top_logprobs":[{"token":"\ufffd","logprob":-2.5,"bytes":[169]},
   {"token":"\ufffd","logprob":-1.5,"bytes":[195]},{"token":" c","logprob":-3,"bytes":null}]},
  {"token":"b","logprob":-5,"bytes":null,"top_logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]}]}]}}]}
END
    printf '%s\n' '{"ids":[2,3,4],"logits":[-1.5,-2.5,-3]}' '{"ids":[0,1],"logits":[-0.5,-5]}' >want.json
    printf '2\n1\n' >chosen
    dumped -s 4 --vocab vocab.json --repeat-penalty 5 --accept @chosen want.json >want
    dumped -s 4 --vocab vocab.json --repeat-penalty 5 --accept recorded x.json >got
    same want got
    # ids that are given need no texts
    sampl -s 4 --vocab vocab.json --dump-probs -n 41 llama.json >got
    [ "$(grep -c ^row got)" = 2 ]
}

@test "replies: empty bytes tell nothing, and nothing tells no token" {
    # ids 1 and 3 have no token
    echo '{"a":0,"b":2,"c":4}' >vocab.json
    cat >x.json <<'END'
{"choices":[{"logprobs":{"content":[{"token":"b","logprob":-1,"bytes":[],"top_logprobs":[
  {"token":"b","logprob":-1,"bytes":[]},{"token":"a","logprob":-2,"bytes":[]},{"token":"c","logprob":-3,"bytes":[99]}]}]}}]}
END
    echo '{"ids":[2,0,4],"logits":[-1,-2,-3]}' >want.json
    echo 2 >chosen
    dumped -s 4 --vocab vocab.json --repeat-penalty 5 --accept @chosen want.json >want
    dumped -s 4 --vocab vocab.json --repeat-penalty 5 --accept recorded x.json >got
    same want got
    sed -i 's/"token":"a"/"token":""/' x.json
    run -1 sampl -s 4 --vocab vocab.json x.json
    [ "$output" = "sampl: x.json: row 0: token '' is not in the vocabulary" ]
}

# Servers that decode tokens one by one give the replacement character for each part of a character.
@test "replies: of tokens with the same text the logit tells which was chosen" {
    cat >x.json <<'END'
{"choices":[{"logprobs":{"content":[{"token":"\ufffd","logprob":-1.5,"bytes":[239,191,189],"top_logprobs":[
 {"token":"\ufffd","logprob":-0.5,"bytes":[239,191,189]},{"token":"\ufffd","logprob":-1.5,"bytes":[239,191,189]}]}]}}]}
END
    sampl --samplers greedy --ids rank --accept recorded --emit score -O json x.json 2>err >got
    grep -q '"id":1,' got
}

@test "replies: of equal logits the first gets the better rank" {
    echo '{"choices":[{"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":[{"b":-2,"a":-1,"c":-1}]}}]}' >x.json
    sampl --samplers "greedy" --ids rank --accept recorded -l 1+1 x.json 2>err >got
    [ "$(<got)" = 1 ]
}

@test "replies: an echoed prompt has no list at its start" {
    echo '{"choices":[{"text":"a b","logprobs":{"tokens":["token_id:1","token_id:2"],"token_logprobs":[null,-1],
        "top_logprobs":[null,{"token_id:2":-1,"token_id:4":-2}]}}]}' | dumped -s 1 >got
    echo '{"ids":[2,4],"logits":[-1,-2]}' | dumped -s 1 >want
    same want got
}

@test "replies: vLLM's prompt_logprobs" {
    gives prompt.json
    sed 's/"prompt_token_ids":[^]]*],//' prompt.json >x.json
    gives x.json
    # of /v1/completions: inside the choice
    perl -0777 -pe 's/"object.*?\n//; s/^\{/{"choices":[{"text":"",/; s/$/]}/' prompt.json | tr -d '\n' >y.json
    sed -i 's/]}$/]}/' y.json
    gives y.json
}

@test "replies: SGLang's, with the prompt or without" {
    gives sglang.json
    cat >x.json <<'END'
[{"text":".","meta_info":{"input_token_logprobs":[[null,2,null],[-1.75,7,null]],
 "input_top_logprobs":[null,[[-0.25,5,null],[-1.75,7,null],[-4.5,12,null]]],
 "output_token_logprobs":[[-9.75,40,null]],"output_top_logprobs":[[[-0.125,3,null],[-2.5,5,null]]]}}]
END
    dumped -s 4 --temp 2 want.json >want
    dumped -s 4 --temp 2 x.json >got
    same want got
    # the prompt's first token goes into the history
    dumped -s 4 --repeat-penalty 5 --prompt-tokens 2 --accept @chosen want.json >want
    dumped -s 4 --repeat-penalty 5 --accept recorded x.json >got
    same want got
}

@test "replies: Ollama's, whole and streamed" {
    echo '{"model":"gemma3","created_at":"2025-11-12T00:00:00Z","response":"Hi!","done":true,"done_reason":"stop","context":[1,2],
        "eval_count":2,"logprobs":[{"token":"Hi","logprob":-1.5,"bytes":[72,105],"top_logprobs":[{"token":"Hello","logprob":-0.5},
        {"token":"Hi","logprob":-1.5,"bytes":[72,105]}]},{"token":"!","logprob":-2.5,"top_logprobs":[{"token":"!","logprob":-2.5}]}]}' >x.json
    cat >y.json <<'END'
{"model":"gemma3","message":{"role":"assistant","content":"Hi"},"done":false,"logprobs":[{"token":"Hi","logprob":-1.5,"bytes":[72,105],"top_logprobs":[{"token":"Hello","logprob":-0.5},{"token":"Hi","logprob":-1.5,"bytes":[72,105]}]}]}
{"model":"gemma3","message":{"role":"assistant","content":"!"},"done":false,"logprobs":[{"token":"!","logprob":-2.5,"top_logprobs":[{"token":"!","logprob":-2.5}]}]}
{"model":"gemma3","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5}
END
    printf '%s\n' '[-0.5,-1.5]' '[-2.5]' >ranks.json
    printf '1\n0\n' >chosen
    dumped -s 1 --repeat-penalty 3 --accept @chosen ranks.json >want
    for file in x.json y.json; do
        dumped -s 1 --repeat-penalty 3 --accept recorded --ids rank "$file" >got 2>err
        same want got
    done
}

@test "replies: bare chunks of OpenAI's chat are one stream" {
    {
        printf '{"object":"chat.completion.chunk","prompt_token_ids":[9],"choices":[{"index":0,"delta":{"role":"assistant"},"logprobs":null}]}\n'
        for i in 0 1; do
            perl -MJSON::PP -0777 -e '
                my $c = decode_json(<STDIN>)->{choices}[0]{logprobs}{content};
                print JSON::PP->new->canonical->encode({object => "chat.completion.chunk",
                    choices => [{index => 0, logprobs => {content => [$c->[shift]]}}]}), "\n"' "$i" <vllm.json
        done
        printf '{"object":"chat.completion.chunk","choices":[]}\n'
    } >x.json
    gives x.json
}

@test "replies: streams as curl saves them" {
    # llama-server: one object a token, the last without
    {
        for i in 0 1; do
            printf 'data: '
            perl -MJSON::PP -0777 -e '
                my $r = decode_json(<STDIN>);
                print JSON::PP->new->canonical->encode({stop => JSON::PP::false, content => "x",
                    completion_probabilities => [$r->{completion_probabilities}[shift]]});' "$i" <llama.json
            printf '\n\n'
        done
        printf 'data: {"content":"","stop":true,"tokens_predicted":2}\n\n'
    } >x.json
    gives x.json
    # the chat of OpenAI's shape: a first and a last part without tokens, then the end; carriage returns, comments and names of events
    {
        printf 'event: message\r\nid: 3\r\ndata: {"choices":[{"index":0,"delta":{"role":"assistant"},"logprobs":null}]}\r\n\r\n: ping\r\n\r\n'
        for i in 0 1; do
            printf 'data:'
            perl -MJSON::PP -0777 -e '
                my $r = decode_json(<STDIN>);
                print JSON::PP->new->encode({choices => [{index => 0, delta => {}, logprobs => {content =>
                    [$r->{choices}[0]{logprobs}{content}[shift]]}}]});' "$i" <vllm.json
            printf '\r\n\r\n'
        done
        printf 'data: {"choices":[],"usage":{}}\r\n\r\ndata: [DONE]\r\n\r\n'
    } >y.json
    gives y.json
    perl -ne 'print if !/^event|^id/' y.json >z.json
    gives z.json
    for line in 'id: 3' 'retry: 100' ': OPENROUTER PROCESSING' ''; do
        { printf '%s\r\n\r\n' "$line" && cat z.json; } >first.json
        gives first.json
    done
    # a second stream is a second sequence
    cat z.json z.json >zz.json
    cat want.json want.json >want2.json
    sampl -s 4 --repeat-penalty 5 --accept recorded zz.json >got
    sampl -s 4 --repeat-penalty 5 --accept recorded vllm.json vllm.json >want
    same want got
}

# vLLM sends them with the role, before any token.
@test "replies: a stream's prompt is known from the part that tells it" {
    {
        printf 'data: %s\n\n' '{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null}],"prompt_token_ids":[5,12]}'
        perl -MJSON::PP -0777 -e '
            for (@{decode_json(<STDIN>)->{choices}[0]{logprobs}{content}}) {
                my $r = {choices => [{index => 0, delta => {}, logprobs => {content => [$_]}}]};
                print "data: ", JSON::PP->new->encode($r), "\n\n";
            }' <vllm.json
        printf 'data: [DONE]\n\n'
    } >x.json
    dumped -s 4 --repeat-penalty 5 --accept @chosen --prompt-tokens 5,12 want.json >want
    dumped -s 4 --repeat-penalty 5 --accept recorded x.json >got
    same want got
    # what a stream without tokens told is not the prompt of a reply that follows
    { head -2 x.json && tr -d '\n' <llama.json; } >y.json
    gives y.json
}

@test "replies: several, one after the other, on lines or in an array" {
    gives llama.json
    cat want.json want.json want.json >want3.json
    sampl -s 4 --temp 2 want3.json >want
    tr -d '\n' <llama.json >one.json
    { cat one.json one.json && echo && cat one.json; } >a.json
    { echo '['; cat one.json; echo ,; cat one.json; echo ,; cat one.json; echo ']'; } >b.json
    { cat llama.json want.json; echo '['; cat sglang.json; echo ']'; } >c.json
    for file in a.json b.json c.json; do
        sampl -s 4 --temp 2 $file >got
        same want got
        sampl -s 4 --temp 2 -t 3 $file >got
        same want got
        sampl -s 4 --temp 2 --rows 3:5 --independent $file >rows
        sampl -s 4 --temp 2 --rows 3:5 --independent want3.json >rows.want
        same rows.want rows
    done
}

# Each is what recorded tokens follow by themselves: generators and histories start anew, as with kld files.
@test "replies: bare chunks of the older completions are one stream, until one with another id" {
    local i logprobs
    local chunk='{"id":"%s","object":"text_completion","choices":[{"index":0,"text":"x","logprobs":%s,"finish_reason":%s}]}\n'
    stream() {
        for i in 0 1; do
            logprobs=$(I=$i perl -MJSON::PP -0777 -e '
                my $l = decode_json(<STDIN>)->{choices}[0]{logprobs};
                print JSON::PP->new->canonical->encode({map { $_ => [$l->{$_}[$ENV{I}]] } keys %$l})' <legacy.json)
            # shellcheck disable=SC2059
            printf "$chunk" "$1" "$logprobs" "$([ "$i$2" = 1end ] && echo '"length"' || echo null)"
        done
        # shellcheck disable=SC2059
        [ "$2" = end ] || printf "$chunk" "$1" null '"stop"'
        printf '{"id":"%s","object":"text_completion","choices":[],"usage":{}}\n' "$1"
    }
    stream a end >x.json
    gives x.json
    stream a apart >y.json
    gives y.json
    { cat x.json && stream b apart && cat legacy.json; } >z.json
    sampl -s 4 --repeat-penalty 5 --accept recorded legacy.json legacy.json legacy.json >want
    sampl -s 4 --repeat-penalty 5 --accept recorded z.json >got
    same want got
}

@test "replies: their texts serve as the vocabulary of what is shown, unless there is one" {
    sampl -s 1 --samplers greedy --emit text llama.json >got
    printf ' way,' | cmp - got
    sampl -s 1 --samplers greedy -O tsv llama.json | cut -f5 >got
    printf '%s\n' text ' way' , | cmp - got
    sampl --samplers greedy -O json --rows 0:1 llama.json | grep -qF '"id":5,"token":" way","bytes":[32,119,97,121],'
    sampl -s 1 --samplers "" --dump-probs --rows 0:1 llama.json | grep -qF '12 "é\"\\"'
    sampl -s 1 --samplers min_p --min-p 0.9 --trace --rows 0:1 llama.json | grep -qF '5 " way"; 2 removed: 7 " sea"'
    sampl --samplers greedy --rows 0:1 --trace -O json llama.json | grep -qF '"token_before":" way"'
    sampl -s 1 --samplers greedy --vs 'x: --logit-bias 3-9' --diff -O tsv llama.json >got
    [ "$(tail -1 got | cut -f12-)" = $',\t way' ] && [ "$(head -1 got | cut -f12-)" = $'base_text\ttext' ]
    sampl -s 1 --samplers greedy --vs 'x: --logit-bias 3-9' --emit text llama.json | tail -1 | grep -qF '" way way"'
    sampl -s 1 --samplers "" --rows :1 --dump-probs --against <(sed 's/ way/ WAY/; s/12,/13,/' llama.json) llama.json >got
    grep -qF '" way"' got && grep -qF '13  ' got
    printf '%s\n' a b c '' '' V '' W >words
    sampl --samplers greedy --vocab words -n 41 --emit text llama.json >got
    printf V | cmp - got
    # those of ranks are the row's own
    echo '{"choices":[{"logprobs":{"content":[{"token":"a","logprob":-1,"top_logprobs":[{"token":"a","logprob":-1},{"token":"b","logprob":-2}]},
        {"token":"c","logprob":-1,"top_logprobs":[{"token":"c","logprob":-1}]}]}}]}' >x.json
    [ "$(sampl --samplers greedy --ids rank --emit text x.json 2>err)" = ac ]
    # vLLM's, of the prompt; where only ids are told there is no column
    sampl -s 1 --samplers greedy --emit text prompt.json >got
    printf ' way,' | cmp - got
    sampl -s 1 -O tsv vllm.json >got
    [ "$(head -1 got)" = $'row\tid\tprob\tn' ]
    # rows in the same input that tell none
    { cat want.json && tr -d '\n' <llama.json; } >x.json
    for threads in 1 3; do
        sampl -s 1 -t $threads --dump-probs=1 x.json >got
        [ "$(grep -c text got)" = 2 ]
        run -2 sampl -t $threads --emit text x.json
        [ "$output" = 'sampl: x.json: row 0: --emit text needs --vocab: the row tells no texts' ]
    done
    f32 1 2 >x.f32
    run -2 sampl -n 2 --emit text x.f32
    [ "$output" = 'sampl: --emit text needs --vocab' ]
}

# long SHAPE POSITIONS: a reply that lists 3000 tokens a position, 270 kB; llama, sorted or chat.
long() {
    perl -e '
        my ($shape, $n) = @ARGV;
        my $record = sub { my ($id, $x) = @_; sprintf q({"id":%d,"token":"t%d","bytes":[116,%s],"logprob":-%s), $id, $id, join(",", map { ord } split //, $id), $x };
        my $list = sub { my $k = shift; join ",", map { $record->($_, (($_ * 37 + $k * 11) % 3001) / 128) . "}" } 0 .. 2999 };
        my $positions = join ",\n", map { $record->($_ * 7, 0.5) . q(,"top_logprobs":[) . $list->($_) . "]}" } 0 .. $n - 1;
        print $shape eq "llama" ? qq({"content":"x [ {","tokens":[1],"completion_probabilities" : [ $positions],"stop":true,"timings":{"a":[1]}}\n) :
            $shape eq "sorted" ? qq({"completion_probabilities":[$positions ] ,"content":"x","stop":true}\n) :
            qq({"choices":[{"index":0,"logprobs":{"content":[$positions]},"finish_reason":"stop"}],"object":"chat.completion"}\n)' "$@"
}

@test "replies: long ones come in pieces, and say the same" {
    local shape
    perl -e '
        for my $k (0 .. 11) {
            printf qq({"logits":[%s]}\n), join ",", map { -(($_ * 37 + $k * 11) % 3001) / 128 } 0 .. 2999;
        }' >rows.json
    seq 0 7 77 >ids
    sampl -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept @ids -O json rows.json >want
    for shape in llama sorted chat; do
        long $shape 12 >long.json
        sampl -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept recorded -O json long.json |
            sed -E 's/,"token":"[^"]*","bytes":\[[0-9,]*\]//g' >got
        same want got
    done
    # the next one is a sequence of its own, wherever it stands
    { cat long.json && cat llama.json; } >both.json
    sampl -s 3 --repeat-penalty 3 --accept recorded long.json llama.json >want
    sampl -s 3 --repeat-penalty 3 --accept recorded both.json >got
    same want got
    # what is wrong in a later piece ends the run there, and messages count all positions
    sed 's/"id":63,"token":"t63","bytes":.116,54,51.,"logprob":-0.5/"id":"?"/' long.json >bad.json
    run -1 sampl -s 3 bad.json
    [ "${lines[9]}" = 'sampl: bad.json: row 9: position 9 of the reply is no token' ] && [ ${#lines[@]} = 10 ]
    head -c 2000000 long.json >cut.json
    run -1 sampl -s 3 cut.json
    [[ ${lines[-1]} = "sampl: cut.json: row 5: the input ends at byte 2000000 where JSON wants "* ]]
    # choices that come behind a cut one
    perl -pe 's/\]\},"finish_reason":"stop"\}/$&,{"index":1,"logprobs":{"content":[{"id":1,"token":"x","logprob":-1,"top_logprobs":[{"id":1,"logprob":-1}]}]}}/' long.json >two.json
    echo '{"ids":[1],"logits":[-1]}' >one.json
    sampl -s 3 --stats --accept recorded two.json 2>err >got
    [ "$(wc -l <got)" = 13 ] && [ "$(tail -1 got)" = 1 ]
}

@test "replies: each reply and each choice is a sequence of its own" {
    perl -MJSON::PP -0777 -e '
        my $r = decode_json(<STDIN>);
        $r->{choices}[1] = {%{$r->{choices}[0]}, index => 1};
        print encode_json($r);' <vllm.json >x.json
    cat vllm.json vllm.json >y.json
    dumped -s 4 --repeat-penalty 5 --accept recorded --prompt-tokens 9 vllm.json >one
    dumped -s 6 --repeat-penalty 5 --accept recorded --prompt-tokens 9 vllm.json | sed 's/"row":0/"row":2/; s/"row":1/"row":3/' >two
    cat one two >want
    for file in x.json y.json; do
        dumped -s 4 --repeat-penalty 5 --accept recorded --prompt-tokens 9 $file >got
        same want got
    done
    # the prompt of vLLM's reply was in the history: of its tokens only 3 is a candidate
    dumped -s 4 --repeat-penalty 5 --accept @chosen --prompt-tokens 1,2,3,4 want.json >want
    sed 's/"prompt_token_ids":.1,2/&,3,4/' vllm.json >x.json
    dumped -s 4 --repeat-penalty 5 --accept recorded x.json >got
    same want got
}

@test "replies: the sample is cut from the model's rows" {
    sampl -n 4096 -s 1 --top-k 10 --rows :8 "$AUSTEN" >want
    sampl -s 1 --top-k 10 "$ROOT/samples/reply.json" >got
    same want got
    sampl -s 1 --top-k 10 --vocab "$ROOT/samples/austen.gguf" <(sed 's/"id":[0-9]*,//g' "$ROOT/samples/reply.json") >got
    same want got
    head -8 "$ROOT/samples/austen.tokens" >want
    sampl --samplers greedy --emit score --accept recorded -O json "$ROOT/samples/reply.json" | sed 's/.*"id":\([0-9]*\),.*/\1/' >got
    same want got
}

@test "replies: known by content, whatever the file's name" {
    cp llama.json x.f32
    sampl -s 1 x.f32 >got
    sampl -s 1 llama.json >want
    same want got
    sampl -s 1 <llama.json >got
    same want got
}

@test "replies: cut off at any byte" {
    local n size status
    for file in llama.json vllm.json legacy.json prompt.json sglang.json; do
        perl -0777 -pe 's/\n\s*//g' $file >small
        size=$(stat -c %s small)
        for ((n = 1 + START; n < size; n += STEP)); do
            head -c "$n" small >cut.json
            status=0
            sampl -s 1 cut.json >out 2>err || status=$?
            [ "$status" = 1 ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || { cat cut.json err; echo "status $status"; return 1; }
        done
    done
}

# Whatever member is missing or something else, the run ends with a status of its own and at most one line.
@test "replies: mangled" {
    perl -MJSON::PP -e '
        srand 3;
        my $n = 0;
        my @junk = ("null", "true", "[]", "{}", "\"x\"", "-1", "1e300", "2147483648", "0.5", "[[[]]]", "{\"id\":{}}", "[null]", "");
        for my $file (@ARGV) {
            open my $in, "<", $file; local $/; my $text = <$in>;
            my @at;
            push @at, [$-[0], $+[0] - $-[0]] while $text =~ /(?<=[:,\[])\s*(?:-?[0-9.]+|"[^"]*"(?!:)|null)/g;
            push @at, [$-[0], $+[0] - $-[0]] while $text =~ /\[[^][]*\]|\{[^{}]*\}/g;
            push @at, [$-[0], $+[0] - $-[0]] while $text =~ /"[a-z_]+"(?=:)/g;
            for my $at (@at) {
                my $copy = $text;
                substr($copy, $at->[0], $at->[1]) = $junk[rand @junk];
                open my $out, ">", "m" . $n++ . ".json";
                print $out $copy;
            }
        }
        print "$n\n";' llama.json vllm.json legacy.json prompt.json sglang.json >n
    [ "$(<n)" -gt 200 ]
    local i status bad=0
    for ((i = 0; i < $(<n); i++)); do
        status=0
        dumped -s 1 --accept recorded "m$i.json" >out 2>err || status=$?
        case $status in
        0) [ ! -s err ] ;;
        1) [ "$(wc -l <err)" = 1 ] && bad=$((bad + 1)) ;;
        *) false ;;
        esac || { cat "m$i.json" err; echo "status $status"; return 1; }
    done
    [ "$bad" -gt 50 ]
}

@test "replies: deep nesting is refused" {
    perl -e 'print "{\"choices\":", "[" x 2000, "]" x 2000, "}"' >x.json
    run -1 sampl x.json
    perl -e 'print "{\"a\":", "{\"a\":" x 1000000' >x.json
    run -1 sampl x.json
}
