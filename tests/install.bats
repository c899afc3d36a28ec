#!/usr/bin/env bats
# make install and uninstall, and where the installed program finds its presets.

load helper

# The program as it is built by default, but with another folder for presets: of what is built already that recompiles one file.
# shellcheck disable=SC2046 # folders have plain names
setup_file() {
    mkdir "$BATS_FILE_TMPDIR/build"
    tar -C "$ROOT/build" -c flags main.o $(cd "$ROOT/src" && printf '%s\n' */) 2>/dev/null | tar -C "$BATS_FILE_TMPDIR/build" -x || :
    make -s -j2 -C "$ROOT" BUILD="$BATS_FILE_TMPDIR/build" PREFIX="$BATS_FILE_TMPDIR/usr" SAN= "$BATS_FILE_TMPDIR/build/sampl" >&2
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    BUILT=$BATS_FILE_TMPDIR
    unset MAKEFLAGS MAKELEVEL
}

# at TARGET ARGUMENT...: make with the program that setup_file built.
at() {
    make -s -C "$ROOT" BUILD="$BUILT/build" PREFIX="$BUILT/usr" SAN= "$@" >messages 2>&1 || { cat messages; return 1; }
}

# The files that install has to put below a prefix, one path a line.
expected() {
    {
        printf '%s\n' bin/sampl share/bash-completion/completions/sampl share/fish/vendor_completions.d/sampl.fish share/man/man1/sampl.1 \
            share/man/man5/sampl-formats.5 share/man/man7/sampl-engines.7 share/man/man7/sampl-samplers.7 share/man/man7/sampl-tuning.7 share/zsh/site-functions/_sampl \
            share/doc/sampl/LICENSE
        (cd "$ROOT/samples/presets" && printf 'share/sampl/presets/%s\n' *.preset)
        (cd "$ROOT/samples" && find . -maxdepth 1 -type f -printf 'share/sampl/samples/%P\n')
        (cd "$ROOT/samples" && printf 'share/sampl/samples/%s\n' scale/* get/*)
    } | sort
}

@test "install puts exactly its files, below DESTDIR" {
    at install DESTDIR="$PWD/root"
    (cd "root$BUILT/usr" && find . -type f -printf '%P\n' | sort) >got
    expected >want
    [ "$(wc -l <want)" -ge 18 ]
    same got want
    [ "$(find root -type f | wc -l)" -eq "$(wc -l <want)" ] # nothing outside the prefix
    # programs and nothing else can be run
    (cd "$ROOT/samples" && printf '%s\n' "$BUILT/build/sampl" scale/*.sh get/*.sh get/*.py | sed 's,.*/,,; s/$/ 755/' | sort) >programs
    find root -type f -perm /111 -printf '%f %m\n' | sort >runnable
    same programs runnable
    [ "$(find root -type d ! -perm 755 | wc -l)" -eq 0 ]
    [ "$(find root -type f ! -perm 644 ! -path '*/bin/sampl' ! -path '*/samples/*.sh' ! -path '*/samples/*.py' | wc -l)" -eq 0 ]
    [ ! -e "$BUILT/usr" ]
    # they are what they stand for
    cd "root$BUILT/usr"
    same bin/sampl "$BUILT/build/sampl"
    same share/bash-completion/completions/sampl "$ROOT/completions/sampl.bash"
    same share/sampl/samples/austen.f16 "$AUSTEN"
    same share/sampl/presets/chat.preset "$ROOT/samples/presets/chat.preset"
}

@test "uninstall removes exactly what install put" {
    mkdir -p "root$BUILT/usr/share/sampl/presets" "root$BUILT/usr/bin"
    echo '--top-k 3' >"root$BUILT/usr/share/sampl/presets/own.preset"
    echo other >"root$BUILT/usr/bin/other"
    at install DESTDIR="$PWD/root"
    at uninstall DESTDIR="$PWD/root"
    [ "$(find root -type f -printf '%f\n' | sort | tr '\n' ' ')" = "other own.preset " ]
    [ ! -e "root$BUILT/usr/share/sampl/samples" ]
    # with nothing of others in it the data folder goes too
    rm "root$BUILT/usr/share/sampl/presets/own.preset"
    at install DESTDIR="$PWD/root"
    at uninstall DESTDIR="$PWD/root"
    [ "$(find root -type f -printf '%f\n')" = other ]
    [ ! -e "root$BUILT/usr/share/sampl" ]
    # and every folder but the two that others count on; a second time there is nothing to do
    [ "$(cd "root$BUILT/usr" && find . -mindepth 1 -type d -printf '%P\n' | sort | paste -sd ' ')" = 'bin share' ]
    at uninstall DESTDIR="$PWD/root"
}

@test "the folders can be named one by one" {
    at install DESTDIR="$PWD/root" PREFIX=/usr bindir=/b mandir=/m bashcompdir=/c/bash zshcompdir=/c/zsh fishcompdir=/c/fish
    for file in b/sampl m/man1/sampl.1 m/man7/sampl-samplers.7 c/bash/sampl c/zsh/_sampl c/fish/sampl.fish usr/share/sampl/presets/chat.preset; do
        [ -f "root/$file" ]
    done
    at uninstall DESTDIR="$PWD/root" PREFIX=/usr bindir=/b mandir=/m bashcompdir=/c/bash zshcompdir=/c/zsh fishcompdir=/c/fish
    [ "$(find root -type f | wc -l)" -eq 0 ]
    at "$BUILT/build/sampl" # PREFIX=/usr was compiled in; take that back
}

@test "the installed program finds the installed presets" {
    at install
    installed=$BUILT/usr/bin/sampl
    "$installed" --list-presets >list
    (cd "$ROOT/samples/presets" && for file in *.preset; do printf '%s\t%s\n' "${file%.preset}" "$(sed -n '1s/^# //p' "$file")"; done) >want
    same list want
    while IFS=$'\t' read -r name _; do
        "$installed" -s 1 --preset "$name" --print-chain >got
        "$installed" -s 1 --preset "$ROOT/samples/presets/$name.preset" --print-chain | cmp - got
    done <want
    # the user's own go first, and are listed first
    mkdir -p config/sampl/presets
    printf '# mine\n--top-k 3\n' >config/sampl/presets/chat.preset
    XDG_CONFIG_HOME=$PWD/config "$installed" --list-presets | head -1 | cmp - <(printf 'chat\tmine\n')
    XDG_CONFIG_HOME=$PWD/config "$installed" -s 1 --preset chat --print-chain | sed "s/ ([a-z ]*)//" >got
    "$installed" -s 1 --top-k 3 --print-chain | sed "s/ ([a-z ]*)//" | cmp - got
    # and without a configuration folder
    (unset XDG_CONFIG_HOME HOME; "$installed" --preset chat --print-chain >/dev/null)
    at uninstall
    [ "$(find "$BUILT/usr" -type f | wc -l)" -eq 0 ]
}
