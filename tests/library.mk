# Tests of library
check_PROGRAMS += tests/library_config
tests_library_config_SOURCES = tests/library_config.c tests/heard.h
tests_library_config_LDADD = libcore.la
TESTS += tests/library_config

check_PROGRAMS += tests/library_opener
tests_library_opener_SOURCES = tests/library_opener.c libsemcache/opener.c
tests_library_opener_CPPFLAGS = $(AM_CPPFLAGS)
tests_library_opener_LDADD = libveneers.la libcore.la
check_LTLIBRARIES += tests/threads_blas.la
tests_threads_blas_la_SOURCES = tests/threads_blas.c
tests_threads_blas_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
TESTS += tests/library_opener

# Of the library as a whole, and the command
check_PROGRAMS += tests/library_try
tests_library_try_SOURCES = tests/library_try.c
tests_library_try_LDADD = libsemcache.la -lm
dist_check_SCRIPTS += tests/library_try.t
TESTS += tests/library_try.t

check_PROGRAMS += tests/dots
tests_dots_SOURCES = tests/dots.c
tests_dots_LDADD = libsemcache.la -lpthread
dist_check_SCRIPTS += tests/dots.t
TESTS += tests/dots.t
check_PROGRAMS += tests/library_api
tests_library_api_SOURCES = tests/library_api.c
tests_library_api_LDADD = libsemcache.la
check_PROGRAMS += tests/additions
tests_additions_SOURCES = tests/additions.c
tests_additions_LDADD = libsemcache.la
check_PROGRAMS += tests/batch
tests_batch_SOURCES = tests/batch.c tests/tap.h
check_PROGRAMS += tests/sweeps
tests_sweeps_SOURCES = tests/sweeps.c tests/tap.h
tests_sweeps_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/sweeps.t
TESTS += tests/sweeps.t
check_PROGRAMS += tests/recall
tests_recall_SOURCES = tests/recall.c tests/statistics.h tests/tap.h
tests_recall_LDADD = libsemcache.la -lm
dist_check_SCRIPTS += tests/recall.t
TESTS += tests/recall.t
tests_batch_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/batch.t
TESTS += tests/batch.t
check_PROGRAMS += tests/walk
tests_walk_SOURCES = tests/walk.c
tests_walk_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/walk.t tests/start_cost.t
TESTS += tests/walk.t tests/start_cost.t
dist_check_SCRIPTS += tests/names.t
TESTS += tests/names.t
EXTRA_DIST += tests/names/reference.txt
dist_check_SCRIPTS += tests/exports.t tests/library_api.t tests/library_life.t tests/tools.t tests/tune_check.t
TESTS += tests/exports.t tests/library_api.t tests/library_life.t tests/tools.t tests/tune_check.t
# Measured times override the model.
if HAVE_BLAS
check_PROGRAMS += tests/losing
tests_losing_SOURCES = tests/losing.c
tests_losing_LDADD = $(BLAS_LIBS) -lm
endif
dist_check_SCRIPTS += tests/device_limits.t tests/losing.t tests/unreached.t
TESTS += tests/device_limits.t tests/losing.t tests/unreached.t
if HAVE_BLAS
check_PROGRAMS += tests/life
tests_life_SOURCES = tests/life.c tests/doubled.h
tests_life_LDADD = $(BLAS_LIBS) -lpthread
endif
check_PROGRAMS += tests/exit_wait
check_LTLIBRARIES += tests/exit_blas.la
tests_exit_wait_SOURCES = tests/exit_wait.c tests/exit_wait.h tests/doubled.h
tests_exit_wait_LDADD = libsemcache.la -lpthread
tests_exit_blas_la_SOURCES = tests/exit_blas.c tests/exit_wait.h
tests_exit_blas_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
dist_check_SCRIPTS += tests/exit_wait.t
TESTS += tests/exit_wait.t
# As libblas.so.3, and linked before or after a second BLAS
if HAVE_BLAS
check_PROGRAMS += tests/alternative tests/linked_first tests/linked_last tests/linked_last_now tests/linked_own
tests_alternative_SOURCES = tests/alternative.c
tests_alternative_LDADD = $(BLAS_LIBS) -ldl -lm
tests_linked_first_SOURCES = tests/alternative.c
tests_linked_first_LDFLAGS = -Wl,--as-needed
tests_linked_first_LDADD = libsemcache.la $(BLAS_LIBS) -ldl -lm
tests_linked_last_SOURCES = tests/alternative.c
tests_linked_last_LDFLAGS = -Wl,--as-needed
tests_linked_last_LDADD = $(BLAS_LIBS) libsemcache.la -ldl -lm
tests_linked_last_now_SOURCES = tests/alternative.c
tests_linked_last_now_LDFLAGS = -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
tests_linked_last_now_LDADD = $(BLAS_LIBS) libsemcache.la -ldl -lm
tests_linked_own_SOURCES = tests/alternative.c
tests_linked_own_CPPFLAGS = $(AM_CPPFLAGS) -DOWN_DGEMM
tests_linked_own_LDADD = libsemcache.la -ldl -lm
endif
dist_check_SCRIPTS += tests/alternatives.t
TESTS += tests/alternatives.t

# Traces: replay, check, and reports.
dist_check_SCRIPTS += tests/replay.t tests/replay_programs.t tests/trace_check.t tests/deciding.t tests/explain.t \
	tests/precious.t \
	tests/trace_deaths.t tests/places.t tests/summary.t tests/blame.t tests/blame_lines.t tests/states.t \
	tests/tutorials.t tests/report.t \
	tests/perfetto.t
EXTRA_DIST += tests/trace_edit.pl
TESTS += tests/replay.t tests/replay_programs.t tests/trace_check.t tests/deciding.t tests/explain.t \
	tests/precious.t \
	tests/trace_deaths.t tests/places.t tests/summary.t tests/blame.t tests/blame_lines.t tests/states.t \
	tests/tutorials.t tests/report.t \
	tests/perfetto.t
EXTRA_PROGRAMS += tests/replayed
tests_replayed_SOURCES = tests/replayed.c
tests_replayed_LDADD = $(BLAS_LIBS)
EXTRA_PROGRAMS += tests/planted
tests_planted_SOURCES = tests/planted.c
# As distributions compile: memset is an inline function of a header.
tests_planted_CFLAGS = $(AM_CFLAGS) -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
tests_planted_LDADD = $(BLAS_LIBS)
EXTRA_PROGRAMS += tests/chains
tests_chains_SOURCES = tests/chains.c
tests_chains_LDADD = $(BLAS_LIBS) -ldl
check_LTLIBRARIES += tests/planted_module.la
tests_planted_module_la_SOURCES = tests/planted_module.c
tests_planted_module_la_CFLAGS = $(AM_CFLAGS) -O2 -fomit-frame-pointer
tests_planted_module_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
EXTRA_PROGRAMS += tests/copied tests/hidden tests/given_up
tests_copied_SOURCES = tests/copied.c
tests_copied_LDADD = $(BLAS_LIBS)
tests_hidden_SOURCES = tests/hidden.c
tests_hidden_LDADD = $(BLAS_LIBS)
tests_given_up_SOURCES = tests/given_up.c
tests_given_up_LDADD = $(BLAS_LIBS) -ldl
EXTRA_PROGRAMS += tests/traced_forks
tests_traced_forks_SOURCES = tests/traced_forks.c
tests_traced_forks_LDADD = -lpthread
EXTRA_PROGRAMS += tests/dies
tests_dies_SOURCES = tests/dies.c
tests_dies_LDADD = $(BLAS_LIBS)
if HAVE_BLAS
check_PROGRAMS += tests/replayed tests/dies tests/copied tests/hidden tests/given_up tests/planted tests/chains \
	tests/traced_forks
endif
# semcache doctor
check_PROGRAMS += tests/mappings
tests_mappings_SOURCES = tests/mappings.c
dist_check_SCRIPTS += tests/doctor.t tests/stat.t tests/errors.t
TESTS += tests/doctor.t tests/stat.t tests/errors.t
if HAVE_BLAS
check_PROGRAMS += tests/stays
tests_stays_SOURCES = tests/stays.c
tests_stays_LDADD = $(BLAS_LIBS)
endif
# Processes
if HAVE_BLAS
check_PROGRAMS += tests/processes
tests_processes_SOURCES = tests/processes.c
tests_processes_LDADD = $(BLAS_LIBS) -ldl -lpthread
endif
dist_check_SCRIPTS += tests/processes.t
TESTS += tests/processes.t
# Error handlers of the program's libraries
if HAVE_BLAS
check_PROGRAMS += tests/complaints
tests_complaints_SOURCES = tests/complaints.c
tests_complaints_LDADD = -ldl
check_LTLIBRARIES += tests/complaints_library.la
tests_complaints_library_la_SOURCES = tests/complaints_library.c
tests_complaints_library_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_complaints_library_la_LIBADD = $(BLAS_LIBS)
endif
dist_check_SCRIPTS += tests/complaints.t
TESTS += tests/complaints.t
# Constructors of libraries opened at the same time
if HAVE_BLAS
check_PROGRAMS += tests/loader
tests_loader_SOURCES = tests/loader.c
tests_loader_LDADD = $(BLAS_LIBS) -ldl -lpthread
check_LTLIBRARIES += tests/constructor.la
tests_constructor_la_SOURCES = tests/constructor.c
tests_constructor_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_constructor_la_LIBADD = $(BLAS_LIBS) -lpthread
endif
dist_check_SCRIPTS += tests/loader.t
TESTS += tests/loader.t
# Limits
if HAVE_BLAS
check_PROGRAMS += tests/limits
tests_limits_SOURCES = tests/limits.c
tests_limits_LDADD = $(BLAS_LIBS)
check_PROGRAMS += tests/surroundings
tests_surroundings_SOURCES = tests/surroundings.c tests/doubled.h
tests_surroundings_LDADD = $(BLAS_LIBS)
check_PROGRAMS += tests/beyond
tests_beyond_SOURCES = tests/beyond.c tests/doubled.h
tests_beyond_LDADD = $(BLAS_LIBS) -lpthread
# Linked with semcache: without another BLAS in the process.
check_PROGRAMS += tests/beyond_linked
tests_beyond_linked_SOURCES = tests/beyond.c tests/doubled.h
tests_beyond_linked_LDADD = libsemcache.la -lpthread
endif
dist_check_SCRIPTS += tests/limits.t tests/surroundings.t tests/beyond.t
TESTS += tests/limits.t tests/surroundings.t tests/beyond.t
# Signals
if HAVE_BLAS
check_PROGRAMS += tests/signals tests/signals_linked
tests_signals_SOURCES = tests/signals.c
tests_signals_LDADD = $(BLAS_LIBS) -lpthread
# Finds the library without LD_LIBRARY_PATH, which set-user-id programs ignore.
tests_signals_linked_SOURCES = tests/signals.c
tests_signals_linked_LDFLAGS = -no-install
tests_signals_linked_LDADD = libsemcache.la $(BLAS_LIBS) -lpthread
endif
# A JVM has its own signal handlers; the test compiles its programs, if a JVM is installed.
dist_check_SCRIPTS += tests/signals.t tests/jvm.t
EXTRA_DIST += tests/jvm/Jvm.java tests/jvm/jvm.c
TESTS += tests/signals.t tests/jvm.t
LONG_TESTS += tests/jvm.t
# As users build and read: completion, CMake and pkg-config, a release, packages
dist_check_SCRIPTS += tests/completion.t tests/man.t tests/cmake.t tests/release.t tests/packages.t
EXTRA_DIST += tests/completion/typed.zsh tests/cmake/CMakeLists.txt tests/cmake/user.c
TESTS += tests/completion.t tests/man.t tests/cmake.t tests/release.t
LONG_TESTS += tests/packages.t
dist_check_SCRIPTS += tests/spdx.t
TESTS += tests/spdx.t
# SPDX-License-Identifier: BSD-2-Clause
