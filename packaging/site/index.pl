# SPDX-License-Identifier: MIT
# perl -0777 index.pl PAGE...: the entries of the search as a script: [[title, section, address], ...].
use strict;
use warnings;
my @entries;
sub text {
    my $text = shift =~ s{<a class="try".*?</a>}{}gr;
    $text =~ s/<[^>]*>//g;
    $text =~ s/&#x([0-9A-F]+);/chr hex $1/ge;
    $text =~ s/&lt;/</g, $text =~ s/&gt;/>/g, $text =~ s/&quot;/"/g, $text =~ s/&amp;/&/g;
    $text =~ s/\s+/ /g, $text =~ s/^ | $//g;
    $text =~ s/(["\\])/\\$1/g;
    return $text;
}
binmode STDOUT, ':utf8';
while (<>) {
    my ($page, $section) = ($ARGV =~ m{([^/]+)\.html$}, '');
    while (m{<(h1|h2|dt|p)(?: class="\w+")? id="([^"]+)">(.*?)</\1>}sg) {
        my ($tag, $id, $title) = ($1, $2, text($3));
        next if $title eq '';
        $section = $title if $tag eq 'h1' || $tag eq 'h2';
        push @entries, sprintf '["%s","%s","%s.html#%s"]', substr($title, 0, 120), $tag =~ /^h/ ? $page : "$page: $section", $page, $id;
    }
}
print "const entries = [\n", join(",\n", @entries), "\n];\n";
