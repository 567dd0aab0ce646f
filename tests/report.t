#!/usr/bin/perl
# `semcache trace report' prints one well-formed page that refers to no other file. The page names the planted lines,
# and its sums are those of the trace.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/planted');
plan skip_all => 'no debug information' unless qx(readelf -S $build/tests/planted 2>/dev/null) =~ /debug_line/;
my $tool = "$build/tools/semcache trace";
my $run = run({ options => ['--offload', 'always', '--trace', "$scratch/trace"] }, 'tests/planted');
is($run->{status}, 0, 'traced');
my $page = qx($tool report $scratch/trace);
is($?, 0, 'reported');

# --- a page on its own

like($page, qr/\A<!DOCTYPE html>\n<html lang="en">.*<\/html>\n\z/s, 'a page');
unlike($page, qr/<script|https?:|src=|href=|url\(|\@import/i, 'without scripts and references');
like($page, qr/prefers-color-scheme:dark/, 'dark and light');
my (@open, $bad);
while ($page =~ m{<(/?)(\w+)[^>]*?(/?)>}g) {
    my ($end, $name, $alone) = ($1, lc $2, $3);
    next if $alone || $name =~ /^(?:meta|br)$/;
    push(@open, $name), next unless $end;
    my $last = pop @open // 'nothing';
    $bad //= "$name ends $last" if $last ne $name;
}
ok(!$bad && !@open, 'elements are nested') or diag($bad // "open: @open");

# --- what it says

my @blamed = map { decode_json($_) } split /\n/, qx($tool blame --json $scratch/trace);
my @rows = $page =~ m{<code><strong>(planted\.c:\d+)}g;
is(scalar @rows, @blamed < 5 ? scalar @blamed : 5, 'at most five lines');
is_deeply(\@rows, [map { $_->{line} =~ /^(\S+)/ } @blamed[0 .. $#rows]], 'those that cost most, in order');
like($page, qr{<pre>sum \+= c\[round \* N \+ round\]; /\* reads \*/</pre>}, 'with their source');
my ($up) = $page =~ m{<td class="lane">to devices<br><span class="soft">([\d.]+) MB};
is($up, sprintf('%.1f', moved($run, 'h2d') * 1e-6), 'bytes to devices');
my ($faults) = $page =~ m{<td class="lane">page faults<br><span class="soft">(\d+) faults};
is($faults, $run->{stats}{faults}{read} + $run->{stats}{faults}{write}, 'faults');
like($page, qr{<td>1000 &times; 1000</td><td><code>planted\.c:\d+</code>}, 'arrays with the lines of their allocation');
like($page, qr{<polygon fill="var\(--c3\)" points="0,100( [\d.]+,\d+)+"/>}, 'and their residency');

SKIP: {
    skip 'the links of one device have no part of their own', 1 if @{ $run->{stats}{devices} } < 2;
    like($page, qr{<td class="lane">the host to device 0<br>}, 'links');
}
unlike($page, qr/ended without closing/, 'nothing about an end');

# --- states of tiles: each cell of a picture has one colour, and no cell is outside

my @pictures = $page =~ m{<svg class="tiles" viewBox="0 0 (\d+ \d+)".*?aria-label="[^"]*">(.*?)</svg>}g;
cmp_ok(scalar @pictures, '>=', 6, 'pictures of tiles');
my (%colours, $wrong);
while (my ($size, $paths) = splice @pictures, 0, 2) {
    my ($columns, $rows) = split / /, $size;
    my %cell;
    while ($paths =~ m{<path fill="var\(--(\w+)\)" d="([^"]*)"/>}g) {
        my ($colour, $path) = ($1, $2);
        $path =~ /\A(?:M\d+ \d+h\d+v1h-\d+z)*\z/ or $wrong //= "path $path";
        while ($path =~ /M(\d+) (\d+)h(\d+)/g) {
            my ($x, $y, $wide) = ($1, $2, $3);
            $wrong //= "outside: $x $y $wide" if $x + $wide > $columns || $y >= $rows;
            $wrong //= "twice: $_ $y" for grep { $cell{"$_ $y"}++ } $x .. $x + $wide - 1;
            $colours{$colour}++;
        }
    }
}
ok(!$wrong, 'each cell has one colour') or diag($wrong);
is(join(' ', sort keys %colours), 'c1 c3 c4 rest', 'all kinds of states');

# --- many arrays: the small vectors are copied in each call

SKIP: {
    skip 'no examples/jacobi', 2 unless -x "$build/examples/jacobi";
    my $many = run({ options => ['--offload', 'always', '--trace', "$scratch/many"] }, qw(examples/jacobi 300 20));
    my ($table) = qx($tool report $scratch/many) =~ m{<h2>Arrays</h2>(.*?)</table>}s;
    my @rows = $table =~ m{<tr><td}g;
    ok(@rows <= 13 && $table =~ m{<td colspan="2">\d+ more</td>}, 'the arrays that moved most, and a row for the rest');
    my @up = $table =~ m{(?:</code>|more)</td><td class="n">([\d.]+)}g;
    my $sum = 0;
    $sum += $_ for @up;
    cmp_ok(abs($sum - moved($many, 'h2d') * 1e-6), '<=', 0.05 * @rows + 0.05, "with all bytes to devices: $sum MB");
}

# --- names of the trace are text

mkdir "$scratch/<b>&";
system("cp $build/tests/planted '$scratch/<b>&/planted'") == 0 or die;
my @odd = ("$build/tools/semcache", 'run', '--device', $device, '--offload', 'always', '--trace', "$scratch/odd",
    "$scratch/<b>&/planted");
my $status = system { $odd[0] } @odd;
is($status, 0, 'a program in an odd folder');
my $odd = qx($tool report $scratch/odd);
like($odd, qr{<h1>[^<]*/&#60;b&#62;&#38;/planted</h1>}, 'is escaped');
is(system("$tool report $scratch/none 2>/dev/null >$scratch/out") >> 8, 1, 'no file');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
