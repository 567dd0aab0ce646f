# The null back end: a skeleton for writers of back ends, as a module.
libcore_la_SOURCES += device/null/backend.c
module_LTLIBRARIES += semcache-null.la
semcache_null_la_SOURCES = device/null/null.c
semcache_null_la_LDFLAGS = -module -avoid-version -shared -export-symbols-regex '^semcache_device_module$$' \
	-no-undefined -Wl,-z,defs $(SANITIZER_LDFLAGS)
# SPDX-License-Identifier: BSD-2-Clause
