#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh SAMPL.WASM >PAGE: writes the explorer as one file. A line @FILE@ of explorer.html, or @FILE@ inside of a line, stands for a file;
# one with a folder is of src.
set -eu
cd "$(dirname "$0")/../.."
page=src/explorer samples=samples
packed() { gzip -9n | base64 | tr -d '\n'; }
while IFS= read -r line; do
    case $line in
    @*/*@) cat "src/$(printf %s "$line" | tr -d @)" ;;
    @*.css@ | @*.js@) cat "$page/$(printf %s "$line" | tr -d @)" ;;
    *@sampl.wasm@*) printf '%s' "${line%%@*}" && packed <"$1" && printf '%s\n' "${line##*@}" ;;
    *@austen.f16@*) printf '%s' "${line%%@*}" && head -c $((64 * 8192)) $samples/austen.f16 | packed && printf '%s\n' "${line##*@}" ;;
    *@austen-vocab.json@* | *@austen.tokens@* | *@reply.json@*)
        file=${line#*@}
        printf '%s' "${line%%@*}" && packed <"$samples/${file%%@*}" && printf '%s\n' "${line##*@}"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <$page/explorer.html
