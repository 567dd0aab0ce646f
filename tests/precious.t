#!/usr/bin/perl
# Files not written by semcache must stay as they are. Runs every option of every command, in wrong orders and with the
# FILE forgotten, and every variable that names a file, and compares the surrounding files afterwards.
use strict;
use warnings;
use Digest::MD5;
use Fcntl ':mode';
use POSIX ();
use Test::More;
require "$ENV{top_srcdir}/tests/examples.pl";

our ($build, $scratch, $device);
need('tools/semcache', 'tests/replayed');
my $traced = "$build/tests/replayed";
my $tool = "$build/tools/semcache";
my $folder = "$scratch/precious";
mkdir $folder or die;

system("$tool run --device emu:k20x2 --offload always --trace $folder/old.trace $traced > /dev/null 2>&1");
ok(-s "$folder/old.trace", 'there is a trace');
chdir $folder or die;
put('prog', "#!/bin/sh\nexit 0\n", 0755);
put('notes.c', "int main(void) { return 0; }\n");
put('other.json', "{\n  \"calls\": {}\n}\n");
put('locked', "{\n  \"semcache\": \"0.1.0\",\n", 0444);
put('twice', "SCTRACE\nand so on");
link 'twice', 'again';
symlink 'notes.c', 'link';
symlink 'none-such', 'dangling';
symlink '/dev/stderr', 'err';
mkdir 'folder';
POSIX::mkfifo('fifo', 0600);
my @foreign = ('./prog', qw(notes.c other.json locked twice again link dangling err folder fifo /dev/null /dev/stderr
    /dev/full));
my %precious = map { $_ => 1 } 'prog', grep({ !m{/} } @foreign), 'old.trace';

# Kind and contents of a file that has to stay.
sub state_of {
    my ($name) = @_;
    my @about = lstat $name or return 'gone';
    my $kind = sprintf '%o %d', $about[2], $about[1];
    return "$kind " . readlink $name if -l _;
    return $kind unless -f _;
    open my $in, '<', $name or return "$kind closed";
    return "$kind " . Digest::MD5->new->addfile($in)->hexdigest;
}
my %before = map { $_ => state_of($_) } keys %precious;
my @changed;

# Runs the command, notes changed files, and removes new files.
sub try {
    my (@line) = @_;
    my $child = fork // die;
    if (!$child) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', "$scratch/said";
        alarm 60;
        @ENV{qw(SEMCACHE_DEVICE XDG_CACHE_HOME)} = ('none', "$scratch/cache");
        exec { $tool } 'semcache', @line or POSIX::_exit(99);
    }
    waitpid $child, 0;
    my $status = $?;
    push @changed, "semcache @line: signal " . ($status & 127) if $status & 127;
    for my $name (sort keys %before) {
        my $now = state_of($name);
        push @changed, "semcache @line: $name" if $now ne $before{$name};
        $before{$name} = $now;
    }
    opendir my $all, '.' or die;
    for my $name (readdir $all) {
        unlink $name unless $name =~ /^\.\.?$/ || $precious{$name};
    }
    return $status >> 8;
}
sub unchanged {
    my ($title) = @_;
    ok(!@changed, $title) or diag(join "\n", @changed[0 .. (@changed > 10 ? 9 : $#changed)]);
    @changed = ();
}

# --- the options, as the command tells them --------------------------------------------------------

sub options_of {
    my ($command) = @_;
    my @options;
    for (split /\n/, qx($tool $command --help)) {
        next unless /^\s+(?:-(\S), )?\s*--([a-z-]+)(\[?)(?:=(\w+))?/;
        push @options, { short => $1, long => $2, optional => $3 ne '', takes => $4 };
    }
    return grep { $_->{long} !~ /^(help|usage|version)$/ } @options;
}
my @commands = map { /: +semcache \[OPTION...\] (\w+)/ ? $1 : () } qx($tool --help);
my ($choices) = qx($tool trace 2>&1) =~ /say: (.*)/;
my @traces = map { "trace $_" } $choices =~ /(\w+) FILE/g;
my %seen;
@commands = grep { !$seen{$_}++ && $_ ne 'trace' } @commands, @traces;
cmp_ok(scalar @commands, '>=', 7, "commands: @commands");
my %options = map { $_ => [options_of($_)] } @commands;
cmp_ok(scalar(map { @$_ } values %options), '>=', 20, 'they have options');

# --- every order -----------------------------------------------------------------------------------

my $turn = 0;
for my $command (@commands) {
    my @words = split / /, $command;
    try(@words);
    try(@words, $_) for './prog', 'notes.c', 'old.trace', $foreign[$turn++ % @foreign];
    for my $o (@{ $options{$command} }) {
        my $long = "--$o->{long}";
        for my $file ('./prog', 'notes.c', 'old.trace', $foreign[$turn++ % @foreign]) {
            my @with = $o->{takes} ? ("$long=$file") : ($long, $file);
            next if "@words $long" =~ /^run --trace/ && $file eq 'old.trace'; # asked for
            try(@words, @with);                     # the FILE is the last word: the program, or the input, is missing
            try(@words, @with, './prog', 'notes.c');
            try(@words, './prog', @with);
            try(@words, @with, './none-such');
            try(@words, @with, $command =~ /^trace/ ? 'old.trace' : $file);
            try(@words, "-$o->{short}$file", './prog') if $o->{short};
        }
        for my $next (@{ $options{$command} }) {
            try(@words, $long, "--$next->{long}", './prog', 'notes.c');
            try(@words, $long, "--$next->{long}", 'old.trace', './prog') unless "@words" eq 'run';
        }
    }
    unchanged("semcache $command: nothing but its own files changes");
}

# --- refused before anything happens ---------------------------------------------------------------

sub lines { open my $in, '<', "$scratch/said" or return (); return <$in> }
for my $command (@commands) {
    for my $o (grep { ($_->{takes} // '') eq 'FILE' } @{ $options{$command} }) {
        my @bad;
        for my $file (@foreign, $command eq 'trace replay' || $o->{long} ne 'trace' ? 'old.trace' : ()) {
            my $status = try(split(/ /, $command), "--$o->{long}", $file,
                             $command eq 'run' ? './prog' : $command =~ /^trace/ ? 'old.trace' : ());
            my @said = lines();
            push @bad, "$file: $status: @said" unless $status == 2 && @said == 1 && $said[0] =~ /--$o->{long}.*;/;
        }
        ok(!@bad, "semcache $command --$o->{long}: refused, in one line with a remedy") or diag(@bad);
    }
}
unchanged('and nothing changes');
is(try('run', '--stats', 'new', '--explain', 'new', './prog'), 2, 'one name for two files is refused');
try('run', '--stats', 'mine', './prog');
put('mine', "{\n  \"semcache\": \"0.0\"\n}\n");
is(system("cd $folder && $tool run --stats mine ./none-such 2>/dev/null") >> 8, 127, 'a program that is not there');
ok(-s 'mine', 'leaves the statistics of an earlier run');
system("cd $folder && $tool run -d none --stats mine $traced > /dev/null");
like(slurp('mine'), qr/wall_seconds/, 'one that is there replaces them');
is((stat 'mine')[2] & 0777, 0600, 'and nobody else may read them');
unlink 'mine';

# --- the library by itself -------------------------------------------------------------------------

for my $variable (qw(SEMCACHE_STATS SEMCACHE_TRACE SEMCACHE_EXPLAIN)) {
    my @bad;
    for my $file (@foreign, $variable ne 'SEMCACHE_TRACE' ? 'old.trace' : ()) {
        my $text = qx($variable=$file $tool run -d emu:k20x2 $traced 2>&1 >/dev/null);
        push @bad, "$file: $?: $text" unless $? == 0 && $text =~ /^semcache: warning: [^\n]*; [^\n]*\n\z/;
    }
    ok(!@bad, "$variable: one line, and the program goes on") or diag(@bad);
    try('info');
    unchanged("$variable: nothing else changes");
}
{
    my @bad;
    for my $file (@foreign) {
        next if $file eq 'fifo';
        system("SEMCACHE_DATABASE=$file SEMCACHE_OFFLOAD=always $tool run -d emu:k20x2 $traced >/dev/null 2>&1");
        push @bad, "$file: $?" if $?;
    }
    ok(!@bad, 'SEMCACHE_DATABASE is only read') or diag(@bad);
    try('info');
    unchanged('and stays');
}

# --- no room ---------------------------------------------------------------------------------------

put('mine', my $old = "{\n  \"semcache\": \"0.0\"\n}\n");
my $said = qx(SEMCACHE_STATS=mine prlimit --fsize=0 $tool run -d none $traced 2>&1 >/dev/null);
is($?, 0, 'no room for statistics is no end of the program');
like($said, qr/^semcache: warning: cannot write the statistics mine: File too large; [^\n]*\n\z/, 'one line says so');
is(slurp('mine'), $old, 'the old statistics are still there');
unlink 'mine';
for my $line ('info', '--help', '--version', 'info --help',
              map { "trace $_ old.trace" } 'dump', 'explain', 'dump --summary', 'check') {
    is(system("$tool $line > /dev/full 2>$scratch/said") >> 8, 1, "semcache $line: a full disk is a failure");
    like(join('', lines()), qr/^semcache: cannot write the output: [^\n]*\n\z/, 'in one line');
}
chdir '/';
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
