#!/usr/bin/perl
# `semcache trace blame' names planted lines, each with a cause and a remedy. `trace dump' prints selected events, also
# as JSON. `trace assert' fails if a program moves more than allowed.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/planted', 'tests/copied', 'tests/hidden', 'tests/given_up');
my $debug = qx(addr2line --version 2>/dev/null) && qx(readelf -S $build/tests/planted 2>/dev/null) =~ /debug_line/;
plan skip_all => 'no addr2line, or no debug information' unless $debug;
my $libdw = qx(ldd $build/tools/semcache 2>/dev/null; ldd $build/tools/.libs/semcache 2>/dev/null) =~ /libdw/;
my $tool = "$build/tools/semcache trace";

sub line {
    my ($file, $text) = @_;
    my $source = slurp("$ENV{top_srcdir}/tests/$file");
    my $at = index $source, "/* $text */";
    die "$text is not in $file" if $at < 0;
    return "$file:" . (1 + (substr($source, 0, $at) =~ tr/\n//));
}

sub traced {
    my ($program) = @_;
    my $run = run({ options => ['--offload', 'always', '--trace', "$scratch/trace"] }, "tests/$program");
    is($run->{status}, 0, "$program: traced");
    return $run;
}

# The rows of blame: {line => [the line's rows as text on one line]}
sub blame {
    my $text = qx($tool blame $scratch/trace 2>&1);
    is($?, 0, 'blamed');
    my @long = grep { length > 80 } split /\n/, $text;
    ok(!@long, 'in 80 columns') or diag(@long);
    note($text);
    $text =~ s/\n {12,}/ /g;
    return $text;
}

my $run = traced('planted');
my $text = blame();
my %at = map { $_ => line('planted.c', $_) } 'writes', 'needs', 'reads', 'one shape', 'another shape', 'arrays',
  'shares', 'needs values', 'allocates';
my $clock = $device =~ /^emu/ ? 'by the clock of the emulated devices' : 'from the first call to the last event';
like($text, qr/^[\d.]+ s $clock; [\d.]+ s /, 'how much in all');
like($text,
    qr/\Q$at{writes}\E[^\n]* > memset\(b, round[^\n]* in main the CPU had written it, needed by \Q$at{needs}\E dgemm/,
    'a matrix that is written in each round, with the line of source');
like($text, qr/the CPU had written it, needed by [^\n]* allocated at \Q$at{arrays}\E > double \*a = .* TRY write/,
    'the array by the line of its allocation');
like($text, qr/ +[1-9]\d* +[\d.]+ +\Q$at{reads}\E > sum \+= .* in main touched by the CPU matrix of 1000 x 1000 /,
    'an element that is read in each round');
# One device may hold an array in one piece, where another leading dimension moves nothing.
my $shapes = qr/(\Q$at{'one shape'}\E|\Q$at{'another shape'}\E) dgemm > PRODUCT.* it had been used in another shape /;
my $several = @{ $run->{stats}{devices} } > 1;
ok($several ? $text =~ $shapes : $text !~ /another shape/ || $text =~ $shapes, 'an array in two shapes');
like($text,
    qr/\Q$at{shares}\E > field->norm .* data that shares a page with the array, needed by \Q$at{'needs values'}\E /,
    'false sharing');
like($text, qr/ allocated at \Q$at{allocates}\E > struct field .* TRY give that data pages of its own/,
    'and how to end it');
unlike($text, qr/first use/, 'what moves for the first time is nobody\'s fault');

my @json = map { decode_json($_) } split /\n/, qx($tool blame --json $scratch/trace);
cmp_ok(scalar @json, '>=', 3, 'as JSON');
my ($wrote) = grep { $_->{line} =~ /^\Q$at{writes}\E/ && $_->{cause} =~ /the CPU had written it/ } @json;
cmp_ok($wrote->{bytes}, '>=', 4 * 8_000_000, 'with the bytes that were uploaded again');
my @order = map { $_->{microseconds} } @json;
is("@order", join(' ', sort { $b <=> $a } @order), 'most first');

# --- some events

my @all = map { decode_json($_) } split /\n/, qx($tool dump --json $scratch/trace);
is($?, 0, 'all events as JSON');
sub some {
    my (@options) = @_;
    return map { decode_json($_) } split /\n/, qx($tool dump --json @options $scratch/trace);
}
my %filters = (
    '--kind transfer' => sub { $_->{event} eq 'transfer' },
    '--routine dgemm' => sub { $_->{routine} eq 'dgemm' },
    '--matrix 2' => sub { $_->{matrix} == 2 && $_->{event} !~ /^(?:operand|prefetch)$/ },
    '--tile 0' => sub { $_->{tile} == 0 && $_->{event} =~ /^(?:state|transfer|evict|tile|use|lost)$/ },
    "--thread $all[0]{thread}" => sub { $_->{thread} == $all[0]{thread} },
    '--device host --kind transfer' =>
      sub { $_->{event} eq 'transfer' && ($_->{device} < 0 || $_->{peer} < 0) },
    '--kind evict --routine none-such' => sub { 0 });
for my $filter (sort keys %filters) {
    my @want = grep { $filters{$filter}->() } @all;
    is(scalar(some($filter)), scalar @want, "$filter: " . @want . ' events');
}
my $middle = $all[@all / 2]{nanoseconds};
my $from = sprintf '%.9f', $middle * 1e-9;
my $first = (some("--from $from"))[0]{nanoseconds};
cmp_ok(abs($first - $middle), '<=', 1, 'from a time on');
my ($fault) = grep { $_->{event} eq 'fault' } @all;
my @near = some("--address $fault->{a}");
ok(scalar(grep { $_->{event} eq 'fault' && $_->{a} eq $fault->{a} } @near), 'by address: the fault');
ok(scalar(grep { $_->{event} eq 'matrix' } @near), 'and the matrix there');

# By line: the touches that blame counts for the line, and the calls with all their events.
my %touched;
$touched{ $_->{line} =~ /^(\S+)/ ? $1 : '' } += $_->{faults} for @json;
for my $line (@at{qw(writes reads shares)}) {
    is(scalar(grep { $_->{event} eq 'fault' } some("--line $line")), $touched{$line}, "the touches of $line");
}
my @of_call = some("--line $at{needs}");
my ($began, $ended) = map { my $kind = $_; scalar grep { $_->{event} eq $kind } @of_call } qw(call done);
ok($began && $began == $ended, "$began calls of $at{needs}, to their ends");
ok(!(grep { $_->{routine} ne 'dgemm' } @of_call), 'of their routine only');
for my $wrong ('--line nothing.c:1', '--kind nothing', '--kind fault --tile x') {
    my $said = qx($tool dump $wrong $scratch/trace 2>&1 >/dev/null);
    ok($? && $said =~ /nothing|x is not a number/, "$wrong: an error that names the word");
}

# --- limits

my $up = moved($run, 'h2d');
is(system("$tool assert --max-h2d $up $scratch/trace > $scratch/out"), 0, 'a limit that holds');
is(-s "$scratch/out", 0, 'says nothing');
my $less = $up - 1;
is(system("$tool assert --max-h2d $less --max-faults 100000 $scratch/trace > $scratch/out") >> 8, 1, 'a lower one');
is(slurp("$scratch/out"), "bytes to devices: $up, more than $less\n", 'is named');
is(system("$tool assert $scratch/trace 2> $scratch/out") >> 8, 2, 'no limit at all');
is(system("$tool assert --max-h2d 1.5 $scratch/trace 2> $scratch/out") >> 8, 2, 'what is no number of bytes');
is(system("$tool assert --max-faults 0 $scratch/trace > $scratch/out") >> 8, 1, 'faults');

# --- operands that cannot be watched

traced('copied');
$text = blame();
for (['stack', 'on a stack', 'allocate it with malloc'], ['static', 'static or COMMON', 'allocate it with malloc'],
    ['small', 'smaller than SEMCACHE_ARENA_MIN', 'SEMCACHE_ARENA_MIN=4K']) {
    my ($what, $why, $remedy) = @$_;
    my $place = line('copied.c', $what);
    like($text, qr/\Q$place\E dgemv > [^\n]* in \w+ [^\n]*copied in each call: \Q$why\E [^\n]*TRY \Q$remedy\E/,
        "$what: why, and what to do");
}

# An array that is not a block of malloc has an address, and no line of allocation.
for my $row (grep { $_->{cause} =~ /^copied in each call: (?:on a stack|static|smaller)/ }
    map { decode_json($_) } split /\n/, qx($tool blame --json $scratch/trace)) {
    like($row->{array}, qr/ at 0x[0-9a-f]+(?:,|$)/, "$row->{line}, $row->{cause}: the address of the array");
}

# --- what a trace does not tell

my $hidden = traced('hidden');
my ($made) = $hidden->{out} =~ /made at 0x([0-9a-f]+)/;
my @lines = map { decode_json($_) } split /\n/, qx($tool blame --json $scratch/trace);
note(join "\n", map { "$_->{line} | $_->{callers} | $_->{cause} | $_->{array}" } @lines);
SKIP: {
    skip 'built without libdw', 4 unless $libdw;
    my @made = grep { $_->{line} =~ /^0x$made$/ } @lines;
    is(scalar @made, 1, 'code that is made at run time: its address');
    is($made[0]{faults}, 5, 'with its touches');
    my ($near, $far) = map { my $line = line('hidden.c', $_); grep { $_->{line} =~ /^\Q$line\E$/ } @lines }
      'looks nearby', 'looks';
    like($near->{callers}, qr/^in look_from_near <- main /, 'a line with its callers');
    like($far->{callers}, qr/^in look <- look_from_afar hidden\.c:\d+$/,
        'deeper than 16 KiB: without the last callers');
}
my ($needs) = grep { $_->{line} =~ /^\Q@{[ line('hidden.c', 'needs') ]}\E / } @lines;
like($needs->{cause}, qr/the CPU had written it \(not from malloc: the line is unknown\)/,
    'a write to an array outside malloc: the line of the call that needs it');
my %keys = map { $_ => 1 } map { keys %$_ } grep { $_->{event} =~ /^(?:transfer|kernel)$/ } some('');
is(join(' ', grep { /duration|seconds|micro/ } sort keys %keys), 'nanoseconds', 'events of devices have one time');

# --- a matrix with one shape that leaves the devices

{
    my %of_two_cores = (LD_PRELOAD => "$build/tests/.libs/cores.so", OPENBLAS_NUM_THREADS => 1);
    my $run = run({ env => \%of_two_cores, device => 'emu:k40x3', options => ['--trace', "$scratch/trace"] },
        'tests/given_up');
    is($run->{status}, 0, 'given_up: traced');
    my %place = map { $_ => line('given_up.c', $_) } 'sells', 'needs again';
    my $text = blame();
    unlike($text, qr/another shape/, 'a matrix with one shape');
    my $sales = grep { /: the host kept fetching it/ } qx($tool dump --kind choice $scratch/trace);
    SKIP: {
        skip 'the host has taken nothing home', 1 if !$sales;
        like($text, qr/\Q$place{sells}\E dgemv > [^\n]* a call on the host had taken it home, since the host kept/,
            "taken home by $sales calls on the host");
    }
    like($text, qr/\Q$place{'needs again'}\E dgemv > [^\n]* semcache_invalidate had taken it off the devices /,
        'given up by the program');
}

# --- a program without debug information

SKIP: {
    skip 'no strip', 3 if system("strip -g -o $scratch/stripped $build/tests/copied 2> $scratch/out");
    my $stripped = qx($build/tools/semcache run -d $device -o always -t $scratch/trace $scratch/stripped 2>&1);
    is($?, 0, 'a program without debug information: traced') or diag($stripped);
    like(blame(), qr/\bstripped\+0x[0-9a-f]+\(\w+\) dgemv/, 'lines are offsets in the file, and functions');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
