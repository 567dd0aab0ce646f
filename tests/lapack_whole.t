#!/usr/bin/perl
# An unmodified program calls whole routines of LAPACK. Asserts right results with every call on devices: small orders,
# orders above the gate, operands inside and outside of the arena; that each routine ran on devices; and that offload
# auto moves what the CPU has written and nothing else. Calls that stay on the host get the newest values.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

need('bench/factor', 'tests/lapack_whole', 'tests/lapack_spectra', 'tests/lapack_on_host');

# One thread: emulated devices compute with the same LAPACK, whose threads may be held by a waiting call.
my %env = (OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1);
# OpenBLAS 0.3.21 takes its oldest kernels for a processor that it does not know, and among these ctrtri fails: it calls
# a ctrsm that needs more alignment than ctrtri gives.
$env{OPENBLAS_CORETYPE} = 'Haswell' if slurp('/proc/cpuinfo') =~ /\bavx2\b/;
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
my @devices = $ENV{SEMCACHE_TEST_DEVICE} ? ($device) : map { "emu:h200x8:$_" } 1, 2, 4;
my $seed = $ENV{SEMCACHE_TEST_SEED} // 1;
my %routines = (
    lapack_whole => [qw(potrf potrs posv potri getrf getrs getri gecon pocon gesv trtri lauum geqrf sytrf sytrs sysv
            gels)],
    lapack_spectra => [qw(geev geevx gelsd)],
);

for my $where (@devices) {
    for my $library ('', -e "$reference/liblapack.so.3" ? $reference : ()) {
        for my $orders ([$ENV{SEMCACHE_TEST_DEVICE} ? 1 : 3, 1, 40], [1, 130, 150]) { # rounds, orders
            for my $program (sort keys %routines) {
                # A minute each; these routines run on one device.
                next if $program eq 'lapack_spectra' && $orders->[1] > 100 && ($where ne $devices[0] || $library)
                    && !$ENV{SEMCACHE_TEST_LONG};
                my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always',
                        $library ? (LD_LIBRARY_PATH => $library) : () } }, "tests/$program", $seed, @$orders);
                ok($run->{status} == 0 && $run->{out} =~ /^1\.\.\d+$/m, "$where: $program @$orders $library") or
                    diag($run->{out});
                is(scalar complaints($run), 0, 'no message');
                # Norms of a matrix in several tiles are the host's.
                my @norms = $program eq 'lapack_whole' && $where =~ /:1$/ ? qw(lange lansy lanhe lantr) : ();
                my @lacking = grep { !calls($run, qr/^[sdcz]$_$/, 'offloaded') } @{ $routines{$program} }, @norms;
                is("@lacking", '', 'the devices ran each of the routines');
            }
        }
    }
}
# Calls that no device serves, of matrices on a device.
for my $library ('', -e "$reference/liblapack.so.3" ? $reference : ()) {
    my $run = run({ device => $devices[0], env => { %env, SEMCACHE_OFFLOAD => 'always',
            $library ? (LD_LIBRARY_PATH => $library) : () } }, 'tests/lapack_on_host', $seed, 2, 60, 90);
    ok($run->{status} == 0 && $run->{out} =~ /^1\.\.\d+$/m, "calls that stay on the host $library") or
        diag($run->{out});
    cmp_ok(calls($run, qr/gemm$/, 'offloaded'), '>=', 2 * 4 * 6, 'devices had their matrices');
    is(calls($run, qr/^[sdcz](gesvd|gesdd|geev|geevx|gelqf)$/, 'offloaded'), 0, 'no device ran them');
}
# Factors stay: the CPU writes the matrix once, and then the right sides of ten solves.
if (!$ENV{SEMCACHE_TEST_DEVICE}) {
    my $n = 1500;
    for my $how ([], ['cholesky']) {
        my $run = run({ device => $devices[0], env => \%env, options => [] }, 'tests/lapack_whole', 'stay', $n, @$how);
        right($run, "factors stay @$how");
        my $norm = @$how ? 'dlantr' : 'dlange';
        is(calls($run, qr/^$norm$/, 'offloaded'), 1, "$norm ran where the factors are");
        at_most(moved($run, 'h2d'), 1.1 * 8 * $n * $n, 'to the device: the matrix, once');
        at_most(moved($run, 'd2h'), 0.1 * 8 * $n * $n, 'to the host: the solutions');
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
