#!/usr/bin/perl
# The adapter for Epetra, with conjugate gradients of Epetra's operations and with AztecOO's solvers on emulated
# devices. Asserts the answers of the host, that the matrix is uploaded once, and that further iterations move no
# vector.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $offload, $scratch);

need_adapter('epetra');
my $compiler = first_command(qw(mpicxx.openmpi mpicxx)) or plan(skip_all => 'no mpicxx');
my $flags = '-DWITH_MPI -isystem /usr/include/trilinos';
my $source = "$ENV{top_srcdir}/tests/adapters/epetra_cg.cc";
my $aztec = system("$compiler -w -DWITH_AZTECOO $flags -o $scratch/epetra_cg $source " .
    "-ltrilinos_aztecoo -ltrilinos_epetra -lblas >/dev/null 2>&1") == 0;
my $program = compile($compiler, $source, "$flags -ltrilinos_epetra -lblas");
my $side = 100;
my $matrix = 12 * (5 * $side**2 - 4 * $side) + 4 * $side**2;
my $vector = 8 * $side**2;
my $border = 4 * 4096; # pages with what goes to another rank, and with what came

for my $solver (qw(own jacobi columns)) {
    my ($half, $all) = map { same(1, $program, $solver, $side, $_) } 10, 20;
    my $matrices = $solver eq 'columns' ? 2 : 1; # also the transposed matrix
    cmp_ok($all->{bytes}{h2d}, '<=', 1.05 * $matrices * $matrix + 12 * $vector,
        "$all->{name}: the matrix goes up once");
    no_more($half, $all, 0.5 * $vector);
    is($all->{faults}, $half->{faults}, "$all->{name}: no fault in more iterations");
}
SKIP: {
    skip('no AztecOO', 1) unless $aztec;
    my ($half, $all) = map { same(1, $program, 'aztec', $side, $_) } 10, 20;
    # AztecOO divides by the diagonal and writes the search direction in loops of its own.
    no_more($half, $all, 10 * 3.5 * $vector);
    same(1, $program, 'gmres', $side, 20);
}
for my $ranks (2, 4) {
    my ($half, $all) = map { same($ranks, $program, 'jacobi', 2 * $side, $_) } 10, 20;
    # In each iteration the pages at both sides of each border between two ranks.
    no_more($half, $all, 10 * 2 * ($ranks - 1) * $border);
    is($all->{faults}, $half->{faults}, "$all->{name}: no fault in more iterations");
    same($ranks, $program, 'columns', 2 * $side, 10);
}
$offload = 'never';
same($_, $program, 'jacobi', $side, 10) for 1, 2;
same(1, $program, 'columns', $side, 10);

# Child processes load the adapter, too: they must not need Epetra.
for my $library (glob "$build/adapters/built/epetra/*/*.so") {
    my @needed = grep { / U / && /Epetra|semcache/ } `nm -D --undefined-only $library`;
    is(join('', @needed), '', 'the adapter needs no Epetra');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
