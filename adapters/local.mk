# Adapters for libraries that call no BLAS for their sparse products.
scipydir = $(pkgdatadir)/adapters/scipy
dist_scipy_DATA = adapters/scipy/sitecustomize.py
scipypackagedir = $(scipydir)/_semcache
dist_scipypackage_DATA = adapters/scipy/_semcache/__init__.py adapters/scipy/_semcache/library.py \
  adapters/scipy/_semcache/kept.py adapters/scipy/_semcache/matrices.py adapters/scipy/_semcache/solvers.py \
  adapters/scipy/_semcache/sparsetools.py adapters/scipy/_semcache/triangular.py adapters/scipy/_semcache/vectors.py
# The Python package `semcache`, for programs that import it.
pythonpackagedir = $(pkgdatadir)/adapters/python/semcache
dist_pythonpackage_DATA = adapters/python/semcache/__init__.py adapters/python/semcache/_library.py \
  adapters/python/semcache/_views.py
nobase_dist_doc_DATA += adapters/python/README.md
nobase_dist_doc_DATA += adapters/README.md adapters/scipy/README.md adapters/petsc/README.md \
  adapters/cholmod/README.md adapters/epetra/README.md adapters/octave/README.md adapters/hypre/README.md

# A line for each adapter that is a library: its folder/the file name of the library that programs need=the variable of
# compiler flags.  The file name is empty where configure found no library.  All sources of the folder are compiled.
adapters = cholmod/$(CHOLMOD_SONAME)=CHOLMOD_CPPFLAGS \
  epetra/$(EPETRA_SONAME)=EPETRA_CFLAGS \
  hypre/$(HYPRE_SONAME)=HYPRE_CFLAGS \
  petsc/$(PETSC_SONAME)=PETSC_CFLAGS \
  petsc/$(PETSC_COMPLEX_SONAME)=PETSC_COMPLEX_CFLAGS
EXTRA_DIST += adapters/weak.h adapters/preload.h adapters/borders.h $(adapter_sources)

adapter_folders = $(sort $(foreach line,$(adapters),$(firstword $(subst /, ,$(line)))))
adapter_sources = $(foreach folder,$(adapter_folders),$(call adapter_files,$(folder)))
adapter_files = $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/adapters/$(1)/*.[ch] $(srcdir)/adapters/$(1)/*.cc))
# folder, file name, variable
adapter_words = $(subst /, ,$(subst =, ,$(1)))
adapter_library = $(word 1,$(1))/$(word 2,$(1))/libsemcache_$(word 1,$(1)).so
adapters_here = $(foreach line,$(adapters),$(if $(findstring /=,$(line)),,$(line)))
adapter_libraries = $(foreach line,$(adapters_here),$(call adapter_library,$(call adapter_words,$(line))))
# Of a library: the words of its line.
adapter_of = $(call adapter_words,$(filter $(patsubst %/,%,$(dir $(1)))=%,$(adapters_here)))
adapter_flags = $(AM_CPPFLAGS) $($(word 3,$(1))) -DSC_LIBRARY=\"$(word 2,$(1))\" $(CPPFLAGS)
adapter_compiled = $(addprefix $(srcdir)/,$(filter %.c %.cc,$(call adapter_files,$(word 1,$(1)))))
# The compiler takes C and C++. UndefinedBehaviorSanitizer's check of dynamic types would need the type information of
# the library's classes, without which an adapter loads.
adapter_sanitizer = $(if $(filter %.cc,$(1)),-fno-sanitize=vptr)
adapter_language = $(if $(filter %.cc,$(1)),$(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(AM_CFLAGS)) \
  -fvisibility-inlines-hidden,$(AM_CFLAGS))

$(addprefix adapters/built/,$(adapter_libraries)): adapters/built/%: $(adapter_sources) \
    adapters/weak.h adapters/preload.h adapters/borders.h include/semcache/semcache.h
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
	  $(CC) $(call adapter_flags,$(call adapter_of,$*)) \
	    $(call adapter_language,$(call adapter_compiled,$(call adapter_of,$*))) $(CFLAGS) \
	    $(call adapter_sanitizer,$(call adapter_compiled,$(call adapter_of,$*))) -fPIC -shared -Wl,-z,now \
	    $(AM_LDFLAGS) $(LDFLAGS) -o $@ $(call adapter_compiled,$(call adapter_of,$*)) \
	    $(if $(filter %.cc,$(call adapter_compiled,$(call adapter_of,$*))),-lstdc++ -lm)
noinst_DATA += $(addprefix adapters/built/,$(adapter_libraries))
install-exec-local:
	@for file in $(adapter_libraries); do \
	  $(MKDIR_P) "$(DESTDIR)$(libdir)/semcache/$${file%/*}" && \
	    $(INSTALL_PROGRAM) adapters/built/$$file "$(DESTDIR)$(libdir)/semcache/$$file" || exit 1; done
uninstall-local:
	@for file in $(adapter_libraries); do rm -f "$(DESTDIR)$(libdir)/semcache/$$file"; done

# Octave's own compiler makes the library, for the Octave of one interface (api-v57).
octavedir = $(libdir)/semcache/octave
octaveapidir = $(octavedir)/$(OCTAVE_API)
octave_DATA =
octaveapi_DATA =
octave_files = adapters/octave/PKG_ADD adapters/octave/semcache_start.m
EXTRA_DIST += adapters/octave/octave.cc $(octave_files)
if HAVE_OCTAVE
octave_DATA += $(octave_files)
octaveapi_DATA += adapters/octave/semcache_octave.oct
adapters/octave/semcache_octave.oct: adapters/octave/octave.cc include/semcache/semcache.h
	$(AM_V_GEN)$(MKDIR_P) adapters/octave && \
	  $(MKOCTFILE) -Wall -Wextra -I'$(srcdir)/include' -o $@ '$(srcdir)/adapters/octave/octave.cc'
adapters/built/octave/made: $(octave_files) adapters/octave/semcache_octave.oct
	$(AM_V_GEN)$(MKDIR_P) adapters/built/octave/$(OCTAVE_API) && \
	  for file in $(octave_files); do cp '$(srcdir)'/$$file adapters/built/octave/ || exit 1; done && \
	  cp adapters/octave/semcache_octave.oct adapters/built/octave/$(OCTAVE_API)/ && touch $@
noinst_DATA += adapters/built/octave/made
CLEANFILES += adapters/octave/semcache_octave.oct
endif

# The built command finds the files here, as an installed command does in pkgdatadir.
adapters/built/copied: $(dist_scipy_DATA) $(dist_scipypackage_DATA) $(dist_pythonpackage_DATA)
	$(AM_V_GEN)$(MKDIR_P) adapters/built/scipy/_semcache adapters/built/python/semcache && \
	  for file in $(dist_pythonpackage_DATA); do \
	    cp '$(srcdir)'/$$file adapters/built/python/semcache/ || exit 1; done && \
	  for file in $(dist_scipy_DATA); do cp '$(srcdir)'/$$file adapters/built/scipy/ || exit 1; done && \
	  for file in $(dist_scipypackage_DATA); do cp '$(srcdir)'/$$file adapters/built/scipy/_semcache/ || exit 1; done && \
	  touch $@
noinst_DATA += adapters/built/copied
.PHONY: clean-adapters
clean-adapters:
	rm -rf adapters/built
# SPDX-License-Identifier: BSD-2-Clause
