#!/usr/bin/perl
# Traces of users' programs: factorizations by the reference LAPACK, NumPy. Replayed without the program, a trace makes
# the same calls and moves the same bytes. Panels are no BLAS calls; the trace has them as acquires of memory.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache-replay', 'bench/factor');
plan skip_all => 'emulated devices only: what is read ahead on real ones is a matter of time' if $device !~ /^emu/;
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
my $python = '/usr/bin/python3';

# Runs a command with offload auto, replays its trace and compares.
sub recorded_and_replayed {
    my ($name, $env, @command) = @_;
    my $trace = "$scratch/trace";
    my $prefix = join ' ', map { "$_=$env->{$_}" } sort keys %$env;
    my $said = qx(env $prefix $build/tools/semcache run --device $device --trace $trace @command 2>&1);
    is($?, 0, "$name: recorded") or diag($said);
    my $text = qx($build/tools/semcache trace replay --check $trace 2>$scratch/err);
    is($?, 0, "$name: replayed");
    is(slurp("$scratch/err"), '', "$name: nothing is left out");
    my %report = map { /^(\S.*?)\s{2,}(\S+)\s+(\S+)$/ ? ($1 => [$2, $3]) : () } split /\n/, $text;
    cmp_ok($report{'calls on devices'}[0], '>', 0, "$name: devices were used");
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
    skip "no reference LAPACK in $reference", 28 unless -e "$reference/liblapack.so.3";
    recorded_and_replayed("$_->[0] n=$_->[1]", { %env, LD_LIBRARY_PATH => $reference }, "$build/bench/factor", @$_)
      for [potrf => 600], [getrf => 600], [geqrf => 400], [syevd => 400];
}
SKIP: {
    skip 'no NumPy for /usr/bin/python3 (Debian: python3-numpy)', 7 if system("$python -c 'import numpy' 2>/dev/null");
    my $script = "$scratch/solve.py";
    open my $out, '>', $script or die "$script: $!";
    print $out <<'PYTHON';
import numpy as np
rng = np.random.default_rng(1)
a, b = rng.standard_normal((500, 500)), rng.standard_normal((500, 500))
c = a @ b
for i in range(3):
    c += 1e-3 * (a @ c)
x = np.linalg.solve(a, b[:, :50])
assert np.allclose(a @ x, b[:, :50])
PYTHON
    close $out or die "$script: $!";
    recorded_and_replayed('NumPy', \%env, $python, $script);
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
