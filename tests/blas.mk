# Tests of blas
#
# The veneers: in programs that export their symbols, so that the host BLAS calls back as it does in a real program.
check_PROGRAMS += tests/blas_veneers_all
tests_blas_veneers_all_SOURCES = tests/blas_veneers_all.c
nodist_tests_blas_veneers_all_SOURCES = blas/checks.h
tests_blas_veneers_all_LDADD = libveneers.la libcore.la -lm
tests_blas_veneers_all_LDFLAGS = -export-dynamic
tests/blas_veneers_all.$(OBJEXT): blas/checks.h
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
tests_blas_host_missing_SOURCES = tests/blas_host_missing.c
tests_blas_host_missing_LDADD = libveneers.la libcore.la
TESTS += tests/blas_host_missing
