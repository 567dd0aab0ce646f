#!/usr/bin/perl
# The protocol's lock: each function of coherence/protocol.h asserts that its caller holds the lock, unless the comment
# of the declaration says that the function is called without the lock, or takes the lock.  Asserted are the first
# statements of the definition (rule 17 of coherence/README.md); tests/assertions.c shows that the assertions work.
use strict;
use warnings;
use Test::More;

my $source = $ENV{top_srcdir};
my $without = qr/without the lock|takes the lock|in a forked child|before the devices|any thread|for the clock/i;

sub text_of {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$in>;
}

# name => [file, body] of the external functions of a folder.
my %body;
for my $path (glob "$source/coherence/*.c") {
    my $text = text_of($path);
    my $head = qr/^(?!static)[a-z][\w \*]*?\b(sc_\w+)\([^;{]*?\)/m;
    $body{$1} = $2 while $text =~ /$head\n\{\n(.*?)^\}/msg;
    $body{$1} = $2 while $text =~ /$head \{(.*)\}$/mg;
}

# name => its comment: the block before the declaration, or behind the declaration in its line; and the section's head.
sub comments_of {
    my ($text) = @_;
    my (%comment, $section, $last);
    $section = $last = '';
    for my $line (split /\n/, $text =~ s{\n[ ]\*\s*}{ }gr =~ s{(\w,)\n\s+}{$1 }gr) {
        if ($line =~ m{^/\* --- (.*)}) {
            ($section, $last) = ($1, '');
        } elsif ($line =~ m{^/\*(.*)}) {
            $last = $1;
        } elsif ($line =~ m{^(?!static|extern|#|struct sc_\w+ \{)[a-z][\w \*]*?\b(sc_\w+)\([^;]*;(.*)}) {
            $comment{$1} = "$section $last $2";
            $last = '';
        }
    }
    return \%comment;
}

my $comment = comments_of(text_of("$source/coherence/protocol.h"));
my (@lacking, $asserted);
for my $name (grep { defined $body{$_} } sort keys %$comment) {
    if ($body{$name} =~ /\bsc_assert_held\(SC_RANK_PROTOCOL\)/) {
        $asserted++;
    } elsif ($comment->{$name} !~ $without) {
        push @lacking, $name;
    }
}
is("@lacking", '', 'functions that need the lock assert that it is held');
cmp_ok($asserted, '>', 80, 'most functions need it');
my $planted = comments_of("/* One.  Without\n * the lock. */\nvoid sc_one(int a,\n            int b);\n" .
    "int sc_two(void); /* any thread */\nint sc_three(void);\n");
ok($planted->{sc_one} =~ $without && $planted->{sc_two} =~ $without && $planted->{sc_three} !~ $without,
    'a comment holds for one declaration');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
