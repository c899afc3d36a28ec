# SPDX-License-Identifier: MIT
# links.pl DIR: a link to a file that the site lacks becomes its text.
use strict;
use warnings;
my $dir = shift;
while (<STDIN>) {
    s{<a href="([^"#:]+)(#[^"]*)?">(.*?)</a>}{-e "$dir/$1" ? $& : $3}ge;
    s{<!--.*?-->}{}g;
    print;
}
