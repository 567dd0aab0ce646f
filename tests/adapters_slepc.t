#!/usr/bin/perl
# The adapter for PETSc with SLEPc's own tutorial of eigenvalues on emulated devices. Asserts the output of the host,
# and that the basis stays on the devices when a method restarts.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $offload);

need_adapter('petsc');
my ($tutorials) = reverse sort glob('/usr/share/slepc/*/share/slepc/examples/src/eps/tutorials');
plan(skip_all => 'no tutorials of SLEPc (libslepc3.18-dev-examples)') unless $tutorials;
my $compiler = first_command(qw(mpicc.openmpi mpicc)) or plan(skip_all => 'no mpicc');
chomp(my $flags = `pkg-config --cflags --libs SLEPc PETSc 2>/dev/null`);
plan(skip_all => 'no SLEPc') unless $flags =~ /slepc/;
# Debian chooses SLEPc and PETSc apart: a program with both kinds of numbers hangs.
my ($slepc, $petsc) = map { $flags =~ /-l${_}_(\w+)/ ? $1 : '' } qw(slepc petsc);
plan(skip_all => "SLEPc is of $slepc, PETSc of $petsc numbers (update-alternatives)") if $slepc ne $petsc;
my ($adapter) = grep { !/complex/ } glob("$build/adapters/built/petsc/*/libsemcache_petsc.so");
plan(skip_all => 'the adapter was built without the headers of SLEPc')
  unless $adapter && slurp($adapter) =~ /BVRegister/;

sub tutorial {
    my ($ranks, @arguments) = @_;
    return same($ranks, compile($compiler, "$tutorials/ex2.c", "$flags -lm"), @arguments);
}

# Eigenvalues and numbers of restarts are those of the host; residuals are differences of nearly equal vectors.
for my $ranks (1, 2) {
    my $program = compile($compiler, "$tutorials/ex2.c", "$flags -lm");
    my @out = map { offered($ranks, $_, $program, qw(-n 100 -eps_nev 2 -eps_ncv 50 -eps_tol 1e-6))->{out} } 1, 0;
    s/\d\.\d+e-\d+//g for @out;
    like($out[0], qr/converged \(2 eigenpairs\).*7\.998/s, "$ranks ranks: converges");
    is($out[1], $out[0], "$ranks ranks: eigenvalues and restarts of the host");
}

# A restart moves coefficients only.
my $side = 100;
my $vector = 8 * $side**2;
for my $method (qw(krylovschur arnoldi)) {
    my @runs = map { tutorial(1, '-n', $side, '-eps_nev', 1, '-eps_type', $method, '-eps_max_it', $_) } 2, 4;
    no_more(@runs, 2 * $vector);
    is($runs[1]{faults}, $runs[0]{faults}, "$runs[1]{name}: no fault in more restarts");
}
tutorial(1, '-n', $side, '-eps_nev', 1, '-eps_type', $_, '-eps_max_it', 3) for qw(lobpcg gd);
tutorial(2, '-n', 150, '-eps_nev', 1, '-eps_max_it', 2);
$offload = 'never';
tutorial(1, '-n', $side, '-eps_nev', 1, '-eps_max_it', 2);
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
