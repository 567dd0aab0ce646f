# Netlib's testers, as Debian ships them
EXTRA_DIST += tests/netlib.pl
dist_check_SCRIPTS += tests/netlib.t tests/netlib_lapack.t
TESTS += tests/netlib.t
LONG_TESTS += tests/netlib.t tests/netlib_lapack.t

# Real programs: tests/programs.sh prints the table of doc/programs.md.
dist_check_SCRIPTS += tests/programs.t tests/programs_counts.t tests/wheels.t
TESTS += tests/programs_counts.t
LONG_TESTS += tests/programs.t tests/wheels.t
EXTRA_DIST += tests/programs.sh tests/programs/numpy_dense.py tests/programs/r.R tests/programs/octave.m \
	tests/programs/cholmod.c tests/programs/arpack.c tests/programs/hpccinf.txt
# SPDX-License-Identifier: BSD-2-Clause
