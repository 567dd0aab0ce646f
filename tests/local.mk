# Each folder's tests are listed in a file of their own: check_PROGRAMS, check_LTLIBRARIES, dist_check_SCRIPTS, TESTS.
# Every test runs through tests/run-one: a timeout, a scrubbed environment.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(SHELL) $(srcdir)/tests/run-one
T_LOG_DRIVER = $(LOG_DRIVER)
T_LOG_COMPILER = $(LOG_COMPILER)
TEST_EXTENSIONS = .t
AM_TESTS_ENVIRONMENT = top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)'; export top_srcdir top_builddir;
EXTRA_DIST += tests/tap.h tests/run-one

include tests/base.mk
include tests/host.mk
include tests/directory.mk
include tests/device.mk
include tests/trace.mk
include tests/coherence.mk
include tests/blas.mk
include tests/library.mk
include tests/examples.mk
