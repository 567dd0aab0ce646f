#!/usr/bin/perl
# All public functions of scipy.sparse.linalg that work with vectors, with default settings on an emulated device: more
# steps move no vector. Asserts that the list is complete, and the bytes of a longer run beyond those of a shorter run.
#
# SEMCACHE_TEST_PYTHON: a python with numpy and scipy (default: the first of /usr/bin/python3 and the path).
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($build, $device, $scratch);

need();
plan(skip_all => 'for emulated devices, which no other program uses') unless $device =~ /^emu:/;
my ($python) = grep { -x $_ && system("$_ -c 'import numpy, scipy' >/dev/null 2>&1") == 0 }
    ($ENV{SEMCACHE_TEST_PYTHON} // (), '/usr/bin/python3', map { "$_/python3" } split /:/, $ENV{PATH});
plan(skip_all => 'no python3 with numpy and scipy') unless $python;
$ENV{OPENBLAS_NUM_THREADS} = 1; # emulated devices compete for the same cores
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$ENV{SEMCACHE_OPEN} = 'first';
my $audit = "$ENV{top_srcdir}/tests/adapters/audit.py";
my ($side, $few, $many) = (256, 4, 8);
my $vector = 8 * $side**2;

# The vectors up and down that a product (a solve, a step) more may move, and why.
my $old = system($python, '-c',
    'import scipy, sys; sys.exit(tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 11))');
my @arnoldi = $old ? (0.3, 1.3) : (0.01, 0.4); # ARPACK reads numbers on the CPU, and in Fortran copies columns
my @block = $old ? (0.02, 8.1) : (0.02, 0.02); # lobpcg looks for the largest element of each column on the CPU
my %most = (eigsh => \@arnoldi, eigs => \@arnoldi, svds => \@arnoldi, 'svds lobpcg' => \@block, lobpcg => \@block,
    spsolve_triangular => [1.6, 1.6],   # a chain too long for a device: each solve fetches and uploads a vector
    'expm_multiply block times' => [0.002, 0.002], # small matrices of signs
    onenormest => [6, 3],               # signs and sorting on the CPU
    funm_multiply_krylov => [3, 3],     # a basis stored by rows
    gcrotmk => [1, 0.05]);
my @scalars = (0.05, 0.05); # of the longer run together

sub audited {
    my ($entry, $steps) = @_;
    my $stats = "$scratch/stats";
    unlink $stats;
    my $status = system("$build/tools/semcache run --check --device @{[$device =~ s/:\d+$//r]}:1 --stats $stats " .
        "$python $audit '$entry' $side $steps >$scratch/out 2>$scratch/err");
    diag(slurp("$scratch/err")) if $status != 0;
    my $run = eval { JSON::PP::decode_json(slurp($stats)) } // {};
    $run->{products} = 0;
    $run->{products} += ($run->{calls}{$_}{offloaded} // 0) + ($run->{calls}{$_}{host} // 0)
      for grep { /^sparse/ } keys %{ $run->{calls} // {} };
    $run->{status} = $status;
    return $run;
}

chomp(my $missing = `$python $audit names`);
is($missing, '', 'audit.py has an entry for each public function with vectors');
chomp(my @entries = `$python $audit list`);
cmp_ok(scalar @entries, '>=', 20, 'entries');
for my $entry (@entries) {
    my ($short, $long) = map { audited($entry, $_) } $few, $many;
    is($short->{status} || $long->{status}, 0, "$entry: status") or next;
    my $more = $long->{products} - $short->{products};
    cmp_ok($more, '>', 0, "$entry: $more more products");
    my @limits = $most{$entry} ? map { $_ * $more } @{ $most{$entry} } : @scalars;
    for my $way ('h2d', 'd2h') {
        my $moved = ($long->{bytes}{$way} - $short->{bytes}{$way}) / $vector;
        cmp_ok($moved, '<=', shift @limits, sprintf('%s: %.3f vectors %s', $entry, $moved, $way));
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
