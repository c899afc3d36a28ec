#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The completions in zsh and fish. options.bats has those of bash.
load helper

# Makes a user's preset, and adds the program to the path.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p config/sampl/presets
    echo '--top-k 3' >config/sampl/presets/my-own.preset
    export XDG_CONFIG_HOME=$PWD/config PATH=${SAMPL%/*}:$PATH
}

# zsh_offers LINE: prints the completions for the end of the line, sorted. A zsh on a pseudo-terminal writes what its completion adds to the
# file `offered`. Keys are sent after the prompt; before it, the terminal would delete the line at ^U.
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
    # A zsh on a busy machine sometimes waits for its child forever, or has no completions yet.
    for _ in 1 2 3 4 5; do
        rm -f offered
        timeout 60 zsh -f ask "$ROOT/completions" "$1" && [ -s offered ] && break
    done
    sort -u offered | sed '/^$/d' | paste -sd ' '
}

# fish_offers LINE: prints the completions for the end of the line that begin with it, sorted. fish 4 offers others behind them, which only have
# its letters.
fish_offers() {
    local word=${1##* }
    # shellcheck disable=SC2016 # fish's variables
    fish --no-config -c 'source $argv[1]; complete -C $argv[2]' -- "$ROOT/completions/sampl.fish" "$1" | cut -f 1 | tr -d '\134' |
        word=${word//\\/} awk 'index($0, ENVIRON["word"]) == 1' | sort | paste -sd ' '
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
