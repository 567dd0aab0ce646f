# libsemcache
libcore_la_SOURCES += libsemcache/config.h libsemcache/config.c
EXTRA_DIST += libsemcache/README.md
