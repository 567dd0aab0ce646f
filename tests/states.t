#!/usr/bin/perl
# `semcache trace states' prints the history of an array, named in three ways. `semcache trace diff' compares two runs
# of a program whose lines have moved.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/planted');
plan skip_all => 'the shares are those of two emulated devices' unless $device eq 'emu:h200x8:2';
plan skip_all => 'no debug information' unless qx(readelf -S $build/tests/planted 2>/dev/null) =~ /debug_line/;
my $tool = "$build/tools/semcache trace";

sub line {
    my ($text) = @_;
    my $source = slurp("$ENV{top_srcdir}/tests/planted.c");
    my $at = index $source, "/* $text */";
    die "no $text" if $at < 0;
    return 'planted.c:' . (1 + (substr($source, 0, $at) =~ tr/\n//));
}

sub states {
    my ($trace, @array) = @_;
    my $text = qx($tool states $trace @array 2>&1);
    is($?, 0, "states of @array");
    ok(!grep({ length > 80 } split /\n/, $text), 'in 80 columns') if @array;
    return $text;
}

my $run = run({ options => ['--offload', 'always', '--trace', "$scratch/one"] }, 'tests/planted');
is($run->{status}, 0, 'traced');
my ($arrays, $needs, $writes, $reads) = map { quotemeta line($_) } qw(arrays needs writes reads);
my $list = states("$scratch/one");
my @list = $list =~ /^array (\d+): 1000 x 1000 \(8 bytes each\) at (0x[0-9a-f]+), from $arrays$/mg;
is(scalar @list, 6, 'three arrays of one line') or diag($list);
my ($b, $b_address) = @list[2, 3];

# The second array is written by the CPU and read by the devices in each round.
my $text = states("$scratch/one", $b);
is(scalar(() = $text =~ /^ +[\d.]+   0 100   0  \d\d +SS  $needs dgemm$/mg), 5, 'shared in each round') or diag($text);
my $faulted = () = $text =~ /^ +[\d.]+ 100   0   0  \.\. +CC  $writes in\b/mg;
is($faulted, 4, 'and written by the CPU in between') or diag($text);
like($text, qr/^ +[\d.]+ the array is forgotten\n\z/m, 'until free');
is(states("$scratch/one", $b_address), $text, 'named by an address');
like(states("$scratch/one", line('allocates')), qr/^array \d+: 1000 x 1000 .*\n(.*\n)+.* G/, 'named by a line');
my ($last) = $text =~ /^ +([\d.]+) .*\n.*forgotten/m;
unlike(states("$scratch/one", '--from', $last, $b), qr/dgemm/, 'from a time on');
is(system("$tool states $scratch/one nothing.c:1 2> $scratch/err") >> 8, 1, 'no such array');
like(slurp("$scratch/err"), qr/^semcache: error: no array nothing\.c:1: name a number, an address or /, 'is said');

# --- two runs

my $same = qx($tool diff $scratch/one $scratch/one);
is($?, 0, 'a trace against itself');
is(scalar(() = $same =~ /^(?:seconds|faults|MB)\b.* =$/mg), 7, 'has equal sums') or diag($same);

# The same program with other line numbers, and without the reads.
mkdir "$scratch/later";
my $source = slurp("$ENV{top_srcdir}/tests/planted.c");
$source =~ s{^.*/\* reads \*/\n}{}m or die;
open my $out, '>', "$scratch/later/planted.c" or die $!;
print $out "/* A line more.\n * Another line. */\n$source";
close $out or die $!;
my ($libraries) = qx(ldd $build/tests/planted) =~ m{=> (\S+/libblas\S*|\S+/libopenblas\S*)};
SKIP: {
    skip 'no compiler or no BLAS', 7
      if !$libraries || system("cc -g -O2 -o $scratch/later/planted $scratch/later/planted.c $libraries") != 0;
    my @later = ("$build/tools/semcache", 'run', '--device', $device, '--offload', 'always', '--trace', "$scratch/two",
        "$scratch/later/planted");
    is(system("@later > $scratch/out 2>&1"), 0, 'a later version') or diag(slurp("$scratch/out"));
    my $diff = qx($tool diff $scratch/one $scratch/two);
    is($?, 0, 'compared');
    ok(!grep({ length > 80 } split /\n/, $diff), 'in 80 columns');
    $diff =~ s/\n {36}/ /g;
    note($diff);
    like($diff, qr/^faults, reading +\d+ +\d+ +-\d+%$/m, 'faults less');
    like($diff, qr/^ +[\d.]+ +0\.0000 +[\d.]+ +0\.0  $reads: touched by the CPU$/m, 'the line that is gone');
    my $later = quotemeta('planted.c:' . ((split /:/, line('writes'))[1] + 2));
    my @wrote = $diff =~ /^ +[\d.]+ +[\d.]+ +([\d.]+) +([\d.]+)  $later\b.*: the CPU had written it$/mg;
    is(scalar @wrote, 2, 'a line that moved is one line');
    is($wrote[0], $wrote[1], 'with the same bytes');
}
is(system("$tool diff $scratch/one 2> $scratch/err") >> 8, 2, 'one trace');
like(slurp("$scratch/err"), qr/the second trace file is missing/, 'is not enough');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
