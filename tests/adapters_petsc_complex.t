#!/usr/bin/perl
# The adapter for PETSc with complex numbers, with PETSc's own tutorials of KSP on emulated devices. Asserts the
# output of the host, that the matrix is uploaded once, and that further iterations move no vector.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $offload);

need_adapter('petsc');
plan(skip_all => 'the adapter for complex numbers was not built')
  unless glob("$build/adapters/built/petsc/*complex*/libsemcache_petsc.so");
my ($tutorials) = reverse sort glob('/usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials');
plan(skip_all => 'no tutorials of PETSc (libpetsc3.18-dev-examples)') unless $tutorials;
my $compiler = first_command(qw(mpicc.openmpi mpicc)) or plan(skip_all => 'no mpicc');
my ($folder) = reverse sort glob('/usr/lib/petscdir/*/*-complex/lib/pkgconfig');
plan(skip_all => 'no pkg-config file of PETSc with complex numbers') unless $folder;
chomp(my $flags = `PKG_CONFIG_PATH=$folder pkg-config --cflags --libs PETSc`);

sub tutorial {
    my ($ranks, $name, @arguments) = @_;
    return same($ranks, compile($compiler, "$tutorials/$name.c", "$flags -lm"), @arguments);
}

my $side = 60;
my $matrix = 20 * (5 * $side**2 - 4 * $side) + 4 * $side**2;
my $vector = 16 * $side**2;
my %uploads = (gmres => 8, chebyshev => 28);

for my $method (qw(cg bcgs gmres cgs tfqmr chebyshev)) {
    my @arguments = ('ex2', '-m', $side, '-n', $side, '-ksp_type', $method, '-pc_type', 'jacobi', '-ksp_max_it');
    my ($half, $all) = (tutorial(1, @arguments, 12), tutorial(1, @arguments, 24));
    cmp_ok($all->{bytes}{h2d}, '<=', 1.05 * $matrix + ($uploads{$method} // 5) * $vector,
        "$all->{name}: the matrix goes up once");
    no_more($half, $all, 0.5 * $vector);
}
# The conjugates of vectors are PETSc's loops.
tutorial(1, 'ex2', '-m', $side, '-n', $side, '-ksp_type', 'bicg', '-pc_type', 'jacobi', '-ksp_max_it', 12);
# Helmholtz's equation: matrix and right-hand side with imaginary parts.
for my $method (qw(gmres bcgs tfqmr)) {
    tutorial($_, 'ex11', '-n', 48, '-ksp_type', $method, '-pc_type', 'jacobi', '-ksp_max_it', 10,
        '-ksp_monitor_short', '-norandom') for 1, 2;
}
tutorial(1, 'ex2', '-m', $side, '-n', $side, '-ksp_type', 'gmres', '-pc_type', $_, '-ksp_max_it', 12)
  for qw(ilu sor gamg);
# Factors and relaxation on the device.  Helmholtz's equation gives ICC a matrix with imaginary parts.
for my $preconditioner (qw(ilu icc sor)) {
    my @runs = map { tutorial(1, qw(ex11 -n 48 -norandom -ksp_type gmres -ksp_gmres_restart 99 -ksp_rtol 1e-30),
        '-pc_type', $preconditioner, '-ksp_max_it', $_) } 45, 55;
    is($runs[1]{calls}{sparse_sv} - $runs[0]{calls}{sparse_sv}, 20, "$runs[1]{name}: solves on the device");
}
$offload = 'never';
tutorial($_, 'ex11', '-n', 20, '-ksp_type', 'bcgs', '-pc_type', 'jacobi', '-norandom') for 1, 2;
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
