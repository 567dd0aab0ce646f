#!/usr/bin/perl
# LAPACK's testers (Debian: liblapack-test), unmodified, must show no new failure under semcache.
# Every input file runs with offload auto and with offload off. Every input also runs with every call on 1, 2 and 4
# devices and the invariants checked; an input of many calls is reduced to fewer and smaller matrices of fewer types.
# sec.in, cec.in, zec.in and dec.in make 4, 7, 15 and 22 million calls even when reduced: loops in the testers run over
# matrices of orders 1 to 10. On a processor cec.in takes 5 minutes (42 us a call), zec.in 11 and dec.in 17 (46 us a
# call), so these inputs run on two devices only. 45% of the time is mprotect: a call's copies on the stack or in a
# small static array lie in pages that are closed while a device holds them. 15% is copying by emulated devices. Part of
# make check-long only.
# At the end each whole routine of LAPACK that a tester calls was on devices in some run.
#
# SEMCACHE_TEST_TYPES   types to test (default sdcz).
# SEMCACHE_TEST_INPUTS  pattern of the inputs to test (without it, all: the end is asserted only then).
# SEMCACHE_TEST_CALLS   inputs with more calls are reduced (default 60000).
# SEMCACHE_TEST_MANY    inputs with more calls, even reduced, do not run with every call on devices (default: no limit).
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;
require "$ENV{top_srcdir}/tests/netlib.pl";

our $build;
plan skip_all => 'tools/semcache was not built' unless -x "$build/tools/semcache";
my $folder = folder('lapack/xlintstd');
plan skip_all => "LAPACK's testers are not here (Debian: liblapack-test)" unless $folder;

# Lines that report a failure, and the last line of a complete run.
my $failed = qr/fail|illegal|error return|did not|wrong|exceeds/i;
my $ended = qr/End of tests|Total time used/;
# Limits of the runs with every call on devices (22000 to 50000 calls a second on a processor). An input with more than
# $few calls is reduced; an input with more than $once calls even at its smallest runs on two devices only, and one with
# more than $many is left out.
my $once = 1_000_000;
my ($few, $many) = ($ENV{SEMCACHE_TEST_CALLS} // 60_000, $ENV{SEMCACHE_TEST_MANY} // 'inf');

# Pairs of program and input (without .in) for one type.
sub tests_of {
    my ($letter) = @_;
    my @eigen = (qw(nep sep se2 svd glm gqr gsv csd lse), map { "$letter$_" } qw(ec ed gg gd sb sg bb bak bal gbak
        gbal));
    my @linear = (["xlintst$letter", "${letter}test"], ["xlintstrf$letter", "${letter}test_rfp"]);
    push @linear, ['xlintstds', 'dstest'] if $letter eq 'd';
    push @linear, ['xlintstzc', 'zctest'] if $letter eq 'z';
    return (@linear, map { ["xeigtst$letter", $_] } @eigen);
}

# Makes a reduced copy of an input: at most $most orders of matrices, none above 7, and at most $sets numbers of right
# hand sides and sets of block sizes. Parallel lists keep the same places. The copy tests only the given types of
# matrices, and leaves out the 5000 generated problems of ?ggevx.
my $scratch = tempdir(CLEANUP => 1);
sub reduced {
    my ($input, $most, $sets, @types) = @_;
    my $copy = "$scratch/" . $input =~ s|.*/||r;
    my ($orders, $text) = (0, slurp($input));
    if (@types) {
        $text =~ s/^([SDCZ][EGSV][VSX]) +\d+ +(?:Use|Test) all.*/"$1 " . @types . "\n@types"/gme;
        $text =~ s/^[SDCZ]XV +Data.*\n[1-9]\d* +Largest.*\n(?:.*\n){4}//gm;
    }
    open my $out, '>', $copy or die "$copy: $!";
    for my $line (split /^/, $text) {
        if ($line =~ /^(\d+)\s+Number of (?:values of [MNP]\b|matrix dim)/) {
            $orders = $1;
            $line =~ s/^\d+/$orders < $most ? $orders : $most/e;
        } elsif ($line =~ /^((?:\d+\s+)+)((?:Values of [MNP]\b|Matrix dim).*)/ && $orders) {
            my @all = split ' ', $1;
            my @some = $orders < $most ? @all : map { $all[int($_ * ($orders - 1) / ($most - 1))] } 0 .. $most - 1;
            $line = join(' ', map { $_ > 20 ? 7 : $_ > 6 ? 6 : $_ } @some) . "  $2\n";
        }
        $line =~ s/^\d+(?=\s+Number of (values of (NB|NRHS)\b|parameter values))/$& > $sets ? $sets : $&/e;
        print $out $line;
    }
    close $out or die "$copy: $!";
    return $copy;
}

sub calls {
    my ($run) = @_;
    my $sum = 0;
    $sum += $_->{offloaded} + $_->{host} for values %{ $run->{stats}{calls} // {} };
    return $sum;
}

# Some tests compare the bits of two calls, of which one may run on devices and one on the host (overlapping operands).
# Equal bits are not promised. They are equal where host and devices compute with the reference BLAS, whose results do
# not depend on the alignment of operands.
my $reference = folder('blas/libblas.so.3');
my %repeatable = $reference ? (LD_LIBRARY_PATH => $reference, SEMCACHE_HOST_BLAS => "$reference/libblas.so.3") : ();

# Compares a run under semcache with a plain run; returns the number of calls.
my ($device, @others) = $ENV{SEMCACHE_TEST_DEVICE} // ('emu:h200x8:2', 'emu:h200x8:1', 'emu:h200x8:4');
my %offloaded; # names of routines that devices ran
sub compare {
    my ($name, $how, $plain, $offload, $where) = @_;
    my $run = tester({ %$how, mode => { device => $where, offload => $offload } });
    same("$name, offload $offload, $where", $plain, $run, $failed);
    like($run->{text}, $ended, "$name, offload $offload, $where: to the end");
    my $counts = $run->{stats}{calls} // {};
    $offloaded{$_} = 1 for grep { $counts->{$_}{offloaded} } keys %$counts;
    return calls($run);
}

# The routines of blas/lapack/whole.tab that the testers of one type call. ?geqp3 runs on the host, as does ?gecon of
# the small orders to which inputs are reduced.
sub called_whole {
    my ($letter) = @_;
    my %named = map { $_ => 1 } map { /\b(\w+)_\0/g } map { slurp("$folder/$_$letter") } qw(xlintst xeigtst);
    my @rows = split /\n/, slurp("$ENV{top_srcdir}/blas/lapack/whole.tab");
    my @names = map { /^\w*$letter\w*:\?(\w+)/ && $1 !~ /^ge(qp3|con)$/ ? "$letter$1" : () } @rows;
    return grep { $named{$_} } @names;
}

my $inputs = $ENV{SEMCACHE_TEST_INPUTS} // '.*';
for my $letter (split //, $ENV{SEMCACHE_TEST_TYPES} // 'sdcz') {
    for my $test (tests_of($letter)) {
        my ($program, $input) = @$test;
        next unless -x "$folder/$program" && -e "$folder/$input.in";
        next unless $input =~ /^(?:$inputs)$/;
        my %how = (path => "$folder/$program", input => "$folder/$input.in", seconds => 3600);
        my $name = "$program < $input.in";
        my $plain = tester(\%how);
        like($plain->{text}, $ended, "$name runs");
        compare($name, \%how, $plain, 'never', 'none');
        my $calls = compare($name, \%how, $plain, 'auto', $device);
        for my $size ([4, 2], [3, 1], [2, 1], [2, 1, 3, 9, 16]) {
            last if $calls <= $few;
            $how{input} = reduced("$folder/$input.in", @$size);
            $calls = calls(tester({ %how, mode => { device => 'none' } }));
            $name = "$program < $input.in (reduced to @$size)";
        }
        diag("$input.in: $calls calls, not with every call on devices"), next if $calls > $many;
        $how{env} = \%repeatable;
        my $alone = tester(\%how);
        compare($name, \%how, $alone, 'always', $_) for $device, $calls > $once ? () : @others;
    }
    next if $inputs ne '.*' || $many < 'inf';
    is(join(' ', grep { !$offloaded{$_} } called_whole($letter)), '', "devices ran all routines of type $letter");
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
