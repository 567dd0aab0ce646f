#!/usr/bin/perl
# The adapter for CHOLMOD, with a program on emulated devices. Asserts the answers of the host, that the matrix is
# uploaded once, and that further iterations move no vector.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/adapters.pl";
our ($build, $offload);

need_adapter('cholmod');
my $compiler = first_command(qw(cc gcc)) or plan(skip_all => 'no compiler');
my $program = compile($compiler, "$ENV{top_srcdir}/tests/adapters/cholmod_cg.c", '-lcholmod -lblas -lm');
my $side = 100;
my $entries = 5 * $side**2 - 4 * $side;
my $vector = 8 * $side**2;

for my $triangle (-1, 0, 1) {
    for my $wide (0, 1) {
        my ($half, $all) = map { same(1, $program, $side, $_, $triangle, $wide) } 10, 20;
        my $matrix = (8 + ($wide ? 8 : 4)) * $entries + 8 * $side**2;
        cmp_ok($all->{bytes}{h2d}, '<=', 1.05 * ($triangle ? 1 : 2) * $matrix + 6 * $vector,
            "$all->{name}: the matrix goes up once"); # with all entries also its transpose
        no_more($half, $all, 0.5 * $vector);
        same(1, $program, $side, 4, $triangle, $wide, 3);
    }
}
my ($small, $small_alone) = map { offered(1, $_, $program, 20, 10, 1, 0) } 0, 1;
is($small->{out}, $small_alone->{out}, 'a small matrix: the answer of the host');
is($small->{calls}{sparse_mv} // 0, 0, 'and its product is not offered');
$offload = 'never';
same(1, $program, $side, 10, 1, 0, 3);

# The adapter is for programs that need the library, or start a program that does.
my $list = 'echo "$LD_PRELOAD"';
unlike(`$build/tools/semcache run sh -c '$list'`, qr/cholmod/, 'a shell alone has no adapter');
like(`$build/tools/semcache run sh -c '$list' $program`, qr/libsemcache\.so.*:.*libsemcache_cholmod\.so$/,
    'a shell that names the program has the adapter');
unlike(`SEMCACHE_ADAPTERS=0 $build/tools/semcache run sh -c '$list' $program`, qr/cholmod/, 'SEMCACHE_ADAPTERS=0');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
