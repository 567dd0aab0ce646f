#!/usr/bin/perl
# LAPACK's testers (Debian: liblapack-test), unmodified: no failure that they do not show without semcache.  Every file
# of input with offload auto, and with every call on devices: as it is when it makes few calls, else with smaller
# matrices and fewer block sizes, else not at all (dec.in and its like: sizes of its own, 22 million calls).
# SEMCACHE_TEST_TYPES (default sdcz) says for which types, SEMCACHE_TEST_INPUTS (a pattern) for which inputs.  Part of
# make check-long only: about an hour.
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
# Every call on devices: at most this many with the input as it is, and with a smaller one.
my ($few, $many) = (300_000, 6_000_000);

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

# A copy of an input with no order of a matrix above 6 and two sets of block sizes.
my $scratch = tempdir(CLEANUP => 1);
sub reduced {
    my ($input) = @_;
    my $copy = "$scratch/" . $input =~ s|.*/||r;
    open my $out, '>', $copy or die "$copy: $!";
    for my $line (split /^/, slurp($input)) {
        $line =~ s/^\d+(?=\s+Number of (values of NB\b|parameter values))/2/;
        $line =~ s/\d+/$& > 6 ? 6 : $&/ge if $line =~ /^\d[\d\s]+(Values of [MN]\b|Matrix dim)/ && $line !~ /^\d+\s+\D/;
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

# Plain and under semcache.  Gives the number of calls.
my $device = $ENV{SEMCACHE_TEST_DEVICE} // 'emu:h200x8:2';
sub both {
    my ($name, $how, $offload) = @_;
    my $plain = tester($how);
    my $run = tester({ %$how, mode => { device => $device, offload => $offload } });
    like($plain->{text}, $ended, "$name runs");
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
        my %how = (path => "$folder/$program", input => "$folder/$input.in", seconds => 1800);
        my $name = "$program < $input.in";
        my $calls = both($name, \%how, 'auto');
        if ($calls > $few) {
            $how{input} = reduced($how{input});
            $name .= ' (reduced)';
            my $run = tester({ %how, mode => { device => 'none' } });
            diag("$input.in: $calls calls, not with every call on devices"), next if calls($run) > $many;
        }
        both($name, { %how, env => \%repeatable }, 'always');
    }
}
done_testing();
