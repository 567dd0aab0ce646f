# Shared by the tests with netlib's testers: finds the programs, runs them plain and under semcache, compares.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

our $build = abs_path($ENV{top_builddir} // '.');
our $long = $ENV{SEMCACHE_TEST_LONG} // 0;

# The files of a name below /usr/lib/ARCHITECTURE of Debian's packages, unpacked ones first.
sub places {
    my ($name) = @_;
    my @roots = ((map { abs_path($_) // () } $ENV{SEMCACHE_TEST_NETLIB} // ()), '');
    return map { glob "$_/usr/lib/*/$name" } @roots;
}

# The folder with a program of one of Debian's packages of testers, or undef. No root is needed: SEMCACHE_TEST_NETLIB
# names a folder into which the packages are unpacked (`apt-get download libblas-test`, `dpkg -x FILE DIR`).
sub folder {
    my ($program) = @_;
    my ($found) = places($program);
    return $found && $found =~ s|/[^/]*$||r;
}

# The modes to run: a list of hashes with a name, and a device or `off` (calls are intercepted, none is offloaded). The
# quick subset is one and two emulated devices; the caller's choice of devices is taken unchanged.
sub modes {
    my $named = $ENV{SEMCACHE_TEST_DEVICE} // '';
    return { name => $named, device => $named } if $named !~ /^(emu:\w+)?(:\d+)?$/;
    my $machine = $named =~ /^(emu:\w+)/ ? $1 : 'emu:h200x8';
    my @modes = map { { name => "$_ of $machine", device => "$machine:$_" } } 1, 2;
    push @modes, { name => "4 of $machine", device => "$machine:4" },
      { name => 'offload off', device => 'none', off => 1 } if $long;
    return @modes;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or return '';
    local $/;
    return scalar(<$in>) // '';
}

# tester({mode (undef: plain), path, input, env => {}, seconds}): runs a program in a scratch folder. Returns {status,
# text (stdout and the summary files written), err, stats}.
sub tester {
    my ($how) = @_;
    my $scratch = tempdir(CLEANUP => 1);
    my $mode = $how->{mode};
    my @command = $how->{path};
    unshift @command, "$build/tools/semcache", 'run', '--device', $mode->{device}, '--offload',
      $mode->{offload} // ($mode->{off} ? 'never' : 'always'), '--check', '--stats', "$scratch/stats"
      if $mode;
    my $child = fork // die "fork: $!";
    if (!$child) {
        %ENV = (%ENV, OPENBLAS_NUM_THREADS => 1, %{ $how->{env} // {} });
        chdir $scratch or die;
        open STDIN, '<', $how->{input} // '/dev/null' or die "$how->{input}: $!";
        open STDOUT, '>', 'stdout' or die;
        open STDERR, '>', 'stderr' or die;
        exec 'timeout', '-k', '5', $how->{seconds} // 120, @command or die "timeout: $!";
    }
    waitpid $child, 0;
    my $status = $?;
    my $text = join '', map { slurp($_) } "$scratch/stdout", glob "$scratch/*.out";
    my $stats = eval { decode_json(slurp("$scratch/stats")) } // {};
    return { status => $status, text => $text, err => slurp("$scratch/stderr"), stats => $stats };
}

# Calls that ran on devices.
sub offloaded {
    my ($run) = @_;
    my $sum = 0;
    $sum += $_->{offloaded} for values %{ $run->{stats}{calls} // {} };
    return $sum;
}

# Lines of a summary that are missing in a second summary (times are not compared), in order.
sub only_in {
    my ($run, $other) = @_;
    my %there;
    $there{$_}++ for split /\n/, $other->{text};
    return grep { !/Total time|seconds/ && !(($there{$_} //= 0)-- > 0) } split /\n/, $run->{text};
}

# Compares a run under semcache with the plain run: the same exit status and the same text. `failed` matches the lines
# that report a failure (default: every line is compared, in the two directions).
sub same {
    my ($what, $plain, $run, $failed) = @_;
    my @new = grep { !$failed || /$failed/ } only_in($run, $plain);
    my @missing = $failed ? () : only_in($plain, $run);
    my $ended = $run->{status} == $plain->{status};
    my $quiet = $run->{err} !~ /^semcache: /m;
    return 1 if ok($ended && $quiet && !@new && !@missing, "$what: as without semcache");
    diag("status $run->{status}, without semcache $plain->{status}\n$run->{err}");
    diag("  + $_") for @new[0 .. ($#new < 9 ? $#new : 9)];
    diag("  - $_") for @missing[0 .. ($#missing < 9 ? $#missing : 9)];
    return 0;
}

1;
# SPDX-License-Identifier: BSD-2-Clause
