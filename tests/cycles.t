#!/usr/bin/perl
# Files of a folder that need one another: an edge goes from each object to the objects of the same folder that define
# its undefined symbols; a cycle is a strongly connected component of two files or more.  No folder has a larger cycle
# than its bound; the bound of a folder without one is 1.  Bounds are debts: they may fall, and never rise.
use strict;
use warnings;
use File::Find;
use Test::More;
require "$ENV{top_srcdir}/tests/folders.pl";

my %bound = (host => 27, device => 8, trace => 2, autotuner => 4, blas => 9, sparse => 7, libsemcache => 3,
    'cuda-um' => 7, tools => 9);
my ($src, $build) = @ENV{qw(top_srcdir top_builddir)};
plan skip_all => 'no nm' if system('nm --version >/dev/null 2>&1');

# Objects of a folder that have a source there, written or generated: name => { defines => {}, needs => {} }.
sub objects {
    my ($folder) = @_;
    my (%found, %object);
    my $add = sub {
        my ($room, $name) = $File::Find::name =~ m{^\Q$build\E/(.*?)(?:/\.libs)?/(?:[^/]*-)?(\w+)\.o$} or return;
        my @sources = map { ("$_/$room/$name.c", "$_/$room/$name.S") } $src, $build;
        $found{"$room/$name"} //= $File::Find::name if grep { -e } @sources;
    };
    find({ wanted => $add, no_chdir => 1 }, "$build/$folder") if -d "$build/$folder";
    for my $name (sort keys %found) {
        my %symbols = (defines => {}, needs => {});
        for (qx(nm '$found{$name}')) {
            $symbols{ $1 eq 'U' ? 'needs' : 'defines' }{$2} = 1 if /\s([UTDBRVWC]) (\S+)$/;
        }
        $object{$name} = \%symbols;
    }
    return \%object;
}

# name => the names that it needs.
sub edges {
    my ($object) = @_;
    my (%owner, %edge);
    for my $name (sort keys %$object) {
        $owner{$_} //= $name for keys %{ $object->{$name}{defines} };
    }
    for my $name (keys %$object) {
        my %to = map { $owner{$_} => 1 } grep { defined $owner{$_} } keys %{ $object->{$name}{needs} };
        $edge{$name} = [sort grep { $_ ne $name } keys %to];
    }
    return \%edge;
}

# All that can be reached from a file.
sub reach {
    my ($edge, $from) = @_;
    my %seen;
    my @left = @{ $edge->{$from} };
    while (defined(my $at = pop @left)) {
        push @left, @{ $edge->{$at} } unless $seen{$at}++;
    }
    return \%seen;
}

# The largest cycle: its files.
sub largest {
    my ($edge) = @_;
    my %reach = map { $_ => reach($edge, $_) } keys %$edge;
    my @most;
    for my $file (sort keys %reach) {
        my @cycle = grep { $reach{$file}{$_} && $reach{$_}{$file} } sort keys %reach;
        @most = @cycle if @cycle > @most;
    }
    return @most;
}

for my $folder (folders('tools')) {
    my $object = objects($folder);
  SKIP: {
        skip "$folder was not built", 1 unless %$object;
        my $edge = edges($object);
        my @cycle = largest($edge);
        my $size = @cycle || 1;
        my $bound = $bound{$folder} // 1;
        ok($size <= $bound, "$folder: the largest cycle of its files is $size of " . keys %$object) or
          diag("more than $bound: @cycle");
        note("the bound $bound can fall to $size") if $size < $bound;
    }
}

# What finds no cycle where there is one proves nothing.
is(join(' ', largest({ a => ['b'], b => ['c'], c => ['a'], d => ['a'] })), 'a b c', 'a cycle is found');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
