#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# npm.sh SAMPL TARBALL: tests the npm package, which it installs in an empty folder: cases of the suite, files, pipes, signals, and the
# interface for programs. Outputs must be those of SAMPL. `make check-npm` runs this script. In the environment: EACH=10 runs each tenth case.
set -eu -o pipefail
cd "$(dirname "$0")/.."
root=$PWD here=$PWD/$1 tarball=$PWD/$2 scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MAKELEVEL SAMPL_CPU NO_COLOR COLUMNS
export LC_ALL=C.UTF-8 XDG_CONFIG_HOME=/nonexistent npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
sampl=$scratch/empty/node_modules/.bin/sampl austen=$root/samples/austen.f16 run='-n 4096 -s 1' passed=0 failed=0

# check NAME...: calls the functions, each in a new folder, and counts whether they succeed.
check() {
    local name
    for name in "$@"; do
        mkdir "$scratch/$name"
        if (cd "$scratch/$name" && bash -eu -o pipefail -c "$(declare -f expected refuses await has_file "$name"); $name") >"$scratch/log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf 'FAILED: %s\n' "$name"
            head -n 40 "$scratch/log"
        fi
    done
}

# expected OPTION...: prints what SAMPL prints for the rows of the sample.
# shellcheck disable=SC2086
expected() {
    "$here" $run "$@" "$austen"
}

# refuses COMMAND...: succeeds if the command fails.
refuses() {
    if "$@"; then return 1; fi
}

# await COMMAND...: waits until the command succeeds.
await() {
    until "$@"; do sleep 0.05; done
}

has_file() {
    compgen -G "$1" >/dev/null
}

# ---- the package

package_has_its_files() {
    tar -tzf "$tarball" | sed 's,^package/,,' | LC_ALL=C sort >got
    {
        printf '%s\n' LICENSE README.md cli.js explorer.html index.d.ts index.js package.json run.js sampl.wasm worker.js
        (cd "$root" && printf '%s\n' man/*.[157])
    } | LC_ALL=C sort | diff - got
    [ "$(stat -c %s "$tarball")" -le 1700000 ]
    tar -xzOf "$tarball" package/package.json >json
    jq -e '.dependencies == null and .version == $v' --arg v "$("$here" --version | sed -n '1s/sampl //p')" json
    jq -r '.man[]' json | LC_ALL=C sort | diff <(cd "$root" && printf '%s\n' man/*.[157] | LC_ALL=C sort) -
}

version_names_the_build() {
    "$sampl" --version >got 2>err
    [ ! -s err ]
    diff <("$here" --version | sed 's/^SIMD tier.*/SIMD tier simd128 (of scalar simd128)/; s/^build native$/build wasm/') got
}

npx_runs_the_tarball() {
    cp "$tarball" .
    npx -y "./${tarball##*/}" --print-chain=preset -s 1 >got
    "$here" --print-chain=preset -s 1 | diff - got
}

# shellcheck disable=SC2086
threads_are_refused_in_words() {
    "$sampl" -v $run -t 2 "$austen" 2>err | cmp - <(expected)
    grep -qx 'sampl: note: one thread: the system lets the program use one core' err
}

# Signs such as ± come in UTF-8 only.
# shellcheck disable=SC2086
locales() {
    local locale
    for locale in C POSIX C.UTF-8; do
        LC_ALL=$locale "$sampl" $run --rows :4 --vs '--temp 1' "$austen" | cmp - <(LC_ALL=$locale expected --rows :4 --vs '--temp 1')
    done
    LC_ALL='' LC_CTYPE='' LANG=C "$sampl" $run --rows :4 --vs '--temp 1' "$austen" | grep -q '+-'
    LC_ALL='' LC_CTYPE=C.UTF-8 LANG=C "$sampl" $run --rows :4 --vs '--temp 1' "$austen" | grep -q '±'
}

# ---- files

# shellcheck disable=SC2086
paths() {
    mkdir -p a/b
    cp "$austen" a
    cd a/b
    for name in ../austen.f16 ./../../a/austen.f16 "$PWD/../austen.f16" //"$PWD"/../austen.f16; do
        "$sampl" $run "$name" | cmp - <(expected)
    done
    "$sampl" $run -f f16 /dev/stdin <"$austen" | cmp - <(expected)
    # shellcheck disable=SC2002
    cat "$austen" | "$sampl" $run -f f16 /dev/stdin | cmp - <(expected)
    "$sampl" $run -f f16 --rows -3: <"$austen" | cmp - <(expected --rows -3:)
    (head -c 8192 >/dev/null && "$sampl" $run -f f16 --temp 0 --rows 200:202) <"$austen" | cmp - <(expected --temp 0 --rows 201:203)
    refuses "$sampl" $run .. 2>err
    [ "$(cat err)" = "sampl: ..: cannot read: Is a directory" ]
    mkdir -p x/sampl/presets
    echo '--top-k 1' >x/sampl/presets/own.preset
    XDG_CONFIG_HOME=$PWD/x "$sampl" --list-presets | grep -q '^own'
}

# shellcheck disable=SC2086
output_files() {
    umask 027
    "$sampl" $run "$austen" -o new && expected | cmp - new
    [ "$(stat -c %a new)" = 640 ]
    echo old >old && chmod 604 old && ln -s old link
    refuses "$sampl" $run -n 4095 "$austen" -o old
    [ "$(cat old)" = old ]
    "$sampl" $run "$austen" -o link && expected | cmp - old
    [ -L link ] && [ "$(stat -c %a old)" = 604 ]
    [ "$(ls -A)" = $'link\nnew\nold' ]
    refuses "$sampl" $run "$austen" -o none/x 2>err
    [ "$(cat err)" = "sampl: none/x: cannot create: No such file or directory" ]
    "$sampl" $run "$austen" -o /dev/null
    { "$sampl" $run --rows :2 "$austen" && "$sampl" $run --rows 2:4 "$austen"; } >three
    "$sampl" $run --rows 4:6 "$austen" >>three
    { expected --rows :2 && expected --rows 2:4 && expected --rows 4:6; } | cmp - three
    # the header of npy states the number of rows, which is known at the end
    # shellcheck disable=SC2002
    cat "$austen" | "$sampl" $run -f f16 -O npy --emit logits >rows.npy && expected -O npy --emit logits | cmp - rows.npy
    refuses "$sampl" $run -f f16 -O npy --emit logits - < <(cat "$austen") >>rows.npy
}

# A file of 5 GB, of which the first and the last row, and those at 4 GB, are read.
# shellcheck disable=SC2086
large_files() {
    truncate -s 5G rows.f16
    dd if="$austen" of=rows.f16 bs=8192 seek=524287 count=3 conv=notrunc status=none
    dd if="$austen" of=rows.f16 bs=8192 seek=655360 count=2 conv=notrunc status=none
    for rows in 0,524287:524290 -1 -2: 655361; do
        "$sampl" -n 4096 --temp 0 --rows $rows rows.f16 >got
        "$here" -n 4096 --temp 0 --rows $rows rows.f16 | diff - got
        "$sampl" -n 4096 -f f16 --temp 0 --rows $rows <rows.f16 | diff - got
    done
}

# ---- pipes and signals

# shellcheck disable=SC2086
slow_pipes() {
    local i
    mkfifo rows
    "$sampl" -s 1 <rows >got &
    exec 3>rows
    for i in 1 2 3; do
        echo '[1, 3, 2]' >&3
        while [ "$(wc -l <got)" -lt "$i" ]; do sleep 0.05; done # the id comes before the next row
    done
    exec 3>&-
    wait $!
}

# shellcheck disable=SC2086
closed_pipes() {
    { "$sampl" -n 4096 "$austen" -O json --trace && echo $? >status; } 2>err | head -n 1 | grep -q '^{'
    [ ! -s err ] && [ "$(cat status)" = 0 ]
}

# Descriptors that do not wait: reads and writes are repeated.
# shellcheck disable=SC2086
descriptors_that_do_not_wait() {
    cat >run.py <<'end'
import os, subprocess, sys, time
stdin, feed = os.pipe()
drain, stdout = os.pipe()
os.set_blocking(stdin, False)
os.set_blocking(stdout, False)
p = subprocess.Popen(sys.argv[2:], stdin=stdin, stdout=stdout)
os.close(stdin)
os.close(stdout)
if os.fork() == 0:
    os.close(drain)
    with open(sys.argv[1], "rb") as rows, os.fdopen(feed, "wb") as to:
        while part := rows.read(500000):
            time.sleep(0.2)
            to.write(part)
    os._exit(0)
os.close(feed)
time.sleep(1)
with os.fdopen(drain, "rb") as f:
    sys.stdout.buffer.write(f.read())
sys.exit(p.wait())
end
    python3 run.py "$austen" "$sampl" $run -f f16 -O json --trace - | cmp - <(expected -O json --trace)
}

# shellcheck disable=SC2086
signals_remove_unfinished_files() {
    local signal status
    mkfifo rows
    for signal in INT TERM HUP; do
        status=0
        "$sampl" $run -f f16 -o out <rows &
        exec 3>rows
        head -c 8192 "$austen" >&3
        await has_file '.out.*'
        kill -s $signal $!
        wait $! || status=$?
        exec 3>&-
        [ "$(kill -l $status)" = $signal ]
        [ "$(ls -A)" = rows ]
    done
}

# In copies of the package, the calls of the system throw, or the program is cut short.
# shellcheck disable=SC2086
failures_have_a_status_and_leave_no_file() {
    local status=0
    cp -r "$scratch/empty/node_modules/sampl" copy
    sed -i 's/^    fd_write: (fd, list, n, got) => {/& if (fd > 3) throw new Error("no call");/' copy/worker.js
    node copy/cli.js $run "$austen" -o out 2>err || status=$?
    [ "$status $(cat err)" = "70 sampl: the program ended: no call" ]
    status=0
    truncate -s 1000 copy/sampl.wasm
    node copy/cli.js --version 2>err || status=$?
    [ "$status" = 70 ] && grep -q '^sampl: the program ended: ' err
    [ "$(ls -A)" = $'copy\nerr' ]
}

# Colours, and the width of a window, if standard output is a terminal.
# shellcheck disable=SC2086
terminals() {
    python3 "$root/tests/terminal.py" run 50 -- "$sampl" $run --rows :1 --trace "$austen" >got
    python3 "$root/tests/terminal.py" run 50 -- "$here" $run --rows :1 --trace "$austen" | diff - got
}

programs_import_it() {
    cp "$root/tests/npm.mjs" .
    ln -s "$scratch/empty/node_modules" .
    "$here" --version | sed -n '1s/sampl //p' >version
    expected >ids
    node npm.mjs "$root"
}

mkdir "$scratch/empty"
(cd "$scratch/empty" && npm install --silent "$tarball")
export root here tarball scratch sampl austen run
check package_has_its_files version_names_the_build npx_runs_the_tarball threads_are_refused_in_words locales paths output_files large_files \
    slow_pipes closed_pipes descriptors_that_do_not_wait signals_remove_unfinished_files failures_have_a_status_and_leave_no_file \
    terminals programs_import_it
begun=$SECONDS
SAMPL=$sampl SAMPL_TEST_CASES=${EACH:-1} tests/run.sh cases || failed=$((failed + 1))
echo "the npm package: $passed checks passed, $failed failed; cases of tests/*.test (EACH=${EACH:-1}) took $((SECONDS - begun)) s" |
    tee build/npm/result
[ "$failed" -eq 0 ]
