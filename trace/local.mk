# trace
libcore_la_SOURCES += trace/event.h trace/trace.h trace/file.h trace/file.c trace/format.h trace/names.c \
	trace/store.h trace/store.c trace/modules.c trace/rings.c trace/stats.c \
	trace/list.h trace/list.c trace/read.h trace/read.c trace/totals.h trace/totals.c trace/dump.c trace/summary.c \
	trace/recent.c trace/exchanges.h trace/exchanges.c \
	trace/check.h trace/check.c trace/check_state.c trace/site.c \
	trace/staging.h trace/staging.c trace/causes.h trace/causes.c \
	trace/explain.c trace/blame.c trace/wrap.h trace/wrap.c trace/filter.h trace/filter.c \
	trace/perfetto.h trace/perfetto.c
EXTRA_DIST += trace/README.md
# SPDX-License-Identifier: BSD-2-Clause
