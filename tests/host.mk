# Tests of host: memory half
EXTRA_DIST += tests/host_fake.h
HOST_MEMORY_TESTS = tests/host_arena
check_PROGRAMS += $(HOST_MEMORY_TESTS)
TESTS += $(HOST_MEMORY_TESTS)
tests_host_arena_SOURCES = tests/host_arena.c
tests_host_arena_LDADD = libcore.la

# Tests of host: fault half
