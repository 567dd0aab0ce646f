#!/usr/bin/perl
# The adapter for hypre, with a program of hypre's interface and PETSc's tutorials on emulated devices. Asserts the
# iterations and answers of the host, and that the vectors stay on the devices in cycles of BoomerAMG.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $offload, %launcher);

need_adapter('hypre');
my $compiler = first_command(qw(mpicc.openmpi mpicc)) or plan(skip_all => 'no mpicc');
my $program = compile($compiler, "$ENV{top_srcdir}/tests/adapters/hypre_pcg.c", '-I/usr/include/hypre -lHYPRE -lm');
my $side = 30;
my $vector = 8 * $side**3;

# l1-Jacobi, Chebyshev, l1-Jacobi at the points of one kind after the other (of two matrices), Jacobi so
for (['18 %d 0', 18], ['16 %d 0', 40], ['18 %d 0 1', 60, 2], ['7 %d 0 1', 60, 2]) {
    my ($arguments, $products, $matrices) = (@$_, 1);
    my ($half, $all) = map { same(1, $program, $side, split / /, sprintf $arguments, $_) } 4, 8;
    # Levels on the host share their temporary vectors with the levels on the devices: parts of them come home.
    cmp_ok($all->{bytes}{h2d} - $half->{bytes}{h2d}, '<', $matrices * 2 * $vector, "$all->{name}: a cycle, up");
    cmp_ok($all->{bytes}{d2h} - $half->{bytes}{d2h}, '<', $matrices * 12 * $vector, "$all->{name}: a cycle, down");
    # Without the coarse matrices of few rows with many entries: 15, 31 and 46.
    cmp_ok($all->{calls}{sparse_mv} - $half->{calls}{sparse_mv}, '>=', 4 * $products, "$all->{name}: coarse products");
}
same(1, $program, $side, 7, 4, 1); # GMRES with Jacobi
same(1, $program, $side, $_, 4, 0) for 0, 8; # smoothers on the host
for my $inside (0, 1) {
    $launcher{inside} = $inside;
    same(2, $program, $side, 18, 5, 0);
}
$launcher{inside} = 0;
# Several ranks: the borders move, and what the coarse levels on the host need.
for my $ranks (2, 4) {
    my ($half, $all) = map { same($ranks, $program, 40, 18, $_, 0) } 4, 8;
    no_more($half, $all, 4 * 0.75 * $ranks * 8 * 40**3);
    cmp_ok($all->{faults} - $half->{faults}, '<', 4 * 6 * $ranks, "$all->{name}: few faults in a cycle");
}

# PETSc's -pc_type hypre: also the adapter for PETSc.
my ($tutorials) = reverse sort glob('/usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials');
SKIP: {
    skip('no tutorials of PETSc with hypre', 1) unless $tutorials;
    chomp(my $flags = `pkg-config --cflags --libs PETSc`);
    my $tutorial = compile($compiler, "$tutorials/ex2.c", "$flags -lm");
    same(1, $tutorial, '-m', 150, '-n', 150, '-ksp_type', 'cg', '-pc_type', 'hypre',
        '-pc_hypre_boomeramg_relax_type_all', $_, '-ksp_max_it', 4) for qw(l1scaled-Jacobi Chebyshev SOR/Jacobi);
}
$offload = 'never';
same($_, $program, 22, 16, 4, 0) for 1, 2;
same(1, $program, 22, 8, 4, 0);

# Child processes load a preloaded adapter, too: they must not need the library of the adapter. The names
# of a sanitizer are there wherever the sanitizer is.
for my $library (map { glob "$build/adapters/built/$_/*/*.so" } qw(cholmod hypre)) {
    my @needed = grep { !/ [wU] \S+\@GLIBC| w | U __[a-z]+san_/ } `nm -D --undefined-only $library`;
    is(join('', @needed), '', "$library needs libc only");
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
