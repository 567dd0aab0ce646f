# Plain programs, linked with a BLAS and without semcache.
nobase_dist_doc_DATA += examples/README.md examples/report.pl examples/abac.c examples/bicgstab.c examples/cg.c \
	examples/cg_sparse.c examples/cg_um.c examples/cg_usblas.c examples/cg_usblas_f.f90 examples/example.h \
	examples/gmres.c examples/jacobi.c examples/jacobi_banded.c examples/jacobi_f.f90 examples/market.c \
	examples/market_none.c examples/mkl_sparse.h examples/pagerank.c examples/power.c examples/problem.c \
	examples/problem.h examples/stencil.h examples/usblas.h
EXTRA_PROGRAMS += examples/jacobi examples/cg examples/abac examples/power examples/jacobi_f

examples_jacobi_SOURCES = examples/jacobi.c examples/example.h
examples_jacobi_LDADD = $(BLAS_LIBS) -lm
examples_cg_SOURCES = examples/cg.c examples/example.h
examples_cg_LDADD = $(BLAS_LIBS) -lm
examples_abac_SOURCES = examples/abac.c examples/example.h
examples_abac_LDADD = $(BLAS_LIBS) -lm
examples_power_SOURCES = examples/power.c examples/example.h
examples_power_LDADD = $(BLAS_LIBS) -lm
examples_jacobi_f_SOURCES = examples/jacobi_f.f90
examples_jacobi_f_LDADD = $(BLAS_LIBS)

# Programs that call MKL's names are linked with semcache in place of MKL. CHOLMOD, where installed, reads the files.
mkl_examples = examples/cg_sparse examples/gmres examples/bicgstab examples/pagerank \
	examples/jacobi_banded
EXTRA_PROGRAMS += $(mkl_examples)
EXTRA_LTLIBRARIES += examples/libproblem.la
examples_libproblem_la_SOURCES = examples/problem.c examples/problem.h examples/stencil.h examples/example.h
if HAVE_CHOLMOD
nodist_examples_libproblem_la_SOURCES = examples/market.c
else
nodist_examples_libproblem_la_SOURCES = examples/market_none.c
endif
examples_libproblem_la_CPPFLAGS = $(AM_CPPFLAGS) $(CHOLMOD_CPPFLAGS)
sparse_libs = libsemcache.la examples/libproblem.la $(CHOLMOD_LIBS) $(BLAS_LIBS) -lm
examples_cg_sparse_SOURCES = examples/cg_sparse.c examples/mkl_sparse.h
examples_cg_sparse_LDADD = $(sparse_libs)
examples_gmres_SOURCES = examples/gmres.c examples/mkl_sparse.h
examples_gmres_LDADD = $(sparse_libs)
examples_bicgstab_SOURCES = examples/bicgstab.c examples/mkl_sparse.h
examples_bicgstab_LDADD = $(sparse_libs)
examples_pagerank_SOURCES = examples/pagerank.c examples/mkl_sparse.h
examples_pagerank_LDADD = $(sparse_libs)
examples_jacobi_banded_SOURCES = examples/jacobi_banded.c examples/mkl_sparse.h examples/example.h
examples_jacobi_banded_LDADD = libsemcache.la $(BLAS_LIBS) -lm

# And those that call the Sparse BLAS, where a librsb would.
EXTRA_PROGRAMS += examples/cg_usblas examples/cg_usblas_f
examples_cg_usblas_SOURCES = examples/cg_usblas.c examples/usblas.h
examples_cg_usblas_LDADD = $(sparse_libs)
examples_cg_usblas_f_SOURCES = examples/cg_usblas_f.f90
examples_cg_usblas_f_LDADD = libsemcache.la $(BLAS_LIBS)

if HAVE_BLAS
noinst_PROGRAMS += examples/jacobi examples/cg examples/abac examples/power $(mkl_examples) examples/cg_usblas
if HAVE_FORTRAN
noinst_PROGRAMS += examples/jacobi_f examples/cg_usblas_f
endif
endif
# A library's own kernel on cached arrays (doc/tasks.md); nvcc compiles the kernel for a GPU.
nobase_dist_doc_DATA += examples/stencil3d.c examples/stencil3d.cu examples/stencil3d.h
noinst_PROGRAMS += examples/stencil3d
examples_stencil3d_SOURCES = examples/stencil3d.c examples/stencil3d.h examples/example.h
examples_stencil3d_LDADD = libsemcache.la -lm
examples_stencil3d_CPPFLAGS = $(AM_CPPFLAGS)
if HAVE_NVCC
examples_stencil3d_CPPFLAGS += -DSTENCIL3D_GPU
examples_stencil3d_LDADD += examples/stencil3d_gpu.o $(CUDA_LDFLAGS) -lcudart -lstdc++
examples_stencil3d_DEPENDENCIES = libsemcache.la examples/stencil3d_gpu.o
examples/stencil3d_gpu.o: $(srcdir)/examples/stencil3d.cu $(srcdir)/examples/stencil3d.h \
	  $(srcdir)/include/semcache/tasks.h
	$(AM_V_GEN)$(MKDIR_P) examples && $(NVCC) -c -arch=$(NVCC_ARCH) -fmad=false -I$(srcdir)/include -o $@ \
	  $(srcdir)/examples/stencil3d.cu
CLEANFILES += examples/stencil3d_gpu.o
endif
# Libraries' own kernels beside cuFFT and cuSOLVER, and a sparse matrix in parts.
nobase_dist_doc_DATA += examples/fixed_point.py examples/tasks_common.h examples/fft_loop.c \
	examples/fft_loop.cu examples/fft_loop.h examples/als.c examples/als.cu examples/als.h \
	examples/sparse_tasks.c examples/sparse_tasks.cu examples/sparse_tasks.h examples/tasks_gpu.h
noinst_PROGRAMS += examples/fft_loop examples/als examples/sparse_tasks
examples_fft_loop_SOURCES = examples/fft_loop.c examples/fft_loop.h examples/tasks_common.h examples/example.h
examples_fft_loop_LDADD = libsemcache.la -lm
examples_als_SOURCES = examples/als.c examples/als.h examples/tasks_common.h examples/example.h
examples_als_LDADD = libsemcache.la -lm
examples_sparse_tasks_SOURCES = examples/sparse_tasks.c examples/sparse_tasks.h examples/tasks_common.h \
	examples/stencil.h examples/example.h
examples_sparse_tasks_LDADD = libsemcache.la -lm
examples_fft_loop_CPPFLAGS = $(AM_CPPFLAGS)
examples_als_CPPFLAGS = $(AM_CPPFLAGS)
examples_sparse_tasks_CPPFLAGS = $(AM_CPPFLAGS)
if HAVE_TASKS_GPU
task_libs = $(CUDA_LDFLAGS) -lcudart -lstdc++
examples_fft_loop_CPPFLAGS += -DTASKS_GPU
examples_fft_loop_LDADD += examples/fft_loop_gpu.o -lcufft $(task_libs)
examples_fft_loop_DEPENDENCIES = libsemcache.la examples/fft_loop_gpu.o
examples_als_CPPFLAGS += -DTASKS_GPU
examples_als_LDADD += examples/als_gpu.o -lcusolver $(task_libs)
examples_als_DEPENDENCIES = libsemcache.la examples/als_gpu.o
examples_sparse_tasks_CPPFLAGS += -DTASKS_GPU
examples_sparse_tasks_LDADD += examples/sparse_tasks_gpu.o $(task_libs)
examples_sparse_tasks_DEPENDENCIES = libsemcache.la examples/sparse_tasks_gpu.o
task_kernel = $(MKDIR_P) examples && $(NVCC) -c -arch=$(NVCC_ARCH) -fmad=false -I$(srcdir)/include -o $@
examples/fft_loop_gpu.o: $(srcdir)/examples/fft_loop.cu $(srcdir)/examples/fft_loop.h $(srcdir)/examples/tasks_gpu.h
	$(AM_V_GEN)$(task_kernel) $(srcdir)/examples/fft_loop.cu
examples/als_gpu.o: $(srcdir)/examples/als.cu $(srcdir)/examples/als.h $(srcdir)/examples/tasks_gpu.h
	$(AM_V_GEN)$(task_kernel) $(srcdir)/examples/als.cu
examples/sparse_tasks_gpu.o: $(srcdir)/examples/sparse_tasks.cu $(srcdir)/examples/sparse_tasks.h
	$(AM_V_GEN)$(task_kernel) $(srcdir)/examples/sparse_tasks.cu
CLEANFILES += examples/fft_loop_gpu.o examples/als_gpu.o examples/sparse_tasks_gpu.o
endif
# A CUDA program, linked with the library for such.
if HAVE_CUDA_UM
noinst_PROGRAMS += examples/cg_um
examples_cg_um_SOURCES = examples/cg_um.c examples/stencil.h examples/example.h
examples_cg_um_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
examples_cg_um_LDADD = libsemcache-cuda-um.la libsemcache.la -lm
endif
CLEANFILES += $(EXTRA_PROGRAMS) examples/libproblem.la
# SPDX-License-Identifier: BSD-2-Clause
