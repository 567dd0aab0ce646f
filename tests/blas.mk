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
