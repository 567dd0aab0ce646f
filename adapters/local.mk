# Adapters for libraries that call no BLAS for their sparse products.
scipydir = $(pkgdatadir)/adapters/scipy
dist_scipy_DATA = adapters/scipy/sitecustomize.py
scipypackagedir = $(scipydir)/_semcache
dist_scipypackage_DATA = adapters/scipy/_semcache/__init__.py adapters/scipy/_semcache/library.py \
  adapters/scipy/_semcache/matrices.py adapters/scipy/_semcache/solvers.py adapters/scipy/_semcache/sparsetools.py \
  adapters/scipy/_semcache/vectors.py
# The Python package `semcache`, for programs that import it.
pythonpackagedir = $(pkgdatadir)/adapters/python/semcache
dist_pythonpackage_DATA = adapters/python/semcache/__init__.py adapters/python/semcache/_library.py \
  adapters/python/semcache/_views.py
nobase_dist_doc_DATA += adapters/python/README.md
nobase_dist_doc_DATA += adapters/README.md adapters/scipy/README.md adapters/petsc/README.md \
  adapters/cholmod/README.md adapters/octave/README.md \
  adapters/hypre/README.md

# Libraries, each for the library that configure has found.  The folder has the name of the file that programs need.
adapter_libraries =
adapter_places =
petscdir = $(libdir)/semcache/petsc/$(PETSC_SONAME)
petsc_LTLIBRARIES =
if HAVE_PETSC
petsc_LTLIBRARIES += libsemcache_petsc.la
adapter_libraries += libsemcache_petsc.la
adapter_places += petsc/$(PETSC_SONAME)
endif
libsemcache_petsc_la_SOURCES = adapters/weak.h adapters/petsc/adapter.h adapters/petsc/register.c \
  adapters/petsc/vectors.c adapters/petsc/matrices.c adapters/petsc/blocks.c adapters/petsc/preconditioners.c
libsemcache_petsc_la_CPPFLAGS = $(AM_CPPFLAGS) $(PETSC_CFLAGS)
libsemcache_petsc_la_LDFLAGS = -module -avoid-version -rpath $(petscdir) -Wl,-z,now

cholmoddir = $(libdir)/semcache/cholmod/$(CHOLMOD_SONAME)
cholmod_LTLIBRARIES =
if HAVE_CHOLMOD_ADAPTER
cholmod_LTLIBRARIES += libsemcache_cholmod.la
adapter_libraries += libsemcache_cholmod.la
adapter_places += cholmod/$(CHOLMOD_SONAME)
endif
libsemcache_cholmod_la_SOURCES = adapters/weak.h adapters/preload.h adapters/cholmod/cholmod.c
libsemcache_cholmod_la_CPPFLAGS = $(AM_CPPFLAGS) $(CHOLMOD_CPPFLAGS) -DSC_LIBRARY=\"$(CHOLMOD_SONAME)\"
libsemcache_cholmod_la_LDFLAGS = -module -avoid-version -rpath $(cholmoddir)

hypredir = $(libdir)/semcache/hypre/$(HYPRE_SONAME)
hypre_LTLIBRARIES =
if HAVE_HYPRE
hypre_LTLIBRARIES += libsemcache_hypre.la
adapter_libraries += libsemcache_hypre.la
adapter_places += hypre/$(HYPRE_SONAME)
endif
libsemcache_hypre_la_SOURCES = adapters/weak.h adapters/preload.h adapters/hypre/adapter.h adapters/hypre/vectors.c \
  adapters/hypre/matrices.c adapters/hypre/smoothers.c
libsemcache_hypre_la_CPPFLAGS = $(AM_CPPFLAGS) $(HYPRE_CFLAGS) -DSC_LIBRARY=\"$(HYPRE_SONAME)\"
libsemcache_hypre_la_LDFLAGS = -module -avoid-version -rpath $(hypredir)

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
adapters/built/libraries: $(adapter_libraries)
	$(AM_V_GEN)for place in $(adapter_places); do \
	  $(MKDIR_P) adapters/built/$$place && \
	    cp .libs/libsemcache_$${place%%/*}.so adapters/built/$$place/ || exit 1; done && \
	  $(MKDIR_P) adapters/built && touch $@
noinst_DATA += adapters/built/libraries
.PHONY: clean-adapters
clean-adapters:
	rm -rf adapters/built
# SPDX-License-Identifier: BSD-2-Clause
