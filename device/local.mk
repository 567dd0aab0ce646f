# device: interface, host kernels, emulated devices
libcore_la_SOURCES += device/device.h device/share.h device/device_int.h device/backend.h device/open.c \
  device/submit.h device/submit.c device/links.h device/links.c device/exchange.h device/exchange.c \
  device/kernel_host.c device/kernel_sparse.c device/kernel_lapack.c device/lapack_seconds.c \
  device/csr_loops.inc device/kernel_convert.c \
  device/slot.h device/emu/backend.c device/emu/emu.h device/emu/emu_int.h device/emu/emu.c \
  device/emu/streams.c device/emu/memory.c device/emu/hostmem.c device/emu/blas.c device/emu/multiply.c \
  device/emu/analysis.c device/emu/convert.c \
  device/emu/clock.h device/emu/clock.c device/emu/machine.h device/emu/machine.c

machinesdir = $(pkgdatadir)/machines
dist_machines_DATA = device/emu/machines/dgx1.machine device/emu/machines/h200x8.machine \
  device/emu/machines/k20x2.machine device/emu/machines/k40x3.machine device/emu/machines/v100x16.machine \
  device/emu/machines/m2090x8.machine device/emu/machines/h200x2.machine
# In a build tree the machine files lie beside the library, where the library looks (libsemcache/places.c), even after
# the tree has been moved.
machines/copied: $(dist_machines_DATA)
	$(AM_V_GEN)$(MKDIR_P) machines && \
	  for file in $(dist_machines_DATA); do cp '$(srcdir)'/$$file machines/ || exit 1; done && touch $@
noinst_DATA += machines/copied
CLEANFILES += machines/copied machines/*.machine
EXTRA_DIST += device/README.md
nobase_dist_doc_DATA += doc/machine-files.md

# The back ends that are modules.
include device/cuda/local.mk
include device/null/local.mk
# SPDX-License-Identifier: BSD-2-Clause
