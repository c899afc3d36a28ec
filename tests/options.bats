#!/usr/bin/env bats
# The command line: spelling of options, --print-chain, values that switch samplers off, seeds, --accept, completions.

# Each test is a subshell; its variables end with it.
# shellcheck disable=SC2030,SC2031

load helper

# BUSY: options that switch every sampler on.
# shellcheck disable=SC2054
BUSY=(-s 11 --prompt-tokens 304,404,568,304,404 --repeat-penalty 1.1 --dry-multiplier 0.8 --dry-allowed-length 1 --dry-breaker-tokens 13 --top-nsigma 1.5
    --top-k 60 --typical 0.98 --top-p 0.97 --min-p 0.02 --xtc-probability 0.5 --xtc-threshold 0.05 --scatter-strength 0.2 --temp 0.9)

@test "-- ends options" {
    head -c 8192 "$AUSTEN" >--top-k=1
    cp -- --top-k=1 -s
    sampl -f f16 -n 4096 -s 1 --dump-probs -- --top-k=1 -s >dashes
    sampl -f f16 -n 4096 -s 1 --dump-probs ./--top-k=1 ./-s >dots
    same dashes dots
    [ "$(grep -c ^row dashes)" -eq 2 ]
    head -c 8192 "$AUSTEN" >--
    sampl -f f16 -n 4096 -s 1 -- -- >ids
    [ "$(wc -l <ids)" -eq 1 ]
}

@test "--print-chain=server prints values of single stages and breakers that a request can hold" {
    local vocab="$ROOT/samples/austen.gguf"
    sampl -s 5 --samplers 'top_k=7;temperature=1.5' --print-chain=server | grep -F '"top_k":7' | grep -qF '"temperature":1.5'
    sampl -s 5 --samplers 'temperature=2;temperature=2' --print-chain=server | grep -qF '"temperature":2'
    sampl -s 5 --mirostat 2 --samplers 'temperature=2;temperature=3' --print-chain=server | grep -qF '"temperature":0.8'
    sampl -s 5 --vocab "$vocab" --dry-multiplier 1 --dry-sequence-breaker '\\n"' --dry-sequence-breaker '\n' --print-chain=server >body
    grep -qF '"dry_sequence_breakers":["\\n\"","\n"]' body
    sampl -s 5 --dry-breaker-tokens 5 --dry-sequence-breaker none --print-chain=server >body # DRY is off
    run ! grep -q breakers body
}

# chains: prints the options of chains that --print-chain must reproduce, one chain a line.
chains() {
    cat <<-'END'

		--temp 0
		--top-k 5 --top-p 0.5 --min-p 0.2 --temp 1.7
		--samplers "temperature=1.5;min_p=0.1;temperature=0.7"
		--samplers "top_k=9;top_k=4;typ_p=0.5" --typical 0.9
		--sampler-seq ktp --top-k 12
		--samplers "" -l 304+2.25 -l 404-inf -l 304-0.125
		--repeat-penalty 1.3 --repeat-last-n 7 --presence-penalty 0.2 --frequency-penalty -0.1
		--samplers "penalties=1.5;penalties;top_k" --presence-penalty 1
		--dry-multiplier 0.9 --dry-base 1.5 --dry-allowed-length 1 --dry-penalty-last-n -1 --dry-breaker-tokens 13,14 --dry-breaker-tokens 304
		--dry-multiplier 0.9 --dry-allowed-length 1 --dry-sequence-breaker none
		--dry-multiplier 0.9 --dry-allowed-length 1 --dry-sequence-breaker "a 'b'" --dry-sequence-breaker "#" --dry-sequence-breaker "\""
		--xtc-probability 0.5 --xtc-threshold 0.07 --min-keep 3
		--mirostat 1 --mirostat-lr 0.2 --mirostat-ent 3.5
		--mirostat 2 --mirostat-ent 2 --temp 1.3
		--samplers "top_k;adaptive_p" --adaptive-target 0.3 --adaptive-decay 0.7
		--samplers "top_k;adaptive_p=0.5"
		--scatter-adaptive --scatter-strength 0.14 --scatter-absorption 0.3 --scatter-absorption-last-n 12 --scatter-k 20 --scatter-collision 0.5
		--samplers "scatter=0.3;scatter=0.1;temp" --scatter-radius 1.1 --scatter-steps 3
		--dynatemp-range 0.6 --dynatemp-exp 0.5 --top-nsigma 1.1
		--temp 0.1 --temp 0.30000001 --top-p 0.33333334 --min-p 1e-7
		--samplers "top_k;greedy"
	END
}

@test "--print-chain=preset and =json: the printed chain, given as options or preset, makes the same dump" {
    n=0
    while IFS= read -r line; do
        eval "args=(-s 77 --prompt-tokens @$ROOT/samples/austen.prompt $line)"
        dump 24 "${args[@]}" >want 2>messages
        sampl "${args[@]}" --print-chain=preset >flags 2>/dev/null
        eval "set -- $(cat flags)"
        dump 24 --prompt-tokens "@$ROOT/samples/austen.prompt" "$@" >got 2>messages.got
        same got want
        diff <(grep -v ' note: ' messages.got) <(grep -v ' note: ' messages) # the same warnings
        dump 24 --prompt-tokens "@$ROOT/samples/austen.prompt" --samplers top_k=2 --temp 9 --engine batch --preset ./flags >got 2>/dev/null
        same got want
        sampl "$@" --print-chain=preset 2>/dev/null | cmp - flags
        sampl "${args[@]}" --print-chain=json >chain.json 2>/dev/null
        dump 24 --prompt-tokens "@$ROOT/samples/austen.prompt" --preset chain.json >got 2>/dev/null
        same got want
        cksum <want >>sums
        n=$((n + 1))
    done < <(chains | few 8)
    enough "$n" 20
    enough "$(sort -u sums | wc -l)" 18 # the dumps differ, except where breakers are texts, which match nothing
}

@test "--print-chain=llama: the printed flags make the same dump" {
    while IFS= read -r line; do
        eval "args=(-s 77 --prompt-tokens @$ROOT/samples/austen.prompt $line)"
        sampl "${args[@]}" --print-chain=llama >flags 2>/dev/null || continue
        eval "dump 24 -s 77 --prompt-tokens @$ROOT/samples/austen.prompt $(cat flags)" >got 2>/dev/null
        dump 24 "${args[@]}" >want 2>/dev/null
        same got want
        echo >>said
    done < <(chains)
    [ "$(wc -l <said)" -ge 10 ]
}

@test "--print-chain names the origin of each value: preset, model or command line" {
    printf -- '--top-k 3 --seed 9' >./p
    gguf model=s:gpt2 tokens=a:a,b,c general.sampling.top_p=x:060000000000003f >advice.gguf
    sampl --vocab advice.gguf --preset ./p --temp 0.5 --samplers 'top_k;top_p;min_p=0.3;temperature;xtc' --print-chain >chain
    grep -qx 'seed 9 (preset)' chain
    grep -qE '^top_k +on +top-k=3 \(preset\)$' chain
    grep -qE '^top_p +on +top-p=0.5 \(model\) min-keep=0$' chain
    grep -qE '^min_p +on +min-p=0.3 \(command line\) min-keep=0$' chain
    grep -qE '^temperature +on +temp=0.5 \(command line\) dynatemp-range=0 dynatemp-exp=1$' chain
    grep -qE '^xtc +off +xtc-probability=0 xtc-threshold=0.1 min-keep=0$' chain
    sampl --vocab advice.gguf --preset ./p --temp 0.5 --print-chain=json | grep -qF '"from":{"seed":"preset","top-k":"preset","top-p":"model","temp":"command line"}}'
}

@test "--samplers NAME=VALUE: a sampler may come twice with different values" {
    same_dump -s 6 --samplers 'temperature=1.5;top_p=0.5;temperature=0.7' = -s 6 --samplers 'Temp=1.5;nucleus=.5;temp' --temp 0.7
    other_dump -s 6 --samplers 'temperature=1.5;top_p=0.5;temperature=0.7' = -s 6 --samplers 'temperature;top_p=0.5;temperature' --temp 0.7
    other_dump -s 6 --samplers 'temperature=1.5;top_p=0.5;temperature=0.7' = -s 6 --samplers 'temperature=0.7;top_p=0.5;temperature=1.5'
    same_dump -s 6 --samplers 'temperature=4;temperature=0.125' = -s 6 --samplers 'temperature=0.5' # powers of two divide exactly
    same_dump -s 6 --samplers 'top_k=30;top_k=4;top_k=9' = -s 6 --samplers top_k=4
    same_dump -s 6 --samplers 'top_k=7' --top-k 3 = -s 6 --samplers top_k --top-k 7
    # The other parameters of a stage come from the options, in any order.
    same_dump -s 6 --samplers 'penalties=1.3' --frequency-penalty 0.4 --repeat-last-n 5 = -s 6 --repeat-penalty 1.3 --samplers penalties --frequency-penalty 0.4 --repeat-last-n 5
    # Each stage has a history of its own.
    other_dump -s 6 --samplers 'penalties=1.3;penalties=1.2' --prompt-tokens 304 = -s 6 --samplers 'penalties=1.3' --prompt-tokens 304
}

# switches_off SAMPLER OPTION...: checks that these options give the dump of the chain without the sampler. Checks that without these
# options the sampler changes the dump.
ALL='penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;scatter;temperature'
switches_off() {
    local sampler=$1 chain=";$ALL;"
    shift
    chain=${chain/";$sampler;"/;}
    chain=${chain#;}
    chain=${chain%;}
    same_dump "${BUSY[@]}" --samplers "$ALL" "$@" = "${BUSY[@]}" --samplers "$chain" || return 1
    same_dump -s 5 --top-k 300 --top-p 1 --samplers "$ALL" "$@" = -s 5 --top-k 300 --top-p 1 --samplers "$chain" || return 1
    dump 48 "${BUSY[@]}" --samplers "$chain" >without
    dump 48 "${BUSY[@]}" --samplers "$ALL" >with
    run -1 cmp -s with without
}

@test "--top-k 0 and below switch top_k off" {
    switches_off top_k --top-k 0
    switches_off top_k --top-k -1
}
@test "--top-p 1 switches top_p off" { switches_off top_p --top-p 1; }
@test "--top-p 1.5 switches top_p off" { switches_off top_p --top-p 1.5; }
@test "--min-p 0 switches min_p off" { switches_off min_p --min-p 0; }
@test "--min-p -1 switches min_p off" { switches_off min_p --min-p -1; }
@test "--typical 1 switches typ_p off" { switches_off typ_p --typical 1; }
@test "--top-nsigma -1 switches top_n_sigma off" { switches_off top_n_sigma --top-nsigma -1; }
@test "--top-nsigma 0 switches top_n_sigma off" { switches_off top_n_sigma --top-nsigma 0; }
@test "--xtc-probability 0 switches xtc off" { switches_off xtc --xtc-probability 0; }
@test "--xtc-threshold 0.6 switches xtc off" { switches_off xtc --xtc-threshold 0.6 --xtc-probability 1; }
@test "--temp 1 switches temperature off" { switches_off temperature --temp 1; }
@test "--repeat-penalty 1 with presence and frequency penalties 0 switches penalties off" {
    switches_off penalties --repeat-penalty 1 --presence-penalty 0 --frequency-penalty 0
}
@test "--repeat-last-n 0 switches penalties off" { switches_off penalties --repeat-last-n 0 --repeat-penalty 2 --presence-penalty 1 --frequency-penalty 1; }
@test "--dry-multiplier 0 switches dry off" { switches_off dry --dry-multiplier 0; }
@test "--dry-penalty-last-n 0 switches dry off" { switches_off dry --dry-penalty-last-n 0 --dry-multiplier 1; }
@test "--scatter-strength 0 and below switch scatter off" {
    switches_off scatter --scatter-strength 0
    switches_off scatter --scatter-strength -0.5
}
@test "--scatter-strength below 0 counts as 0, also with --scatter-adaptive" {
    local args=("${BUSY[@]}" --scatter-adaptive --scatter-strength-max 1 --scatter-entropy-target 0.9)
    same_dump "${args[@]}" --scatter-strength -3 = "${args[@]}" --scatter-strength 0
    same_dump "${BUSY[@]}" --scatter-absorption 0.5 --scatter-strength -3 = "${BUSY[@]}" --scatter-absorption 0.5 --scatter-strength 0
}
@test "--scatter-k 1 switches scatter off" { switches_off scatter --scatter-k 1 --scatter-strength 0.5; }
@test "--scatter-k 0 and below switch scatter off" {
    switches_off scatter --scatter-k 0 --scatter-strength 0.5
    switches_off scatter --scatter-k -1 --scatter-strength 0.5
}
@test "--scatter-radius 0 switches scatter off" { switches_off scatter --scatter-radius 0 --scatter-strength 0.5; }
@test "--scatter-steps 0 switches scatter off" { switches_off scatter --scatter-steps 0 --scatter-strength 0.5; }
@test "--scatter-collision 0 and below switch scatter off" {
    switches_off scatter --scatter-collision 0 --scatter-strength 0.5
    switches_off scatter --scatter-collision -1 --scatter-strength 0.5
}

@test "--dynatemp-range 0 and below give the plain temperature" {
    same_dump "${BUSY[@]}" --dynatemp-range 0 --dynatemp-exp 3 = "${BUSY[@]}"
    same_dump "${BUSY[@]}" --dynatemp-range -0.5 = "${BUSY[@]}"
    other_dump "${BUSY[@]}" --dynatemp-range 0.5 = "${BUSY[@]}"
}

@test "--scatter-absorption 0, a bias of 0, --min-keep 0 and --mirostat 0 change nothing" {
    same_dump "${BUSY[@]}" --scatter-absorption 0 --scatter-absorption-last-n 3 = "${BUSY[@]}"
    other_dump "${BUSY[@]}" --scatter-absorption 0.5 = "${BUSY[@]}"
    same_dump "${BUSY[@]}" --scatter-absorption 0.5 --scatter-absorption-last-n 0 = "${BUSY[@]}"
    same_dump "${BUSY[@]}" -l 304+0 = "${BUSY[@]}"
    other_dump "${BUSY[@]}" -l 304+1 = "${BUSY[@]}"
    same_dump "${BUSY[@]}" --min-keep 0 = "${BUSY[@]}"
    other_dump "${BUSY[@]}" --min-keep 9 = "${BUSY[@]}"
    same_dump "${BUSY[@]}" --mirostat 0 --mirostat-ent 2 --mirostat-lr 1 = "${BUSY[@]}"
    other_dump "${BUSY[@]}" --mirostat 2 = "${BUSY[@]}"
}

@test "--adaptive-target below 0 draws as without adaptive_p" {
    for seed in 1 2 3; do
        sampl -n 4096 -s $seed --samplers 'top_k;temperature' "$AUSTEN" >plain
        for target in -1 -0.1; do
            sampl -n 4096 -s $seed --samplers 'top_k;temperature;adaptive_p' --adaptive-target=$target "$AUSTEN" >ids
            same ids plain
        done
        sampl -n 4096 -s $seed --samplers 'top_k;temperature;adaptive_p' --adaptive-target 0.2 "$AUSTEN" >ids
        run -1 cmp -s ids plain
    done
}

@test "--seed: a run with the same seed repeats, a run with another seed differs" {
    for args in '' '--mirostat 1' '--mirostat 2' '--xtc-probability 0.5' '--samplers top_k;adaptive_p --adaptive-target 0.3' '--scatter-strength 0.3 --scatter-collision 0.5'; do
        # shellcheck disable=SC2086
        for seed in 0 0 1 4294967294; do sampl -n 4096 -s $seed $args "$AUSTEN" >>all; done
        split -l 256 -a 1 all run.
        same run.a run.b
        run -1 cmp -s run.a run.c
        run -1 cmp -s run.c run.d
        rm all
    done
}

@test "--seed -1, --seed 4294967295 and no seed make a random seed" {
    for args in '' '-s -1' '-s 4294967295' '--seed=-1' '-s 1 -s -1'; do
        # shellcheck disable=SC2086
        sampl -n 4096 $args "$AUSTEN" >a
        # shellcheck disable=SC2086
        sampl -n 4096 $args "$AUSTEN" >b
        [ "$(wc -l <a)" -eq 256 ]
        run -1 cmp -s a b
    done
    sampl -n 4096 --temp 0 "$AUSTEN" >a # greedy chains need no seed
    sampl -n 4096 --temp 0 "$AUSTEN" >b
    same a b
}

@test "--independent: each row is sampled as a run of its own, with seed + row number" {
    args=(--prompt-tokens "@$ROOT/samples/austen.prompt" --repeat-penalty 1.2 --dry-multiplier 0.8 --dry-allowed-length 1 --dry-breaker-tokens 13
        --xtc-probability 0.5 --scatter-strength 0.2 --scatter-collision 0.5 --scatter-absorption 0.2 --dump-probs -O tsv)
    for more in '' '--mirostat 1' '--mirostat 2 --mirostat-lr 1' '--samplers penalties;top_k;xtc;adaptive_p --adaptive-target 0.3'; do
        # shellcheck disable=SC2086
        sampl -n 4096 -s 1000 --independent "${args[@]}" $more "$AUSTEN" >all
        for row in 0 1 7 100 254 255; do
            tail -c +$((row * 8192 + 1)) "$AUSTEN" | head -c 8192 >row.f16
            # shellcheck disable=SC2086
            sampl -n 4096 -s $((1000 + row)) "${args[@]}" $more row.f16 | cut -f 2- >want
            awk -F'\t' -v r=$row 'NR == 1 || $1 == r' all | cut -f 2- >got
            same got want
            # shellcheck disable=SC2086
            sampl -n 4096 -s 1000 --independent --rows $row:$((row + 1)) "${args[@]}" $more "$AUSTEN" | cut -f 2- >got
            same got want
        done
    done
    sampl -n 4096 -s 1000 "${args[@]}" "$AUSTEN" >together
    run -1 cmp -s all together
    # The sum of seed and row number wraps at 2^32.
    tail -c +$((7 * 8192 + 1)) "$AUSTEN" | head -c 8192 >row.f16
    sampl -n 4096 -s 4 "${args[@]}" row.f16 | cut -f 2- >want
    sampl -n 4096 -s 4294967293 --independent --rows 7:8 "${args[@]}" "$AUSTEN" | cut -f 2- >got
    same got want
}

@test "--accept makes recorded tokens the history of each row" {
    args=(-n 4096 -s 21 --prompt-tokens "@$ROOT/samples/austen.prompt" --repeat-penalty 1.3 --dry-multiplier 0.8 --dry-allowed-length 1 --dry-breaker-tokens 13
        --scatter-absorption 0.2)
    sampl "${args[@]}" "$AUSTEN" >ids
    sampl "${args[@]}" --dump-probs -O tsv "$AUSTEN" >want
    sampl "${args[@]}" --dump-probs -O tsv --accept @ids "$AUSTEN" | cut -f 1-8 >got # accepting the run's own ids changes nothing
    same got want
    sampl "${args[@]}" --dump-probs -O tsv --accept "$(tr '\n' ',' <ids)" "$AUSTEN" | cut -f 1-8 >got
    same got want
    # With other tokens, a row equals a run over this row alone whose prompt ends with the tokens before the row.
    sampl "${args[@]}" --dump-probs -O tsv --accept "@$ROOT/samples/austen.tokens" "$AUSTEN" | cut -f 1-6 >all
    run -1 cmp -s all <(cut -f 1-6 want)
    for row in 0 1 9 100 255; do
        tr -s ', \n' '\n' <"$ROOT/samples/austen.tokens" | head -$row | cat "$ROOT/samples/austen.prompt" - >before
        tail -c +$((row * 8192 + 1)) "$AUSTEN" | head -c 8192 >row.f16
        sampl "${args[@]}" --prompt-tokens @before --dump-probs -O tsv row.f16 | cut -f 2-6 >want
        awk -F'\t' -v r=$row 'NR == 1 || $1 == r' all | cut -f 2- >got
        same got want
        sampl "${args[@]}" --accept "@$ROOT/samples/austen.tokens" --rows $row:$((row + 1)) --dump-probs -O tsv "$AUSTEN" | cut -f 2-6 >got
        same got want
    done
    # The first row without a token is an error.
    run -1 --separate-stderr sampl "${args[@]}" --accept 5,6 "$AUSTEN"
    [ "${#lines[@]}" -eq 2 ]
}

@test "completions/ has the output of --generate, and each shell parses it" {
    for pair in 'bash sampl.bash' 'zsh _sampl' 'fish sampl.fish'; do
        read -r shell file <<<"$pair"
        sampl --generate="$shell" >got
        same got "$ROOT/completions/$file"
    done
    bash -n "$ROOT/completions/sampl.bash"
    if command -v zsh >/dev/null; then zsh -n "$ROOT/completions/_sampl"; fi
    if command -v fish >/dev/null; then fish -n "$ROOT/completions/sampl.fish"; fi
}

@test "--help lists the common options in 71 lines, --help=all every option, both in 80 columns" {
    sampl --help | grep -oE '^ +(-[a-zA-Z]+, )?--[a-z0-9-]+' | sort >common
    sampl --help=all | grep -oE '^ +(-[a-zA-Z]+, )?--[a-z0-9-]+' | sort >all
    [ -z "$(comm -23 common all)" ]
    for option in vs sweep expect against top-p temp dry-multiplier output-format threads; do grep -q -- "--$option\$" common; done
    comm -13 common all | tr -d ' ' >rare
    for option in tolerance after top-a tfs skew dry-base scatter-k; do grep -qx -- "--$option" rare; done
    [ "$(sampl --help | wc -l)" -le 71 ]
    sampl --help | grep -q ',html,'
    run ! grep -E '.{81}' <(sampl --help; sampl --help=all)
    sampl -h | cmp - <(sampl --help=all --help)
}

@test "--help=WHAT prints a group of options, the options of a sampler, or one option" {
    sampl --help=all >all
    for group in input samplers scatter output comparing other; do
        sampl --help=$group | grep -oE '^ +(-[a-zA-Z]+, )?--[a-z0-9-]+.*' >got
        [ -s got ]
        run ! grep -vxFf all got
        cat got
    done >groups
    [ "$(wc -l <groups)" -gt 100 ]
    [ "$(sampl --help=comparing | head -2 | tail -1)" = "Comparing and checking chains:" ]
    [ "$(sampl --help=dry | grep -c '^ *--dry-')" -eq 4 ]
    [ "$(sampl --help=top_k)" = "$(sampl --help=--top-k)" ]
    [ "$(sampl --help=-jf)" = "$(sampl --help=json-schema-file)" ]
    sampl --help=top-k | grep -q '^ *--top-k K '
    sampl --help=seed | grep -q '^  -s, --seed N '
    [ "$(sampl --help=mirostat | grep -c '^ *--mirostat')" -eq 3 ]
    # the name of every sampler is a WHAT, also if the sampler has no options
    sampl --generate=json | jq -r '.samplers[] | select(.internal | not).name' >names
    [ "$(wc -l <names)" -gt 25 ]
    while read -r name; do [ -n "$(sampl --help="$name")" ]; done <names
    [ "$(sampl --help=infill)" = 'infill has no options of its own.' ]
}

@test "--help explains every column of the comparison table and of --emit stats" {
    need jq
    sampl -n 4096 -s 1 --rows :3 --accept "@$ROOT/samples/austen.tokens" --scatter-strength .1 --vs chat -O json "$AUSTEN" >table
    sampl -n 4096 -s 1 --rows :3 --accept "@$ROOT/samples/austen.tokens" --against "$AUSTEN" -O json "$AUSTEN" >>table
    jq -r 'keys_unsorted[]' table | sort -u | grep -vxE 'name|options|swept|of_the_draw' >names
    grep -qx gain_diff_se names
    sampl -n 4096 -s 1 --rows :1 --accept "@$ROOT/samples/austen.tokens" --against "$AUSTEN" --scatter-strength .1 --emit stats -O json "$AUSTEN" |
        jq -r 'keys_unsorted[]' | grep -vxE 'row|id|seq|file|file_row|variant' >>names
    [ "$(wc -l <names)" -gt 90 ]
    while read -r name; do
        sampl --help="$name" >got
        grep -q "^  $name " got || { echo "$name:"; cat got; return 1; }
    done <names
    sampl --help=gain_diff_se | grep -q "^  gain  *(--accept) fraction of the model"
    [ "$(sampl --help=entropy | grep -c '^  entropy ')" -eq 2 ]
}

@test "completions/ has exactly the options of --help=all" {
    sampl --help=all | perl -ne 'print "$_\n" for /^(?:  -\w+, |      )((?:--[\w-]+(?:, )?)+)/ ? split /, /, $1 : ()' | sort >help
    [ "$(wc -l <help)" -ge 70 ]
    [ "$(uniq -d help | wc -l)" -eq 0 ]
    grep -qx -- --top-n-sigma help
    run ! grep -q generate help
    sed -n "s/.*compgen -W ' \(--format[^']*\)'.*/\1/p" "$ROOT/completions/sampl.bash" | tr ' ' '\n' | sort >bash
    same bash help
    sed -nE "s/^ +'\*?(--[a-z0-9-]*[a-z])=?-?\[.*/\1/p" "$ROOT/completions/_sampl" | sort >zsh
    same zsh help
    sed -nE 's/^complete -c sampl -l ([a-z0-9-]+) .*/--\1/p' "$ROOT/completions/sampl.fish" | sort >fish
    same fish help
    # short options
    sampl --help=all | sed -nE 's/^  (-[a-zA-Z]+), .*/\1/p' | sort >help
    sed -nE "s/^ +'\*?(-[a-zA-Z]+)\+?\[.*/\1/p" "$ROOT/completions/_sampl" | sort >zsh
    same zsh help
    sed -nE 's/^complete -c sampl -l [a-z0-9-]+ -[so] ([a-zA-Z]+) .*/-\1/p' "$ROOT/completions/sampl.fish" | sort >fish
    same fish help
}

# complete_with WORD...: prints the completions that bash offers for the last word.
complete_with() {
    COMP_WORDS=(sampl "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _sampl
    echo "${COMPREPLY[*]}"
}

@test "bash completes options, choices, samplers and presets" {
    compopt() { :; } # a builtin that needs a completion of bash
    # shellcheck source=/dev/null
    source "$ROOT/completions/sampl.bash"
    complete -p sampl | grep -q -- '-F _sampl'
    [ "$(complete_with --top-n)" = "--top-nsigma --top-n-sigma" ]
    [ "$(complete_with -n 4096 --see)" = "--seed" ]
    [ "$(complete_with --nothing)" = "" ]
    [ "$(complete_with --format js)" = "json" ]
    [ "$(complete_with --samplers gre)" = "greedy" ]
    [ "$(complete_with --samplers "'top_k;dry;gre")" = "top_k;dry;greedy" ] # bash keeps the open quote
    [ "$(complete_with -f b)" = "bf16" ]
    [ "$(complete_with -O t)" = "text tsv" ]
    [ "$(complete_with --temp '')" = "" ]
    [ "$(complete_with rows.f32)" = "" ]
    mkdir -p config/sampl/presets
    export XDG_CONFIG_HOME=$PWD/config
    echo '--top-k 3' >config/sampl/presets/my-own.preset
    [ "$(complete_with --preset my)" = "my-own" ]
    # Bash passes --opt=VALUE as three words.
    [ "$(complete_with --format = js)" = "json" ]
    [ "$(complete_with --print-chain = ll)" = "llama" ]
}

@test "a flag with =false switches off the flag of a preset" {
    echo '--ignore-eos --scatter-adaptive' >all.preset
    run -2 sampl --preset ./all.preset --print-chain
    [ "$output" = 'sampl: --ignore-eos needs --vocab' ]
    run -0 sampl -s 1 --preset ./all.preset --ignore-eos=false --scatter-adaptive=false --print-chain
    [[ $output == *scatter*off*scatter-adaptive=false* ]]
}

@test "--help prints the help although other options are wrong" {
    run -0 sampl -j BAD --accept @missing --prompt-tokens x --grammar '(' --samplers '?' --help
    [[ $output == usage:* ]]
}

@test "a short option's value may follow without a space, and the last of two -o holds" {
    sampl -n 4096 -s 1 --rows :3 -o first -o second "$AUSTEN"
    [ ! -e first ]
    [ "$(wc -l <second)" -eq 3 ]
    sampl -n4096 -s1 --rows :1 -opt "$AUSTEN"
    [ -s pt ]
}

@test "--generate=json describes every option and sampler, with hints for sliders inside of the ranges" {
    need jq
    sampl --generate=json >table
    sampl --help=all | grep -oE '^ +(-[a-zA-Z]+, )?--[a-z0-9-]+' | sed 's/.*--//' | sort -u >help
    jq -r '.options[].flag' table | sort | cmp - help
    # each number of a chain has a slider within the accepted range; its default is accepted
    jq -e '[.options[] | select(.slider) | .slider.low < .slider.high and .slider.low >= .low and .slider.high <= .high and .slider.step > 0 and
        (.slider.scale != "log" or .slider.low > 0)] | length > 40 and all' table
    jq -e '[.options[] | select(.heading != null and (.type == "float")) | has("slider")] | all' table
    # it can show its default, unless that is an off value below the range
    jq -e '[.options[] | select(.slider) | (.default | tonumber) as $d | $d <= 0 or (.slider.low <= $d and $d <= .slider.high)] | all' table
    jq -r '.samplers[] | select(.off != null) | "\(.name) --\(.params[0])=\(.off)"' table >off
    [ "$(wc -l <off)" -ge 15 ]
    while read -r name option; do
        sampl -n 3 --samplers "$name" "$option" --print-chain=json | jq -e --arg name "$name" '[.chain[] | select(.name == $name) | .enabled == false] == [true]' ||
            { echo "$name is on with $option"; return 1; }
    done <off
    jq -e '.options[] | select(.flag == "vs") | .repeats and .type == "text"' table
    # an engine's stages and options, a row's parameters, and the columns
    jq -e '[.samplers[] | select(.state and (.internal | not)).name] == ["xtc", "scatter", "adaptive_p"]' table
    jq -e '(.samplers | map(.name)) as $all | [.engines[].stages[].name] - $all == []' table
    jq -e '(.options | map(.flag)) as $all | [.engines[] | .options[], (.defaults | keys[]), (.ranges | keys[])] - $all == []' table
    jq -e '(.options | map(.flag)) as $all | [.params[].option // empty] - $all == []' table
    jq -e '[.columns[] | (.name, .help) | length > 0] | all' table
    jq -e '.options[] | select(.flag == "top-k") | .type == "int" and .default == "40" and .slider.scale == "log"' table
}
