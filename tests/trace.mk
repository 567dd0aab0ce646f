# Tests of trace
check_PROGRAMS += tests/trace_rings tests/trace_stats
tests_trace_rings_SOURCES = tests/trace_rings.c
tests_trace_rings_LDADD = libcore.la
tests_trace_stats_SOURCES = tests/trace_stats.c
tests_trace_stats_LDADD = libcore.la
TESTS += tests/trace_rings tests/trace_stats
# SPDX-License-Identifier: BSD-2-Clause
