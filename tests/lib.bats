#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# libsampl: its functions, and its ids beside the program's.
load helper

# Builds the library, and links two programs with it.
setup_file() {
    export LC_ALL=C LIBSAMPL=$ROOT/build/libsampl.so.0 CC=${CC:-cc}
    mkdir -p "$ROOT/build"
    flock "$ROOT/build/lib.lock" make -s -j2 -C "$ROOT" lib BUILD=build SAN= >&2 # other files of steps may build it, too
    cd "$BATS_FILE_TMPDIR" || return 1
    "$CC" -O1 -std=c11 -D_GNU_SOURCE -Wall -Werror -I"$ROOT/src/lib" -o lib_check "$ROOT/tests/lib_check.c" "$LIBSAMPL" \
        -Wl,-rpath,"$ROOT/build" -pthread -lm >&2
    "$CC" -O1 -I"$ROOT/src/lib" -o embed "$ROOT/samples/lib/embed.c" "$LIBSAMPL" -Wl,-rpath,"$ROOT/build" >&2
    "$CC" -shared -fPIC -o inject.so "$ROOT/tests/inject.c" -ldl >&2
}

# check WORD...: runs lib_check.
check() {
    "$BATS_FILE_TMPDIR/lib_check" "$@"
}

# functions: prints the functions that the header declares.
functions() {
    sed -nE 's/^SAMPL_API .*\b(sampl_[a-z_]+)\(.*/\1/p' "$ROOT/src/lib/sampl.h" | sort
}

@test "libsampl has the 14 functions of its header, and no other symbol, in both files" {
    need nm
    functions >want
    [ "$(wc -l <want)" -eq 14 ]
    nm -D --defined-only "$LIBSAMPL" | awk '{ print $3 }' | sort | diff want -
    nm -g --defined-only "${LIBSAMPL%.so.0}.a" | awk 'NF == 3 { print $3 }' | sort | diff want -
    readelf -d "$LIBSAMPL" | grep -q 'SONAME.*\[libsampl.so.0\]'
    echo "# libsampl.so.0: $(size "$LIBSAMPL" | awk 'NR == 2 { print $1 + $2 + $3 }') bytes of code and data" >&3
    # No variable can be written, but for those of the C compiler's runtime.
    objdump -t "$LIBSAMPL" | awk '/ O \.(data|bss)\t/ { print $NF }' | sort >variables
    run grep -vxE '__dso_handle|__TMC_END__|completed\.[0-9]+' variables
    [ -s variables ] && [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "libsampl opens no file, prints nothing, and reads no environment" {
    need nm
    nm -D --undefined-only "$LIBSAMPL" | awk '{ sub(/@.*/, "", $2); print $2 }' >calls
    grep -qx malloc calls
    run grep -xE '_*(f?open(64|at)?|v?f?printf|puts|fputs|putchar|fwrite|perror|(secure_)?getenv|exit|_exit|abort|raise|signal|sigaction|setlocale|stdin|stdout|stderr|read|write|mmap)(_chk)?' calls
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "the samples of samples/lib print the program's ids of 256 rows, with penalties, DRY and XTC" {
    local chain=(--seed 11 --temp 0.9 --repeat-penalty 1.2 --repeat-last-n 64 --frequency-penalty 0.1 --dry-multiplier 3 --dry-allowed-length 1
        --dry-breaker-tokens 198 --xtc-probability 0.5 --xtc-threshold 0.05)
    sampl -n 4096 "${chain[@]}" "$AUSTEN" >want
    [ "$(wc -l <want)" -eq 256 ]
    "$ROOT/samples/lib/sampl.py" "$AUSTEN" 4096 "${chain[@]}" | diff want -
    "$BATS_FILE_TMPDIR/embed" 4096 "${chain[@]}" <"$AUSTEN" | cut -f 1 | diff want -
    # Each of the three samplers matters.
    for off in '--repeat-penalty 1 --frequency-penalty 0' '--dry-multiplier 0' '--xtc-probability 0'; do
        # shellcheck disable=SC2086
        ! sampl -n 4096 "${chain[@]}" $off "$AUSTEN" | cmp -s - want || { echo "$off"; return 1; }
    done
    [ "$(wc -l <"$ROOT/samples/lib/sampl.py")" -le 60 ]
    run "$ROOT/samples/lib/sampl.py" "$AUSTEN" 4096 --top-p x
    [[ $output == *"--top-p: 'x' is not a number"* ]]
    run -2 "$BATS_FILE_TMPDIR/embed" 4096 --top-p x
    [ "$output" = "embed: --top-p: 'x' is not a number" ]
}

@test "random chains, vocabularies, sequences, histories and parameters give the program's ids, kept tokens and errors" {
    run -0 env COUNT=$((4000 / STEP)) SEED=$((START + 1)) "$ROOT/tests/library.py"
    [[ $output == *' 0 failed' ]]
}

@test "each option of the chain works in the library, or opens a file or names values of a model" {
    local name brief type value n=0
    sampl --generate=json | /usr/bin/python3 -c '
import json, sys
for option in json.load(sys.stdin)["options"]:
    for name in [option["flag"], *option["aliases"]] if option["group"] == "chain" else []:
        print(name, option.get("short") or "-", option["type"], sep="\t")' >options
    [ "$(wc -l <options)" -gt 80 ]
    while IFS=$'\t' read -r name brief type; do
        value=1
        case $name in
        *-file | scatter-embeddings | scatter-metric | perf | no-perf | backend-sampling | gpt-oss-*)
            run -3 check once "--$name=1"
            [[ $output == *"opens no file"* || $output == *"is not an option of a chain"* ]] || { echo "$name: $output"; return 1; }
            continue
            ;;
        samplers) value=top_k ;;
        sampl*-seq) value=k ;;
        engine) value=vllm ;;
        logit-bias) value=1+1 ;;
        grammar) value='root ::= "t" [0-9]+' ;;
        json-schema) value='{}' ;;
        esac
        [ "$type" != flag ] || value=true
        # Values may be out of range, and rows may fail.
        check once "--$name=$value" --seed 1 >long 2>why || ! grep -E 'no option|not an option|opens no file' why || return 1
        n=$((n + 1))
        [ "$brief" != - ] || continue
        [ "$type" != flag ] || value=
        # shellcheck disable=SC2086
        check once "-$brief" ${value:+"$value"} --seed 1 >short 2>why_short || true
        cat long why >>both
        diff <(cat long why) <(cat short why_short)
    done <options
    [ "$n" -gt 75 ] && [ -s both ]
}

@test "lib_check: errors of words, params, rows, tokens and sequences" {
    check errors
}

@test "lib_check: chains in two threads choose the ids of one thread" {
    check threads
}

# inject.c counts the memory blocks in use. Some calls fail: the chain, its params, or the words.
@test "libsampl frees all its memory" {
    local words status=0
    for words in errors 'once --seed 1 --repeat-penalty 1.1' 'once --engine vllm' 'once --grammar x' 'once --temp x'; do
        # shellcheck disable=SC2086
        SAMPL_INJECT_LIVE=left LD_PRELOAD=$BATS_FILE_TMPDIR/inject.so check $words || status=$?
        [ "$status" -le 3 ] && [ "$(<left)" -eq 0 ] || { echo "$words: $(<left) blocks"; return 1; }
    done
}

# Each allocation fails once.
@test "out of memory is an error of each call, which frees all its memory" {
    local i status words=(once --seed 1 --grammar 'root ::= ("t" [0-9]+)+' --logit-bias '"t5"+2' --repeat-penalty 1.1 --dry-multiplier 0.5)
    export LD_PRELOAD=$BATS_FILE_TMPDIR/inject.so SAMPL_INJECT_LIVE=left
    check "${words[@]}" >good
    [ "$(wc -l <good)" -eq 3 ]
    for ((i = 1; ; i += i < 30 ? 1 : i == 30 ? STEP - START : STEP)); do
        rm -f reached
        status=0
        SAMPL_INJECT=memory:$i SAMPL_INJECT_LOG=reached check "${words[@]}" >got 2>why || status=$?
        [ -e reached ] || break
        case $status in
        0) diff good got ;;
        3) [[ $(<why) == ?('params: ')'out of memory' ]] ;;
        *) false ;;
        esac && [ "$(<left)" -eq 0 ] || { echo "memory:$i: status $status, $(<why), $(<left) blocks"; return 1; }
    done
    [ "$i" -gt 100 ]
}

@test "make install-lib and make uninstall: files, and a program built by pkg-config" {
    need pkg-config
    make -s -C "$ROOT" BUILD=build SAN= PREFIX=/usr DESTDIR="$PWD/root" install-lib >messages 2>&1 || { cat messages; return 1; }
    (cd root/usr && find . ! -type d -printf '%P %m\n' | sort) | diff - <(printf '%s\n' 'include/sampl.h 644' 'lib/libsampl.a 644' 'lib/libsampl.so 777' \
        'lib/libsampl.so.0 755' 'lib/pkgconfig/libsampl.pc 644' 'share/man/man3/sampl.3 644')
    export PKG_CONFIG_PATH=$PWD/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
    [ "$(pkg-config --modversion libsampl)" = "$(sampl --version | sed -n '1s/sampl //p')" ]
    sampl -s 1 -n 4096 "$AUSTEN" >want
    # shellcheck disable=SC2046
    "$CC" -o shared "$ROOT/samples/lib/embed.c" $(pkg-config --cflags --libs libsampl)
    LD_LIBRARY_PATH=$PWD/root/usr/lib ./shared 4096 -s 1 <"$AUSTEN" | cut -f 1 | diff want -
    # shellcheck disable=SC2046
    "$CC" -o static "$ROOT/samples/lib/embed.c" $(pkg-config --cflags libsampl) root/usr/lib/libsampl.a $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs libcjson) -lm
    ./static 4096 -s 1 <"$AUSTEN" | cut -f 1 | diff want -
    make -s -C "$ROOT" PREFIX=/usr DESTDIR="$PWD/root" uninstall
    [ -z "$(find root ! -type d)" ]
}
