# trace
libcore_la_SOURCES += trace/event.h trace/trace.h trace/file.h trace/file.c trace/format.h trace/names.c \
	trace/store.h trace/store.c trace/modules.c trace/rings.h trace/rings.c trace/start.c trace/stats.c \
	trace/list.h trace/list.c trace/read.h trace/read.c trace/totals.h trace/totals.c trace/dump.c trace/summary.c \
	trace/recent.c trace/exchanges.h trace/exchanges.c \
	trace/check.h trace/check.c trace/check_state.c trace/site.c trace/chain.h trace/chain.c trace/python.c \
	trace/walk.h trace/walk.c \
	trace/staging.h trace/staging.c trace/causes.h trace/causes.c \
	trace/explain.c trace/blame.h trace/blame.c trace/blame_print.c \
	trace/diff.c trace/report.c trace/history.h trace/history.c \
	trace/tile_states.h trace/tile_states.c trace/states.h trace/states.c \
	trace/wrap.h trace/wrap.c trace/filter.h trace/filter.c \
	trace/perfetto.h trace/perfetto.c
EXTRA_DIST += trace/README.md
# SPDX-License-Identifier: BSD-2-Clause
