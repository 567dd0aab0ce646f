#!/usr/bin/perl
# The worked example of doc/deciding.md: the command of the document, on a host with the document's number of cores,
# prints the figures of the document's tables.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch);
need('tools/semcache', 'examples/jacobi');
my $document = slurp("$ENV{top_srcdir}/doc/deciding.md");
my ($options, $program) = $document =~ m{`semcache run (--device \S+ --explain) - (examples/[\w ]+)`};
ok(defined $program, 'the document names a command') or BAIL_OUT('no command');

my ($cores) = $document =~ /on a host with (\d+) cores/;
local $ENV{SEMCACHE_TEST_CORES} = $cores;
local $ENV{LD_PRELOAD} = "$build/tests/.libs/cores.so";
delete @ENV{qw(SEMCACHE_OFFLOAD SEMCACHE_DEVICE SEMCACHE_CHECK)};
my $said = qx(cd $build && SEMCACHE_DATABASE=none tools/semcache run $options $scratch/table $program 2>&1);
is($?, 0, "$program ends well") or diag($said);

# Rows of dgemv: there, calls, host, kernel, move, result, choice.
my @row = map { [(split)[4, 5, 6, 7, 8, 9, 11]] } grep { /^dgemv / } split /\n/, slurp("$scratch/table");
is(scalar @row, 3, 'three kinds of products') or BAIL_OUT('no rows');
my %figure = $document =~ /^\| (host|device|move|result) \| [^|]* \| (\d+) us \|$/mg;
my ($host, $move, $stay) = @row;
is(join(' ', map { sprintf '%.0f', $_ } @$host[3 .. 5]), "@figure{qw(device move result)}",
    'seconds of the kernel, of the move and of the result');
is_deeply([map { "$_->[1] $_->[6]" } @row], ['3 host', '1 devices', '26 devices'],
    'the fourth call moves A, which stays');
is_deeply([map { sprintf '%.0f', $_ } @$stay[3, 4]], [$figure{device}, 0], 'a resident A costs no move');
is(sprintf('%.0f', $host->[2]), $figure{host}, 'seconds of the host');
# The account: the loss of a call on the host is added until it reaches the price of the move.
my @loss = $document =~ /^\| \d \| (\d+)(?: us)? \| /mg;
my $lost = $figure{host} - $figure{device};
is_deeply(\@loss, [map { $_ * $lost } 0 .. 3], 'the losses are multiples of the loss of a call');
ok($loss[2] < $figure{move} && $loss[3] >= $figure{move}, 'the last reaches the price of the move');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
