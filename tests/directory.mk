# Tests of directory
check_PROGRAMS += tests/directory_geometry
tests_directory_geometry_SOURCES = tests/directory.c
tests_directory_geometry_LDADD = libcore.la
TESTS += tests/directory_geometry
# SPDX-License-Identifier: BSD-2-Clause
