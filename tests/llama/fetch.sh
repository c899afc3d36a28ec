#!/bin/sh
# SPDX-License-Identifier: MIT
# fetch.sh DIR: fetches a release of llama.cpp from the npm registry, 50 MB. DIR/lib gets its prebuilt libraries, DIR/src its headers, grammars
# and vocabularies. Needs npm and git. Does not fetch folders that exist.
set -eu
version=3.22.1 # of node-llama-cpp, which contains llama.cpp v0.5.0
case $(uname -m) in
x86_64) machine=x64 ;;
aarch64) machine=arm64 ;;
*) echo "fetch.sh: no prebuilt llama.cpp for $(uname -m)" >&2 && exit 1 ;;
esac
mkdir -p "$1"
cd "$1"

# unpack PACKAGE FILE: fetches a package and extracts one file or folder to ./package.
unpack() {
    rm -rf package
    tgz=$(npm pack --silent "$1@$version" 2>/dev/null) || { echo "fetch.sh: npm cannot fetch $1@$version" >&2 && exit 1; }
    tar xzf "$tgz" "package/$2"
    rm -f "$tgz"
}

if [ ! -d lib ]; then
    unpack "@node-llama-cpp/linux-$machine" "bins/linux-$machine"
    mv "package/bins/linux-$machine" lib
fi
if [ ! -d src ]; then
    unpack node-llama-cpp llama/gitRelease.bundle
    git -c advice.detachedHead=false clone -q package/llama/gitRelease.bundle new
    mv new src
fi
rm -rf package
