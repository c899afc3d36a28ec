#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints a manual page with its generated blocks as the program has them. usage: manual.sh SAMPL PAGE
# A block is between the lines `.\" generated: NAME` and `.\" end`. manual.jq makes it from `SAMPL --generate=json`.
set -eu
tables=$("$1" --generate=json)
here=$(dirname "$0")
block=
while IFS= read -r line; do
    case $line in
    '.\" generated: '*)
        block=${line#*: }
        printf '%s\n' "$line"
        jq -r --arg block "$block" -f "$here/manual.jq" <<<"$tables"
        ;;
    '.\" end') block= ;;
    esac
    if [ -z "$block" ]; then printf '%s\n' "$line"; fi
done <"$2"
if [ -n "$block" ]; then
    echo "$2: the block '$block' has no end" >&2
    exit 1
fi
