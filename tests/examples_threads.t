#!/usr/bin/perl
# Sixteen threads read and write a result during its fetch, and must see no stale byte.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/threads');

my $run = run({ options => ['--offload', 'always'] }, 'tests/threads', 10);
right($run, 'no stale byte');
used_devices($run);
is(calls($run, qr/dscal/, 'offloaded'), 10, 'every dscal ran on devices');
at_most(moved($run, 'h2d'), 10 * 1.05 * 8 * 3000000, 'to the devices');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
