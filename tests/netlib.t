#!/usr/bin/perl
# Netlib's BLAS testers (Debian: libblas-test, libblas64-test), unmodified, with every call on devices. The testers work
# on static arrays, with sizes from 0 to 9 and every flag, and link their own xerbla, which must be the one called.
# Testers with 64-bit integers under the same names must be right as well, on devices or not. SEMCACHE_TEST_LONG=1 (make
# check-long) adds four devices and offload off; otherwise the C interface and 64 bits run on two devices only.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/netlib.pl";

our ($build, $long);
plan skip_all => 'tools/semcache was not built' unless -x "$build/tools/semcache";
my @suites = grep { $_ } map { folder("$_/xblat1d") } 'blas', 'blas64';
plan skip_all => "netlib's testers are not here (Debian: libblas-test, libblas64-test)" unless @suites;

# The programs of a folder, with their input and whether they test error exits.
sub programs {
    my ($folder) = @_;
    my @programs;
    for my $letter (split //, 'sdcz') {
        push @programs, { name => "xblat1$letter" }, { name => "x${letter}cblat1" };
        for my $level (2, 3) {
            push @programs, { name => "xblat$level$letter", input => "$folder/${letter}blat$level.in", exits => 1 },
              { name => "x${letter}cblat$level", input => "$folder/${letter}in$level", exits => 1 };
        }
    }
    return grep { -x "$folder/$_->{name}" } @programs;
}

for my $folder (@suites) {
    my $suite = $folder =~ s|.*/||r;
    for my $program (programs($folder)) {
        next if $suite eq 'blas64' && !$long && $program->{name} !~ /^x(dcblat|blat.d)/;
        my @modes = modes();
        @modes = $modes[-1] if !$long && ($suite eq 'blas64' || $program->{name} =~ /cblat/);
        # Some testers need a variable that only the reference library has.
        my %how = (path => "$folder/$program->{name}", input => $program->{input},
            env => { LD_LIBRARY_PATH => join(':', places($suite)) });
        my $plain = tester(\%how);
        my $name = "$suite/$program->{name}";
        like($plain->{text}, $program->{exits} ? qr/PASSED THE TESTS OF ERROR-EXITS/ : qr/PASS/, "$name runs");
        for my $mode (@modes) {
            my $run = tester({ %how, mode => $mode });
            same("$name, $mode->{name}", $plain, $run);
            next if $suite eq 'blas64'; # may be left to its own library
            my $count = offloaded($run);
            ok($mode->{off} ? $count == 0 : $count > 0, "$name, $mode->{name}: $count calls on devices");
        }
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
