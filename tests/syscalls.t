#!/usr/bin/perl
# Functions that hand memory to the kernel, in pages shared with an array on a device; further accesses to a program's
# own memory; and calls left by a jump out of a signal handler.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/syscalls');
need('tests/kernel_own');

our $device;
my @how = (options => ['--check', '--offload', 'always']);

my $run = run({ @how }, 'tests/syscalls');
right($run, 'each function does in a closed page what it does elsewhere');
used_devices($run);
is(join("\n", complaints($run)), '', 'nothing to complain about');

for my $what (qw(own pipes advice jumps ended programs)) {
    $run = run({ @how }, 'tests/kernel_own', $what);
    right($run, $what);
    used_devices($run);
    is(calls($run, qr/dscal|dcopy/, 'host'), 0, "no call had to be the host's ($what)");
    is(join("\n", complaints($run)), '', 'nothing to complain about');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
