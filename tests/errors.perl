# SPDX-License-Identifier: MIT
# errors.perl TABLE SOURCE...: prints each message of the sources that no row of the table expects. Messages are
#   - the format strings of err_set, err_prefix, message_warn, message_note, view_refuse, schema_fail and gbnf_fail;
#   - every string in the initializer of an array whose name ends in "messages", such as
#         static const struct { enum status status; const char *format; } messages[] = {
#             [FAULT_NAN] = {STATUS_DATA, "logit %" PRIu64 " is NaN"}, ...
#     Such an array must hold no other strings. The call then passes a variable or a member named `format`;
#   - the sentences of the rules NEEDS("..."), EXCLUDES("...") and READS_INPUT() (cli/option_rules.h), in the option rows
#     and macros that name them.
use strict;
use warnings;

my ($table, @sources) = @ARGV;
my (@expected, %unreachable, $wrong);

sub complain { print "@_\n"; $wrong = 1 }

sub slurp {
    open my $f, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$f>;
}

for (split /\n/, slurp($table)) {
    next if /^#|^$/;
    my ($status, undef, $err, $command) = split /\t/;
    if (!defined $command) { complain("$table: not four columns: $_") }
    elsif ($status eq 'unreachable') { $unreachable{$err} = 1 }
    else { push @expected, split m{ // }, $err }
}

my $string = qr/"(?:\\.|[^"\\])*"/;

# text_of SOURCE: returns the text of adjacent literals and PRI macros.
sub text_of {
    my ($text) = @_;
    $text =~ s/\bPRI\w+/"u"/g;
    return join '', map { s/\\(.)/$1/gr } $text =~ /"((?:\\.|[^"\\])*)"/g;
}

# pattern_of FORMAT: returns a pattern in which each conversion matches any text.
sub pattern_of {
    return join '.*', map { s/%%/%/gr =~ s/(\W)/\\$1/gr }
        split /(?<!%)%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[hlzjt]*[a-zA-Z]/, $_[0], -1;
}

my %frame = (set => ['(?:^|: )', '$'], prefix => ['(?:^|: )', ': '], warn => ['^warning: ', '$'], note => ['^note: ', '$']);

sub expect_message {
    my ($source, $line, $format, $call) = @_;
    my ($before, $after) = @{$frame{$call}};
    my $whole = $before . pattern_of($format) . $after;
    if (exists $unreachable{$format}) { $unreachable{$format} = 0 }
    elsif (!grep { $_ =~ $whole } @expected) { complain("$source:$line: nothing expects \"$format\"") }
}

for my $source (@sources) {
    my $text = slurp($source);
    while ($text =~ /\b(?:(?:err|message)_(set|prefix|warn|note)|view_refuse|gbnf_fail|schema_fail(?:_late)?)\s*\(/g) {
        my ($call, $line) = ($1 // 'set', 1 + (substr($text, 0, $-[0]) =~ tr/\n//));
        if ($text =~ /\G([^";{}]*)($string(?:$string|\s|\bPRI\w+)*)(?=[,)])/gc) {
            my ($before, $format) = ($1, text_of($2));
            complain("$source:$line: a choice of formats; write two calls") if $before =~ /\?/;
            expect_message($source, $line, $format, $call);
        } elsif ($text !~ /\G(?:[^;{]*\bformat\b|\.\.\.)/gc) {
            complain("$source:$line: the format of $call is not a string");
        }
    }
    # Tables of formats.
    while ($text =~ /\b\w*messages\[\w*\]\s*=\s*\{/g) {
        my $depth = 1;
        while ($depth && $text =~ /\G[^"'{}]*(?:($string(?:$string|\s|\bPRI\w+)*)|('(?:\\.|[^'])+')|([{}]))/gc) {
            my ($format, $brace, $line) = ($1, $3, 1 + (substr($text, 0, $-[0]) =~ tr/\n//));
            $depth += $brace eq '{' ? 1 : -1 if defined $brace;
            expect_message($source, $line, text_of($format), 'set') if defined $format;
        }
    }
    # Rules of options. A rule that a macro shares is about the option of each row that uses the macro.
    my %macro = $text =~ /^#define (\w+)[ \\\n]+($string)$/mg;
    while ($text =~ /^(?:    \{$string, .*?(?=^    \{$string, |^\};)|#define [A-Z_]+\b.*?[^\\]\n)/msg) {
        my ($row, $line) = ($&, 1 + (substr($text, 0, $-[0]) =~ tr/\n//));
        my $subject = $row =~ /^    \{"([^"]+)"/ ? "--$1" : '%s';
        while ($row =~ /\b(NEEDS|EXCLUDES|READS_INPUT)\(((?:$string|[^()"])*)\)/g) {
            my ($kind, $rule) = ($1, $2 =~ s/\b([A-Z_]{2,})\b/$macro{$1} \/\/ '%s'/ger);
            next if $rule =~ /^\.\.\./;
            my %member = map { text_of($_) } map { s/^\.(\w+) = /"$1", /r =~ /($string), ((?:$string|\s)+)/ } $rule =~ /\.\w+ = (?:$string|\s)+/g;
            my @others = map { '--' . s/=.*//r } split /,/, $rule =~ /^\s*"([^"]*)"/ ? $1 : '';
            my $last = pop @others;
            my $list = join(', ', @others) . (@others ? ' or ' : '') . ($last // '') . ($rule =~ /^\s*"[^"]*=/ ? ' %s' : '');
            my $says = $member{says} // ($kind eq 'READS_INPUT' ? ': standard input cannot be read twice'
                : ($kind eq 'NEEDS' ? ' needs ' : ' cannot be used with ') . $list . ($member{why} // ''));
            expect_message($source, $line, ($member{as} // $subject) . ($member{of} ? ' %s' : '') . $says, 'set');
        }
    }
    # The phrases that complete "cannot %s" and "where JSON expects %s".
    while ($text =~ /\b(?:fail|(?:json_)?syntax)\([\w>&.-]+, ($string)/g) {
        my $what = text_of($1);
        complain("$source: nothing expects '$what'") if !grep { index($_, $what) >= 0 } @expected;
    }
}
complain("$table: unreachable, but not in the source: $_") for sort grep { $unreachable{$_} } keys %unreachable;
exit($wrong ? 1 : 0);
