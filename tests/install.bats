#!/usr/bin/env bats
# make install, make uninstall, and the presets of the installed program.

load helper

# Builds the program with another folder for presets. With the objects of the default build, this compiles one file.
# shellcheck disable=SC2046 # folders have names without blanks
setup_file() {
    mkdir "$BATS_FILE_TMPDIR/build"
    tar -C "$ROOT/build" -c flags main.o $(cd "$ROOT/src" && printf '%s\n' */) 2>/dev/null | tar -C "$BATS_FILE_TMPDIR/build" -x || :
    make -s -j2 -C "$ROOT" BUILD="$BATS_FILE_TMPDIR/build" PREFIX="$BATS_FILE_TMPDIR/usr" SAN= "$BATS_FILE_TMPDIR/build/sampl" >&2
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    BUILT=$BATS_FILE_TMPDIR
}

# make_target TARGET ARGUMENT...: runs make with the program that setup_file built.
make_target() {
    make -s -C "$ROOT" BUILD="$BUILT/build" PREFIX="$BUILT/usr" SAN= "$@" >messages 2>&1 || { cat messages; return 1; }
}

# expected_files: prints the files that install must write below a prefix, one path a line.
expected_files() {
    {
        printf '%s\n' bin/sampl share/bash-completion/completions/sampl share/fish/vendor_completions.d/sampl.fish share/man/man1/sampl.1 \
            share/man/man5/sampl-formats.5 share/man/man5/sampl-input.5 share/man/man5/sampl-output.5 share/man/man5/sampl-presets.5 share/man/man7/sampl-compare.7 share/man/man7/sampl-cookbook.7 share/man/man7/sampl-engines.7 share/man/man7/sampl-samplers.7 share/man/man7/sampl-spec.7 share/man/man7/sampl-tuning.7 share/zsh/site-functions/_sampl \
            share/doc/sampl/LICENSE
        [ ! -e "$ROOT/build/explorer.html" ] || echo share/doc/sampl/explorer.html
        (cd "$ROOT/samples/presets" && printf 'share/sampl/presets/%s\n' *.preset)
        (cd "$ROOT/samples" && find . -maxdepth 1 -type f -printf 'share/sampl/samples/%P\n')
        (cd "$ROOT/samples" && printf 'share/sampl/samples/%s\n' audit/* ci/* get/* lib/* live/* scale/* tune/* vectors/*)
    } | grep -v '/__pycache__$' | sort
}

@test "make install writes exactly the expected files below DESTDIR" {
    make_target install DESTDIR="$PWD/root"
    (cd "root$BUILT/usr" && find . -type f -printf '%P\n' | sort) >got
    expected_files >want
    [ "$(wc -l <want)" -ge 18 ]
    same got want
    [ "$(find root -type f | wc -l)" -eq "$(wc -l <want)" ] # nothing outside the prefix
    # Programs and scripts have mode 755, other files 644.
    (cd "$ROOT/samples" && printf '%s\n' "$BUILT/build/sampl" */*.sh audit/*.py get/*.py lib/*.py live/*.py vectors/*.py | sed 's,.*/,,; s/$/ 755/' | sort) >programs
    find root -type f -perm /111 -printf '%f %m\n' | sort >runnable
    same programs runnable
    [ "$(find root -type d ! -perm 755 | wc -l)" -eq 0 ]
    [ "$(find root -type f ! -perm 644 ! -path '*/bin/sampl' ! -path '*/samples/*.sh' ! -path '*/samples/*.py' | wc -l)" -eq 0 ]
    [ ! -e "$BUILT/usr" ]
    # The files have the contents of their sources.
    cd "root$BUILT/usr"
    same bin/sampl "$BUILT/build/sampl"
    same share/bash-completion/completions/sampl "$ROOT/completions/sampl.bash"
    same share/sampl/samples/austen.f16 "$AUSTEN"
    same share/sampl/presets/chat.preset "$ROOT/samples/presets/chat.preset"
}

@test "make uninstall removes exactly the files of make install" {
    mkdir -p "root$BUILT/usr/share/sampl/presets" "root$BUILT/usr/bin"
    echo '--top-k 3' >"root$BUILT/usr/share/sampl/presets/own.preset"
    echo other >"root$BUILT/usr/bin/other"
    make_target install DESTDIR="$PWD/root"
    make_target uninstall DESTDIR="$PWD/root"
    [ "$(find root -type f -printf '%f\n' | sort | tr '\n' ' ')" = "other own.preset " ]
    [ ! -e "root$BUILT/usr/share/sampl/samples" ]
    # The data folder is removed if it has no other files.
    rm "root$BUILT/usr/share/sampl/presets/own.preset"
    make_target install DESTDIR="$PWD/root"
    make_target uninstall DESTDIR="$PWD/root"
    [ "$(find root -type f -printf '%f\n')" = other ]
    [ ! -e "root$BUILT/usr/share/sampl" ]
    # Every folder except bin and share is removed. A second uninstall succeeds.
    [ "$(cd "root$BUILT/usr" && find . -mindepth 1 -type d -printf '%P\n' | sort | paste -sd ' ')" = 'bin share' ]
    make_target uninstall DESTDIR="$PWD/root"
}

@test "make install accepts bindir, mandir and the folders of completions" {
    make_target install DESTDIR="$PWD/root" PREFIX=/usr bindir=/b mandir=/m bashcompdir=/c/bash zshcompdir=/c/zsh fishcompdir=/c/fish
    for file in b/sampl m/man1/sampl.1 m/man7/sampl-samplers.7 c/bash/sampl c/zsh/_sampl c/fish/sampl.fish usr/share/sampl/presets/chat.preset; do
        [ -f "root/$file" ]
    done
    make_target uninstall DESTDIR="$PWD/root" PREFIX=/usr bindir=/b mandir=/m bashcompdir=/c/bash zshcompdir=/c/zsh fishcompdir=/c/fish
    [ "$(find root -type f | wc -l)" -eq 0 ]
    make_target "$BUILT/build/sampl" # compiles the default PREFIX again
}

@test "the installed program finds the installed presets" {
    make_target install
    installed=$BUILT/usr/bin/sampl
    "$installed" --list-presets >list
    (cd "$ROOT/samples/presets" && for file in *.preset; do printf '%s\t%s\n' "${file%.preset}" "$(sed -n '1s/^# //p' "$file")"; done) >want
    same list want
    while IFS=$'\t' read -r name _; do
        "$installed" -s 1 --preset "$name" --print-chain >got
        "$installed" -s 1 --preset "$ROOT/samples/presets/$name.preset" --print-chain | cmp - got
    done <want
    # Presets of the user override installed presets, and are listed first.
    mkdir -p config/sampl/presets
    printf '# mine\n--top-k 3\n' >config/sampl/presets/chat.preset
    XDG_CONFIG_HOME=$PWD/config "$installed" --list-presets | head -1 | cmp - <(printf 'chat\tmine\n')
    XDG_CONFIG_HOME=$PWD/config "$installed" -s 1 --preset chat --print-chain | sed "s/ ([a-z ]*)//" >got
    "$installed" -s 1 --top-k 3 --print-chain | sed "s/ ([a-z ]*)//" | cmp - got
    # without a configuration folder
    (unset XDG_CONFIG_HOME HOME; "$installed" --preset chat --print-chain >/dev/null)
    make_target uninstall
    [ "$(find "$BUILT/usr" -type f | wc -l)" -eq 0 ]
}

# shellcheck disable=SC2016 # make expands VERSION
@test "make knows the version that the program prints" {
    make -s -C "$ROOT" --eval='print-version:;@echo "sampl $(VERSION)"' print-version >got
    "$SAMPL" --version | head -1 >want
    same got want
}
