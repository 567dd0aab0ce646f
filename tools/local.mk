# tools
EXTRA_DIST += tools/README.md
dist_man_MANS += tools/semcache.1

bin_PROGRAMS += tools/semcache
tools_semcache_SOURCES = tools/tool.h tools/semcache.c tools/menu.c tools/info.c tools/output.c tools/run.c \
	tools/complete.c tools/trace.c tools/where.c tools/replay_run.c tools/lines.c \
	tools/frames.h tools/frames.c tools/dwarf.h tools/dwarf.c tools/links.c tools/tune.c \
	tools/trial.h tools/trial.c tools/calibrate.c tools/tune_check.c tools/doctor.h tools/doctor.c \
	tools/doctor_machine.c tools/doctor_program.c tools/doctor_process.c tools/doctor_trace.c \
	tools/elf_file.h tools/elf_file.c tools/process.h tools/process.c tools/stat.c \
	tools/adapters.c
tools_semcache_CPPFLAGS = $(AM_CPPFLAGS) -DSC_LIBRARY_FILE=\"$(libdir)/libsemcache.so.0\" \
	-DSC_REPLAY_FILE=\"$(pkglibexecdir)/semcache-replay\" -DSC_BIN_DIR=\"$(bindir)\" \
	-DSC_ADAPTERS_DIR=\"$(pkgdatadir)/adapters\" -DSC_ADAPTER_LIBRARIES=\"$(libdir)/semcache\"
tools_semcache_LDADD = libveneers.la libcore.la $(DW_LIBS)

# An ordinary program that preloads the library.  The program links no object of the library, because their malloc would
# hide the preloaded malloc.
pkglibexec_PROGRAMS += tools/semcache-replay
tools_semcache_replay_SOURCES = tools/replay.c tools/replay_memory.h tools/replay_memory.c blas/verify/replay.h \
	blas/verify/replay.c blas/veneers/arguments.c ops/ops.c trace/read.h trace/read.c trace/list.c base/log.h base/log.c \
	base/write.h base/write.c base/inside.h base/inside.c
nodist_tools_semcache_replay_SOURCES = blas/veneers/replay_calls.h blas/veneers/tables.c ops/operations.c
tools_semcache_replay_CPPFLAGS = $(AM_CPPFLAGS)
tools_semcache_replay_LDADD = -ldl
blas/verify/tools_semcache_replay-replay.$(OBJEXT): blas/veneers/replay_calls.h

# Completion of shells
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/vendor-completions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_bashcompletion_DATA = tools/completion/semcache
dist_zshcompletion_DATA = tools/completion/_semcache
dist_fishcompletion_DATA = tools/completion/semcache.fish
# SPDX-License-Identifier: BSD-2-Clause
