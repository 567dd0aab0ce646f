# Programs under MPI, compiled by the tests with every mpicc found.
EXTRA_DIST += tests/mpi.sh tests/mpi/mpi_test.h tests/mpi/messages.c tests/mpi/collectives.c tests/mpi/windows.c \
	tests/mpi/launched.c tests/mpi/scalapack.c tests/mpi/petsc.c tests/mpi/fortran.f90 tests/mpi/python.py
dist_check_SCRIPTS += tests/mpi.t tests/mpi_programs.t tests/ranks.t
TESTS += tests/mpi.t tests/mpi_programs.t tests/ranks.t
LONG_TESTS += tests/mpi.t
# SPDX-License-Identifier: BSD-2-Clause
