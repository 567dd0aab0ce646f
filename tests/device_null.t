#!/usr/bin/perl
# The back end device/null, a module: what device.h promises; and programs are right on it. The host does the calls that
# null devices lack, and nothing is moved for them.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our $build;
need(map { "examples/$_" } qw(jacobi abac));
plan skip_all => 'semcache-null.so was not built' unless -e "$build/.libs/semcache-null.so";

for my $test (qw(device_conformance device_kernels)) {
    my $out = qx{SEMCACHE_TEST_DEVICE=null:2 "$build/tests/$test" 2>&1};
    ok($? == 0 && $out =~ /^ok/m && $out !~ /^not ok/m, "$test on two null devices") or diag($out);
}

for my $devices ('null', 'null:3') {
    my $abac = run({ device => $devices, options => ['--check', '--offload', 'always'] }, 'examples/abac', 300, 2);
    right($abac, "abac on $devices");
    ok(calls($abac, qr/^dgemm$/, 'offloaded') > 0, 'products run there');
    is(calls($abac, qr/^daxpy$/, 'offloaded'), 0, 'and sums of vectors, which null devices lack, on the host');
    is(complaints($abac), 0, 'in silence');
}
my $jacobi = run({ device => 'null', options => ['--check', '--offload', 'always'] }, 'examples/jacobi', 300, 20);
right($jacobi, 'jacobi, by dgemv');
is(calls($jacobi, qr/gemv/, 'offloaded'), 0, 'of which no call runs on null devices');
is(moved($jacobi, 'h2d'), 0, 'and nothing is moved to them');

my $auto = run({ device => 'null', options => ['--check'] }, 'examples/abac', 500, 2);
right($auto, 'abac where calls run as decided');
is(calls($auto, qr/^dgemm$/, 'offloaded'), 0, 'which is the host');

my $missing = run({ device => 'null', env => { SEMCACHE_MODULE_PATH => '/nowhere' } }, 'examples/abac', 500, 2);
right($missing, 'abac without the module');
my @lines = complaints($missing);
ok(@lines == 1 && $lines[0] =~ m{no null devices: .*/nowhere/semcache-null.so.*SEMCACHE_MODULE_PATH},
    'in one line, which names cause and remedy') or diag($missing->{err});
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
