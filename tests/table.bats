#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The table of a run with variants, and the same numbers of each row in --emit stats.

load helper

# table_as_numpy ROWS BASE VARIANT...: checks the table of a .npy file with the options of each chain against numpy.
table_as_numpy() {
    local rows=$1 i=0 spec options vs=() names=()
    shift
    options=$1
    for spec; do
        if [ "$i" -eq 0 ]; then spec=; else vs+=(--vs "$spec "); fi
        eval "set -- $options $spec"
        sampl "$@" -s 3 --accept @tokens --emit logits -O npy "$rows" >"$i.npy"
        sampl "$@" -s 3 --accept @tokens "$rows" >"$i.ids"
        names+=("$i")
        i=$((i + 1))
    done
    eval "set -- $options"
    sampl "$@" -s 3 --accept @tokens "${vs[@]}" -O json "$rows" >table 2>notes
    /usr/bin/python3 "$ROOT/tests/table.py" table "$rows" tokens "${names[@]}"
}

@test "the table has the numbers that numpy computes from separate runs: the sample's rows" {
    need_numpy
    cp "$ROOT/samples/austen.tokens" tokens
    /usr/bin/python3 -c 'import numpy as np, sys; np.save("rows.npy", np.fromfile(sys.argv[1], "<f2").reshape(-1, 4096)[:100])' "$AUSTEN"
    table_as_numpy rows.npy '' '--temp 1.5' '--samplers min_p' '--samplers temperature --temp 0.6' '--engine akunu --temp 0.9' '--top-nsigma 1' \
        '--repeat-penalty 1.3' '-l 304-5 -l 404-inf' '--samplers ""'
}

@test "the table has the numbers that numpy computes, with every selector and engine, on random rows" {
    need_numpy
    /usr/bin/python3 -c '
import numpy as np
r = np.random.default_rng(7)
x = r.normal(0, 2, (40, 300)).astype("<f4")
x[:10] = np.round(x[:10])  # ties
x[r.random(x.shape) < 0.05] = -np.inf
np.save("rows.npy", x)
print(*r.integers(0, 300, 40), sep="\n", file=open("tokens", "w"))'
    local engine specs=()
    for engine in $(sampl --engine x 2>&1 <<<'[1]' | sed "s/.*one of //; s/,/ /g"); do specs+=("--engine $engine"); done
    printf '%s\n' "${specs[@]}" >engines
    grep -qx -- '--engine ollama' engines
    grep -qx -- '--engine akunu-gpu' engines
    table_as_numpy rows.npy '' "${specs[@]}"
    table_as_numpy rows.npy '' '--temp 0' '--mirostat 1' '--mirostat 2' '--samplers "top_k;adaptive_p" --adaptive-target 0.3' '--xtc-probability 0.5' \
        '--scatter-strength 0.2 --scatter-collision 0.5' '--samplers greedy' '--samplers dist' '--samplers "top_k=1"'
    table_as_numpy rows.npy '--temp 0' '--temp 1'
}

@test "the table has the numbers that numpy computes of random chains, and none gains where tokens are the model's own" {
    need_numpy
    /usr/bin/python3 -c '
import numpy as np
r = np.random.default_rng(45)
x = r.normal(0, r.uniform(0.5, 4, (120, 1)), (120, 150)).astype("<f4")
np.save("rows.npy", x)
p = np.exp(x.astype("f8") - x.max(1, keepdims=True))
print(*[r.choice(150, p=row / row.sum()) for row in p], sep="\n", file=open("tokens", "w"))
filters = [("top_k", "top-k", 1, 40), ("top_p", "top-p", 0.1, 1), ("min_p", "min-p", 0, 0.3), ("typ_p", "typical", 0.2, 1),
           ("top_n_sigma", "top-nsigma", 0.3, 2), ("temperature", "temp", 0.3, 2), ("top_a", "top-a", 0, 0.5)]
for _ in range(12):
    some = [filters[i] for i in r.permutation(len(filters))[:r.integers(1, 4)]]
    values = ["--%s %.3g" % (option, (int if option == "top-k" else float)(r.uniform(low, high))) for _, option, low, high in some]
    print("--samplers \"" + ";".join(name for name, *_ in some) + "\"", *values)' >chains
    mapfile -t specs <chains
    [ ${#specs[@]} -eq 12 ]
    table_as_numpy rows.npy '--neutral' "${specs[@]}"
    jq -es 'length == 13 and all(.[1:][]; .gain_se < .05 and (.gain | fabs) < 4 * .gain_se + 1e-12) and any(.[]; .lost > .2)' table
}

@test "a token that the row masks counts as lost, even for a chain that removes nothing" {
    [ "$(sampl -s 1 --neutral --accept 1 --vs --temp=2 -O json <<<'[0,null,-1]' | jq -c '[.lost, .nll, .kept]')" = $'[1,null,2]\n[1,null,2]' ]
}

@test "a chain that removes nothing gains exactly 0 and loses no token, also where probabilities are too small for a number" {
    sampl -n 4096 -s 1 --neutral --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" --vs '--temp 1.5' --vs '--top-k 4095' --vs '--repeat-penalty 2' \
        --vs '--temp .001' -O json >table
    jq -es '[.[0, 1, 3, 4].lost] | unique == [0]' table
    jq -es '.[4] | .kept == 4096 and .nll > 745 and .ppl == null' table
    jq -es '[.[] | select(.name != "--top-k 4095") | .gain, .gain_se] | unique == [0]' table
    jq -es '[.[1, 3] | .gain_diff, .gain_diff_se] | unique == [0]' table
}

@test "gain counts no list whose kept tokens are not known" {
    # The neutral chain removes nothing. Of top-k 5 the kept tokens are those of the whole row.
    sampl -s 1 --neutral --accept recorded --vs 'v: --top-k 5' -O json "$ROOT/samples/reply.json" >table 2>/dev/null
    jq -es '.[0].gain == null and .[0].lost == 0 and (.[1] | (.gain - (1 - .mass - .lost) | fabs) < 1e-12 and .exact == 1)' table
    # A token that the list does not name: lost if the chain removed it for certain, else unlisted.
    sampl -s 1 --neutral --accept 339,903,769 --vs 'v: --top-k 3' -O json "$ROOT/tests/cases/list-ten.json" >table 2>/dev/null
    jq -es '.[0].gain == null and .[0].unlisted == 1 and (.[1] | .lost == 1 and (.gain + .mass | fabs) < 1e-12)' table
}

@test "new columns of the table follow the columns of version 0.2.0" {
    sampl -n 4096 -s 1 --rows :3 --accept 1,2,3 "$AUSTEN" --vs '--temp 1.5' -O tsv | head -n 1 | tr '\t' '\n' >names
    sed -n '3,16p' names | paste -sd' ' | diff - <(echo kept entropy e_prob e_raw_prob e_greedy kl_raw same overlap js nll ppl lost mass eps_ppl)
    tail -n 5 names | paste -sd' ' | diff - <(echo rows gain gain_se gain_diff gain_diff_se)
    sampl -s 1 --accept recorded --vs '--temp 2' -O tsv "$ROOT/samples/reply.json" 2>/dev/null | head -n 1 | grep -q 'rows.gain.unlisted.gain_se'
    sampl -n 4096 -s 1 --rows :3 "$AUSTEN" --vs '--scatter-strength 1' -O tsv | head -n 1 | grep -q 'rows.scatter_within.scatter_within_se'
}

@test "--against: the table has the numbers that numpy computes from both files" {
    need_numpy
    /usr/bin/python3 -c '
import numpy as np
r = np.random.default_rng(8)
x = r.normal(0, 2, (30, 200)).astype("<f4")
np.save("rows.npy", x)
np.save("other.npy", (x + r.normal(0, 0.3, x.shape)).astype("<f4"))
print(*r.integers(0, 200, 30), sep="\n", file=open("tokens", "w"))'
    local chain
    for chain in '--neutral' '--top-k 5' '--temp 0' '--min-p 0.3'; do
        # shellcheck disable=SC2086 # words
        for i in 0 1; do
            file=$([ $i = 0 ] && echo rows.npy || echo other.npy)
            sampl -s 3 --accept @tokens $chain --emit logits -O npy $file >$i.npy
            sampl -s 3 --accept @tokens $chain $file >$i.ids
        done
        # shellcheck disable=SC2086
        sampl -s 3 --accept @tokens $chain rows.npy --against other.npy -O json >table
        RAW2=other.npy /usr/bin/python3 "$ROOT/tests/table.py" table rows.npy tokens 0 1
        # --emit stats has the rows' values of the same numbers
        # shellcheck disable=SC2086
        sampl -s 3 --accept @tokens $chain rows.npy --against other.npy --emit stats -O json >records
        jq -s -c 'map(select(.variant != "base")) | [(map(.mass) | add / length), (map(.e_prob) | add / length), (map(.e_raw_prob) | add / length),
            (map(.e_greedy) | add / length), (map(.top1) | add / length), (map(select(.kl == null)) | length)]' records >got
        tail -n 1 table | jq -c '[.mass, .e_prob, .e_raw_prob, .e_greedy, .top1, .kl_inf]' >want
        jq -n -e --slurpfile g got --slurpfile w want '[range(6) | $g[0][.] - $w[0][.] | fabs < 1e-12] | all'
    done
}

@test "three seeds give the same table, except the share of equal tokens" {
    local seed
    for seed in 1 2 3; do
        sampl -n 4096 -s $seed --rows :20 "$AUSTEN" --vs '--temp 1.5' -O json | jq -c 'del(.same, .same_se)' >"$seed"
    done
    cmp 1 2
    cmp 1 3
}

@test "equal chains have an overlap of exactly 1, and differences of 0" {
    sampl -n 4096 -s 1 "$AUSTEN" --vs 'a: --temp 0.8' --vs 'b: --seed 9' -O json 2>notes >table
    [ "$(jq -c '[.overlap, .overlap_se, .js, .entropy_diff, .entropy_diff_se]' table | tail -n 1)" = '[1,0,0,0,0]' ]
}

@test "chains whose distribution depends on earlier draws are marked, with one note" {
    sampl -n 4096 -s 1 --rows :3 "$AUSTEN" --vs 'x: --xtc-probability 0.5' --vs 'always: --xtc-probability 1' --vs '--mirostat 2' \
        --vs 's: --scatter-strength 0.1 --scatter-collision 0.5' --vs 'a: --samplers adaptive_p --adaptive-target 0.3' \
        --vs 'plain: --samplers adaptive_p' -O json 2>notes >table
    [ "$(jq -c .of_the_draw table | tr '\n' ' ')" = 'false true false true true true false ' ]
    grep -c "marked '\*'" notes | grep -qx 1
    sampl -n 4096 -s 1 --rows :3 "$AUSTEN" --vs 'x: --xtc-probability 0.5' 2>/dev/null | tail -n 1 | grep -q '^x\* '
    sampl --vocab "$ROOT/samples/austen.gguf" -s 1 --rows :3 "$AUSTEN" --grammar 'root ::= [a-z ]*' --vs 'first: --grammar-first' --vs 'greedy: --grammar-first --temp 0' -O json 2>/dev/null |
        jq -c .of_the_draw | tr '\n' ' ' >marks
    [ "$(cat marks)" = 'true true false ' ]
}

@test "chains that read tokens which they drew are marked, unless the tokens are given, or no token is drawn" {
    local history=('hot: --temp 0.9' 'penalties: --repeat-penalty 1.5' 'greedy: --repeat-penalty 1.5 --temp 0' 'dry: --dry-multiplier 1' 'none: --repeat-penalty 1.5 --repeat-last-n 0')
    marks() { sampl -n 4096 "$@" "${history[@]/#/--vs=}" -O json 2>notes | jq -r 'select(.of_the_draw) | .name' | paste -sd' '; }
    [ "$(marks -s 1 --rows :20 "$AUSTEN")" = 'penalties dry' ]
    grep -qx "sampl: note: the numbers of chains marked '\*' depend on the seed: in 'penalties', the outcome of penalties depends on earlier draws" notes
    [ -z "$(marks -s 1 --rows :1 "$AUSTEN")" ]
    [ -z "$(marks -s 1 --rows :20 --independent "$AUSTEN")" ]
    [ -z "$(marks -s 1 --rows :20 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN")" ]
    [ "$(marks -s 1 --rows 100:103 -t 2 "$AUSTEN")" = 'penalties dry' ]
    # the numbers of the others are those of each seed
    for seed in 1 2 3; do
        sampl -n 4096 -s $seed --rows :60 "$AUSTEN" "${history[@]/#/--vs=}" --columns kept,entropy 2>/dev/null | grep -v '\* ' >table.$seed
        [ "$(wc -l <table.$seed)" = 5 ]
    done
    cmp table.1 table.2
    cmp table.1 table.3
    # rows that name the token which follows them
    printf '%s\n' '{"logits":[1,2,1.5],"accept":1}' '{"logits":[1,2,1.5],"accept":2}' >rows.json
    [ "$(sampl -s 1 --vs '--repeat-penalty 2' rows.json -O json | jq .of_the_draw | paste -sd' ')" = 'false false' ]
}

@test "--against: kl is infinite where the row lacks a token of the base, even one whose probability is too small for a number" {
    local row
    printf '%s\n' '[0,-20,-9]' '[0,-9,-20]' >rows.json
    printf '%s\n' '[0,-9,-20]' '[0,null,-9]' >other.json
    for row in 0 1; do
        [ "$(sampl -s 1 --samplers 'top_k;temperature' --top-k 2 --temp .01 rows.json --against other.json --rows $row -O json --columns kl,kl_inf |
            tail -n 1 | jq -c '[.kl, .kl_inf]')" = '[null,1]' ]
    done
    # probabilities of two chains whose kept tokens are equal: the token of a probability of 0 adds nothing
    [ "$(sampl -s 1 --samplers temperature --temp .01 rows.json --against rows.json -O json --columns kl,kl_inf | tail -n 1 | jq -c '[.kl, .kl_inf]')" = '[0,0]' ]
}

@test "--against: the texts name the second file without its folders; other formats name its path" {
    mkdir -p folder/base
    head -c 81920 "$AUSTEN" | tee folder/second.f16 folder/base/base >first.f16
    names() { sampl -n 4096 -s 1 "$@" 2>/dev/null first.f16 | awk '$1 != "name" { print $1 }' | paste -sd' '; }
    [ "$(names --against folder/second.f16)" = 'base second.f16' ]
    [ "$(names -f f16 --against folder/base/base)" = 'base folder/base/base' ]
    [ "$(names --against folder/second.f16 -O tsv)" = 'base folder/second.f16' ]
    [ "$(sampl -n 4096 -s 1 --against folder/second.f16 first.f16 -O json | jq -r .name | paste -sd' ')" = 'base folder/second.f16' ]
    sampl -n 4096 -s 1 --against folder/second.f16 --rows 0 --dump-probs=1 first.f16 >text
    [[ $(sed -n 2p text) =~ ^' '+id' '+base' '+second.f16$ ]]
    sampl -n 4096 -s 1 --against folder/second.f16 --rows 0 --dump-probs=1 -O json first.f16 | jq -e 'has("folder/second.f16") or (tostring | contains("folder/second.f16"))' >/dev/null
}

@test "--against: of rows of two widths, only the ids that both have are compared" {
    need_numpy
    /usr/bin/python3 -c '
import numpy as np
x = np.random.default_rng(9).normal(0, 2, (9, 60)).astype("<f4")
np.save("wide.npy", x)
np.save("cut.npy", x[:, :50])
np.save("narrow.npy", np.flip(x[:, :50], 0))'
    sampl -s 1 --neutral cut.npy --against narrow.npy -O json | jq -c 'del(.name)' >want
    sampl -s 1 --neutral wide.npy --against narrow.npy -O json 2>note | jq -c 'del(.name)' | cmp - want
    [ "$(cat note)" = 'sampl: note: --against: row 0 has 60 and 50 tokens; only the ids that both have are compared' ]
    sampl -s 1 --neutral -t 2 wide.npy --against narrow.npy -O json 2>note | jq -c 'del(.name)' | cmp - want
    [ "$(sampl -s 1 --top-k 5 cut.npy --against wide.npy -O json 2>note | jq -c '[.overlap, .js, .kl]' | tail -n 1)" = '[1,0,0]' ]
}

@test "one row has no errors" {
    sampl -s 1 --vs '--temp 2' -O json <<<'[1,2,3]' | tail -n 1 >line
    jq -s -e '.[0] | .rows == 1 and .e_prob > 0 and .e_prob_se == null and .e_prob_diff_se == null and .same_se == null' line
}

@test "the table has the same numbers for any threads, tier and output format" {
    local args=(-n 4096 -s 3 "$AUSTEN" --vs '--temp 1.5' --vs '--top-k 0 --top-p 1 --min-p 0' --vs '--engine ollama')
    sampl "${args[@]}" -O json >want
    sampl "${args[@]}" -O json -t 3 | cmp - want
    SAMPL_CPU=scalar sampl "${args[@]}" -O json | cmp - want
    sampl "${args[@]}" --vs '--mirostat 2' -O json -t 1 >want # a chain with state: each variant on one thread
    sampl "${args[@]}" --vs '--mirostat 2' -O json -t 2 | cmp - want
    sampl "${args[@]}" --vs '--mirostat 2' -O json -t 5 | cmp - want
    sampl "${args[@]}" --vs '--mirostat 2' -O tsv | tail -n +2 | cut -f 1,3,9,11 >columns
    jq -r '[.name, .kept, .same, .js] | @tsv' want | awk -F '\t' 'NR == FNR { a[NR] = $4; next } (a[FNR] - $4) ^ 2 > 1e-20 { exit 1 }' - columns
    sampl "${args[@]}" >text
    [ "$(wc -l <text)" -eq 5 ] || [ "$(wc -l <text)" -eq 4 ]
    [ "$(tail -n 4 text | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
}

@test "the table's text form has the standard error of each share" {
    sampl -n 4096 -s 3 "$AUSTEN" --vs '--temp 1.5' -O json | tail -n 1 >line
    sampl -n 4096 -s 3 "$AUSTEN" --vs '--temp 1.5' | tail -n 1 >text
    perl -e 'my ($x) = map { sprintf "%.3f +-%.3f", $_, sqrt($_ * (1 - $_) / 255) } @ARGV; exit(index(<STDIN>, $x) < 0)' \
        "$(jq .same line)" <text
}

@test "the sentences below a table are true: chains that remove more and lose no more, the chain below a rate, and silence" {
    need python3
    /usr/bin/python3 "$ROOT/tests/verdict.py" "$SAMPL" $((600 / STEP)) "$START"
    # On the sample they are those of sampl-compare(7), and columns of one's own have none.
    local args=(-n 4096 -s 1 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" --neutral --vs 'min-p: --preset min-p' --vs 'chat: --preset chat')
    sampl "${args[@]}" | tail -n 4 >text
    [ "$(sed -n 3p text)" = 'neither is better: choose a rate (--most-lost)' ]
    sampl "${args[@]}" --columns lost,gain | tail -n 1 | grep -q '^chat  *0.008'
    sampl "${args[@]:0:4}" "$AUSTEN" --neutral --vs 'min-p: --preset min-p' --vs 'chat: --preset chat' 2>/dev/null | tail -n 1 | grep -q '^chat\* '
    # Programs get the answer to --most-lost as a note.
    sampl "${args[@]}" --most-lost .05 -O json 2>note | diff - <(sampl "${args[@]}" -O json)
    grep -qx 'sampl: note: --most-lost .05: chat removes 22 % .* at most [0-9.]* %' note
}

@test "--columns chooses and orders the columns of text, tsv, json and pages" {
    local args=(-n 4096 -s 1 --rows :9 --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" --neutral --vs '--temp 1.5' --vs 'x: --xtc-probability .5')
    sampl "${args[@]}" -O json 2>/dev/null | jq -r '[.name, .options, .gain_diff_se // "nan", .kept, .lost] | @tsv' >want
    sampl "${args[@]}" --columns gain_diff_se,kept,lost -O tsv 2>/dev/null >got
    [ "$(head -n 1 got | tr '\t' ' ')" = 'name options gain_diff_se kept lost' ]
    tail -n +2 got | diff - want
    sampl "${args[@]}" --columns lost,kept -O json 2>/dev/null | head -n 1 | jq -e '(. | keys_unsorted) == ["name", "options", "swept", "lost", "kept"]'
    sampl "${args[@]}" --columns kept,gain_diff,lost 2>/dev/null >text
    [ "$(head -n 1 text | tr -s ' ')" = 'name kept gain_diff lost' ]
    tail -n 1 text | grep -q '^x\* .*+-.* .*+-.* .*+-[0-9.]*$'
    sampl "${args[@]}" --columns lost,kept_se -O html 2>/dev/null | grep -o '<th scope="col">[a-z_]*' | tail -n 3 | sed 's/.*>//' | paste -sd' ' | diff - <(echo chain lost kept_se)
    # Without --columns text has the columns that tell which chain to take, and with all the others behind them.
    sampl "${args[@]}" 2>/dev/null | head -n 1 | tr -s ' ' | grep -qx 'name lost gain gain_diff kept entropy'
    sampl "${args[@]}" --columns all 2>/dev/null | head -n 1 | tr -s ' ' | grep -q '^name lost gain gain_diff kept entropy e_prob'
    sampl "${args[@]}" --columns all -O tsv 2>/dev/null | diff - <(sampl "${args[@]}" -O tsv 2>/dev/null)
    sampl -n 4096 -s 1 --rows :3 "$AUSTEN" --vs '--temp 1.5' | head -n 1 | tr -s ' ' | grep -qx 'name overlap same kept entropy'
}
