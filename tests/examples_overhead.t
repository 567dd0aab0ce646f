#!/usr/bin/perl
# A call of size 8 costs at most 60 instructions more than in the host BLAS alone, with devices and without. callgrind
# counts the instructions; the difference of two runs of one program leaves out the start.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/smallcalls');
our ($build, $scratch, $device);
plan skip_all => 'no valgrind here' if system('valgrind --version >/dev/null 2>&1') != 0;

my ($few, $many) = (100, 1100);

# Instructions of `prefix tests/smallcalls routine calls`.
sub instructions {
    my ($routine, $calls, @prefix) = @_;
    unlink glob "$scratch/callgrind.*";
    my $said = "$scratch/said";
    my @command = ('valgrind', '--tool=callgrind', '--trace-children=yes', "--callgrind-out-file=$scratch/callgrind.%p",
        @prefix, "$build/tests/smallcalls", $routine, $calls);
    my $child = fork // die "fork: $!";
    if (!$child) {
        @ENV{qw(OPENBLAS_NUM_THREADS OMP_NUM_THREADS SEMCACHE_ARENA)} = (1, 1, '1G');
        open STDOUT, '>', $said or die;
        open STDERR, '>&', \*STDOUT or die;
        exec { $command[0] } @command or die;
    }
    waitpid $child, 0;
    if ($? != 0) {
        diag(slurp($said));
        return;
    }
    # A process may run several programs one after the other; the test program is the last.
    my ($total) = reverse map { /^(?:totals|summary): (\d+)/mg } map { slurp($_) } glob "$scratch/callgrind.*";
    return $total;
}

sub per_call {
    my ($routine, @prefix) = @_;
    my ($less, $more) = map { instructions($routine, $_, @prefix) } $few, $many;
    return defined $less && defined $more ? ($more - $less) / ($many - $few) : undef;
}

for my $routine (qw(ddot daxpy dgemm)) {
    my $host = per_call($routine);
    for my $where ('none', $device) {
        my $ours = per_call($routine, "$build/tools/semcache", 'run', '--device', $where);
        ok(defined $host && defined $ours && $ours - $host <= 60,
            sprintf '%s on %s: %.1f instructions more than the %.1f of the host BLAS', $routine, $where,
            ($ours // 9e9) - ($host // 0), $host // 0);
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
