#!/usr/bin/perl
# Every external function and object of the library is used by another file of the library, or by a test.  Names for
# tests only are listed here.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/folders.pl";

my ($source, $build) = @ENV{qw(top_srcdir top_builddir)};
my @folders = folders('tools');

# Hooks and figures for tests.
my %for_tests = map { $_ => 1 } qw(
    sc_emu_inject sc_emu_jitter sc_emu_slow sc_emu_link_bytes sc_emu_memory_used sc_emu_joules
    sc_coherence_broken sc_check_rounds sc_check_steps sc_memory_steps sc_derived_steps sc_directory_steps
    sc_locks_trap sc_host_pause_end sc_autotuner_reset sc_autotuner_paid
    sc_trace_dump
);

sub words_of {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!";
    local $/;
    my $text = <$file>;
    $text =~ s{/\*.*?\*/}{}gs;
    my %count;
    $count{$_}++ for $text =~ /\b(sc_\w+)/g;
    return \%count;
}

my (%library, %headers, %tests, %inline);
for my $path (map { chomp; $_ } qx(cd "$build" && find @folders -name '*.[ch]' 2> /dev/null)) {
    my $words = words_of("$build/$path"); # generated
    $library{$_}{"generated $path"} = $words->{$_} for keys %$words;
}
my $kinds = join ' -o ', map { "-name '*.$_'" } qw(c h cu inc awk tab pl);
for my $path (map { chomp; $_ } qx(cd "$source" && find @folders tests bench $kinds)) {
    my $words = words_of("$source/$path");
    my $where = $path =~ m{^(tests|bench)/} ? \%tests : $path =~ /\.h$/ ? \%headers : \%library;
    $where->{$_}{$path} = $words->{$_} for keys %$words;
    next unless $where == \%headers;
    open my $file, '<', "$source/$path" or die;
    local $/;
    $inline{$_} = $path for <$file> =~ /^static inline [^;{(]*?\b(sc_\w+)\(/mg;
}

sub sum { my $n = 0; $n += $_ for @_; return $n }

my (@dead, @static, @unlisted);
my %known = map { /^\S+ [TDBR] (sc_\w+)$/ ? ($1 => 1) : () } qx(nm -g --defined-only "$build/.libs/libcore.a");
plan skip_all => 'no names in libcore.a' unless %known;
for my $name (sort keys %known) {
    next if $name =~ /^sc_(device_backend|libc|host_mpi)_/; # macros make these names
    my $files = $library{$name} or next; # generated
    my $uses = sum(values %$files) - 1 + (sum(values %{ $headers{$name} // {} }) > 1);
    if ($uses < 1) {
        push @{ $tests{$name} ? $for_tests{$name} ? [] : \@unlisted : \@dead }, $name;
    } elsif (keys %$files == 1 && !$tests{$name} && sum(values %{ $headers{$name} // {} }) < 2) {
        push @static, $name . ' ' . join ' ', keys %$files;
    }
}
push @dead, grep { sum(values %{ $library{$_} // {} }, values %{ $headers{$_} }, values %{ $tests{$_} // {} }) < 2 }
    sort keys %inline;
is(join("\n", @dead), '', 'no function without a use, in headers either');
is(join("\n", @unlisted), '', 'names that only tests use are listed here');
is(join("\n", @static), '', 'what one file alone uses is static');
my @stale = grep { !$known{$_} } sort keys %for_tests;
is("@stale", '', 'the list has no other names');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
