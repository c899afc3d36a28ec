#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the tarball, the Debian package and the static program, for `make check-packages`. Builds the program twice.
# Needs git, mandoc, musl-tools, dpkg-dev and lintian; also apt's source packages, or cJSON's source in build/static/cjson.
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL
version=$(sed -n 's/^.define SAMPL_VERSION *"\(.*\)"/\1/p' src/cli/help.h)
name=sampl-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
want=$(build/sampl -n 4096 -s 1 samples/austen.f16 | cksum)

# check_alone PROGRAM ROOT: checks that the program chooses the same tokens in a root folder with no other files, also with two threads.
check_alone() {
    mkdir "$2"
    cp "$1" samples/austen.f16 "$2"
    local enter=(chroot)
    [ "$(id -u)" -eq 0 ] || enter=(unshare -r chroot)
    [ "$("${enter[@]}" "$2" /sampl -n 4096 -s 1 austen.f16 | cksum)" = "$want" ]
    [ "$("${enter[@]}" "$2" /sampl -t 2 -f f16 -n 4096 -s 1 <samples/austen.f16 | cksum)" = "$want" ]
    "${enter[@]}" "$2" /sampl -n 4096 austen.f16 >/dev/null # with a random seed
}

make -s -j"$(nproc)" static >/dev/null
size=$(stat -c %s build/static/sampl)
echo "build/static/sampl: $size bytes"
[ "$size" -lt 1000000 ]
check_alone build/static/sampl "$scratch/empty"

make -s dist
mv "build/$name.tar.gz" "$scratch"
make -s dist
cmp "build/$name.tar.gz" "$scratch/$name.tar.gz"
echo "build/$name.tar.gz: $(stat -c %s "build/$name.tar.gz") bytes"
tar -xzf "build/$name.tar.gz" -C "$scratch"
(cd "$scratch/$name" && find . -type f ! -name '*.[157].txt' -printf '%P\n' | LC_ALL=C sort) >"$scratch/files"
git ls-tree -r --name-only HEAD | LC_ALL=C sort | cmp - "$scratch/files"
for page in man/*.[157]; do
    grep -q '^NAME$' "$scratch/$name/$page.txt"
done

# The package is made from the tarball.
make -s -j"$(nproc)" -C "$scratch/$name" deb >/dev/null
deb=$scratch/$name/build/sampl_${version}_$(dpkg --print-architecture).deb
cp "$deb" "$scratch/first.deb"
make -s -C "$scratch/$name" deb >/dev/null
cmp "$deb" "$scratch/first.deb"
echo "${deb##*/}: $(stat -c %s "$deb") bytes; lintian:"
lintian --allow-root --fail-on error,warning "$deb"
dpkg-deb -x "$deb" "$scratch/root"
[ "$("$scratch/root/usr/bin/sampl" -n 4096 -s 1 "$scratch/root/usr/share/sampl/samples/austen.f16" | cksum)" = "$want" ]
[ "$("$scratch/root/usr/bin/sampl" --version | head -1)" = "sampl $version" ]
[ "$(dpkg-deb -f "$deb" Version)" = "$version" ]
gzip -dc "$scratch/root/usr/share/doc/sampl/changelog.gz" | grep -q "^sampl ($version) "
[ "$(find "$scratch/root/usr/share/man" -name '*.gz' | wc -l)" -eq "$(find man -name '*.[157]' | wc -l)" ]
echo "tarball, package and static program are correct"
