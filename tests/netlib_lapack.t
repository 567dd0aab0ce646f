#!/usr/bin/perl
# LAPACK's testers (Debian: liblapack-test), unmodified: no failure that they do not show without semcache.  Every file
# of input with offload auto; those with few calls with every call on devices as well, the others would take hours.
# Part of make check-long only.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/netlib.pl";

our $build;
plan skip_all => 'tools/semcache was not built' unless -x "$build/tools/semcache";
my $folder = folder('lapack/xlintstd');
plan skip_all => "LAPACK's testers are not here (Debian: liblapack-test)" unless $folder;

# Lines that tell of a failure, and the last line of a run that went through.
my $failed = qr/fail|illegal|error return|did not|wrong|exceeds/i;
my $ended = qr/End of tests|Total time used/;
# Few calls: minutes when each goes to a device.
my %few = map { $_ => 1 } qw(glm gqr gsv csd lse);

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

my $device = $ENV{SEMCACHE_TEST_DEVICE} // 'emu:h200x8:2';
for my $letter (split //, $ENV{SEMCACHE_TEST_TYPES} // 'sdcz') {
    for my $test (tests_of($letter)) {
        my ($program, $input) = @$test;
        next unless -x "$folder/$program" && -e "$folder/$input.in";
        my %how = (path => "$folder/$program", input => "$folder/$input.in", seconds => 1800);
        my $plain = tester(\%how);
        like($plain->{text}, $ended, "$program < $input.in runs");
        for my $offload ('auto', $few{$input} ? 'always' : ()) {
            my $run = tester({ %how, mode => { device => $device, offload => $offload } });
            same("$program < $input.in, offload $offload", $plain, $run, $failed);
            like($run->{text}, $ended, "$program < $input.in, offload $offload: to the end");
        }
    }
}
done_testing();
