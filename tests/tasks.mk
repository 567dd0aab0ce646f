# Tasks of the program
check_PROGRAMS += tests/tasks_run tests/tasks_litmus tests/tasks_distribution tests/tasks_token
tests_tasks_token_SOURCES = tests/tasks_token.c
tests_tasks_token_LDADD = libsemcache.la
tests_tasks_distribution_SOURCES = tests/tasks_distribution.c
tests_tasks_distribution_LDADD = libsemcache.la
tests_tasks_run_SOURCES = tests/tasks_run.c
tests_tasks_run_LDADD = libsemcache.la -lm
tests_tasks_litmus_SOURCES = tests/tasks_litmus.c
tests_tasks_litmus_LDADD = libsemcache.la -lpthread
check_PROGRAMS += tests/tasks_edges
tests_tasks_edges_SOURCES = tests/tasks_edges.c
tests_tasks_edges_LDADD = libsemcache.la -lpthread
dist_check_SCRIPTS += tests/tasks_edges.t
TESTS += tests/tasks_edges.t
check_PROGRAMS += tests/tasks_check tests/tasks_named tests/tasks_cost
tests_tasks_cost_SOURCES = tests/tasks_cost.c
tests_tasks_cost_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/tasks_cost.t
TESTS += tests/tasks_cost.t
tests_tasks_named_SOURCES = tests/tasks_named.c
tests_tasks_named_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/tasks_named.t
TESTS += tests/tasks_named.t
tests_tasks_check_SOURCES = tests/tasks_check.c
tests_tasks_check_LDADD = libsemcache.la -lm
dist_check_SCRIPTS += tests/tasks_check.t tests/tasks_f.t
TESTS += tests/tasks_check.t tests/tasks_f.t
dist_check_SCRIPTS += tests/python.t tests/examples_python.t
TESTS += tests/python.t tests/examples_python.t
EXTRA_DIST += tests/python/tasks.py tests/python/threads.py tests/python/reuse.py \
	tests/python/double_it.c
EXTRA_DIST += tests/tasks_f.f90
dist_check_SCRIPTS += tests/tasks_run.t tests/tasks_cpp.t tests/examples_stencil3d.t tests/examples_tasks.t
TESTS += tests/tasks_run.t tests/tasks_cpp.t tests/examples_stencil3d.t tests/examples_tasks.t
EXTRA_DIST += tests/tasks_cpp.cpp
# SPDX-License-Identifier: BSD-2-Clause
