# Tests of library
check_PROGRAMS += tests/library_config
tests_library_config_SOURCES = tests/library_config.c
tests_library_config_LDADD = libcore.la
TESTS += tests/library_config

# Of the library as a whole, and the command
check_PROGRAMS += tests/library_api
tests_library_api_SOURCES = tests/library_api.c
tests_library_api_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/exports.t tests/library_api.t tests/library_life.t tests/tools.t
TESTS += tests/exports.t tests/library_api.t tests/library_life.t tests/tools.t
if HAVE_BLAS
check_PROGRAMS += tests/life
tests_life_SOURCES = tests/life.c
tests_life_LDADD = $(BLAS_LIBS) -lpthread
endif
