# Tasks of the program
libcore_la_SOURCES += tasks/tasks.h tasks/tasks_int.h tasks/copies.c tasks/decompose.c tasks/hold.c \
	tasks/move.c tasks/part.c tasks/region.c tasks/run.c tasks/token.c
EXTRA_DIST += tasks/README.md
# SPDX-License-Identifier: BSD-2-Clause
