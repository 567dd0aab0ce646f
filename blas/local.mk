# The BLAS: veneers generated from routines.tab, and what they call.
libcore_la_SOURCES += blas/blas.h blas/blas_int.h blas/veneers/counts.c blas/veneers/start.c \
	blas/veneers/host_operands.c
# Decomposition of calls into tasks.
libcore_la_SOURCES += blas/run/tasks.h blas/run/assign.c blas/run/offload.c blas/run/together.c blas/run/pieces.c \
	blas/run/segments.c blas/run/strips.c blas/run/level1.c blas/run/reduce.c blas/run/gemv.c blas/run/ger.c \
	blas/run/gemm.c blas/run/product.h blas/run/gemm_sum.c blas/run/gemm_awaited.c blas/run/partials.h \
	blas/run/partials.c blas/run/pipeline.h blas/run/pipeline.c blas/run/single.c blas/run/symm.c blas/run/syr.c \
	blas/run/rank.c blas/run/triangle.h blas/run/triangle.c blas/run/trmm.c blas/run/trmv.c blas/run/trsm.c \
	blas/verify/verify.h blas/verify/verify.c blas/verify/verify_bound.c
libcore_la_SOURCES += blas/lapack/lapack.h blas/lapack/laswp.c

# Linked only by the library proper and the tests of the veneers: a unit test keeps the BLAS that it is linked with.
noinst_LTLIBRARIES += libveneers.la
libveneers_la_SOURCES = blas/veneers/host_blas.c blas/veneers/host_abi.c blas/veneers/program.c \
	blas/veneers/arguments.c blas/veneers/call.c blas/verify/record.c blas/veneers/conjugate.c \
	blas/veneers/loops.h blas/veneers/loops.c blas/veneers/loops_rotg.c blas/veneers/compute.c \
	blas/veneers/xerbla.c blas/veneers/reference.c blas/veneers/openblas.c blas/lapack/lapack.c \
	blas/lapack/larfb.c blas/veneers/gate.h
nodist_libveneers_la_SOURCES = blas/veneers.c blas/tables.c blas/prototypes.h

generate_blas = $(MKDIR_P) blas && $(AWK) -f $(srcdir)/blas/veneers/rows.awk -f $(srcdir)/blas/veneers/generate.awk
blas_tables = $(srcdir)/ops/operations.tab $(srcdir)/blas/veneers/routines.tab
blas_source = $(blas_tables) $(srcdir)/blas/veneers/rows.awk $(srcdir)/blas/veneers/generate.awk
blas/prototypes.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=prototypes $(blas_tables) > $@.new && mv $@.new $@
blas/tables.c: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=tables $(blas_tables) > $@.new && mv $@.new $@
blas/veneers.c: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=veneers $(blas_tables) > $@.new && mv $@.new $@
# The names that the library exports for the BLAS, one a line, for the version script.
blas/exports.list: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=exports $(blas_tables) > $@.new && mv $@.new $@
blas/checks.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=checks $(blas_tables) > $@.new && mv $@.new $@
blas/replay_calls.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=replay $(blas_tables) > $@.new && mv $@.new $@
doc/routines.md: $(blas_source)
	$(AM_V_GEN)$(MKDIR_P) doc && $(generate_blas) -v what=doc $(blas_tables) > $@.new && mv $@.new $@
BUILT_SOURCES += blas/prototypes.h
noinst_DATA += blas/exports.list doc/routines.md
CLEANFILES += blas/prototypes.h blas/checks.h blas/replay_calls.h blas/tables.c blas/veneers.c blas/exports.list \
	doc/routines.md
EXTRA_DIST += blas/veneers/routines.tab blas/veneers/rows.awk blas/veneers/generate.awk blas/README.md
