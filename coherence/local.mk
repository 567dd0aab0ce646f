# coherence
libcore_la_SOURCES += coherence/coherence.h coherence/faults.h coherence/mirror.h coherence/protocol.h \
	coherence/block.c coherence/call.c coherence/check.c coherence/convert_task.c coherence/exchange.c \
	coherence/fork.c coherence/host_access.c coherence/derived.c coherence/derived_task.c coherence/loss.c \
	coherence/memory.c coherence/mirror.c coherence/untracked.c coherence/library_memory.c coherence/piece.c \
	coherence/locate.c coherence/product_task.c coherence/protocol.c coherence/push.c coherence/query.c \
	coherence/resolve.c coherence/route.c coherence/start.c coherence/task.c coherence/transfer.c \
	coherence/wait.c coherence/completion.c coherence/partial_fetch.c
EXTRA_DIST += coherence/README.md
