#!/usr/bin/perl
# SEMCACHE_HOST_SHARE as a user sees it: the host BLAS computes a part of each product. Runs with every transition
# checked, with a trace, with verification, and with an explanation.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch);
need('examples/abac');

# Sizes with columns of whole pages, and odd sizes; two rounds, with inputs rewritten by the CPU.
my @always = ('--check', '--offload', 'always');
for my $n (1024, 700) {
    my $run = run({ env => { SEMCACHE_HOST_SHARE => 25 }, options => [@always, '--trace', "$scratch/trace"] },
        'examples/abac', '-f', $n, 2);
    right($run);
    is($run->{stats}{together}, 4, "n = $n: the host does a part of each product");
    note(qx($build/tools/semcache trace check $scratch/trace 2>&1));
    is($?, 0, 'its record holds every invariant');
    right(run({ env => { SEMCACHE_HOST_SHARE => 25, SEMCACHE_VERIFY => 1 }, options => \@always }, 'examples/abac', $n),
        'verified');
}

my $never = run({ env => { SEMCACHE_HOST_SHARE => 0 }, options => \@always }, 'examples/abac', 700);
right($never);
is($never->{stats}{together}, 0, 'not when it is not wanted');

my $wrong = run({ env => { SEMCACHE_HOST_SHARE => 100 } }, 'examples/abac', 300);
like($wrong->{err}, qr/SEMCACHE_HOST_SHARE=100 is not allowed, auto is kept/, 'not all of it');

my $why = run({ env => { SEMCACHE_HOST_SHARE => 20, SEMCACHE_OPEN => 'first' },
        options => ['--explain', "$scratch/why"] }, 'examples/abac', 1024);
right($why);
SKIP: {
    skip 'the host is faster here', 1 if !calls($why, qr/dgemm/, 'offloaded');
    like(slurp("$scratch/why"), qr/^#   the host does 20\.0% of it: [\d.]+ with it, [\d.]+ by the devices alone$/m,
        'explained');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
