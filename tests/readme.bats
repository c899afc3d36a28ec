#!/usr/bin/env bats
# The README: the output of its commands, and its names of targets and options.

load helper

# block NAME: prints the README's fenced block that follows the comment <!-- NAME -->.
block() {
    awk -v mark="<!-- $1 -->" '$0 == mark { on = 1; next } on && /^```/ { if (open) exit; open = 1; next } on && open' "$ROOT/README.md"
}

@test "every command in the README's output blocks prints the output that the README shows" {
    cd "$ROOT"
    local shown=0 line name
    # every named block except the commands of demo and test
    # shellcheck disable=SC2013
    for name in $(sed -n 's/^<!-- \([a-z]*\) -->$/\1/p' README.md | grep -vx -e demo -e test); do
        block "$name" >"$BATS_TEST_TMPDIR/block"
        [ -s "$BATS_TEST_TMPDIR/block" ]
        while IFS= read -r line; do
            if [[ $line == '$ '* ]]; then
                printf '%s\n' "$line"
                line=${line#??}
                LC_ALL=C.UTF-8 bash -c "${line//build\/sampl/$SAMPL}" 2>&1 || true # --expect ends with status 4
                shown=$((shown + 1))
            fi
        done <"$BATS_TEST_TMPDIR/block" >"$BATS_TEST_TMPDIR/printed"
        same "$BATS_TEST_TMPDIR/block" "$BATS_TEST_TMPDIR/printed"
    done
    [ "$shown" -ge 5 ]
}

@test "the picture of a terminal shows what the README's trace prints" {
    need python3
    cd "$ROOT"
    /usr/bin/python3 tests/picture.py "$SAMPL" | same - man/pictures/trace.svg || { echo 'run make picture'; return 1; }
}

@test "make demo runs the README's first command" {
    cd "$ROOT"
    make -s -n demo | grep -F -- "-s 2 --emit text samples/austen-gen.f32"
    block output | grep -F -- "-s 2 --emit text samples/austen-gen.f32"
}

@test "the README's commands install libcjson-dev and bats" {
    block demo | grep -F 'libcjson-dev' | grep -F 'make demo'
    block test | grep -F 'bats' | grep -F 'make check'
}

@test "every make target that the README names exists" {
    local target
    grep -o 'make [a-z][a-z0-9-]*' "$ROOT/README.md" | awk '{ print $2 }' | sort -u >targets
    [ -s targets ]
    while read -r target; do
        grep -q "^$target:" "$ROOT/Makefile" "$ROOT/tests/tests.mk" || { echo "no target $target"; return 1; }
    done <targets
}

@test "every option that the README and the changes name exists" {
    local option
    sampl --help=all >help
    grep -oh -- '--[a-z][a-z-]*' "$ROOT/README.md" "$ROOT/packaging/CHANGES.md" | sort -u >options
    [ -s options ]
    while read -r option; do
        grep -q -- "$option" help || { echo "no option $option"; return 1; }
    done <options
}
