#!/usr/bin/perl
# Memory of every kind, with libc's malloc and with others, before and after ours in the order of libraries.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

need('tests/memkinds');

our ($device, $build);
my %always = (options => ['--check', '--offload', 'always']);
my @where = $device =~ /^emu/ ? ('emu:h200x8:1', 'emu:h200x8:2') : ($device);

sub kinds {
    my ($how, $title) = @_;
    my $run = run({ %always, %$how }, 'tests/memkinds');
    right($run, "right $title");
    used_devices($run);
    cmp_ok(calls($run, qr/dgemm/, 'offloaded'), '>', 300, "on devices, $title");
    is(join("\n", grep { !/unknown|jemalloc|tcmalloc/ } complaints($run)), '', "nothing to complain about, $title");
    return $run;
}

kinds({ device => $_ }, "on $_") for @where;

# semcache run puts its library first, so that these serve the small blocks only; LD_PRELOAD by hand can put it last.
for my $other (qw(libjemalloc.so.2 libtcmalloc_minimal.so.4)) {
    my ($path) = grep { -e } map { "$_/$other" } qw(/usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib);
  SKIP: {
        skip "no $other", 6 unless $path;
        kinds({ device => $where[0], env => { LD_PRELOAD => $path } }, "before $other");
        my $out = "$scratch::scratch" || '';
        my %set = (SEMCACHE_DEVICE => $where[0], SEMCACHE_OFFLOAD => 'always', SEMCACHE_CHECK => 1,
            LD_PRELOAD => "$path $build/.libs/libsemcache.so", SEMCACHE_MACHINE_PATH => "$ENV{top_srcdir}/device/emu/machines",
            SEMCACHE_MODULE_PATH => "$build/.libs");
        my $said = do { local %ENV = (%ENV, %set); `"$build/tests/memkinds" 2>&1` };
        like($said, qr/^ok$/m, "right behind $other") or diag($said);
    }
}
done_testing();
