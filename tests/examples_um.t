#!/usr/bin/perl
# A CUDA program with unified memory, relinked. Asserts right results everywhere, one upload of the arrays, and that CPU
# writes move only the surrounding parts.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($build, $device);

need('examples/cg_um');

my ($n, $iterations) = (27000, 60);
my $entries = 7 * $n - 6 * 30**2;
my $matrix = 12 * $entries + 4 * ($n + 1);
my $vectors = 5 * 8 * $n;
my %always = (options => ['--check', '--offload', 'always']);

sub solves {
    my ($where, %env) = @_;
    my $once = run({ %always, device => $where, env => \%env }, 'examples/cg_um', $n, $iterations);
    right($once, "right on $where");
    used_devices($once);
    is(calls($once, qr/^(ddot|daxpy|dscal|dcopy)$/, 'host'), 0, 'no call of the loop ran on the host');
    cmp_ok(calls($once, qr/^ddot$/, 'offloaded'), '>=', 2 * $iterations, 'cublasDdot ran on devices');
    at_most(moved($once, 'h2d'), 1.1 * ($matrix + $vectors), 'to the devices');
    at_most(moved($once, 'd2h'), 2 * $vectors, 'to the host');
    is(scalar(complaints($once)), 0, 'no line on stderr');
    my $changed = run({ %always, device => $where, env => \%env }, 'examples/cg_um', '-w', $n, $iterations);
    right($changed, "right on $where after a value was changed");
    at_most(moved($changed, 'h2d'), moved($once, 'h2d') + 0.25 * $matrix, 'to the devices with that');
    return;
}

solves($_) for $ENV{SEMCACHE_TEST_DEVICE} ? $device : map { "emu:h200x8:$_" } 1, 2, 4;
# Beside a CUDA, which the program asks for the size of a buffer. No kernel uses the data: all calls are semcache's.
for my $kernels ($ENV{SEMCACHE_TEST_DEVICE} ? () : qw(all arguments)) {
    note("a CUDA is there, $kernels");
    solves('cuda', SEMCACHE_UM_KERNELS => $kernels, SEMCACHE_MODULE_PATH => "$build/tests/um/.libs",
        LD_PRELOAD => "$build/.libs/libsemcache-cuda-um.so:$build/tests/.libs/um_fake_cuda.so");
}
# The unchanged program, linked with CUDA's libraries: semcache's two libraries are preloaded.
SKIP: {
    my $um = "$ENV{top_builddir}/.libs/libsemcache-cuda-um.so";
    skip 'bench/cg_um_cuda was not built', 3 unless -x "$ENV{top_builddir}/bench/cg_um_cuda";
    my $preloaded = run({ %always, env => { LD_PRELOAD => $um } }, 'bench/cg_um_cuda', $n, $iterations);
    right($preloaded, 'right when preloaded');
    used_devices($preloaded);
    cmp_ok(calls($preloaded, qr/^ddot$/, 'offloaded'), '>=', 2 * $iterations, 'cublasDdot ran on devices');
}
right(run({ device => 'none' }, 'examples/cg_um', '-w', $n, $iterations), 'right without devices of semcache');
right(run({}, 'examples/cg_um', 1), 'one point');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
