#!/usr/bin/perl
# `semcache trace export --perfetto' prints valid JSON with the calls, faults, kernels and transfers of a trace, each on
# a named track. Arrows lead from a call or fault to the transfer that it needed.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/planted');
my $tool = "$build/tools/semcache trace";
my $run = run({ options => ['--offload', 'always', '--trace', "$scratch/trace"] }, 'tests/planted');
is($run->{status}, 0, 'traced');
my $text = qx($tool export --perfetto $scratch/trace);
is($?, 0, 'exported');
my $json = eval { decode_json($text) };
ok($json, 'as JSON') or diag($@);
my @events = @{ $json->{traceEvents} };
my %by;
push @{ $by{ $_->{ph} } }, $_ for @events;
is(join(' ', sort keys %by), 'M X f s', 'names, slices, arrows');
my @bad = grep { my $e = $_; grep { !defined $e->{$_} } qw(ph pid tid ts name) } @events;
ok(!@bad, 'each has a phase, a process, a thread, a time, a name');
@bad = grep { !defined $_->{dur} || $_->{dur} < 0 } @{ $by{X} };
ok(!@bad, 'slices have a duration');

my ($summary) = qx($tool dump --summary $scratch/trace) =~ /^ +(\d+) +\d+ +[\d.]+ .*  all$/m;
my %kind;
push @{ $kind{ $_->{cat} } }, $_ for @{ $by{X} };
is(scalar @{ $kind{devices} }, $summary, 'every call');
is($kind{devices}[0]{args}{m}, 1000, 'with its sizes');
my $faults = $run->{stats}{faults}{read} + $run->{stats}{faults}{write};
cmp_ok(scalar @{ $kind{fault} }, '>=', $faults, 'every fault');
my $bytes = 0;
$bytes += $_->{args}{bytes} for @{ $kind{transfer} };
cmp_ok($bytes, '>=', moved($run, 'h2d') + moved($run, 'd2h') + moved($run, 'd2d'), 'every byte');
ok(scalar @{ $kind{kernel} }, 'kernels');

my %named = map { ("$_->{pid} $_->{tid}" => $_->{args}{name}) } grep { $_->{name} eq 'thread_name' } @{ $by{M} };
@bad = grep { $_->{pid} > 1 && !$named{"$_->{pid} $_->{tid}"} } @{ $by{X} };
ok(!@bad, 'tracks of devices and links have names');
ok((grep { /^host to device \d$/ } values %named), 'that say from where to where');

my %from = map { ($_->{id} => $_) } @{ $by{s} };
@bad = grep { !$from{ $_->{id} } || $from{ $_->{id} }{ts} > $_->{ts} } @{ $by{f} };
ok(!@bad && @{ $by{f} } == @{ $by{s} }, 'arrows begin before they end');
@bad = ();
for my $arrow (@{ $by{s} }) {
    my @here = grep { $_->{pid} == 1 && $_->{tid} == $arrow->{tid} } @{ $by{X} };
    push @bad, $arrow unless grep { abs($_->{ts} - $arrow->{ts}) < 0.01 } @here;
}
ok(!@bad, 'in a call or a fault');

# Perfetto's importer drops a slice that overlaps a slice of the same track without lying within.
my %track;
push @{ $track{"$_->{pid} $_->{tid}"} }, $_ for @{ $by{X} };
@bad = ();
for my $slices (values %track) {
    my @open;
    for my $slice (sort { $a->{ts} <=> $b->{ts} || $b->{dur} <=> $a->{dur} } @$slices) {
        pop @open while @open && $open[-1] <= $slice->{ts};
        my $end = $slice->{ts} + $slice->{dur};
        push @bad, $slice if @open && $end > $open[-1] + 0.001;
        push @open, $end;
    }
}
ok(!@bad, 'slices of a track lie within each other') or diag(explain($bad[0]));

# Perfetto's importer follows the events by time, in the file's order where times are equal, and takes the slice that
# began last on the track for an end of an arrow. Tracks of different groups have different numbers.
my (%begun, %group);
@bad = ();
for my $event (sort { $a->{ts} <=> $b->{ts} } grep { $_->{ph} ne 'M' } @events) {
    my $track = "$event->{pid} $event->{tid}";
    my $stack = $begun{$track} //= [];
    $group{ $event->{tid} }{ $event->{pid} } = 1;
    if ($event->{ph} eq 'X') {
        pop @$stack while @$stack && $stack->[-1]{ts} + $stack->[-1]{dur} <= $event->{ts};
        push @$stack, $event;
    } else {
        my $slice = $stack->[-1];
        my $distance = $slice ? $event->{ts} - $slice->{ts} : 1e9;
        push @bad, $event if $distance > 0.0021 || ($event->{ph} eq 's' && $distance <= 0);
    }
}
ok(!@bad, 'arrows belong to the slice that began last') or diag(scalar(@bad), explain($bad[0]));
is_deeply([grep { keys %{ $group{$_} } > 1 } keys %group], [], 'a number is of one track');

my ($dgemm) = grep { $_->{name} eq 'dgemm' } @{ $kind{devices} };
SKIP: {
    skip 'no debug information', 2 unless qx(readelf -S $build/tests/planted 2>/dev/null) =~ /debug_line/;
    like($dgemm->{args}{line}, qr/^planted\.c:\d+$/, 'calls have lines');
    is(scalar(grep { ($_->{args}{line} // '') !~ /^planted\.c:\d+$/ } @{ $kind{fault} }), 0, 'and faults');
}
is(system("$tool export $scratch/none 2>/dev/null") >> 8, 1, 'no file');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
