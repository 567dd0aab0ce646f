#!/usr/bin/perl
# The language of comments and documents (CONTRIBUTING.md, rule 10).  Counted are sentences of six words or more:
#   words  share of pronouns and indefinite words, percent
#   heavy  share of sentences in which a quarter of the words or more are pronouns or indefinite words, percent
#   long   share of sentences of more than 30 words, percent
# `tests/prose.t PATH...` prints the figures and the worst sentences of the given files.
use strict;
use warnings;
use Test::More;
require(($ENV{top_srcdir} // '.') . '/tests/folders.pl');

# Largest figures allowed: words, heavy, long.
my @document = (7, 2, 0);
my @few = (8, 34, 17); # less than 12 sentences, where one sentence is 9% or more
my @folder = (7, 2, 1);
# Folders and documents that are still to be rewritten, as they are.
my %bound = (
);

my %weak = map { $_ => 1 } qw(
    it its itself they them their this that these those which what whatever who whom whose one ones other others another
    some something any anything none nothing everything all each both either neither such so there here then
);

# Comments of C (and of files alike), and of scripts, where a comment fills a line.
sub comments_of_c {
    my ($text) = @_;
    my @found;
    while ($text =~ m{/\*(.*?)\*/|((?:^[ \t]*//[^\n]*\n)+)}gms) {
        my $comment = $1 // $2;
        $comment =~ s{^\s*(?:\*|//)}{}gm;
        push @found, $comment;
    }
    return @found;
}

sub comments_of_script {
    my ($text) = @_;
    my @found;
    while ($text =~ m{((?:^[ \t]*\#(?!!)[^\n]*\n)+)}gm) {
        (my $comment = $1) =~ s{^\s*\#+}{}gm;
        push @found, $comment;
    }
    return @found;
}

# Paragraphs and items of lists; neither tables nor code.
sub paragraphs {
    my ($text) = @_;
    $text =~ s/^```.*?^```//gms;
    $text =~ s/^(?:[ \t]*\||    ).*$//gm;
    return split /\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/, $text;
}

sub manual {
    my ($text) = @_;
    $text =~ s/^\.(?:[BI]R?|[RI][BI]|B)\s+(.*)$/X/gm;
    $text =~ s/\\f[BIR]//g;
    return split /^\..*\n/m, $text;
}

sub sentences {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    my @pieces = $file =~ /\.md$/ ? paragraphs($text)
        : $file =~ /\.[17]$/ ? manual($text)
        : $file =~ /\.(?:c|h|cu|cuh|cc|cpp|inc|l)$/ ? comments_of_c($text)
        : comments_of_script($text);
    my @sentences;
    for my $piece (@pieces) {
        $piece =~ s/\s+/ /g;
        $piece =~ s/`[^`]*`/X/g;
        for my $sentence (split /(?<=[.!?;:])\s+/, $piece) {
            my @words = $sentence =~ /[A-Za-z']+/g;
            next if @words < 6;
            my $weak = grep { $weak{lc $_} } @words;
            push @sentences, { file => $file, text => $sentence, words => scalar @words, weak => $weak };
        }
    }
    return @sentences;
}

sub percent { my ($part, $all) = @_; return $all ? 100 * $part / $all : 0; }

sub figures {
    my ($words, $weak, $heavy, $long) = (0, 0, 0, 0);
    for my $s (@_) {
        $words += $s->{words};
        $weak += $s->{weak};
        $heavy++ if 4 * $s->{weak} >= $s->{words};
        $long++ if $s->{words} > 30;
    }
    return (percent($weak, $words), percent($heavy, scalar @_), percent($long, scalar @_));
}

sub bound_of {
    my ($name, $sentences) = @_;
    return @{$bound{$name}} if $bound{$name};
    return @folder if $name !~ /\./ || $name =~ m{/README};
    return $sentences < 12 ? @few : @document;
}

# Heaviest first; sentences that are too long before all others where those are too many.
sub worst {
    my ($long, @sentences) = @_;
    my %weight = map { $_ => $_->{weak} / $_->{words} * ($_->{words} > 30 ? 30 : $_->{words})
        + ($long && $_->{words} > 30 ? 100 + $_->{words} : 0) } @sentences;
    my @sorted = sort { $weight{$b} <=> $weight{$a} } @sentences;
    return map { "$_->{file}: " . substr($_->{text}, 0, 160) } grep { defined } @sorted[0 .. 2];
}

if (@ARGV) {
    my @all = map { sentences($_) } @ARGV;
    printf "%d sentences: words %.1f%%, heavy %.1f%%, long %.1f%%\n", scalar @all, figures(@all);
    print "  $_\n" for worst(0, @all), worst(1, grep { $_->{words} > 30 } @all);
    exit;
}

chdir($ENV{top_srcdir} // '.') or die;
my %group;
my @roots = ('include', folders());
for my $file (sort split /\n/, `find @roots README.md CONTRIBUTING.md SECURITY.md bootstrap.sh Makefile.am -type f`) {
    if ($file =~ /\.(?:md|[17])$/) {
        next if $file eq 'doc/routines.md';
        $group{$file} = [$file];
    } elsif ($file =~ /\.(?:c|h|cu|cuh|cc|cpp|inc|l|sh|t|pl|py|awk|mk|am|tab)$/ || $file eq 'tests/run-one') {
        my ($head) = do { open my $in, '<', $file or die; scalar <$in> };
        next if ($head // '') =~ /^.. Generated from/;
        my ($folder) = $file =~ m{^([^/]+)/};
        push @{$group{$folder // 'top'}}, $file;
    }
}
for my $name (sort keys %group) {
    my @sentences = map { sentences($_) } @{$group{$name}};
    my @figures = figures(@sentences);
    my @bound = bound_of($name, scalar @sentences);
    my @over = grep { $figures[$_] > $bound[$_] } 0 .. 2;
    my $said = sprintf '%s: words %.1f (%g), heavy %.1f (%g), long %.1f (%g)', $name,
        map { ($figures[$_], $bound[$_]) } 0 .. 2;
    ok(!@over, $said) or diag(join "\n", 'rewrite first:', worst($over[-1] == 2, @sentences));
}
is(join(' ', grep { !$group{$_} } sort keys %bound), '', 'every bound has its folder or document');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
