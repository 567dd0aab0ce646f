# Each folder's tests are listed in a .mk file of the folder: check_PROGRAMS, check_LTLIBRARIES, dist_check_SCRIPTS,
# TESTS. Every test runs through tests/run-one, which sets a timeout and scrubs the environment.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(srcdir)/tests/run-one
T_LOG_DRIVER = $(LOG_DRIVER)
T_LOG_COMPILER = $(LOG_COMPILER)
TEST_EXTENSIONS = .t
AM_TESTS_ENVIRONMENT = top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)'; \
	export top_srcdir top_builddir;
EXTRA_DIST += tests/README.md tests/tap.h tests/tap.sh tests/folders.pl tests/callgrind.sh tests/run-one
# Preloaded by tests whose decisions depend on the number of the host's cores.
check_LTLIBRARIES += tests/cores.la
tests_cores_la_SOURCES = tests/cores.c
tests_cores_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# The same tests under prove, for its summary. Programs are in the build tree, scripts in the source tree. Failed tests
# are repeated alone, with their full output; the last line is the summary of the first run.
PROVE = prove
PROVE_FLAGS = -j2
PROVE_RUN = top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	$(PROVE) --merge --exec '$(SHELL) $(srcdir)/tests/run-one'
.PHONY: prove check-gpu
prove:
	@list=; for t in $(TESTS); do test -f $$t || t=$(srcdir)/$$t; list="$$list $$t"; done; \
	rm -f .prove; \
	if $(PROVE_RUN) --state=save $(PROVE_FLAGS) $$list >prove.log 2>&1; then cat prove.log; \
	else $(PROVE_RUN) --state=failed -v; cat prove.log; exit 1; fi
CLEANFILES += .prove prove.log

# The core and its emulated devices under ThreadSanitizer, in a separate build (configured outside of the source tree).
# setarch -R turns address space randomisation off, since GCC 12's sanitizer fails with it on some kernels. OpenBLAS
# runs with one thread: the sanitizer does not see the synchronisation of OpenBLAS's threads. Crashes stay crashes,
# because tests/trace_rings crashes on purpose.
TSAN_TESTS = tests/coherence_threads tests/coherence_random tests/coherence_states tests/coherence_memory \
	tests/coherence_push tests/coherence_sources tests/coherence_scarce tests/coherence_withdraw \
	tests/host_threads tests/trace_rings tests/device_submit \
	tests/blas_chains tests/blas_real tests/blas_triangles tests/sparse_parts tests/sparse_forms
TSAN_SETTINGS = handle_segv=0 handle_sigbus=0
EXTRA_DIST += tests/tsan.supp
.PHONY: check-tsan
check-tsan:
	$(MKDIR_P) tsan
	test -f tsan/Makefile || (cd tsan && '$(abs_srcdir)/configure' -q --without-cuda --without-libsigsegv \
		--enable-assertions --enable-sanitizer=thread CFLAGS='-g -O1')
	OPENBLAS_NUM_THREADS=1 TSAN_OPTIONS='suppressions=$(abs_srcdir)/tests/tsan.supp $(TSAN_SETTINGS)' setarch -R \
		$(MAKE) -C tsan check TESTS='$(TSAN_TESTS)' check_PROGRAMS='$(TSAN_TESTS)' check_LTLIBRARIES=

# The suite under UndefinedBehaviorSanitizer, except for tests that count instructions or look at symbols, and
# surroundings.t, because the larger library leaves OpenBLAS no memory of 200 MB of addresses. The undefined behaviour
# in tests/signals.c and tests/dies.c is on purpose.
UBSAN_LEFT_OUT = tests/coherence_mutants.t tests/examples_overhead.t tests/exports.t tests/fault_sig_symbols.t \
	tests/host_calls.t tests/host_steps.t tests/lapack_cost.t tests/malloc_cost.t tests/veneer_cost.t \
	tests/plan_cost.t tests/start_cost.t tests/surroundings.t tests/tasks_cost.t tests/trace_cost.t tests/walk.t
.PHONY: check-ubsan check-ubsan-here
check-ubsan-here:
	$(MAKE) check TESTS='$(filter-out $(UBSAN_LEFT_OUT),$(TESTS))'
check-ubsan:
	$(MKDIR_P) ubsan
	rm -f ubsan/report.*
	test -f ubsan/Makefile || (cd ubsan && '$(abs_srcdir)/configure' -q --without-cuda \
		--enable-assertions CFLAGS='-g -O1 -fsanitize=undefined')
	$(MAKE) -C ubsan
	UBSAN_OPTIONS='log_path=$(abs_builddir)/ubsan/report' $(MAKE) -C ubsan check-ubsan-here
	! cat ubsan/report.* /dev/null | grep 'runtime error' | grep -v 'tests/signals\.c\|tests/dies\.c'

# The suite under AddressSanitizer (doc/verification.md). The library keeps its SIGSEGV handler, and its malloc comes
# before the sanitizer's. Crashes stay crashes; leaks are tested by leak.t. Not run are tests that would count the
# sanitizer's own memory, system calls or frames, tests that limit memory, tests that run other tools, and tests that
# link in special ways, and lapack_whole.t: the sanitizer refuses a second instance of the host BLAS
# (device/emu/blas.c), and LAPACK routines of the program's instance call veneers under the protocol's lock.
ASAN_LEFT_OUT = $(UBSAN_LEFT_OUT) tests/alternatives.t tests/blame.t tests/doctor.t tests/explain.t tests/helgrind.t \
	tests/lapack_whole.t tests/leak.t tests/limits.t tests/memcheck.t tests/states.t tests/strict.t
ASAN_SETTINGS = handle_segv=0 allow_user_segv_handler=1 handle_sigbus=0 handle_sigfpe=0 handle_abort=0 \
	detect_leaks=0 verify_asan_link_order=0 allocator_may_return_null=1
.PHONY: check-asan check-asan-here
check-asan-here:
	$(MAKE) check TESTS='$(filter-out $(ASAN_LEFT_OUT),$(TESTS))'
check-asan:
	$(MKDIR_P) asan
	rm -f asan/report.*
	test -f asan/Makefile || (cd asan && '$(abs_srcdir)/configure' -q --without-cuda \
		--enable-assertions --enable-sanitizer=address CFLAGS='-g -O1')
	$(MAKE) -C asan
	ASAN_OPTIONS='$(ASAN_SETTINGS) log_path=$(abs_builddir)/asan/report' \
	OPENBLAS_NUM_THREADS=1 SEMCACHE_TEST_ASAN=1 $(MAKE) -C asan check-asan-here
	! cat asan/report.* /dev/null | grep -A12 'ERROR'

# A release, made and tested from a read-only tree, with the permissive front end and without assertions. Front end and
# assertions do not change the tests left out: of the text of sources and documents, of kernels alone, and of sources
# that a test compiles. The CUDA module is compiled for one generation of GPUs. OpenBLAS runs with one thread, since
# idle threads of OpenBLAS wait in loops; in make check OpenBLAS has all threads.
RELEASE_LEFT_OUT = $(filter-out tests/unused.t,$(RULE_TESTS)) tests/spdx.t tests/cuda_ordinals tests/cuda_triangle \
	tests/cuda_vector tests/cuda_rows tests/ops_planted.t tests/coherence_mutants.t
.PHONY: check-release
check-release:
	OPENBLAS_NUM_THREADS=1 $(MAKE) distcheck DISTCHECK_CONFIGURE_FLAGS='--without-libsigsegv NVCC_ARCH=sm_80' \
		TESTS='$(filter-out $(RELEASE_LEFT_OUT),$(TESTS))'

# The whole suite on real devices; a test that finds no device fails.
check-gpu:
	SEMCACHE_TEST_DEVICE=cuda SEMCACHE_TEST_REQUIRE_GPU=1 $(MAKE) check

# A part of the generated calls on a real GPU under compute-sanitizer.
SANITIZED_TESTS = tests/device_kernels tests/device_conformance tests/blas_sequences
EXTRA_DIST += tests/sanitizer.sh
.PHONY: check-sanitizer
check-sanitizer: all
	$(MAKE) $(SANITIZED_TESTS)
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(srcdir)/tests/sanitizer.sh

# Tests that take minutes, or do more with SEMCACHE_TEST_LONG=1. CI does not run them.
LONG_TESTS =
.PHONY: check-long
check-long: all
	$(MAKE) $(check_PROGRAMS) $(check_LTLIBRARIES)
	SEMCACHE_TEST_LONG=1 SEMCACHE_TEST_TIMEOUT=$${SEMCACHE_TEST_TIMEOUT:-7200} $(MAKE) prove TESTS='$(LONG_TESTS)'

include tests/base.mk
include tests/ops.mk
include tests/host.mk
include tests/mpi.mk
include tests/directory.mk
include tests/device.mk
include tests/trace.mk
include tests/coherence.mk
include tests/autotuner.mk
include tests/blas.mk
include tests/library.mk
include tests/tasks.mk
include tests/examples.mk
include tests/netlib.mk
include tests/fuzz.mk
include tests/sparse.mk
include tests/soak.mk
include tests/cuda_um.mk
include tests/adapters.mk
# SPDX-License-Identifier: BSD-2-Clause
