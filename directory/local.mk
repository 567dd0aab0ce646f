libcore_la_SOURCES += directory/directory.h directory/state.h directory/directory.c directory/lattice.c \
	directory/noted.c directory/sectors.c
EXTRA_DIST += directory/README.md
# SPDX-License-Identifier: BSD-2-Clause
