# The BLAS: veneers generated from routines.tab, and what they call.
libcore_la_SOURCES += blas/blas.h blas/home.h blas/blas_int.h blas/veneers/counts.c blas/veneers/start.c \
	blas/veneers/host_operands.c
# Decomposition of calls into tasks.
libcore_la_SOURCES += blas/run/tasks.h blas/run/ahead.c blas/run/assign.c blas/run/offload.c blas/run/together.c \
	blas/run/pieces.c blas/run/segments.c blas/run/steal.c blas/run/strips.c blas/run/level1.c \
	blas/run/reduce.c blas/run/recall.c blas/run/gemv.c \
	blas/run/ger.c blas/run/gemm.c blas/run/product.h blas/run/gemm_sum.c blas/run/gemm_awaited.c blas/run/partials.h \
	blas/run/partials.c blas/run/single.c blas/run/symm.c blas/run/syr.c blas/run/whole.c \
	blas/run/batch.c blas/run/items.c blas/run/larger.c \
	blas/run/least_squares.c blas/run/eigen_range.c blas/run/columns.h \
	blas/run/columns.c \
	blas/run/columns_cholesky.c blas/run/columns_lu.c blas/run/columns_qr.c \
	blas/run/condition.c blas/run/rank.c \
	blas/run/triangle.h blas/run/triangle.c blas/run/trmm.c blas/run/trmv.c blas/run/trsm.c \
	blas/verify/verify.h blas/verify/verify.c blas/verify/verify_bound.c blas/verify/verify_lapack.c
libcore_la_SOURCES += blas/lapack/lapack.h blas/lapack/laswp.c

# Linked only by the library proper and the tests of the veneers: a unit test keeps the BLAS that it is linked with.
noinst_LTLIBRARIES += libveneers.la
libveneers_la_SOURCES = blas/veneers/host_blas.c blas/veneers/host_threads.c blas/veneers/host_abi.c \
	blas/veneers/program.c blas/veneers/arguments.c blas/veneers/call.c blas/veneers/try.c blas/verify/record.c \
	blas/veneers/conjugate.c \
	blas/veneers/loops.h blas/veneers/loops.c blas/veneers/loops_rotg.c blas/veneers/compute.c \
	blas/veneers/sweep.h blas/veneers/sweep.c blas/veneers/batch.c blas/veneers/batch_type.inc \
	blas/veneers/batch_width.inc \
	blas/veneers/xerbla.c blas/veneers/reference.c blas/veneers/openblas.c blas/lapack/lapack.c \
	blas/lapack/balanced.c blas/lapack/larfb.c blas/lapack/whole.h blas/lapack/whole.c \
	blas/lapack/whole_calls.c blas/veneers/gate.h
nodist_libveneers_la_SOURCES = blas/veneers/veneers.c blas/veneers/tables.c blas/veneers/prototypes.h \
	blas/lapack/whole_functions.h blas/lapack/whole_names.h

generate_blas = $(MKDIR_P) blas/veneers && \
	$(AWK) -f $(srcdir)/blas/veneers/rows.awk -f $(srcdir)/blas/veneers/generate.awk
blas_tables = $(srcdir)/ops/operations.tab $(srcdir)/blas/veneers/routines.tab
blas_source = $(blas_tables) $(srcdir)/blas/veneers/rows.awk $(srcdir)/blas/veneers/generate.awk
blas/veneers/prototypes.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=prototypes $(blas_tables) > $@.new && mv $@.new $@
blas/veneers/tables.c: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=tables $(blas_tables) > $@.new && mv $@.new $@
blas/veneers/veneers.c: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=veneers $(blas_tables) > $@.new && mv $@.new $@
# The routines of LAPACK that run on the host with their operands at home.
lapack_tables = $(srcdir)/ops/operations.tab $(srcdir)/blas/lapack/routines.tab
blas/lapack/routines.h: $(lapack_tables) $(srcdir)/blas/lapack/generate.awk
	$(AM_V_GEN)$(MKDIR_P) blas/lapack && $(AWK) -f $(srcdir)/blas/lapack/generate.awk $(lapack_tables) > $@.new && \
	  mv $@.new $@
# The routines of LAPACK that run on devices as a whole.
whole_source = $(srcdir)/blas/lapack/whole.tab $(srcdir)/blas/lapack/whole.awk
generate_whole = $(MKDIR_P) blas/lapack && $(AWK) -f $(srcdir)/blas/lapack/whole.awk
blas/lapack/whole_functions.h: $(whole_source)
	$(AM_V_GEN)$(generate_whole) -v what=functions $(srcdir)/blas/lapack/whole.tab > $@.new && mv $@.new $@
blas/lapack/whole_names.h: $(whole_source)
	$(AM_V_GEN)$(generate_whole) -v what=names $(srcdir)/blas/lapack/whole.tab > $@.new && mv $@.new $@
blas/lapack/exports.list: $(whole_source)
	$(AM_V_GEN)$(generate_whole) -v what=exports $(srcdir)/blas/lapack/whole.tab > $@.new && mv $@.new $@
# The names that the library exports for the BLAS, one a line, for the version script.
blas/veneers/exports.list: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=exports $(blas_tables) > $@.new && mv $@.new $@
blas/veneers/checks.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=checks $(blas_tables) > $@.new && mv $@.new $@
blas/veneers/replay_calls.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=replay $(blas_tables) > $@.new && mv $@.new $@
doc/routines.md: $(blas_source) $(whole_source)
	$(AM_V_GEN)$(MKDIR_P) doc && $(generate_blas) -v what=doc $(blas_tables) > $@.new && \
	  $(generate_whole) -v what=doc $(srcdir)/blas/lapack/whole.tab >> $@.new && mv $@.new $@
BUILT_SOURCES += blas/veneers/prototypes.h blas/lapack/routines.h blas/lapack/whole_functions.h \
	blas/lapack/whole_names.h
noinst_DATA += blas/veneers/exports.list blas/lapack/exports.list doc/routines.md
CLEANFILES += blas/lapack/whole_functions.h blas/lapack/whole_names.h blas/lapack/exports.list
CLEANFILES += blas/lapack/routines.h blas/veneers/prototypes.h blas/veneers/checks.h blas/veneers/replay_calls.h \
	blas/veneers/tables.c blas/veneers/veneers.c blas/veneers/exports.list doc/routines.md
EXTRA_DIST += blas/lapack/whole.tab blas/lapack/whole.awk
EXTRA_DIST += blas/lapack/routines.tab blas/lapack/generate.awk blas/veneers/routines.tab blas/veneers/rows.awk \
	blas/veneers/generate.awk blas/README.md
# SPDX-License-Identifier: BSD-2-Clause
