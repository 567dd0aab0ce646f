# host: memory half (whose address is this; the malloc and mmap families, I/O, fork)
libcore_la_SOURCES += host/host.h host/host_int.h host/callbacks.c

# host: fault half (protection, fault handler, pager)
