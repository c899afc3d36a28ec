#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Samplers of other programs: how they join the default chain, off values, and options without recorded cases. units.bats and
# reference.bats compare their numbers.
load helper

# names OPTION...: prints the samplers of the chain.
names() {
    sampl -s 1 "$@" --print-chain=json | grep -oE '"name":"[a-z_]+"' | cut -d '"' -f 4 | grep -vxE 'logit_bias|bans|dist' | paste -sd ';'
}

# dump OPTION...: prints a TSV dump of 40 rows of the sample.
dump() {
    sampl -n 4096 --rows :40 -s 7 --dump-probs -O tsv "$@" "$AUSTEN"
}

LLAMA='penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;scatter;temperature'

@test "an option of a sampler adds it to the default chain, but not to the chain of a model" {
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
    [ "$(names --vocab advice.gguf --top-a 0.2)" = 'top_k;temperature' ] # the model's chain
}

@test "a sampler of another program changes nothing at its off value, or with one candidate" {
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

@test "--repeat-penalty-slope 1 changes nothing, and another slope only penalties above 1" {
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

@test "--min-tokens bans the vocabulary's end tokens, and printed bans read back as options" {
    local greedy=(-s 1 --temp 0)
    sampl "${greedy[@]}" --vocab "$ROOT/samples/austen.gguf" --ignore-eos --rows :9 "$AUSTEN" >want
    sampl "${greedy[@]}" --vocab "$ROOT/samples/austen.gguf" --min-tokens 9 --rows :9 "$AUSTEN" | cmp - want
    # --print-chain, as a preset
    sampl -s 3 --print-chain=preset --bad-word-tokens 1,2 --bad-word-tokens 3 --min-tokens 4 --eog-tokens 5,6 >bans.preset
    sampl -s 3 --print-chain=json --bad-word-tokens 1,2 --bad-word-tokens 3 --min-tokens 4 --eog-tokens 5,6 >bans.json
    for file in bans.preset bans.json; do
        sampl --preset ./$file --print-chain | grep -q '^bans *on .*min-tokens=4.* bad-word-tokens=1,2 bad-word-tokens=3 eog-tokens=5,6$'
    done
    sampl -s 1 -n 4096 --bad-word-tokens 286 --shard 2/3 "$AUSTEN" >/dev/null
}

@test "encoder_penalty and no_repeat_ngram give the same records with threads and shards" {
    # shellcheck disable=SC2054
    local args=(-n 4096 -s 3 --samplers 'encoder_penalty;no_repeat_ngram;top_k;temperature' --encoder-repeat-penalty 1.3 --prompt-tokens 304,11,304 --rows :60) k
    sampl "${args[@]}" --accept @"$ROOT/samples/austen.tokens" --no-repeat-ngram 1 --dump-probs=2 "$AUSTEN" >want
    sampl "${args[@]}" --accept @"$ROOT/samples/austen.tokens" --no-repeat-ngram 1 --dump-probs=2 -t 3 "$AUSTEN" | cmp - want
    for k in 1 2 3; do
        sampl "${args[@]}" --accept @"$ROOT/samples/austen.tokens" --no-repeat-ngram 1 --dump-probs=2 --shard $k/3 "$AUSTEN"
    done | cmp - want
    sampl "${args[@]}" "$AUSTEN" >want # every shard has the prompt
    for k in 1 2 3; do sampl "${args[@]}" --shard $k/3 "$AUSTEN"; done | cmp - want
}
