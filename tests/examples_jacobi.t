#!/usr/bin/perl
# Bytes moved by Jacobi's iteration: the matrix once, and hardly any byte afterwards.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('examples/jacobi');

my ($n, $iterations) = (2000, 100);
my $matrix = 8 * $n * $n;
my $vector = 8 * $n;
my $percall = $iterations * $matrix;
my $bound = 1.05 * $matrix + 0.01 * $percall;

my $plain = run({}, 'examples/jacobi', $n, $iterations);
right($plain);
used_devices($plain);
# Beside a fast host the first calls are rented (doc/deciding.md), even where the device is emulated.
my $rented = 10;
ok(calls($plain, qr/dgemv/, 'offloaded') >= $iterations - $rented, 'every dgemv ran on devices');
at_most(moved($plain, 'h2d'), $bound, 'to the devices');
at_most(moved($plain, 'd2h'), 0.01 * $percall, 'to the host');
ok(($plain->{stats}{percall_in} // 0) >= $matrix * ($iterations - $rented),
    'copying per call would have moved the matrix each time');

my $looks = run({}, 'examples/jacobi', '-e', $n, $iterations);
right($looks, 'right while the CPU reads an element of x each time');
at_most(moved($looks, 'h2d'), $bound, 'to the devices, x being read');
at_most(moved($looks, 'd2h'), moved($plain, 'd2h') + 65536 * $iterations, 'to the host, x being read');

my $by_rows = run({}, 'examples/jacobi', '-r', $n, $iterations);
right($by_rows, 'right when stored by rows');
at_most(moved($by_rows, 'h2d'), $bound, 'to the devices, stored by rows');

# A sector has every row of at most ceil(columns / 64) columns; b changes as well.
my $changes = 20;
my $sectors = 2 * 8 * $n * int(($n + 63) / 64);
my $before = run({}, 'examples/jacobi', $n, $changes);
my $writes = run({}, 'examples/jacobi', '-w', $n, $changes);
right($writes, 'right while the CPU changes a column of A each time');
at_most(moved($writes, 'h2d'), moved($before, 'h2d') + $changes * ($sectors + 2 * $vector),
    'to the devices, a column being written');
at_most(moved($writes, 'd2h'), moved($before, 'd2h') + $changes * 2 * $vector, 'to the host, a column being written');

# Short vectors on four devices: norm and sum run on one device, which receives the parts and passes x on.
my ($few, $many) = map { run({ device => 'emu:h200x8:4' }, 'examples/jacobi', 4500, $_) } 20, 40;
right($many);
at_most($many->{stats}{transfers}{d2d} - $few->{stats}{transfers}{d2d}, 20 * 2 * 3, 'transfers between devices');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
