#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A new sampler needs one file in src/samplers/ and one line in its list, and no other change of the program. The suite names the tests that
# it then lacks.
load helper

# build_with_toy: builds a copy of the tree with one more sampler, from the objects that exist.
build_with_toy() {
    copy_tree
    cat >tree/src/samplers/toy.c <<'EOF'
// SPDX-License-Identifier: MIT
// toy: drops the n best candidates.
#include "sample/sampler.h"

struct toy_params {
    int32_t n;
    float unused;
    bool really;
};

static const struct param params[] = {
    {"toy-drop", "drop the N best", INT_AT(toy_params, n), RANGE(0, 99), .def = 1, .metavar = "N", CLAMPED(0, 7)},
    {"toy-number", "no effect", FLOAT_AT(toy_params, unused), FINITE, .def = 0.5f, .metavar = "X", .server = "toyish"},
    {"toy-really", "do it", FLAG_AT(toy_params, really)},
    {NULL},
};

static bool enabled(const struct stage *stage)
{
    return ((const struct toy_params *)stage->params)->really;
}

static void apply(void *self, struct cand *c, const struct stage *stage)
{
    const size_t n = (size_t)((const struct toy_params *)stage->params)->n;
    cand_sort(c);
    if (n < c->n)
        cand_drop_first(c, n);
}

const struct sampler sampler_toy = {
    .name = "toy", .aliases = "plaything", .letter = 'b', .heading = "Toys", PARAMS(params, toy_params), .enabled = enabled, .apply = apply};
EOF
    # The line declares toy to the files that include the list, and only list.c uses it: the others keep their objects.
    echo 'SAMPLER(toy)' >>tree/src/samplers/list.def
    touch -r "$ROOT/src/samplers/list.def" tree/src/samplers/list.def
    touch tree/src/samplers/list.c
    build_tree
}

@test "a new sampler of one file and one line runs, has its options in --help and completes; a name or letter of another is refused" {
    ! nm -D "$SAMPL" | grep -qE '__[atm]san_' || return 0 # the copy is built without sanitizers
    build_with_toy
    local toy=tree/build/sampl
    row() { printf '{"logits":[5,4,3,2]%s}\n' "$1"; }
    [ "$(row '' | $toy -s 1 --temp 0 --samplers 'toy;temperature' --toy-really)" = 1 ]
    [ "$(row '' | $toy -s 1 --temp 0 --samplers 'Play-Thing=3;temperature' --toy-really=true)" = 3 ]
    [ "$(row '' | $toy -s 1 --temp 0 --sampler-seq bt --toy_drop 2 --toy-really)" = 2 ]
    [ "$(row '' | $toy -s 1 --temp 0 --samplers 'toy;temperature')" = 0 ]
    [ "$(row ',"params":{"toy_drop":2,"toy_really":true,"toyish":1,"samplers":"bt"}' | $toy -s 1 --temp 0)" = 2 ]
    run -1 $toy -s 1 < <(row ',"params":{"toy_really":1}')
    [[ $output == *'toy_really is not true or false' ]]
    run -2 $toy --toy-drop 100
    [ "$output" = "sampl: --toy-drop: '100' is not a whole number from 0 to 99" ]
    run -0 $toy --help=all
    [[ $output == *$'\nToys:\n'*'--toy-drop N '*'drop the N best (1)'*'--toy-number X'*'(0.5)'*'--toy-really '*'do it'* ]]
    run -0 $toy -s 1 --samplers toy --print-chain
    [[ $output == *'toy          off  toy-drop=1 toy-number=0.5 toy-really=false'* ]]
    run -0 $toy -s 1 --samplers toy --print-chain=server
    [[ $output == *'"toy_drop":1,"toyish":0.5,"toy_really":false'* ]]
    for shell in bash zsh fish; do
        $toy --generate=$shell | grep -q toy-drop
    done
    run -2 $toy --samplers '?'
    [[ $output == *', toy'* ]]
    run -0 $toy --engine ollama --print-chain
    run -2 $toy --engine ollama --toy-drop 1
    [ "$output" = 'sampl: --toy-drop: engine ollama has no stage for it' ]
    # A name or a letter that is taken is refused at the start, and both samplers are named.
    local edit text source=tree/src/samplers/toy.c
    cp $source toy.c
    while IFS=$'\t' read -r edit text; do
        sed "$edit" toy.c >$source
        build_tree
        run -2 $toy --version
        [ "$output" = "sampl: samplers/list.def: samplers $text" ]
    done < <(few 1 <<-'END'
		s/.letter = 'b'/.letter = 'k'/	top_k and toy both have the letter 'k'
		s/.name = "toy"/.name = "topk"/	top_k and topk both have the name 'topk'
		s/"plaything"/"plaything,temp"/	temperature and toy both have the name 'temp'
	END
    )
    cp toy.c $source
    build_tree
    # The suite notices that the new sampler has no second implementation. Its samplers are those of the completions.
    need_numpy
    run -1 /usr/bin/python3 "$ROOT/tests/missing.py" $toy
    local place want=()
    for place in tests/vectors/cases.py tests/vectors/port.py 'tests/unit/oracle.h and parity.c' tests/lists.py; do
        want+=("$place: there is nothing of sampler toy")
    done
    [ "$output" = "$(printf '%s\n' "${want[@]}")" ]
    sed -i 's/.heading = "Toys",/& .in_llama = LLAMA_LACKS,/' tree/src/samplers/toy.c
    build_tree
    run -1 /usr/bin/python3 "$ROOT/tests/missing.py" $toy
    [ "${lines[-1]}" = 'tests/foreign.bats: there is nothing of sampler toy' ]
}

@test "every sampler has its second implementations and its tests" {
    need_numpy
    run -0 /usr/bin/python3 "$ROOT/tests/missing.py" "$SAMPL"
}

# In f32, a weight and its quotient by the sum are 0 below 2^-150; quotients near this are left out.
@test "typ_p warns of exactly the rows in which a probability is 0, also of wide ones and after other stages" {
    need_numpy
    /usr/bin/python3 - "$SAMPL" "$((START + 1))" <<-'END'
		import subprocess, sys
		import numpy as np
		rng, told = np.random.default_rng(int(sys.argv[2])), {False: 0, True: 0}
		for turn in range(120):
		    n, temp = int(rng.choice([3, 40, 5000])), float(rng.choice([1, 0.5, 2]))
		    x = rng.normal(0, 2, n).astype("<f4")
		    x[rng.integers(n)] = np.float32(x.max() - temp * rng.choice([60, 79.9, 80.1, 95, 100, 108, 140]))
		    y = (x / np.float32(temp)).astype(np.float64)
		    weight = np.exp(y - y.max()).min()
		    least = weight / np.exp(y - y.max()).sum()
		    if any(abs(np.log2(v) + 150) < 0.2 for v in (weight, least)):
		        continue
		    zero = bool(min(weight, least) < 2.0**-150)
		    words = ["-f", "f32", "-n", str(n), "-s", "1", "--samplers", "temperature;typ_p", "--temp", str(temp), "--typical", "0.9"]
		    err = subprocess.run([sys.argv[1], *words], input=x.tobytes(), capture_output=True, check=True).stderr
		    assert (b"typ_p meets candidates of probability 0" in err) == zero, (n, temp, y.max() - y.min(), zero)
		    told[zero] += 1
		assert min(told.values()) > 20, told
	END
}
