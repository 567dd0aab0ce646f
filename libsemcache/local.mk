# libsemcache
