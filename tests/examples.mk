# Tests of the examples, as a user sees them: plain programs under tools/semcache.
EXTRA_PROGRAMS += tests/oom tests/footprint tests/threads tests/smallcalls tests/own_threads tests/level3
tests_oom_SOURCES = tests/oom.c
tests_oom_LDADD = $(BLAS_LIBS) -lm
tests_footprint_SOURCES = tests/footprint.c
tests_footprint_LDADD = $(BLAS_LIBS)
tests_threads_SOURCES = tests/threads.c
tests_threads_LDADD = $(BLAS_LIBS) -lm -lpthread
tests_smallcalls_SOURCES = tests/smallcalls.c
tests_smallcalls_LDADD = $(BLAS_LIBS)
tests_own_threads_SOURCES = tests/own_threads.c
tests_own_threads_LDADD = $(BLAS_LIBS)
check_PROGRAMS += tests/first_call
tests_first_call_SOURCES = tests/first_call.c tests/blas_is_mapped.h
tests_first_call_LDADD = -lpthread -ldl
check_LTLIBRARIES += tests/first_call_module.la tests/first_call_wheel.la tests/libfirst_call_own.la
tests_first_call_module_la_SOURCES = tests/first_call_module.c
tests_first_call_module_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_first_call_wheel_la_SOURCES = tests/first_call_wheel.c
tests_first_call_wheel_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_libfirst_call_own_la_SOURCES = tests/first_call_library.c
tests_libfirst_call_own_la_LDFLAGS = -avoid-version -shared -rpath /nowhere
check_PROGRAMS += tests/first_call_own
tests_first_call_own_SOURCES = tests/first_call_own.c tests/blas_is_mapped.h
tests_first_call_own_LDADD = tests/libfirst_call_own.la -ldl
dist_check_SCRIPTS += tests/first_call.t
TESTS += tests/first_call.t
EXTRA_PROGRAMS += tests/lapack_calls tests/lapack_whole tests/lapack_spectra tests/lapack_columns tests/lapack_on_host
tests_lapack_columns_SOURCES = tests/lapack_columns.c tests/lapack_program.h tests/tap.h
tests_lapack_columns_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm -ldl
tests_lapack_whole_SOURCES = tests/lapack_whole.c tests/lapack_random.h tests/lapack_program.h tests/tap.h
tests_lapack_whole_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm -ldl
tests_lapack_spectra_SOURCES = tests/lapack_spectra.c tests/lapack_random.h tests/lapack_program.h tests/tap.h
tests_lapack_spectra_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm -ldl
tests_lapack_on_host_SOURCES = tests/lapack_on_host.c tests/lapack_random.h tests/lapack_program.h tests/tap.h
tests_lapack_on_host_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm -ldl
check_PROGRAMS += tests/lapacke
tests_lapacke_SOURCES = tests/lapacke.c tests/tap.h
tests_lapacke_LDADD = -lm -ldl
tests_lapack_calls_SOURCES = tests/lapack_calls.c
tests_lapack_calls_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm
if HAVE_LAPACK
check_PROGRAMS += tests/lapack_calls tests/lapack_whole tests/lapack_spectra tests/lapack_columns tests/lapack_on_host
endif
tests_level3_SOURCES = tests/level3.c
tests_level3_LDADD = $(BLAS_LIBS)
if HAVE_BLAS
check_PROGRAMS += tests/level3 tests/oom tests/footprint tests/threads tests/smallcalls tests/own_threads
endif

EXAMPLE_TESTS = tests/examples_sparse.t tests/examples_solvers.t tests/examples_files.t tests/examples_right.t \
	tests/sparse_twice.t tests/examples_jacobi.t tests/examples_abac.t tests/examples_oom.t \
	tests/examples_none.t tests/examples_input.t tests/examples_threads.t tests/examples_overhead.t \
	tests/own_threads.t tests/lapack.t tests/lapack_whole.t tests/lapack_names.t tests/lapack_columns.t \
	tests/rank_updates.t tests/lapack_cost.t tests/together.t tests/blas_larger.t
dist_check_SCRIPTS += $(EXAMPLE_TESTS)
TESTS += $(EXAMPLE_TESTS)
LONG_TESTS += tests/blas_larger.t tests/lapack_whole.t
EXTRA_DIST += tests/examples.pl
# SPDX-License-Identifier: BSD-2-Clause
