#!/usr/bin/perl
# Bytes moved by D = AB + AC: each input crosses the host's link once, D only where the CPU looks at D.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('examples/abac');

my $n = 3000;
my $matrix = 8 * $n * $n;

my $none = run({}, 'examples/abac', '-d', 'none', $n);
right($none);
used_devices($none);
is(calls($none, qr/dgemm/, 'offloaded'), 2, 'both dgemm ran on devices');
is(calls($none, qr/daxpy/, 'offloaded'), 1, 'the daxpy ran on devices');
at_most(moved($none, 'h2d'), 1.05 * 3 * $matrix, 'to the devices');
is(moved($none, 'd2h'), 0, 'nothing comes back before D is read');
SKIP: {
    skip 'one device', 1 if @{ $none->{stats}{devices} // [] } < 2;
    ok(moved($none, 'd2d') > 0, 'peers pass on what both need');
}

my $one = run({}, 'examples/abac', '-d', 'one', $n);
right($one, 'one element is right');
at_most(moved($one, 'd2h'), 4 << 20, 'to the host for one element');

my $whole = run({}, 'examples/abac', $n);
right($whole, 'every element is right');
at_most(moved($whole, 'h2d'), 1.05 * 3 * $matrix, 'to the devices when D is read');
at_most(moved($whole, 'd2h'), 1.05 * $matrix, 'to the host for all of D');
ok(moved($whole, 'd2h') >= $matrix, 'all of D came back');
right(run({ device => 'none' }, 'examples/abac', $n), 'the host BLAS is within the same bound');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
