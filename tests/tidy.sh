#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lets clang-tidy look at each source whose verdict is not known. A verdict is kept in build/tidy under a hash of the source after its
# preprocessor, of .clang-tidy and of the tool's version. usage: tidy.sh FLAG... -- SOURCE...
set -eu
flags=()
while [ "$1" != -- ]; do
    flags+=("$1")
    shift
done
shift
verdicts=build/tidy
mkdir -p "$verdicts"
version=$(clang-tidy --version; cat .clang-tidy)

# tidy SOURCE
tidy() {
    local hash
    hash=$({ echo "$version $*" && clang "${@:2}" -E "$1"; } | sha256sum | cut -c1-32)
    [ ! -e "$verdicts/$hash" ] || return 0
    clang-tidy --quiet --warnings-as-errors='*' "$1" -- "${@:2}" && : >"$verdicts/$hash"
}
export -f tidy
export verdicts version

printf '%s\0' "$@" | xargs -0 -P "${JOBS:-$(nproc)}" -I{} bash -c 'tidy "$@"' tidy {} "${flags[@]}"
