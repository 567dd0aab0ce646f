#!/usr/bin/perl
# Sparse solvers by MKL's names. Asserts the host's answer on 1, 2 and 4 devices, and bounds of bytes. Twice as many
# iterations upload no more bytes, and fetch only scalars. Devices exchange only the boundary. A value written by the
# CPU moves only its part of the matrix.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device);

my @programs = map { "examples/$_" } qw(bicgstab gmres pagerank jacobi_banded);
need(@programs);

my $side = 32;
my $n = $side**3;
my $plane = 8 * $side**2;
my $values = 8 * (7 * $n - 6 * $side**2);
my %always = (options => ['--check', '--offload', 'always']);
my @places = $ENV{SEMCACHE_TEST_DEVICE} ? $device : map { "emu:h200x8:$_" } 1, 2, 4;

# iterations: completed by the short and the long run. products: per iteration. scalars: bytes per iteration besides the
# data (the dense columns that GMRES multiplies by). boundary: bytes between neighbours per product and direction
# (undef: unlimited).
my %solver = (
    'examples/bicgstab' =>
      { iterations => [20, 40], products => 2, scalars => 0, boundary => $plane, writes => 1 },
    # from restart to restart
    'examples/gmres' =>
      { iterations => [60, 90], products => 31 / 30, scalars => 31 * 8 * 4, boundary => $plane, writes => 1 },
    'examples/pagerank' => { iterations => [10, 20], products => 1, scalars => 0 },
    'examples/jacobi_banded' => { iterations => [20, 40], products => 1, scalars => 0, boundary => 8 * 64 },
);

sub more {
    my ($long, $short, $way) = @_;
    return moved($long, $way) - moved($short, $way);
}

for my $program (@programs) {
    my $s = $solver{$program};
    my ($few, $many) = @{ $s->{iterations} };
    for my $where (@places) {
        my $short = run({ %always, device => $where }, $program, $n, $few);
        my $long = run({ %always, device => $where }, $program, $n, $many);
        right($long, "right on $where");
        used_devices($long);
        is(calls($long, qr/./, 'host'), 0, "$program on $where: all calls ran there");
        my $scalars = ($many - $few) * $s->{scalars};
        at_most(more($long, $short, 'h2d'), $scalars, 'more iterations, to the devices');
        at_most(more($long, $short, 'd2h'), $scalars, 'more iterations, to the host');
        if ($s->{writes}) { # one value of the matrix: its sector again
            my $changed = run({ %always, device => $where }, $program, '-w', $n, $few);
            right($changed, "right on $where after a value was changed");
            cmp_ok(more($changed, $short, 'h2d'), '>', 0, 'the value goes there');
            at_most(more($changed, $short, 'h2d'), $values / 8 + $few * $s->{scalars}, 'with it, to the devices');
        }
        next unless defined $s->{boundary};
        my $devices = @{ $long->{stats}{devices} // [] };
        my $exchanged = ($many - $few) * $s->{products} * 2 * ($devices - 1) * $s->{boundary};
        at_most(more($long, $short, 'd2d'), 1.2 * $exchanged + $devices * $scalars, 'more iterations, between devices');
    }
}

# GMRES's basis comes into use column by column, but is one matrix from the start.
my $basis = 31 * 8 * $n;
for my $where (@places) {
    my $restart = run({ %always, device => $where }, 'examples/gmres', $n, 30);
    at_most(moved($restart, 'h2d'), 3 * $basis + 2 * $values, "one restart of GMRES on $where, to the devices");
}

right(run({ %always }, 'examples/jacobi_banded', '-w', 5000, 40), 'right while the CPU changes elements');

# Further matrices.
for my $points (3, 5, 27) {
    for my $program (qw(examples/bicgstab examples/gmres examples/cg_sparse)) {
        right(run({ %always }, $program, '-s', $points, 1000), "$points points");
    }
}
right(run({ %always }, 'examples/jacobi_banded', '-b', $_, 700), "$_ diagonals") for 0, 1, 40;
for my $program (@programs) {
    right(run({ %always }, $program, 1), 'one row');
    right(run({ device => 'none' }, $program, 700), 'right without devices');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
