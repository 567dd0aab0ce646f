#!/usr/bin/perl
# Matrices of three times the memory of a device, and devices too small for any matrix. Asserts right results of gemm,
# gemv and trsm, in spite of evictions in the middle of a call.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/oom');

our $device;
my $limit = 12 << 20;
my $n = 2173; # 8 n^2 = 3.002 limits
for my $where ($device =~ /^emu/ ? ('emu:h200x8:1', 'emu:h200x8:2') : ($device)) {
    for my $what (qw(gemm gemv trsm)) {
        my %how = (device => $where, options => ['--check', '--offload', 'always']);
        my $run = run({ %how, env => { SEMCACHE_MEMORY_LIMIT => $limit } }, 'tests/oom', $what, $n);
        right($run, "$what right on $where");
        used_devices($run);
        ok(calls($run, qr/d$what/, 'offloaded') > 0, "$what ran on devices");
        ok(($run->{stats}{evictions} // 0) > 0, "$what evicted") if @{ $run->{stats}{devices} // [] } == 1;
    }
}
right(run({ env => { SEMCACHE_MEMORY_LIMIT => 65536 } }, 'tests/oom', $_, 500), "$_ right on a tiny device")
  for qw(gemm gemv trsm);
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
