#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The completions as the shells themselves run them. What bash does with its own is in options.bats.
load helper

# A user with a preset of his own, and the program on the path.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p config/sampl/presets
    echo '--top-k 3' >config/sampl/presets/my-own.preset
    export XDG_CONFIG_HOME=$PWD/config PATH=${SAMPL%/*}:$PATH
}

# zsh_offers LINE: the words for the end of the line, sorted. A zsh at a terminal of its own notes what its completion adds. Its prompt comes
# when it reads keys; before, the terminal would take the line back at ^U.
zsh_offers() {
    cat >ask <<'END'
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i +m"
zpty -w shell "PS1=\$'re\x61dy>' PS2= ; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word
compadd() { local -a o; builtin compadd -O o \"\$@\"; print -rl -- \$o >>offered; builtin compadd \"\$@\" }"
zpty -r shell line '*ready>*'
zpty -w -n shell "$2"$'\t'
zpty -w shell $'\C-u'"print DONE\${:-1}"
zpty -r shell line '*DONE1*'
END
    # now and then a zsh on a busy machine waits for its own child forever, or has nothing to offer yet
    for _ in 1 2 3 4 5; do
        rm -f offered
        timeout 60 zsh -f ask "$ROOT/completions" "$1" && [ -s offered ] && break
    done
    sort -u offered | sed '/^$/d' | paste -sd ' '
}

fish_offers() {
    # shellcheck disable=SC2016 # fish's variables
    fish --no-config -c 'source $argv[1]; complete -C $argv[2]' -- "$ROOT/completions/sampl.fish" "$1" | cut -f 1 | sort | paste -sd ' '
}

@test "zsh completes options, choices, samplers and presets" {
    need zsh
    [ "$(zsh_offers 'sampl --top-n')" = '--top-n-sigma --top-nsigma' ]
    [ "$(zsh_offers 'sampl --print-chain=')" = 'json llama preset server text' ]
    [ "$(zsh_offers 'sampl --samplers tem')" = temperature ]
    [ "$(zsh_offers "sampl --samplers 'top_k;tem")" = temperature ]
    [ "$(zsh_offers 'sampl --preset my-')" = my-own ]
    : >rows.f32
    [ "$(zsh_offers 'sampl -s 1 ro')" = rows.f32 ]
}

@test "fish completes options, choices, samplers and presets" {
    need fish
    [ "$(fish_offers 'sampl --top-n')" = '--top-n-sigma --top-nsigma' ]
    [ "$(fish_offers 'sampl --print-chain=ll')" = --print-chain=llama ]
    [ "$(fish_offers 'sampl --samplers infi')" = infill ]
    [ "$(fish_offers 'sampl --samplers top_k\;infi')" != '' ]
    [ "$(fish_offers 'sampl --preset my-')" = my-own ]
}
