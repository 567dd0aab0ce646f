#!/usr/bin/perl
# The programs of bench/programs, small, on an emulated device. Asserts that a program gives the host's results and
# moves at most three times the bytes of its data (or the multiple in %bound). It takes at most 16 faults for each
# offloaded call, and 64 faults besides.
use strict;
use warnings;
use JSON::PP;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need();
our ($build, $scratch);
my ($python) = grep { -x $_ && system("$_ -c 'import numpy, scipy' >/dev/null 2>&1") == 0 } '/usr/bin/python3',
    map { "$_/python3" } split /:/, $ENV{PATH};
$python //= 'python3';
plan(skip_all => 'no python3 here') if system("$python -c '' >/dev/null 2>&1") != 0;

# MB read and written by each program's calls: a matrix counts once, or once a step where it is new in every step.
my %data = (
    cholesky => 23, eigh => 9, svd => 8, solve => 23, matmul => 20, lobpcg => 22, cg_dense => 32, logistic => 24,
    gaussian_process => 64, network => 45, qr => 15, inv => 19, eigvalsh => 6, lstsq => 8, eig => 3, eigsh => 12,
    gmres => 18, power => 32, pca => 32, ridge => 20, kmeans => 88, kalman => 38, expm => 20, einsum => 67,
    matmul_single => 13, steps => 5, cg_sparse => 0, gmres_sparse => 0, jacobi_own => 32, cg_own => 32, lu_own => 8,
    gmres_columns => 32, orthogonal => 1, pool_fork2 => 2, pool_spawn2 => 2, r_solve => 10, r_chol => 13, r_svd => 5,
    r_eigen => 6, r_lm => 6, r_prcomp => 5, r_crossprod => 10, octave_mtimes => 10, octave_mldivide => 13,
    octave_chol => 13, octave_svd => 5, octave_eig => 6, octave_inv => 15, octave_expm => 20, sk_nmf => 10, sk_pls => 5,
    sk_factors => 9, sk_perceptron => 20, sk_discriminant => 1, sk_isomap => 1, sk_vectors => 1, sk_kernel => 3,
    sk_bayes => 1, sk_dictionary => 1);

# Programs that use their data on the CPU between calls on the device move them more than once.  Each has its own bound
# of bytes, as a multiple of its data.
my %bound = (eigh => 7, svd => 5, lstsq => 4, qr => 15, lu_own => 17);

$ENV{OPENBLAS_NUM_THREADS} = 1; # emulated devices compete for the same cores
my @command = ($python, "$ENV{top_srcdir}/bench/programs/run.py", $build, '--scale=check', '--rounds=1',
    '--option=--device=emu:h200x8:1', '--skip=pool_fork8', '--skip=pool_spawn8', "--json=$scratch/counts");
open my $table, '-|', @command or die "$command[0]: $!";
note($_) while <$table>;
close $table; # its verdict is about seconds
my $rows = (eval { decode_json(slurp("$scratch/counts")) } // {})->{programs};
ok($rows, 'the programs ran') or do { done_testing(); exit };

sub bounded {
    my ($name, $counts) = @_;
    my $moved = ($counts->{up} + $counts->{down}) / 1e6;
    my $most = $bound{$name} // 3;
    cmp_ok($moved, '<=', $most * $data{$name} + 2, sprintf "%s: %.1f MB moved for %g MB", $name, $moved, $data{$name});
    cmp_ok($counts->{faults}, '<=', 16 * $counts->{offloaded} + 64,
        "$name: $counts->{faults} faults in $counts->{offloaded} calls on the device");
}

for my $name (sort keys %$rows) {
    my $row = $rows->{$name};
    SKIP: {
        skip("$name: $row->{why}", 3) if $row->{verdict} eq 'NOT RUN';
        ok($row->{verdict} eq 'ok' || $row->{why} =~ /^slower/, "$name: the host's results") or diag($row->{why});
        skip("$name: no statistics", 2) unless $row->{counts};
        bounded($name, $row->{counts});
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
