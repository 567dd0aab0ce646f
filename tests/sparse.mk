# Sparse matrices
if HAVE_BLAS
check_PROGRAMS += tests/sparse_cg
tests_sparse_cg_SOURCES = tests/sparse_cg.c
tests_sparse_cg_LDADD = libsemcache.la $(BLAS_LIBS) -lm
endif
dist_check_SCRIPTS += tests/sparse.t
TESTS += tests/sparse.t
check_PROGRAMS += tests/sparse_forms
tests_sparse_forms_SOURCES = tests/sparse_forms.c
tests_sparse_forms_LDADD = libcore.la -lm
TESTS += tests/sparse_forms
check_PROGRAMS += tests/sparse_parts
tests_sparse_parts_SOURCES = tests/sparse_parts.c
tests_sparse_parts_LDADD = libcore.la -lm
TESTS += tests/sparse_parts
# The names of other libraries.
check_PROGRAMS += tests/sparse_mkl
tests_sparse_mkl_SOURCES = tests/sparse_mkl.c
tests_sparse_mkl_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_sparse_mkl_LDADD = libsemcache.la -lm
dist_check_SCRIPTS += tests/sparse_mkl.t
TESTS += tests/sparse_mkl.t
