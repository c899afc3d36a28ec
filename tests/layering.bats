#!/usr/bin/env bats
# The architecture: what each folder of src/ may know of the others.

load helper

setup() {
    cd "$ROOT/src" || return 1
}

# none PATTERN FILE...: no line matches; those that do are shown.
none() {
    local pattern=$1
    shift
    [ $# -gt 0 ] && [ -e "$1" ] || return 1
    run grep -nHE "$pattern" "$@"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

# only FOLDERS FILE...: their own includes are from these folders (a|b|c), by path from src/.
only() {
    local folders=$1
    shift
    [ "$(cat "$@" | grep -c '^ *# *include "')" -gt 0 ] || return 1
    ! grep -nHE '^ *# *include +"' "$@" | grep -vE "include \"($folders)/[a-z0-9_]+\.(h|def)\"( *//.*)?\$"
}

# The core: folders that do no input or output and never end the program.
LOWER="base kern vocab json sample samplers grammar schema chain trace"

# All files of the core but the one that asks the system.
lower() {
    local folder
    for folder in $LOWER; do ls "$folder"/*.[ch]; done | grep -vx base/platform.c
}

# These files make text in memory, with snprintf.
WRITERS='base/err.c|base/number.c|base/builder.c|chain/recipe.c|chain/value.c|chain/row_params.c'

@test "what is below cli, in and out does no input or output and never ends the program" {
    # shellcheck disable=SC2046
    none '^ *# *include +<(unistd|fcntl|getopt|locale|signal|time)\.h>' $(lower)
    # shellcheck disable=SC2046
    # json.c learns from errno that cJSON had no memory, value.c that a number is out of range
    none '^ *# *include +<errno\.h>' $(lower | grep -vxE 'json/json.c|chain/value.c')
    # shellcheck disable=SC2046
    none '^ *# *include +<stdio\.h>' $(lower | grep -vxE "$WRITERS")
    # shellcheck disable=SC2046
    none '^ *# *include +<sys/(stat|mman|socket|random|wait)\.h>' $(lower)
    # shellcheck disable=SC2046
    none '(^|[^a-zA-Z0-9_])(_?exit|_Exit|abort|atexit|quick_exit|getenv|v?[fd]printf|v?s?printf|puts|fputs|putchar|perror|fwrite|fopen|raise|longjmp) *\(' $(lower)
    # shellcheck disable=SC2046
    none '(^|[^a-zA-Z0-9_])(rand|srand|random|drand48|time|clock|setlocale) *\(' $(lower)
}

@test "no file below cli, in and out holds state of its own" {
    # a static or global variable that is not const, at the start of a line
    # shellcheck disable=SC2046
    none '^(static )?(_Thread_local )?(struct [a-z_]+|u?int[0-9]*_t|size_t|float|double|bool|char|int|unsigned|void) [a-z_* ]*(\[[^]]*\])*( =.*)?;' $(lower)
}

# The floors, from the bottom: a folder, and what it may include beside itself. The core ends below in and out.
FLOORS='
base
kern      base
vocab     base
json      base
sample    base kern vocab
samplers  base kern vocab sample
grammar   base vocab
schema    base
chain     base kern vocab json sample samplers grammar schema
trace     base kern vocab sample samplers chain
in        base kern vocab json sample
out       base kern vocab trace
cli       base kern vocab json sample samplers grammar schema chain trace in out
run       base kern vocab json sample samplers grammar schema chain trace in out cli
'

@test "each folder includes from itself and the floors below" {
    local folder below earlier=' ' each
    while read -r folder below; do
        [ -n "$folder" ] || continue
        only "$folder${below:+|${below// /|}}" "$folder"/*.[ch] || return 1
        for each in $below; do
            [[ $earlier == *" $each "* ]] || { echo "$folder: $each is not below"; return 1; }
        done
        earlier+="$folder "
    done <<<"$FLOORS"
    [ "$(find . -mindepth 1 -type d ! -path ./out/html | sort | tr '\n' ' ')" = "$(awk 'NF { print "./" $1 }' <<<"$FLOORS" | sort | tr '\n' ' ')" ]
}

@test "the core knows no arguments and prints no message" {
    # shellcheck disable=SC2046
    none 'struct args\b|(->|\.)args\b|message_[a-z]+ *\(' $(lower)
}

@test "samplers know nothing of each other" {
    for file in samplers/*.c; do
        case $file in samplers/list.c | samplers/engine.c) continue ;; esac
        none '^ *# *include +"samplers/' "$file"
        [ ! -e "${file%.c}.h" ]
    done
}

@test "every sampler has its line in the list, and the list names no other" {
    for file in samplers/*.c; do
        case $file in samplers/list.c | samplers/engine.c) continue ;; esac
        sed -nE 's/^const struct sampler sampler_([a-z0-9_]+).*/\1/p' "$file" >"$BATS_TEST_TMPDIR/here"
        [ -s "$BATS_TEST_TMPDIR/here" ] || { echo "$file: no sampler"; return 1; }
        cat "$BATS_TEST_TMPDIR/here" >>"$BATS_TEST_TMPDIR/defined"
    done
    sed -nE 's/^SAMPLER\(([a-z0-9_]+)\)$/\1/p' samplers/list.def | sort >"$BATS_TEST_TMPDIR/listed"
    sort "$BATS_TEST_TMPDIR/defined" | cmp - "$BATS_TEST_TMPDIR/listed"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/listed")" -ge 15 ]
}

@test "every file says its licence first, and ends its lines well" {
    for file in ./*.c ./*/*.[ch]; do
        [ "$(head -1 "$file")" = '// SPDX-License-Identifier: MIT' ] || { echo "$file: no licence"; return 1; }
        [ -z "$(tail -c 1 "$file")" ] || { echo "$file: no newline at the end"; return 1; }
    done
    none '[[:space:]]$' ./*.c ./*/*.[ch]
    none '	' ./*.c ./*/*.[ch]
    for file in "$ROOT"/Makefile "$ROOT"/samples/scale/*.sh "$ROOT"/tests/*.bash "$ROOT"/tests/*.sh; do
        head -2 "$file" | grep -qx '# SPDX-License-Identifier: MIT' || { echo "$file: no licence"; return 1; }
    done
}

@test "a struct, an enum or a union has a name of its own" {
    run awk '/^(typedef )?(struct|enum|union) [a-z_0-9]+ \{/ { print $2 }' ./*/*.[ch]
    [ "$(uniq -d < <(sort <<<"$output"))" = '' ] || { sort <<<"$output" | uniq -d; return 1; }
}

@test "what a sampler may use of a candidate store has at most 30 members" {
    local members
    members=$(awk '/^struct cand \{/ { on = 1; next } /^\};/ { on = 0 } on' sample/cand.h | perl -0777 -ne '
        s{//[^\n]*}{}g;
        s/\{[^{}]*\}|\[[^]]*\]/ /g; # members of members, lengths of arrays
        print tr/,;//;') # each member ends at one of them
    [ "$members" -ge 15 ] && [ "$members" -le 30 ]
}

@test "run/ has at most 12 C files" {
    [ "$(printf '%s\n' run/*.c | wc -l)" -le 12 ]
}

# definitions: for each function that is defined in a .c file, its name, the file, and "static" if it is,
# or "pointer" if the file uses its address besides.
definitions() {
    perl -0777 -ne '
        my $text = s{//[^\n]*|/\*.*?\*/}{}gsr;
        while ($text =~ /^((?:[A-Za-z_]\w*[ *]+)+)(\w+)\([^;{}]*?\)\n\{/gm) {
            my ($type, $name) = ($1, $2);
            my $own = $type =~ /^static /;
            print "$name $ARGV", !$own ? "" : $text =~ /\b$name\b(?! *\()/ ? " pointer" : " static", "\n";
        }' ./*.c ./*/*.c
}

@test "a function has a name of its own, but for callbacks of samplers and formats, and what tiers define for templates" {
    definitions | awk '!($3 == "pointer" && $2 ~ /^.\/(samplers|in|out|kern)\//) && !($3 && $2 ~ /^.\/kern\/kern_/) { print $1, $2 }' | sort -u >"$BATS_TEST_TMPDIR/functions"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/functions")" -gt 1000 ]
    run awk '{ n[$1]++; files[$1] = files[$1] " " $2 } END { for (f in n) if (n[f] > 1) print f files[f] }' "$BATS_TEST_TMPDIR/functions"
    [ -z "$output" ] || { sort <<<"$output"; return 1; }
}

@test "files have at most 500 lines, and lines at most 120 columns" {
    local file
    for file in ./*.c ./*/*.[ch]; do
        [ "$(wc -l <"$file")" -le 500 ] || { echo "$file: $(wc -l <"$file") lines"; return 1; }
    done
    none '.{121,}' ./*.c ./*/*.[ch] ./*/*.def
}

@test "preconditions are asserts" {
    [ "$(cat ./*/*.[ch] | grep -c '\bassert(')" -ge 60 ]
}

@test "no circle of files: what one calls does not call it back" {
    need nm
    build=$(dirname "$SAMPL")
    [ -e "$build/chain/chain.o" ] || missing objects "there are none beside $SAMPL"
    cd "$build"
    perl -e '
        my (%home, %wants, %needs, %state, @path);
        for my $file (glob "*/*.o *.o") {
            next if $file =~ m{^unit/} ||
                 !-e "$ENV{ROOT}/src/" . $file =~ s/o$/c/r;
            for (qx(nm $file)) {
                $home{$2} = $file if / ([TDRBC]) (\w+)$/;
                push @{ $wants{$file} }, $1 if / U (\w+)$/;
            }
        }
        for my $file (keys %wants) {
            for (@{ $wants{$file} }) { $needs{$file}{ $home{$_} } = 1 if $home{$_} && $home{$_} ne $file }
        }
        sub visit {
            my $me = shift;
            return if ($state{$me} // "") eq "done";
            if (($state{$me} // "") eq "open") { print join(" -> ", @path, $me), "\n"; exit 1 }
            $state{$me} = "open";
            push @path, $me;
            visit($_) for sort keys %{ $needs{$me} };
            pop @path;
            $state{$me} = "done";
        }
        die "no files" if keys %needs < 50;
        visit($_) for sort keys %needs;'
}

@test "no mathematics of the C library that rounds in a way of its own" {
    need nm
    build=$(dirname "$SAMPL")
    [ -e "$build/chain/chain.o" ] || missing objects "there are none beside $SAMPL"
    for folder in */; do nm -u "$build/$folder"*.o; done | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$BATS_TEST_TMPDIR/calls"
    grep -qx fma "$BATS_TEST_TMPDIR/calls" # of those that are exact or rounded correctly, as sqrt and floor are
    run grep -xE '_*(a?(cos|sin|tan)h?|atan2|sincos|cbrt|hypot|erfc?|[lt]gamma|exp(2|10|m1)?|log(2|10|1p)?|pow)[fl]?(_finite)?' "$BATS_TEST_TMPDIR/calls"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "every header has its guard" {
    for file in */*.h; do
        guard=SAMPL_$(tr 'a-z/.' 'A-Z__' <<<"$file")
        grep -qx "#ifndef $guard" "$file" && grep -qx "#define $guard" "$file" || { echo "$file: not $guard"; return 1; }
    done
}

@test "object files below cli, in and out call only what they may" {
    need nm
    build=$(dirname "$SAMPL")
    [ -e "$build/chain/chain.o" ] || missing objects "there are none beside $SAMPL"
    for folder in $LOWER; do
        for object in "$build/$folder"/*.o; do
            [ "$object" = "$build/base/platform.o" ] || nm -u "$object"
        done
    done | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$BATS_TEST_TMPDIR/calls"
    [ -s "$BATS_TEST_TMPDIR/calls" ]
    run grep -xE '(__)?(v?[fd]?printf|v?sprintf|puts|fputs|putchar|fwrite|fopen|f?open(64)?|read|write|close|perror|getenv|secure_getenv|exit|_exit|abort|atexit|raise|signal|longjmp|rand|random|time|clock_gettime|setlocale|stdin|stdout|stderr)(_chk)?' \
        "$BATS_TEST_TMPDIR/calls"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "tests/README.md maps every file of the suite to files of src/ that are there" {
    awk -F ' *\\| *' '/^## /{ on = /Which file/ } on && $2 !~ /^(file|-*)$/ && NF > 3 { print $2 "\t" $4 }' "$ROOT/tests/README.md" >"$BATS_TEST_TMPDIR/map"
    cut -f 1 "$BATS_TEST_TMPDIR/map" >"$BATS_TEST_TMPDIR/mapped"
    (cd "$ROOT/tests" && printf '%s\n' *.bats) | sed 's/\.bats$//' | diff - "$BATS_TEST_TMPDIR/mapped"
    for place in $(cut -f 2 "$BATS_TEST_TMPDIR/map" | tr -d ,); do
        [ "$place" = all ] || [ "$place" = none ] || [ -e "$place" ] || { echo "no src/$place"; return 1; }
    done
}
