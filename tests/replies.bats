#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Replies of servers as input: each position with a list of tokens is a sparse row.

load helper

# Every reply below has two rows. Position 0 lists tokens 5, 7 and 12, and 7 was chosen. Position 1 lists 3 and 5, and 40, which is not in
# the list, was chosen.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    local shape
    cp "$ROOT/tests/cases/reply-rows.json" want.json
    for shape in llama vllm legacy prompt sglang; do
        cp "$ROOT/tests/cases/reply-$shape.json" $shape.json
    done
    printf '7\n40\n' >chosen
}

# dumped ARGUMENT...: prints a JSON dump without what only replies have: the texts of tokens, and the members of partial rows. Raw
# probabilities are left out, too: those of a reply count the tokens that it does not list.
dumped() {
    sampl --dump-probs -O json "$@" | sed -E 's/,"rest":[^,]*,"exact":(true|false)//; s/,"within":[^,}]*//; s/"raw_prob":[^,]*,//g; s/,"token":"([^"\\]|\\.)*","bytes":\[[0-9,]*\]//g; s/,"file":.*,/,/'
    return "${PIPESTATUS[0]}"
}

# gives_reference FILE: checks that the file has the rows of want.json, and that its recorded tokens are those of `chosen`.
gives_reference() {
    dumped -s 4 --temp 2 want.json >want
    dumped -s 4 --temp 2 "$1" >got
    same want got || { echo "$1"; return 1; }
    dumped -s 4 --repeat-penalty 5 --accept @chosen want.json >want
    dumped -s 4 --repeat-penalty 5 --accept recorded "$1" >got
    same want got || { echo "$1, recorded"; return 1; }
}

@test "replies: llama-server's list may be named probs, as in its README" {
    sed 's/completion_probabilities/probs/' llama.json >readme.json
    gives_reference readme.json
}

@test "replies: ids in token_ids or in texts of OpenAI's shapes are read" {
    # token_ids has the ids, and a token has its real text.
    perl -pe 's/"token":"token_id:7"/"token":"way"/ if /-1.75,"bytes":\[116,111\]/' vllm.json >x.json
    gives_reference x.json
    perl -pe 's/"tokens":\["token_id:7"/"tokens":["way"/; s/"index":0,/$&"token_ids":[7,40],/' legacy.json >x.json
    gives_reference x.json
    perl -pe 's/"token":"token_id/"id":null,$&/g' vllm.json >x.json
    gives_reference x.json
}

@test "replies: vLLM's prompt_logprobs are read without the prompt's ids, and inside a choice" {
    sed 's/"prompt_token_ids":[^]]*],//' prompt.json >x.json
    gives_reference x.json
    # /v1/completions has the list inside the choice.
    perl -0777 -pe 's/"object.*?\n//; s/^\{/{"choices":[{"text":"",/; s/$/]}/' prompt.json | tr -d '\n' >y.json
    sed -i 's/]}$/]}/' y.json
    gives_reference y.json
}

@test "replies: chunks of OpenAI's chat without 'data:' are read as one stream" {
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
    gives_reference x.json
}

@test "replies: a stream of server-sent events is read as one reply" {
    # llama-server: one object for each token, and a last one without a token
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
    gives_reference x.json
    # OpenAI's chat: a first and a last part without tokens, then the end, with carriage returns, comments and names of events
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
    gives_reference y.json
    perl -ne 'print if !/^event|^id/' y.json >z.json
    gives_reference z.json
    for line in 'id: 3' 'retry: 100' ': OPENROUTER PROCESSING' ''; do
        { printf '%s\r\n\r\n' "$line" && cat z.json; } >first.json
        gives_reference first.json
    done
    # A second stream starts a second sequence.
    cat z.json z.json >zz.json
    cat want.json want.json >want2.json
    sampl -s 4 --repeat-penalty 5 --accept recorded zz.json >got
    sampl -s 4 --repeat-penalty 5 --accept recorded vllm.json vllm.json >want
    same want got
}

# vLLM sends the prompt's ids with the role, before any token.
@test "replies: the prompt of a stream is read from the part with prompt_token_ids" {
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
    # The prompt of a stream without tokens is not the prompt of the next reply.
    { head -2 x.json && tr -d '\n' <llama.json; } >y.json
    gives_reference y.json
}

@test "replies: several replies may follow each other, on lines or in an array" {
    gives_reference llama.json
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

# Each stream starts a sequence: generators and histories restart, as for each chunk of a kld file.
@test "replies: chunks of OpenAI's older completions are one stream until the id changes" {
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
    gives_reference x.json
    stream a apart >y.json
    gives_reference y.json
    { cat x.json && stream b apart && cat legacy.json; } >z.json
    sampl -s 4 --repeat-penalty 5 --accept recorded legacy.json legacy.json legacy.json >want
    sampl -s 4 --repeat-penalty 5 --accept recorded z.json >got
    same want got
}

@test "replies: --against shows the texts of both inputs, and --emit text is refused for rows without texts" {
    sampl -s 1 --samplers "" --rows :1 --dump-probs --against <(sed 's/ way/ WAY/; s/12,/13,/' llama.json) llama.json >got
    grep -qF '" way"' got && grep -qF '13 "' got
    f32 1 2 >x.f32
    run -2 sampl -n 2 --emit text x.f32
    [ "$output" = 'sampl: --emit text needs --vocab' ]
}

# long_reply llama|sorted|chat|legacy|vllm|prompt|sglang POSITIONS: prints a reply that lists 3000 tokens at each position, 60 to 270 kB.
long_reply() {
    perl -e '
        my ($shape, $n) = @ARGV;
        my $record = sub { my ($id, $x) = @_; sprintf q({"id":%d,"token":"t%d","bytes":[116,%s],"logprob":-%s), $id, $id, join(",", map { ord } split //, $id), $x };
        my $list = sub { my $k = shift; join ",", map { $record->($_, (($_ * 37 + $k * 11) % 3001) / 128) . "}" } 0 .. 2999 };
        my $positions = join ",\n", map { $record->($_ * 7, 0.5) . q(,"top_logprobs":[) . $list->($_) . "]}" } 0 .. $n - 1;
        print $shape eq "llama" ? qq({"content":"x [ {","tokens":[1],"completion_probabilities" : [ $positions],"stop":true,"timings":{"a":[1]}}\n) :
            $shape eq "sorted" ? qq({"completion_probabilities":[$positions ] ,"content":"x","stop":true}\n) :
            qq({"choices":[{"index":0,"logprobs":{"content":[$positions]},"finish_reason":"stop"}],"object":"chat.completion"}\n)' "$@"
}

# parallel legacy|vllm|prompt|within|sglang POSITIONS: prints a reply with arrays side by side, which lists 3000 tokens at each position.
parallel() {
    perl -e '
        my ($shape, $n) = @ARGV;
        my ($open, $close) = $shape eq "sglang" ? ("[", "]") : ("{", "}");
        my $entry = sub { my ($id, $x) = @_; $shape eq "sglang" ? "[-$x,$id,null]" :
            $shape =~ /legacy|vllm/ ? qq("token_id:$id":-$x) : qq("$id":{"logprob":-$x,"rank":7,"decoded_token":"some text of a token, $id"}) };
        my $list = sub { my $k = shift; my $chosen = $k * 7;
            join ",", map { $entry->($_, $_ == $chosen ? "0.5" : (($_ * 37 + $k * 11) % 3001 + 1) / 128) } $chosen, grep { $_ != $chosen } 0 .. 2999 };
        my @ids = map { $_ * 7 } 0 .. $n - 1;
        my $lists = join ", ", map { $open . $list->($_) . $close } 0 .. $n - 1;
        my $tokens = join ",", map { qq("token_id:$_") } @ids;
        my $numbers = join ",", map { "-0.5" } @ids;
        my $ids = join ",", @ids;
        my $last = qq({"index":1,"logprobs":{"tokens":["token_id:1"],"token_logprobs":[-1],"top_logprobs":[{"token_id:1":-1,"token_id:9":-2,"token_id:273":-3}]}});
        print $shape eq "legacy" ? qq({"choices":[{"logprobs":{"tokens":[$tokens],"token_logprobs":[$numbers],"top_logprobs":[$lists],"text_offset":[]}},$last]}) :
            $shape eq "vllm" ? qq({"choices":[{"text":"]}","logprobs":{"top_logprobs":[$lists],"tokens":[$tokens],"token_logprobs":[$numbers]},"token_ids":null},$last]}) :
            $shape eq "prompt" ? qq({"choices":[$last],"object":"text_completion","prompt_logprobs":[null,$lists],"prompt_token_ids":[9,$ids]}) :
            $shape eq "within" ? qq({"choices":[{"logprobs":{"tokens":["token_id:1"],"token_logprobs":[-1],"top_logprobs":[{"token_id:1":-1,"token_id:9":-2,"token_id:273":-3}]},"prompt_logprobs":[null,$lists],"prompt_token_ids":[9,$ids]}]}) :
            qq({"meta_info":{"output_token_logprobs":[) . join(",", map { "[-0.5,$_,null]" } @ids) . qq(],"output_top_logprobs":[$lists],"e":-Infinity}}), "\n"' "$@"
}

@test "replies: a reply that is longer than the buffer gives the same rows and messages" {
    local shape
    perl -e '
        for my $k (0 .. 11) {
            printf qq({"logits":[%s]}\n), join ",", map { -(($_ * 37 + $k * 11) % 3001) / 128 } 0 .. 2999;
        }' >rows.json
    seq 0 7 77 >ids
    sampl -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept @ids -O json rows.json >want
    for shape in llama sorted chat; do
        long_reply $shape 12 >long.json
        sampl -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept recorded -O json long.json |
            sed -E 's/,"token":"[^"]*","bytes":\[[0-9,]*\]//g' >got
        same want got
    done
    # Tokens that are texts only, as OpenAI's: alone, with null behind them, and with ids before or behind them.
    seq -f t%g 0 3000 >words
    penalized() { sampl -s 3 --presence-penalty 9 --repeat-last-n -1 --vocab words "$@"; }
    sed -E 's/"id":[0-9]+,//g' long.json >texts.json
    penalized --accept recorded texts.json >got
    penalized --accept @ids rows.json >want
    same got want
    sed 's/"finish_reason"/"token_ids":null,&/' texts.json | penalized --accept recorded -f json >got
    same got want
    # Chosen tokens whose texts are in no vocabulary.
    sed -E 's/"token":"[^"]*","bytes":\[[0-9,]*\],"logprob":-0.5,"top/"token":"?","logprob":-0.5,"top/' texts.json >unknown.json
    run -1 penalized --accept recorded unknown.json
    local ids='"token_ids":[3000,3000,3000,3000,3000,3000,3000,3000,3000,3000,3000,3000]'
    sed "s/\"index\":0/&,$ids/" unknown.json >before.json
    penalized --accept recorded -O json --emit stats before.json >want
    [ "$(grep -c '"accepted":3000,' want)" = 12 ]
    sed "s/\"finish_reason\"/$ids,&/" unknown.json >behind.json
    penalized --accept recorded -O json --emit stats behind.json >got
    same got want
    penalized --accept recorded -O json --emit stats -f json - <behind.json >got
    same got want
    # A reply behind a long one starts a sequence of its own.
    { cat long.json && cat llama.json; } >both.json
    sampl -s 3 --repeat-penalty 3 --accept recorded long.json llama.json >want
    sampl -s 3 --repeat-penalty 3 --accept recorded both.json >got
    same want got
    # An error in a later piece ends the run there, and its message has the number of the position.
    sed 's/"id":63,"token":"t63","bytes":.116,54,51.,"logprob":-0.5/"id":"?"/' long.json >bad.json
    run -1 sampl -s 3 bad.json
    [ "${lines[9]}" = 'sampl: bad.json: row 9: position 9 of the reply is not a token' ] && [ ${#lines[@]} = 10 ]
    head -c 2000000 long.json >cut.json
    run -1 sampl -s 3 cut.json
    # The rows of whole pieces are printed, and the error has the number of the next one. Small pieces give all nine.
    local printed
    printed=$(grep -cx '[0-9]*' <<<"$output")
    [[ ${lines[-1]} = "sampl: cut.json: row $printed: the input ends at byte 2000000 where JSON expects "* ]]
    [ "$printed" -ge 5 ] && [ "$printed" -le 9 ]
    # a second choice behind a long one
    perl -pe 's/\]\},"finish_reason":"stop"\}/$&,{"index":1,"logprobs":{"content":[{"id":1,"token":"x","logprob":-1,"top_logprobs":[{"id":1,"logprob":-1}]}]}}/' long.json >two.json
    echo '{"ids":[1],"logits":[-1]}' >one.json
    sampl -s 3 --stats --accept recorded two.json 2>err >got
    [ "$(wc -l <got)" = 13 ] && [ "$(tail -1 got)" = 1 ]
}

@test "replies: long arrays side by side, with members before and after them, give the rows of short ones" {
    perl -e '
        for my $k (0 .. 39) {
            printf qq({"logits":[%s]}\n), join ",", map { $_ == $k * 7 ? -0.5 : -(($_ * 37 + $k * 11) % 3001 + 1) / 128 } 0 .. 2999;
        }' >rows.json
    seq 0 7 273 >ids
    dumped -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept @ids rows.json >want
    dumped -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept @ids --prompt-tokens 9 rows.json >want_prompt
    # shape, rows behind the long array, expected rows, logits of the last row: a second choice has no history, the output has the prompt
    while read -r shape more want last; do
        parallel "$shape" 40 >long.json
        [ "$(stat -c %s long.json)" -gt 2400000 ]
        for file in long.json -; do
            dumped -s 3 --repeat-penalty 3 --repeat-last-n -1 --accept recorded -n 3000 -f json $file <long.json >got
            [ "$(wc -l <got)" = $((40 + more)) ]
            head -40 got >first
            same "$want" first
        done
        sampl -n 3000 --presence-penalty 8 --repeat-last-n -1 --accept recorded --samplers penalties --dump-probs -O json long.json |
            tail -1 | jq -c '[.top_probs[].logit + 0]' >got
        [ "$shape" = sglang ] || [ "$(cat got)" = "$last" ]
    done < <(few 2 <<'    END'
        legacy 1 want [-1,-2,-3]
        vllm 1 want [-1,-2,-3]
        prompt 1 want_prompt [-1,-10,-11]
        within 1 want_prompt [-1,-10,-11]
        sglang 0 want
    END
    )
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
    # The prompt of vLLM's reply is in the history; token 3 of it is a candidate.
    dumped -s 4 --repeat-penalty 5 --accept @chosen --prompt-tokens 1,2,3,4 want.json >want
    sed 's/"prompt_token_ids":.1,2/&,3,4/' vllm.json >x.json
    dumped -s 4 --repeat-penalty 5 --accept recorded x.json >got
    same want got
}

@test "samples/reply.json gives the ids of the rows that it was made from" {
    sampl -n 4096 -s 1 --top-k 10 --rows :8 "$AUSTEN" >want
    sampl -s 1 --top-k 10 "$ROOT/samples/reply.json" >got
    same want got
    sampl -s 1 --top-k 10 --vocab "$ROOT/samples/austen.gguf" <(sed 's/"id":[0-9]*,//g' "$ROOT/samples/reply.json") >got
    same want got
    head -8 "$ROOT/samples/austen.tokens" >want
    sampl --samplers greedy --emit score --accept recorded -O json "$ROOT/samples/reply.json" | sed 's/.*"id":\([0-9]*\),.*/\1/' >got
    same want got
}

@test "replies: a reply is recognised by its content in a file with any name" {
    cp llama.json x.f32
    sampl -s 1 x.f32 >got
    sampl -s 1 llama.json >want
    same want got
    sampl -s 1 <llama.json >got
    same want got
}

@test "replies: a reply that is cut off at any byte is an error with one line" {
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

# However a reply is mangled, the program exits with status 0 or 1, and prints at most one line on standard error.
@test "replies: a reply with a changed value gives rows, or one error line with status 1" {
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
    for i in $(seq 0 $(($(<n) - 1)) | few 60); do
        status=0
        dumped -s 1 --accept recorded "m$i.json" >out 2>err || status=$?
        sed -i '/^sampl: note: /d' err
        case $status in
        0) [ ! -s err ] ;;
        1) [ "$(wc -l <err)" = 1 ] && bad=$((bad + 1)) ;;
        *) false ;;
        esac || { cat "m$i.json" err; echo "status $status"; return 1; }
    done
    enough "$bad" 51
}

@test "replies: JSON with thousands of levels is refused" {
    perl -e 'print "{\"choices\":", "[" x 2000, "]" x 2000, "}"' >x.json
    run -1 sampl x.json
    perl -e 'print "{\"a\":", "{\"a\":" x 1000000' >x.json
    run -1 sampl x.json
}

@test "replies: KoboldCpp, TGI, OpenAI's responses and batches, and vLLM's Python objects give the rows of llama-server's reply" {
    local record='{"id":5,"token":"a","text":"a","logprob":-0.5,"top_logprobs":[{"id":5,"token":"a","logprob":-0.5},{"id":7,"token":"b","logprob":-1.5}]}'
    local second='{"id":9,"token":"c","text":"c","logprob":-0.125,"top_logprobs":[{"id":9,"token":"c","logprob":-0.125},{"id":7,"token":"b","logprob":-3}]}'
    local legacy='"tokens":["token_id:5","token_id:9"],"token_logprobs":[-0.5,-0.125],"top_logprobs":[{"token_id:5":-0.5,"token_id:7":-1.5},{"token_id:9":-0.125,"token_id:7":-3}]'
    local tops='[[{"id":5,"text":"a","logprob":-0.5},{"id":7,"text":"b","logprob":-1.5}],[{"id":9,"text":"c","logprob":-0.125},{"id":7,"text":"b","logprob":-3}]]'
    local python='[{"5":{"logprob":-0.5,"rank":1,"decoded_token":"a"},"7":{"logprob":-1.5,"rank":2,"decoded_token":"b"}}, {"7":{"logprob":-3,"rank":2,"decoded_token":"b"},"9":{"logprob":-0.125,"rank":1,"decoded_token":"c"}}]'
    show() { sampl -s 1 --dump-probs -O json -v 2>/dev/null | jq -c 'del(.seq)'; }
    show <<<"{\"completion_probabilities\":[$record,$second]}" >want
    [ "$(wc -l <want)" = 2 ]
    show <<<"{\"results\":[{\"text\":\"ac\",\"logprobs\":{\"content\":[$record,$second],$legacy}}]}" | cmp - want
    show <<<"{\"choices\":[{\"text\":\"ac\",\"logprobs\":{\"content\":[$record,$second],$legacy}}]}" | cmp - want
    show <<<"{\"generated_text\":\"ac\",\"details\":{\"prefill\":[{\"id\":3,\"text\":\"p\",\"logprob\":null}],\"tokens\":[$record,$second],\"top_tokens\":$tops}}" | cmp - want
    show <<<"{\"output\":[{\"type\":\"reasoning\"},{\"type\":\"message\",\"content\":[{\"logprobs\":[$record]},{\"logprobs\":[$second]}]}]}" | cmp - want
    show <<<"{\"custom_id\":\"r1\",\"response\":{\"status_code\":200,\"body\":{\"choices\":[{\"logprobs\":{\"content\":[$record,$second]}}]}}}" | cmp - want
    show <<<"$python" | cmp - want
    # The prompt of TGI precedes the recorded tokens, and a batch's requests are sequences of their names.
    sampl -s 1 --accept recorded --repeat-penalty 1.5 --trace -O json <<<"{\"details\":{\"prefill\":[{\"id\":7,\"text\":\"p\",\"logprob\":null}],\"tokens\":[$record,$second],\"top_tokens\":$tops}}" 2>/dev/null |
        jq -es 'any(.[].stages[]; .name == "penalties" and .enabled)'
    for i in x y x; do echo "{\"custom_id\":\"$i\",\"response\":{\"body\":{\"choices\":[{\"logprobs\":{\"content\":[$record]}}]}}}"; done | sampl -s 1 -O json 2>/dev/null | jq -r .seq | paste -sd, | grep -qx x,y,x
    # A chosen token that is listed twice counts once, with the larger number.
    jq -c '{completion_probabilities: [.top_logprobs += [{"id": 5, "token": "a", "logprob": -0.75}]]}' <<<"$record" | show | jq -c .top_probs >twice
    head -n 1 want | jq -c .top_probs | cmp - twice
}

@test "the jq filter that a message names takes the reply out of what it stands in, at any depth, and only the reply" {
    need jq
    timeout 600 /usr/bin/python3 "$ROOT/tests/inside.py" "$SAMPL" $((800 / STEP)) "$START"
}
