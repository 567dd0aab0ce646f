#!/usr/bin/perl
# The names of LAPACK's routines in the libraries of this machine: Debian's LAPACK and LAPACKE, OpenBLAS, and the
# OpenBLAS of NumPy's and SciPy's wheels. Asserts that each Fortran name of a whole routine is exported. Asserts that
# LAPACKE reaches these names, or that doc/limits.md names the routine: a library may call its own functions without the
# dynamic linker. A program calls LAPACKE in both orders, and the devices run the calls that reach the names.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($build, $device, $scratch);

need('tests/lapacke');
plan(skip_all => 'no nm or readelf') if system('(nm --version && readelf --version) >/dev/null 2>&1') != 0;

# Routines that the C code of OpenBLAS computes. A wheel's LAPACKE calls the functions of its own library.
my $computed = qr/(?:potrf|getrf|getrs|gesv|trtri|lauum)/;

my %ours = map { chomp; $_ => 1 } `cat $build/blas/lapack/exports.list`;
my %whole = map { (s/_$//r => 1) } grep { /^[sdcz]\w+[a-z0-9]_$/ && !/_64_$/ } keys %ours;
cmp_ok(scalar keys %whole, '>', 90, 'the whole routines');

sub wheels {
    my @pythons = map { "$_/python3" } split /:/, $ENV{PATH};
    my ($python) = grep { system("$_ -c 'import numpy' >/dev/null 2>&1") == 0 } @pythons;
    return unless $python;
    chomp(my $folder = `$python -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))'`);
    return glob "$folder/{numpy,scipy}.libs/*openblas*.so*";
}

# Names that a library defines, and names that its calls reach through the dynamic linker.
sub names { return map { s/\@.*//r } map { (split)[-1] } `nm -D --defined-only $_[0] 2>/dev/null` }
sub linked { return map { s/\@.*//r } map { (split)[4] // () } `readelf -rW $_[0] 2>/dev/null` }

sub check_fortran {
    my ($file, @names) = @_;
    my @missing = grep {
        !$ours{$_} && /^(?:scipy_)?([a-z]\w+?)(?:_|64_|_64|_64_)?$/ && $whole{$1} && /_$|^scipy_|64$/
    } @names;
    is("@missing", '', "$file: every whole routine is caught");
}

sub check_c {
    my ($file, @names) = @_;
    my %linked = map { $_ => 1 } linked($file);
    my (@apart, @reached);
    for my $name (@names) {
        my ($prefix, $routine, $wide) = $name =~ /^((?:scipy_)?)LAPACKE_(\w+?)_work((?:_?64_?)?)$/ or next;
        next unless $whole{$routine};
        my $fortran = $prefix . $routine . ($wide ? '_64_' : '_');
        push @{ $linked{$fortran} ? \@reached : \@apart }, $routine;
    }
    return unless @apart || @reached;
    is(join(' ', grep { !/^[sdcz]$computed$/ } @apart), '', "$file: LAPACKE reaches the names, or is documented");
    cmp_ok(scalar @reached, '>', 50, "$file: " . @reached . ' routines are reached through LAPACKE');
}

# Calls of a library's LAPACKE, in both orders.  reached: routines that must run on the devices.
sub check_calls {
    my ($file, $prefix, $suffix, $bits, @reached) = @_;
    my $run = run({ device => $device, env => { OPENBLAS_NUM_THREADS => 1, SEMCACHE_OFFLOAD => 'always' } },
        'tests/lapacke', $file, $prefix, $suffix, $bits);
    is($run->{status}, 0, "$file: LAPACKE's results") or diag($run->{out}, $run->{err});
    for my $routine (@reached) {
        is(calls($run, qr/^$routine$/, 'offloaded'), 2, "$routine: both orders ran on the devices");
    }
}

my @libraries = grep { -e } glob('/usr/lib/*/{lapack,lapack64,openblas-*,openblas64-*}/liblapack*.so.3'),
    glob('/usr/lib/*/{liblapacke,libopenblas,libopenblas64}.so.{0,3}'), wheels();
for my $file (@libraries) {
    my @names = names($file);
    check_fortran($file, @names);
    check_c($file, @names);
    my ($c) = grep { /LAPACKE_dgesv(?:64_)?$/ } @names or next;
    my ($prefix, $suffix) = $c =~ /^(.*)LAPACKE_dgesv(.*)$/;
    my @reached = $prefix ? qw(dpotrs dsyevd) : qw(dgesv dpotrf dpotrs dsyevd);
    check_calls($file, $prefix, $suffix, $suffix ? 64 : 32, @reached);
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
