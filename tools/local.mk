# tools
EXTRA_DIST += tools/README.md
dist_man_MANS += tools/semcache.1

bin_PROGRAMS += tools/semcache
tools_semcache_SOURCES = tools/tool.h tools/semcache.c tools/info.c tools/run.c tools/trace.c tools/where.c
tools_semcache_CPPFLAGS = $(AM_CPPFLAGS) -DSC_LIBRARY_FILE=\"$(libdir)/libsemcache.so.0\"
tools_semcache_LDADD = libveneers.la libcore.la

# Where things are in the build tree; the command looks for this beside itself.
tools/semcache.uninstalled: Makefile
	$(AM_V_GEN)$(MKDIR_P) tools && { echo 'LIBRARY=$(abs_builddir)/.libs/libsemcache.so.0'; \
	  echo 'SEMCACHE_MACHINE_PATH=$(abs_srcdir)/device/emu/machines'; \
	  echo 'SEMCACHE_MODULE_PATH=$(abs_builddir)/.libs'; } > $@.new && mv $@.new $@
noinst_DATA += tools/semcache.uninstalled
CLEANFILES += tools/semcache.uninstalled
