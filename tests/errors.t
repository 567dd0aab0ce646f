#!/usr/bin/perl
# Bad input to every command that reads a file, and bad programs for `semcache run'. Asserts one line on stderr that
# names the input, the exit status, silence on stdout, and that the input stays as it was. A trace that is cut off is
# read up to there, or refused by one line.
use strict;
use warnings;
use POSIX ();
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/dies');
my $tool = "$build/tools/semcache";

# Returns status, or the name of a signal; stdout; stderr. $to: file behind stdout; undef: stdout is closed.
sub try {
    my ($to, @line) = @_;
    my $child = fork // die;
    if (!$child) {
        open STDIN, '<', '/dev/null';
        open STDERR, '>', "$scratch/err";
        defined $to ? open(STDOUT, '>', $to) : POSIX::close(1);
        alarm 120;
        exec { $line[0] } @line or POSIX::_exit(99);
    }
    waitpid $child, 0;
    my $status = $? & 127 ? 'signal ' . ($? & 127) : $? >> 8;
    return ($status, defined $to && -f $to ? slurp($to) : '', slurp("$scratch/err"));
}

my $trace = "$scratch/good";
my ($recorded) = try("$scratch/out", $tool, 'run', '-d', $device, '-o', 'always', '-t', $trace,
    "$build/tests/dies", 'exiting', 20);
is($recorded, 0, 'a good trace');
my $good = slurp($trace);

# --- files that are no trace

my %wrong = (
    'none' => undef, 'empty' => '', 'text' => "int main(void) { return 0; }\n",
    'json' => "{\n  \"semcache\": \"0.1.0\"\n}\n",
    'program' => slurp('/bin/true'), 'short' => substr($good, 0, 20),
    'version' => substr($good, 0, 8) . "\x63\0\0\0" . substr($good, 12),
    'order' => substr($good, 0, 20) . "\1\2\3\4" . substr($good, 24),
    'damaged' => substr($good, 0, 12) . "\0\0\0\0" . substr($good, 16));
defined $wrong{$_} and put("$scratch/$_", $wrong{$_}) for keys %wrong;
mkdir "$scratch/folder";
mkdir "$scratch/shut";
POSIX::mkfifo("$scratch/fifo", 0600);
my @wrong = (sort(keys %wrong), 'folder', 'fifo', 'good/below');
if ($> != 0) {
    put("$scratch/locked", $good, 0);
    push @wrong, 'locked';
}
my @readers = (
    (map { [split / /] } 'trace dump', 'trace dump --summary', 'trace dump --json', 'trace explain', 'trace blame',
        'trace blame --json', 'trace states', 'trace report', 'trace check', 'trace export', 'trace replay',
        'trace assert --max-faults 1'), ['trace', 'diff', $trace], ['trace', 'diff']);
for my $reader (@readers) {
    my @bad;
    for my $name (@wrong) {
        my @second = "@$reader" eq 'trace diff' ? $trace : ();
        my ($status, $out, $err) = try("$scratch/out", $tool, @$reader, "$scratch/$name", @second);
        push @bad, "$name: status $status\n$out$err"
          unless $status eq 1 && $out eq '' && $err =~ /\Asemcache[ \w]*: .*\Q$scratch\/$name\E.*\n\z/;
    }
    is(join('', @bad), '', "@$reader: a wrong file") or diag(@bad);
}

# --- a trace that is cut off

for my $reader (@readers) {
    my @bad;
    for my $length (300, 4096, 4100, 70000, length($good) - 8) {
        put("$scratch/cut", substr $good, 0, $length);
        my @second = "@$reader" eq 'trace diff' ? $trace : ();
        my ($status, $out, $err) = try("$scratch/out", $tool, @$reader, "$scratch/cut", @second);
        my $lines = () = $err =~ /\n/g;
        push @bad, "$length: status $status\n$err" unless $status =~ /^[01]$/ && $lines <= ($status ? 1 : 2);
        push @bad, "$length: changed" if slurp("$scratch/cut") ne substr $good, 0, $length;
    }
    is(join('', @bad), '', "@$reader: a trace that is cut off") or diag(@bad);
}

# --- no room for the output

for my $reader (@readers) {
    next if "@$reader" =~ /assert|diff$/; # assert says nothing of a good trace
    my @bad;
    for my $to ('/dev/full', undef) {
        my ($status, $out, $err) = try($to, $tool, @$reader, $trace);
        push @bad, ($to // 'closed') . ": status $status\n$err" unless $status eq 1 && $err =~ /\A[^\n]+\n\z/;
    }
    is(join('', @bad), '', "@$reader: no room for the output") or diag(@bad);
}
for my $command (['info', '--device', 'none'], ['doctor', '--device', 'none'], ['completion', ''], ['--help'],
    ['--version'], ['run', '--help']) {
    my ($status, $out, $err) = try('/dev/full', $tool, @$command);
    ok($status =~ /^[1-9]/ && $err =~ /\A[^\n]+\n\z/, "@$command: no room for the output") or diag("$status $err");
}

# --- wrong options: a line, and where to look

for my $command (map({ [$_] } qw(run info tune doctor stat)), map { ['trace', $_] }
    qw(dump explain blame states diff report check assert export replay)) {
    for my $option ('--none-such', 'Z') {
        my $given = length $option == 1 ? "-$option" : $option;
        my ($status, $out, $err) = try("$scratch/out", $tool, @$command, $given, $trace);
        ok($status eq 2 && $out eq '' && $err =~ /\Asemcache @$command: [^\n]*$option[^\n]*\nTry `semcache .*\z/s,
            "@$command $option") or diag("$status $out$err");
    }
}

# --- programs

put("$scratch/plain", "exit 3\n", 0755);
put("$scratch/script", "#!$scratch/no-interpreter\n", 0755);
put("$scratch/data", "\x7fELF\2\1\1" . "\0" x 100, 0755);
put("$scratch/closed", "#!/bin/sh\nexit 0\n", 0644);
my %programs = ("$scratch/none-such" => 127, 'no-such-program-anywhere' => 127, "$scratch/folder" => 126,
    "$scratch/data" => 126, "$scratch/closed" => 126, "$scratch/script" => 127, "$scratch/plain/below" => 126);
for my $program (sort keys %programs) {
    my ($status, $out, $err) = try("$scratch/out", $tool, 'run', '-d', 'none', $program);
    ok($status eq $programs{$program} && $err =~ /\Asemcache run: [^\n]*\Q$program\E[^\n]*\n\z/, "run $program")
      or diag("$status $err");
}
my ($status, $out, $err) = try("$scratch/out", $tool, 'run', '-d', 'none', "$scratch/plain");
is("$status $err", '3 ', 'a script without an interpreter is run by the shell');

SKIP: {
    my $cc = $ENV{CC} // 'cc';
    put("$scratch/static.c", "int main(void) { return 5; }\n");
    skip 'no static libc', 2 if system("$cc -static -o $scratch/static $scratch/static.c 2>/dev/null");
    my ($status, $out, $err) = try("$scratch/out", $tool, 'run', '-d', 'none', "$scratch/static");
    is($status, 5, 'a static program runs');
    like($err, qr{\Asemcache run: \Q$scratch\E/static is statically linked: .*\n\z}, 'with a line that says why');
}
SKIP: {
    skip 'only root can give a file away', 2 if $> != 0;
    system("cp /bin/true $scratch/rights && chown 65534 $scratch/rights && chmod u+s $scratch/rights") == 0 or die;
    my ($status, $out, $err) = try("$scratch/out", $tool, 'run', '-d', 'none', "$scratch/rights");
    is($status, 0, 'a program with the rights of another user runs');
    like($err, qr{\Asemcache run: \Q$scratch\E/rights runs with the rights of another .*\n\z}, 'with such a line, too');
}
is(slurp($trace), $good, 'the good trace is as it was');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
