#!/usr/bin/perl
# Every example is right: on the devices, with every call offloaded, and on the host.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need(map { "examples/$_" } qw(jacobi cg abac power));

my @programs = (
    ['jacobi', 700, 40],
    ['jacobi', '-r', 701, 40],
    ['jacobi', '-e', '-w', 702, 40],
    ['jacobi', '-r', '-w', 703, 41],
    ['cg', 600],
    ['power', 650, 30],
    ['abac', 503, 2],
    ['abac', '-f', 504, 2],
    ['abac', '-d', 'one', 505],
);
our $build;
push @programs, ['jacobi_f', 704, 40] if -x "$build/examples/jacobi_f";

for my $case (@programs) {
    my ($program, @arguments) = @$case;
    my $always = run({ options => ['--check', '--offload', 'always'] }, "examples/$program", @arguments);
    right($always, 'right with every call on devices');
    ok(calls($always, qr/^d/, 'offloaded') > 0, "$program: calls were offloaded");
    right(run({}, "examples/$program", @arguments), 'right where calls run as decided');
    right(run({ device => 'none' }, "examples/$program", @arguments), 'right without devices');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
