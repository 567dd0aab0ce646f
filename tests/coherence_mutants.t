#!/usr/bin/perl
# Mutants of the protocol that coherence_orders, or coherence_random, has to find: one line is left out or wrong. A
# mutant is a changed copy of a source file, compiled and linked before the library's own object. make check tries a few
# mutants, make check-long every one.
use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::More;

my ($src, $build) = @ENV{qw(top_srcdir top_builddir)};
my $scratch = tempdir(CLEANUP => 1);
my %parts = (
    coherence_orders => [map { "$build/tests/$_.o" }
            qw(coherence_orders explore/run explore/device explore/programs explore/state)],
    coherence_random => ["$build/tests/coherence_random.o"],
);

# The defect, the source file, the text to replace, the replacement, the program that finds the defect (without a
# name: coherence_orders).
my @mutants = (
    ['other devices keep what one has written', 'protocol',
        'if (d != device && (lost = assign(m, t, d, sectors, false)) && sc_protocol.check)',
        'if (d != device && sc_protocol.check && (lost = assign(m, t, d, sectors, false)))'],
    ['pages stay open for writing while they are uploaded', 'protocol',
        "    if (alone)\n" .
        '        paint_sectors(m, t, alone);',
        '    (void)alone;'],
    ['a window in flight opens pages that a kernel has written since', 'protocol',
        "        sc_partial_cancel(m, lo, hi);\n" .
        '        if (m->home_count',
        '        if (m->home_count'],
    ['an upload still reads what the eviction of its copy has opened', 'protocol',
        'return sc_protocol_device_has(m, g) || sc_protocol_uploading(m, g) ? SC_PROT_R : SC_PROT_RW;',
        'return sc_protocol_device_has(m, g) ? SC_PROT_R : SC_PROT_RW;'],
    ['pages are closed and nobody notes it', 'protocol',
        'sc_closed_set(m, j, r->closed, r->none | m->closed[SC_CLOSED_READ].sectors[j], r->closed);',
        ';'],
    ['pages are closed for reading and noted as closed for writing only', 'protocol',
        'sc_closed_set(m, j, r->closed, r->none | m->closed[SC_CLOSED_READ].sectors[j], r->closed);',
        'sc_closed_set(m, j, r->closed, 0, r->closed);'],
    ['a sector of home pages is valid before what is written back has landed', 'protocol',
        "        if (!sc_reached(sc_matrix_tile(m, i, g / SC_SECTORS)->landed[g % SC_SECTORS]))\n" .
        '            return;',
        '        ;'],
    ['the CPU writes under an upload', 'acquire',
        "                    sc_fences_add(w, f[k]);\n" .
        '                    all = false;',
        '                    sc_fences_add(w, f[k]);'],
    ['pages open before the bytes have landed', 'acquire',
        '        if (!sc_landed(t->landed[s])) {',
        '        if (0) {'],
    ['memory is used anew while a transfer uses it', 'release',
        '    sc_fences_sync(&transfers);',
        '    ;'],
    ['sent home before the kernel has written it', 'transfer',
        'status = sc_order(from, SC_STREAM_D2H, t->copy[from].ready[i]);',
        'status = SC_OK;'],
    ['a kernel still uses what an upload overwrites', 'transfer',
        'enum sc_status status = sc_order_overwriting(device, device, SC_STREAM_H2D, t, s, e);',
        'enum sc_status status = SC_OK;'],
    ['copied to another device before it was written', 'exchange',
        'status = sc_order(on, stream, source->ready[i]);',
        'status = SC_OK;'],
    ['a kernel still uses what another device sends', 'exchange',
        'enum sc_status status = sc_order_overwriting(v->to, on, stream, v->t, v->s, v->e);',
        'enum sc_status status = SC_OK;'],
    ['written anew while another device fetches it', 'exchange',
        '    v->t->copy[v->from].reader[v->to] = f;',
        ''],
    ['used on a device before another has sent it', 'exchange',
        '    c->pending |= sc_sectors_range(v->s, v->e);',
        ''],
    ['valid where a device refused to send it', 'exchange',
        "            if (*here != SC_OK)\n" .
        '                failed(v);',
        '            ;'],
    ['home lands under an upload', 'transfer',
        '        status = sc_order(from, SC_STREAM_D2H, t->read_apart[d]);',
        '        status = SC_OK;'],
    ['home lands under an upload to another device', 'transfer',
        '        status = sc_order(from, SC_STREAM_D2H, t->read[i]);',
        '        status = SC_OK;'],
    ['a kernel writes what is being copied out', 'task',
        '            status = sc_order(device, SC_STREAM_COMPUTE, c->reader[i]);',
        '            status = SC_OK;'],
    ['a kernel runs before its input is there', 'task',
        '        status = sc_order(device, SC_STREAM_COMPUTE, c->ready[__builtin_ctzll(rest)]);',
        '        status = SC_OK;'],
    ['memory is freed that is in use', 'memory',
        'sc_protocol.ops->free(device, c->memory, users, count);',
        'sc_protocol.ops->free(device, c->memory, users, 0);'],
    ['evicted without being written back', 'evict',
        "    sc_transfer_evicted(m, t, only_here(device, t));\n",
        ''],
    ['windows open before they have landed', 'partial_fetch',
        "static bool landed(const struct sc_window *w, bool *good)\n" .
        "{\n" .
        '    *good = true;',
        "static bool landed(const struct sc_window *w, bool *good)\n" .
        "{\n" .
        "    *good = true;\n" .
        '    if (w) return true;'],

    ['calls go on between the preparation of a fork and its end', 'fork',
        "    sc_protocol_resume_calls(); /* they wait for the lock */\n" .
        "}\n" .
        "\n" .
        "void sc_coherence_fork_parent(void)\n" .
        "{\n",
        "    sc_protocol_resume_calls();\n" .
        "    sc_protocol_unlock();\n" .
        "}\n" .
        "\n" .
        "void sc_coherence_fork_parent(void)\n" .
        "{\n" .
        "    sc_protocol_lock();\n"],
    ['kernels run on in a fork', 'fork',
        "    wait_for_kernels();\n" .
        '    sc_protocol_resume',
        "    (void)wait_for_kernels;\n" .
        '    sc_protocol_resume'],
    ['a device writes what a form was made of, and it counts as good', 'protocol',
        "    if (t->linked & sectors)\n" .
        '        unlink_sectors(m, t, sectors);',
        '    (void)unlink_sectors;'],
    ['the CPU writes what a form was made of, and it counts as good', 'protocol',
        "        if (t->linked & bit)\n" .
        '            unlink_sectors(m, t, bit);',
        '        ;'],
    ['pages of what a form was made of stay open', 'protocol',
        "    if (fresh)\n" .
        '        paint_sectors(m, t, fresh);',
        '    (void)fresh;'],
    ['a form is overwritten while a kernel reads it', 'derived',
        'status = sc_order(f->device, SC_STREAM_H2D, f->used);',
        'status = SC_OK;'],
    ['the CPU writes what a form is being made of', 'derived',
        'sc_matrix_tile(r->m, i, j)->host_read[f->device] = fence;',
        ';'],
    ['a form is copied from a device that has yet to compute it', 'derived',
        'status = sc_order(f->device, stream, t->copy[r->from].ready[g % SC_SECTORS]);',
        'status = SC_OK;'],
    ['a kernel writes what a form is being copied from', 'derived',
        'f->ready = c->reader[f->device] = fence;',
        'f->ready = fence;'],
    ['a product reads a form that is not there yet', 'derived_task',
        'enum sc_status status = sc_order(device, SC_STREAM_COMPUTE, w->form->ready);',
        'enum sc_status status = SC_OK;'],
    ['a form is freed that is in use', 'derived_memory',
        'ops->free(f->device, f->memory, users, 2);',
        "ops->free(f->device, f->memory, users, 0);"],
    ['what a dead device was sending home counts as there', 'loss',
        'sc_protocol.ops->sync(t->landed[s]) != SC_OK)',
        'sc_protocol.ops->sync(t->landed[s]) == SC_ERR_INVALID)'],
    ['what comes home is not asked for its success', 'loss',
        "    if (sc_sync(f) != SC_OK)\n" .
        "        sc_devices_look();\n" .
        '    return true;',
        '    return true;'],
    ['nor what comes home by windows', 'partial_fetch',
        '*good &= sc_sync(w->fences.f[i]) == SC_OK;',
        '*good &= true;'],
    ['data is given up after one refusal', 'transfer',
        "        if (try_land(r, s, e, f) != SC_OK) {\n" .
        '            sc_device_lost',
        "        if (from >= 0) {\n" .
        '            sc_device_lost'],
    ['work whose end was not marked is given up after one refusal', 'order',
        '        status = sc_protocol.ops->mark(device, stream, f);',
        '        ;'],
    ['a task of the program may lose an operand to the next operand', 'own_task',
        "    pin(w, 1);\n",
        ''],
    ['nobody notes what a task of the program has written', 'own_task',
        '            sc_task_release(w->device, &w->pieces[i], &w->targets[i], w->fence);',
        '            ;'],
    ['the copy of a token is used anew before it has been written back', 'task',
        '        sc_protocol.ops->free(device, memory, &f, 1);',
        '        sc_protocol.ops->free(device, memory, &f, 0);'],
    ['a kernel writes to leased memory', 'task',
        'if (status == SC_OK && c->lease && (p->access & SC_WRITE || need & (~c->valid | c->partial)))',
        'if (0)'],
    ['a sector arrives in leased memory', 'transfer',
        'if (need && t->copy[device].lease) {',
        'if (0) {'],
    ['a tile moves off leased memory without its contents', 'memory',
        'if (c->valid && copy_over(',
        'if (0 && copy_over('],
    ['leased memory is free when its array leaves', 'memory',
        "        sc_lease_keep(c, users, count);\n" .
        '    else',
        '        sc_lease_keep(c, users, count);'],
    ['memory is free before its lease has ended', 'lease',
        'l->user[l->users++] = f;',
        ';'],
    ['sectors arrive before the last kernel of a lease has read', 'lease',
        'l->copy->used[s] = f;',
        ';'],
    ['rows of a partial sector that only the host has are overwritten by a fetch', 'transfer',
        "        struct sc_rows rows = rows_at(t, from, s);\n" .
        '        struct rect r = {m, t, rows.from, rows.end,',
        "        struct sc_rows rows = sc_tile_rows(t);\n" .
        '        struct rect r = {m, t, rows.from, rows.end,', 'coherence_random'],
    ['a window overwrites rows above those of a partial sector', 'transfer',
        'rows.from, rows.end, sc_tile_sector_col(m, t, s), sc_tile_sector_end',
        'r0, rows.end, sc_tile_sector_col(m, t, s), sc_tile_sector_end', 'coherence_random'],
    ['a window overwrites rows below those of a partial sector', 'transfer',
        'rows.from, rows.end, sc_tile_sector_col(m, t, s), sc_tile_sector_end',
        'rows.from, r1, sc_tile_sector_col(m, t, s), sc_tile_sector_end', 'coherence_random'],
    ['a window of a vector with partial sectors', 'partial_fetch',
        ' && !sc_transfer_is_partial(m)', '', 'coherence_random'],
    ['partial sectors of different rows go home together', 'transfer',
        'sc_rows_equal(rows_at(t, from, s), rows_at(t, from, with))', 'with >= 0', 'coherence_random'],
    ['a task runs on rows that the device lacks', 'task',
        'return lacking ? sc_transfer_rest(device, x->m, x->t, lacking) : status;', '(void)lacking; return status;',
        'coherence_random'],
    ['a partial sector counts as whole without its lower rows', 'transfer',
        'status = upload_rows(device, m, t, s, here.end, all.end);', ';', 'coherence_random'],
    ['a partial sector counts as whole without its upper rows', 'transfer',
        'status = upload_rows(device, m, t, s, all.from, here.from);', ';', 'coherence_random'],
    ['a sector that a kernel has overwritten stays partial', 'task',
        'sc_protocol_completed(x->t, device, x->full);', ';', 'coherence_random'],
    ['a sector that leaves the device stays partial', 'protocol',
        't->copy[device].partial &= ~changed;', ';', 'coherence_random'],
);

sub slurp { my ($path) = @_; open my $in, '<', $path or die "$path: $!"; local $/; return <$in> }

my $makefile = slurp("$build/Makefile") =~ s/\\\n//gr;
my %make = $makefile =~ /^(CC|SIGSEGV_LIBS|LIBS|TSAN_CFLAGS|TSAN_LDFLAGS|tests_coherence_orders_LDFLAGS) = (.*)$/mg;
my $compile = "$make{CC} -std=gnu11 -O1 $make{TSAN_CFLAGS} -pthread -I$scratch -I$src -I$src/include -I$build";
my $link = "$make{CC} $make{TSAN_LDFLAGS} -pthread";
my $libraries = "$build/.libs/libcore.a $make{SIGSEGV_LIBS} $make{LIBS} -lm";
plan skip_all => 'the programs were not built, or no compiler is here'
  if grep({ !-e } map({ @$_ } values %parts), "$build/.libs/libcore.a")
  || system("$make{CC} --version >/dev/null 2>&1");
mkdir "$scratch/coherence" or die;

# Position of a text that another one contains exactly once; else undef.
sub place {
    my ($text, $what) = @_;
    my $at = index $text, $what;
    return $at < 0 || index($text, $what, $at + 1) >= 0 ? undef : $at;
}

# The text of every defect is in the source, also of the defects that this run does not build.
sub is_there { my ($file, $what) = @_; return -e $file && defined place(slurp($file), $what) }
my @gone = grep { !is_there("$src/coherence/$_->[1].c", $_->[2]) } @mutants;
is(join("\n", map { "$_->[1].c: $_->[0]" } @gone), '', 'every defect has its place in the source');

# Builds a program with the defect.
sub build {
    my ($file, $what, $instead, $program) = @_;
    my $wraps = $make{"tests_${program}_LDFLAGS"} // '';
    my $text = slurp("$src/coherence/$file.c");
    my $at = place($text, $what) // return 'is not in the source any more';
    substr $text, $at, length $what, $instead;
    open my $out, '>', "$scratch/coherence/$file.c" or die;
    print $out $text;
    close $out;
    my $said = qx($compile -c -o $scratch/mutant.o $scratch/coherence/$file.c 2>&1 &&
        $link $wraps -o $scratch/mutant $scratch/mutant.o @{ $parts{$program} } $libraries 2>&1);
    unlink "$scratch/coherence/$file.c";
    return $? ? $said : undef;
}

my $stride = $ENV{SEMCACHE_TEST_LONG} ? 1 : 5;
$ENV{SEMCACHE_TEST_STATES} = $ENV{SEMCACHE_TEST_LONG} ? 1_000_000 : 4000; # the programs of the table only
for (my $i = 0; $i < @mutants; $i += $stride) {
    my ($bug, $file, $what, $instead, $program) = @{ $mutants[$i] };
    my $trouble = build($file, $what, $instead, $program // 'coherence_orders');
    if (defined $trouble) {
        fail("$bug: built");
        diag($trouble);
        next;
    }
    my $said = qx(ulimit -c 0; timeout -k 5 300 $scratch/mutant 2>&1);
    my $crashed = $? & 127 || ($? >> 8 > 128 && $? >> 8 != 137); # 137: after the time of `timeout`
    my $found = $said =~ /^not ok/m ? 'found' : $crashed ? 'crashed' : 'not found';
    my ($how) = $said =~ /^# (.*?) after/m;
    isnt($found, 'not found', "$bug: " . ($how // $found));
}
done_testing();
# SPDX-License-Identifier: BSD-2-Clause
