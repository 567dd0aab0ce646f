# Adapters for unmodified sparse solvers
dist_check_SCRIPTS += tests/adapters_scipy.t tests/adapters_petsc.t tests/adapters_cholmod.t tests/adapters_octave.t \
  tests/adapters_hypre.t tests/adapters_epetra.t tests/adapters_petsc_complex.t \
  tests/adapters_slepc.t tests/adapters_scipy_audit.t
TESTS += tests/adapters_scipy.t tests/adapters_petsc.t tests/adapters_cholmod.t tests/adapters_octave.t \
  tests/adapters_hypre.t tests/adapters_epetra.t tests/adapters_petsc_complex.t \
  tests/adapters_slepc.t tests/adapters_scipy_audit.t
check_PROGRAMS += tests/adapters_borders
tests_adapters_borders_SOURCES = tests/adapters_borders.c adapters/borders.h adapters/weak.h
tests_adapters_borders_LDADD =
TESTS += tests/adapters_borders
EXTRA_DIST += tests/adapters.pl tests/adapters/solve.py tests/adapters/spectral.py tests/adapters/kept.py \
  tests/adapters/audit.py tests/adapters/triangular.py \
    tests/adapters/products.py tests/adapters/cholmod_cg.c \
  tests/adapters/hypre_pcg.c tests/adapters/petsc_array.c tests/adapters/epetra_cg.cc tests/adapters/solve_octave.m \
  tests/adapters/operators_octave.m
# SPDX-License-Identifier: BSD-2-Clause
