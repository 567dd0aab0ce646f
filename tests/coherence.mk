# Tests of coherence: host, directory, protocol and emulated devices together
EXTRA_DIST += tests/coherence_env.h tests/submit_env.h tests/offloaded.h
COHERENCE_TESTS = tests/coherence_random tests/coherence_states tests/coherence_threads \
	tests/coherence_memory tests/coherence_push tests/coherence_scarce tests/coherence_sources \
	tests/coherence_routes tests/coherence_sharing tests/coherence_exchange tests/coherence_levels \
	tests/coherence_check tests/coherence_patterns tests/coherence_keep_open tests/coherence_withdraw
check_PROGRAMS += $(COHERENCE_TESTS)
TESTS += $(COHERENCE_TESTS)
tests_coherence_keep_open_SOURCES = tests/coherence_keep_open.c
tests_coherence_keep_open_LDADD = libcore.la -ldl -lm
tests_coherence_patterns_SOURCES = tests/coherence_patterns.c
tests_coherence_patterns_LDADD = libcore.la
tests_coherence_check_SOURCES = tests/coherence_check.c tests/heard.h
tests_coherence_check_LDADD = libcore.la
tests_coherence_levels_SOURCES = tests/coherence_levels.c
tests_coherence_levels_LDADD = libcore.la
tests_coherence_memory_SOURCES = tests/coherence_memory.c
tests_coherence_memory_LDADD = libcore.la
tests_coherence_push_SOURCES = tests/coherence_push.c
tests_coherence_push_LDADD = libcore.la
tests_coherence_sources_SOURCES = tests/coherence_sources.c
tests_coherence_sources_LDADD = libcore.la
tests_coherence_sharing_SOURCES = tests/coherence_sharing.c
tests_coherence_sharing_LDADD = libcore.la
tests_coherence_exchange_SOURCES = tests/coherence_exchange.c
tests_coherence_exchange_LDADD = libcore.la
tests_coherence_exchange_LDFLAGS = -Wl,--wrap=sc_exchange_choose,--wrap=sc_exchange_chunks
tests_coherence_routes_SOURCES = tests/coherence_routes.c
tests_coherence_routes_LDADD = libcore.la
tests_coherence_scarce_SOURCES = tests/coherence_scarce.c
tests_coherence_scarce_LDADD = libcore.la
tests_coherence_withdraw_SOURCES = tests/coherence_withdraw.c
tests_coherence_withdraw_LDADD = libcore.la
tests_coherence_random_SOURCES = tests/coherence_random.c
tests_coherence_random_LDADD = libcore.la
tests_coherence_states_SOURCES = tests/coherence_states.c
tests_coherence_states_LDADD = libcore.la
tests_coherence_threads_SOURCES = tests/coherence_threads.c
tests_coherence_threads_LDADD = libcore.la
# What assertions say (--enable-assertions).
check_PROGRAMS += tests/assertions
tests_assertions_SOURCES = tests/assertions.c tests/coherence_env.h tests/heard.h
tests_assertions_LDADD = libcore.la
TESTS += tests/assertions
# Every order of events of small programs, and mutants that this test must find.
check_PROGRAMS += tests/coherence_orders
tests_coherence_orders_SOURCES = tests/coherence_orders.c tests/explore/explore.h tests/explore/device.h \
	tests/explore/device.c tests/explore/programs.c tests/explore/run.c tests/explore/state.c
tests_coherence_orders_LDADD = libcore.la
tests_coherence_orders_LDFLAGS = -Wl,--wrap=sc_fences_sync,--wrap=sc_device_kernel_host,--wrap=sc_protocol_lost \
	-Wl,--wrap=sc_log,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock,--wrap=sc_cond_wait \
	-Wl,--wrap=pthread_cond_broadcast
dist_check_SCRIPTS += tests/coherence_mutants.t
TESTS += tests/coherence_orders tests/coherence_mutants.t
LONG_TESTS += tests/coherence_orders tests/coherence_mutants.t
# Locks under helgrind, memory under memcheck.
dist_check_SCRIPTS += tests/helgrind.t tests/memcheck.t
TESTS += tests/helgrind.t tests/memcheck.t
LONG_TESTS += tests/memcheck.t
EXTRA_DIST += tests/helgrind.supp
# Devices fail at every operation in turn.
check_PROGRAMS += tests/fault_sweep
tests_fault_sweep_SOURCES = tests/fault_sweep.c
tests_fault_sweep_LDADD = libcore.la
TESTS += tests/fault_sweep
LONG_TESTS += tests/fault_sweep tests/coherence_memory
# The cost of operands at home for a call on the host.
check_PROGRAMS += tests/host_steps
tests_host_steps_SOURCES = tests/host_steps.c tests/coherence_env.h
tests_host_steps_LDADD = libcore.la
dist_check_SCRIPTS += tests/host_steps.t
TESTS += tests/host_steps.t
# The cost of a call on the host with operands at home.
check_PROGRAMS += tests/host_calls
tests_host_calls_SOURCES = tests/host_calls.c bench/host_path.h
tests_host_calls_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/host_calls.t
TESTS += tests/host_calls.t
# SPDX-License-Identifier: BSD-2-Clause
