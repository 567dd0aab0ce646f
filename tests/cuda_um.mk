# The library for CUDA programs with unified memory
EXTRA_DIST += tests/um_blas.c tests/um_sparse.c tests/um_runtime.c
if HAVE_CUDA_UM
check_PROGRAMS += tests/um_blas tests/um_sparse tests/um_runtime
UM_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
UM_LDADD = libsemcache-cuda-um.la libsemcache.la -lm
tests_um_blas_SOURCES = tests/um_blas.c tests/tap.h
nodist_tests_um_blas_SOURCES = cuda-um/checks.h
tests_um_blas_CPPFLAGS = $(UM_CPPFLAGS) -DREFERENCE_BLAS=\"libblas.so.3\"
tests_um_blas_LDADD = $(UM_LDADD)
tests_um_sparse_SOURCES = tests/um_sparse.c tests/tap.h
tests_um_sparse_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_sparse_LDADD = $(UM_LDADD)
tests_um_runtime_SOURCES = tests/um_runtime.c tests/tap.h
tests_um_runtime_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_runtime_LDADD = $(UM_LDADD)
endif
UM_TESTS = tests/examples_um.t tests/um.t
dist_check_SCRIPTS += $(UM_TESTS)
TESTS += $(UM_TESTS)
