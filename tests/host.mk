# Tests of host: memory half
EXTRA_DIST += tests/host_fake.h
HOST_MEMORY_TESTS = tests/host_arena
check_PROGRAMS += $(HOST_MEMORY_TESTS)
TESTS += $(HOST_MEMORY_TESTS)
tests_host_arena_SOURCES = tests/host_arena.c
tests_host_arena_LDADD = libcore.la

# Tests of host: fault half
check_PROGRAMS += tests/host_protect tests/host_window tests/host_fault tests/host_threads
tests_host_protect_SOURCES = tests/host_protect.c tests/host_stub.h
tests_host_protect_LDADD = libcore.la
tests_host_window_SOURCES = tests/host_window.c tests/host_stub.h
tests_host_window_LDADD = libcore.la
tests_host_fault_SOURCES = tests/host_fault.c tests/host_stub.h
tests_host_fault_LDADD = libcore.la
tests_host_threads_SOURCES = tests/host_threads.c tests/host_stub.h
tests_host_threads_LDADD = libcore.la
dist_check_SCRIPTS += tests/fault_sig_symbols.t
TESTS += tests/host_protect tests/host_window tests/host_fault tests/host_threads tests/fault_sig_symbols.t
