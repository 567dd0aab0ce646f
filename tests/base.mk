# Tests of base, and of rules that all folders keep
RULE_TESTS = tests/layering.t tests/style.t tests/headers.t tests/listed.t tests/prose.t tests/glossary.t \
	tests/cycles.t tests/held.t tests/locks.t tests/extending.t tests/unused.t
dist_check_SCRIPTS += $(RULE_TESTS)
TESTS += $(RULE_TESTS)
# Builds a copy of the sources with SEMCACHE_TEST_LONG=1.
LONG_TESTS += tests/extending.t
# SPDX-License-Identifier: BSD-2-Clause
