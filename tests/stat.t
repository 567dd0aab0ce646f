#!/usr/bin/perl
# semcache stat: counters of a running process, and one line with a remedy where there are none.
use strict;
use warnings;
use JSON::PP;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/stays');
my $tool = "$build/tools/semcache";

sub stat_of {
    my ($arguments) = @_;
    my $out = qx($tool stat $arguments 2>$scratch/err);
    return ($out, $? >> 8, slurp("$scratch/err"));
}

# Runs tests/stays, and the code meanwhile with its process and a handle that it reads.
sub process {
    my ($prefix, $calls, $small, $code) = @_;
    pipe(my $input, my $hold) or die;
    my $pid = open(my $from, '-|') // die;
    if (!$pid) {
        open STDIN, '<&', $input or die;
        close $hold;
        exec split(/ /, $prefix), "$build/tests/stays", $calls, $small or die;
    }
    $hold->autoflush(1);
    <$from> // die;
    $code->($pid, $hold);
    kill 'KILL', $pid;
    close $from;
}

process("$tool run -d $device -o always", 20, 0, sub {
    my ($pid, $hold) = @_;
    my ($out, $status, $err) = stat_of("--once --json $pid");
    is($status, 0, 'a process is read') or diag($err);
    my $all = eval { decode_json($out) } // {};
    is($all->{pid}, $pid, 'its number');
    cmp_ok($all->{calls}{offloaded} // 0, '==', 20, 'its calls on devices');
    cmp_ok($all->{devices} // 0, '>=', 1, 'its devices');
    is($all->{matrices}, 3, 'its matrices');
    my $sum = 0;
    $sum += $_ for @{ $all->{resident} };
    cmp_ok($sum, '>=', 3 * 96 * 96 * 8, 'bytes of all of them on devices');
    cmp_ok($all->{bytes}{h2d} // 0, '>=', 2 * 96 * 96 * 8, 'bytes that went up');
    ($out) = stat_of("--once $pid");
    like($out, qr/^  calls +20 on devices, 0 on the host$/m, 'the totals are told to people, too');
    like($out, qr/^  arrays +3 on \d+ devices?/m, 'and the arrays');
    print $hold "\n\n\n";
    for (1 .. 100) {
        last if decode_json((stat_of("--once --json $pid"))[0])->{calls}{offloaded} == 23;
        select undef, undef, undef, 0.05;
    }
    is(decode_json((stat_of("--once --json $pid"))[0])->{calls}{offloaded}, 23, 'later calls are seen');
    open my $live, '-|', "exec timeout 20 $tool stat $pid" or die;
    my @lines = map { scalar <$live> } 1 .. 2;
    like($lines[0] // '', qr/devices\/s +host\/s +up\/s/, 'a row a second, under a heading');
    like($lines[1] // '', qr/^ +0 +0 /, 'of a process that waits');
    kill 'KILL', $pid;
    my @rest = <$live>;
    ok(close $live, 'it ends with the process') or diag(@rest, $?);
});
process("$tool run -d none", 2, 30, sub {
    my $all = decode_json((stat_of("--once --json $_[0]"))[0]);
    is($all->{devices}, 0, 'without devices');
    is($all->{calls}{host}, 32, 'small calls on the host are counted');
});

# Prefix, and what the one line on stderr says.
sub refuses {
    my ($title, $arguments, $cause) = @_;
    my ($out, $status, $err) = stat_of($arguments);
    ok($status == 1 && $out eq '' && $err =~ /^semcache stat: process \d+ cannot be read: $cause[^\n]*; [^\n]+\n\z/,
       "$title: one line, with a remedy") or diag("$status: $err");
}
process('env', 0, 0, sub { refuses('a process without semcache', "--once $_[0]", 'it has no libsemcache') });
refuses('no process', '--once 999999999', 'there is no such process');
SKIP: {
    skip 'not root', 1 if $> != 0;
    skip 'no setpriv', 1 if system('setpriv --reuid=65534 --clear-groups true 2>/dev/null');
    process("$tool run -d none", 0, 0, sub {
        $tool = "setpriv --reuid=65534 --regid=65534 --clear-groups $tool";
        refuses('the process of another user', "--once $_[0]", 'Permission denied');
        $tool =~ s/.* //;
    });
}
is((stat_of('./prog'))[1], 2, 'what is no number is a mistake of usage');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
