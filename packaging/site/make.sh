#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the site: the README's first half, the manual pages, the explorer and the vectors, all as files that need no server.
# usage: make.sh OUT EXPLORER
# Needs mandoc, cmark-gfm and perl. A section or an item of a page that has an anchor becomes an entry of the search, index.js.
set -eu
out=$1 explorer=$2
cd "$(dirname "$0")/../.."
here=packaging/site
shopt -s nullglob
pages=(man/*.1 man/*.7 man/*.5 man/*.3)
rm -rf "$out"
mkdir -p "$out/man" "$out/samples"
cp -r man/pictures "$out/man/"
cp -r samples/vectors "$out/samples/"
cp "$explorer" "$out/explorer.html"
cp "$here/site.js" "$out/"
# The palette is that of the page of -O html.
cat src/out/html/palette.css "$here/site.css" >"$out/style.css"

# file PAGE: the name of a page's file, such as sampl.1.html.
file() {
    echo "$(basename "$1").html"
}

# menu: links to all pages but those that only name other pages.
menu() {
    echo '<a href="index.html">sampl</a>'
    for page in "${pages[@]}"; do
        name=$(basename "$page")
        case $name in
        sampl.*) name="sampl(${name##*.})" ;;
        *) name=${name#sampl-} name=${name%.*} ;;
        esac
        [ "$(wc -l <"$page")" -lt 40 ] || echo "<a href=\"$(file "$page")\">$name</a>"
    done
    echo '<a href="explorer.html">explorer</a>'
}

# frame TITLE: a page around standard input.
frame() {
    cat <<HTML
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$1</title>
<link rel="stylesheet" href="style.css">
<header>
<nav aria-label="pages">
$(menu)
</nav>
<form role="search"><label>search <input type="search" autocomplete="off"></label><ol hidden></ol></form>
</header>
<main>
HTML
    cat
    echo '</main>'
    echo '<script src="index.js"></script>'
    echo '<script src="site.js"></script>'
}

for page in "${pages[@]}"; do : >"$out/$(file "$page")"; done # mandoc links to pages that exist
for page in "${pages[@]}"; do
    man=$PWD/$page
    (cd "$out" && mandoc -Thtml -O 'fragment,toc,man=%N.%S.html;https://manpages.debian.org/%N.%S' "$man") |
        perl "$here/examples.pl" "$here/examples.tsv" | frame "$(basename "$page")" >"$out/page"
    mv "$out/page" "$out/$(file "$page")"
done
sed '/<!-- site: end -->/,$d' README.md | cmark-gfm --extension table | perl "$here/links.pl" "$out" |
    frame 'sampl: see, compare and test LLM samplers on recorded logits' >"$out/index.html"
(cd "$out" && perl -0777 "$OLDPWD/$here/index.pl" ./*.[1357].html >index.js)
