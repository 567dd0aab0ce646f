#!/usr/bin/perl
# `semcache trace blame' names the program's line through code without frame pointers, inline functions, libraries of
# the system, and the Python interpreter. It names the callers, and the line that allocated the array.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/chains');
my $tool = "$build/tools/semcache";
plan skip_all => 'no debug information' unless qx(readelf -S $build/tests/chains 2>/dev/null) =~ /debug_line/;
my $libraries = qx(ldd $tool 2>/dev/null; ldd $build/tools/.libs/semcache 2>/dev/null);
plan skip_all => 'built without libdw' unless $libraries =~ /libdw/;

sub line {
    my ($file, $text) = @_;
    my $source = slurp($file =~ m{/} ? $file : "$ENV{top_srcdir}/tests/$file");
    my $at = index $source, $text;
    die "$text is not in $file" if $at < 0;
    $file =~ s{.*/}{};
    return "$file:" . (1 + (substr($source, 0, $at) =~ tr/\n//));
}

sub rows_of {
    my ($name, @command) = @_;
    unlink "$scratch/trace";
    my @run = ($tool, 'run', '--device', $device, '--offload', 'always', '--trace', "$scratch/trace", @command);
    is(system("@run > $scratch/out 2>&1"), 0, "$name: runs") or diag(slurp("$scratch/out"));
    is(system("$tool trace check $scratch/trace > $scratch/out 2>&1"), 0, "$name: a trace in order")
      or diag(slurp("$scratch/out"));
    my @rows = map { decode_json($_) } split /\n/, qx($tool trace blame --json $scratch/trace);
    note(join "\n", map { "$_->{line} | $_->{callers} | $_->{source} | $_->{cause} | $_->{array}" } @rows);
    return @rows;
}

# The row of a line: callers and array as patterns.
sub names {
    my ($rows, $what, $line, %is) = @_;
    my ($row) = grep { $_->{line} =~ /^\Q$line\E\b/ && $_->{cause} =~ /$is{cause}/ } @$rows;
    ok($row, "$what: $line") or return;
    like($row->{$_}, qr/$is{$_}/, "$what: $_") for sort keys %is;
}

# --- a module without frame pointers, which calls memset

{
    my @rows = rows_of('a module', "$build/tests/chains", "$build/tests/.libs/planted_module.so");
    my ($assembles, $looks, $asks, $inlines) = map { quotemeta line(@$_) } ['chains.c', '/* assembles */'],
      ['chains.c', '/* looks */'], ['planted_module.c', '/* asks */'], ['planted_module.c', '/* inlines */'];
    names(\@rows, 'memset', line('planted_module.c', '/* clears */'), cause => '^the CPU had written it',
        callers => "^in clear <- planted_clear $asks <- assemble $assembles <- main chains\\.c:",
        source => '^memset\(array, 0, bytes\)');
    names(\@rows, 'an inline function', line('planted_module.c', '/* inlined */'), cause => '^touched by the CPU$',
        callers => "^in element <- planted_sum $inlines <- look $looks",
        array => 'allocated at ' . quotemeta(line('chains.c', '/* allocates */')));
}

# --- Python

my $script = <<'END';
import ctypes
libc = blas = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
N = 1000

class Grid:
    def __init__(self):
        self.array = (ctypes.c_double * (N * N)).from_address(libc.malloc(8 * N * N))  # allocates

    def fill(self, value):
        ctypes.memset(self.array, value, ctypes.sizeof(self.array))  # writes

def product(a, b, c):
    blas.cblas_dgemm(102, 111, 111, N, N, N, ctypes.c_double(1), a.array, N, b.array, N,
                     ctypes.c_double(0), c.array, N)

def look(c, at):
    for nothing in range(300):
        at += nothing % 2
    return c.array[at]  # reads

a, b, c = Grid(), Grid(), Grid()
total = 0.0
for step in range(4):
    a.fill(0)  # assembles
    product(a, b, c)
    total += look(c, step)  # looks
END
my $file = "$scratch/grid.py";
open my $out, '>', $file or die $!;
print $out $script;
close $out or die $!;

my %python;
my $home = $ENV{HOME} // '';
for my $python ('/usr/bin/python3', glob("$home/.pyenv/versions/3.1[1-9].*/bin/python3")) {
    my $version = -x $python ? qx($python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) : '';
    chomp $version;
    $python{$version} //= $python if $version =~ /^3\.1[1-4]$/;
}
for my $version (sort keys %python) {
    my @rows = rows_of("Python $version", $python{$version}, $file);
    my ($assembles, $looks) = map { quotemeta line($file, "# $_") } 'assembles', 'looks';
    names(\@rows, "Python $version, writes", line($file, '# writes'), cause => '^the CPU had written it',
        callers => "^in Grid.fill <- <module> $assembles");
    names(\@rows, "Python $version, reads", line($file, '# reads'), cause => '^touched by the CPU$',
        callers => "^in look <- <module> $looks", source => '^return c.array',
        array => '^matrix of 1000 x 1000 .* allocated at ' . quotemeta(line($file, '# allocates')));
}

SKIP: {
    skip 'no NumPy for /usr/bin/python3 (Debian: python3-numpy)', 10
      unless grep({ $_ eq '/usr/bin/python3' } values %python) &&
      system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") == 0;
    open $out, '>', "$scratch/solver.py" or die $!;
    print $out "import numpy as np\n\ndef assemble(a, step):\n    a[:] = step + 1.0  # writes\n\ndef look(c):\n",
      "    return c[3, 4]  # reads\n\na = np.ones((1000, 1000))  # allocates\nb = np.ones((1000, 1000))\n",
      "for step in range(4):\n    assemble(a, step)\n    c = a @ b  # multiplies\n    look(c)\n",
      "c[999, 5] += 1  # adds\n";
    close $out or die $!;
    my @rows = rows_of('NumPy', '/usr/bin/python3', "$scratch/solver.py");
    names(\@rows, 'NumPy, writes', line("$scratch/solver.py", '# writes'),
        cause => '^the CPU had written it, needed by ' . quotemeta(line("$scratch/solver.py", '# multiplies')) . ' d',
        callers => '^in assemble <- <module> solver.py:12$',
        array => '^matrix of 1000 x 1000 .* allocated at ' . quotemeta(line("$scratch/solver.py", '# allocates')));
    names(\@rows, 'NumPy, reads', line("$scratch/solver.py", '# reads'), cause => '^touched by the CPU$',
        callers => '^in look <- <module> solver.py:14$');
    my $adds = quotemeta line("$scratch/solver.py", '# adds');
    my @adds = grep { $_->{line} =~ /^$adds\b/ } @rows;
    ok(@adds == 1 && $adds[0]{bytes} && $adds[0]{faults} >= 1,
        'NumPy: one row for a line that reads and writes an element');
}

# --- small calls of the host's BLAS, which no line of the program can spare

SKIP: {
    skip 'no examples/jacobi', 2 unless -x "$build/examples/jacobi";
    local $ENV{SEMCACHE_OPEN} = 'first';
    system("$tool run --device $device --trace $scratch/small $build/examples/jacobi 1500 20 > $scratch/out 2>&1");
    my @rows = grep { $_->{line} =~ / in dnrm2/ }
      map { decode_json($_) } split /\n/, qx($tool trace blame --json $scratch/small);
    skip 'the host BLAS has no dnrm2 of its own', 2 unless @rows;
    like($rows[0]{line}, qr/^jacobi\.c:\d+ in dnrm2/, 'a small call of the host: its line');
    like($rows[0]{remedy}, qr/^nothing at this size: /, 'a small call of the host: no remedy');
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
