# The BLAS: veneers generated from routines.tab, and what they call.
libcore_la_SOURCES += blas/blas.h blas/blas_int.h blas/counts.c blas/start.c blas/host_operands.c
# Decomposition of calls into tasks.
libcore_la_SOURCES += blas/tasks.h blas/place.c \
	blas/offload.c blas/together.c blas/pieces.c blas/segments.c blas/strips.c blas/level1.c blas/reduce.c \
	blas/gemv.c blas/ger.c blas/gemm.c blas/product.h blas/gemm_sum.c blas/gemm_awaited.c blas/partials.h \
	blas/partials.c blas/pipeline.h blas/pipeline.c blas/single.c blas/symm.c blas/syr.c blas/rank.c \
	blas/triangle.h blas/triangle.c blas/trmm.c blas/trmv.c blas/trsm.c blas/verify.h blas/verify.c \
	blas/verify_bound.c
libcore_la_SOURCES += blas/lapack.h blas/laswp.c

# What only the library proper and the tests of the veneers link: a unit test keeps the BLAS it is linked with.
noinst_LTLIBRARIES += libveneers.la
libveneers_la_SOURCES = blas/host_blas.c blas/host_abi.c blas/program.c blas/arguments.c blas/call.c blas/record.c \
	blas/conjugate.c blas/loops.h blas/loops.c blas/loops_rotg.c blas/compute.c blas/xerbla.c \
	blas/reference.c blas/openblas.c blas/lapack.c blas/larfb.c blas/gate.h
nodist_libveneers_la_SOURCES = blas/veneers.c blas/tables.c blas/prototypes.h

generate_blas = $(MKDIR_P) blas && $(AWK) -f $(srcdir)/blas/generate.awk
blas_source = $(srcdir)/blas/routines.tab $(srcdir)/blas/generate.awk
blas/prototypes.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=prototypes $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
blas/tables.c: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=tables $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
blas/veneers.c: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=veneers $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
# The names that the library exports for it, one a line (for the version script).
blas/exports.list: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=exports $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
blas/checks.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=checks $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
blas/replay_calls.h: $(blas_source)
	$(AM_V_GEN)$(generate_blas) -v what=replay $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
doc/routines.md: $(blas_source)
	$(AM_V_GEN)$(MKDIR_P) doc && $(generate_blas) -v what=doc $(srcdir)/blas/routines.tab > $@.new && mv $@.new $@
BUILT_SOURCES += blas/prototypes.h
noinst_DATA += blas/exports.list doc/routines.md
CLEANFILES += blas/prototypes.h blas/checks.h blas/replay_calls.h blas/tables.c blas/veneers.c blas/exports.list \
	doc/routines.md
EXTRA_DIST += blas/routines.tab blas/generate.awk blas/README.md
