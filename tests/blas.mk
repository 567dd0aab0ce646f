# Tests of blas
#
# The veneers, in programs that export their symbols: the host BLAS calls back into the veneers, as in a real program.
check_PROGRAMS += tests/blas_veneers_all
tests_blas_veneers_all_SOURCES = tests/blas_veneers_all.c tests/blas_data.h
nodist_tests_blas_veneers_all_SOURCES = blas/veneers/checks.h
tests_blas_veneers_all_LDADD = libveneers.la libcore.la -lm
tests_blas_veneers_all_LDFLAGS = -export-dynamic
tests/blas_veneers_all.$(OBJEXT): blas/veneers/checks.h
TESTS += tests/blas_veneers_all
check_PROGRAMS += tests/veneer_cost
tests_veneer_cost_SOURCES = tests/veneer_cost.c
tests_veneer_cost_LDADD = libveneers.la libcore.la
dist_check_SCRIPTS += tests/veneer_cost.t
TESTS += tests/veneer_cost.t
check_PROGRAMS += tests/blas_veneers
tests_blas_veneers_SOURCES = tests/blas_veneers.c
tests_blas_veneers_LDADD = libveneers.la libcore.la
tests_blas_veneers_LDFLAGS = -export-dynamic
TESTS += tests/blas_veneers
check_PROGRAMS += tests/blas_host_missing
tests_blas_host_missing_SOURCES = tests/blas_host_missing.c tests/veneers_fake.h
tests_blas_host_missing_LDADD = libveneers.la libcore.la
TESTS += tests/blas_host_missing
check_PROGRAMS += tests/lapack_missing
tests_lapack_missing_SOURCES = tests/lapack_missing.c
tests_lapack_missing_LDADD = libveneers.la libcore.la
TESTS += tests/lapack_missing
check_PROGRAMS += tests/blas_lacking
tests_blas_lacking_SOURCES = tests/blas_lacking.c tests/veneers_fake.h
tests_blas_lacking_LDADD = libveneers.la libcore.la
TESTS += tests/blas_lacking
check_PROGRAMS += tests/blas_first
tests_blas_first_SOURCES = tests/blas_first.c tests/veneers_fake.h
tests_blas_first_LDADD = libveneers.la libcore.la
TESTS += tests/blas_first
check_PROGRAMS += tests/opening_sum
tests_opening_sum_SOURCES = tests/opening_sum.c
tests_opening_sum_LDADD = libveneers.la libcore.la
TESTS += tests/opening_sum
# No BLAS at all: every routine is computed by loops.
check_PROGRAMS += tests/blas_loops
tests_blas_loops_SOURCES = tests/blas_loops.c tests/veneers_fake.h tests/blas_calls.h tests/blas_calls.c \
	tests/blas_random.h blas/verify/replay.h blas/verify/replay.c
nodist_tests_blas_loops_SOURCES = blas/veneers/replay_calls.h
tests_blas_loops_LDADD = libveneers.la libcore.la -ldl -lm
tests_blas_loops_LDFLAGS = -export-dynamic
TESTS += tests/blas_loops
# A BLAS that a program brings, in two copies, and a library linked with each copy.
check_PROGRAMS += tests/blas_program
tests_blas_program_SOURCES = tests/blas_program.c tests/veneers_fake.h
tests_blas_program_LDADD = libveneers.la libcore.la
tests_blas_program_LDFLAGS = -export-dynamic
TESTS += tests/blas_program
check_LTLIBRARIES += tests/libbundled.la tests/libbundled_other.la tests/libbundled_user.la \
	tests/libbundled_other_user.la
bundled_flags = -avoid-version -shared -rpath /nowhere
tests_libbundled_la_SOURCES = tests/bundled.c
tests_libbundled_la_CPPFLAGS = $(AM_CPPFLAGS) -DBUNDLED=1
tests_libbundled_la_LDFLAGS = $(bundled_flags)
tests_libbundled_other_la_SOURCES = tests/bundled.c
tests_libbundled_other_la_CPPFLAGS = $(AM_CPPFLAGS) -DBUNDLED=2
tests_libbundled_other_la_LDFLAGS = $(bundled_flags)
tests_libbundled_user_la_SOURCES = tests/bundled_user.c
tests_libbundled_user_la_LIBADD = tests/libbundled.la
tests_libbundled_user_la_LDFLAGS = $(bundled_flags)
tests_libbundled_other_user_la_SOURCES = tests/bundled_user.c
tests_libbundled_other_user_la_LIBADD = tests/libbundled_other.la
tests_libbundled_other_user_la_LDFLAGS = $(bundled_flags)
# The decomposition of calls into tasks, on a fake protocol; the decisions.
fake_sources = tests/fake_coherence.h tests/fake_coherence.c tests/blas_random.h tests/blas_fake.c
check_PROGRAMS += tests/blas_random tests/blas_tasks
tests_blas_random_SOURCES = tests/blas_random.c $(fake_sources)
tests_blas_random_LDADD = libcore.la -ldl -lm
tests_blas_tasks_SOURCES = tests/blas_tasks.c $(fake_sources)
tests_blas_tasks_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_random tests/blas_tasks
# Through the whole library, including its headers but none of its objects.
check_PROGRAMS += tests/blas_library_all
tests_blas_library_all_SOURCES = tests/blas_library_all.c tests/blas_data.h
nodist_tests_blas_library_all_SOURCES = blas/veneers/checks.h
tests_blas_library_all_LDADD = libsemcache.la -lm
tests_blas_library_all_LDFLAGS = -export-dynamic
tests/blas_library_all.$(OBJEXT): blas/veneers/checks.h
dist_check_SCRIPTS += tests/blas_library_all.t
TESTS += tests/blas_library_all.t
# Random calls and sequences of calls on the real protocol.
check_PROGRAMS += tests/blas_real tests/blas_chains tests/blas_sums tests/blas_small_beside
tests_blas_small_beside_SOURCES = tests/blas_small_beside.c
tests_blas_small_beside_LDADD = libcore.la -ldl -lm
tests_blas_sums_SOURCES = tests/blas_sums.c
tests_blas_sums_LDADD = libcore.la -ldl -lm
tests_blas_real_SOURCES = tests/blas_random.c tests/blas_random.h tests/blas_real.c
tests_blas_real_LDADD = libcore.la -ldl -lm
tests_blas_chains_SOURCES = tests/blas_chains.c tests/blas_random.h
tests_blas_chains_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_real tests/blas_chains tests/blas_sums tests/blas_small_beside
# Random sequences of every routine with every combination of its letters, under the names that programs call.
check_PROGRAMS += tests/blas_sequences
tests_blas_sequences_SOURCES = tests/blas_sequences.c tests/blas_named.h tests/blas_calls.h tests/blas_calls.c \
	tests/blas_random.h tests/blas_definition.h blas/verify/replay.h blas/verify/replay.c
nodist_tests_blas_sequences_SOURCES = blas/veneers/replay_calls.h
tests_blas_sequences_LDADD = libveneers.la libcore.la -ldl -lm
tests_blas_sequences_LDFLAGS = -export-dynamic
blas/verify/replay.$(OBJEXT): blas/veneers/replay_calls.h
TESTS += tests/blas_sequences
LONG_TESTS += tests/blas_sequences
check_PROGRAMS += tests/blas_arguments
tests_blas_arguments_SOURCES = tests/blas_arguments.c tests/blas_named.h tests/blas_calls.h tests/blas_calls.c \
	tests/blas_random.h blas/verify/replay.h blas/verify/replay.c
nodist_tests_blas_arguments_SOURCES = blas/veneers/replay_calls.h
tests_blas_arguments_LDADD = libveneers.la libcore.la -ldl -lm
tests_blas_arguments_LDFLAGS = -export-dynamic
TESTS += tests/blas_arguments
# Every device works on each operation.
check_PROGRAMS += tests/blas_devices
tests_blas_devices_SOURCES = tests/blas_devices.c tests/blas_random.h tests/blas_definition.h
tests_blas_devices_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_devices
# The host does a part of a product.
check_PROGRAMS += tests/blas_together
tests_blas_together_SOURCES = tests/blas_together.c tests/blas_random.h
tests_blas_together_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_together

check_PROGRAMS += tests/blas_neighbours
tests_blas_neighbours_SOURCES = tests/blas_neighbours.c
tests_blas_neighbours_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_neighbours
# Products into a triangle: which part of the triangle is uploaded.
check_PROGRAMS += tests/blas_triangles
tests_blas_triangles_SOURCES = tests/blas_triangles.c tests/blas_random.h
tests_blas_triangles_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_triangles
# Every spelling of a name.
check_PROGRAMS += tests/spellings
tests_spellings_SOURCES = tests/spellings.c tests/tap.h
tests_spellings_LDADD = -ldl
dist_check_SCRIPTS += tests/spellings.t
TESTS += tests/spellings.t
# Verification mode finds no difference in random calls, and finds planted bugs.
check_PROGRAMS += tests/verify_random tests/verify_planted
tests_verify_random_SOURCES = tests/blas_random.c tests/blas_random.h tests/blas_real.c
tests_verify_random_CPPFLAGS = $(AM_CPPFLAGS) -DWITH_VERIFY
tests_verify_random_LDADD = libcore.la -ldl -lm
tests_verify_planted_SOURCES = tests/verify_planted.c coherence/protocol.c
tests_verify_planted_CPPFLAGS = $(AM_CPPFLAGS) -DSC_TEST_PLANT
tests_verify_planted_LDADD = libcore.la
TESTS += tests/verify_random tests/verify_planted
dist_check_SCRIPTS += tests/verify.t
TESTS += tests/verify.t
# Repeated products in virtual time.
if HAVE_BLAS
check_PROGRAMS += tests/blas_awaited
tests_blas_awaited_SOURCES = tests/blas_awaited.c
tests_blas_awaited_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_awaited
check_PROGRAMS += tests/blas_distribution
tests_blas_distribution_SOURCES = tests/blas_distribution.c bench/paper.c bench/paper.h
tests_blas_distribution_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_distribution

check_PROGRAMS += tests/blas_strips
tests_blas_strips_SOURCES = tests/blas_strips.c bench/paper.c bench/paper.h
tests_blas_strips_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_strips
check_PROGRAMS += tests/blas_steal
tests_blas_steal_SOURCES = tests/blas_steal.c bench/paper.c bench/paper.h
tests_blas_steal_LDADD = libcore.la -ldl -lm
TESTS += tests/blas_steal
endif
# SPDX-License-Identifier: BSD-2-Clause
