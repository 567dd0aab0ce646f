# Shared by the tests of adapters for libraries of compiled programs: builds a program, and runs the program alone and
# under `semcache run`, with one or several ranks of MPI.
use strict;
use warnings;
use Cwd ();
use Test::More;
# Programs run in the scratch folder: some leave files where they run.
$ENV{$_} = Cwd::abs_path($ENV{$_} // '.') for qw(top_srcdir top_builddir);
require "$ENV{top_srcdir}/tests/examples.pl";
our ($build, $scratch);

# Without mpirun Open MPI starts a daemon, which would end, and write its statistics, after the program.
$ENV{OMPI_MCA_ess_singleton_isolated} = 1;
%ENV = (%ENV, OPENBLAS_NUM_THREADS => 1, OMP_NUM_THREADS => 1, OMPI_ALLOW_RUN_AS_ROOT => 1,
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM => 1, OMPI_MCA_rmaps_base_oversubscribe => 1, OMPI_MCA_mpi_yield_when_idle => 1);

our $offload = 'always';
our $devices; # default: one for each rank
our %launcher = (inside => 0); # inside: semcache run mpirun, else mpirun semcache run

# need_adapter(NAME): skips the test if the adapter was not built.
sub need_adapter {
    my ($name) = @_;
    need();
    my ($library) = glob("$build/adapters/built/$name/*/libsemcache_$name.so");
    plan(skip_all => "the adapter for $name was not built") unless $library;
}

# The first of some commands that is here.
sub first_command { return (grep { system("command -v $_ >/dev/null 2>&1") == 0 } @_)[0] }

# compile(compiler, source, flags): the path of the program.
sub compile {
    my ($compiler, $source, $flags) = @_;
    my ($name) = $source =~ m{([^/]+)\.\w+$};
    -x "$scratch/$name" or system("$compiler -w -o $scratch/$name $source $flags") == 0
      or BAIL_OUT("$source cannot be built");
    return "$scratch/$name";
}

# offered(ranks, alone, program, arguments...): {out, err, status, stats: of all ranks, added up}
sub offered {
    my ($ranks, $alone, @command) = @_;
    my ($name) = $command[0] =~ m{([^/]+)$};
    unlink glob "$scratch/stats.*";
    my @mpirun = $ranks > 1 ? ('mpirun', '-n', $ranks) : ();
    my @run = $alone ? () : ("$build/tools/semcache", 'run', '--check', '--offload', $offload, '--device',
        $ENV{SEMCACHE_TEST_DEVICE} // "emu:h200x8:" . ($devices // $ranks), '--stats', "$scratch/stats.%p");
    my %run = (name => join(' ', "$ranks:", $name, @command[1 .. $#command]), bytes => {}, calls => {}, faults => 0);
    unshift @command, $launcher{inside} ? (@run, @mpirun) : (@mpirun, @run);
    $run{status} = system('sh', '-c', 'cd "${0%/*}" && exec "$@" >"$0.out" 2>"$0.err"', "$scratch/run", @command);
    ($run{out}, $run{err}) = (slurp("$scratch/run.out"), slurp("$scratch/run.err"));
    for my $file (glob "$scratch/stats.*") {
        my $stats = JSON::PP::decode_json(slurp($file));
        $run{bytes}{$_} += $stats->{bytes}{$_} for qw(h2d d2h d2d);
        $run{faults} += $stats->{faults}{$_} for qw(read write);
        for my $call (keys %{ $stats->{calls} }) {
            $run{calls}{$call} += $stats->{calls}{$call}{offloaded};
        }
    }
    note("$run{name}: $run{out}$run{err}");
    return \%run;
}

# same(ranks, program, arguments...): the run under semcache, which must print what the program prints alone.
sub same {
    my ($ranks, @command) = @_;
    my ($alone, $run) = map { offered($ranks, $_, @command) } 1, 0;
    is($run->{status}, 0, "$run->{name}: status") or diag($run->{err});
    is($run->{out}, $alone->{out}, "$run->{name}: iterations and answers of the host");
    cmp_ok(($run->{calls}{sparse_mv} // 0) + ($run->{calls}{sparse_mm} // 0), '>', 0,
        "$run->{name}: products on devices") if $offload eq 'always';
    return $run;
}

# no_more(half, all, bytes): the run with more iterations moves no more bytes than these.
sub no_more {
    my ($half, $all, $bytes) = @_;
    cmp_ok($all->{bytes}{$_} - $half->{bytes}{$_}, '<', $bytes, "$all->{name}: no more $_ in more iterations")
      for qw(h2d d2h);
}

1;
# SPDX-License-Identifier: BSD-2-Clause
