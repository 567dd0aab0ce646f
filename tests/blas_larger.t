#!/usr/bin/perl
# Routines of level 3 on matrices of three times a device's memory, without data and arithmetic (timing mode). Asserts
# the bytes over the host's link, beside the least number that any order of a product needs, and the time by the virtual
# clock beside the time with room for everything. Right numbers are asserted by blas_random and blas_real.
# With SEMCACHE_TEST_LONG=1 every form of each routine runs, and every routine in all types.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our $device;

need('tests/level3');
plan skip_all => 'for emulated devices' if $ENV{SEMCACHE_TEST_DEVICE} && $device !~ /^emu/;

sub level3 {
    my ($type, $routine, $letters, $n, $limit, $devices, $machine) = @_;
    $machine //= 'h200x8';
    return run({ device => "emu:$machine:$devices", env => { OPENBLAS_NUM_THREADS => 1, SEMCACHE_EMU_TIMING => 1,
                SEMCACHE_OFFLOAD => 'always', SEMCACHE_MEMORY_LIMIT => $limit } }, 'tests/level3', $type, $routine,
        $letters, $n);
}

# Multiply-adds in n^3, matrices written, times the least bytes, and all letters. A diagonal block of a triangular
# matrix takes memory beside the result.
my @sided = qw(LLN LLT LUN LUT RLN RLT RUN RUT);
my @rank = qw(LN LT UN UT);
my @routines = ([ gemm => 1, 1, 1.2, qw(NN NT TN TT) ], [ syrk => 0.5, 0.5, 1.2, @rank ],
    [ syr2k => 1, 0.5, 1.2, @rank ], [ symm => 1, 1, 1.2, qw(LL LU RL RU) ], [ trmm => 0.5, 1, 1.5, @sided ],
    [ trsm => 0.5, 1, 1.5, @sided ]);

# Each form of each routine on one of two machines, which differ in rates and not in bytes.
my $n = 20_000;
my $matrix = 8 * $n**2;
my @machines = qw(h200x8 k40x3);
for (@routines) {
    my ($routine, $work, $written, $times, @forms) = @$_;
    for my $letters ($ENV{SEMCACHE_TEST_LONG} ? @forms : @forms[0, -1]) {
        my $run = level3('d', $routine, $letters, $n, int($matrix / 3), 1, $machines[0]);
        is($run->{status}, 0, "$routine $letters on $machines[0]");
        # Smith, Lowery, Langou, van de Geijn 2019: 2 n^3 / sqrt(elements in memory) for n^3 multiply-adds.
        my $least = $matrix * (2 * $work * sqrt(3) + $written);
        my $moved = moved($run, 'h2d') + moved($run, 'd2h');
        cmp_ok($moved, '<', $times * $least, sprintf('%.2f matrices moved, %.2f are necessary', $moved / $matrix,
                $least / $matrix));
        @machines = reverse @machines;
    }
}

# Three devices with a third of a matrix each share the work, and each has the factors of its part.  A device receives
# at least the bytes of the same formula for its third of the work; links between devices may bring a part.
for (@routines) {
    my ($routine, $work, $written, undef, @forms) = @$_;
    for my $letters ($ENV{SEMCACHE_TEST_LONG} ? @forms : @forms[0, -1]) {
        my $run = level3('d', $routine, $letters, $n, int($matrix / 3), 3, 'k40x3');
        my $least = $matrix * (2 * $work * sqrt(3) + $written);
        my $moved = moved($run, 'h2d') + moved($run, 'd2h');
        cmp_ok($moved, '<', 1.5 * $least, sprintf('%s %s on three: %.2f matrices moved, %.2f are necessary', $routine,
                $letters, $moved / $matrix, $least / $matrix));
    }
}

# A product from the right side on devices with links to each other evicts no tiles that it still reads.
my $right = level3('d', 'trmm', 'RLN', $n, int($matrix / 3), 2);
cmp_ok(moved($right, 'd2h'), '<', 1.1 * $matrix, sprintf('trmm RLN on two: %.2f matrices go home',
        moved($right, 'd2h') / $matrix));

for my $devices (1, 2) {
    for ([ gemm => 'NN' ], [ syrk => 'LN' ], [ symm => 'LL' ], [ trsm => 'LLN' ]) {
        my ($routine, $letters) = @$_;
        my $scarce = level3('d', $routine, $letters, 40_000, 9_000_000_000 / $devices, $devices);
        my $roomy = level3('d', $routine, $letters, 40_000, 0, $devices);
        my $ratio = $roomy->{stats}{virtual_seconds} / $scarce->{stats}{virtual_seconds};
        cmp_ok($ratio, '>', 0.85, sprintf('%s on %d: %.2f of the speed with all operands on the devices', $routine,
                $devices, $ratio));
    }
}

# Other types lose no more by transfers than double: the share of the kernels' own rate.
my %share;
for my $type (qw(d s c z)) {
    my $rate = $type =~ /[sc]/ ? 50e12 : 60e12; # of the machine file
    for ($ENV{SEMCACHE_TEST_LONG} ? @routines : @routines[0, -1]) {
        my ($routine, $work, undef, undef, @forms) = @$_;
        my $run = level3($type, $routine, $forms[0], 8192, 0, 1);
        my $kernels = ($type =~ /[cz]/ ? 8 : 2) * $work * 8192**3 / $rate;
        $share{$type}{$routine} = $kernels / $run->{stats}{virtual_seconds};
        cmp_ok($share{$type}{$routine}, '>=', 0.95 * $share{d}{$routine},
            sprintf('%s%s: %.3f of the rate of its kernels', $type, $routine, $share{$type}{$routine}));
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
