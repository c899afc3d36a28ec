#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs clang-tidy on each source that has changed since it passed. A source that passed has a file in build/tidy, named by a hash of the
# preprocessed source, of .clang-tidy and of the tool's version. usage: tidy.sh FLAG... -- SOURCE...
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

# tidy SOURCE FLAG...: runs clang-tidy on the source, unless it has passed.
tidy() {
    local hash
    hash=$({ echo "$version $*" && clang "${@:2}" -E "$1"; } | sha256sum | cut -c1-32)
    [ ! -e "$verdicts/$hash" ] || return 0
    clang-tidy --quiet --warnings-as-errors='*' "$1" -- "${@:2}" && : >"$verdicts/$hash"
}
export -f tidy
export verdicts version

printf '%s\0' "$@" | xargs -0 -P "${JOBS:-$(nproc)}" -I{} bash -c 'tidy "$@"' tidy {} "${flags[@]}"
