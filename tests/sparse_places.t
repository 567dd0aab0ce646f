#!/usr/bin/perl
# Arrays of sparse matrices in memory of every kind. Asserts that products are right whoever writes the arrays, and run
# on devices where writes can be noticed.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/sparse_places');
our ($build, $device);
my @where = $device =~ /^emu/ ? ('emu:h200x8:1', 'emu:h200x8:2') : ($device);
# The kinds of memory outside of malloc that are watched, according to "semcache info".
my ($engine) = qx($build/tools/semcache info 2>&1) =~ /writes outside malloc: (\w+)/;
my @more = !$engine ? () : $engine eq 'wp' ? qw(bss data common private stack) : qw(bss data common);
my %noticed = map { $_ => 1 } 'malloc', @more;

for my $where (@where) {
    for my $kind (qw(malloc bss data common private stack shared file)) {
        my $run = run({ device => $where, options => ['--check', '--offload', 'always'] }, 'tests/sparse_places',
            $kind);
        right($run, "$where: $kind");
        used_devices($run);
        my $calls = calls($run, qr/sparse/, 'offloaded');
        ok($noticed{$kind} ? $calls >= 10 && !calls($run, qr/sparse/, 'host') : !$calls,
            "$where: $kind: $calls products on devices");
    }
}
for my $kind (qw(bss private)) {
    my $run = run({ env => { SEMCACHE_TRACK => 'mprotect' }, options => ['--check', '--offload', 'always'] },
        'tests/sparse_places', $kind);
    right($run, "$kind, with SEMCACHE_TRACK=mprotect");
}

# The parts of the matrix do not fit together, and the result is copied for one call only. Completed parts must keep
# their results while other parts are given memory.
for my $limit (300_000, 700_000) {
    my $run = run({ device => $where[0], env => { SEMCACHE_MEMORY_LIMIT => $limit },
        options => ['--check', '--offload', 'always'] }, 'tests/sparse_places', 'into');
    right($run, "$limit bytes for each device, into memory that is shared");
    is(calls($run, qr/sparse/, 'offloaded'), 10, 'the products were on devices') if $device =~ /^emu/;
}

# Unwritten arrays are not uploaded again.
my $run = run({ device => $where[0], options => ['--offload', 'always'] }, 'tests/sparse_places', 'bss', 'again');
right($run, 'the same product again and again');
at_most(moved($run, 'h2d'), 2e6, 'the arrays were uploaded once') if $noticed{bss};
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
