#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tests besides `make check`. Each step has a short form for CI and a long form for `make check-long`. usage: all.sh short|long [STEP]
# Steps run in parallel. In the short form most steps take turns from commit to commit.
# A step writes build/steps/STEP.log, in which lines `ran: ...` name counts and seeds. At the end, prints a table of the steps with wall and
# processor seconds. In the environment: SEED; without it, the long form chooses a seed and prints it.
# shellcheck disable=SC2317 # the steps are called by their names
set -eu
cd "$(dirname "$0")/.."
here=tests/all.sh logs=build/steps
form=$1
# The hash of the commit decides which parts CI leaves out, so that later commits run them.
: "${SAMPL_TEST_TURN:=$((16#$(git rev-parse --short=7 HEAD)))}"
if [ "$form" = long ]; then : "${SEED:=$(($(date +%s) % 1000000))}"; else SEED=1; fi
export SAMPL_TEST_TURN SEED SAMPL_TEST_JOBS=1
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES

# pick SHORT LONG: prints the value for this form.
pick() {
    if [ "$form" = short ]; then echo "$1"; else echo "$2"; fi
}

# ran WORD...: prints a line for the summary.
ran() {
    echo "ran: $*"
}

# suite BUILD [FILE...]: runs the suite, or some of its files, on the program of the build.
suite() {
    SAMPL=$PWD/$1/sampl UNITS=$PWD/$1/unit tests/run.sh "${@:2}"
}

# ---- the steps, the longest first

# part N SHIFT: in the short form, prints which of N parts runs: the commit's hash and the shift decide. The long form runs all.
part() {
    pick $(((SAMPL_TEST_TURN + $2) % $1 + 1))/"$1" ''
}

# san_make TARGET...: builds with gcc's sanitizers. Two steps use the objects: one waits for the other.
san_make() {
    mkdir -p build
    flock build/san.lock make -s SAN=address,undefined WERROR=1 "$@"
}

# The README's two commands in a bare system: in the short form in one of three in turn, in the long form in each. testing changes daily: what
# fails there is reported. Where no such system can be made, the README's second command runs here, without its packages.
fresh() {
    local system systems=(trixie bookworm testing) status
    if [ "$form" = short ]; then systems=("${systems[SAMPL_TEST_TURN % 3]}"); fi
    for system in "${systems[@]}"; do
        status=0
        tests/fresh.sh "$system" || status=$?
        case $status:$system in
        0:*) ran "README's two commands in a bare $system" ;;
        77:*)
            SAMPL_TEST_STEP='' make -s check
            ran "NOT in a bare $system: $(tail -n 1 build/fresh/"$system".log); README's second command here"
            ;;
        *:testing) ran "README's commands in a bare testing: FAILED (reported only)" ;;
        *) return 1 ;;
        esac
    done
}

# In the short form each compiler's sanitizers run a sixteenth of the tests, not the same one, and a twentieth of the cases of many tests.
gcc_sanitizers() {
    san_make all units
    SAMPL_TEST_DOCUMENTS=no SAMPL_TEST_STEP=$(pick 20 1) SAMPL_TEST_PART=$(part 16 0) suite build/san
    ran "gcc's sanitizers: $(pick "part $(part 16 0) of the tests, step 20" 'all tests, step 1')"
}

# fuzz_build: builds with clang's sanitizers. One build serves three steps: the others wait for it.
fuzz_build() {
    mkdir -p build
    flock build/fuzz.lock make -s fuzz-build WERROR=1
}

# clang detects more undefined behaviour than gcc.
clang_sanitizers() {
    [ "$form" = short ] || make -s BUILD=build/clang CC=clang WERROR=1 all units
    fuzz_build
    SAMPL_TEST_WITHOUT=injection SAMPL_TEST_DOCUMENTS=no SAMPL_TEST_STEP=$(pick 20 1) SAMPL_TEST_PART=$(part 16 8) \
        suite build/fuzz
    ran "clang's sanitizers: $(pick "part $(part 16 8) of the tests, step 20" 'all tests, step 1')"
}

# targets N: prints each N-th target of the fuzzer; the commit's hash selects them.
targets() {
    build/fuzz/driver | awk -v n="$1" -v t="$SAMPL_TEST_TURN" '(NR + t) % n == 0'
}

# In the short form: the kept inputs of a third of the targets, and 10 s of new inputs on an eighth.
fuzzer() {
    fuzz_build
    if [ "$form" = short ]; then
        local kept new
        mapfile -t kept < <(targets 3)
        mapfile -t new < <(targets 8)
        tests/fuzz/run.sh build/fuzz/driver build/sampl 0 "${kept[@]}"
        SEED=$SAMPL_TEST_TURN tests/fuzz/run.sh build/fuzz/driver build/sampl 10 "${new[@]}"
        ran "fuzzing: kept inputs of ${kept[*]}; 10 s each with seed $SAMPL_TEST_TURN on ${new[*]}"
    else
        tests/fuzz/run.sh build/fuzz/driver build/sampl 300
        ran "fuzzing: 300 s each on all targets, seed $SEED"
    fi
}

# In the short form clang-tidy checks a sixteenth of the sources.
lint() {
    JOBS=1 make -s lint LINT_PART="$(part 16 0)"
    ran "lint: $(pick "clang-tidy on part $(part 16 0) of the sources" 'clang-tidy on all sources'), the other tools on all"
}

# Tarball, Debian package and static program. The suite runs on the static program: every twentieth case in the short form, on one
# processor.
packages() {
    DEBFLAGS=$(pick -B "") make -s check-packages
    make -s STATIC=1 units
    SAMPL_TEST_WITHOUT=injection SAMPL_TEST_DOCUMENTS=no SAMPL_TEST_STEP=$(pick 20 4) SAMPL_TEST_PART=$(part 20 4) SAMPL=$PWD/build/static/sampl \
        UNITS=$PWD/build/static/unit taskset -c 0 tests/run.sh
    ran "packages, of Debian $(pick "that of this architecture" "both, twice"); with musl $(pick 'each 20th case, step 20' 'every case, step 4')"
}

llama() {
    make -s check-llama SHORT="$(pick 1 '')"
    ran "llama.cpp: $(pick 'a tenth' 'all'), seed $SEED"
}

neon() {
    make -s check-arm64 STEP="$(pick 40 1)"
    ran "NEON: $(pick "a fortieth" all) of the cases"
}

# wasm_build: builds the program for WebAssembly. One build serves three steps: the others wait for it.
wasm_build() {
    mkdir -p build
    flock build/wasm.lock make -s explorer
}

html() {
    wasm_build
    make -s check-html check-site
    ran "the browser: every page of -O html, and the site"
}

explorer() {
    wasm_build
    make -s check-explorer CASES="$(pick 10000 100000)"
    ran "the explorer: every check, $(pick 10000 100000) cases of each kernel"
}

# The package for npm. In the short form each tenth case of tests/*.test, in the long form all.
npx() {
    wasm_build
    make -s check-npm EACH="$(pick 10 1)"
    sed 's/^/ran: /' build/npm/result
}

faults() {
    make -s check-faults STEP="$(pick 20 1)"
    ran "faults: $(pick "each 20th call, from $((SAMPL_TEST_TURN % 20))" 'every call')"
}

# The code for systems that base/platform.c has no code for.
portable() {
    make -s PORTABLE=1 WERROR=1 all
    SAMPL_PORTABLE=1 SAMPL=$PWD/build/portable/sampl tests/run.sh threads foreign
    ran "POSIX functions only: threads, foreign"
}

threads() {
    make -s BUILD=build/tsan SAN=thread CPPFLAGS=-DBATCH_ROWS=2 all
    suite build/tsan threads
    SAMPL=$PWD/build/tsan/sampl ONLY=threads COUNT=$(pick 100 2000) SEED="$SEED" JOBS=1 tests/same.py
    ran "thread sanitizer: threads, in batches of a few rows"
}

# Pairs of runs of random command lines, which must print the same output.
same() {
    JOBS=1 make -s check-same COUNT="$(pick 500 100000)" SEED="$SEED"
    ran "relations: $(pick 500 100000) command lines, seed $SEED"
}

# Random chains in the library and in the program, sanitizers, and words with a decimal point in a locale that has a comma.
library() {
    mkdir -p build
    flock build/lib.lock make -s check-library COUNT="$(pick 500 50000)" SEED="$SEED"
    san_make lib
    gcc -D_GNU_SOURCE -fsanitize=address,undefined -Isrc/lib -o build/san/lib_check tests/lib_check.c build/san/libsampl.so.0 \
        -Wl,-rpath,"$PWD/build/san" -pthread -lm
    local words=(once --seed 3 --temp 1.7 --top-p 0.9)
    build/san/lib_check errors
    build/san/lib_check threads
    localedef -i de_DE -f UTF-8 "$PWD/build/san/de_DE.UTF-8"
    LOCPATH=$PWD/build/san LC_ALL=de_DE.UTF-8 build/san/lib_check "${words[@]}" | cmp - <(build/san/lib_check "${words[@]}")
    [ "$(LOCPATH=$PWD/build/san LC_ALL=de_DE.UTF-8 /usr/bin/printf %.1f 1,5)" = 1,5 ]
    ran "library: $(pick 500 50000) chains, seed $SEED, sanitizers"
}

engines() {
    make -s check-engines COUNT="$(pick 2000 100000)" SEED="$SEED"
    ran "engines: $(pick 2000 100000) rows, seed $SEED"
}

# Random chains on lists of servers, and on the full rows.
lists() {
    JOBS=1 make -s check-lists COUNT="$(pick 500 20000)" SEED="$SEED"
    ran "lists: $(pick 500 20000) cases, seed $SEED"
}

soak() {
    make -s soak SHORT="$(pick 1 '')"
    ran "soak: $(pick 'a twentieth' all)"
}

# The generated files of completions/ are up to date.
completions() {
    make -s completions
    git diff --exit-code -- completions
}

# Debian's package, installed. The last step, as other tests must not find a sampl on the path; then the package is purged.
installed() {
    trap '$(command -v sudo) dpkg --purge sampl' EXIT # also after a failure
    $(command -v sudo) autopkgtest -B build/deb/sampl_*_"$(dpkg --print-architecture)".deb build/deb/sampl-*/ -- null
    ran "autopkgtest: a replay and vectors"
}

# ---- steps of the long form only

# Every case of the suite, and the suite on the scalar tier.
whole() {
    SAMPL_TEST_STEP=1 suite build
    SAMPL_CPU=scalar SAMPL_TEST_STEP=4 SAMPL_TEST_DOCUMENTS=no suite build
    ran "the suite: every case, step 1; on the scalar tier step 4"
}

proofs() {
    make -s prove-expf prove-logf prove-libm prove-json prove-parity
    ran "proofs: every float of expf, logf, log2f, exp2f; samples of powf, exp, pow, JSON numbers and chains"
}

systems() {
    make -s check-systems
    ran "systems: macOS, the BSDs, RISC-V"
}

mutants() {
    make -s mutants SEED="$SEED"
    ran "mutants: 80, seed $SEED"
}

firefox() {
    make -s check-firefox
    ran "Firefox: the explorer, and pages of one chain and of several"
}

# The program for Windows, under Wine.
windows() {
    make -s check-windows STEP=4
    tail -n 1 build/windows/result | sed 's/^/ran: /'
}

# In the short form a commit runs one list of steps of each row: its hash decides. The other lists run at later commits. The first step of
# a list takes longest and begins early; the fuzzer waits for the build of clang's sanitizers.
rows=('gcc_sanitizers|clang_sanitizers fuzzer' 'packages|library completions' 'llama|neon|threads portable' 'html|explorer|npx')
steps=() later=(lint)
turn=$((SAMPL_TEST_TURN / 64))
for row in "${rows[@]}"; do
    IFS='|' read -ra lists <<<"$row"
    n=${#lists[@]}
    if [ "$form" = short ]; then lists=("${lists[turn % n]}"); fi
    for list in "${lists[@]}"; do
        read -ra words <<<"$list"
        steps+=("${words[0]}")
        later+=("${words[@]:1}")
    done
    turn=$((turn / n))
done
steps=(fresh "${steps[@]}" "${later[@]}" same faults soak engines lists)
[ "$form" = short ] || steps=(proofs mutants whole "${steps[@]}" firefox systems windows)

# ---- one step, or every step

if [ $# -gt 1 ]; then
    "$2"
    exit
fi

# run_step STEP: runs the step and prints its result. If it fails, prints the end of its log.
run_step() {
    local start=${EPOCHREALTIME/./} status=0 cpu
    bash "$here" "$form" "$1" >"$logs/$1.log" 2>&1 </dev/null || status=$?
    times >"$logs/$1.times"
    cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$logs/$1.times")
    printf '%-18s %s  %5d s  %5d s of processors\n' "$1" "$([ "$status" = 0 ] && echo passed || echo FAILED)" \
        $(((${EPOCHREALTIME/./} - start) / 1000000)) "$cpu" | tee "$logs/$1.end"
    [ "$status" = 0 ] || { tail -n 100 "$logs/$1.log"; return 1; }
}
export -f run_step
export here logs form

rm -rf "$logs"
mkdir -p "$logs"
status=0
# One step more than there are processors, as browsers and packages often wait.
printf '%s\n' "${steps[@]}" | xargs -P "$(($(nproc) + 1))" -I{} bash -c 'run_step {}' || status=1
if [[ " ${steps[*]} " == *' packages '* ]]; then
    steps+=(installed)
    bash -c 'run_step installed' || status=1
fi
echo
cat "$logs"/*.end
grep -h '^ran: ' "$logs"/*.log || :
failed=$(grep -l FAILED "$logs"/*.end | wc -l)
echo "$((${#steps[@]} - failed)) passed, $failed failed"
exit "$status"
