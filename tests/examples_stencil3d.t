#!/usr/bin/perl
# The example of semcache/tasks.h: right on 1, 2 and 4 devices and on the host; a step moves halo planes only; kernels
# work in place.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('examples/stencil3d');

my ($n, $steps) = (64, 10);
my $plane = 8 * $n * $n;
my ($build, $scratch) = ($ENV{top_builddir}, qx(mktemp -d));
chomp $scratch;

for my $devices (0, 1, 2, 4) {
    my $where = $devices ? "emu:h200x8:$devices" : 'none';
    my $options = "--device $where --offload always --check" . ($devices ? " --trace $scratch/trace" : '');
    my $said = qx("$build/tools/semcache" run $options "$build/examples/stencil3d" $n $steps 2>&1);
    is($?, 0, "right on $where") or diag($said);
    my ($up, $down, $across) = $said =~ /to devices (\d+), to the host (\d+), between devices (\d+)/;
    is("$up $down", '0 0', 'steps move nothing to and from the host');
    my $halos = $devices ? 2 * ($devices - 1) * $steps * $plane : 0;
    cmp_ok($across, '<=', $halos, 'between devices: halo planes only');
    cmp_ok($across, '>', 0, 'and these are moved') if $devices > 1;
    next unless $devices;
    my $kernels = qx("$build/tools/semcache" trace dump "$scratch/trace");
    my $own = () = $kernels =~ /^.*\bkernel\b.* own /mg;
    my $copies = () = $kernels =~ /^.*\bkernel\b.* copy /mg;
    is("$own $copies", $devices * $steps . ' 0', 'a kernel a part and step, and no copies for kernels');
    unlink "$scratch/trace";
}
rmdir $scratch;
done_testing;
# SPDX-License-Identifier: BSD-2-Clause
