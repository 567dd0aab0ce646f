# libsemcache
libcore_la_SOURCES += libsemcache/config.h libsemcache/config.c
EXTRA_DIST += libsemcache/README.md libsemcache/exports.list
semcacheincludedir = $(includedir)/semcache
semcacheinclude_HEADERS = include/semcache/semcache.h
pkgconfig_DATA += libsemcache/semcache.pc

# -z now: nothing is bound in the fault handler.  -z nodelete: handlers and threads outlive a dlclose.
lib_LTLIBRARIES += libsemcache.la
libsemcache_la_SOURCES = libsemcache/library.h libsemcache/api.c libsemcache/init.c libsemcache/life.c \
	libsemcache/report.c
libsemcache_la_LIBADD = libveneers.la libcore.la
libsemcache_la_LDFLAGS = -version-info 0:0:0 -Wl,--version-script=libsemcache/semcache.map -Wl,-z,now -Wl,-z,nodelete
EXTRA_libsemcache_la_DEPENDENCIES = libsemcache/semcache.map

# Without a version name: a reference to malloc@GLIBC_2.2.5 is never bound to a malloc that has another version.
export_lists = $(srcdir)/libsemcache/exports.list blas/exports.list
libsemcache/semcache.map: $(export_lists) $(srcdir)/libsemcache/local.mk
	$(AM_V_GEN)$(MKDIR_P) libsemcache && $(AWK) 'BEGIN { print "{\n  global:" } \
	  { sub(/#.*/, "") } NF { print "    " $$1 ";" } END { print "  local: *;\n};" }' $(export_lists) > $@.new && \
	  mv $@.new $@
CLEANFILES += libsemcache/semcache.map
