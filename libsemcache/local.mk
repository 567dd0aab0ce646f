# libsemcache
libcore_la_SOURCES += libsemcache/config.h libsemcache/config.c libsemcache/ranks.h libsemcache/ranks.c \
	libsemcache/places.h libsemcache/places.c
EXTRA_DIST += libsemcache/README.md libsemcache/exports.list libsemcache/manual.awk
man_MANS += libsemcache/semcache.3
manual_headers = $(srcdir)/include/semcache/semcache.h $(srcdir)/include/semcache/tasks.h \
	$(srcdir)/include/semcache/directives.h
libsemcache/semcache.3: $(manual_headers) $(srcdir)/libsemcache/manual.awk
	$(AM_V_GEN)$(MKDIR_P) libsemcache && $(AWK) -f $(srcdir)/libsemcache/manual.awk \
	  $(manual_headers) > $@.new && mv $@.new $@
CLEANFILES += libsemcache/semcache.3
semcacheincludedir = $(includedir)/semcache
semcacheinclude_HEADERS = include/semcache/semcache.h include/semcache/blas_sparse.h include/semcache/tasks.h \
	include/semcache/tasks.hpp include/semcache/tasks.f90 include/semcache/directives.h
pkgconfig_DATA += libsemcache/semcache.pc
cmakedir = $(libdir)/cmake/semcache
cmake_DATA = libsemcache/semcache-config.cmake libsemcache/semcache-config-version.cmake

# -z now: no name is bound in the fault handler.  -z nodelete: handlers and threads outlive a dlclose.
lib_LTLIBRARIES += libsemcache.la
libsemcache_la_SOURCES = libsemcache/library.h libsemcache/inner.h libsemcache/opener.h libsemcache/api.c \
	libsemcache/init.c libsemcache/inner.c libsemcache/life.c libsemcache/opener.c libsemcache/rebind.c \
	libsemcache/report.c libsemcache/summary.h libsemcache/summary.c libsemcache/live.h \
	libsemcache/live.c libsemcache/one_address.c libsemcache/public.h libsemcache/tasks.c libsemcache/try.c
libsemcache_la_LIBADD = libveneers.la libcore.la
libsemcache_la_LDFLAGS = -version-info 0:0:0 -Wl,--version-script=libsemcache/semcache.map -Wl,-z,now -Wl,-z,nodelete
EXTRA_libsemcache_la_DEPENDENCIES = libsemcache/semcache.map

# No version name: a reference to malloc@GLIBC_2.2.5 is never bound to a malloc with another version.
export_lists = $(srcdir)/libsemcache/exports.list blas/veneers/exports.list blas/lapack/exports.list host/exports.list \
	host/syscalls.list sparse/exports.list
libsemcache/semcache.map: $(export_lists) $(srcdir)/libsemcache/local.mk
	$(AM_V_GEN)$(MKDIR_P) libsemcache && $(AWK) 'BEGIN { print "{\n  global:" } \
	  { sub(/#.*/, "") } NF { print "    " $$1 ";" } END { print "  local: *;\n};" }' $(export_lists) > $@.new && \
	  mv $@.new $@
CLEANFILES += libsemcache/semcache.map

# The library under the names of a BLAS, in a separate folder: for LD_LIBRARY_PATH and update-alternatives
# (doc/install.md).
blasdir = $(moduledir)/blas
blas_names = libblas.so.3 libcblas.so.3
install-exec-hook:
	$(MKDIR_P) '$(DESTDIR)$(blasdir)'
	cd '$(DESTDIR)$(blasdir)' && for name in $(blas_names); do $(LN_S) -f ../../libsemcache.so.0 $$name || exit 1; done
uninstall-hook:
	cd '$(DESTDIR)$(blasdir)' 2>/dev/null && rm -f $(blas_names) && cd .. && rmdir blas || :
# SPDX-License-Identifier: BSD-2-Clause
