#!/usr/bin/perl
# semcache doctor: finds planted misconfigurations, each with its remedy, and nothing in a good configuration.
use strict;
use warnings;
use JSON::PP;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch);
need('tools/semcache', 'tests/dies', 'tests/mappings');
my $tool = "$build/tools/semcache";
my $program = "$build/tests/dies";
my $emulated = '--device emu:h200x8:2';
delete @ENV{qw(SEMCACHE_DATABASE SEMCACHE_OPEN LD_PRELOAD)};
$ENV{XDG_CACHE_HOME} = "$scratch/cache";

sub doctor {
    my ($arguments, $before) = @_;
    my $text = qx(cd $scratch; @{[$before // '']} exec $tool doctor $arguments 2>$scratch/err);
    my $status = $?;
    return ($text . slurp("$scratch/err"), $status);
}

# A FAIL (or note) with this text, followed by its remedy; no other FAIL, unless allowed.
my $planted = 0;
sub finds {
    my ($title, $arguments, $before, $finding, $remedy, $others) = @_;
    my ($text, $status) = doctor($arguments, $before);
    my $fails = () = $text =~ /^FAIL/mg;
    $planted++ if $finding =~ /FAIL/;
    ok($text =~ /^$finding.*\n      .*$remedy/m && $fails <= 1 + ($others // 0), "$title: found, with the remedy")
      or diag($text);
    is($status, $finding =~ /FAIL/ ? 256 : 0, "$title: the status says so");
    return $text;
}

# A copy of a program with some of its bytes changed.
sub changed {
    my ($name, $change) = @_;
    my $bytes = slurp($program =~ /\A/ && -e "$build/tests/.libs/dies" ? "$build/tests/.libs/dies" : $program);
    $change->(\$bytes);
    open my $out, '>', "$scratch/$name" or die;
    print $out $bytes;
    close $out;
    chmod 0755, "$scratch/$name";
    return "$scratch/$name";
}

# --- all is well ---------------------------------------------------------------------------------------------------

my ($text, $status) = doctor("$emulated $program");
is($status, 0, 'a good configuration: status 0');
unlike($text, qr/^FAIL/m, 'and no failure') or diag($text);
for my $check (qw(settings program calls semcache devices measurements), 'host BLAS', 'address space', 'data',
    'mappings',
    'closed pages', 'locked memory') {
    like($text, qr/^ok    $check: /m, "$check: ok");
}
like($text, qr/^ok    calls: the program calls dgemm_/m, 'the calls of the program are named');
($text, $status) = doctor($emulated);
is($status, 0, 'no program is needed');
my @objects = map { decode_json($_) } split /\n/, (doctor("--json $emulated $program"))[0];
cmp_ok(scalar @objects, '>=', 10, '--json: an object for each finding');
is(scalar(grep { $_->{verdict} eq 'ok' || $_->{remedy} } @objects), scalar @objects, 'whatever is not ok has a remedy');
@objects = map { decode_json($_) } split /\n/, (doctor('--json --device emu:none-such'))[0];
is(scalar(grep { $_->{verdict} eq 'fail' && $_->{check} eq 'devices' && $_->{remedy} } @objects), 1, 'and a failure');

# --- settings ------------------------------------------------------------------------------------------------------

finds('an unknown setting', $emulated, 'SEMCACHE_DEVISE=cuda', qr/FAIL  settings: .*nearest name is SEMCACHE_DEVICE/,
      qr/semcache info/);
finds('a forbidden value', $emulated, 'SEMCACHE_ARENA=1', qr/FAIL  settings: SEMCACHE_ARENA=1 is not allowed/,
      qr/semcache info/);
finds('devices forbidden', '', 'SEMCACHE_DEVICE=none', qr/FAIL  settings: SEMCACHE_DEVICE=none/,
      qr/unset SEMCACHE_DEVICE/);
finds('offloading forbidden', $emulated, 'SEMCACHE_OFFLOAD=never', qr/FAIL  settings: SEMCACHE_OFFLOAD=never/,
      qr/unset SEMCACHE_OFFLOAD/);
finds('settings that contradict each other', '', 'SEMCACHE_DEVICE=none SEMCACHE_OFFLOAD=always',
      qr/FAIL  settings: .* contradicts /, qr/unset one of both/, 1);
finds('devices that compute nothing', $emulated, 'SEMCACHE_EMU_TIMING=1', qr/FAIL  settings: .*results are wrong/,
      qr/unset SEMCACHE_EMU_TIMING/);
finds('a trace into a file of somebody else', $emulated, 'SEMCACHE_TRACE=/dev/null',
      qr/FAIL  settings: SEMCACHE_TRACE=.* will not be written/, qr/name/);
finds('a slow setting', $emulated, 'SEMCACHE_VERIFY=1', qr/note  settings: SEMCACHE_VERIFY/, qr/unset SEMCACHE_VERIFY/);

# --- the machine ---------------------------------------------------------------------------------------------------

finds('no machine file', '--device emu:none-such', '', qr/FAIL  devices: no emulated machine 'none-such'/,
      qr/SEMCACHE_MACHINE_PATH/);
SKIP: {
    skip 'there is a GPU', 2 if -e '/dev/nvidiactl' || -e '/dev/dxg' || -e '/proc/driver/nvidia/version';
    finds('no driver', '', '', qr/FAIL  devices: this machine has no NVIDIA driver/, qr/SEMCACHE_DEVICE=emu:h200x8:2/);
}
SKIP: {
    skip 'no GPU', 2 unless -e '/dev/nvidiactl';
    finds('no GPU module', '', 'SEMCACHE_MODULE_PATH=/none-such', qr/FAIL  devices: there is no .*semcache-cuda\.so/,
          qr/SEMCACHE_MODULE_PATH/);
}
finds('a host BLAS that is none', $emulated, 'SEMCACHE_HOST_BLAS=/none-such.so',
      qr/FAIL  host BLAS: SEMCACHE_HOST_BLAS=/,
      qr/install OpenBLAS/);
SKIP: {
    my $reference = '/usr/lib/x86_64-linux-gnu/blas/libblas.so.3';
    skip 'no reference BLAS', 2 unless -e $reference;
    finds('the reference BLAS', $emulated, "SEMCACHE_HOST_BLAS=$reference", qr/FAIL  host BLAS: .*reference BLAS/,
          qr/install OpenBLAS/);
}
finds('no measurements to read', $emulated, 'SEMCACHE_DATABASE=/none-such', qr/FAIL  measurements: cannot read/,
      qr/semcache tune/);
is(system("$tool tune --quick --device emu:k20x2 -o $scratch/database >/dev/null 2>&1"), 0, 'a machine is measured');
finds('measurements of another machine', $emulated, "SEMCACHE_DATABASE=$scratch/database",
      qr/FAIL  measurements: .*was measured on another machine/, qr/semcache tune/);
like((doctor('--device emu:k20x2', "SEMCACHE_DATABASE=$scratch/database"))[0], qr/^ok    measurements: \d+ kernels/m,
     'measurements of this machine');
finds('little address space', $emulated, 'ulimit -v 4000000;', qr/FAIL  address space: \d+ MiB/, qr/ulimit -v/);
finds('little data', $emulated, 'ulimit -d 900000; export OPENBLAS_NUM_THREADS=1;', qr/FAIL  data: \d+ MiB/,
    qr/ulimit -d/);

# --- programs ------------------------------------------------------------------------------------------------------

SKIP: {
    skip 'no program with a BLAS in itself', 2 unless -x "$build/tests/linked_own";
    my $own = -x "$build/tests/.libs/linked_own" ? "$build/tests/.libs/linked_own" : "$build/tests/linked_own";
    finds('a BLAS in the program', "$emulated $own", '', qr/FAIL  calls: the program contains dgemm_/, qr/-lsemcache/);
}
my $static = changed('static', sub {
    my ($bytes) = @_;
    my ($at, $size, $count) = (unpack('Q', substr($$bytes, 32)), unpack('SS', substr($$bytes, 54, 4)));
    for my $i (0 .. $count - 1) {
        my $head = $at + $i * $size;
        substr($$bytes, $head, 4) = pack('L', 0) if unpack('L', substr($$bytes, $head, 4)) == 3; # PT_INTERP
    }
});
finds('a statically linked program', "$emulated $static", '', qr/FAIL  program: .*statically linked/, qr/dynamically/);
my $foreign = changed('foreign', sub { substr(${ $_[0] }, 18, 2) = pack('S', 8) }); # EM_MIPS
finds('a program of another architecture', "$emulated $foreign", '', qr/FAIL  program: .*another architecture/,
      qr/build it for/);
my $cut = changed('cut', sub { ${ $_[0] } = substr(${ $_[0] }, 0, 100) });
unlike((doctor("$emulated $cut"))[0], qr/signal/, 'a damaged program is no end of the doctor');
SKIP: {
    skip 'not root', 2 if $> != 0;
    my $other = changed('other', sub { });
    skip 'the owner cannot be changed', 2 unless chown(65534, 65534, $other) && chmod 04755, $other;
    finds('a set-user-id program', "$emulated $other", '', qr/FAIL  program: .*ignores LD_PRELOAD/, qr/chmod a-s/);
}
finds('a program that is not there', "$emulated ./none-such", '', qr/FAIL  program: there is no/, qr/--summary/);
finds('neither a program nor a trace', "$emulated $scratch/database", '', qr/FAIL  program: .*neither a program/,
      qr/name/);
open my $script, '>', "$scratch/script";
print $script "#!/bin/sh\nexec true\n";
close $script;
chmod 0755, "$scratch/script";
($text, $status) = doctor("$emulated $scratch/script");
like($text, qr/^ok    program: .* is a script of .*\nok    program: /m, 'of a script, its interpreter is looked at');

# --- processes -----------------------------------------------------------------------------------------------------

# Runs tests/mappings, and the doctor for it meanwhile.
sub process {
    my ($prefix, $count, $code) = @_;
    pipe(my $input, my $hold) or die;
    my $pid = open(my $from, '-|') // die;
    if (!$pid) {
        open STDIN, '<&', $input or die;
        close $hold;
        exec split(/ /, $prefix), "$build/tests/mappings", $count or die;
    }
    <$from> // die;
    my $found = $code->($pid);
    kill 'KILL', $pid;
    close $from;
    return $found;
}
$ENV{SEMCACHE_DEVICE} = 'emu:h200x8:2';
process("$tool run", 0, sub {
    ($text, $status) = doctor("--pid $_[0]");
    is($status, 0, 'a process under semcache: no failure') or diag($text);
    like($text, qr/^ok    library: .*libsemcache\.so.* is loaded$/m, 'it has the library');
});
process('env', 0, sub {
    finds('a process without semcache', "--pid $_[0]", '', qr/FAIL  library: process \d+ has no libsemcache/,
          qr/semcache run/);
});
process("env SEMCACHE_OFFLOAD=never $tool run", 0, sub {
    finds('the settings of a process', "--pid $_[0]", '', qr/FAIL  settings: SEMCACHE_OFFLOAD=never/, qr/unset/);
});
process("prlimit --as=4000000000 $tool run", 0, sub {
    finds('the limits of a process', "--pid $_[0]", '', qr/FAIL  address space: 3814 MiB/, qr/ulimit -v/);
});
SKIP: {
    open my $file, '<', '/proc/sys/vm/max_map_count' or skip 'no limit on mappings', 2;
    my $most = <$file>;
    skip 'the limit on mappings is far away', 2 if $most > 300000;
    process("$tool run", int($most * 0.6), sub {
        finds('a process with many mappings', "--pid $_[0]", '', qr/FAIL  mappings: \d+ of at most \d+/,
              qr/max_map_count/);
    });
}
finds('no such process', '--pid 999999999', '', qr/FAIL  process: process 999999999 cannot be looked at/,
    qr/name the number of a running process/);

# --- traces --------------------------------------------------------------------------------------------------------

my $run = "$tool run -d emu:h200x8:2";
system("$run -o always --trace $scratch/t $program ending 50 >/dev/null");
($text, $status) = doctor("$scratch/t");
is($status, 0, 'a complete trace: status 0') or diag($text);
like($text,
    qr/^ok    trace: complete, \d+ events\n(?:.*\n)*ok    calls: 50 of 50 large calls ran on devices$/m, 'it is ok');
system("ulimit -c 0; $run -o always --trace $scratch/killed $program killed 50 >/dev/null 2>&1");
finds('a program that was killed', "$scratch/killed", '', qr/FAIL  trace: .*it was killed, or still runs/,
      qr/let .* end/);
my $whole = slurp("$scratch/t");
open my $part, '>', "$scratch/part" or die;
print $part substr($whole, 0, length($whole) - 1000);
close $part;
finds('a trace that was cut off', "$scratch/part", '', qr/FAIL  trace: the file was cut off/, qr/copy/);
open $part, '>', "$scratch/part" or die;
print $part substr($whole, 0, 100);
close $part;
finds('a trace without its header', "$scratch/part", '', qr/FAIL  trace: .*too short for a trace/, qr/record it again/);
system("SEMCACHE_TRACE_LIMIT=1M $run -o always --trace $scratch/limited $program ending 3000 >/dev/null");
finds('a trace with missing events', "$scratch/limited", '', qr/FAIL  trace: \d+ events are missing/,
      qr/SEMCACHE_TRACE_LIMIT/);
system("SEMCACHE_OPEN=first $run --trace $scratch/host $program ending 1 >/dev/null");
if (-s "$scratch/host" && qx($tool trace dump $scratch/host) =~ / done .* host /) {
    finds('calls that stay on the host', "$scratch/host", '', qr/FAIL  calls: 0 of \d+ large calls ran on devices/,
          qr/larger matrices|several times|explain/);
}
finds('a trace that was never begun', "$emulated $scratch/none", '', qr/FAIL  program: there is no/,
      qr/first large call.*--summary/);
cmp_ok($planted, '>=', 10, "$planted misconfigurations were found");
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
