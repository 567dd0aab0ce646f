#!/usr/bin/perl
# More devices than semcache takes, memory that a device cannot pin, and a full arena (doc/limits.md). Asserts the
# program's numbers, where its calls ran, and at most one line that names the limit. Lists of GPUs: tests/cuda_ordinals.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch);
need('tests/losing');
my @always = ('--check', '--offload', 'always');
my ($n, $steps) = (512, 300);
my $alone = run({ device => 'none' }, 'tests/losing', $n, $steps)->{out};

# A machine of so many equal devices; $more: further lines about them.
sub machine {
    my ($devices, $more) = @_;
    my $last = $devices - 1;
    open my $file, '>', "$scratch/of$devices.machine" or die $!;
    print $file "semcache-machine 1\nhost\n  call 1u\n  sync 1u\ndevice 0-$last\n  memory 4G\n  bandwidth 4T\n",
      "  launch 4u\n  gemm s 50T\n  gemm d 50T\n$more", "link host <-> 0-$last\n  latency 5u\n  bandwidth 50G\n";
    close $file or die $!;
    return "emu:$scratch/of$devices.machine";
}

sub runs {
    my ($title, $device, $expected, $line) = @_;
    my $run = run({ device => $device, options => \@always }, 'tests/losing', $n, $steps);
    is($run->{out}, $alone, "$title: the right sum");
    is(scalar(@{ $run->{stats}{devices} }), $expected, "$title: $expected devices");
    my $where = $expected ? 'there' : 'on the host';
    is(calls($run, qr/dgemv/, 'offloaded') > 0, $expected > 0, "$title: calls run $where");
    my @lines = complaints($run);
    is(scalar(@lines), $line ? 1 : 0, $line ? "$title: one line" : "$title: nothing is said") or diag(@lines);
    like($lines[0], $line, "$title: which names the limit") if $line;
    return;
}

runs('16 devices', machine(16, ''), 16);
runs('17 devices', machine(17, ''), 0, qr{of17\.machine:5: '0-16': devices are 0 to 15});
runs('40 devices', machine(40, ''), 0, qr{of40\.machine:5: '0-39': devices are 0 to 15});
runs('17 of the 16 devices of a machine', 'emu:v100x16:17', 0, qr{the machine has 16 devices});
runs('all of them', 'emu:v100x16', 16);
SKIP: {
    skip 'semcache-null.so was not built', 2 unless -e "$build/.libs/semcache-null.so";
    my $null = run({ device => 'null:17', options => \@always }, 'tests/losing', $n, $steps);
    is($null->{out}, $alone, '17 null devices: the right sum');
    like(join('', complaints($null)), qr/^\N*at most 16, not 17\N*$/, 'and one line');
}

# The first attempt to pin the matrix fails: 100 calls later there is a second attempt, which succeeds.
my $pinned = run({ device => machine(1, "  fail pin 1\n"), options => \@always }, 'tests/losing', $n, $steps);
is($pinned->{out}, $alone, 'memory that cannot be pinned: the right sum');
is(calls($pinned, qr/dgemv/, 'host'), 101, 'the refused call and the next 100 run on the host');
is(calls($pinned, qr/dgemv/, 'offloaded'), $steps - 101, 'the others on the device');

# An arena of 64 MiB: a matrix of 128 MiB fits neither there nor as a copy; of a matrix of 31 MiB a copy fits beside it.
for (['no room for a matrix', 4096, 0], ['room for a matrix', 2000, 3]) {
    my ($title, $order, $there) = @$_;
    my $run = run({ env => { SEMCACHE_ARENA => '64M' }, options => \@always }, 'tests/losing', $order, 3);
    is($run->{out}, run({ device => 'none' }, 'tests/losing', $order, 3)->{out}, "$title: the right sum");
    is(calls($run, qr/dgemv/, 'offloaded'), $there, "$title: $there of 3 calls run on devices");
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
