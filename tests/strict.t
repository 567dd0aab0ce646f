#!/usr/bin/perl
# SEMCACHE_CHECK=2: a system call by the program's own instruction on a closed page. Without the setting the call fails
# with EFAULT; with the setting the library serves the page, and one line names the call's place.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/strict');

my %how = (options => ['--offload', 'always']);
my $plain = run({%how}, 'tests/strict');
like($plain->{out}, qr/pwrite64 gave -14, pread64 -14/, 'without it they fail');

my $run = run({ %how, env => { SEMCACHE_CHECK => 2 } }, 'tests/strict');
SKIP: {
    skip 'this kernel does not trap system calls', 8 if $run->{err} =~ /does not trap/;
    right($run, 'they see what is on the device');
    used_devices($run);
    like($run->{out}, qr/getpid right/, 'other calls pass');
    like($run->{out}, qr/child 7, shell 3/, 'so do those that return twice, and other programs');
    my @named = grep { /past libc/ } complaints($run);
    for my $number (17, 18) {
        my @here = grep { /: system call $number made by .*tests\/strict\+0x/ } @named;
        is(scalar(@here), 1, "system call $number is named once");
    }
    is(scalar(grep { /io_uring: system call 425 made by .*semcache_acquire/ } @named), 1, 'so is io_uring');
    is(scalar(grep { /past libc/ } complaints($plain)), 0, 'without it nobody is named');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
