#!/usr/bin/perl
# Routines of level 3 on matrices of three times a device's memory, without data and arithmetic (timing mode). Asserts
# the bytes over the host's link, beside the least number that any order of a product needs, and the time by the virtual
# clock beside the time with room for everything. Right numbers are asserted by blas_random and blas_real.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our $device;

need('tests/level3');
plan skip_all => 'for emulated devices' if $ENV{SEMCACHE_TEST_DEVICE} && $device !~ /^emu/;

sub level3 {
    my ($routine, $side, $n, $limit, $devices, $machine) = @_;
    $machine //= 'h200x8';
    return run({ device => "emu:$machine:$devices", env => { OPENBLAS_NUM_THREADS => 1, SEMCACHE_EMU_TIMING => 1,
                SEMCACHE_OFFLOAD => 'always', SEMCACHE_MEMORY_LIMIT => $limit } }, 'tests/level3', $routine, $side, $n);
}

# Multiply-adds in n^3, matrices written, and times the least bytes. A diagonal block of a triangular matrix takes
# memory beside the result.
my @routines = ([ gemm => 'L', 1, 1, 1.2 ], [ syrk => 'L', 0.5, 0.5, 1.2 ], [ syr2k => 'L', 1, 0.5, 1.2 ],
    [ symm => 'L', 1, 1, 1.2 ], [ symm => 'R', 1, 1, 1.2 ], [ trmm => 'L', 0.5, 1, 1.5 ],
    [ trmm => 'R', 0.5, 1, 1.5 ], [ trsm => 'L', 0.5, 1, 1.5 ], [ trsm => 'R', 0.5, 1, 1.5 ]);

my $n = 20_000;
my $matrix = 8 * $n**2;
for my $machine (qw(h200x8 k40x3)) {
    for (@routines) {
        my ($routine, $side, $work, $written, $times) = @$_;
        next if $machine eq 'k40x3' && $side eq 'R';
        my $run = level3($routine, $side, $n, int($matrix / 3), 1, $machine);
        is($run->{status}, 0, "$routine $side on $machine");
        # Smith, Lowery, Langou, van de Geijn 2019: 2 n^3 / sqrt(elements in memory) for n^3 multiply-adds.
        my $least = $matrix * (2 * $work * sqrt(3) + $written);
        my $moved = moved($run, 'h2d') + moved($run, 'd2h');
        cmp_ok($moved, '<', $times * $least, sprintf('%.2f matrices moved, %.2f are necessary', $moved / $matrix,
                $least / $matrix));
    }
}

for my $devices (1, 2) {
    for my $routine (qw(gemm syrk symm trsm)) {
        my $scarce = level3($routine, 'L', 40_000, 9_000_000_000 / $devices, $devices);
        my $roomy = level3($routine, 'L', 40_000, 0, $devices);
        my $ratio = $roomy->{stats}{virtual_seconds} / $scarce->{stats}{virtual_seconds};
        cmp_ok($ratio, '>', 0.85, sprintf('%s on %d: %.2f of the speed with all operands on the devices', $routine,
                $devices, $ratio));
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
