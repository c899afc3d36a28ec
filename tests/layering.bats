#!/usr/bin/env bats
# The architecture of src/: which folders a folder may include, names of functions, and sizes of files.

load helper

setup() {
    cd "$ROOT/src" || return 1
}

# no_line PATTERN FILE...: checks that no line matches the pattern. Otherwise prints the lines that match.
no_line() {
    local pattern=$1
    shift
    [ $# -gt 0 ] && [ -e "$1" ] || return 1
    run grep -nHE "$pattern" "$@"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

# includes_only FOLDERS FILE...: checks that the files include headers of these folders (a|b|c) only, by path from src/.
includes_only() {
    local folders=$1
    shift
    [ "$(cat "$@" | grep -c '^ *# *include "')" -gt 0 ] || return 1
    ! grep -nHE '^ *# *include +"' "$@" | grep -vE "include \"($folders)/[a-z0-9_]+\.(h|def)\"( *//.*)?\$"
}

# CORE: the folders that do no input or output and never end the program.
CORE="base kern vocab json sample samplers programs grammar schema chain trace settings session"

# core_files: prints the files of the core, without base/platform*.c, which call the system.
core_files() {
    local folder
    for folder in $CORE; do ls "$folder"/*.[ch]; done | grep -vx 'base/platform[a-z_]*\.c'
}

# WRITERS: the files that write text to memory with snprintf, and platform.h, which declares streams.
WRITERS='base/platform.h|base/err.c|base/number.c|base/builder.c|chain/recipe.c|settings/value.c|settings/read_numbers.c'

@test "the core does no input or output and never ends the program" {
    # shellcheck disable=SC2046
    no_line '^ *# *include +<(unistd|fcntl|getopt|locale|signal|time)\.h>' $(core_files)
    # shellcheck disable=SC2046
    # json.c reads from errno that cJSON had no memory, number.c that a number is out of range.
    no_line '^ *# *include +<errno\.h>' $(core_files | grep -vxE 'json/json.c|base/number.c|settings/value.c')
    # shellcheck disable=SC2046
    no_line '^ *# *include +<stdio\.h>' $(core_files | grep -vxE "$WRITERS")
    # shellcheck disable=SC2046
    no_line '^ *# *include +<sys/(stat|mman|socket|random|wait)\.h>' $(core_files)
    # shellcheck disable=SC2046
    no_line '(^|[^a-zA-Z0-9_])(_?exit|_Exit|abort|atexit|quick_exit|getenv|v?[fd]printf|v?s?printf|puts|fputs|putchar|perror|fwrite|fopen|raise|longjmp) *\(' $(core_files)
    # shellcheck disable=SC2046
    no_line '(^|[^a-zA-Z0-9_])(rand|srand|random|drand48|time|clock|setlocale) *\(' $(core_files)
}

@test "no file of the core has a variable that outlives a call" {
    # The pattern matches a static or global variable that is not const, at the start of a line.
    # shellcheck disable=SC2046
    no_line '^(static )?(_Thread_local )?(struct [a-z_]+|u?int[0-9]*_t|size_t|float|double|bool|char|int|unsigned|void) [a-z_* ]*(\[[^]]*\])*( =.*)?;' $(core_files)
}

# FLOORS: a line for each folder, from the bottom: the folder, and the folders that it may include besides itself. The core is all
# folders below `in`.
FLOORS='
base
kern      base
vocab     base
json      base
sample    base kern vocab
samplers  base kern vocab sample
programs  base json sample samplers
grammar   base vocab
schema    base
chain     base vocab sample samplers grammar
trace     base kern vocab sample samplers chain
settings  base vocab json sample samplers programs grammar schema chain
session   base kern vocab json sample samplers programs grammar chain trace settings
lib       base kern vocab json sample samplers programs grammar schema chain trace settings session
in        base kern vocab json sample
out       base kern vocab trace
cli       base kern vocab json sample samplers programs grammar schema chain trace settings in out
views     base kern vocab json sample samplers programs grammar schema chain trace settings in out cli
run       base kern vocab json sample samplers programs grammar schema chain trace settings session in out cli views
'

@test "each folder includes headers of itself and of the floors below only" {
    local folder below earlier=' ' each
    while read -r folder below; do
        [ -n "$folder" ] || continue
        includes_only "$folder${below:+|${below// /|}}" "$folder"/*.[ch] || return 1
        for each in $below; do
            [[ $earlier == *" $each "* ]] || { echo "$folder: $each is not below"; return 1; }
        done
        earlier+="$folder "
    done <<<"$FLOORS"
    [ "$(find . -mindepth 1 -type d ! -path ./out/html ! -path "./base/windows*" ! -path './explorer*' | sort | tr '\n' ' ')" = "$(awk 'NF { print "./" $1 }' <<<"$FLOORS" | sort | tr '\n' ' ')" ]
}

@test "only base/platform*.c ask which system the program is built for" {
    # shellcheck disable=SC2046
    no_line '^ *# *(el)?if.*(__(linux|APPLE|wasi|unix|FreeBSD|NetBSD|OpenBSD)__|_WIN32|SAMPL_PORTABLE)' $(printf '%s\n' ./*.c ./*/*.[ch] | grep -v '^./base/platform[a-z_]*\.c$')
}

@test "the core does not use struct args and prints no message" {
    # shellcheck disable=SC2046
    no_line 'struct args\b|(->|\.)args\b|message_[a-z]+ *\(' $(core_files)
}

@test "no sampler includes a header of samplers/" {
    for file in samplers/*.c; do
        case $file in samplers/list.c | samplers/engine.c) continue ;; esac
        no_line '^ *# *include +"samplers/' "$file"
        [ ! -e "${file%.c}.h" ]
    done
}

@test "samplers/list.def has exactly the samplers that samplers/*.c define" {
    for file in samplers/*.c; do
        case $file in samplers/list.c | samplers/engine.c) continue ;; esac
        sed -nE 's/^const struct sampler sampler_([a-z0-9_]+).*/\1/p' "$file" >"$BATS_TEST_TMPDIR/here"
        [ -s "$BATS_TEST_TMPDIR/here" ] || { echo "$file: no sampler"; return 1; }
        cat "$BATS_TEST_TMPDIR/here" >>"$BATS_TEST_TMPDIR/defined"
    done
    sed -nE 's/^(SAMPLER|INTERNAL)\(([a-z0-9_]+)\)$/\2/p' samplers/list.def | sort >"$BATS_TEST_TMPDIR/listed"
    sort "$BATS_TEST_TMPDIR/defined" | cmp - "$BATS_TEST_TMPDIR/listed"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/listed")" -ge 15 ]
}

@test "every file begins with its licence and has no tabs or trailing blanks" {
    local line
    for file in ./*.c ./*/*.[ch]; do
        read -r line <"$file"
        [ "$line" = '// SPDX-License-Identifier: MIT' ] || { echo "$file: no licence"; return 1; }
    done
    perl -0777 -ne 'print("$ARGV: no newline at the end\n"), $bad = 1 unless /\n\z/; END { exit $bad // 0 }' ./*.c ./*/*.[ch]
    no_line '[[:space:]]$' ./*.c ./*/*.[ch]
    no_line '	' ./*.c ./*/*.[ch]
    for file in "$ROOT"/Makefile "$ROOT"/samples/scale/*.sh "$ROOT"/tests/*.bash "$ROOT"/tests/*.sh; do
        head -2 "$file" | grep -qx '# SPDX-License-Identifier: MIT' || { echo "$file: no licence"; return 1; }
    done
}

@test "no two structs, enums or unions have the same name" {
    run awk '/^(typedef )?(struct|enum|union) [a-z_0-9]+ \{/ { print $2 }' ./*/*.[ch]
    [ "$(uniq -d < <(sort <<<"$output"))" = '' ] || { sort <<<"$output" | uniq -d; return 1; }
}

@test "struct cand has at most 30 members" {
    local members
    members=$(awk '/^struct cand \{/ { on = 1; next } /^\};/ { on = 0 } on' sample/cand.h | perl -0777 -ne '
        s{//[^\n]*}{}g;
        s/\{[^{}]*\}|\[[^]]*\]/ /g; # without nested members and lengths of arrays
        print tr/,;//;') # each member ends with a comma or a semicolon
    [ "$members" -ge 15 ] && [ "$members" -le 30 ]
}

@test "no view includes another: a header of views/ belongs to no file that defines a view" {
    for file in views/*.c; do
        grep -q '^const struct view view_' "$file" || continue
        [ ! -e "${file%.c}.h" ] || { echo "$file has a header"; return 1; }
    done
    while read -r name; do
        grep -qw "&$name" views/views.c || { echo "$name is not in the list of views.c"; return 1; }
    done < <(sed -nE 's/^const struct view (view_[a-z_]+) =.*/\1/p' views/*.c)
}

@test "outside out/, no file compares the name of an output format" {
    no_line 'str(n?case)?cmp\(.*(output_format|->format->name)' ./*.c ./*/*.[ch]
    no_line 'str(n?case)?cmp\(.*"(text|tsv|html|f32|f16|npy)"' main.c cli/args.c views/*.c run/*.c
}

# definitions: prints a line for each function that a .c file defines: its name and the file. "static" follows if the function is static.
definitions() {
    perl -0777 -ne '
        my $text = s{//[^\n]*|/\*.*?\*/}{}gsr;
        while ($text =~ /^((?:[A-Za-z_]\w*[ *]+)+)(\w+)\([^;{}]*?\)[ \n]\{/gm) {
            print "$2 $ARGV", $1 =~ /^static / ? " static" : "", "\n";
        }' ./*.c ./*/*.c
}

# The linker compares what one system compiles. Static functions may share names: a file is read on its own.
@test "no two files define a function of the same name with external linkage, except those of one system" {
    definitions | awk '!$3 && $2 !~ /^.\/base\/platform_/ { print $1, $2 }' | sort -u >"$BATS_TEST_TMPDIR/functions"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/functions")" -gt 500 ]
    run awk '{ n[$1]++; files[$1] = files[$1] " " $2 } END { for (f in n) if (n[f] > 1) print f files[f] }' "$BATS_TEST_TMPDIR/functions"
    [ -z "$output" ] || { sort <<<"$output"; return 1; }
}

@test "no function has a name that base/windows/posix.h defines as a macro" {
    local names
    names=$(sed -n 's/^#define \([a-z_]*\) *windows_.*/\1/p' base/windows/posix.h)
    [ "$(wc -w <<<"$names")" -gt 5 ]
    run awk 'NR == FNR { macro[$1]; next } $1 in macro && $1 != "main"' <(printf '%s\n' "$names") <(definitions)
    [ -z "$output" ] || { echo "$output"; return 1; }
}

@test "files have at most 500 lines, and lines at most 120 columns" {
    local file
    for file in ./*.c ./*/*.[ch]; do
        [ "$(wc -l <"$file")" -le 500 ] || { echo "$file: $(wc -l <"$file") lines"; return 1; }
    done
    no_line '.{121,}' ./*.c ./*/*.[ch] ./*/*.def
}

@test "the sources have at least 60 asserts" {
    [ "$(cat ./*/*.[ch] | grep -c '\bassert(')" -ge 60 ]
}

@test "no cycle of object files: a file does not call a file that calls it" {
    need nm
    build=$(dirname "$SAMPL")
    [ -e "$build/chain/chain.o" ] || missing objects "there are none beside $SAMPL"
    cd "$build"
    perl -e '
        my (%home, %wants, %needs, %state, @path, @files);
        for my $file (glob "*/*.o *.o") {
            next if $file =~ m{^unit/} ||
                 !-e "$ENV{ROOT}/src/" . $file =~ s/o$/c/r;
            push @files, $file;
        }
        for (qx(nm -A @files)) {
            my ($file) = /^(.*?\.o):/ or next;
            $home{$2} = $file if / ([TDRBC]) (\w+)$/;
            push @{ $wants{$file} }, $1 if / U (\w+)$/;
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

@test "no file calls a function of libm whose rounding differs between libraries" {
    need nm
    build=$(dirname "$SAMPL")
    [ -e "$build/chain/chain.o" ] || missing objects "there are none beside $SAMPL"
    for folder in */; do [ "$folder" = explorer/ ] || nm -u "$build/$folder"*.o; done | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$BATS_TEST_TMPDIR/calls"
    grep -qx fma "$BATS_TEST_TMPDIR/calls" # fma, sqrt and floor round correctly, and are allowed
    run grep -xE '_*(a?(cos|sin|tan)h?|atan2|sincos|cbrt|hypot|erfc?|[lt]gamma|exp(2|10|m1)?|log(2|10|1p)?|pow)[fl]?(_finite)?' "$BATS_TEST_TMPDIR/calls"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "a header that one other file of its folder includes is part of that file, unless both have more than 400 lines" {
    local header source user n=0
    for header in ./*/*.h; do
        source=${header%.h}.c
        [ -e "$source" ] && [ "$header" != ./lib/sampl.h ] || continue # the interface of libsampl
        n=$((n + 1))
        user=$(cd .. && grep -rlF "#include \"${header#./}\"" src tests/unit | grep -vx "src/${source#./}")
        [ "$(dirname "src/${source#./}")" = "$(dirname "$user")" ] && [[ $user == *.c ]] || continue
        [ "$(cat "$header" "$source" "../$user" | wc -l)" -gt 400 ] || { echo "only $user includes $header"; return 1; }
    done
    [ "$n" -ge 50 ]
}

@test "every header has an include guard with the name of its path" {
    for file in */*.h; do
        guard=SAMPL_$(tr 'a-z/.' 'A-Z__' <<<"$file")
        grep -qx "#ifndef $guard" "$file" && grep -qx "#define $guard" "$file" || { echo "$file: not $guard"; return 1; }
    done
}

@test "object files of the core call no function for input, output, exit or time" {
    need nm
    build=$(dirname "$SAMPL")
    [ -e "$build/chain/chain.o" ] || missing objects "there are none beside $SAMPL"
    for folder in $CORE; do
        for object in "$build/$folder"/*.o; do
            [[ $object == "$build"/base/platform*.o ]] || printf '%s\n' "$object"
        done
    done | xargs nm -u | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$BATS_TEST_TMPDIR/calls"
    [ -s "$BATS_TEST_TMPDIR/calls" ]
    run grep -xE '(__)?(v?[fd]?printf|v?sprintf|puts|fputs|putchar|fwrite|fopen|f?open(64)?|read|write|close|perror|getenv|secure_getenv|exit|_exit|abort|atexit|raise|signal|longjmp|rand|random|time|clock_gettime|setlocale|stdin|stdout|stderr)(_chk)?' \
        "$BATS_TEST_TMPDIR/calls"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "tests/README.md maps every .bats file to files of src/ that exist" {
    awk -F ' *\\| *' '/^## /{ on = /Which file/ } on && $2 !~ /^(file|-*)$/ && NF > 3 { print $2 "\t" $4 }' "$ROOT/tests/README.md" >"$BATS_TEST_TMPDIR/map"
    cut -f 1 "$BATS_TEST_TMPDIR/map" >"$BATS_TEST_TMPDIR/mapped"
    (cd "$ROOT/tests" && printf '%s\n' *.bats) | sed 's/\.bats$//' | diff - "$BATS_TEST_TMPDIR/mapped"
    for place in $(cut -f 2 "$BATS_TEST_TMPDIR/map" | tr -d ,); do
        [ "$place" = all ] || [ "$place" = none ] || [ -e "$place" ] || { echo "no src/$place"; return 1; }
    done
}

# Two branches that add the same rows merge into a table that has them twice.
@test "no table of commands has a command or a heading twice, and no change is listed twice" {
    local table
    for table in errors field; do
        awk -F '\t' '!/^$/ { what = NF > 3 && $1 != "unreachable" ? $4 : $0 } /^$/ { next }
            what in line { print FILENAME ": lines " line[what] " and " FNR ": " what; bad = 1 }
            { line[what] = FNR } END { exit bad }' "$ROOT/tests/$table.tsv"
    done
    [ "$(grep -c "$(printf '\t')" "$ROOT/tests/errors.tsv")" -gt 1000 ]
    awk '/^- / && seen[$0]++ { print FILENAME ": twice: " $0; bad = 1 } END { exit bad }' "$ROOT/packaging/CHANGES.md"
}
