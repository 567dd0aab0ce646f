# Fuzz targets: make check runs them on their corpus and on changed copies, make fuzz with libFuzzer.
FUZZ_TARGETS = trace machine settings database sequence
fuzz_common = tests/fuzz/fuzz.h tests/fuzz/file.c tests/fuzz/runner.c
check_PROGRAMS += tests/fuzz/fuzz_trace tests/fuzz/fuzz_machine tests/fuzz/fuzz_settings tests/fuzz/fuzz_database \
	tests/fuzz/fuzz_sequence
tests_fuzz_fuzz_trace_SOURCES = tests/fuzz/fuzz_trace.c $(fuzz_common)
tests_fuzz_fuzz_trace_LDADD = libcore.la
tests_fuzz_fuzz_machine_SOURCES = tests/fuzz/fuzz_machine.c $(fuzz_common)
tests_fuzz_fuzz_machine_LDADD = libcore.la
tests_fuzz_fuzz_settings_SOURCES = tests/fuzz/fuzz_settings.c $(fuzz_common)
tests_fuzz_fuzz_settings_LDADD = libcore.la
tests_fuzz_fuzz_database_SOURCES = tests/fuzz/fuzz_database.c $(fuzz_common)
tests_fuzz_fuzz_database_LDADD = libcore.la
TESTS += tests/fuzz/fuzz_trace tests/fuzz/fuzz_machine tests/fuzz/fuzz_settings tests/fuzz/fuzz_database \
	tests/fuzz/fuzz_sequence
tests_fuzz_fuzz_sequence_SOURCES = tests/fuzz/fuzz_sequence.c tests/explore/device.c tests/explore/device.h \
	$(fuzz_common)
tests_fuzz_fuzz_sequence_LDADD = libcore.la
EXTRA_DIST += tests/fuzz/fuzz.sh tests/fuzz/corpus

.PHONY: fuzz
fuzz: config.h
	SRC='$(srcdir)' SOURCES='$(libcore_la_SOURCES)' LIBS='-lm -ldl $(SIGSEGV_LIBS)' \
	MODULE_DIR='$(moduledir)' DATA_DIR='$(pkgdatadir)' \
	$(SHELL) $(srcdir)/tests/fuzz/fuzz.sh $(FUZZ_TARGETS)
clean-local: clean-adapters
	rm -rf fuzz.build
# SPDX-License-Identifier: BSD-2-Clause
