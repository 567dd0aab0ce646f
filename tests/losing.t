#!/usr/bin/perl
# Measured times override the model. On a machine whose page faults cost far more than predicted, an array that the
# program touches between its calls must leave the devices. On a machine with ordinary faults the array stays resident.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';

my $build = $ENV{top_builddir} // '.';
plan skip_all => 'the emulated clock is asked' if ($ENV{SEMCACHE_TEST_DEVICE} // 'emu') !~ /^emu/;
plan skip_all => 'built without a BLAS' if !-x "$build/tests/losing";
my $scratch = tempdir(CLEANUP => 1);
my ($n, $steps) = (2048, 300);

# Number of calls on devices, and the program's output, on a machine whose faults take the given time.
sub run_with {
    my ($fault) = @_;
    open my $file, '>', "$scratch/machine.machine" or die $!;
    print $file "semcache-machine 1\nhost\n  call 1u\n  sync 1u\n  fault $fault\ndevice 0\n  memory 4G\n",
      "  bandwidth 4T\n  launch 4u\n  gemm s 50T\n  gemm d 50T\nlink host <-> 0\n  latency 5u\n  bandwidth 50G\n";
    close $file or die $!;
    local $ENV{SEMCACHE_STATS} = "$scratch/stats.json";
    unlink "$scratch/stats.json";
    my $out = qx($build/tools/semcache run --device emu:$scratch/machine.machine $build/tests/losing $n $steps);
    open my $stats, '<', "$scratch/stats.json" or die $!;
    my ($calls) = join('', <$stats>) =~ /"dgemv":\s*\{\s*"offloaded":\s*(\d+)/;
    return ($calls // 0, $out);
}

my $alone = qx($build/tests/losing $n $steps);
my ($usual, $out) = run_with('8u');
is($out, $alone, 'ordinary faults: the right sum');
cmp_ok($usual, '>', $steps / 2, "most calls run on the device ($usual of $steps)");
(my $slow, $out) = run_with('20m');
is($out, $alone, 'slow faults: the right sum');
cmp_ok($slow, '<', $steps / 10, "few calls do where a fault takes 20 ms ($slow)");
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
