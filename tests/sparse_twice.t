#!/usr/bin/perl
# A sparse matrix of twice one device's memory on two devices (by SEMCACHE_MEMORY_LIMIT, also on real devices). With
# room for the vectors beside its halves the matrix stays resident; with less room parts of the matrix come and go. On
# one device the matrix never stays.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

need('examples/cg_sparse');
my $two = $ENV{SEMCACHE_TEST_DEVICE} // 'emu:h200x8:2';
my $one = $ENV{SEMCACHE_TEST_DEVICE} ? 'cuda:0' : 'emu:h200x8:1';
my $side = 48;
my $n = $side**3;
my $entries = (3 * $side - 2)**3; # 27 points
my $matrix = 12 * $entries + 4 * $n;
my $vectors = 5 * 8 * $n;

sub cg {
    my ($where, $limit, $iterations) = @_;
    my %how = (device => $where, env => { SEMCACHE_MEMORY_LIMIT => $limit });
    $how{options} = ['--check', '--offload', 'always'];
    my $run = run(\%how, 'examples/cg_sparse', '-s', 27, $n, $iterations);
    right($run, "right on $where, $limit bytes each");
    is(calls($run, qr/sparse/, 'host'), 0, 'all products ran there');
    return $run;
}

my $probe = run({ device => $two, options => ['--offload', 'always'] }, 'examples/cg_sparse', '-s', 27, $n, 2);
my $devices = @{ $probe->{stats}{devices} // [] };
plan skip_all => "needs two devices, not $devices" if $devices != 2;

# Room for the halves of matrix and vectors, and for the rounding of allocations.
my $halves = int(1.1 * ($matrix + $vectors) / 2) + (2 << 20);
cmp_ok($matrix, '>', 1.4 * $halves, 'the matrix is larger than a device');
my ($short, $long) = map { cg($two, $halves, $_) } 5, 10;
is(moved($long, 'h2d'), moved($short, 'h2d'), 'on two devices more iterations upload nothing');
is($long->{stats}{evictions}, 0, 'and evict nothing');

my $half = int($matrix / 2);
($short, $long) = map { cg($two, $half, $_) } 3, 6;
cmp_ok($long->{stats}{evictions}, '>', 0, "a matrix of twice a device's memory, and vectors: parts come and go");
cmp_ok(moved($long, 'h2d') - moved($short, 'h2d'), '<', 3 * $matrix / 2, '... those without room, not all of them');
($short, $long) = map { cg($one, $half, $_) } 3, 6;
cmp_ok(moved($long, 'h2d') - moved($short, 'h2d'), '>', $matrix, 'on one device they do in each product');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
