# cuda-um: the library for CUDA programs with unified memory
EXTRA_DIST += cuda-um/README.md cuda-um/names.tab cuda-um/names.awk cuda-um/generate.awk
um_sources = cuda-um/um.h cuda-um/blas.h cuda-um/trampoline.h cuda-um/emulated/emulated.h cuda-um/blas.c \
	cuda-um/blocks.c cuda-um/find.c cuda-um/foreign.c cuda-um/gemm_ex.c cuda-um/launch.c cuda-um/memory.c \
	cuda-um/sparse.c cuda-um/trampoline.c \
	cuda-um/vectors.c cuda-um/emulated/cublas.c cuda-um/emulated/cusparse.c cuda-um/emulated/runtime.c
# A release contains these files even if they are not built.
EXTRA_DIST += $(um_sources)

if HAVE_CUDA_UM
pkgconfig_DATA += cuda-um/semcache-cuda-um.pc
lib_LTLIBRARIES += libsemcache-cuda-um.la
libsemcache_cuda_um_la_SOURCES = $(um_sources)
nodist_libsemcache_cuda_um_la_SOURCES = cuda-um/names.h cuda-um/functions.c cuda-um/trampolines.c
libsemcache_cuda_um_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libsemcache_cuda_um_la_LIBADD = libsemcache.la -lm
# CUDA's libraries are opened at run time and found in the toolkit's folder.
libsemcache_cuda_um_la_LDFLAGS = -version-info 0:0:0 -no-undefined $(CUDA_LDFLAGS) \
	-Wl,--version-script=cuda-um/semcache-cuda-um.map -Wl,-Bsymbolic-functions -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete
EXTRA_libsemcache_cuda_um_la_DEPENDENCIES = cuda-um/semcache-cuda-um.map

um_libraries = $(CUDA_LIBDIR)/libcudart.so $(CUDA_LIBDIR)/libcublas.so $(CUDA_LIBDIR)/libcublasLt.so \
	$(CUDA_LIBDIR)/libcusparse.so
# Guarded as far as the toolkit has them.
um_further = $(CUDA_LIBDIR)/libcusolver.so $(CUDA_LIBDIR)/libcusolverMg.so $(CUDA_LIBDIR)/libcufft.so \
	$(CUDA_LIBDIR)/libcurand.so
generate_um = $(MKDIR_P) cuda-um && $(AWK) -f $(srcdir)/blas/veneers/rows.awk -f $(srcdir)/cuda-um/generate.awk
um_generated = $(blas_tables) $(srcdir)/blas/veneers/rows.awk $(srcdir)/cuda-um/generate.awk
um_names = $(srcdir)/cuda-um/names.tab $(srcdir)/cuda-um/names.awk cuda-um/blas.list
generate_names_um = $(MKDIR_P) cuda-um && \
	for lib in $(um_libraries) $(um_further); do \
	  case " $(um_further) " in *" $$lib "*) test -f $$lib || continue;; esac; \
	  $(NM) -D --defined-only $$lib || exit 1; \
	done | \
	$(AWK) -f $(srcdir)/cuda-um/names.awk
cuda-um/functions.c: $(um_generated)
	$(AM_V_GEN)$(generate_um) -v what=functions $(blas_tables) > $@.new && mv $@.new $@
cuda-um/checks.h: $(um_generated)
	$(AM_V_GEN)$(generate_um) -v what=checks $(blas_tables) > $@.new && mv $@.new $@
cuda-um/blas.list: $(um_generated)
	$(AM_V_GEN)$(generate_um) -v what=exports $(blas_tables) > $@.new && mv $@.new $@
um_lists = $(srcdir)/cuda-um/names.tab cuda-um/blas.list -
cuda-um/names.h: $(um_names)
	$(AM_V_GEN)$(generate_names_um) -v what=header $(um_lists) > $@.new && mv $@.new $@
cuda-um/trampolines.c: $(um_names)
	$(AM_V_GEN)$(generate_names_um) -v what=trampolines $(um_lists) > $@.new && mv $@.new $@
cuda-um/exports.list: $(um_names)
	$(AM_V_GEN)$(generate_names_um) -v what=exports $(um_lists) > $@.new && mv $@.new $@
cuda-um/semcache-cuda-um.map: cuda-um/exports.list
	$(AM_V_GEN)$(AWK) 'BEGIN { print "{\n  global:" } { print "    " $$1 ";" } END { print "  local: *;\n};" }' \
	  cuda-um/exports.list > $@.new && mv $@.new $@
BUILT_SOURCES += cuda-um/names.h
CLEANFILES += cuda-um/functions.c cuda-um/checks.h cuda-um/blas.list cuda-um/names.h cuda-um/trampolines.c \
	cuda-um/exports.list cuda-um/semcache-cuda-um.map
endif
# SPDX-License-Identifier: BSD-2-Clause
