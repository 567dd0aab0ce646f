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
is(system("$tool export $scratch/none 2>/dev/null") >> 8, 1, 'no file');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
