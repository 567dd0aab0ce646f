#!/usr/bin/perl
# libc calls that hand memory to the kernel, on arrays whose newest bytes are on a device.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/kernel_access');

our $device;
for my $where ($device =~ /^emu/ ? ('emu:h200x8:1', 'emu:h200x8:2') : ($device)) {
    my $run = run({ device => $where, options => ['--check', '--offload', 'always'] }, 'tests/kernel_access');
    right($run, "every byte right on $where");
    used_devices($run);
    cmp_ok(calls($run, qr/dscal|dcopy/, 'offloaded'), '>=', 250, "the arrays were on devices ($where)");
    is(join("\n", complaints($run)), '', 'nothing to complain about');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
