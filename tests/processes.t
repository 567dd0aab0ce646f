#!/usr/bin/perl
# Processes made by programs, in every way, before the first call and while a device holds a result. Asserts that
# children find the parent's values and compute on the host, that started programs open their own devices, and that the
# parent goes on.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/processes');
our ($build, $device, $scratch);

for my $way (qw(fork exit withheld forks exec vfork spawn system popen daemon threads)) {
    for my $when ('before', 'after') {
        my $run = run({ options => ['--check', '--offload', 'always'], env => { OPENBLAS_NUM_THREADS => 1 } },
            'tests/processes', $way, $when);
        right($run, "$way, $when the first call");
        cmp_ok(calls($run, qr/dgemm/, 'offloaded'), '>', 0, "$way, $when: the parent used devices");
        is(join("\n", complaints($run)), '', "$way, $when: nothing to complain about");
    }
}

# By dlopen, where malloc is not ours.
my %env = (SEMCACHE_DEVICE => $device, SEMCACHE_OFFLOAD => 'always', OPENBLAS_NUM_THREADS => 1,
    SEMCACHE_MACHINE_PATH => "$ENV{top_srcdir}/device/emu/machines", SEMCACHE_MODULE_PATH => "$build/.libs");
my $with = sub { local %ENV = (%ENV, %env); return scalar qx($_[0] 2>&1 </dev/null) };
for my $way (qw(fork daemon)) {
    like($with->("$build/tests/processes $way $_ $build/.libs/libsemcache.so"), qr/^ok$/m,
        "$way after dlopen, $_ the first call")
      for 'before', 'after';
}

# Python's ways to make processes, with Python's own arrays.
my $python = <<'PY';
import ctypes, multiprocessing, sys
n = 200
blas = ctypes.CDLL(None)

def arrays():
    a, b, c = ((ctypes.c_double * (n * n))() for _ in range(3))
    for i in range(n * n):
        a[i] = i
    for i in range(n):
        b[i * (n + 1)] = 2
    return a, b, c

def multiply(a, b, c):
    r, size, one, zero = ctypes.byref, ctypes.c_int(n), ctypes.c_double(1), ctypes.c_double(0)
    blas.dgemm_(b"N", b"N", r(size), r(size), r(size), r(one), a, r(size), b, r(size), r(zero), c, r(size))
    return all(c[i] == 2 * i for i in range(n * n))

def work(seed):
    return multiply(*arrays())

if __name__ == "__main__":
    method, when = sys.argv[1:]
    mine = arrays()
    good = when == "before" or multiply(*mine)
    with multiprocessing.get_context(method).Pool(2) as pool:
        good = all(pool.map(work, range(4))) and good
    print("ok" if multiply(*mine) and good else "failed")
PY
SKIP: {
    my $interpreter = '/usr/bin/python3';
    skip "no $interpreter with ctypes and multiprocessing", 6
      if system("$interpreter -c 'import ctypes, multiprocessing' 2>/dev/null") != 0;
    open my $script, '>', "$scratch/processes.py" or die;
    print $script $python;
    close $script;
    for my $method (qw(fork spawn forkserver)) {
        for my $when ('before', 'after') {
            my $tool = "$build/tools/semcache run --device $device --offload always --check";
            is($with->("$tool $interpreter $scratch/processes.py $method $when"), "ok\n",
                "Python's multiprocessing, $method, $when the first call");
        }
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
