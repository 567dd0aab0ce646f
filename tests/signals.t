#!/usr/bin/perl
# Programs that use signals: alarms in the middle of calls, crashes, handlers of SIGSEGV (Python, R, gdb).
# Asserts that handlers see right numbers, that crashes end programs with the usual status and core, and that a
# set-user-id process ignores every setting.
use strict;
use warnings;
use POSIX ();
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tests/signals', 'tests/signals_linked');
my @how = (options => ['--check', '--offload', 'always']);
chdir $scratch or die; # cores are left here

sub ends { my ($run, $status) = @_; return is($run->{status}, $status, "$run->{name}: ends as it should") }

# --- alarms -----------------------------------------------------------------------------------------------------------

my $run = run({@how}, 'tests/signals', 'jump');
like($run->{out}, qr/^jumps: right$/m, 'handlers jump out of calls and faults: results are right');
is($run->{out} =~ /^calls after jumps: (\d+)$/m ? $1 : '', 20, 'and calls go on');
cmp_ok(calls($run, qr/dgemm/, 'offloaded'), '>=', 21, 'on the devices');
is(calls($run, qr/dgemm/, 'host'), 0, 'all of them');
$run = run({@how}, 'tests/signals', 'thread');
like($run->{out}, qr/^on the main thread: right$/m, 'handlers run on the thread that they would run on without us');
for my $trace ('', "$scratch/trace") { # with a trace, malloc also walks the stack and takes the lock of the file
    $run = run({@how, env => { SEMCACHE_TRACE => $trace }}, 'tests/signals', 'malloc');
    like($run->{out}, qr/^in malloc: right$/m, 'handlers that interrupt malloc call the BLAS and read results');
    is(join("\n", complaints($run)), '', 'nothing to complain about');
}
$run = run({@how}, 'tests/signals', 'interrupted');
like($run->{out}, qr/^interrupted calls: right$/m, "calls of the program are interrupted by its own signals only");
$run = run({@how}, 'tests/signals', 'bus');
like($run->{out}, qr/^bus: right$/m, 'SIGBUS is the program\'s own affair');

# --- crashes ----------------------------------------------------------------------------------------------------------

for my $when ('before', 'after') {
    $run = run({@how}, 'tests/signals', 'handled', $when);
    is($run->{out}, "handler: right\n", "a handler set $when the first call sees the newest data in a crash");
    ends($run, 5 << 8);
}
$run = run({@how}, 'tests/signals', 'handled', 'fatal');
is($run->{out}, "right\n", 'so does one that lets the program die then');
ends($run, POSIX::SIGSEGV | ($run->{status} & 128));

# The doubles at an address of a core file; undef if the core lacks a part of the range.
sub doubles {
    my ($core, $address, $count) = @_;
    my ($from, $size, $number) = unpack 'x32 Q x14 S S', $core; # the program headers
    for my $i (0 .. $number - 1) {
        my ($type, $flags, $offset, $start, undef, $bytes) = unpack 'L L Q4', substr($core, $from + $i * $size, $size);
        next if $type != 1 || $address < $start || $address >= $start + $bytes;
        my $here = ($start + $bytes - $address) / 8;
        $here = $count if $here > $count;
        my @here = unpack "d$here", substr($core, $offset + $address - $start, 8 * $here);
        return @here if $here == $count;
        my @rest = doubles($core, $address + 8 * $here, $count - $here);
        return @rest ? (@here, @rest) : ();
    }
    return;
}

sub core_file { my @cores = glob "$scratch/core*"; return @cores == 1 ? $cores[0] : undef }

my %deaths = (segv => POSIX::SIGSEGV, sent => POSIX::SIGSEGV, abort => POSIX::SIGABRT, fpe => POSIX::SIGFPE,
    bus => POSIX::SIGBUS, ill => POSIX::SIGILL);
for my $death (sort keys %deaths) {
    unlink glob "$scratch/core*";
    $run = run({@how}, 'tests/signals', 'dump', $death);
    is($run->{status} & 127, $deaths{$death}, "$death: the default action");
    my ($address, $count, $value) = $run->{out} =~ /^C at (\d+), (\d+) doubles from (\d+)/;
    my $file = core_file();
  SKIP: {
        skip 'no core is left here (ulimit -c, /proc/sys/kernel/core_pattern)', 1 unless $file;
        my @c = doubles(slurp($file), $address, $count);
        is(scalar(grep { $c[$_] == $value + 2 * $_ } 0 .. $#c), $count, "$death: the core has the newest data");
    }
}
unlink glob "$scratch/core*";

# --- others who handle SIGSEGV ----------------------------------------------------------------------------------------

# The distribution's Python; faulthandler is installed before the first call.
my $python = <<'PY';
import ctypes, sys
n = 300
blas = ctypes.CDLL(None)
size, one, zero = ctypes.c_int(n), ctypes.c_double(1), ctypes.c_double(0)
a, b, c = ((ctypes.c_double * (n * n))() for _ in range(3))
for i in range(n * n):
    a[i] = i
for i in range(n):
    b[i * (n + 1)] = 2
def multiply():
    r = ctypes.byref
    blas.dgemm_(b"N", b"N", r(size), r(size), r(size), r(one), a, r(size), b, r(size), r(zero), c, r(size))
multiply()
print(all(c[i] == 2 * i for i in range(n * n)), flush=True)
multiply()
if sys.argv[1] == "crash":
    ctypes.string_at(0)
print(c[5], flush=True)
PY
SKIP: {
    my $interpreter = '/usr/bin/python3';
    skip "no $interpreter with ctypes", 4 if system("$interpreter -c 'import ctypes' 2>/dev/null") != 0;
    my $tool = "$build/tools/semcache run --device $device --offload always --check";
    open my $script, '>', "$scratch/dgemm.py" or die;
    print $script $python;
    close $script;
    my $start = "$tool $interpreter -X faulthandler $scratch/dgemm.py";
    is(scalar qx($start fine 2>&1), "True\n10.0\n", "under Python's faulthandler calls are right");
    is($?, 0, 'and nothing is reported');
    like(scalar qx(ulimit -c 0; $start crash 2>&1), qr/^True\nFatal Python error: Segmentation fault\n.*dgemm\.py/s,
        'a crash is reported by it');
    is($? & 127 || $? >> 8 & 127, POSIX::SIGSEGV, 'and kills');
}

# R's handler has its own stack.
SKIP: {
    skip 'no R with a BLAS of its own library', 4
      if qx(Rscript --vanilla -e 'cat(La_library(), extSoftVersion()["BLAS"])' 2>&1) !~ /blas/i;
    my $tool = "$build/tools/semcache run --device $device --offload always --check";
    my $start = "$tool Rscript --vanilla $scratch/dgemm.R";
    open my $script, '>', "$scratch/dgemm.R" or die;
    print $script <<'R';
n <- 300
a <- matrix(as.numeric(seq_len(n * n) - 1), n)
b <- diag(2, n)
c <- a %*% b
cat(all(c == 2 * a), "\n")
c <- a %*% b
if (commandArgs(TRUE)[1] == "crash") tools::pskill(Sys.getpid(), 11)
cat(c[6], "\n")
R
    close $script;
    is(scalar qx($start fine 2>&1), "TRUE \n10 \n", 'under R calls are right');
    is($?, 0, 'and nothing is reported');
    like(scalar qx(ulimit -c 0; $start crash 2>&1), qr/^TRUE \n.*caught segfault.*Traceback/s,
        'a crash is reported by it');
    is($? & 127 || $? >> 8 & 127, POSIX::SIGSEGV, 'and kills');
}

SKIP: {
    my $can = qx(timeout -k 10 300 gdb -batch -nx -ex run --args true 2>&1) // '';
    skip 'no gdb, or it may not trace', 2 if $can !~ /exited normally/;
    my $start = "$build/tools/semcache run --device $device --offload always $build/tests/signals";
    my $gdb = "timeout -k 10 300 gdb -batch -nx -ex 'handle SIGSEGV nostop noprint pass' -ex run --args";
    $run = qx($gdb $start 2>&1);
    # gdb prints lines in between.
    like($run, qr/plain: right/, 'under gdb, with "handle SIGSEGV nostop noprint pass": right');
    like($run, qr/exited normally/, 'and to the end');
}

# --- the environment --------------------------------------------------------------------------------------------------

# The kernel marks the process of a set-user-id program. The library ignores every setting in a marked process, so that
# no setting can make the process write files or load libraries.
SKIP: {
    skip 'only root can give a program away', 2 if $> != 0;
    my $nobody = getpwnam('nobody') // 65534;
    my $program = "$build/tests/signals_linked";
    chmod 0777, $scratch;
    my %env = (SEMCACHE_STATS => "$scratch/secure", SEMCACHE_TRACE => "$scratch/secure.trace",
        SEMCACHE_DEVICE => $device, SEMCACHE_OFFLOAD => 'always', SEMCACHE_LOG => 'debug',
        SEMCACHE_MACHINE_PATH => "$ENV{top_srcdir}/device/emu/machines", SEMCACHE_MODULE_PATH => "$build/.libs");
    my $said = sub { local %ENV = (%ENV, %env); return scalar qx($_[0] 2>&1) };
    $said->("cp $program $scratch/given; chmod 0755 $scratch/given");
    $said->("$scratch/given");
    skip 'it would write nothing anyway', 2 unless -e "$scratch/secure";
    unlink "$scratch/secure", "$scratch/secure.trace";
    chown $nobody, -1, "$scratch/given";
    chmod 04755, "$scratch/given";
    my $out = $said->("$scratch/given");
    skip 'set-user-id is ignored here', 2 if qx(findmnt -no OPTIONS -T $scratch 2>/dev/null) =~ /nosuid/;
    is(scalar(grep { -e } glob "$scratch/secure*"), 0,
        'a set-user-id program writes no file that the environment names');
    unlike($out, qr/semcache: (info|debug)/, 'and takes no other setting from there');
}

# --- files ------------------------------------------------------------------------------------------------------------

umask 0;
$run = run({ options => ['--offload', 'always', '--trace', "$scratch/trace"] }, 'tests/signals');
is(sprintf('%o', (stat $_)[2] & 07777), '600', "$_: nobody else may read it") for "$scratch/stats", "$scratch/trace";
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
