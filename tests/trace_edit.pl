# Trace files (doc/trace-format.md) as lists of events, for tests that read or damage them.
use strict;
use warnings;

our @EVENT_FIELDS = qw(time a b c bytes ip sectors thread matrix tile kind routine device peer old new);
my $event_format = 'Q7L3S2s2C2';
my $n = 0;
our %EVENT = map { $_ => ++$n }
    qw(call state transfer kernel fault evict matrix reshape forget scalars operand done free acquire release home
       prefetch time tile use protect lost);

# Offset of the first block, and size of the blocks.
sub trace_form { return unpack 'x12 L x28 L', $_[0] }

# The events as hashes, ordered by time, each with its offset in the file.
sub trace_events {
    my ($bytes) = @_;
    my ($first, $size) = trace_form($bytes);
    my @events;
    for (my $block = $first; $block + $size <= length $bytes; $block += $size) {
        my ($magic, $kind, $sequence, $count) = unpack 'LLQL', substr $bytes, $block, 20;
        next unless $magic == 0x4b4c4253 && $kind == 1;
        for my $i (0 .. $count - 1) {
            my $place = $block + 24 + 80 * $i;
            my %event = (place => $place, order => $sequence * $size + $i);
            @event{@EVENT_FIELDS} = unpack $event_format, substr $bytes, $place, 80;
            push @events, \%event;
        }
    }
    return sort { $a->{time} <=> $b->{time} || $a->{order} <=> $b->{order} } @events;
}

# The file's bytes with one event replaced by the hash.
sub trace_put {
    my ($bytes, $event) = @_;
    substr($bytes, $event->{place}, 78) = pack $event_format, @{$event}{@EVENT_FIELDS};
    return $bytes;
}
1;
# SPDX-License-Identifier: BSD-2-Clause
