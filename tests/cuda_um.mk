# The library for CUDA programs with unified memory
EXTRA_DIST += tests/um_blas.c tests/um_sparse.c tests/um_runtime.c tests/um_foreign.c tests/um_place.c \
	tests/um_turns.c tests/um_place.h \
	tests/um_own.c tests/um_fake_cuda.c tests/um_module.c tests/um.h
if HAVE_CUDA_UM
check_PROGRAMS += tests/um_blas tests/um_sparse tests/um_runtime tests/um_foreign tests/um_place tests/um_turns \
	tests/um_own
UM_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
UM_LDADD = libsemcache-cuda-um.la libsemcache.la -lm
tests_um_blas_SOURCES = tests/um_blas.c tests/tap.h tests/um.h
nodist_tests_um_blas_SOURCES = cuda-um/checks.h
tests/um_blas-um_blas.$(OBJEXT): cuda-um/checks.h
tests_um_blas_CPPFLAGS = $(UM_CPPFLAGS) -DREFERENCE_BLAS=\"libblas.so.3\"
tests_um_blas_LDADD = $(UM_LDADD)
tests/um_blas-um_blas.$(OBJEXT): cuda-um/checks.h
tests/um_blas-um_blas.$(OBJEXT): cuda-um/checks.h
tests_um_sparse_SOURCES = tests/um_sparse.c tests/tap.h tests/um.h
tests_um_sparse_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_sparse_LDADD = $(UM_LDADD)
tests_um_runtime_SOURCES = tests/um_runtime.c tests/tap.h tests/um.h
tests_um_runtime_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_runtime_LDADD = $(UM_LDADD)
tests_um_foreign_SOURCES = tests/um_foreign.c tests/tap.h
tests_um_foreign_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_foreign_LDFLAGS = $(CUDA_LDFLAGS)
tests_um_foreign_LDADD = $(UM_LDADD)
tests_um_place_SOURCES = tests/um_place.c tests/um_place.h tests/um.h tests/tap.h
tests_um_place_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_place_LDFLAGS = $(CUDA_LDFLAGS)
tests_um_place_LDADD = $(UM_LDADD)
tests_um_turns_SOURCES = tests/um_turns.c tests/um_place.h tests/um.h tests/tap.h
tests_um_turns_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_turns_LDFLAGS = $(CUDA_LDFLAGS)
tests_um_turns_LDADD = $(UM_LDADD)
# Linked to libsemcache alone: libsemcache-cuda-um may be preloaded.
tests_um_own_SOURCES = tests/um_own.c tests/tap.h
tests_um_own_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_own_LDADD = libsemcache.la -lm

# A fake CUDA in place of CUDA's libraries, and the matching module of emulated devices.
check_LTLIBRARIES += tests/um_fake_cuda.la tests/um/semcache-cuda.la
tests_um_fake_cuda_la_SOURCES = tests/um_fake_cuda.c tests/um_fake_sparse.c
tests_um_fake_cuda_la_CPPFLAGS = $(UM_CPPFLAGS)
tests_um_fake_cuda_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere -Wl,-Bsymbolic-functions
tests_um_semcache_cuda_la_SOURCES = tests/um_module.c device/emu/blas.c device/emu/clock.c device/emu/emu.c \
	device/emu/hostmem.c device/emu/machine.c device/emu/memory.c device/emu/multiply.c device/emu/analysis.c \
	device/emu/convert.c device/emu/streams.c \
	device/kernel_host.c device/kernel_sparse.c device/kernel_lapack.c device/lapack_seconds.c \
	device/kernel_convert.c \
	base/config.c base/inside.c base/loader.c base/locks.c base/log.c base/write.c \
	base/own_fd.c base/quiet.c base/self_mem.c base/stack.c base/status.c ops/ops.c
nodist_tests_um_semcache_cuda_la_SOURCES = ops/operations.c
tests_um_semcache_cuda_la_CPPFLAGS = $(libcore_la_CPPFLAGS)
tests_um_semcache_cuda_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere -Wl,-z,defs
tests_um_semcache_cuda_la_LIBADD = -lm
endif
UM_TESTS = tests/examples_um.t tests/um.t tests/um_foreign.t tests/um_own.t
dist_check_SCRIPTS += $(UM_TESTS)
TESTS += $(UM_TESTS)
# SPDX-License-Identifier: BSD-2-Clause
