#!/usr/bin/perl
# LAPACK's testers (Debian: liblapack-test), unmodified: no failure that they do not show without semcache.  Every file
# of input as it is, with offload auto and with offload off; and with every call on two devices, invariants checked, as
# it is when that makes few calls, else with fewer and smaller matrices and of fewer types: sec.in, cec.in, zec.in,
# dec.in are 4, 7, 15 and 22 million calls all the same, from loops in the testers over matrices of orders 1 to 10.
# cec.in takes 5 minutes of a processor, 42 us a call; zec.in and dec.in, at 46 us, 11 and 17.  45% of that is mprotect,
# since what a call copies of a stack or a small static array lies in pages that are closed while a device has them, and
# 15% is what emulated devices copy.
# SEMCACHE_TEST_TYPES (default sdcz) says for which types, SEMCACHE_TEST_INPUTS (a pattern) for which inputs,
# SEMCACHE_TEST_CALLS how many calls are few (default 60000), SEMCACHE_TEST_MANY how many too many for every call on
# devices (default: none is).  Part of make check-long only.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;
require "$ENV{top_srcdir}/tests/netlib.pl";

our $build;
plan skip_all => 'tools/semcache was not built' unless -x "$build/tools/semcache";
my $folder = folder('lapack/xlintstd');
plan skip_all => "LAPACK's testers are not here (Debian: liblapack-test)" unless $folder;

# Lines that tell of a failure, and the last line of a run that went through.
my $failed = qr/fail|illegal|error return|did not|wrong|exceeds/i;
my $ended = qr/End of tests|Total time used/;
# Every call on devices (22000 to 50000 a second on a processor): so many if that can be had by a smaller input, and
# with the smallest at most so many.
my ($few, $many) = ($ENV{SEMCACHE_TEST_CALLS} // 60_000, $ENV{SEMCACHE_TEST_MANY} // 'inf');

# program, input (without .in) for one type
sub tests_of {
    my ($letter) = @_;
    my @eigen = (qw(nep sep se2 svd glm gqr gsv csd lse), map { "$letter$_" } qw(ec ed gg gd sb sg bb bak bal gbak
        gbal));
    my @linear = (["xlintst$letter", "${letter}test"], ["xlintstrf$letter", "${letter}test_rfp"]);
    push @linear, ['xlintstds', 'dstest'] if $letter eq 'd';
    push @linear, ['xlintstzc', 'zctest'] if $letter eq 'z';
    return (@linear, map { ["xeigtst$letter", $_] } @eigen);
}

# A copy of an input with at most so many orders of matrices (of lists that belong together the same places), none above
# 7, and so many numbers of right hand sides and sets of block sizes; with these types of matrices in place of all, and
# without the 5000 generated problems of ?ggevx.
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

# Some tests want the same bits twice from calls of which some run on devices and some (operands that overlap) on the
# host.  That is not promised; where both compute with the reference BLAS, whose results do not depend on where operands
# lie, it is so all the same.
my $reference = folder('blas/libblas.so.3');
my %repeatable = $reference ? (LD_LIBRARY_PATH => $reference, SEMCACHE_HOST_BLAS => "$reference/libblas.so.3") : ();

# Under semcache, against a plain run.  Gives the number of calls.
my $device = $ENV{SEMCACHE_TEST_DEVICE} // 'emu:h200x8:2';
sub compare {
    my ($name, $how, $plain, $offload, $where) = @_;
    my $run = tester({ %$how, mode => { device => $where, offload => $offload } });
    same("$name, offload $offload", $plain, $run, $failed);
    like($run->{text}, $ended, "$name, offload $offload: to the end");
    return calls($run);
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
        compare($name, \%how, tester(\%how), 'always', $device);
    }
}
done_testing();
