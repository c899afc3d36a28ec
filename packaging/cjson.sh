#!/bin/sh
# SPDX-License-Identifier: MIT
# cjson.sh DIR: puts the source of cJSON into DIR, from the source package of the Debian or Ubuntu that this runs on. apt gets settings and
# folders of its own beside DIR, so that the system need not be set up for source packages, nor the user be root.
set -eu
for tool in apt-get dpkg-source; do
    command -v $tool >/dev/null || { echo "cjson.sh: there is no $tool here; put cJSON.c and cJSON.h into $1" >&2 && exit 1; }
done
rm -rf "$1" "$1.apt"
mkdir -p "$1.apt/sources" "$1.apt/lists/partial" "$1.apt/cache"
apt=$(cd "$1.apt" && pwd)
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [ -e "$file" ]; then
        sed 's/^deb\([ \t]\)/deb-src\1/; s/^Types:.*/Types: deb-src/' "$file" >"$apt/sources/${file##*/}"
    fi
done
from() {
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/sources" -o Dir::State::Lists="$apt/lists" \
        -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@"
}
from update || : # whoever has no source packages is none to ask
(cd "$apt" && from --download-only source cjson >&2)
dpkg-source --no-check -x "$apt"/cjson_*.dsc "$1" >/dev/null
rm -rf "$apt"
