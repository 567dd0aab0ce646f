# What is known of every operation: a table, and what is generated from it.
libcore_la_SOURCES += ops/ops.h ops/ops.c
nodist_libcore_la_SOURCES += ops/operations.h ops/operations.c ops/calls.h

generate_ops = $(MKDIR_P) ops && $(AWK) -f $(srcdir)/ops/generate.awk
ops_source = $(srcdir)/ops/operations.tab $(srcdir)/ops/generate.awk
ops/operations.h: $(ops_source)
	$(AM_V_GEN)$(generate_ops) -v what=enum $(srcdir)/ops/operations.tab > $@.new && mv $@.new $@
ops/operations.c: $(ops_source)
	$(AM_V_GEN)$(generate_ops) -v what=tables $(srcdir)/ops/operations.tab > $@.new && mv $@.new $@
ops/calls.h: $(ops_source)
	$(AM_V_GEN)$(generate_ops) -v what=calls $(srcdir)/ops/operations.tab > $@.new && mv $@.new $@
BUILT_SOURCES += ops/operations.h ops/calls.h
CLEANFILES += ops/operations.h ops/operations.c ops/calls.h
EXTRA_DIST += ops/operations.tab ops/generate.awk ops/README.md
# SPDX-License-Identifier: BSD-2-Clause
