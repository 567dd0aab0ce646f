#!/usr/bin/perl
# An unmodified program factors a matrix by a LAPACK on top of semcache. Asserts right results with every call on
# devices and with offload auto, and that panels and interchanges do not move the matrix back and forth. Uses the
# reference LAPACK where Debian's package is installed, because it consists of BLAS calls. OpenBLAS's own LAPACK factors
# by inner kernels, most of them invisible to semcache.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

need('bench/factor', 'tests/lapack_calls');

# One thread: emulated devices compute with the same OpenBLAS, whose threads may be held by a waiting call.
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
my %env = (OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1);
$env{LD_LIBRARY_PATH} = $reference if -e "$reference/liblapack.so.3";
my @devices = $ENV{SEMCACHE_TEST_DEVICE} ? ($device) : map { "emu:h200x8:$_" } 1, 2, 4;

# The LAPACK routines that semcache implements itself, in every variant.
for my $where (@devices) {
    my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always' } }, 'tests/lapack_calls',
        $ENV{SEMCACHE_TEST_SEED} // 1);
    is($run->{status}, 0, "$where: tests/lapack_calls") or diag($run->{out});
    cmp_ok(calls($run, qr/^[sdcz]trmm$/, 'offloaded'), '>=', 4 * 32, 'reflectors were applied on devices');
    is(scalar complaints($run), 0, 'no message');
}

# Every call on devices, with the invariants checked; odd sizes, and a leading dimension larger than the matrix.
for my $where (@devices) {
    for my $case ([potrf => 310], [getrf => 310], [qw(-p 18 getrf), 401], [geqrf => 205], [syev => 130],
        [syevd => 150], [gesvd => 100], [getri => 140], [potri => 140], [gesv => 230], [qw(-p 3 gels), 200]) {
        my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always' } }, 'bench/factor', @$case);
        right($run, "$where, always: right");
        is(scalar complaints($run), 0, 'no message');
    }
}

# Offload auto; limits in units of the matrix. The matrix is uploaded once; panels (whole columns of every sector that a
# panel meets) come home and go up again. n is a multiple of the panels' width and of pages. OpenBLAS's own LU and
# Cholesky make no BLAS calls.
my $n = 1536;
my %most = (potrf => [2.05, 2.05, 20], getrf => [2, 1.1, 20], geqrf => [2.1, 1.2, 10]); # up, down, faults
for my $where ($devices[0], $devices[-1]) {
    for my $routine (sort keys %most) {
        my $run = run({ device => $where, env => \%env, options => [] }, 'bench/factor', $routine, $n);
        my ($up, $down, $faults) = @{ $most{$routine} };
        right($run, "$where, auto: right");
        next if !$env{LD_LIBRARY_PATH} || $ENV{SEMCACHE_TEST_DEVICE};
        at_most(moved($run, 'h2d'), $up * 8 * $n * $n, "$routine: to the devices");
        at_most(moved($run, 'd2h'), $down * 8 * $n * $n, "$routine: to the host");
        at_most($run->{stats}{faults}{read} + $run->{stats}{faults}{write}, $faults, "$routine: faults");
        at_most($run->{stats}{reshapes}, 3, "$routine: reshapes");
    }
}

# A multifrontal solver factors small fronts, each of another shape, in larger arrays. They stay at home: nothing moves,
# no page is closed.
if (!$ENV{SEMCACHE_TEST_DEVICE}) {
    for my $routine (qw(potrf getrf geqrf gelqf)) {
        my $run = run({ device => 'emu:h200x8:2', env => \%env, options => [] }, 'bench/factor', qw(-p 1000 -r 2),
            $routine, qw(40 90 52 130 64 110 72 88 121 97));
        right($run, "small fronts, $routine: right");
        my ($stats, $count) = ($run->{stats}, calls($run, qr/./, 'host'));
        my $least = $env{LD_LIBRARY_PATH} || $routine =~ /qf$/ ? 100 : 20; # OpenBLAS's LU and Cholesky count themselves
        cmp_ok($count, '>=', $least, "small fronts, $routine: $count calls on the host");
        is(calls($run, qr/./, 'offloaded') + $stats->{transfers}{h2d} + $stats->{transfers}{d2h} + $stats->{reshapes} +
            $stats->{faults}{read} + $stats->{faults}{write}, 0, "small fronts, $routine: no transfer, no fault");
    }
}

# The panels of the tridiagonal form read the whole matrix on the host, but write their own columns only. The remaining
# columns stay valid on the device for the following update.
if ($env{LD_LIBRARY_PATH} && !$ENV{SEMCACHE_TEST_DEVICE}) {
    my $run = run({ device => 'emu:h200x8:1', env => \%env, options => [] }, 'bench/factor', 'syevd', 1024);
    right($run, 'syevd, auto: right');
    at_most(moved($run, 'h2d'), 12 * 8 * 1024 * 1024, 'syevd: to the devices');
}
right(run({ device => 'none', env => \%env }, 'bench/factor', 'getrf', 300), 'without devices');

# OpenBLAS's LAPACK, as NumPy's wheels have it.  A whole routine runs on a device, and the program's reads of the result
# fault in growing windows.
delete $env{LD_LIBRARY_PATH};
for my $routine (qw(geqrf syevd gesvd gels)) {
    my $run = run({ device => $devices[0], env => \%env, options => [] }, 'bench/factor', $routine, 700);
    right($run, "OpenBLAS's $routine, auto: right");
    at_most($run->{stats}{faults}{read} + $run->{stats}{faults}{write}, 20, "OpenBLAS's $routine: faults");
}

# A routine that is not caught as a whole: the LAPACK of an optimised BLAS finds the operands of its BLAS calls at home
# and writable after each call, also when devices computed (rule 28 of blas/).
if (!$ENV{SEMCACHE_TEST_DEVICE}) {
    my $run = run({ device => $devices[0], env => \%env, options => [] }, 'bench/factor', '-r', 1, 'gelqf', 700);
    right($run, "OpenBLAS's gelqf, auto: right");
    cmp_ok(calls($run, qr/^dgemm$/, 'offloaded'), '>', 5, "OpenBLAS's gelqf: products ran on devices");
    is($run->{stats}{faults}{read} + $run->{stats}{faults}{write}, 0, "OpenBLAS's gelqf: no fault between them");
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
