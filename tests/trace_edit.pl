# Trace files (doc/trace-format.md) as lists of events, for tests that read or damage them.
use strict;
use warnings;

our @EVENT_FIELDS = qw(time a b c bytes ip sectors thread matrix tile kind routine device peer old new);
my $event_format = 'Q7L3S2s2C2';
my $n = 0;
our %EVENT = map { $_ => ++$n }
    qw(call state transfer kernel fault evict matrix reshape forget scalars operand done free acquire release home
       prefetch time tile use protect lost);

# Events as hashes, in the order of time, each with its place in the file.
sub trace_events {
    my ($bytes) = @_;
    my @events;
    my $at = 304;
    while ($at + 16 <= length $bytes) {
        my ($kind, $none, $length) = unpack 'LLQ', substr $bytes, $at, 16;
        $at += 16;
        for (my $place = $at; $kind == 1 && $place + 80 <= $at + $length; $place += 80) {
            my %event = (place => $place);
            @event{@EVENT_FIELDS} = unpack $event_format, substr $bytes, $place, 80;
            push @events, \%event;
        }
        $at += $length + (8 - $length % 8) % 8;
    }
    return sort { $a->{time} <=> $b->{time} || $a->{place} <=> $b->{place} } @events;
}

# The file with an event as it is in the hash now.
sub trace_put {
    my ($bytes, $event) = @_;
    substr($bytes, $event->{place}, 78) = pack $event_format, @{$event}{@EVENT_FIELDS};
    return $bytes;
}
1;
