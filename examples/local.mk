# Plain programs: they are linked with a BLAS and nothing of ours.
EXTRA_DIST += examples/README.md examples/report.pl
EXTRA_PROGRAMS += examples/jacobi examples/cg examples/abac examples/power examples/jacobi_f examples/cg_sparse

examples_jacobi_SOURCES = examples/jacobi.c examples/example.h
examples_jacobi_LDADD = $(BLAS_LIBS) -lm
examples_cg_SOURCES = examples/cg.c examples/example.h
examples_cg_LDADD = $(BLAS_LIBS) -lm
examples_abac_SOURCES = examples/abac.c examples/example.h
examples_abac_LDADD = $(BLAS_LIBS) -lm
examples_power_SOURCES = examples/power.c examples/example.h
examples_power_LDADD = $(BLAS_LIBS) -lm
# In place of MKL, whose names it calls.
examples_cg_sparse_SOURCES = examples/cg_sparse.c examples/stencil.h examples/example.h
examples_cg_sparse_LDADD = libsemcache.la $(BLAS_LIBS) -lm
examples_jacobi_f_SOURCES = examples/jacobi_f.f90
examples_jacobi_f_LDADD = $(BLAS_LIBS)

if HAVE_BLAS
noinst_PROGRAMS += examples/jacobi examples/cg examples/abac examples/power examples/cg_sparse
if HAVE_FORTRAN
noinst_PROGRAMS += examples/jacobi_f
endif
endif
# A CUDA program, linked with the library for such.
EXTRA_DIST += examples/cg_um.c
if HAVE_CUDA_UM
noinst_PROGRAMS += examples/cg_um
examples_cg_um_SOURCES = examples/cg_um.c examples/stencil.h examples/example.h
examples_cg_um_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
examples_cg_um_LDADD = libsemcache-cuda-um.la libsemcache.la -lm
endif
CLEANFILES += $(EXTRA_PROGRAMS)
