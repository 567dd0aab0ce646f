libcore_la_SOURCES += base/status.h base/status.c base/types.h base/log.h base/log.c base/config.h \
	base/config.c base/bytes.h base/fence.h base/forward.h base/page.h base/inside.h base/inside.c \
	base/libc_versions.h base/libc_versions.c base/quiet.h base/quiet.c base/system_call.h \
	base/write.h base/write.c base/stack.h base/stack.c base/forks.h base/forks.c base/own_fd.h base/own_fd.c \
	base/own_proc.h base/self_mem.h base/self_mem.c \
	base/locks.h base/locks.c base/lru.h base/assert.h base/assert.c base/loader.h base/loader.c \
	base/median.h base/median.c base/slice.h base/slice.c
EXTRA_DIST += base/README.md
# SPDX-License-Identifier: BSD-2-Clause
