#!/usr/bin/perl
# The sparse solver by MKL's names, and by the Sparse BLAS in C and Fortran. Asserts right results everywhere, that the
# matrix is uploaded once, and that a value written by the CPU moves only the parts around the value.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

need('examples/cg_sparse', 'examples/cg_usblas');

my ($n, $iterations) = (27000, 60);
my $entries = 7 * $n - 6 * 30**2;
my $matrix = 12 * $entries + 4 * ($n + 1);
my $vectors = 5 * 8 * $n;
my %always = (options => ['--check', '--offload', 'always']);

for my $where ($ENV{SEMCACHE_TEST_DEVICE} ? $device : map { "emu:h200x8:$_" } 1, 2, 4) {
    my $once = run({ %always, device => $where }, 'examples/cg_sparse', $n, $iterations);
    right($once, "right on $where");
    used_devices($once);
    at_most(moved($once, 'h2d'), 1.1 * ($matrix + $vectors), 'to the devices');
    at_most(moved($once, 'd2h'), 2 * $vectors, 'to the host');
    my $changed = run({ %always, device => $where }, 'examples/cg_sparse', '-w', $n, $iterations);
    right($changed, "right on $where after a value was changed");
    at_most(moved($changed, 'h2d'), moved($once, 'h2d') + 0.25 * $matrix, 'to the devices with that');
}

# By the Sparse BLAS, with the matrix in library memory: further iterations upload no byte and fetch only scalars.
for my $program (grep { -x "$ENV{top_builddir}/$_" } qw(examples/cg_usblas examples/cg_usblas_f)) {
    for my $where ($ENV{SEMCACHE_TEST_DEVICE} ? $device : map { "emu:h200x8:$_" } 1, 2, 4) {
        my $half = run({ %always, device => $where }, $program, $n, $iterations / 2);
        my $all = run({ %always, device => $where }, $program, $n, $iterations);
        right($all, "right on $where");
        used_devices($all);
        is(calls($all, qr/./, 'host'), 0, "$program on $where: all calls ran there");
        at_most(moved($all, 'h2d'), 1.1 * ($matrix + $vectors), 'to the devices');
        is(moved($all, 'h2d'), moved($half, 'h2d'), 'no more with twice the iterations');
        is(moved($all, 'd2h'), moved($half, 'd2h'), 'nor to the host');
    }
    right(run({ device => 'none' }, $program, $n, $iterations), 'right without devices');
    right(run({}, $program, 1), 'one point');
}
my $host = run({ device => 'none', env => { SEMCACHE_LOG => 'debug' } }, 'examples/cg_usblas', 1000, 20);
is(scalar(grep { /rearranged for the host/ } complaints($host)), 1, 'on the host both triangles are made once');
right(run({ %always }, 'examples/cg_usblas', '-w', $n, $iterations), 'right with a matrix that was begun anew');
right(run({ %always }, 'examples/cg_usblas', '-s', $_, 1000), "$_ points") for 3, 5, 27;
right(run({ device => 'none' }, 'examples/cg_sparse', '-w', $n, $iterations), 'right without devices');
right(run({}, 'examples/cg_sparse', 1), 'one point');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
