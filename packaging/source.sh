#!/bin/sh
# SPDX-License-Identifier: MIT
# source.sh VERSION TARBALL CJSON DIR: makes the source package of Debian in DIR: the tarball of `make dist`, cJSON's source as a second one, since
# a build may not fetch, and the folder sampl-VERSION with packaging/debian as debian/. DEBFULLNAME and DEBEMAIL name who answers for it.
set -eu
version=$1 tarball=$2 cjson=$3 dir=$4 who="${DEBFULLNAME:-sampl developers} <${DEBEMAIL:-sampl@sampl.invalid}>"
source=$dir/sampl-$version
rm -rf "$dir"
mkdir -p "$dir/cjson"
cp "$tarball" "$dir/sampl_$version.orig.tar.gz"
tar -xzf "$tarball" -C "$dir"
cp "$cjson/cJSON.c" "$cjson/cJSON.h" "$cjson/LICENSE" "$dir/cjson"
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=u-w --mtime=@0 -C "$dir" -c cjson | gzip -9n >"$dir/sampl_$version.orig-cjson.tar.gz"
mv "$dir/cjson" "$source"
cp -r "$source/packaging/debian" "$source/debian"
sed -i "s/@WHO@/$who/" "$source/debian/control"

# CHANGES.md has "## 0.1.0, 2026-11-22" and lists. The changelog of Debian has the same items, dated noon.
{ cat "$source/packaging/CHANGES.md" && echo '# end'; } | sed ':join; N; $!b join; s/\n  */ /g' | while IFS= read -r line; do
    case $line in
    '## '*)
        [ -z "${date-}" ] || printf '\n -- %s  %s\n\n' "$who" "$date"
        date=$(LC_ALL=C date -uRd "${line##*, } 12:00")
        line=${line#*' '}
        printf 'sampl (%s-1) unstable; urgency=medium\n\n' "${line%%,*}"
        ;;
    '- '*) printf '%s\n' "${line#- }" | fold -s -w 74 | sed 's/ *$//; 1s/^/  * /; 1!s/^/    /' ;;
    '# end') printf '\n -- %s  %s\n' "$who" "$date" ;;
    esac
done >"$source/debian/changelog"
