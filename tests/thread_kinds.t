#!/usr/bin/perl
# Threads of every kind: small stacks, blocked signals, alternate stacks, cancelled, ended, OpenMP. Asserts right
# numbers and calls on devices. Each kind runs in its own process, since most failures end or hang a process.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/thread_kinds');

our ($build, $device);

# The smallest stack on which the program is right without semcache: the needs of host BLAS kernels differ.
sub smallest_stack {
    my @bytes = (16384, 32768, 65536);
    for my $bytes (@bytes) {
        return $bytes if system("exec '$build/tests/thread_kinds' 'small stacks' $bytes >/dev/null 2>&1") == 0;
    }
    return $bytes[-1];
}

my @on_host = ('small stacks'); # by design: see doc/limits.md
my @openmp = qx(nm "$ENV{top_builddir}/tests/thread_kinds" 2>/dev/null) =~ /GOMP|__kmpc/ ? 'openmp' : ();
for my $kind ('small stacks', 'alternate stacks', 'blocked signals', 'cancelled', 'cancelled in read', 'ended',
    'forked early', 'thread-local arrays', 'churn', @openmp) {
    my @stack = $kind eq 'small stacks' ? smallest_stack() : ();
    my $run = run({ options => [qw(--check --offload always)] }, 'tests/thread_kinds', $kind, @stack);
    right($run);
    is(join("\n", complaints($run)), '', "$kind: nothing to complain about");
    next if grep { $_ eq $kind } @on_host;
    used_devices($run);
    # A call beside an endless system call would run on the host. (So would a call that a second thread overtakes twice
    # while their matrices overlap.)
    cmp_ok(calls($run, qr/^d/, 'host'), '<=', $kind eq 'churn' ? 20 : 0, "$kind: calls are on devices");
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
