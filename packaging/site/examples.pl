# SPDX-License-Identifier: MIT
# examples.pl FILE: puts a link into the explorer after the heading of each sampler. A line of FILE: sampler, tab, options.
# mandoc writes '_' for '-' in a link to a section, but not in the section's anchor: such links are mended.
use strict;
use warnings;
open my $file, '<', shift or die $!;
my %options = map { chomp; /^#/ ? () : split /\t/ } <$file>;
my $page = do { local $/; <STDIN> };
my %anchor;
$anchor{$1 =~ tr/-/_/r} //= $1 while $page =~ / id="([^"]+)"/g;
for my $link ($page =~ /href="#([^"]+)"/g) {
    my $real = $anchor{$link =~ tr/-/_/r};
    $page =~ s/href="#\Q$link\E"/href="#$real"/g if $real && $page !~ / id="\Q$link\E"/;
}
$page =~ s{<h2 class="Ss" id="(\w+)">.*?\K(?=</h2>)}{
    my $args = join '+', map { s/([^\w.-])/sprintf '%%%02X', ord $1/ger } split / /, $options{$1} // '';
    $args ? qq( <a class="try" href="explorer.html#args=$args">see it</a>) : ''}ge;
$page =~ s{((?:<mark id="[^"]*"></mark>\s*)+)(<dt[^>]*>)}{$2$1}g; # anchors before an item belong into it
print $page;
