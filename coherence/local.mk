# coherence
libcore_la_SOURCES += coherence/coherence.h coherence/faults.h coherence/mirror.h coherence/protocol.h \
	coherence/block.c coherence/call.c coherence/check.c coherence/convert_task.c coherence/exchange.c \
	coherence/fork.c coherence/host_access.c coherence/link.c \
	coherence/link_task.c coherence/loss.c coherence/memory.c coherence/mirror.c coherence/outside.c coherence/own.c \
	coherence/piece.c coherence/place.c coherence/product_task.c \
	coherence/protocol.c coherence/push.c coherence/query.c coherence/resolve.c coherence/route.c \
	coherence/start.c coherence/task.c \
	coherence/transfer.c coherence/wait.c coherence/watch.c coherence/window.c
EXTRA_DIST += coherence/README.md
