#!/usr/bin/perl
# Bad input: one clear line, and the program goes on with right results on the host.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('examples/abac');
our ($scratch, $device);

# Runs abac; `pattern` must match the only line printed.
sub speaks {
    my ($what, $pattern, $how) = @_;
    my $run = run({ options => [], %$how }, 'examples/abac', 400);
    my @said = complaints($run);
    right($run, "right with $what");
    is(scalar @said, 1, "$what: one line") or diag($run->{err});
    like($said[0] // '', $pattern, "$what: the line says what is wrong");
}

mkdir "$scratch/machines";
open my $out, '>', "$scratch/machines/broken.machine" or die;
print $out "devices = many\nthis is no machine\n";
close $out;

speaks('an unknown device', qr/toaster/, { device => undef, env => { SEMCACHE_DEVICE => 'toaster:3' } });
speaks('an unknown machine', qr/nosuch/, { device => 'emu:nosuch:2' });
speaks('an unreadable machine file', qr/broken/,
    { device => 'emu:broken', env => { SEMCACHE_MACHINE_PATH => "$scratch/machines" } });
speaks('more devices than the machine has', qr/h200x8/, { device => 'emu:h200x8:9' });
speaks('a missing host BLAS', qr/no-such-blas/, { env => { SEMCACHE_HOST_BLAS => '/no-such-blas.so' } });
speaks('an unknown setting', qr/SEMCACHE_OFLOAD.*SEMCACHE_OFFLOAD/, { env => { SEMCACHE_OFLOAD => 'always' } });
speaks('a bad value', qr/SEMCACHE_OFFLOAD.*sometimes/, { env => { SEMCACHE_OFFLOAD => 'sometimes' } });
speaks('a trace that cannot be written', qr/no-such-folder/, { env => { SEMCACHE_TRACE => '/no-such-folder/trace' } });
speaks('no GPU', qr/cuda|GPU/i, { device => 'cuda', env => { CUDA_VISIBLE_DEVICES => '' } });
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
