#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Keeps the fuzzer's best inputs: selects the fewest inputs of build/fuzz/corpus and of the kept ones with the same coverage. They become
# tests/fuzz/corpus/TARGET.tar.gz, which CI runs first. usage: keep.sh DRIVER [TARGET...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
driver=$(realpath "$1")
shift
work=$(dirname "$driver")
[ $# -gt 0 ] || mapfile -t targets < <(env -u SAMPL_FUZZ "$driver")
[ $# -eq 0 ] || targets=("$@")
mkdir -p "$here/corpus"
for target in "${targets[@]}"; do
    dir=$(mktemp -d)
    mkdir "$dir/all" "$dir/best" "$dir/run"
    [ ! -e "$here/corpus/$target.tar.gz" ] || tar -xzf "$here/corpus/$target.tar.gz" -C "$dir/all"
    find "$work/corpus/$target" -type f -exec cp -t "$dir/all" {} +
    cp "$work"/seeds/words* "$dir/run"
    (cd "$dir/run" && SAMPL_FUZZ=$target "$driver" -merge=1 -max_len=1024 -timeout=20 "$dir/best" "$dir/all" >"$work/$target.merge.log" 2>&1)
    tar -C "$dir/best" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c . | gzip -9n >"$here/corpus/$target.tar.gz"
    echo "$target: $(find "$dir/best" -type f | wc -l) inputs"
    rm -rf "$dir"
done
