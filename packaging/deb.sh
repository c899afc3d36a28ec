#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh DIR VERSION: makes DIR/root, where `make install PREFIX=/usr` has been, a Debian package beside DIR. DEBFULLNAME and DEBEMAIL name
# who answers for it. Its changelog is packaging/CHANGES.md.
set -eu
dir=$1 version=$2 who="${DEBFULLNAME:-sampl developers} <${DEBEMAIL:-sampl@sampl.invalid}>"
arch=$(dpkg --print-architecture)
root=$dir/root
doc=$root/usr/share/doc/sampl

strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/sampl"
find "$root/usr/share/man" -type f -exec gzip -9nf {} +

# Samples are examples, which need not find all that they ask for.
mv "$root/usr/share/sampl/samples" "$doc/examples"
ln -s ../doc/sampl/examples "$root/usr/share/sampl/samples"

# Debian's form of a licence: LICENSE with its empty lines as dots
{
    printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' 'Upstream-Name: sampl' '' 'Files: *'
    sed -n 's/^Copyright (c) /Copyright: /p' LICENSE
    echo 'License: Expat'
    sed '1,/^Copyright/d; /./,$!d; s/^$/./; s/^/ /' LICENSE | sed '1{/^ \.$/d}'
} >"$doc/copyright"
rm "$doc/LICENSE"

# "## 0.1.0, 2026-11-22" and the items of its list, as Debian writes them, dated noon
{ cat packaging/CHANGES.md && echo '# end'; } | sed ':join; N; $!b join; s/\n  */ /g' | while IFS= read -r line; do
    case $line in
    '## '*)
        [ -z "${date-}" ] || printf '\n -- %s  %s\n\n' "$who" "$date"
        date=$(LC_ALL=C date -uRd "${line##*, } 12:00")
        line=${line#*' '}
        printf 'sampl (%s) unstable; urgency=medium\n\n' "${line%%,*}"
        ;;
    '- '*) printf '%s\n' "${line#- }" | fold -s -w 74 | sed 's/ *$//; 1s/^/  * /; 1!s/^/    /' ;;
    '# end') printf '\n -- %s  %s\n' "$who" "$date" ;;
    esac
done >"$dir/changelog"
gzip -9nc "$dir/changelog" >"$doc/changelog.gz"
SOURCE_DATE_EPOCH=$(date -d "$(sed -n '/^ -- /{s/.*>  //p;q}' "$dir/changelog")" +%s)
export SOURCE_DATE_EPOCH

# dpkg-shlibdeps reads a source package's control file, though it wants nothing of it
mkdir -p "$dir/debian" "$root/DEBIAN"
printf 'Source: sampl\n\nPackage: sampl\nArchitecture: any\n' >"$dir/debian/control"
depends=$(cd "$dir" && dpkg-shlibdeps -O root/usr/bin/sampl | sed -n 's/^shlibs:Depends=//p')
(cd "$root" && find usr -type f -exec md5sum {} + | sort -k 2) >"$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<END
Package: sampl
Version: $version
Architecture: $arch
Maintainer: $who
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f1)
Depends: $depends
Section: science
Priority: optional
Description: run LLM sampler chains over recorded logits
 A filter that reads logit vectors and writes the tokens that a chain of
 samplers chooses: top-k, top-p, min-p, typical, mirostat, DRY, XTC and many
 others, with the options, the seeds and the bits of llama.cpp, or the
 pipelines of other programs. It also compares chains with one another, shows
 what each stage does to a distribution, and constrains tokens by grammars.
END
chmod -R go=u-w "$root"
find "$root" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -b "$root" "${dir%/*}/sampl_${version}_$arch.deb" >/dev/null
echo "${dir%/*}/sampl_${version}_$arch.deb"
