#!/usr/bin/perl
# The terms of doc/glossary.md are those of the code, and a few synonyms of them are not used (CONTRIBUTING.md, rule 9).
# Documents that the text names exist, and sources that documents name. Each entry of doc/limits.md names its test.
use strict;
use warnings;
use Test::More;
require "$ENV{top_srcdir}/tests/folders.pl";

chdir($ENV{top_srcdir} // '.') or die;

# Synonym => term.  Each is a regular expression.
my %banned = (
    'outside memory' => 'untracked',
    'lasting mapping' => 'the lifetime of a mapping',
    'pseudo-matri' => 'matrix',
    'hidden copy' => 'mirror, shadow',
    'unwatched memory' => 'untracked',
    'dirty bit' => 'state G',
    'flush(?:es|ed)? to the host' => 'write back',
    'swap(?:s|ped)? out' => 'evict',
    'victim tile' => 'the least recently used tile',
    'struct sc_form\b' => 'struct sc_derived',
    'wrapper of the BLAS' => 'veneer',
    'sub-?block of a tile' => 'sector',
);

my @roots = ('include', folders());
my $roots = '(?:' . join('|', @roots) . ')';
my %text;
for my $file (split /\n/, `find @roots README.md CONTRIBUTING.md -type f`) {
    next if $file !~ /\.(?:md|1|c|h|cu|cuh|cc|cpp|inc|l|sh|t|pl|py|awk|mk|am|tab|list)$/ || $file eq 'tests/glossary.t';
    open my $in, '<', $file or die "$file: $!\n";
    $text{$file} = do { local $/; <$in> };
}

my %seen;
for my $row (grep { /^\| \*\*/ } split /\n/, $text{'doc/glossary.md'}) {
    my ($term, $meaning, $file) = $row =~ /^\| \*\*(.+?)\*\*[^|]*\| (.+) \| `(.+)` \|$/;
    ok($term && !$seen{$term}++, 'a row of one new term, its meaning and a file: ' . substr $row, 0, 40) or next;
    ok(exists $text{$file}, "$term: there is a $file");
    # In code a term may be a part of a name, with _ between its words, and its words may end in another way.
    my $stem = join '\\w*[\\s_*-]+', map { s/(?<=...)(?:ed|e|y|t)$//r } split / /, $term;
    my ($using) = grep { $_ ne 'doc/glossary.md' && $text{$_} =~ /$stem/i } $file, sort keys %text;
    ok(defined $using, "$term: in use");
}
cmp_ok(scalar keys %seen, '>', 40, 'the glossary was read');
for my $synonym (sort keys %banned) {
    (my $pattern = $synonym) =~ s/ /\\s+(?:[*#]\\s+|\/\/\\s*)?/g;
    my @found = grep { $text{$_} =~ /$pattern/i } sort keys %text;
    is(join(' ', @found), '', "not '$synonym' but $banned{$synonym}");
}

# README.md names each folder, so that a newcomer finds a behaviour.
my ($table) = $text{'README.md'} =~ /^## Folders\n(.*?)^## /ms;
my @rows = $table =~ m{\[[\w-]+/\]\(([\w-]+)/[^)]*\)}g;
is(join(' ', sort @rows), join(' ', sort @roots), 'README.md has a row of each folder');

# Documents that the text names are there.
my @missing;
for my $file (sort keys %text) {
    my ($folder) = $file =~ m{^(.*/)};
    my %named = map { $_ => 1 } $text{$file} =~ m{(?<![\w/.])((?:doc|bench)/[\w/-]+\.md|$roots/README\.md)}g;
    if ($file =~ /\.md$/) {
        $named{($folder // '') . $_} = 1 for $text{$file} =~ m{\]\(([\w./-]+\.(?:md|svg|dat))\)}g;
        $named{$1} = 1 while $text{$file} =~ m{`($roots/[\w/.-]+\.(?:[ch]|cu|t|sh|pl|py|tab|awk|mk|list))`}g;
    }
    # What the build makes is not in the source tree.
    delete @named{qw(doc/routines.md ops/calls.h ops/operations.c ops/operations.h)};
    push @missing, map { "$file: $_" } grep { !-e } sort keys %named;
}
is(join("\n", @missing), '', 'all documents that the text names are there');

# Each entry of doc/limits.md, a row of a table or an item of a list, names a test, or says "no test" with a reason. A
# paragraph that introduces a list may do so for the list, and a section without entries in its text.
my ($section, $entries, $introduced, %without, %has) = ('', 0, 0);
for my $block (split /\n(?=\n|\| |#|- )/, $text{'doc/limits.md'}) {
    my $names = $block =~ m{`tests/\w+\.(?:c|t)`|\(no test: \w+} ? 1 : 0;
    if ($block =~ /^\s*#+ (.*)/) {
        ($section, $introduced) = ($1, 0);
        $has{$section} //= 0;
    } elsif ($block =~ /^\s*(?:\| (?!case \||kind \||---)|- )/) {
        $entries++;
        $without{"$section: " . substr $block, 0, 60} = 1 unless $names || $introduced && $block !~ /^\|/;
        $has{$section} = 1;
    } elsif ($block =~ /\S/ && $block !~ /^\s*\|/) {
        $introduced = $names;
        $has{$section} ||= $names;
    }
}
delete $has{Limits};
is(join("\n", sort keys %without), '', "each of $entries entries of doc/limits.md names a test");
is(join(', ', grep { !$has{$_} } sort keys %has), '', 'as does each section without entries');
cmp_ok($entries, '>', 90, 'the entries were read');

# Sources that comments and the READMEs of folders name by a name or a path: from the root, in the same folder of the
# root, or in the public interface.  A file of no folder is made by the build, or is an example.
my @files = map { s{^\./}{}r } split /\n/, `find @roots -type f`;
my (%path, %inside);
for my $file (@files) {
    $path{$file} = 1;
    my @parts = split m{/}, $file;
    $inside{$parts[0]}{join '/', @parts[$_ .. $#parts]} = 1 for 1 .. $#parts;
}
my $built = join ' ', map { $text{$_} } grep { /\.(?:mk|am)$/ } keys %text;
my %example = map { $_ => 1 } qw(prog.c prog.py solver.c);
my %foreign = map { $_ => 1 } qw(mkl_spblas.h Objects/locations.md complex.h);
sub is_there {
    my ($name, $file) = @_;
    my ($root, $last) = ($file =~ m{^([^/]+)/}, $name =~ m{([^/]+)$});
    return 1 if $path{$name} || $inside{$root}{$name} || $path{"include/semcache/$name"} || $path{"include/$name"} ||
        $example{$last};
    return 1 if $foreign{$name} || $name =~ /[A-Z]{3}|^_|^folder/;
    return $built =~ m{\b\Q$name\E\b} && ($name =~ m{/} || !grep { m{/\Q$name\E$} } @files);
}
my @nowhere;
for my $file (grep { m{/} && !m{^(?:doc|debian)/} } sort keys %text) {
    my @comments = $file =~ /\.(?:[ch]|cu|cuh|cc|cpp|inc)$/ ? $text{$file} =~ m{/\*(.*?)\*/}gs
        : $file =~ m{/README\.md$} ? $text{$file} =~ /`([^`]*)`/g
        : $file =~ /\.(?:md|list|1)$/ ? () : $text{$file} =~ /^\s*#(.*)$/mg;
    my $name = qr~(?<![\w/.<%*}-])((?:[\w-]+/)*[\w-]+\.(?:[ch]|cu|inc|awk|tab|t|py|mk|md|pl))\b(?![\w/:*])~;
    for my $comment (@comments) {
        while ($comment =~ /$name/g) {
            push @nowhere, "$file: $1" unless is_there($1, $file);
        }
    }
}
is(join("\n", @nowhere), '', 'all sources that comments name are there');
ok(!is_there('watch.c', 'coherence/protocol.h') && is_there('watch.c', 'host/host.h'),
    'a file of another folder is not there');

# The README of a folder, or of the folder above, names each source of the folder, without the ending of headers that
# belong to a source of the same name.
my @unnamed;
for my $file (grep { m{/} && /\.(?:c|cc|cu)$/ && !m{^(?:tests|bench|examples)/} } @files) {
    my ($folder, $name) = $file =~ m{^(.*)/([^/]+)$};
    next if ($text{$file} // '') =~ m{^/\* Generated from};
    while (!$text{"$folder/README.md"} && $folder =~ s{/[^/]*$}{}) {}
    push @unnamed, $file if ($text{"$folder/README.md"} // '') !~ m{`(?:[\w-]+/)*\Q$name\E`};
}
is(join("\n", @unnamed), '', 'the README of a folder names the sources of the folder');

# Functions and structs that documents name are in the code.
my %names;
for my $file (grep { /\.(?:[ch]|cu|tab|awk|inc)$/ } keys %text) {
    $names{$1} = 1 while $text{$file} =~ /\b(sc_\w+)/g;
}
my @unknown;
for my $file (grep { /\.md$/ } sort keys %text) {
    push @unknown, map { "$file: $_" } grep { !$names{$_} } $text{$file} =~ /`(?:struct )?(sc_\w+)`/g;
}
is(join("\n", @unknown), '', 'all functions and structs that documents name are in the code');
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
