#!/usr/bin/perl
# A replayed trace makes the same calls on the same memory and takes the same faults, hence the same transfers.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
require "$ENV{top_srcdir}/tests/trace_edit.pl";

our ($build, $scratch, $device, %EVENT);
need('tools/semcache-replay', 'examples/jacobi', 'examples/cg', 'examples/abac', 'tests/replayed');

# Runs `semcache trace replay'; returns the report as {what => [recorded, replayed]}.
sub replay {
    my ($trace, @options) = @_;
    my $command = join ' ', "$build/tools/semcache trace replay --check", @options, $trace, "2>$scratch/err";
    my %report = (text => scalar qx($command), status => $?);
    for (split /\n/, $report{text}) {
        $report{$1} = [$2, $3] if /^(\S.*?)\s{2,}(\S+)\s+(\S+)$/;
    }
    $report{err} = slurp("$scratch/err");
    return \%report;
}

sub value { my ($report, $what, $side) = @_; return ($report->{$what} // ['none', 'none'])->[$side] }

sub same {
    my ($report, $name, @what) = @_;
    is(value($report, $_, 1), value($report, $_, 0), "$name: $_") or diag($report->{text} . $report->{err}) for @what;
}

# Equal within 2%, since read-ahead depends on time.
sub near {
    my ($report, $name, @what) = @_;
    for (@what) {
        my ($before, $now) = (value($report, $_, 0), value($report, $_, 1));
        ok($now =~ /^\d+$/ && $before =~ /^\d+$/ && abs($now - $before) <= 0.02 * $before + 65536,
            "$name: $_: $before, $now") or diag($report->{text});
    }
}

my @ways = ('bytes to devices', 'bytes to the host', 'bytes between devices');
my $number = 0;
for my $program (['examples/jacobi', 1000, 20], ['examples/jacobi', '-r', 1000, 20],
    ['examples/jacobi', '-w', 1000, 20], ['examples/jacobi', '-e', 1000, 20], ['examples/cg', 800],
    ['examples/abac', '-d', 'one', 600], ['tests/replayed']) {
    my $trace = "$scratch/trace" . $number++;
    my $run = run({ options => ['--offload', 'always', '--trace', $trace] }, @$program);
    my $name = $run->{name};
    is($run->{status}, 0, "$name: traced");
    my $again = replay($trace);
    is($again->{status}, 0, "$name: replayed") or diag($again->{err});
    is($again->{err}, '', "$name: nothing is left out");
    cmp_ok(value($again, 'calls on devices', 0), '>', 0, "$name: devices were used");
    is(value($again, 'calls on devices', 0), calls($run, qr/./, 'offloaded'),
        "$name: the recorded calls are those of the statistics");
    is(value($again, 'bytes to devices', 0), moved($run, 'h2d'), "$name: and so are the bytes");
    same($again, $name, 'calls on devices', 'large calls on the host');
    near($again, $name, @ways);
    SKIP: {
        skip 'read-ahead on real devices is a matter of time', 1 if $device !~ /^emu/;
        same($again, $name, 'write faults');
    }
}

my $dump = qx($build/tools/semcache trace dump $scratch/trace6 2>&1);
like($dump, qr/srotm flag=-1 h11=0.5 h21=0.25 h12=-2 h22=1$/m, 'the parameters of rotm are recorded');

# A sweep: the amount fetched before the CPU needs it depends on time. The first window is always fetched on demand.
run({ options => ['--offload', 'always', '--trace', "$scratch/sweep"] }, 'examples/abac', 600);
my $sweep = replay("$scratch/sweep");
near($sweep, 'sweep', 'bytes to devices');
my $home = value($sweep, 'bytes to the host', 1);
cmp_ok($home, '>=', 262144, "sweep: $home bytes to the host, a window at least");
cmp_ok($home, '<=', 2 * 8 * 600 * 600, 'and no more than there are');

SKIP: {
    skip 'emulated devices only', 8 if $device !~ /^emu/;
    my $other = replay("$scratch/trace0", '--device', 'emu:k40x3');
    is($other->{status}, 0, 'replayed on other devices');
    is(value($other, 'SEMCACHE_DEVICE', 1), 'emu:k40x3', 'which the report names');
    same($other, 'other devices', 'calls on devices');
    cmp_ok(value($other, 'virtual seconds', 1), '>', value($other, 'virtual seconds', 0), 'older ones need more time');
    my $never = replay("$scratch/trace0", '--device', 'none');
    is($never->{status}, 0, 'replayed on the host');
    is(value($never, 'calls on devices', 1), 0, 'no call on devices');
    my $kept = replay("$scratch/trace0", '--trace', "$scratch/again", '--stats', "$scratch/stats");
    my $twice = replay("$scratch/again");
    is(value($twice, 'bytes to devices', 1), value($kept, 'bytes to devices', 0), 'a replay can be replayed');
    like(slurp("$scratch/stats"), qr/"h2d": \d/, 'and has statistics');
}

# The summary: the same sums, and the source line that caused columns to be uploaded again.
{
    my $run = run({ options => ['--offload', 'always', '--trace', "$scratch/summary"] }, 'tests/replayed');
    my $summary = qx($build/tools/semcache trace dump --summary $scratch/summary 2>&1);
    is($?, 0, 'a summary is printed');
    note($summary);
    my ($devices, $host, $up, $home) = $summary =~ /^ *(\d+) +(\d+) +[\d.]+ +(\d+) +(\d+) +\d+  all$/m;
    is($devices, calls($run, qr/./, 'offloaded'), 'summary: calls');
    is($up, moved($run, 'h2d'), 'summary: bytes to devices');
    is($home, moved($run, 'd2h'), 'summary: bytes to the host');
    my $source = slurp("$ENV{top_srcdir}/tests/replayed.c");
    my $line = 1 + (substr($source, 0, index($source, 'kept[N + round] += 1')) =~ tr/\n//);
    my $debug = qx(addr2line --version 2>/dev/null) && qx(readelf -S $build/tests/replayed 2>/dev/null) =~ /debug_line/;
    my $place = $debug ? qr/replayed\.c:$line/ : qr/replayed\+0x[0-9a-f]+(\(\w+\))?/;
    like($summary, qr/^ +\d+ +[1-9]\d* +\d+ +[1-9]\d*  \S*$place$/m,
        'summary: who writes what is uploaded again, ' . ($debug ? 'by line' : 'by address'));
    like($summary, qr/^ +\d+ +720000 .* 300 x 300 at 0x[0-9a-f]+, dgemm$/m, 'summary: a matrix');
}

for my $bad ("$scratch/none", "$build/tools/semcache") {
    my $refused = replay($bad);
    isnt($refused->{status}, 0, "$bad is refused");
    is(scalar(split /\n/, $refused->{err}), 1, 'in one line');
}

# A truncated file is replayed up to its end; damaged events do no harm.
my $text = slurp("$scratch/trace5");
sub damaged {
    my ($name, $bytes) = @_;
    open my $out, '>', "$scratch/damaged" or die;
    print $out $bytes;
    close $out;
    my $again = replay("$scratch/damaged");
    is($again->{status} & 127, 0, "$name: no crash") or diag($again->{err});
    unlike($again->{err}, qr/died/, "$name: nor one of the program that replays");
    return $again;
}

# The trace with its operands changed: $change edits each operand (tests/trace_edit.pl).
sub operands_changed {
    my ($change) = @_;
    my $bytes = $text;
    for (grep { $_->{kind} == $EVENT{operand} } trace_events($text)) {
        $change->($_);
        $bytes = trace_put($bytes, $_);
    }
    return $bytes;
}

damaged('half', substr($text, 0, length($text) / 2));
srand(1);
for my $round (1 .. 5) {
    damaged("operands damaged, seed 1, round $round", operands_changed(sub {
        my ($event) = @_;
        $event->{qw(a b c bytes ip)[rand 5]} = int(rand 2**30) * 2**int(rand 33) if rand() < 0.5;
    }));
}

# Operands that do not fit their call are rejected: otherwise gigabytes would be allocated and filled. (A call of
# vectors is kept, since an increment may be 1.)
my @larger = (['rows', 'b', 2**31, 3], ['columns', 'c', 2**20, 3], ['address', 'a', 2**48, 3],
    ['leading dimension', 'bytes', 1, 2]);
for (@larger) {
    my ($what, $field, $value, $calls) = @$_;
    my $left = damaged($what, operands_changed(sub { $_[0]{$field} = $value }));
    is($left->{status}, 0, "$what: the rest is replayed");
    like($left->{err}, qr/^semcache trace replay: $calls calls were left out/, "$what: without the damaged calls");
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
