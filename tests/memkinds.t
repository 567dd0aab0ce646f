#!/usr/bin/perl
# Memory of every kind, with libc's malloc and with further allocators, before and behind the library in link order, and
# under the shell's limits. Asserts right products (tests/memkinds.c), and one line if devices cannot start.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/memkinds');

our ($device, $build, $scratch);
my %always = (options => ['--check', '--offload', 'always']);
my @where = $device =~ /^emu/ ? ('emu:h200x8:1', 'emu:h200x8:2') : ($device);

sub kinds {
    my ($how, $title) = (shift, shift);
    my $run = run({ %always, %$how }, 'tests/memkinds', @_);
    right($run, "right $title");
    used_devices($run);
    cmp_ok(calls($run, qr/dgemm/, 'offloaded'), '>', 100, "on devices, $title");
    is(join("\n", grep { !/unknown|jemalloc|tcmalloc/ } complaints($run)), '', "nothing to complain about, $title");
    return $run;
}

# Runs the program with LD_PRELOAD set by hand, after a shell command. Returns the output.
sub by_hand {
    my ($where, $before, $preload, $title, @kinds) = @_;
    # OpenBLAS's threads are tested elsewhere.
    my %set = (OPENBLAS_NUM_THREADS => 2, SEMCACHE_DEVICE => $where, SEMCACHE_OFFLOAD => 'always',
        SEMCACHE_CHECK => 1, SEMCACHE_STATS => "$scratch/by_hand", PRELOAD => $preload,
        SEMCACHE_MACHINE_PATH => "$ENV{top_srcdir}/device/emu/machines", SEMCACHE_MODULE_PATH => "$build/.libs");
    my $said = do {
        local %ENV = (%ENV, %set);
        `$before && LD_PRELOAD="\$PRELOAD" exec "$build/tests/memkinds" @kinds 2>&1`;
    };
    like($said, qr/^ok$/m, $title) || diag($said);
    return $said;
}

# A CUDA driver reserves addresses for the memory of every device. With limited addresses the driver either starts, or
# one line reports that there are no devices.
sub starts_or_says_so {
    my ($where, $limit, @kinds) = @_;
    unlink "$scratch/by_hand";
    my $said = by_hand($where, "ulimit -v $limit", "$build/.libs/libsemcache.so",
        "right with $where, ulimit -v $limit", @kinds);
    my @lines = complaints({ err => $said });
    my $devices = @{ (eval { decode_json(slurp("$scratch/by_hand")) } // {})->{devices} // [] };
    is(scalar(@lines), 1, 'one line says that there are no devices') || diag(@lines) if !$devices;
    cmp_ok(scalar(@lines), '<=', 1, "$devices devices, and no more to say") || diag(@lines) if $devices;
    like($lines[0] // '', qr/no CUDA devices: .*ulimit -v/, 'and why') if !$devices;
    return;
}

kinds({ device => $_ }, "on $_") for @where;
kinds({ device => $where[0], env => { SEMCACHE_TRACK => 'mprotect' } }, 'with SEMCACHE_TRACK=mprotect');

# The rest concerns allocators: a few kinds of memory, and every kind in make check-long.
my @some = $ENV{SEMCACHE_TEST_LONG} ? () : qw(malloc realloc churn);
# On an emulated device, since a driver needs more address space and descriptors.
my $emulated = 'emu:h200x8:1';
by_hand($emulated, $_, "$build/.libs/libsemcache.so", "right with $_", @some) for 'ulimit -l 0', 'ulimit -n 24';
if ($ENV{SEMCACHE_TEST_ASAN}) {
    note('AddressSanitizer needs its 16 TiB of address space, and to have the malloc behind ours');
    done_testing();
    exit;
}
by_hand($emulated, $_, "$build/.libs/libsemcache.so", "right with $_", @some)
  for 'ulimit -v 3000000', 'ulimit -v 500000';
my $cuda = $device =~ /^cuda/ ? $device : 'cuda';
starts_or_says_so($cuda, $_, @some) for $device =~ /^cuda/ ? (3000000, 16000000, 64000000, 300000000) : 16000000;
if ($device =~ /^cuda/) {
    starts_or_says_so('auto', 16000000, @some);
} elsif (!-e '/dev/nvidiactl') {
    my $said = by_hand('auto', 'ulimit -v 16000000', "$build/.libs/libsemcache.so", 'right without a driver', @some);
    is(join("\n", complaints({ err => $said })), '', 'of which nothing is said');
}

# semcache run puts its library first, so that the second allocator serves the small blocks only. With LD_PRELOAD set by
# hand the library can come last.
for my $other (qw(libjemalloc.so.2 libtcmalloc_minimal.so.4)) {
    my ($path) = grep { -e } map { "$_/$other" } qw(/usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib);
  SKIP: {
        skip "no $other", 5 unless $path;
        kinds({ device => $where[0], env => { LD_PRELOAD => $path } }, "before $other", @some);
        by_hand($emulated, 'true', "$path $build/.libs/libsemcache.so", "right behind $other", @some);
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
