#!/usr/bin/perl
# The examples of libraries with tasks: right on 0, 1 and 2 devices; further steps move nothing over the host's link,
# but a vector whose parts change their device.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

my %most = (fft_loop => 0, als => 0, sparse_tasks => 2 * 8 * 28**3); # bytes; a cube of 28 points a side
my %arguments = (fft_loop => '9 12 6', als => '120 90 3 15', sparse_tasks => '20000 6');

need(map { "examples/$_" } sort keys %most);
for my $program (sort keys %most) {
    for my $devices (0, 1, 2) {
        my $where = $devices ? "emu:h200x8:$devices" : 'none';
        my $run = qq("$ENV{top_builddir}/tools/semcache" run --device $where --offload always --check);
        my $said = qx($run "$ENV{top_builddir}/examples/$program" $arguments{$program} 2>&1);
        is($?, 0, "$program is right on $where") or diag($said);
        my ($up, $down) = $said =~ /moved by further steps: to devices (\d+), to the host (\d+)/;
        cmp_ok(($up // 1e9) + $down, '<=', $devices > 1 ? $most{$program} : 0, 'and its data stays');
    }
}
done_testing;
# SPDX-License-Identifier: BSD-2-Clause
