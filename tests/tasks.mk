# Tasks of the program
check_PROGRAMS += tests/tasks_run tests/tasks_litmus
tests_tasks_run_SOURCES = tests/tasks_run.c
tests_tasks_run_LDADD = libsemcache.la -lm
tests_tasks_litmus_SOURCES = tests/tasks_litmus.c
tests_tasks_litmus_LDADD = libsemcache.la -lpthread
dist_check_SCRIPTS += tests/tasks_run.t
TESTS += tests/tasks_run.t
# SPDX-License-Identifier: BSD-2-Clause
