# Shared by the tests of the examples: runs a built program under tools/semcache and reads its statistics.
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

our $build = $ENV{top_builddir} // '.';
our $device = $ENV{SEMCACHE_TEST_DEVICE} // 'emu:h200x8:2';
our $scratch = tempdir(CLEANUP => 1);

# The library and a BLAS to link with are optional parts of a build.
sub need {
    for my $program ('tools/semcache', @_) {
        plan skip_all => "$program was not built" unless -x "$build/$program";
    }
}

# With SEMCACHE_TEST_REQUIRE_GPU=1 the real devices must have been used.
sub used_devices {
    my ($run) = @_;
    return ok(scalar @{ $run->{stats}{devices} // [] }, "$run->{name}: ran on devices");
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or return '';
    local $/;
    return scalar(<$in>) // '';
}

# put(name, text, mode): writes a file and returns its name.
sub put {
    my ($name, $text, $mode) = @_;
    open my $out, '>', $name or die "$name: $!";
    print $out $text;
    close $out or die;
    chmod $mode // 0644, $name;
    return $name;
}

# run({device (undef: no option), env => {...}, options => [...]}, program, arguments...): runs the program. Returns
# {name, status, out, err, stats}; stats is {} if no statistics were written.
sub run {
    my ($how, $program, @arguments) = @_;
    my ($out, $err, $stats) = map { "$scratch/$_" } qw(out err stats);
    my $where = exists $how->{device} ? $how->{device} : $device;
    my @command = ("$build/tools/semcache", 'run', defined $where ? ('--device', $where) : (), '--stats', $stats,
        @{ $how->{options} // ['--check'] }, "$build/$program", @arguments);
    unlink $out, $err, $stats;
    my $child = fork // die "fork: $!";
    if (!$child) {
        %ENV = (%ENV, %{ $how->{env} // {} });
        open STDOUT, '>', $out or die;
        open STDERR, '>', $err or die;
        exec { $command[0] } @command or die "$command[0]: $!";
    }
    waitpid $child, 0;
    my $run = { status => $?, out => slurp($out), err => slurp($err), name => join(' ', $program, @arguments) };
    my $text = slurp($stats);
    $run->{stats} = eval { decode_json($text) } // {};
    note("$run->{name}: $run->{out}$run->{err}");
    return $run;
}

# The program printed that its answer is right, and ended with status 0.
sub right {
    my ($run, $why) = @_;
    my $good = $run->{status} == 0 && $run->{out} =~ /ok$/m;
    ok($good, "$run->{name}: " . ($why // 'right answer'))
      or diag("status $run->{status}\n$run->{out}$run->{err}");
    return $good;
}

# Calls of a routine (a pattern), on the devices and on the host.
sub calls {
    my ($run, $pattern, $where) = @_;
    my $count = 0;
    while (my ($name, $n) = each %{ $run->{stats}{calls} // {} }) {
        $count += $n->{$where} if $name =~ $pattern;
    }
    return $count;
}

sub moved { my ($run, $way) = @_; return $run->{stats}{bytes}{$way} // 'nothing known' }

# Lines that semcache printed.
sub complaints { my ($run) = @_; return grep { /^semcache: / } split /\n/, $run->{err} }

# A figure from the statistics against its bound.
sub at_most {
    my ($value, $bound, $what) = @_;
    return ok($value =~ /^\d+$/ && $value <= $bound, "$what: $value of at most " . int($bound));
}

1;
# SPDX-License-Identifier: BSD-2-Clause
