# Programs whose figures bench/run.sh sets side by side: ours are plain BLAS programs, the peers are hand-written for
# CUDA.
EXTRA_DIST += bench/records/README.md bench/records/devices.md bench/records/factorizations.md \
	bench/records/products.md bench/records/sparse.md \
	bench/README.md bench/common.sh bench/run.sh bench/numpy_matmul.py bench/numpy_temporaries.py \
	bench/factor.sh bench/scale.sh bench/lapack_again.py \
	bench/sparse_cg.sh bench/um.sh bench/um_kernels.sh bench/um_kernels.cu bench/um_own.cu \
	bench/exchange.sh \
	bench/trace.sh bench/start.sh bench/lapack.py bench/lapack_moved.py bench/level3.py \
	bench/solvers.sh bench/solvers_scipy.py bench/slowed.sh
EXTRA_PROGRAMS += bench/trace_events
bench_trace_events_SOURCES = bench/trace_events.c
bench_trace_events_LDADD = libcore.la
EXTRA_PROGRAMS += bench/dgemm bench/sweep bench/start bench/factor bench/hand_jacobi bench/hand_cg bench/xt_abac \
	bench/cuda_rates bench/sparse_cg bench/sparse_gemm bench/sparse_formats bench/hand_sparse_cg bench/cuda_start \
	bench/lapack_moved bench/lapack_rates bench/level3 bench/level3_s bench/level3_c bench/level3_z \
	bench/xt_level3 bench/first_chain bench/hand_first_chain bench/busy_faults

bench_dgemm_SOURCES = bench/dgemm.c bench/columns.h
bench_dgemm_LDADD = $(BLAS_LIBS) -lm
bench_level3_SOURCES = bench/level3.c bench/level3.h bench/columns.h
bench_level3_LDADD = $(BLAS_LIBS) -lm
bench_level3_s_SOURCES = $(bench_level3_SOURCES)
bench_level3_s_CPPFLAGS = $(AM_CPPFLAGS) -DLEVEL3_S
bench_level3_s_LDADD = $(bench_level3_LDADD)
bench_level3_c_SOURCES = $(bench_level3_SOURCES)
bench_level3_c_CPPFLAGS = $(AM_CPPFLAGS) -DLEVEL3_C
bench_level3_c_LDADD = $(bench_level3_LDADD)
bench_level3_z_SOURCES = $(bench_level3_SOURCES)
bench_level3_z_CPPFLAGS = $(AM_CPPFLAGS) -DLEVEL3_Z
bench_level3_z_LDADD = $(bench_level3_LDADD)
bench_xt_level3_SOURCES = bench/xt_level3.c bench/level3.h bench/columns.h bench/hand.h
bench_xt_level3_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_xt_level3_LDFLAGS = $(CUDA_LDFLAGS)
bench_xt_level3_LDADD = -lcublas -lcudart -lm
bench_first_chain_SOURCES = bench/first_chain.c bench/first_chain.h bench/columns.h examples/example.h
bench_first_chain_LDADD = $(BLAS_LIBS) -lm
bench_hand_first_chain_SOURCES = bench/hand_first_chain.c bench/first_chain.h bench/columns.h bench/hand.h
bench_hand_first_chain_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_hand_first_chain_LDFLAGS = $(CUDA_LDFLAGS)
bench_hand_first_chain_LDADD = -lcublas -lcudart -lm
bench_sweep_SOURCES = bench/sweep.c
bench_sweep_LDADD = $(BLAS_LIBS) -lm
bench_busy_faults_SOURCES = bench/busy_faults.c examples/example.h
bench_busy_faults_LDADD = $(BLAS_LIBS)
bench_start_SOURCES = bench/start.c examples/example.h
bench_start_LDADD = $(BLAS_LIBS)
bench_cuda_start_SOURCES = bench/cuda_start.c
bench_cuda_start_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_cuda_start_LDFLAGS = $(CUDA_LDFLAGS)
bench_cuda_start_LDADD = -ldl
bench_factor_SOURCES = bench/factor.c
bench_factor_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm
bench_lapack_moved_SOURCES = bench/lapack_moved.c
bench_lapack_moved_LDADD = $(LAPACK_LIBS) $(BLAS_LIBS) -lm

bench_hand_jacobi_SOURCES = bench/hand_jacobi.c bench/hand.h
bench_hand_jacobi_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_hand_jacobi_LDFLAGS = $(CUDA_LDFLAGS)
bench_hand_jacobi_LDADD = -lcublas -lcudart -lm
bench_hand_cg_SOURCES = bench/hand_cg.c bench/hand.h
bench_hand_cg_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_hand_cg_LDFLAGS = $(CUDA_LDFLAGS)
bench_hand_cg_LDADD = -lcublas -lcudart -lm
bench_lapack_rates_SOURCES = bench/lapack_rates.c bench/lapack_hand.h bench/lapack_checks.h bench/hand.h
bench_lapack_rates_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_lapack_rates_LDFLAGS = $(CUDA_LDFLAGS)
bench_lapack_rates_LDADD = -lcusolver -lcublas -lcudart -lm
bench_xt_abac_SOURCES = bench/xt_abac.c bench/hand.h
bench_xt_abac_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_xt_abac_LDFLAGS = $(CUDA_LDFLAGS)
bench_xt_abac_LDADD = $(BLAS_LIBS) -lcublas -lcudart
bench_cuda_rates_SOURCES = bench/cuda_rates.c tests/cuda_module.h

if HAVE_LAPACK
noinst_PROGRAMS += bench/factor
endif
bench_sparse_cg_SOURCES = bench/sparse_cg.c examples/stencil.h examples/example.h
bench_sparse_cg_LDADD = libsemcache.la $(BLAS_LIBS) -lm
bench_sparse_gemm_SOURCES = bench/sparse_gemm.c examples/mkl_sparse.h examples/stencil.h examples/example.h
bench_sparse_gemm_LDADD = libsemcache.la -lm
bench_sparse_formats_SOURCES = bench/sparse_formats.c examples/mkl_sparse.h examples/stencil.h examples/example.h
bench_sparse_formats_LDADD = libsemcache.la -lm
bench_hand_sparse_cg_SOURCES = bench/hand_sparse_cg.c bench/hand.h examples/stencil.h
bench_hand_sparse_cg_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_hand_sparse_cg_LDFLAGS = $(CUDA_LDFLAGS)
bench_hand_sparse_cg_LDADD = -lcublas -lcusparse -lcudart -lm

if HAVE_BLAS
noinst_PROGRAMS += bench/dgemm bench/sweep bench/start bench/sparse_cg bench/sparse_gemm bench/sparse_formats \
	bench/level3 bench/level3_s bench/level3_c bench/level3_z bench/first_chain
if HAVE_CUDA
noinst_PROGRAMS += bench/hand_jacobi bench/hand_cg bench/hand_sparse_cg bench/xt_abac bench/xt_level3 \
	bench/cuda_rates bench/cuda_start bench/hand_first_chain
if HAVE_CUSOLVER
noinst_PROGRAMS += bench/lapack_rates
endif
endif
endif

# The module with which bench/factor.sh counts NVBLAS's copies; the test has a CUPTI of its own.
EXTRA_DIST += bench/count_copies.c tests/count_copies.c
if HAVE_CUPTI
noinst_LTLIBRARIES += bench/count_copies.la
bench_count_copies_la_SOURCES = bench/count_copies.c
bench_count_copies_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
bench_count_copies_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere $(CUPTI_LDFLAGS)
bench_count_copies_la_LIBADD = -lcupti
check_PROGRAMS += tests/count_copies
tests_count_copies_SOURCES = tests/count_copies.c tests/tap.h
tests_count_copies_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_count_copies_LDFLAGS = -export-dynamic
tests_count_copies_LDADD =
TESTS += tests/count_copies
endif

# What a decision costs: make bench/decide && top_srcdir=SRC bench/decide dgx1
EXTRA_PROGRAMS += bench/decide
bench_decide_SOURCES = bench/decide.c tests/device_common.h
bench_decide_LDADD = libcore.la -lm
CLEANFILES += bench/decide

# Strips of operands and of results: make bench/strips && top_srcdir=SRC bench/strips h200x8:4
EXTRA_PROGRAMS += bench/strips
bench_strips_SOURCES = bench/strips.c bench/paper.c bench/paper.h
bench_strips_LDADD = libcore.la -ldl -lm
CLEANFILES += bench/strips

# What a task and a token on resident regions cost: make bench/task_cost && semcache run bench/task_cost
EXTRA_PROGRAMS += bench/task_cost
bench_task_cost_SOURCES = bench/task_cost.c
bench_task_cost_LDADD = libsemcache.la
CLEANFILES += bench/task_cost
# Cost of calls on the host: make bench/host_path bench/null_blas.la && bench/host_path
EXTRA_PROGRAMS += bench/host_path
bench_host_path_SOURCES = bench/host_path.c bench/host_path.h
bench_host_path_LDADD = libsemcache.la
check_LTLIBRARIES += bench/null_blas.la
bench_null_blas_la_SOURCES = bench/null_blas.c
bench_null_blas_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
CLEANFILES += bench/host_path bench/null_blas.la

# Results for other devices: make bench/chain && top_srcdir=SRC bench/chain h200x8:4
EXTRA_PROGRAMS += bench/chain
bench_chain_SOURCES = bench/chain.c bench/paper.c bench/paper.h
bench_chain_LDADD = libcore.la -ldl -lm
CLEANFILES += bench/chain

# examples/cg_um with CUDA's libraries alone.
if HAVE_CUDA_UM
noinst_PROGRAMS += bench/cg_um_cuda
bench_cg_um_cuda_SOURCES = examples/cg_um.c examples/stencil.h examples/example.h
bench_cg_um_cuda_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
bench_cg_um_cuda_LDFLAGS = $(CUDA_LDFLAGS)
bench_cg_um_cuda_LDADD = -lcublas -lcusparse -lcudart -lm
if HAVE_NVCC
all-local: bench/um_kernels
bench/um_kernels: $(srcdir)/bench/um_kernels.cu
	$(AM_V_GEN)$(MKDIR_P) bench && $(NVCC) -O2 -arch=$(NVCC_ARCH) -cudart shared -o $@ $(srcdir)/bench/um_kernels.cu \
	  -L$(CUDA_LIBDIR) -Xlinker -rpath=$(CUDA_LIBDIR) -lcublas
CLEANFILES += bench/um_kernels
all-local: bench/um_own
bench/um_own: $(srcdir)/bench/um_own.cu $(srcdir)/include/semcache/semcache.h libsemcache.la
	$(AM_V_GEN)$(MKDIR_P) bench && $(NVCC) -O2 -arch=$(NVCC_ARCH) -I$(srcdir)/include -o $@ $(srcdir)/bench/um_own.cu \
	  .libs/libsemcache.so -Xlinker -rpath=$(abs_builddir)/.libs
CLEANFILES += bench/um_own
endif
endif
# Tables of papers on the emulated machines: make bench/paper-blasx && top_srcdir=SRC bench/paper-blasx
PAPERS = bench/paper-blasx bench/paper-xkblas bench/paper-paralia bench/paper-semcachepp bench/paper-proact
EXTRA_PROGRAMS += $(PAPERS)
CLEANFILES += $(PAPERS)
EXTRA_DIST += bench/paper.sh bench/paper.gnuplot bench/level3.gnuplot
paper_sources = bench/paper.c bench/paper.h
paper_libraries = libcore.la -ldl -lm
bench_paper_blasx_SOURCES = bench/paper_blasx.c $(paper_sources)
bench_paper_blasx_LDADD = $(paper_libraries)
bench_paper_xkblas_SOURCES = bench/paper_xkblas.c $(paper_sources)
bench_paper_xkblas_LDADD = $(paper_libraries)
bench_paper_paralia_SOURCES = bench/paper_paralia.c $(paper_sources)
bench_paper_paralia_LDADD = $(paper_libraries)
bench_paper_semcachepp_SOURCES = bench/paper_semcachepp.c $(paper_sources)
bench_paper_semcachepp_LDADD = $(paper_libraries)
bench_paper_proact_SOURCES = bench/paper_proact.c $(paper_sources)
bench_paper_proact_LDADD = $(paper_libraries)

# Unmodified programs, alone and under semcache: python3 SRC/bench/programs/run.py BUILD
EXTRA_DIST += bench/programs/run.py \
	bench/programs/python/cg_dense.py bench/programs/python/cg_sparse.py bench/programs/python/cholesky.py \
	bench/programs/python/eig.py bench/programs/python/eigh.py bench/programs/python/eigsh.py \
	bench/programs/python/eigvalsh.py bench/programs/python/einsum.py bench/programs/python/estimators.py \
	bench/programs/python/expm.py \
	bench/programs/python/gaussian_process.py bench/programs/python/gmres.py \
	bench/programs/python/gmres_sparse.py bench/programs/python/inv.py bench/programs/python/kalman.py \
	bench/programs/python/kmeans.py bench/programs/python/lobpcg.py bench/programs/python/logistic.py \
	bench/programs/python/lstsq.py bench/programs/python/matmul.py bench/programs/python/matmul_single.py \
	bench/programs/python/network.py bench/programs/python/pca.py bench/programs/python/pool.py \
	bench/programs/python/power.py bench/programs/python/program.py bench/programs/python/qr.py \
	bench/programs/python/ridge.py bench/programs/python/solve.py bench/programs/python/steps.py \
	bench/programs/python/svd.py bench/programs/c/cg_own.c bench/programs/c/gmres_columns.c \
	bench/programs/c/jacobi_own.c bench/programs/c/lu_own.c bench/programs/c/orthogonal.c \
	bench/programs/c/program.h bench/programs/r/linear.R bench/programs/octave/linear.m
# SPDX-License-Identifier: BSD-2-Clause
