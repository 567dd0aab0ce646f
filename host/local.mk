# host: memory half (the arena, the malloc and mmap families, I/O, fork)
libcore_la_SOURCES += host/host.h host/host_int.h host/callbacks.c \
	host/arena.h host/arena.c host/span.h host/span.c host/zone.c host/machine_memory.c host/malloc.c \
	host/mmap.c host/next.h host/next.c host/libc.h host/libc.c host/exec.c host/jumps.c host/touch.h host/touch.c \
	host/libc_names.h host/syscall_ranges.h host/syscall_ranges.c host/raw.c \
	host/strict.h host/strict.c host/fork.h host/fork.c host/process.h host/process.c \
	host/watch.h host/watch.c host/watch_wp.c \
	host/watch_mprotect.c host/watch_sig.c host/mapping_lifetime.c \
	host/stacks.h host/stacks.c
nodist_libcore_la_SOURCES += host/libc_calls.h
libcore_la_SOURCES += host/mpi.h host/mpi.c host/mpi_calls.h host/mpi_pending.c host/mpi_touch.c
EXTRA_DIST += host/README.md host/mpi_names.h host/libc_state.tab

# The names that the library exports for MPI, one a line, for the version script.
host/exports.list: $(srcdir)/host/mpi_names.h $(srcdir)/host/mpi_calls.h
	$(AM_V_GEN)$(MKDIR_P) host && $(CPP) -P -I$(srcdir) $(srcdir)/host/mpi_names.h | tr -s ' ' '\n' | grep . > $@.new && \
	  mv $@.new $@
noinst_DATA += host/exports.list
CLEANFILES += host/exports.list

# Interposers of libc's functions and system calls that hand memory to the kernel.
generate_calls = $(MKDIR_P) host && $(AWK) -f $(srcdir)/host/syscalls.awk
calls_source = $(srcdir)/host/syscalls.tab $(srcdir)/host/syscalls.awk
host/libc_calls.h: $(calls_source)
	$(AM_V_GEN)$(generate_calls) -v what=calls $(srcdir)/host/syscalls.tab > $@.new && mv $@.new $@
host/syscalls.list: $(calls_source)
	$(AM_V_GEN)$(generate_calls) -v what=exports $(srcdir)/host/syscalls.tab > $@.new && mv $@.new $@
tests/trials.h: $(calls_source)
	$(AM_V_GEN)$(MKDIR_P) tests && $(generate_calls) -v what=trials $(srcdir)/host/syscalls.tab > $@.new && mv $@.new $@
BUILT_SOURCES += host/libc_calls.h
noinst_DATA += host/syscalls.list
CLEANFILES += host/libc_calls.h host/syscalls.list tests/trials.h
EXTRA_DIST += host/syscalls.tab host/syscalls.awk

# host: fault half (protection, fault handler, pager)
libcore_la_SOURCES += host/fault_int.h host/fault_sig.h host/fault_sig.c host/chain_sig.c host/front.h \
	host/front_sigaction.c host/front_sigsegv.c host/faults.c host/masks.c host/contexts.c \
	host/notify.c host/pager.c host/protect.c host/signals.c host/threads.c host/read_ahead.c

# These functions may run before a sanitizer has started: the sanitizer or a constructor calls them.  They are therefore
# not instrumented.  (A pattern each: a rule with their names would replace
# Automake's.)
host/libcore_la-ma%.lo host/libcore_la-mma%.lo host/libcore_la-nex%.lo: SANITIZER_CFLAGS =
host/libcore_la-proce%.lo host/libcore_la-tou%.lo host/libcore_la-jum%.lo \
  host/libcore_la-lib%.lo host/libcore_la-exe%.lo \
  host/libcore_la-ra%.lo host/libcore_la-signal%.lo host/libcore_la-sysc%.lo \
  host/libcore_la-stac%.lo base/libcore_la-loade%.lo: SANITIZER_CFLAGS =
# SPDX-License-Identifier: BSD-2-Clause
