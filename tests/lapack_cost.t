#!/usr/bin/perl
# A small factorization by the reference LAPACK makes hundreds of tiny calls. Its cost is at most 3% more instructions
# than with the host BLAS alone: without devices, and with devices if nothing is offloaded. callgrind counts the
# instructions in LAPACK's routine and below: the cost of ten calls after a first ten, which open the host BLAS.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('bench/factor');
our ($build, $scratch, $device);
my $reference = '/usr/lib/x86_64-linux-gnu/lapack';
plan skip_all => "no reference LAPACK in $reference" unless -e "$reference/liblapack.so.3";
plan skip_all => 'no valgrind here' if system('valgrind --version >/dev/null 2>&1') != 0;

# Instructions in the function that calls d<routine>_, of `prefix bench/factor -r rounds routine n`.
sub instructions_of {
    my ($rounds, $routine, $n, @prefix) = @_;
    unlink glob "$scratch/callgrind.*";
    my @command = ('valgrind', '--tool=callgrind', '--trace-children=yes', "--callgrind-out-file=$scratch/callgrind.%p",
        @prefix, "$build/bench/factor", '-r', $rounds, $routine, $n);
    my $child = fork // die "fork: $!";
    if (!$child) {
        @ENV{qw(OPENBLAS_NUM_THREADS OMP_NUM_THREADS SEMCACHE_ARENA LD_LIBRARY_PATH)} = (1, 1, '1G', $reference);
        open STDOUT, '>', "$scratch/said" or die;
        open STDERR, '>&', \*STDOUT or die;
        exec { $command[0] } @command or die;
    }
    waitpid $child, 0;
    diag(slurp("$scratch/said")) if $? != 0;
    for my $file (glob "$scratch/callgrind.*") {
        for (`callgrind_annotate --inclusive=yes --threshold=100 '$file'`) {
            return $1 =~ tr/,//dr if /^\s*([\d,]+) .*factor\.c:$routine(?: |$)/;
        }
    }
    return;
}

sub instructions {
    my ($first, $all) = map { instructions_of($_, @_) } 10, 20;
    return defined $first && defined $all ? $all - $first : undef;
}

for my $routine (qw(potrf getrf geqrf)) {
    my $host = instructions($routine, 64);
    for my $how (['none'], [$device, '--offload', 'never']) {
        my $ours = instructions($routine, 64, "$build/tools/semcache", 'run', '--device', @$how);
        ok($host && $ours && $ours <= 1.03 * $host,
            sprintf '%s n=64, --device %s: %.3f of the %d instructions of the host BLAS alone', $routine, "@$how",
            ($ours // 9e99) / ($host // 1), $host // 0);
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
