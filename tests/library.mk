# Tests of library
check_PROGRAMS += tests/library_config
tests_library_config_SOURCES = tests/library_config.c
tests_library_config_LDADD = libcore.la
TESTS += tests/library_config
