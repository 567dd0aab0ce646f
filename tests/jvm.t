#!/usr/bin/perl
# A JVM, which handles SIGSEGV for its own purposes, and whose compiled code touches arrays whose newest numbers are on
# devices.
use strict;
use warnings;
use POSIX ();
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need();
our ($build, $scratch, $device);
my ($src, $makefile) = ($ENV{top_srcdir}, slurp("$build/Makefile"));
my %make = $makefile =~ /^(CC|BLAS_LIBS) = (.*)$/mg;
my ($home) = qx(java -XshowSettings:properties -version 2>&1 </dev/null) =~ /^\s*java\.home = (.*)$/m;
plan skip_all => 'no java' unless defined $home;
plan skip_all => 'no jni.h beside the java that is here' unless -e "$home/include/jni.h";
plan skip_all => 'no BLAS to link with' unless length($make{BLAS_LIBS} // '');
my $library = "$scratch/libjvm_test.so";
my $said = qx($make{CC} -shared -fPIC -O1 -I$home/include -I$home/include/linux $src/tests/jvm/jvm.c -o $library \\
    $make{BLAS_LIBS} 2>&1);
plan skip_all => "no compiler for its native half: $said" if $?;
# Compiled beforehand: some installations of java lack the compiler.
system("$home/bin/javac -d $scratch $src/tests/jvm/Jvm.java >$scratch/said 2>&1") == 0
  or plan skip_all => 'no javac: ' . slurp("$scratch/said");

# Runs java by name; the tests' usual helper runs programs of the build tree only.
sub java {
    my ($options, @arguments) = @_;
    my $tool = "$build/tools/semcache run --device $device --offload always --check --stats $scratch/stats";
    unlink "$scratch/stats";
    # Limits the workers of the JIT and of the collector.
    my $run = qx(ulimit -c 0; $tool $home/bin/java -XX:ActiveProcessorCount=2 -XX:ErrorFile=$scratch/hs_err \\
        $options -cp $scratch -Djvm.library=$library Jvm @arguments 2>&1 </dev/null);
    note($run);
    return ($run, $?, eval { JSON::PP::decode_json(slurp("$scratch/stats")) } // {});
}

# With -Xcheck:jni the JVM checks that its signal handlers are still installed.
my @ways = ('-Xcheck:jni', $ENV{SEMCACHE_TEST_LONG} ? ('-XX:+UseSerialGC -Xint', '-XX:+UseParallelGC') : ());
for my $options (@ways) {
    my ($out, $status, $stats) = java($options);
    like($out, qr/^ok$/m, "$options: buffers and arrays are right, null pointers and full stacks are the JVM's");
    is($status, 0, "$options: it ends well");
    unlike($out, qr/^semcache:|handler/mi, "$options: nobody complains");
    my $calls = $stats->{calls}{dgemm} // {};
    cmp_ok($calls->{offloaded} // 0, '>=', 72, "$options: calls ran on devices");
    cmp_ok($stats->{faults}{read} // 0, '>', 0, "$options: and Java code met closed pages");
}

my ($out, $status) = java('', 'crash');
like($out, qr/A fatal error has been detected.*SIGSEGV/s, "a crash of native code is the JVM's to report");
is($status & 127 || $status >> 8 & 127, POSIX::SIGABRT, 'and it aborts, as ever');
like(slurp("$scratch/hs_err"), qr/Java_Jvm_crash/, 'its report names the place');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
