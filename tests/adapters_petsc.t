#!/usr/bin/perl
# The adapter for PETSc, with PETSc's own tutorials of KSP on emulated devices. Asserts the output of the host
# (iterations and errors), that the matrix is uploaded once, and that further iterations move no vector.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $scratch, $offload, $devices, %launcher);

need_adapter('petsc');
my ($tutorials) = reverse sort glob('/usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials');
plan(skip_all => 'no tutorials of PETSc (libpetsc3.18-dev-examples)') unless $tutorials;
my $compiler = first_command(qw(mpicc.openmpi mpicc)) or plan(skip_all => 'no mpicc');
chomp(my $flags = `pkg-config --cflags --libs PETSc`);

# tutorial(ranks, name, arguments...): a tutorial under semcache prints what the tutorial prints alone.
sub tutorial {
    my ($ranks, $name, @arguments) = @_;
    return same($ranks, compile($compiler, "$tutorials/$name.c", "$flags -lm"), @arguments);
}

my $side = 60;
my $matrix = 12 * (5 * $side**2 - 4 * $side) + 4 * $side**2;
my $vector = 8 * $side**2;

# Krylov methods: vectors that a method uploads. GMRES clears one in every cycle; Chebyshev begins with random vectors
# and a GMRES that estimates eigenvalues.
my %uploads = (gmres => 8, fgmres => 8, minres => 8, chebyshev => 28);
for my $method (qw(cg bcgs gmres fgmres cgs tfqmr minres bicg pipecg chebyshev)) {
    for my $preconditioner (qw(none jacobi)) {
        my @arguments = ('ex2', '-m', $side, '-n', $side, '-ksp_type', $method, '-pc_type', $preconditioner,
            '-ksp_max_it');
        my ($half, $all) = (tutorial(1, @arguments, 12), tutorial(1, @arguments, 24));
        my $matrices = $method eq 'bicg' ? 2 : 1; # bicg: also the transposed matrix
        cmp_ok($all->{bytes}{h2d}, '<=', 1.05 * $matrices * $matrix + ($uploads{$method} // 5) * $vector,
            "$all->{name}: the matrix goes up once");
        no_more($half, $all, 0.5 * $vector);
    }
}

# Preconditioners on the host get and give back a vector without a fault.
for my $preconditioner (qw(ilu icc sor bjacobi lu)) {
    my $run = tutorial(1, 'ex2', '-m', $side, '-n', $side, '-ksp_type', 'cg', '-pc_type', $preconditioner,
        '-ksp_max_it', 12);
    is($run->{faults}, 0, "$run->{name}: no faults");
}

# Factors and relaxation: after 40 applications all solves run on the device, and no vector moves.  A block of block
# Jacobi is such a matrix.  Each sweep of relaxation after the first has a product with the matrix.
my @solved = (['ilu'], ['ilu', qw(-pc_factor_levels 1)], [qw(bjacobi -sub_pc_type ilu)], ['icc'],
    ['icc', qw(-pc_factor_levels 1)], [qw(bjacobi -sub_pc_type icc)], ['sor'], [qw(sor -pc_sor_its 2)],
    [qw(sor -pc_sor_omega 1.4)], [qw(bjacobi -sub_pc_type sor)]);
my %twice = ('sor -pc_sor_its 2' => 2);
for my $preconditioner (@solved) {
    my @arguments = (qw(ex2 -m 100 -n 100 -ksp_type cg -ksp_rtol 1e-12 -pc_type), @$preconditioner, '-ksp_max_it');
    my ($half, $all) = (tutorial(1, @arguments, 45), tutorial(1, @arguments, 55));
    is($all->{calls}{sparse_sv} - $half->{calls}{sparse_sv}, 20 * ($twice{"@$preconditioner"} // 1),
        "$all->{name}: solves on the device");
    no_more($half, $all, 0.5 * $vector);
}
# Sweeps in one direction, and sweeps of a solver without a method around them.
for my $relaxation (map({ ['-ksp_type', 'cg', "-pc_sor_$_"] } qw(forward backward)), ['-ksp_type', 'richardson'],
    [qw(-ksp_type cg -pc_sor_forward -pc_sor_omega 0.7)], [qw(-ksp_type richardson -pc_sor_omega 1.2)],
    [qw(-ksp_type richardson -ksp_norm_type none)]) {
    my @arguments = (qw(ex2 -m 60 -n 60 -ksp_rtol 1e-30 -pc_type sor), @$relaxation, '-ksp_max_it');
    my ($half, $all) = (tutorial(1, @arguments, 45), tutorial(1, @arguments, 55));
    my $each = $relaxation->[1] eq 'cg' ? 1 : 2;
    is($all->{calls}{sparse_sv} - $half->{calls}{sparse_sv}, 10 * $each, "$all->{name}: solves on the device");
    no_more($half, $all, 0.5 * $vector);
}
# Multigrid by relaxation, from 0 and from a guess.
for (['chebyshev', 25, 35], ['richardson', 45, 55]) {
    my ($smoother, @counts) = @$_;
    my @runs = map { tutorial(1, qw(ex2 -m 60 -n 60 -pc_type mg -ksp_rtol 1e-9 -mg_levels_pc_type sor),
        '-mg_levels_ksp_type', $smoother, '-ksp_max_it', $_) } @counts;
    cmp_ok($runs[1]{calls}{sparse_sv}, '>', $runs[0]{calls}{sparse_sv}, "$runs[1]{name}: solves on the device");
    no_more(@runs, 0.5 * $vector);
}
# PETSc's results differ from those of the arrays, and PETSc goes on: factors in another order, relaxation of blocks of
# similar rows, Eisenstat's trick.
tutorial(1, qw(ex2 -m 40 -n 40 -ksp_type richardson -ksp_max_it 60 -ksp_rtol 1e-30 -pc_type), @$_)
  for ['lu'], ['cholesky'], [qw(icc -pc_factor_mat_ordering_type rcm)], [qw(ilu -pc_factor_mat_ordering_type rcm)];
tutorial(1, qw(ex2 -m 60 -n 60 -ksp_type cg -ksp_max_it 60 -ksp_rtol 1e-30 -pc_type eisenstat));
tutorial(1, qw(ex49 -mx 12 -my 12 -elas_ksp_type cg -elas_ksp_monitor_short -elas_ksp_max_it 60 -elas_pc_type), $_)
  for qw(sor icc ilu);
tutorial(2, qw(ex2 -m 60 -n 60 -ksp_type gmres -ksp_max_it 60 -ksp_rtol 1e-10 -pc_type), @$_)
  for [qw(bjacobi -sub_pc_type ilu)], [qw(bjacobi -sub_pc_type icc)], ['sor'], [qw(sor -pc_sor_its 2)];
# Transposed and symmetric applications run on the host, and get and give back a vector without a fault.
is(tutorial(1, qw(ex2 -m 60 -n 60 -ksp_type bicg -ksp_max_it 12 -pc_type), $_)->{faults}, 0, "bicg, $_: no faults")
  for qw(ilu lu icc);
is(tutorial(1, qw(ex2 -m 60 -n 60 -ksp_type gmres -ksp_pc_side symmetric -ksp_max_it 12 -pc_type icc))->{faults}, 0,
    'icc at both sides: no faults');

# Cycles of multigrid, other tutorials, and several ranks.
my @cycles = map { tutorial(1, 'ex2', '-m', 150, '-n', 150, '-pc_type', 'gamg', '-ksp_max_it', $_) } 3, 6;
no_more(@cycles, 3 * 1.5 * 8 * 150**2); # vectors that relaxation on the host writes, of all levels
tutorial(1, 'ex2', '-m', 30, '-n', 30, '-mat_type', 'aij', '-ksp_type', 'lsqr', '-pc_type', 'none', '-ksp_max_it', 20);
tutorial(1, 'ex5', '-m', 900);
tutorial(1, 'ex45', '-da_refine', 1, '-ksp_monitor_short');

# Vectors on arrays of the program have PETSc's operations: nothing but the norm, a call of the BLAS, is offered.
# A product by element is the product with a diagonal matrix.
{
    my $program = compile($compiler, "$ENV{top_srcdir}/tests/adapters/petsc_array.c", "$flags -lm");
    for my $kind (qw(own array)) {
        my ($alone, $run) = map { offered(1, $_, $program, $kind) } 1, 0;
        is("$run->{status} $run->{out}", "0 $alone->{out}", "$run->{name}: the norm of the host");
        is($run->{calls}{sparse_mv} // 0, $kind eq 'own' ? 4 : 0, "$run->{name}: products on devices");
        is($run->{calls}{ddot}, 1, "$run->{name}: and the norm");
    }
}

# Matrices of one triangle, and of blocks of 2 rows.
my @triangle = ('ex2', '-m', $side, '-n', $side, qw(-mat_type sbaij -mat_ignore_lower_triangular -ksp_type cg),
    qw(-pc_type jacobi -ksp_max_it));
my @blocks = (qw(ex49 -mx 30 -my 30 -dm_mat_type baij -elas_ksp_type cg -elas_pc_type jacobi -elas_ksp_monitor_short),
    '-elas_ksp_max_it');
for my $program (\@triangle, \@blocks) {
    no_more(map({ tutorial(1, @$program, $_) } 12, 24), 0.5 * $vector);
    tutorial(2, @$program, 12);
}
# Several ranks: in each iteration the pages at both sides of each border, without a fault.
for my $ranks (2, 4) {
    my @runs = map { tutorial($ranks, qw(ex2 -m 200 -n 200 -ksp_type cg -pc_type jacobi -ksp_max_it), $_) } 10, 20;
    no_more(@runs, 10 * 2 * ($ranks - 1) * 3 * 4096);
    is($runs[1]{faults}, $runs[0]{faults}, "$runs[1]{name}: no fault in more iterations");
}
# Boxes of a grid: the sides lie in short runs. The devices gather their elements, and no other element comes home.
{
    my @grid = map { ("-da_grid_$_", 70) } qw(x y z);
    my @runs = map { tutorial(4, 'ex45', @grid, qw(-ksp_type cg -pc_type jacobi -ksp_max_it), $_) } 10, 20;
    no_more(@runs, 10 * 1.05 * 4 * 2 * 70 * 35 * 8);
    is($runs[1]{faults}, $runs[0]{faults}, "$runs[1]{name}: no fault in more iterations");
    tutorial(4, qw(ex49 -mx 200 -my 200 -dm_mat_type baij -elas_ksp_type cg -elas_pc_type jacobi
        -elas_ksp_monitor_short -elas_ksp_max_it 12));
    $devices = 8;
    @runs = map { tutorial(4, 'ex45', @grid, qw(-ksp_type cg -pc_type jacobi -ksp_max_it), $_) } 10, 20;
    no_more(@runs, 10 * 1.05 * 4 * 2 * 70 * 35 * 8);
    # Between the two devices of a rank: an iteration moves a border, no vector.
    cmp_ok($runs[1]{bytes}{d2d} - $runs[0]{bytes}{d2d}, '<', 10 * 4 * 8 * 70 * 35 * 35 / 4,
        "$runs[1]{name}: no vector between devices");
    undef $devices;
}
my $two = tutorial(2, 'ex2', '-m', $side, '-n', $side, '-ksp_type', 'cg', '-pc_type', 'jacobi', '-ksp_max_it', 24);
cmp_ok($two->{bytes}{h2d}, '<=', 1.3 * $matrix + 6 * $vector, 'two ranks: the matrix goes up once');
tutorial(2, 'ex2', '-m', 30, '-n', 30, '-ksp_type', $_) for qw(gmres cg);
# Ranks that share a device, and ranks with two devices each.
for ([4, 1], [3, 2], [2, 4]) {
    (my $ranks, $devices) = @$_;
    tutorial($ranks, qw(ex2 -m 160 -n 160 -ksp_type cg -pc_type jacobi -ksp_max_it 12));
}
undef $devices;
$launcher{inside} = 1;
tutorial(2, 'ex2', '-m', 30, '-n', 30, '-ksp_type', 'cg');

# A rank's device has the product of the rank's own block before the rank waits for elements that other ranks read:
# behind the last operation on vectors there are so many sparse products, of which one gathers the elements of a box.
sub ahead {
    my ($products, $ranks, @program) = @_;
    local $ENV{SEMCACHE_TRACE} = "$scratch/trace.%p";
    my $run = tutorial($ranks, @program);
    for my $trace (glob "$scratch/trace.*") {
        my (@before, @waits, $acquired);
        for (`$build/tools/semcache trace dump $trace`) {
            my ($event) = /^\s*\S+\s+\d+\s+(\w+)/ or next;
            if ($event eq 'kernel') {
                @before = / sparse_mv / ? (@before, 1) : ();
            } elsif ($event eq 'transfer' && / - host / && $acquired) {
                push @waits, scalar @before;
            }
            $acquired = $event eq 'acquire';
        }
        my @late = @waits[@waits / 2 .. $#waits - 4]; # at the end the program reads vectors
        cmp_ok(@late, '>', 4, "$run->{name}: elements for other ranks come home");
        is_deeply([grep { $_ != $products } @late], [], "$run->{name}: after $products products have begun");
    }
    unlink glob "$scratch/trace.*";
}
ahead(1, 2, qw(ex2 -m 200 -n 200 -ksp_type cg -pc_type jacobi -ksp_max_it 40));
ahead(2, 4, qw(ex45 -da_grid_x 70 -da_grid_y 70 -da_grid_z 70 -ksp_type cg -pc_type jacobi -ksp_max_it 40));

# Every operation declined.
$offload = 'never';
for my $ranks (1, 2) {
    tutorial($ranks, 'ex2', '-m', 20, '-n', 20, '-ksp_type', $_, '-pc_type', 'jacobi', '-ksp_max_it', 30)
      for qw(cg bcgs gmres cgs tfqmr minres bicg pipecg chebyshev ibcgs bcgsl);
    tutorial($ranks, 'ex2', '-m', 20, '-n', 20, '-pc_type', $_) for qw(bjacobi gamg asm);
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
