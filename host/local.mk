# host: memory half (whose address is this; the malloc and mmap families, I/O, fork)
libcore_la_SOURCES += host/host.h host/host_int.h host/callbacks.c \
	host/arena.h host/arena.c host/span.h host/span.c host/malloc.c host/mmap.c host/next.h host/next.c \
	host/io.c host/io_calls.h host/uses.h host/uses.c host/raw.c host/fork.h host/fork.c host/rawmem.c
EXTRA_DIST += host/README.md

# host: fault half (protection, fault handler, pager)
libcore_la_SOURCES += host/fault_int.h host/fault_sig.h host/fault_sig.c host/chain_sig.c host/front.h \
	host/front_sigaction.c host/front_sigsegv.c host/faults.c host/pager.c host/protect.c host/signals.c host/window.c
