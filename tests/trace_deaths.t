#!/usr/bin/perl
# Traces of programs that end badly. Asserts that the file has the events up to the last call, and that every command
# reads the file. Asserts the size limit of files, and one file for each process.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/dies', 'tests/traced_forks');
my $tool = "$build/tools/semcache";
my $trace = "$scratch/trace";
my $how = "$tool run --device $device --offload always";

sub text_of { my ($command) = @_; my $text = qx($tool trace $command 2>&1); return ($text, $?) }

my %ended = (killed => 9, aborting => 6, crashing => 11, exiting => 0);
for my $death (sort keys %ended) {
    my $out = qx(ulimit -c 0; exec $how --trace $trace $build/tests/dies $death 300 2>/dev/null);
    is($? & 127, $ended{$death}, "$death: the program ends so");
    like($out, qr/^300 calls/, 'after all its calls');
    my ($text, $status) = text_of("dump $trace");
    is($status, 0, 'the trace is read');
    my $last = $death eq 'exiting' ? qr/./ : qr/^# the program ended without closing/m;
    is(scalar(() = $text =~ /^ .* call .* dgemm m=96/mg), 300, 'and has all of them');
    is(scalar(() = $text =~ /^ .* done .* dgemm/mg), 300, 'to the end of the last one');
    like($text, $last, 'and says that it was not closed');
    ($text, $status) = text_of("check $trace");
    is($status, 0, 'what it tells is right') or diag($text);
    ($text, $status) = text_of("explain $trace");
    like($text, qr/dies/, 'it is explained') or diag($text);
    ($text, $status) = text_of("report $trace");
    my $note = $text =~ /<strong>The program ended without closing the trace/;
    ok($status == 0 && ($note || $death eq 'exiting'), 'a report says how the trace ended');
    is($text =~ /whole time unknown/ ? 1 : 0, $device =~ /^emu/ && $note ? 1 : 0,
        'shares of the time are of the clock that the waits have');
    ($text, $status) = text_of("replay --device $device $trace");
    like($text, qr/^calls on devices +300 +300$/m, 'and replayed') or diag($text);
}

# --- a limit -------------------------------------------------------------------------------------------------------

qx(SEMCACHE_TRACE_LIMIT=1M $how --trace $trace $build/tests/dies exiting 3000);
cmp_ok(-s $trace, '<=', (1 << 20) + 65536, 'a limit of 1 MiB holds');
my ($text, $status) = text_of("dump $trace");
like($text, qr/^# the oldest \d+ events were dropped: SEMCACHE_TRACE_LIMIT/m, 'what was dropped is said');
my @seconds = $text =~ /^ +(\d+\.\d+) .* done .* dgemm/mg;
cmp_ok(scalar @seconds, '>', 100, 'the newest calls are there');
($text, $status) = text_of("check $trace");
is($status >> 8, 1, 'such a trace is not checked');
like($text, qr/events are missing; a higher SEMCACHE_TRACE_LIMIT keeps them\n\z/, 'and why');
for my $command ('explain', 'dump --summary', "replay --device $device") {
    ($text, $status) = text_of("$command $trace");
    is($status & 127, 0, "$command goes as far as it can") or diag($text);
}

# --- processes -----------------------------------------------------------------------------------------------------

unlink $trace;
qx($how --trace $scratch/t.%p sh -c '$build/tests/dies killed 5 & $build/tests/dies killed 7 & wait' 2>/dev/null);
my @files = glob "$scratch/t.*";
my %calls = map { $_ => scalar(() = (text_of("dump $_"))[0] =~ /^ .* call .* dgemm/mg) } @files;
is(join(' ', sort { $a <=> $b } values %calls), '5 7', 'two processes have two files, each with its own calls');

# --- forks while threads note allocations ---------------------------------------------------------------------------

like(scalar qx($how --trace $scratch/forks $build/tests/traced_forks 2>&1), qr/^200 children ok$/m,
    'a child waits for no thread of its parent');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
