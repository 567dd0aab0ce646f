#!/usr/bin/perl
# Runs tests/outside (untracked arrays) with each engine that notices writes, and without an engine. Asserts right
# results, and calls on devices.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/outside');

our ($device, $build);
my ($engine) = `$build/tools/semcache info --device none` =~ /^writes outside malloc: (.*)$/m;
like($engine, qr/^(wp|none)/, 'semcache info says how writes are noticed');

# Runs tests/outside; under `mprotect` only memory whose end libc's functions report is tracked.
sub outside {
    my ($track, @arguments) = @_;
    my $run = run({ env => { SEMCACHE_TRACK => $track }, options => ['--check', '--offload', 'always'] },
        'tests/outside', @arguments);
    right($run, "right with SEMCACHE_TRACK=$track");
    used_devices($run);
    cmp_ok(calls($run, qr/dgemv/, 'offloaded'), '>', 100, 'on devices');
    is(join("\n", complaints($run)), '', 'nothing to complain about');
}

outside('mprotect', 'track');
SKIP: {
    skip 'not on this system: writes noticed by the kernel', 8 unless $engine =~ /^wp/;
    outside($_, 'wp') for 'auto', 'wp';
}
# The first call, with copies of its operands, begins to trap system calls past libc. AddressSanitizer makes such calls
# while it blocks every signal.
SKIP: {
    skip 'AddressSanitizer calls the system past libc', 2 if $ENV{SEMCACHE_TEST_ASAN};
    my $strict = run({ env => { SEMCACHE_CHECK => 2 }, options => ['--offload', 'always'] }, 'tests/outside');
    right($strict, 'right with SEMCACHE_CHECK=2');
    used_devices($strict);
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
