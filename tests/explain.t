#!/usr/bin/perl
# `semcache trace explain' on programs whose transfers are known. Asserts the source line and the reason of every
# transfer, the complete sum of bytes, and the places of calls with predicted and measured times.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'examples/jacobi', 'examples/abac', 'tests/replayed', 'tests/copied', 'examples/cg_sparse');
my $debug = qx(addr2line --version 2>/dev/null) && qx(readelf -S $build/examples/jacobi 2>/dev/null) =~ /debug_line/;
plan skip_all => 'no addr2line, or no debug information' unless $debug;

# The place of a text in a source file: "FILE:LINE".
sub line {
    my ($file, $text) = @_;
    my $source = slurp("$ENV{top_srcdir}/$file");
    my $at = index $source, $text;
    die "$text is not in $file" if $at < 0;
    $file =~ s{.*/}{};
    return "$file:" . (1 + (substr($source, 0, $at) =~ tr/\n//));
}

# Runs a program traced, and explains the trace: {text, calls (the first table), ways => {title => text}}.
sub trace_of {
    my ($how, @program) = @_;
    my $run = run({ %$how, options => [@{ $how->{options} }, '--trace', "$scratch/trace"] }, @program);
    is($run->{status}, 0, "$run->{name}: traced");
    my $text = qx($build/tools/semcache trace explain $scratch/trace 2>&1);
    is($?, 0, "$run->{name}: explained");
    note($text);
    my @long = grep { length > 80 && !/^# semcache trace/ } split /\n/, $text;
    ok(!@long, "$run->{name}: in 80 columns") or diag(join "\n", @long);
    $text =~ s/\n {26}/ /g;
    my %way = map { $_ => $text =~ /^$_\n(.*?)(\n\n|\z)/ms ? $1 : '' }
      'to devices', 'to the host', 'between devices', 'calls.*?';
    return { run => $run, text => $text, way => \%way };
}

sub says { my ($x, $way, $pattern, $what) = @_; like($x->{way}{$way}, $pattern, "$x->{run}{name}: $what") }

# The bytes of a table against the statistics.
sub complete {
    my ($x, $way, $kind) = @_;
    my $sum = 0;
    $sum += $1 while $x->{way}{$way} =~ /^ *(\d+) +\d+  /mg;
    is($sum, moved($x->{run}, $kind), "$x->{run}{name}: every byte $way has a cause");
}

# A solver whose matrix the CPU changes slightly, and whose vectors small calls of the host BLAS touch.
{
    my $rounds = $device =~ /^emu/ ? 10 : 60; # a real host is not that slow: the matrix has to be earned
    my $x = trace_of({ env => { SEMCACHE_OPEN => 'first' }, options => ['--explain', "$scratch/why"] },
        'examples/jacobi', '-w', 2000, $rounds);
    my ($gemv, $norm, $copy, $write) = map { my $l = line('examples/jacobi.c', $_); qr/\Q$l\E/ }
      'cblas_dgemv(', 'norm = cblas_dnrm2(', 'cblas_dcopy(', 'a[i] *= factor';
    says($x, 'to devices', qr/$gemv dgemv: first use on a device$/m, 'what is used for the first time');
    says($x, 'to devices', qr/$gemv dgemv: the CPU had written it at \S*$write$/m, 'the line that writes');
    says($x, 'to devices', qr/$gemv dgemv: the CPU had written it at \S*$copy in /m, 'the line that calls who writes');
    says($x, 'to the host', qr/$norm( in \S+)?: touched by the CPU, computed by \S*$gemv dgemv$/m,
        'the line that calls who reads');
    complete($x, 'to devices', 'h2d');
    complete($x, 'to the host', 'd2h');
    says($x, 'calls.*?',
        qr/$gemv dgemv\n +\d+ +2000 +2000 +0 +none .*\n(.*\n)* +\d+ .* part /, 'where calls ran');
  SKIP: {
        skip 'with the rates of a real machine', 2 if $device !~ /^emu/;
        like($x->{text},
            qr/^ +9 .* devices:1 +[\d.]+ +[\d.]+ +[+-]\d+%\n +host .*; devices .*\n +faster, with the move$/m,
            'predicted against measured, and why');
        like($x->{text}, qr/^error of the predictions, devices: median \d+%.* of 2 kinds of calls$/m, 'and the error');
    }
    my $why = slurp("$scratch/why");
    like($why, qr/^# called at \S*jacobi\+0x[0-9a-f]+\ndgemv +2000 /m, 'SEMCACHE_EXPLAIN names the place too');
    my ($offset) = $why =~ /^# called at \S*jacobi\+(0x[0-9a-f]+)/m;
    like(qx(addr2line -e $build/examples/jacobi $offset), $gemv, 'in a form that addr2line understands');
}

# Too little memory.
{
    my $x = trace_of({ env => { SEMCACHE_MEMORY_LIMIT => 3 << 20 }, options => ['--offload', 'always'] },
        'examples/abac', 600);
    says($x, 'to devices', qr/abac\.c:\d+ dgemm: no room on the device$/m, 'what was evicted is uploaded again');
    says($x, 'to the host', qr/abac\.c:\d+ \w+: no room on the device, computed by /m, 'or brought home for that');
    complete($x, 'to devices', 'h2d');
}

# Operands that cannot be watched: on the stack, in COMMON, small operands.
{
    my $x = trace_of({ options => ['--offload', 'always'], env => { SEMCACHE_TRACK => 'mprotect' } }, 'tests/copied');
    my %line = map { $_ => line('tests/copied.c', "/* $_ */") } qw(stack static small);
    says($x, 'to devices', qr/\Q$line{stack}\E dgemv: copied in each call: on a stack$/m, 'a stack');
    says($x, 'to devices', qr/\Q$line{static}\E dgemv: copied in each call: static or COMMON$/m, 'static data');
    says($x, 'to devices', qr/\Q$line{small}\E dgemv: copied in each call: smaller than SEMCACHE_ARENA_MIN$/m, 'small');
    says($x, 'to the host', qr/\Q$line{stack}\E dgemv: copied in each call: on a stack$/m, 'its result');
    unlike($x->{text}, qr/another shape|host's routine had written/, 'nobody else is blamed');
    my $summary = qx($build/tools/semcache trace dump --summary $scratch/trace 2>&1);
    like($summary, qr/^40 copies of operands that cannot be watched/m, 'the summary has them in one line');
    is(scalar(() = $summary =~ /x.* at 0x.*, dgemv$|^ .* \d+ at 0x.*, dgemv$/mg), 2, 'and the others as matrices')
      or diag($summary);
}

# Changed shapes; calls that only the host can do; system calls.
{
    my $x = trace_of({ options => ['--offload', 'always'] }, 'tests/replayed');
    my $solve = line('tests/replayed.c', 'cblas_dtrsm(101');
    my $write = line('tests/replayed.c', 'if (write(');
    says($x, 'to devices', qr/zgemv: it had been used in another shape$/m, 'a matrix in another shape');
    says($x, 'to the host', qr/\Q$write\E( in \S+)?: touched by the CPU, computed by \S*\Q$solve\E dtrsm$/m,
        'a system call, by the line that makes it');
}
# Products of sparse matrices.
{
    my $x = trace_of({ env => { SEMCACHE_OPEN => 'first' }, options => ['--explain', "$scratch/sparse"] },
        'examples/cg_sparse', 64000, 30);
    my $line = line('examples/cg_sparse.c', 'mkl_cspblas_dcsrgemv(');
    says($x, 'to devices', qr/\Q$line\E sparse_mv: first use on a device$/m, 'a sparse matrix');
    unlike($x->{way}{'to devices'}, qr/  -: /, "$x->{run}{name}: by known lines only");
    says($x, 'calls.*?', qr/^\S*\Q$line\E sparse_mv\n(.*\n)*? +30 /m, 'and where its products ran');
    my $why = slurp("$scratch/sparse");
    like($why, qr/^# called at \S*cg_sparse\+0x[0-9a-f]+\ndcsrmv +64000 +64000 +1 +none +1 /m,
        'explained as calls of the BLAS are');
}
# Energy saved: the same device beside a host that takes much less power, and beside a host that takes much more.
{
    my %where;
    for my $host ('10 1', '50000 1000') {
        open my $file, '>', "$scratch/watts.machine" or die $!;
        print $file "semcache-machine 1\nhost\n  watts $host\ndevice 0\n  memory 4G\n  bandwidth 700G\n",
          "  gemm s 14T\n  gemm d 7T\n  watts 50000 1\nlink host <-> 0\n  bandwidth 12G\n";
        close $file or die $!;
        for my $metric (qw(perf edp pdp)) {
            local $ENV{SEMCACHE_METRIC} = $metric;
            my @run = ("$build/tools/semcache", 'run', '--device', "emu:$scratch/watts.machine", '--explain',
                "$scratch/$metric", "$build/examples/abac", 1000);
            is(system("@run > $scratch/out 2>&1"), 0, "a host of $host W, by $metric");
            $where{"$host $metric"} = slurp("$scratch/$metric") =~ /^dgemm .* (devices|host) /m ? $1 : 'nowhere';
        }
    }
    is($where{'10 1 perf'}, 'devices', 'the time is shorter on the device');
    is($where{'10 1 pdp'}, 'host', 'the energy is less on the host');
    is($where{"50000 1000 $_"}, 'devices', "by $_ on the device, beside a host that takes more") for qw(perf edp pdp);
    like(slurp("$scratch/perf"), qr/^# strips of products: .*\n# dgemm NN 1000 1000 1000 \d+: \d+: [\d.]+.* \d+$/m,
        'the width of strips is explained');
    like(slurp("$scratch/pdp"), qr/^#   by energy: a second on the devices counts as 1\.0\d on the host$/m,
        'which is explained');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
