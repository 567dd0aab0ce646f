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

need('bench/factor');

# One thread: an emulated device computes with the same OpenBLAS, whose threads a waiting call may hold.
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
my %env = (OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1);
$env{LD_LIBRARY_PATH} = $reference if -e "$reference/liblapack.so.3";
my @devices = $ENV{SEMCACHE_TEST_DEVICE} ? ($device) : ('emu:h200x8:1', 'emu:h200x8:2');

# Every call on devices, invariants checked; sizes that are no multiple of anything, a leading dimension of its own.
for my $where (@devices) {
    for my $case ([potrf => 310], [getrf => 310], [getrf => 401, 419], [geqrf => 205], [syev => 130]) {
        my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always' } }, 'bench/factor', @$case);
        right($run, "$where, always: right");
        is(scalar complaints($run), 0, 'no message');
    }
}

# As the decision is, for n = 1500: the matrix goes up once, the panels (all sectors that they meet, whole columns) come
# home and go up again, the result comes home at the end.  One matrix each for those, and a half for the rest.
my $n = 1500;
my $matrix = 8 * $n * $n;
for my $where (@devices) {
    for my $routine (qw(potrf getrf geqrf)) {
        my $run = run({ device => $where, env => \%env, options => [] }, 'bench/factor', $routine, $n);
        right($run, "$where, auto: right");
        next if $routine eq 'geqrf' || !$env{LD_LIBRARY_PATH} || $ENV{SEMCACHE_TEST_DEVICE};
        at_most(moved($run, 'h2d'), 3.5 * $matrix, "$routine: to the devices");
        at_most(moved($run, 'd2h'), 2.5 * $matrix, "$routine: to the host");
        at_most($run->{stats}{faults}{read} + $run->{stats}{faults}{write}, 60, "$routine: faults");
        at_most($run->{stats}{reshapes}, 3, "$routine: reshapes");
    }
}
right(run({ device => 'none', env => \%env }, 'bench/factor', 'getrf', 300), 'without devices');
done_testing();
