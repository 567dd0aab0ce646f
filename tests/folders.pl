# The folders of the project, for tests that look at all sources: Makefile.am includes the make file of each.
use strict;
use warnings;

# All folders in the order of Makefile.am; up to `$last` where that is given.
sub folders {
    my ($last) = @_;
    open my $in, '<', ($ENV{top_srcdir} // '.') . '/Makefile.am' or die "Makefile.am: $!\n";
    my @folders = map { m{^include (\S+)/local\.mk$} ? $1 : () } <$in>;
    return @folders unless defined $last;
    my ($end) = grep { $folders[$_] eq $last } 0 .. $#folders;
    die "Makefile.am has no $last/local.mk\n" unless defined $end;
    return @folders[0 .. $end];
}
1;
# SPDX-License-Identifier: BSD-2-Clause
