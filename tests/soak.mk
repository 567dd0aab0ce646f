# A random program with every feature, for any time (make soak); make check runs a few fixed seeds.
EXTRA_PROGRAMS += tests/soak
tests_soak_SOURCES = tests/soak.c
tests_soak_LDADD = $(BLAS_LIBS) -ldl -lpthread
if HAVE_BLAS
check_PROGRAMS += tests/soak
endif
dist_check_SCRIPTS += tests/soak.t
TESTS += tests/soak.t
EXTRA_DIST += tests/soak.sh
MINUTES = 10
.PHONY: soak
soak: all
	$(MAKE) tests/soak$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) SEMCACHE_TEST_TIMEOUT=$$((60 * $(MINUTES) + 700)) $(SHELL) $(srcdir)/tests/run-one \
		$(SHELL) $(srcdir)/tests/soak.sh $(MINUTES) $(SOAK_SEED)
# SPDX-License-Identifier: BSD-2-Clause
