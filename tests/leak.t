#!/usr/bin/perl
# Runs tests/leak: memory, mappings, files and threads must not grow over many calls (a million in make check-long).
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/leak');

our $device;
my $calls = $ENV{SEMCACHE_TEST_LONG} ? 1_000_000 : 24_000;
my $run = run({ device => $device =~ /^emu/ ? 'emu:h200x8:1' : $device, options => ['--offload', 'always'] },
    'tests/leak', $calls);
right($run, 'memory, mappings, files and threads stay as they are');
used_devices($run);
cmp_ok(calls($run, qr/^d/, 'offloaded'), '>', 0.99 * $calls, 'the calls were on a device');
is(join("\n", complaints($run)), '', 'nothing to complain about');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
