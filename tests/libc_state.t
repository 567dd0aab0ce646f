#!/usr/bin/perl
# Every function of the installed libc that sets masks or handlers, starts threads, sets stacks, makes processes, frees
# memory or closes descriptors must be in host/libc_state.tab: as wrapped, or as harmless with a reason. Functions are
# found by name, since libc offers no list. Wrapped functions, and functions called harmless because of libc's code, are
# tried out (libc_state.c, libc_processes.c).
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our $build;
my $top = $ENV{top_srcdir} // '.';

# Patterns of the names of such functions; a new libc may add names.
my $looked_at = qr/sig|context$|jmp|thrd_create|pthread_create|timer_create|notify|lio_listio|aio_|getaddrinfo_a
    |[fF]ork|clone|_spawn|popen|wordexp$|daemon|pidfd_|mall(oc|opt|info)|^(__libc_)?c?free(_|$)|^(__libc_)?re?alloc
    |memalign|^(__libc_)?p?valloc|^aligned_alloc|calloc|^(__)?close(_range|from)?$|^(__)?dup[23]$|setstack|altstack
    |^_*p(poll|select)|epoll_p|prof|mon(startup|control)|raise$|abort$|^system$/x;

sub lines { my ($path) = @_; open my $in, '<', $path or die "$path: $!"; return grep { !/^\s*(#|$)/ } <$in> }

# [pattern, class, reason] of each line
my @table = map { [split ' ', $_, 3] } lines("$top/host/libc_state.tab");
my %exported = map { s/\s.*//sr => 1 } lines("$top/libsemcache/exports.list");

sub class_of {
    my ($name) = @_;
    for my $row (@table) {
        my $pattern = join '.*', map { quotemeta } split /\*/, $row->[0], -1;
        return $row->[1] if $name =~ /^$pattern$/;
    }
    return '';
}

# Functions of any version that a program can be linked with; no private functions, no versions for old programs.
sub functions_of {
    my ($library) = @_;
    my %seen;
    for (qx(nm -D --defined-only '$library')) {
        my (undef, $kind, $name) = split;
        $seen{ $name =~ s/@.*//r } = 1 if $kind =~ /[TWi]/ && $name !~ /GLIBC_PRIVATE/;
    }
    return sort keys %seen;
}

sub missing { return grep { $_ =~ $looked_at && class_of($_) eq '' } @_ }

my ($libc) = map { /(\/\S*\/libc\.so\S*)/ ? $1 : () } qx(ldd '$^X' 2>/dev/null);
my @functions = $libc ? functions_of($libc) : ();
plan skip_all => 'no libc.so to read, or no nm' unless @functions;

is(join("\n", missing(@functions)), '', "all functions of $libc that matter are classified");
cmp_ok(scalar(grep { $_ =~ $looked_at } @functions), '>', 80, 'which are many');
is(join(' ', missing('sigfrobnicate', 'sigaction', 'printf')), 'sigfrobnicate', 'a new one would be named');
is(join("\n", map { $_->[0] } grep { $_->[1] eq 'wrapped' && !$exported{ $_->[0] } } @table), '',
    'what is said to be wrapped is exported');
my @odd = grep { $_->[1] eq 'harmless' ? !$_->[2] : $_->[1] ne 'wrapped' || $_->[2] } @table;
is(join("\n", map { $_->[0] } @odd), '', 'what is harmless has a reason');

SKIP: {
    my @programs = ('tests/libc_state', 'tests/libc_processes');
    skip "$_ was not built", 1 for grep { !-x "$build/$_" } 'tools/semcache', @programs;
    my @kinds = map { my $program = $_; map { chomp; [$program, $_] } qx('$build/$program') } @programs;
    my %tried = map { $_ => 1 } (map { $_->[1] } @kinds),
      # thread_kinds, processes, host_malloc, memkinds
      qw(pthread_create fork forkpty daemon free malloc calloc realloc reallocarray memalign aligned_alloc
      posix_memalign valloc pvalloc malloc_usable_size);
    is(join(' ', grep { !$tried{$_} } map { $_->[0] } grep { $_->[1] eq 'wrapped' } @table), '',
        'what is wrapped is tried out');
    # libc does the same beside every device: a third of the kinds with real devices, which open slowly.
    my $number = 0;
    @kinds = grep { $number++ % 3 == 0 || $_->[1] eq 'past libc' } @kinds
      if $ENV{SEMCACHE_TEST_DEVICE} && !$ENV{SEMCACHE_TEST_LONG};
    for (@kinds) {
        my ($program, $kind) = @$_;
        if ($kind eq 'close' && $ENV{SEMCACHE_TEST_DEVICE}) {
            note('close: a driver does not survive a program that closes all numbers one by one (doc/limits.md)');
            next;
        }
        if ($ENV{SEMCACHE_TEST_ASAN} && $kind =~ /^(swapcontext|__libc_realloc)$/) {
            note("$kind: AddressSanitizer loses track of stacks, and of libc's own heap");
            next;
        }
        my @tracks = $kind =~ /coroutine|^close|^user/ ? ('wp', 'mprotect') : ('auto');
        for my $track (@tracks) {
            my $run = run({ options => [qw(--check --offload always)],
                env => { SEMCACHE_TRACK => $track, OPENBLAS_NUM_THREADS => 1 } },
                $program, $kind);
            right($run);
            my @said = grep { !/SEMCACHE_TRACK: not on this system/ } complaints($run);
            if ($kind eq 'past libc') {
                like("@said", qr/^semcache: error: a process that was made past libc .* on a device: call/,
                    "$kind: one line says why the child is gone");
                @said = ();
            }
            is(join("\n", @said), '', "$kind, $track: nothing to complain about");
        }
    }
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
