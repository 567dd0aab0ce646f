#!/usr/bin/perl
# A control group with little memory (versions 1 and 2). Memory that the library keeps for reuse must follow the group's
# limit, not the machine's memory: otherwise the kernel would end the program.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/cgroup');
our ($build, $device);
plan skip_all => 'a driver wants more memory than that' if $device !~ /^emu/;

# The program has 640 MiB in use at once, and later 256 MiB. The library may keep a quarter of the limit; an emulated
# device keeps its own 256 MiB.
my $limit = 850 << 20;

# Makes a group with the limit that a process of the test can enter; returns undef on failure.
sub group_in {
    my ($parent, $file) = @_;
    my $folder = "$parent/semcache-test-$$";
    return unless -d $parent && mkdir $folder;
    if (-e "$folder/$file" && open my $out, '>', "$folder/$file") {
        return $folder if print({$out} $limit) && close($out) && !system "(echo 0 > $folder/cgroup.procs) 2>/dev/null";
    }
    rmdir $folder;
    return;
}

# Version 1; or version 2, at the test's own group or above, as far as the test may write there (as root, or where
# systemd has delegated the group).
sub new_group {
    my ($own) = slurp('/proc/self/cgroup') =~ m{^0::(/.*)$}m;
    my @above = ('');
    push @above, "$above[-1]/$_" for grep { length } split m{/}, $own // '';
    my $group = group_in('/sys/fs/cgroup/memory', 'memory.limit_in_bytes');
    $group //= group_in("/sys/fs/cgroup$_", 'memory.max') for reverse @above;
    return $group;
}

my $group = new_group();
plan skip_all => 'no control group with a limit can be made here (by root, with the memory controller)' unless $group;
END { rmdir $group if defined $group }

my %env = (SEMCACHE_DEVICE => 'emu:h200x8:1', SEMCACHE_OFFLOAD => 'always', SEMCACHE_MEMORY_LIMIT => 30_000_000,
    OPENBLAS_NUM_THREADS => 1);
my $out = do {
    local %ENV = (%ENV, %env);
    scalar qx(sh -c 'echo \$\$ > $group/cgroup.procs && exec $build/tools/semcache run $build/tests/cgroup' 2>&1);
};
note("in $group");
is($? & 127, 0, 'the kernel has not ended the program');
like($out, qr/^ok$/m, 'and its numbers are right') or diag($out);
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
