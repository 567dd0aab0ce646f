#!/usr/bin/perl
# The adapter for Octave, with Octave's own solvers on emulated devices. Asserts the iterations and answers of the host,
# that the matrix is uploaded once, and that further iterations move no vector.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $offload);

need();
plan(skip_all => 'the adapter for Octave was not built') unless -e "$build/adapters/built/octave/semcache_start.m";
my $octave = first_command('octave-cli') or plan(skip_all => 'no octave-cli');
$ENV{SEMCACHE_TEST_ADAPTER_LEAST} = 1000;
my @octave = ($octave, '--norc', '--quiet');
my $programs = "$ENV{top_srcdir}/tests/adapters";
my $side = 60;
my $matrix = 16 * (5 * $side**2 - 4 * $side) + 8 * $side**2;
my $vector = 8 * $side**2;

for my $solver (qw(pcg bicg bicgstab cgs tfqmr)) {
    my ($half, $all) = map { same(1, @octave, "$programs/solve_octave.m", $solver, $side, $_) } 10, 20;
    cmp_ok($all->{bytes}{h2d}, '<=', 1.05 * ($solver eq 'bicg' ? 2 : 1) * $matrix + 6 * $vector,
        "$all->{name}: the matrix goes up once"); # bicg: also the transposed matrix
    no_more($half, $all, 0.5 * $vector);
}
same(1, @octave, "$programs/solve_octave.m", $_, $side, 10) for qw(gmres pcr qmr);
same(1, @octave, "$programs/operators_octave.m");

$offload = 'never';
same(1, @octave, "$programs/operators_octave.m");
same(1, @octave, "$programs/solve_octave.m", 'pcg', $side, 10);

# Octave without libsemcache, and of another version.
my $expression = 'x = ones (5000, 1); printf ("%d %d\n", sum (x + x), exist ("semcache_octave"))';
$ENV{OCTAVE_PATH} = "$build/adapters/built/octave";
is(`$octave --norc --eval '$expression'`, "10000 3\n", 'Octave without libsemcache computes');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
