#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
# Rank updates of order 4096, large enough for strips on one, two and four devices: parts of the sum, and columns that
# go home while the last parts arrive. bench/level3 compares elements of the result.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

need('bench/level3_s');
my %env = (OPENBLAS_NUM_THREADS => 1, SEMCACHE_CHECK => 1);
for my $where ($ENV{SEMCACHE_TEST_DEVICE} ? ($device) : map { "emu:h200x8:$_" } 1, 2, 4) {
    for my $routine ($where =~ /:2$/ ? qw(ssyrk ssyr2k) : $where =~ /:4$/ ? 'ssyr2k' : 'ssyrk') {
        my $run = run({ device => $where, env => \%env, options => [] }, 'bench/level3_s', qw(-r 1 -b 01 4096),
            $routine);
        my @errors = $run->{out} =~ /"error": (\S+),/g;
        is($run->{status}, 0, "$where: $routine") or diag($run->{out});
        is(scalar(grep { $_ < 1e-5 } @errors), 2, "right, with beta 0 and 1: @errors");
        cmp_ok(calls($run, qr/^$routine$/, 'offloaded'), '>=', 4, 'by the devices');
    }
}
done_testing();
