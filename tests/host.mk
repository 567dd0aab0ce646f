# Tests of host: memory half
EXTRA_DIST += tests/host_fake.h
HOST_MEMORY_TESTS = tests/host_arena tests/host_malloc tests/host_mmap tests/host_io tests/host_fork tests/self_mem \
	tests/host_closed tests/host_descriptors tests/host_mpi tests/host_next tests/host_changes
check_PROGRAMS += $(HOST_MEMORY_TESTS)
TESTS += $(HOST_MEMORY_TESTS)
tests_host_arena_SOURCES = tests/host_arena.c
tests_host_arena_LDADD = libcore.la
check_PROGRAMS += tests/malloc_cost
tests_malloc_cost_SOURCES = tests/malloc_cost.c
tests_malloc_cost_LDADD = libcore.la
dist_check_SCRIPTS += tests/malloc_cost.t
TESTS += tests/malloc_cost.t
tests_host_malloc_SOURCES = tests/host_malloc.c
tests_host_malloc_LDADD = libcore.la
tests_host_next_SOURCES = tests/host_next.c
tests_host_next_LDADD = libcore.la
tests_host_changes_SOURCES = tests/host_changes.c
tests_host_changes_LDADD = libcore.la
check_LTLIBRARIES += tests/changes.la
tests_changes_la_SOURCES = tests/changes.c
tests_changes_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_host_mmap_SOURCES = tests/host_mmap.c
tests_host_mmap_LDADD = libcore.la
tests_host_io_SOURCES = tests/host_io.c
tests_host_io_LDADD = libcore.la
tests_host_fork_SOURCES = tests/host_fork.c
tests_host_fork_LDADD = libcore.la
tests_self_mem_SOURCES = tests/self_mem.c
tests_self_mem_LDADD = libcore.la
tests_host_closed_SOURCES = tests/host_closed.c
tests_host_closed_LDADD = libcore.la
tests_host_descriptors_SOURCES = tests/host_descriptors.c
tests_host_descriptors_LDADD = libcore.la
tests_host_mpi_SOURCES = tests/host_mpi.c
tests_host_mpi_LDADD = libcore.la

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
dist_check_SCRIPTS += tests/fault_sig_symbols.t tests/libc_state.t
TESTS += tests/host_protect tests/host_window tests/host_fault tests/host_threads tests/fault_sig_symbols.t \
	tests/libc_state.t

# Programs with threads and memory of every kind, and calls that hand memory to the kernel, under tools/semcache.
if HAVE_BLAS
check_PROGRAMS += tests/kernel_access tests/kernel_own tests/syscalls tests/memkinds tests/outside tests/strict \
	tests/leak tests/thread_kinds tests/cgroup
check_PROGRAMS += tests/libc_state tests/libc_processes
tests_libc_state_SOURCES = tests/libc_state.c tests/libc_state.h
tests_libc_state_LDADD = $(BLAS_LIBS) -lpthread -lrt
tests_libc_processes_SOURCES = tests/libc_processes.c tests/libc_state.h
tests_libc_processes_LDADD = $(BLAS_LIBS) -ldl -lpthread
tests_cgroup_SOURCES = tests/cgroup.c
tests_cgroup_LDADD = $(BLAS_LIBS)
tests_outside_SOURCES = tests/outside.c tests/past_libc.h
tests_outside_LDADD = $(BLAS_LIBS) -ldl -lpthread
tests_kernel_access_SOURCES = tests/kernel_access.c
tests_kernel_access_LDADD = $(BLAS_LIBS) -lrt
tests_kernel_own_SOURCES = tests/kernel_own.c
tests_kernel_own_LDADD = $(BLAS_LIBS) -lpthread
tests_syscalls_SOURCES = tests/syscalls.c
nodist_tests_syscalls_SOURCES = tests/trials.h
tests_syscalls_LDADD = $(BLAS_LIBS) -ldl -lpthread -lrt
tests/tests_syscalls-syscalls.$(OBJEXT) tests/syscalls.$(OBJEXT): tests/trials.h
tests_leak_SOURCES = tests/leak.c
tests_leak_LDADD = $(BLAS_LIBS)
tests_strict_SOURCES = tests/strict.c tests/past_libc.h
tests_strict_LDADD = $(BLAS_LIBS)
tests_thread_kinds_SOURCES = tests/thread_kinds.c
tests_thread_kinds_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
tests_thread_kinds_LDADD = $(BLAS_LIBS) -lpthread
tests_memkinds_SOURCES = tests/memkinds.c
tests_memkinds_LDADD = $(BLAS_LIBS) -ldl -lpthread
endif
dist_check_SCRIPTS += tests/kernel_access.t tests/memkinds.t tests/outside.t tests/strict.t tests/leak.t \
	tests/thread_kinds.t tests/cgroup.t tests/libc_symbols.t tests/syscalls.t
EXTRA_DIST += tests/libc_symbols.list
TESTS += tests/kernel_access.t tests/memkinds.t tests/outside.t tests/strict.t tests/leak.t \
	tests/thread_kinds.t tests/cgroup.t tests/libc_symbols.t tests/syscalls.t
LONG_TESTS += tests/memkinds.t tests/leak.t
# SPDX-License-Identifier: BSD-2-Clause
