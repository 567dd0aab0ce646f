# Sparse matrices
if HAVE_BLAS
check_PROGRAMS += tests/sparse_cg
tests_sparse_cg_SOURCES = tests/sparse_cg.c
tests_sparse_cg_LDADD = libsemcache.la $(BLAS_LIBS) -lm
endif
# Arrays of sparse matrices in memory of every kind
if HAVE_BLAS
check_PROGRAMS += tests/sparse_places
tests_sparse_places_SOURCES = tests/sparse_places.c
tests_sparse_places_LDADD = libsemcache.la $(BLAS_LIBS)
endif
dist_check_SCRIPTS += tests/sparse.t tests/sparse_places.t
TESTS += tests/sparse.t tests/sparse_places.t
check_PROGRAMS += tests/sparse_forms
tests_sparse_forms_SOURCES = tests/sparse_forms.c
tests_sparse_forms_LDADD = libcore.la -lm
TESTS += tests/sparse_forms
check_PROGRAMS += tests/sparse_convert
tests_sparse_convert_SOURCES = tests/sparse_convert.c tests/sparse_shapes.h
tests_sparse_convert_LDADD = libcore.la
TESTS += tests/sparse_convert
check_PROGRAMS += tests/sparse_renew
tests_sparse_renew_SOURCES = tests/sparse_renew.c tests/sparse_shapes.h
tests_sparse_renew_LDADD = libcore.la
TESTS += tests/sparse_renew
check_PROGRAMS += tests/sparse_product
tests_sparse_product_SOURCES = tests/sparse_product.c
tests_sparse_product_LDADD = libcore.la -lm
TESTS += tests/sparse_product
check_PROGRAMS += tests/sparse_parts
tests_sparse_parts_SOURCES = tests/sparse_parts.c
tests_sparse_parts_LDADD = libcore.la -lm
TESTS += tests/sparse_parts
check_PROGRAMS += tests/sparse_small
tests_sparse_small_SOURCES = tests/sparse_small.c tests/statistics.h
tests_sparse_small_LDADD = libsemcache.la
dist_check_SCRIPTS += tests/sparse_small.t
TESTS += tests/sparse_small.t
check_PROGRAMS += tests/sparse_chain
tests_sparse_chain_SOURCES = tests/sparse_chain.c
tests_sparse_chain_LDADD = libsemcache.la -lm
dist_check_SCRIPTS += tests/sparse_chain.t
TESTS += tests/sparse_chain.t
# Sparse routines under the names of MKL and of the Sparse BLAS.
check_PROGRAMS += tests/sparse_mkl
tests_sparse_mkl_SOURCES = tests/sparse_mkl.c tests/sparse_mkl_handles.inc tests/sparse_mkl_arrays.inc
tests_sparse_mkl_CFLAGS = $(AM_CFLAGS) -Wno-strict-prototypes
tests_sparse_mkl_LDADD = libsemcache.la -lm
check_PROGRAMS += tests/sparse_mkl_wide
tests_sparse_mkl_wide_SOURCES = tests/sparse_mkl_wide.c
tests_sparse_mkl_wide_LDADD = libveneers.la libcore.la -lm
TESTS += tests/sparse_mkl_wide
dist_check_SCRIPTS += tests/sparse_mkl.t
TESTS += tests/sparse_mkl.t
check_PROGRAMS += tests/usblas tests/usblas_access tests/usblas_errors tests/usblas_threads
tests_usblas_threads_SOURCES = tests/usblas_threads.c
tests_usblas_threads_LDADD = libsemcache.la -lpthread
tests_usblas_access_SOURCES = tests/usblas_access.c
tests_usblas_access_LDADD = libsemcache.la -lm
tests_usblas_SOURCES = tests/usblas.c
tests_usblas_LDADD = libsemcache.la -lm
tests_usblas_errors_SOURCES = tests/usblas_errors.c
tests_usblas_errors_LDADD = libsemcache.la
# The same program with librsb and without semcache; librsb's header redirects these two names.
EXTRA_PROGRAMS += tests/usblas_rsb
if HAVE_RSB
check_PROGRAMS += tests/usblas_rsb
endif
tests_usblas_rsb_SOURCES = tests/usblas.c
tests_usblas_rsb_CPPFLAGS = $(AM_CPPFLAGS) -DBLAS_ussp=rsb__wp__BLAS_ussp -DBLAS_usgp=rsb__wp__BLAS_usgp
tests_usblas_rsb_LDADD = -lrsb -lm
dist_check_SCRIPTS += tests/usblas.t
TESTS += tests/usblas.t
# SPDX-License-Identifier: BSD-2-Clause
