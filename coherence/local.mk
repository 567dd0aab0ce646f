libcore_la_SOURCES += coherence/access.h coherence/call.h coherence/derived.h coherence/devices.h \
	coherence/faults.h coherence/lend.h coherence/mirror.h coherence/protocol.h coherence/task.h coherence/view.h \
	coherence/acquire.c coherence/call.c coherence/check.c coherence/completion.c coherence/convert_task.c \
	coherence/derived.c coherence/derived_memory.c coherence/derived_task.c \
	coherence/evict.c coherence/exchange.c coherence/fault.c coherence/fork.c coherence/read_history.c \
	coherence/habit.c coherence/keep_open.c coherence/lease.c coherence/lend.c coherence/lent.c \
	coherence/library_memory.c coherence/locate.c coherence/lock.c coherence/loss.c coherence/memory.c \
	coherence/mirror.c coherence/order.c coherence/own_task.c coherence/partial_fetch.c coherence/piece.c \
	coherence/multiply_task.c \
	coherence/protocol.c coherence/push.c coherence/query.c coherence/release.c coherence/resolve.c \
	coherence/route.c coherence/scribble.c coherence/speculate.c coherence/start.c coherence/sync.c coherence/task.c \
	coherence/touched.c coherence/transfer.c coherence/untracked.c coherence/view.c coherence/wait.c \
	coherence/windows.c
EXTRA_DIST += coherence/README.md
# SPDX-License-Identifier: BSD-2-Clause
