#!/usr/bin/perl
# The commands of doc/tutorials.md give the output that the document shows: standard output, then standard error. Of
# numbers only the places are compared, except line numbers and results; a line "..." stands for any lines.
use strict;
use warnings;
use Cwd qw(abs_path);
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch);
need('tools/semcache');
my $document = slurp("$ENV{top_srcdir}/doc/tutorials.md");
plan skip_all => 'no document' unless $document;
$build = abs_path($build);

# --- the document: files, and commands with their output

my (@commands, $file, $in_output);
for (split /\n/, $document) {
    $file = $1 if /File `([\w.]+)`/;
    if (/^    \$ (.*)/) {
        push @commands, { command => $1, lines => [] };
        ($file, $in_output) = (undef, 1);
    } elsif (/^    (.*)/ || (/^()$/ && ($file || $in_output))) {
        my $line = $1;
        if ($file && ($line ne '' || -s "$scratch/$file")) {
            open my $out, '>>', "$scratch/$file" or die $!;
            print $out "$line\n";
        } elsif ($in_output) {
            push @{ $commands[-1]{lines} }, $line;
        }
    } else {
        ($file, $in_output) = (undef, 0) unless /File `/;
    }
}
for my $command (@commands) {
    pop @{ $command->{lines} } while @{ $command->{lines} } && $command->{lines}[-1] eq '';
}
cmp_ok(scalar @commands, '>=', 15, 'commands');

# --- the environment of a reader who has installed everything

mkdir "$scratch/bin";
symlink "$build/tools/semcache", "$scratch/bin/semcache";
$ENV{PATH} = "$scratch/bin:$ENV{PATH}";
$ENV{LIBRARY_PATH} = join ':', "$build/.libs", grep { defined } $ENV{LIBRARY_PATH};
$ENV{LD_LIBRARY_PATH} = join ':', "$build/.libs", grep { defined } $ENV{LD_LIBRARY_PATH};
delete $ENV{$_} for grep { /^SEMCACHE_(?!DATABASE|TEST)/ } keys %ENV;

SKIP: {
    open my $probe, '>', "$scratch/probe.c" or die $!;
    print $probe "#include <cblas.h>\nint main(void) { return cblas_dnrm2(0, 0, 1) > 0; }\n";
    close $probe or die $!;
    skip 'no compiler with cblas.h and -lblas', 2 * @commands
      if system("cd $scratch && cc -o probe probe.c -lblas 2>/dev/null && ./probe") != 0;
    my $libraries = qx(ldd $build/tools/semcache 2>/dev/null; ldd $build/tools/.libs/semcache 2>/dev/null);
    skip 'built without libdw', 2 * @commands unless $libraries =~ /libdw/;

    for (@commands) {
        my ($command, @expected) = ($_->{command}, @{ $_->{lines} });
        if ($command =~ /^export (.*)/) {
            for my $setting (split ' ', $1) {
                my ($name, $value) = split /=/, $setting, 2;
                $ENV{$name} = $value;
            }
            next;
        }
        my $got = qx(cd $scratch && { $command ; } 2> err);
        is($?, 0, "\$ $command") or diag($got);
        $got .= slurp("$scratch/err");
        like(plain($got), pattern(@expected), 'prints what the document shows')
          or diag("document:\n", join("\n", @expected), "\nnow:\n$got");
    }
}
done_testing();

# Numbers without a meaning for a reader become #; the table keeps its columns and not its widths. Names of vector
# variants of memset differ between processors.
sub plain {
    my ($text) = @_;
    $text =~ s/__memset_\w+/memset/g;
    $text =~ s/0x[0-9a-f]+/#/g;
    $text =~ s{by /\S*/}{by }g;
    $text =~ s/^(?!eigenvalue|seen|norm)(.*)/$1 =~ s{(?<![:\w.])[+-]?\d[\d.]*+%?}{#}gr/gme;
    $text =~ s/[ \t]+/ /g;
    $text =~ s/ $//mg;
    return $text;
}

sub pattern {
    my @lines = @_;
    my $text = join '', map { $_ eq '...' ? "\0" : quotemeta(plain("$_\n")) } @lines;
    $text =~ s/\0/(?:.*\\n)*?/g;
    return qr/\A$text\z/;
}
# SPDX-License-Identifier: BSD-2-Clause
