#!/usr/bin/perl
# The adapter for SciPy, with unmodified programs on emulated devices. Asserts the iterations and answers of the host,
# that a matrix is uploaded once, that further iterations move no vector, and that other Pythons are left alone.
#
# SEMCACHE_TEST_PYTHON: a python with numpy and scipy (default: the first of /usr/bin/python3 and the path).
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($build, $device, $scratch);

need();
my ($python) = grep { -x $_ && system("$_ -c 'import numpy, scipy' >/dev/null 2>&1") == 0 }
    ($ENV{SEMCACHE_TEST_PYTHON} // (), '/usr/bin/python3', map { "$_/python3" } split /:/, $ENV{PATH});
plan(skip_all => 'no python3 with numpy and scipy') unless $python;
$ENV{OPENBLAS_NUM_THREADS} = 1; # emulated devices compete for the same cores
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
my $programs = "$ENV{top_srcdir}/tests/adapters";

# python({...}, program, arguments...): runs a Python program under semcache, or alone with {alone}.
sub python {
    my ($how, @arguments) = @_;
    my ($out, $err, $stats) = map { "$scratch/$_" } qw(out err stats);
    my @command = $how->{alone} ? () : ("$build/tools/semcache", 'run', '--device', $how->{device} // $device,
        '--stats', $stats, @{ $how->{options} // ['--check', '--offload', 'always'] });
    unlink $stats;
    local %ENV = (%ENV, SEMCACHE_TEST_ADAPTER_LEAST => 1000, %{ $how->{env} // {} });
    my $status = system('sh', '-c', 'exec "$@" >"$0.out" 2>"$0.err"', "$scratch/run", @command, $python, @arguments);
    my $run = { status => $status, out => slurp("$scratch/run.out"), err => slurp("$scratch/run.err"),
        name => join(' ', $how->{device} // $device, @arguments) };
    $run->{stats} = eval { JSON::PP::decode_json(slurp($stats)) } // {};
    note("$run->{out}$run->{err}");
    return $run;
}

# --- solvers: iterations and answers as on the host; no vector moves in further iterations ---------------------------
my $side = 60;
my ($vector, $entries) = (8 * $side**2, 5 * $side**2 - 4 * $side);
my $matrix = 12 * $entries + 4 * $side**2;

# Bytes, in vectors, of arrays besides the matrix: gmres writes its basis of 11 vectors back once.
my %vectors = (gmres => 30);

sub solves {
    my ($solver, @more) = @_;
    my @runs = map { python($_, "$programs/solve.py", $solver, $side, @more) } { alone => 1 }, {};
    my ($alone, $run) = @runs;
    is($run->{status}, 0, "$run->{name}: status");
    is($run->{out}, $alone->{out}, "$run->{name}: iterations, status and norm of the host");
    my $within = ($more[2] // 'd') eq 'f' ? 2e-2 : 1e-5; # the residual is a difference of nearly equal vectors
    cmp_ok(abs($run->{err} - $alone->{err}), '<=', $within * $alone->{err} + 1e-12, "$run->{name}: the host's residual")
      or diag("$run->{err} and $alone->{err}");
    return $run;
}

my @solvers = qw(cg cgs bicg bicgstab gmres qmr minres tfqmr lsqr lsmr);
for my $solver (@solvers) {
    my $half = solves($solver, 6);
    my $all = solves($solver, 12);
    used_devices($all);
    cmp_ok(calls($all, qr/^sparse_mv/, 'offloaded'), '>', 6, "$solver: the products ran there");
    is(calls($all, qr/^sparse_mv/, 'host'), 0, "$solver: all of them");
    my $matrices = $solver =~ /^(bicg|qmr|lsqr|lsmr)$/ ? 2 : 1; # A and its transposed copy
    at_most(moved($all, 'h2d'), 1.05 * $matrices * $matrix + ($vectors{$solver} // 6) * $vector, "$solver: up");
    at_most(moved($all, 'd2h'), ($vectors{$solver} // 6) * $vector, "$solver: down");
    cmp_ok(moved($all, 'h2d') - moved($half, 'h2d'), '<', 0.5 * $vector, "$solver: no more up with more iterations");
    cmp_ok(moved($all, 'd2h') - moved($half, 'd2h'), '<', 0.5 * $vector, "$solver: nor down");
}
solves('cg', 12, $_) for qw(csc bsr dia coo);
solves($_, 12, 'csr', 'f') for qw(cg bicgstab gmres);
solves($_, 12, 'csr', 'D') for qw(cg bicgstab gmres);
# The vectors of outer iterations stay.
for my $solver (qw(lgmres gcrotmk)) {
    my ($half, $all) = map { solves($solver, $_) } 3, 6;
    is(calls($all, qr/^sparse_mv/, 'host'), 0, "$solver: all products ran on the device");
    at_most(moved($all, $_) - moved($half, $_), 1.5 * $vector, "$solver: $_") for qw(h2d d2h);
}

# Declined operations have the bits of the host.
for my $solver (@solvers, 'lgmres', 'gcrotmk') {
    my @runs = map { python($_, "$programs/solve.py", $solver, $side, 12) } { alone => 1 },
        { options => ['--check', '--offload', 'never'] };
    is("$runs[1]{out}$runs[1]{err}", "$runs[0]{out}$runs[0]{err}", "$solver, declined: the bits of the host");
}

# --- eigenvalues, singular values, the exponential -------------------------------------------------------------------
# The most vectors that a product more may move up and down.  ARPACK reads a number of each projection on the CPU, and
# takes single pages (SEMCACHE_WINDOW_MIN).  SciPy before 1.11 reads two blocks of 4 vectors on the CPU in each step of
# lobpcg.  `always` sends eigs' work on matrices of 20 x 20 to the device.
# Several devices multiply a block column by column, and one device at once.
my $aligned = 64; # vectors of whole pages
my $single = $device =~ /^emu:/ ? $device =~ s/:\d+$//r . ':1' : 'cuda:0';
my $old = system($python, '-c',
    'import scipy, sys; sys.exit(tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 11))');
my %spectral = (eigsh => [0.5, 2], eigs => [6, 6], svds => [0.5, 2], lobpcg => [0.4, $old ? 9 : 0.4],
    lobpcg_all => [0.4, $old ? 9 : 0.4], expm => [0, 0], expm_block => [0.1, 0], expm_times => [0, 1]);

sub spectral {
    my ($solver, $side, $steps, @more) = @_;
    my @runs = map { python({ %$_, device => $single, env => { SEMCACHE_WINDOW_MIN => '4K' } },
        "$programs/spectral.py", $solver, $side, $steps, @more) } { alone => 1 }, {};
    is($runs[1]{status}, 0, "$runs[1]{name}: status");
    is($runs[1]{out}, $runs[0]{out}, "$runs[1]{name}: products and values of the host");
    return $runs[1];
}

for my $solver (sort keys %spectral) {
    my ($half, $all) = map { spectral($solver, $aligned, $_) } 4, 8;
    my $products = calls($all, qr/^sparse_m[vm]/, 'offloaded') - calls($half, qr/^sparse_m[vm]/, 'offloaded');
    my ($up, $down) = map { $_ * $products * 8 * $aligned**2 } @{ $spectral{$solver} };
    is(calls($all, qr/^sparse_m[vm]/, 'host'), 0, "$solver: all products ran on the device");
    at_most(moved($all, 'h2d') - moved($half, 'h2d'), $up, "$solver: up in $products more products");
    at_most(moved($all, 'd2h') - moved($half, 'd2h'), $down, "$solver: down");
}
spectral($_, 33, 300) for qw(eigsh eigs svds); # until they converge
for my $type (qw(f D)) {
    spectral($_, 33, 6, $type) for qw(lobpcg lobpcg_all expm expm_block expm_times);
}
for my $solver (sort keys %spectral) {
    my @runs = map { python($_, "$programs/spectral.py", $solver, 33, $solver =~ /^(eig|svd)/ ? 100 : 6) }
        { alone => 1 }, { options => ['--check', '--offload', 'never'] };
    is("$runs[1]{out}$runs[1]{err}", "$runs[0]{out}$runs[0]{err}", "$solver, declined: the bits of the host");
}

# --- products --------------------------------------------------------------------------------------------------------
for my $how ({ options => ['--check', '--offload', 'always'], env => { SEMCACHE_TEST_ADAPTER_LEAST => 10 } },
             { options => ['--check'], env => { SEMCACHE_TEST_ADAPTER_LEAST => 10, SEMCACHE_OPEN => 'first' } }) {
    my $run = python($how, "$programs/products.py");
    like($run->{out}, qr/^\d+ products$/, "products are right (@{ $how->{options} })");
    is($run->{status}, 0, 'status');
}

# --- triangular solves -----------------------------------------------------------------------------------------------
{
    my ($alone, $run) = map { python($_, "$programs/triangular.py") } { alone => 1 },
        { env => { SEMCACHE_TEST_ADAPTER_LEAST => 100 } };
    is("$run->{status} $run->{out}", "0 $alone->{out}", 'triangular solves are right, and complain as on the host');
    cmp_ok(calls($run, qr/^sparse_sv/, 'offloaded'), '>', 30, 'some of them ran on the device');
    my ($few, $many) = map { python({ env => { SEMCACHE_TEST_ADAPTER_LEAST => 100 } }, "$programs/triangular.py", $_) }
        4, 8;
    is(calls($many, qr/^sparse_sv/, 'offloaded') - calls($few, qr/^sparse_sv/, 'offloaded'), 4, 'solves in a chain');
    is(moved($many, $_) - moved($few, $_), 0, "the vectors stay: $_") for qw(h2d d2h);
}

# --- the decision: a declined product has the bits of the host -------------------------------------------------------
my $bits = 'import sys, numpy as n, scipy.sparse as s, hashlib; a = s.random(300, 300, 0.02, "csr", random_state=1); ' .
    'x = n.arange(300.) / 7; y = a @ x; print(hashlib.sha256(y.tobytes()).hexdigest())';
my $small = python({ options => ['--check'], env => { SEMCACHE_OPEN => 'first' } }, '-c', $bits);
is($small->{out}, python({ alone => 1 }, '-c', $bits)->{out}, 'a small product has the bits of the host');
is(calls($small, qr/^sparse_mv/, 'offloaded'), 0, 'and did not run on a device');

# --- without devices the operators on vectors ask for nothing ------------------------------------------------------
my $asks = 'import numpy as n, scipy.sparse as s, scipy.sparse.linalg as l, _semcache.library as m; asked = []; ' .
    'own = m.axpby; m.axpby = lambda *a: asked.append(1) or own(*a); a = s.diags([-1.0, 2.5, -1.0], [-1, 0, 1], ' .
    'shape=(5000, 5000)).tocsr(); l.cg(a, n.ones(5000), maxiter=3); print(len(asked) > 0)';
is(python({ device => 'none' }, '-c', $asks)->{out}, "False\n", 'no device: vectors are not offered');
is(python({}, '-c', $asks)->{out}, "True\n", 'a device: they are');

# --- other Pythons ---------------------------------------------------------------------------------------------------
my $names = 'import sys; print("_semcache" in sys.modules, [p for p in sys.path if p.endswith("scipy")])';
like(python({}, '-c', $names)->{out}, qr/^True \[\]/, 'the adapter is there, and its folder is not in sys.path');
like(python({}, $_, '-c', $names)->{out} || 'False', qr/^False/, "python $_ is left alone") for qw(-I -E -S);
like(python({ env => { SEMCACHE_ADAPTERS => 0 } }, '-c', $names)->{out}, qr/^False/, 'SEMCACHE_ADAPTERS=0');
mkdir "$scratch/site";
open my $site, '>', "$scratch/site/sitecustomize.py" or die;
print $site "import sys\nsys.mine = True\n";
close $site;
my $other = python({ env => { PYTHONPATH => "$scratch/site" } }, '-c',
    'import sys, os, sitecustomize; print(sys.mine, sitecustomize.__file__, "_semcache" in sys.modules, sys.path[1])');
is($other->{out}, "True $scratch/site/sitecustomize.py True $scratch/site\n", "the user's sitecustomize runs");
open $site, '>', "$scratch/site/sitecustomize.py" or die;
print $site "import nothing_of_this_name\n";
close $site;
like(python({ env => { PYTHONPATH => "$scratch/site" } }, '-c', 'print(1)')->{err},
    qr/Error in sitecustomize.*ModuleNotFoundError: No module named 'nothing_of_this_name'/s,
    'an error of the user\'s sitecustomize is reported as without semcache');
# --- the second bodies are kept for later processes ------------------------------------------------------------------
sub kept_in {
    my ($cache, $expected, $what) = @_;
    my $run = python({ env => { XDG_CACHE_HOME => $cache, PYTHONDONTWRITEBYTECODE => '' } }, "$programs/kept.py");
    is("$run->{status} $run->{out}$run->{err}", "0 $expected with second bodies\n", $what);
}

kept_in("$scratch/kept", 'parsed', 'the first process parses the solvers');
kept_in("$scratch/kept", 'kept', 'a later process does not');
truncate($_, 20) for glob("$scratch/kept/semcache/python/*");
kept_in("$scratch/kept", 'parsed', 'a damaged file is made again');
kept_in("$scratch/kept", 'kept', 'and then kept');
my ($maker) = glob("$build/adapters/built/scipy/_semcache/solvers.py");
my @kept = glob("$scratch/kept/semcache/python/*");
my @times = (stat $maker)[8, 9];
utime($times[0], $times[1] - 1, $maker);
kept_in("$scratch/kept", 'parsed', 'another version of the adapter parses again');
utime(@times, $maker);
is(scalar(() = glob("$scratch/kept/semcache/python/*")), scalar(@kept), 'in place of the earlier files');
kept_in('/proc', 'parsed', 'a folder that cannot be made changes nothing');

done_testing();
# SPDX-License-Identifier: BSD-2-Clause
