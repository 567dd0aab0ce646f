#!/usr/bin/perl
# A LAPACK on top: an unmodified program factors a matrix.  Right results with everything on devices and with the
# decision as it is; panels and interchanges do not drag the matrix back and forth.  The reference LAPACK, which is made
# of BLAS calls, is used where Debian's package has it; OpenBLAS's own factors by inner kernels, of which semcache sees
# little.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

need('bench/factor', 'tests/lapack_calls');

# One thread: an emulated device computes with the same OpenBLAS, whose threads a waiting call may hold.
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
my %env = (OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1);
$env{LD_LIBRARY_PATH} = $reference if -e "$reference/liblapack.so.3";
my @devices = $ENV{SEMCACHE_TEST_DEVICE} ? ($device) : map { "emu:h200x8:$_" } 1, 2, 4;

# The routines that semcache does itself, in all their forms.
for my $where (@devices) {
    my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always' } }, 'tests/lapack_calls',
        $ENV{SEMCACHE_TEST_SEED} // 1);
    is($run->{status}, 0, "$where: tests/lapack_calls") or diag($run->{out});
    cmp_ok(calls($run, qr/^[sdcz]trmm$/, 'offloaded'), '>=', 4 * 32, 'reflectors were applied on devices');
    is(scalar complaints($run), 0, 'no message');
}

# Every call on devices, invariants checked; sizes that are no multiple of anything, a leading dimension of its own.
for my $where (@devices) {
    for my $case ([potrf => 310], [getrf => 310], [qw(-p 18 getrf), 401], [geqrf => 205], [syev => 130],
        [syevd => 150], [gesvd => 100], [getri => 140], [potri => 140], [gesv => 230], [qw(-p 3 gels), 200]) {
        my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always' } }, 'bench/factor', @$case);
        right($run, "$where, always: right");
        is(scalar complaints($run), 0, 'no message');
    }
}

# As the decision is, in units of the matrix: it goes up once, the panels (all sectors that they meet, whole columns)
# come home and go up again.  n is a multiple of the panels' width and pages.  OpenBLAS's own LU and Cholesky are no
# BLAS calls.
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

# The panels of the tridiagonal form read all of the matrix on the host, and write their columns only: the rest stays
# valid on the device, too, for the update that follows.
if ($env{LD_LIBRARY_PATH} && !$ENV{SEMCACHE_TEST_DEVICE}) {
    my $run = run({ device => 'emu:h200x8:1', env => \%env, options => [] }, 'bench/factor', 'syevd', 1024);
    right($run, 'syevd, auto: right');
    at_most(moved($run, 'h2d'), 12 * 8 * 1024 * 1024, 'syevd: to the devices');
}
right(run({ device => 'none', env => \%env }, 'bench/factor', 'getrf', 300), 'without devices');
done_testing();
