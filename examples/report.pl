#!/usr/bin/perl
# Prints the bytes moved in a run, from the statistics written by SEMCACHE_STATS=FILE: report.pl FILE
use strict;
use warnings;
use JSON::PP;

my $file = shift // die "usage: report.pl FILE\n";
open my $in, '<', $file or die "no statistics in $file: $!\n";
my $stats = decode_json(do { local $/; <$in> });

sub bytes {
    my ($n) = @_;
    my @unit = ('B', 'kB', 'MB', 'GB', 'TB');
    my $i = 0;
    while ($n >= 1000 && $i < $#unit) { $n /= 1000; $i++ }
    return sprintf($i ? '%.1f %s' : '%d %s', $n, $unit[$i]);
}

sub against {
    my ($moved, $percall) = @_;
    return '' unless defined $percall && $percall > 0;
    return sprintf('   (copying per call: %s, %s)', bytes($percall),
        $moved > 0 ? sprintf('%.0f times as much', $percall / $moved) : 'here nothing');
}

sub line { printf "  %-20s %s\n", @_ }

my $moved = $stats->{bytes};
my $calls = 0;
$calls += $_->{offloaded} // 0 for values %{ $stats->{calls} };
my @devices = @{ $stats->{devices} };
line('devices', @devices ? join(', ', @devices) : 'none: everything ran on the host');
line('calls on devices', $calls);
line('to the devices', bytes($moved->{h2d}) . against($moved->{h2d}, $stats->{percall_in}));
line('back to the host', bytes($moved->{d2h}) . against($moved->{d2h}, $stats->{percall_out}));
line('between devices', bytes($moved->{d2d}));
line('page faults', "$stats->{faults}{read} read, $stats->{faults}{write} write");
line('time', sprintf('%.2f s', $stats->{wall_seconds})
      . (defined $stats->{virtual_seconds} && $stats->{virtual_seconds} >= 0
        ? sprintf(' here; the emulated machine was busy for %.4f s', $stats->{virtual_seconds}) : ''));
# SPDX-License-Identifier: BSD-2-Clause
