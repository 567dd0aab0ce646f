#!/usr/bin/perl
# `semcache trace check' finds every invariant intact in recorded traces. In a trace changed to break an invariant, the
# check names the rule and the event that breaks the rule.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
require "$ENV{top_srcdir}/tests/trace_edit.pl";

our ($build, $scratch, $device, %EVENT);
need('tools/semcache', 'examples/abac', 'examples/cg', 'examples/jacobi', 'tests/replayed', 'tests/threads',
    'tests/sparse_cg');

sub check {
    my ($trace) = @_;
    my $text = qx($build/tools/semcache trace check $trace 2>&1);
    return { text => $text, status => $? };
}

sub write_file {
    my ($bytes) = @_;
    open my $out, '>', "$scratch/changed" or die;
    print $out $bytes;
    close $out;
    return "$scratch/changed";
}

# --- the document of the format

sub numbered { my %kind = @_; return join ' ', map { "$_=$kind{$_}" } sort { $kind{$a} <=> $kind{$b} } keys %kind }
my ($source, $document) = map { slurp("$ENV{top_srcdir}/$_") } qw(trace/trace.h doc/trace-format.md);
my $number = 0;
my %in_source = map { lc $_ => ++$number } $source =~ /^    SC_EVENT_(?!KINDS)(\w+)\b/mg;
my %in_document = $document =~ /^\| (\d+) `(\w+)` \|.*\|.*\|$/mg;
is(numbered(reverse %in_document), numbered(%in_source), 'doc/trace-format.md has the payload of each kind of event');

# --- good ones

my %trace;
for (['jacobi', {}, 'examples/jacobi', '-w', 800, 10], ['cg', {}, 'examples/cg', 500],
    ['abac', {}, 'examples/abac', 600],
    ['replayed', {}, 'tests/replayed'], ['threads', {}, 'tests/threads'], ['sparse', {}, 'tests/sparse_cg', -1],
    ['evict', { SEMCACHE_MEMORY_LIMIT => 3 << 20 }, 'examples/abac', 600]) {
    my ($name, $env, @program) = @$_;
    my $run = run({ env => $env, options => ['--offload', 'always', '--trace', "$scratch/$name"] }, @program);
    is($run->{status}, 0, "$name: traced");
    my $checked = check("$scratch/$name");
    is($checked->{status}, 0, "$name: no violation") or diag($checked->{text});
    my ($matrices, $transfers, $kernels) = $checked->{text} =~ /(\d+) matrices, .* (\d+) transfers, (\d+) kernels$/;
    ok($matrices && $transfers && $kernels, "$name: and there was something to check") or diag($checked->{text});
    $trace{$name} = slurp("$scratch/$name");
}

SKIP: {
    skip 'emulated devices only', 3 if $device !~ /^emu/;
    my $machine = slurp("$ENV{top_srcdir}/device/emu/machines/h200x8.machine");
    $machine =~ s/^(device .*)$/$1\n  late copy 12/m or die;
    rename write_file($machine), "$scratch/failing.machine" or die;
    my @options = ('--offload', 'always', '--trace', "$scratch/failing");
    run({ device => "emu:$scratch/failing.machine:2", options => \@options }, 'tests/replayed');
    my $checked = check("$scratch/failing");
    is($checked->{status}, 0, 'a device fails: no violation') or diag($checked->{text});
    like($checked->{text}, qr/^gone with a device that failed: parts of [1-9]/m, 'and what is lost is said');
    like(qx($build/tools/semcache trace dump $scratch/failing), qr/ lost +[1-9]/, 'as the program did');
}

# --- broken ones

# Whether the event has these fields: 'matrix' => 3, or a condition.
sub fits {
    my ($event, $wanted) = @_;
    for (keys %$wanted) {
        return 0 if ref $wanted->{$_} ? !$wanted->{$_}->($event->{$_}) : $event->{$_} != $wanted->{$_};
    }
    return 1;
}

sub place { my ($event, @more) = @_; return map { $_ => $event->{$_} } qw(matrix tile), @more }

sub find_event {
    my ($events, $from, %wanted) = @_;
    for ($from .. $#$events) {
        return $_ if fits($events->[$_], \%wanted);
    }
    return undef;
}

# Lets $change edit the events of the trace; $change returns the changed events. The check has to name the rule, and a
# line of the report has to match $event.
sub caught {
    my ($what, $name, $rule, $event, $change) = @_;
    my $bytes = $trace{$name};
    my @changed = $change->([trace_events($bytes)]);
    return fail("$what: no event to change in $name") if !@changed;
    $bytes = trace_put($bytes, $_) for @changed;
    my $checked = check(write_file($bytes));
    is($checked->{status} >> 8, 1, "$what: found");
    like($checked->{text}, qr/^\Q$rule\E is broken: /, "$what: by its name");
    like($checked->{text}, qr/^event: .*$event/m, "$what: with the event") or diag($checked->{text});
    note($checked->{text});
}

sub changed { my ($event, %fields) = @_; @$event{keys %fields} = values %fields; return $event }
sub removed { return changed($_[0], kind => 999) }

caught('a state that was removed', 'replayed', 'C4', 'state', sub {
    my ($events) = @_;
    my $first = find_event($events, 0, kind => $EVENT{state}, device => 0, peer => 1);
    my $later = find_event($events, $first + 1, kind => $EVENT{state}, place($events->[$first]));
    return removed($events->[$first]) if defined $later && $events->[$later]{old};
    return changed($events->[$first], old => 2);
});
caught('a state that was another before', 'replayed', 'C4', 'state .*G>', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{state}, old => 0)], old => 2);
});
caught('a state that is another after', 'replayed', 'C4', 'state .*C>C', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{state}, old => 0, new => 1)], new => 0);
});
caught('sectors that a tile does not have', 'replayed', 'C4', 'transfer', sub {
    my ($events) = @_;
    my $tile = $events->[find_event($events, 0, kind => $EVENT{tile}, sectors => sub { !($_[0] >> 63) })];
    my $moved = find_event($events, 0, kind => $EVENT{transfer}, matrix => $tile->{matrix}, tile => $tile->{tile});
    return changed($events->[$moved], sectors => 1 << 63);
});
caught('a copy to a device that is not to have it', 'replayed', 'C4', 'transfer .* from host', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{transfer}, peer => -1)], device => 7);
});

caught('a host copy that survives a write', 'replayed', 'C2', 'use .*(write|update)', sub {
    my ($events) = @_;
    return removed($events->[find_event($events, 0, kind => $EVENT{state}, device => -1, peer => 0)]);
});
caught('a writer that does not have what it wrote', 'abac', 'C2', 'use .* write', sub {
    my ($events) = @_;
    my $use = find_event($events, 0, kind => $EVENT{use}, old => 2, a => 0);
    my $at = find_event($events, $use, kind => $EVENT{state}, peer => 1, place($events->[$use], 'device'));
    # Without this the host would lose its copy in the same kernel, which breaks C1.
    my $lost = find_event($events, $at, kind => $EVENT{state}, device => -1, place($events->[$use]));
    return (removed($events->[$at]), removed($events->[$lost]));
});

caught('nobody has it', 'replayed', 'C1', 'state .*C>G host', sub {
    my ($events) = @_;
    my $made = find_event($events, 0, kind => $EVENT{tile});
    my $place = find_event($events, $made + 1, kind => sub { $_[0] != $EVENT{tile} });
    my $tile = $events->[$made];
    return changed($events->[$place], kind => $EVENT{state}, device => -1, peer => 0, old => 0, new => 2,
        place($tile, 'sectors'));
});
caught('an eviction of the only copy', 'evict', 'C1', 'evict', sub {
    my ($events) = @_;
    for my $at (grep { $events->[$_]{kind} == $EVENT{evict} } 1 .. $#$events) {
        my @same = place($events->[$at], 'thread');
        my $before = $at;
        my @home;
        # Written home just before: goes back over the transfers and states of these sectors.
        while ($before-- && (fits($events->[$before], { @same, kind => $EVENT{transfer}, device => -1 }) ||
                             fits($events->[$before], { @same, kind => $EVENT{state}, device => -1, peer => 1 }))) {
            push @home, $events->[$before];
        }
        return map { removed($_) } @home if @home;
    }
    return;
});

caught('pages of a result that stay open', 'replayed', 'C3', 'use .*(write|update)', sub {
    my ($events) = @_;
    return map { removed($_) } grep { fits($_, { kind => $EVENT{protect}, new => 2 }) } @$events;
});
caught('pages that open for what is elsewhere', 'replayed', 'C3', 'protect .* read-only', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{protect}, new => 2)], new => 1);
});
caught('pages that open for writing while devices have copies', 'replayed', 'C3', 'protect .* all access', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{protect}, new => 1)], new => 0);
});

caught('an upload of pages that are open for writing', 'replayed', 'C5', 'transfer .* from host', sub {
    my ($events) = @_;
    return removed($events->[find_event($events, 0, kind => $EVENT{protect}, new => 1)]);
});
caught('a kernel before its transfer', 'replayed', 'C5', 'use', sub {
    my ($events) = @_;
    return removed($events->[find_event($events, 0, kind => $EVENT{transfer}, peer => -1)]);
});
caught('a kernel elsewhere', 'replayed', 'C5', 'use', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{use}, a => sub { $_[0] })], device => 9);
});
caught('a copy from where it is not', 'replayed', 'C5', 'transfer .* from 9', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{transfer}, peer => -1)], peer => 9);
});
caught('a copy home that did not happen', 'abac', 'C5', 'state .*G>S host', sub {
    my ($events) = @_;
    my $valid = find_event($events, 0, kind => $EVENT{state}, device => -1, peer => 1);
    my %brings = (place($events->[$valid]), kind => $EVENT{transfer}, device => -1);
    return map { removed($_) } grep { fits($_, \%brings) } @$events[0 .. $valid];
});

caught('memory that goes before its matrix', 'replayed', 'C8', 'free', sub {
    my ($events) = @_;
    my $free = find_event($events, 0, kind => $EVENT{free}, bytes => sub { $_[0] });
    while (defined $free) {
        my ($lo, $bytes) = @{ $events->[$free] }{qw(a bytes)};
        my $inside = sub { $_[0] >= $lo && $_[0] < $lo + $bytes };
        my $gone = find_event($events, $free, kind => $EVENT{forget}, a => $inside);
        return removed($events->[$gone]) if defined $gone;
        $free = find_event($events, $free + 1, kind => $EVENT{free});
    }
    return;
});
caught('a matrix that is no more', 'replayed', 'C8', 'transfer', sub {
    my ($events) = @_;
    return changed($events->[find_event($events, 0, kind => $EVENT{transfer})], matrix => 123456);
});
caught('matrices that overlap', 'replayed', 'D1', 'matrix', sub {
    my ($events) = @_;
    my $first = find_event($events, 0, kind => $EVENT{matrix});
    my $second = find_event($events, $first + 1, kind => $EVENT{matrix});
    return changed($events->[$second], a => $events->[$first]{a} + 64);
});

# --- the report

{
    my @events = trace_events($trace{replayed});
    my $moved = find_event(\@events, 0, kind => $EVENT{transfer}, peer => -1);
    my $checked = check(write_file(trace_put($trace{replayed}, removed($events[$moved]))));
    my $made = qr/\d+ x \d+ at 0x[0-9a-f]+, first used by \w+/;
    like($checked->{text}, qr/^matrix $events[$moved]{matrix}: $made$/m, 'the matrix is named');
    like($checked->{text}, qr/^during: .* call .* \w+ m=/m, 'and the call');
    like($checked->{text}, qr/device $events[$moved]{device}\b/, 'and the device');
}

# --- damaged ones: an answer in any case

is(check("$scratch/none")->{status} >> 8, 1, 'no file');
my $half = check(write_file(substr $trace{cg}, 0, length($trace{cg}) / 2));
is($half->{status} & 127, 0, 'half a trace');
srand(1);
for my $round (1 .. 20) {
    my $bytes = $trace{replayed};
    substr($bytes, 304 + int(rand(length($bytes) - 312)), 8) = pack 'Q', int(rand 2**30) * 2**int(rand 33) for 1 .. 5;
    my $checked = check(write_file($bytes));
    is($checked->{status} & 127, 0, "damaged, seed 1, round $round: no crash") or diag($checked->{text});
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
