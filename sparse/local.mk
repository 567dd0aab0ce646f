# sparse
libcore_la_SOURCES += sparse/sparse.h sparse/sparse_int.h sparse/call.c sparse/chain.c sparse/check.c sparse/convert.c \
  sparse/convert_device.c \
  sparse/element.c sparse/host.c sparse/matrix.c sparse/multiply.c sparse/multiply_device.c \
  sparse/parts.c sparse/product.c sparse/renew.c sparse/result.c sparse/split.c sparse/vectors.c \
  sparse/verify.c
EXTRA_DIST += sparse/README.md

# Names of other libraries: linked with the veneers of the BLAS, not into unit tests.
libveneers_la_SOURCES += sparse/mkl.h sparse/mkl_algebra.c sparse/mkl_arrays.c sparse/mkl_call.c sparse/mkl_handle.c \
  sparse/usblas.h sparse/usblas_access.c sparse/usblas_call.c sparse/usblas_handle.c sparse/usblas_insert.c \
  sparse/usblas_vector.c
sparse_names = $(srcdir)/sparse/names.tab $(srcdir)/sparse/names.awk
generate_names = $(MKDIR_P) sparse && $(AWK) -f $(srcdir)/sparse/names.awk
sparse/exports.list: $(sparse_names)
	$(AM_V_GEN)$(generate_names) -v what=exports $(srcdir)/sparse/names.tab > $@.new && mv $@.new $@
sparse/refused.h: $(sparse_names)
	$(AM_V_GEN)$(generate_names) -v what=refused $(srcdir)/sparse/names.tab > $@.new && mv $@.new $@
BUILT_SOURCES += sparse/refused.h
nodist_libveneers_la_SOURCES += sparse/refused.h
noinst_DATA += sparse/exports.list
CLEANFILES += sparse/refused.h sparse/exports.list
EXTRA_DIST += sparse/names.tab sparse/names.awk
# SPDX-License-Identifier: BSD-2-Clause
