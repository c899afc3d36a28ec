#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the tarball, the Debian packages and the static program, for `make check-packages`. In the environment: DEBFLAGS of `make deb`.
# Needs git, mandoc, musl-tools, debhelper and lintian; also apt's source packages, or cJSON's source in build/static/cjson.
set -eu
cd "$(dirname "$0")/.."
unset MAKEFLAGS MAKELEVEL
version=$(sed -n 's/^.define SAMPL_VERSION *"\([0-9.]*\)".*/\1/p' src/base/version.h)
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
[ "$size" -lt 1300000 ]
check_alone build/static/sampl "$scratch/empty"

make -s dist
mv "build/$name.tar.gz" "$scratch"
make -s deb >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; exit 1; }
cmp "build/$name.tar.gz" "$scratch/$name.tar.gz"
echo "build/$name.tar.gz: $(stat -c %s "build/$name.tar.gz") bytes"
tar -xzf "build/$name.tar.gz" -C "$scratch"
(cd "$scratch/$name" && find . -type f ! -name '*.[1357].txt' ! -path './build/*' -printf '%P\n' | LC_ALL=C sort) >"$scratch/files"
git ls-tree -r --name-only HEAD | LC_ALL=C sort | cmp - "$scratch/files"
for page in man/*.[1357]; do
    grep -q '^NAME$' "$scratch/$name/$page.txt"
done

# The Debian packages. With the default DEBFLAGS, a second build of the source package must give the same bytes.
deb=build/deb/sampl_$version-1_$(dpkg --print-architecture).deb
lintian -i --pedantic --allow-root --fail-on error,warning,info,pedantic build/deb/*.changes
for file in build/deb/*.deb; do
    echo "${file##*/}: $(stat -c %s "$file") bytes"
done
if [ -e "build/deb/sampl_$version-1.dsc" ]; then
    mkdir "$scratch/again"
    (cd "$scratch/again" && dpkg-source --no-check -x "$OLDPWD/build/deb/sampl_$version-1.dsc" source >/dev/null &&
        cd source && dpkg-buildpackage -us -uc -b >"$scratch/log" 2>&1)
    for file in build/deb/*.deb; do
        cmp "$file" "$scratch/again/${file##*/}"
    done
fi
dpkg-deb -x "$deb" "$scratch/root"
[ "$("$scratch/root/usr/bin/sampl" -n 4096 -s 1 samples/austen.f16 | cksum)" = "$want" ]
[ "$("$scratch/root/usr/bin/sampl" --version | head -1)" = "sampl $version" ]
[ "$("$scratch/root/usr/bin/sampl" --version | tail -1)" = "build native" ]
[ "$(dpkg-deb -f "$deb" Version)" = "$version-1" ]
gzip -dc "$scratch/root/usr/share/doc/sampl/changelog.Debian.gz" | grep -q "^sampl ($version-1) "
[ "$(find "$scratch/root/usr/share/man" -name '*.gz' | wc -l)" -eq "$(find man -name '*.[157]' | wc -l)" ]
echo "tarball, packages and static program are correct"
