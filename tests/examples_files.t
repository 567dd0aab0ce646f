#!/usr/bin/perl
# Solvers on matrices from files: matrices of Debian's packages, small matrices with known answers, and invalid files.
# Asserts right solutions on the host and on devices, and that an invalid file is refused in one line, without a crash.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";
our ($device, $scratch);

my @solvers = map { "examples/$_" } qw(gmres bicgstab pagerank cg_sparse);
need(@solvers);
my %always = (options => ['--check', '--offload', 'always']);
my $seed = $ENV{SEMCACHE_TEST_SEED} // 20261121;
srand $seed;
note("seed $seed");

sub write_file {
    my ($name, $text) = @_;
    open my $out, '>', "$scratch/$name" or die "$name: $!";
    print $out $text;
    close $out or die;
    return "$scratch/$name";
}

# Fields of a fixed width, by a Fortran format.
sub fields {
    my ($in, $lines, $format) = @_;
    my ($width) = $format =~ /\(\s*\d+[a-z](\d+)/i or die "format $format";
    my @fields;
    for (1 .. $lines) {
        chomp(my $line = <$in>);
        push @fields, grep { /\S/ } unpack("(A$width)*", $line);
    }
    return @fields;
}

# A real unsymmetric matrix in Harwell and Boeing's format, as text in Matrix Market's.
sub from_harwell_boeing {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!";
    <$in>;
    my (undef, $starts, $indices, $values, $right) = split ' ', <$in>;
    my ($type, $rows, $columns, $count) = split ' ', <$in>;
    my @format = split ' ', <$in>;
    die "$path: $type" unless $type =~ /^rua$/i;
    <$in> if $right;
    my @start = fields($in, $starts, $format[0]);
    my @row = fields($in, $indices, $format[1]);
    my @value = map { tr/dD/ee/r } fields($in, $values, $format[2]);
    my $text = "%%MatrixMarket matrix coordinate real general\n$rows $columns $count\n";
    for my $column (1 .. $columns) {
        $text .= "$row[$_ - 1] $column $value[$_ - 1]\n" for $start[$column - 1] .. $start[$column] - 1;
    }
    return $text;
}

my $probe = run({ device => 'none' }, 'examples/gmres', '-f', "$scratch/none");
if ($probe->{err} =~ /no reader/) {
    ok($probe->{status} >> 8 == 2, 'without a reader a file is refused');
    done_testing();
    exit;
}

# --- known answers -------------------------------------------------------------------------------------------------

my $header = '%%MatrixMarket matrix coordinate';
my %good = (
    symmetric => "$header real symmetric\n% a comment\n3 3 4\n1 1 4\n2 1 1\n2 2 5\n3 3 6\n",
    integer => "$header integer general\n2 2 3\n1 1 3\n1 2 1\n2 2 7\n",
    skew => "$header real skew-symmetric\n2 2 1\n2 1 3\n",
    pattern => "$header pattern general\n3 3 4\n1 1\n2 2\n3 3\n1 3\n",
    duplicates => "$header real general\n2 2 4\n2 2 1\n1 1 3\n2 2 4\n1 1 1\n",
);
for my $name (sort keys %good) {
    my $path = write_file("$name.mtx", $good{$name});
    for my $where ('none', $device) {
        right(run({ %always, device => $where }, 'examples/gmres', '-f', $path), "$name on $where");
    }
}

# --- files that Debian ships --------------------------------------------------------------------------------------

my %real = (
    add32 => 'superlu-dist/tests/EXAMPLE/big.rua',
    g20 => 'superlu-dist/tests/EXAMPLE/g20.rua',
    g4 => 'superlu-dist/tests/EXAMPLE/g4.rua',
);
for my $name (sort keys %real) {
    my ($path) = glob("/usr/lib/*/$real{$name}");
    SKIP: {
        skip "$real{$name} (libsuperlu-dist-dev) is not installed", 1 unless $path;
        my $file = write_file("$name.mtx", from_harwell_boeing($path));
        for my $where ($ENV{SEMCACHE_TEST_DEVICE} ? $device : ('none', map { "emu:h200x8:$_" } 1, 4)) {
            for my $solver (@solvers[0 .. 2]) {
                my $run = run({ %always, device => $where }, $solver, '-f', $file);
                right($run, "$name on $where");
                next if $solver =~ /pagerank/;
                my ($residual) = $run->{out} =~ /residual=(\S+)/;
                ok($residual < 1e-6, "$name on $where: solved");
            }
        }
    }
}
my $spd = '/usr/share/doc/librsb-dev/examples/pd.mtx';
SKIP: {
    skip "$spd (librsb-dev) is not installed", 2 unless -r $spd;
    for my $solver (qw(examples/cg_sparse examples/gmres)) {
        right(run({ %always }, $solver, '-f', $spd), 'a positive definite matrix');
    }
}

# --- files that are none ------------------------------------------------------------------------------------------

# Refused with a line and status 2, or read and solved: never a crash.
sub refused {
    my ($text, $why) = @_;
    my $run = run({ device => 'none' }, 'examples/pagerank', '-f', write_file('bad.mtx', $text));
    my $good = $run->{status} == 2 << 8 && $run->{err} ne '';
    return ok($good, "refused: $why") || diag("status $run->{status}\n$run->{out}$run->{err}");
}

refused('', 'an empty file');
refused("no matrix at all\n", 'a text');
refused("$header real general\n", 'no sizes');
refused("$header real general\n2 2 3\n1 1 1\n", 'too few entries');
refused("$header real general\n2 2 1\n3 1 1\n", 'a row out of range');
refused("$header real general\n2 2 2\n1 1 1\n1 5 1\n", 'a column out of range');
refused("$header real general\n-2 2 1\n1 1 1\n", 'a negative size');
refused("$header real general\n3000000000 3000000000 1\n1 1 1\n", 'a size beyond 32 bits');
refused("$header complex general\n1 1 1\n1 1 1 1\n", 'a complex matrix');
refused("$header real general\n2 3 2\n1 1 1\n2 2 1\n", 'a matrix that is not square');
refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", 'a dense matrix');

my $crashed = 0;
for my $i (1 .. 40) {
    my $text = (map { $good{$_} } sort keys %good)[$i % keys %good];
    for (0 .. rand 4) {
        my $at = int rand length $text;
        my $what = rand;
        substr($text, $at, 1) = $what < 0.5 ? chr(int rand 256) : $what < 0.7 ? '' : $what < 0.9 ? '99999999999' : "\n";
    }
    my $run = run({ device => 'none', options => [] }, 'examples/pagerank', '-f', write_file('bad.mtx', $text));
    next if $run->{status} == 2 << 8 || $run->{out} =~ /ok$|WRONG/;
    $crashed++;
    diag("status $run->{status} for\n$text");
}
is($crashed, 0, 'changed files are refused or read');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
