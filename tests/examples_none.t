#!/usr/bin/perl
# Without devices no page is protected, no thread is started, and results have the host's bits.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($build);

need('tests/footprint');

my %env = (OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1);
my $none = run({ device => 'none', env => \%env }, 'tests/footprint');
right($none);
like($none->{out}, qr/threads=1 /, 'no thread with SEMCACHE_DEVICE=none');
like($none->{out}, qr/closed=0 /, 'no protected page with SEMCACHE_DEVICE=none');
is(calls($none, qr/dgemm/, 'offloaded'), 0, 'nothing offloaded');
is_deeply([complaints($none)], [], 'nothing said');
my $alone = qx(OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $build/tests/footprint);
is(($none->{out} =~ /(bits=\w+)/)[0], ($alone =~ /(bits=\w+)/)[0], 'the bits of the program alone');

# With devices the same figures change: the measurement works.
my $some = run({ env => \%env, options => ['--check', '--offload', 'always'] }, 'tests/footprint');
right($some);
unlike($some->{out}, qr/threads=1 /, 'threads with devices');
unlike($some->{out}, qr/closed=0 /, 'protected pages with devices');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
