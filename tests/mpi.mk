# Programs under MPI; built by the test itself with each mpicc that is here.
EXTRA_DIST += tests/mpi/mpi_test.h tests/mpi/messages.c tests/mpi/collectives.c tests/mpi/windows.c
dist_check_SCRIPTS += tests/mpi.t tests/ranks.t
TESTS += tests/mpi.t tests/ranks.t
LONG_TESTS += tests/mpi.t
