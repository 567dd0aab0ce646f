# Tests of trace
check_PROGRAMS += tests/trace_rings tests/trace_stats
tests_trace_rings_SOURCES = tests/trace_rings.c
tests_trace_rings_LDADD = libcore.la
tests_trace_stats_SOURCES = tests/trace_stats.c
tests_trace_stats_LDADD = libcore.la
check_PROGRAMS += tests/trace_cost
tests_trace_cost_SOURCES = tests/trace_cost.c
tests_trace_cost_LDADD = libcore.la
dist_check_SCRIPTS += tests/trace_cost.t
TESTS += tests/trace_rings tests/trace_stats tests/trace_cost.t
# SPDX-License-Identifier: BSD-2-Clause
