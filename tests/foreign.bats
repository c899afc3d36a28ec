#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The samplers of other programs: how they come into the default chain, and what no recorded case shows. Their numbers are held against the
# oracle by parity and against recorded cases by reference.bats.
load helper

# names ARGUMENT...: the samplers of the effective chain.
names() {
    sampl -s 1 "$@" --print-chain=json | grep -oE '"name":"[a-z_]+"' | cut -d '"' -f 4 | grep -vxE 'logit_bias|bans|dist' | paste -sd ';'
}

dump() {
    sampl -n 4096 --rows :40 -s 7 --dump-probs -O tsv "$@" "$AUSTEN"
}

LLAMA='penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;scatter;temperature'

@test "an option that makes its sampler run puts it into the default chain" {
    [ "$(names)" = "$LLAMA" ]
    [ "$(names --top-a 0.2)" = "${LLAMA/top_k/top_k;top_a}" ]
    [ "$(names --top-a 0)" = "$LLAMA" ]
    [ "$(names --min-k 0 --top-h 0.4 --p-step 0.1 --tfs 0.9)" = 'penalties;dry;top_n_sigma;min_k;top_k;tfs;typ_p;top_p;min_p;p_step;xtc;scatter;temperature;top_h' ]
    [ "$(names --skew -0.1 --smoothing-factor 1 --eta-cutoff 0.1 --epsilon-cutoff 0.1)" = 'penalties;dry;top_n_sigma;top_k;typ_p;top_p;epsilon_cutoff;eta_cutoff;min_p;xtc;scatter;temperature;smoothing;skew' ]
    [ "$(names --samplers 'topA;tfs-z;TFS_TG;quadratic;pless;p-less-norm')" = 'top_a;tfs;tfs_tg;smoothing;p_less;p_less_norm' ]
    [ "$(names --top-a 0.2 --samplers "$LLAMA")" = "$LLAMA" ]
    [ "$(names --top-a 0.2 --sampler-seq edskypmxrt)" = "$LLAMA" ]
    echo '--temp 0.7 --top-a 0.2' >preset
    [ "$(names --preset ./preset)" = "${LLAMA/top_k/top_k;top_a}" ]
    dump --top-a 0.2 >got
    dump --samplers "${LLAMA/top_k/top_k;top_a}" --top-a 0.2 >want
    same got want
    dump >plain
    run -1 cmp -s got plain
    eval "dump $(sampl -s 7 --top-a 0.2 --print-chain=preset)" >again
    same got again
    gguf "general.sampling.sequence=s:top_k;temperature" general.sampling.top_k=u:30 'tokens=a:a,b' model=s:gpt2 >advice.gguf
    [ "$(names --vocab advice.gguf --top-a 0.2)" = 'top_k;temperature' ] # which a model's chain is, too
    run -2 sampl --engine ollama --top-a 0.2 --print-chain
    [ "$output" = 'sampl: --top-a: engine ollama has no stage for it' ]
}

@test "a row's parameters bring them in and out again" {
    row() { printf '{"logits":[3,2.9,2,1],"params":{%s}}\n' "$1"; }
    kept() { sampl -s 1 --temp 1 --top-p 1 --min-p 0 -O tsv "$@" | sed 1d | cut -f 4 | paste -sd ' '; }
    [ "$({ row ''; row '"top_a":1'; row '"top_k":3'; row '"top_a":0'; row '"top_a":1,"samplers":["top_k"]'; row '"samplers":null'; } | kept)" = '4 2 2 3 3 3' ]
    # a chain that is given stays as it is
    [ "$({ row ''; row '"top_a":1'; } | kept --samplers top_k)" = '4 4' ]
    [ "$({ row ''; row '"top_a":1'; } | kept --samplers 'top_k;top_a')" = '4 2' ]
}

@test "off values and single candidates: the row is as if the sampler were not there" {
    local name off on
    dump --samplers 'top_k;temperature' --prompt-tokens 304,11 >want
    dump --samplers 'top_k=1;temperature' --prompt-tokens 304,11 >single
    while read -r name off on; do
        dump --samplers "top_k;$name=$off;temperature" --prompt-tokens 304,11 >got
        same got want
        dump --samplers "top_k;$name=$on;temperature" --prompt-tokens 304,11 >got
        run -1 cmp -s got want
        dump --samplers "top_k=1;$name=$on;temperature" --prompt-tokens 304,11 >got
        same got single
    done <<'END'
no_repeat_ngram 0 1
encoder_penalty 1 1.3
top_a 0 0.2
tfs 1 0.9
tfs_tg 1 0.9
p_step 0 0.5
top_h 0 0.4
min_k -0.001 0
smoothing 0 0.2
epsilon_cutoff 0 0.05
eta_cutoff 0 0.3
skew 0 0.4
END
}

@test "the slope of the repeat penalty, and what makes it tell" {
    local args=(--samplers 'penalties;top_k;temperature' --prompt-tokens @"$ROOT/samples/austen.prompt")
    dump "${args[@]}" --repeat-penalty 1.3 >want
    dump "${args[@]}" --repeat-penalty 1.3 --repeat-penalty-slope 1 >got
    same got want
    dump "${args[@]}" --repeat-penalty 1.3 --repeat-penalty-slope 0.1 >got
    run -1 cmp -s got want
    dump "${args[@]}" --repeat-penalty 0.8 >want
    dump "${args[@]}" --repeat-penalty 0.8 --repeat-penalty-slope 0.1 >got
    same got want
}

@test "bad words and early ends are masked, whoever names them" {
    local row='"logits":[5,4,3,2]' greedy=(-s 1 --temp 0)
    # behind 1 no 0, at no time 2
    [ "$(sampl "${greedy[@]}" --bad-word-tokens 1,0 --bad-word-tokens 2 --prompt-tokens 1 <<<"{$row}{$row}" | xargs)" = '1 1' ]
    [ "$(sampl "${greedy[@]}" --bad-word-tokens 1,0 --prompt-tokens 2 <<<"{$row}{$row}" | xargs)" = '0 0' ]
    [ "$(sampl "${greedy[@]}" --min-tokens 2 --eog-tokens 0,1 --eog-tokens 2 --prompt-tokens 2,2 <<<"{$row}{$row}{$row}" | xargs)" = '3 3 0' ]
    [ "$(sampl "${greedy[@]}" --mirostat 2 --temp 1e-6 --bad-word-tokens 0 <<<"{$row}")" = 1 ]
    # in rows: other sequences for those of the options, whose ends stay
    [ "$(printf '{%s,"params":{%s}}' "$row" '"bad_words_ids":[[0],[1]]' "$row" '"custom_token_bans":"0, 1,2"' "$row" '"custom_token_bans":[1],"min_tokens":9' "$row" '"bad_words_ids":[],"min_tokens":0' |
        sampl "${greedy[@]}" --bad-word-tokens 3 --eog-tokens 0 | xargs)" = '2 3 2 0' ]
    # the vocabulary's
    sampl "${greedy[@]}" --vocab "$ROOT/samples/austen.gguf" --ignore-eos --rows :9 "$AUSTEN" >want
    sampl "${greedy[@]}" --vocab "$ROOT/samples/austen.gguf" --min-tokens 9 --rows :9 "$AUSTEN" | cmp - want
    # printed, and read back
    sampl -s 3 --print-chain=preset --bad-word-tokens 1,2 --bad-word-tokens 3 --min-tokens 4 --eog-tokens 5,6 >bans.preset
    sampl -s 3 --print-chain=json --bad-word-tokens 1,2 --bad-word-tokens 3 --min-tokens 4 --eog-tokens 5,6 >bans.json
    for file in bans.preset bans.json; do
        sampl --preset ./$file --print-chain | grep -q '^bans *on .*min-tokens=4.* bad-word-tokens=1,2 bad-word-tokens=3 eog-tokens=5,6$'
    done
    # no part of a file knows how many came before it
    run -2 sampl -s 1 -n 4096 --min-tokens 4 --eog-tokens 1 --shard 2/3 "$AUSTEN"
    sampl -s 1 -n 4096 --bad-word-tokens 286 --shard 2/3 "$AUSTEN" >/dev/null
}

@test "the prompt that counts is that of the row's sequence; threads and parts change nothing" {
    row() { printf '{"seq":"%s","logits":[2,1.9,1.8]%s}\n' "$1" "$2"; }
    { row x ',"prompt_tokens":[1]'; row y ',"prompt_tokens":[2]'; row x ,; row y ',"params":{"encoder_repetition_penalty":1}'; } | sed 's/,}/}/' >in
    [ "$(sampl -s 1 --samplers 'encoder_penalty;greedy' --encoder-repeat-penalty 2 <in | xargs)" = '1 2 1 0' ]
    # shellcheck disable=SC2054
    local args=(-n 4096 -s 3 --samplers 'encoder_penalty;no_repeat_ngram;top_k;temperature' --encoder-repeat-penalty 1.3 --prompt-tokens 304,11,304 --rows :60) k
    sampl "${args[@]}" --accept @"$ROOT/samples/austen.tokens" --no-repeat-ngram 1 --dump-probs=2 "$AUSTEN" >want
    sampl "${args[@]}" --accept @"$ROOT/samples/austen.tokens" --no-repeat-ngram 1 --dump-probs=2 -t 3 "$AUSTEN" | cmp - want
    for k in 1 2 3; do
        sampl "${args[@]}" --accept @"$ROOT/samples/austen.tokens" --no-repeat-ngram 1 --dump-probs=2 --shard $k/3 "$AUSTEN"
    done | cmp - want
    sampl "${args[@]}" "$AUSTEN" >want # the prompt is known to every part
    for k in 1 2 3; do sampl "${args[@]}" --shard $k/3 "$AUSTEN"; done | cmp - want
    run -2 sampl "${args[@]}" --no-repeat-ngram 2 --shard 2/3 "$AUSTEN"
    [[ $output == *'no_repeat_ngram needs the tokens before this part'* ]]
    run -1 sampl -s 1 --samplers no_repeat_ngram=1 --prompt-tokens 0,1 <<<'{"logits":[1,2]}'
    [[ $output == *'row 0: '* ]]
}
