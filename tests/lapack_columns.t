#!/usr/bin/perl
# Factorizations of LAPACK over several devices, and of matrices that are larger than the memory of a device or of all
# devices. Asserts right results of an unmodified program with every call on devices; that no routine ran on the host;
# and, by the virtual clock of a machine, the gain of 2 and 4 devices, and the loss with little memory.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device, $scratch);

need('tests/lapack_columns');
plan skip_all => 'for emulated devices' if $ENV{SEMCACHE_TEST_DEVICE} && $device !~ /^emu/;

# One thread: emulated devices compute with the same LAPACK, whose threads may be held by a waiting call.
my %env = (OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1);
my %routines = (potrf => [qw(potrf posv potrs)], getrf => [qw(getrf gesv getrs)],
    geqrf => [qw(geqrf)], trtri => [qw(trtri)], potri => [qw(potrf potri)],
    getri => [qw(getrf getri)], orgqr => [qw(geqrf (?:or|un)gqr)]);

# A machine whose devices have 512 KiB each.
my $machine = slurp("$ENV{top_srcdir}/device/emu/machines/h200x8.machine");
is($machine =~ s/^  memory 139Gi$/  memory 512Ki/mg, 1, 'a machine of small devices');
open my $out, '>', "$scratch/small.machine" or die;
print $out $machine;
close $out or die;

my $n = 450;
for my $routine (sort keys %routines) {
    for my $where ((map { "emu:h200x8:$_" } 1, 2, 4), map { "emu:$scratch/small.machine:$_" } 1, 2, 4) {
        my $run = run({ device => $where, env => { %env, SEMCACHE_OFFLOAD => 'always' } }, 'tests/lapack_columns',
            $routine, $n);
        is($run->{status}, 0, "$where: $routine") or diag($run->{out});
        is(scalar complaints($run), 0, 'no message');
        for my $call (@{ $routines{$routine} }) {
            next if $call eq 'getri' && $where =~ /small/; # needs room for two matrices
            my $pattern = qr/^[sdcz]$call$/;
            ok(calls($run, $pattern, 'offloaded') && !calls($run, $pattern, 'host'), "$call ran on devices");
        }
        cmp_ok(moved($run, 'd2d'), '>', 0, 'blocks travel between devices') if $where !~ /:1$/;
    }
}

# Without data and arithmetic: two factorizations, of a matrix at home and of its result on the devices.
for my $routine (qw(potrf getrf)) {
    my %seconds;
    for my $devices (1, 2, 4) {
        my $run = run({ device => "emu:h200x8:$devices", env => { %env, SEMCACHE_EMU_TIMING => 1 }, options => [] },
            'tests/lapack_columns', 'clock', $routine, 40_000);
        $seconds{$devices} = $run->{stats}{virtual_seconds};
    }
    # With the upload beside the computation; without: 2.3 and 3.6 times.
    my ($two, $four) = $routine eq 'potrf' ? (2.6, 4.2) : (1.7, 3);
    cmp_ok($seconds{1}, '>', $two * $seconds{2}, "$routine on 2 devices");
    cmp_ok($seconds{1}, '>', $four * $seconds{4}, "$routine on 4 devices");
    my $run = run({ device => 'emu:h200x8:1', options => [],
            env => { %env, SEMCACHE_EMU_TIMING => 1, SEMCACHE_MEMORY_LIMIT => '5G' } },
        'tests/lapack_columns', 'clock', $routine, 40_000);
    cmp_ok($seconds{1}, '>', 0.7 * $run->{stats}{virtual_seconds}, "$routine with 0.4 of the matrix in memory");
}
# The inverse finds the factor on several devices, and nothing comes home.
for my $routine (qw(potri getri)) {
    my $run = run({ device => 'emu:h200x8:4', env => { %env, SEMCACHE_EMU_TIMING => 1 }, options => [] },
        'tests/lapack_columns', 'clock', $routine, 20_000);
    is($run->{status}, 0, "the inverse of a factor by $routine");
    is(calls($run, qr/^d$routine$/, 'offloaded'), 1, 'the inverse ran on devices');
    at_most(moved($run, 'd2h'), 8 * 20_000, 'to the host: nothing but INFO');
    at_most(moved($run, 'h2d'), 1.1 * 8 * 20_000**2, 'from the host: the matrix once');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
