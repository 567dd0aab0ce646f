#!/usr/bin/perl
# Traces of users' programs: factorizations by the reference LAPACK, NumPy. A whole routine of LAPACK is one call of the
# trace, with its operands and its line. Replayed without the program, a trace makes the same calls of the BLAS, and a
# line says how many calls of LAPACK were left out. A trace without LAPACK moves the same bytes when replayed.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache-replay', 'bench/factor');
plan skip_all => 'emulated devices only: what is read ahead on real ones is a matter of time' if $device !~ /^emu/;
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
my $python = '/usr/bin/python3';

my %whole = map { $_ => 1 } slurp("$build/blas/lapack/whole_names.h") =~ /"(\w+)"/g;

# Runs a command with offload auto, replays its trace and compares. $lapack: the whole routines that the command calls.
sub recorded_and_replayed {
    my ($name, $env, $lapack, @command) = @_;
    my $trace = "$scratch/trace";
    my $prefix = join ' ', map { "$_=$env->{$_}" } sort keys %$env;
    my $said = qx(env $prefix $build/tools/semcache run --device $device --trace $trace @command 2>&1);
    is($?, 0, "$name: recorded") or diag($said);
    my @dump = split /\n/, qx($build/tools/semcache trace dump $trace);
    my @called = map { / call .* - (\w+) m=/ && $whole{$1} ? $1 : () } @dump;
    is("@called", "@$lapack", "$name: whole routines of LAPACK are calls of the trace") or diag($said);
    is(scalar(grep { / done .* 0 +- (\w+)$/ && $whole{$1} } @dump), @called, "$name: on devices");
    like(qx($build/tools/semcache trace check $trace), qr/^every invariant held/, "$name: checked");
    my $text = qx($build/tools/semcache trace replay --check $trace 2>$scratch/err);
    is($?, 0, "$name: replayed");
    is(slurp("$scratch/err"), @called ? 'semcache trace replay: ' . @called .
          " calls of LAPACK were left out: only calls of the BLAS are repeated\n" : '', "$name: what is left out");
    unlike($text, qr/no device was used/, "$name: nothing about devices");
    my %report = map { /^(\S.*?)\s{2,}(\S+)\s+(\S+)$/ ? ($1 => [$2, $3]) : () } split /\n/, $text;
    cmp_ok($report{'calls on devices'}[0], '>', 0, "$name: devices were used");
    my $again = $report{'calls on devices'}[1] + $report{'large calls on the host'}[1];
    is($again, $report{'calls on devices'}[0] + $report{'large calls on the host'}[0] - @called,
        "$name: the calls of the BLAS");
    return if @called;
    is($report{'calls on devices'}[1], $report{'calls on devices'}[0], "$name: calls on devices");
    for my $what ('bytes to devices', 'bytes to the host') {
        my ($moved, $again) = @{ $report{$what} };
        ok(abs($again - $moved) <= 0.02 * $moved + 65536, "$name: $what: $moved, $again") or diag($text);
    }
}

# The amount of read-ahead depends on time, and decides where later calls find their operands. Here a fault fetches only
# the touched page.
my %env = (OPENBLAS_NUM_THREADS => 1, SEMCACHE_WINDOW_MIN => '4K', SEMCACHE_WINDOW_MAX => '4K');
SKIP: {
    skip "no reference LAPACK in $reference", 45 unless -e "$reference/liblapack.so.3";
    for ([potrf => 600, 'dpotrf'], [getrf => 600, 'dgetrf'], [geqrf => 400, 'dgeqrf'], [syevd => 400, 'dsyevd'],
        [getri => 500, 'dgetrf', 'dgetri']) {
        my ($routine, $n, @lapack) = @$_;
        recorded_and_replayed("$routine n=$n", { %env, LD_LIBRARY_PATH => $reference }, \@lapack,
            "$build/bench/factor", $routine, $n);
    }
}
SKIP: {
    skip 'no NumPy for /usr/bin/python3 (Debian: python3-numpy)', 21 if system("$python -c 'import numpy' 2>/dev/null");
    my $products = <<'PYTHON';
import numpy as np
rng = np.random.default_rng(1)
a, b = rng.standard_normal((500, 500)), rng.standard_normal((500, 500))
c = a @ b
for i in range(3):
    c += 1e-3 * (a @ c)
PYTHON
    my $solution = <<'PYTHON';
x = np.linalg.solve(a, b[:, :50])
assert np.allclose(a @ x, b[:, :50])
PYTHON
    for (['NumPy products', $products], ['NumPy solve', $products . $solution, 'dgesv']) {
        my ($name, $text, @lapack) = @$_;
        my $script = "$scratch/program.py";
        open my $out, '>', $script or die "$script: $!";
        print $out $text;
        close $out or die "$script: $!";
        recorded_and_replayed($name, \%env, \@lapack, $python, $script);
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
