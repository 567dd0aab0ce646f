#!/bin/sh
# The public interface, in a program linked with the library and started by the command.
tool=$top_builddir/tools/semcache
[ -x "$tool" ] || { echo '1..0 # SKIP tools/semcache was not built'; exit 0; }
device=${SEMCACHE_TEST_DEVICE:-emu:h200x8:2}
exec "$tool" run --device "$device" --offload always --check "$top_builddir/tests/library_api" "$device"
# SPDX-License-Identifier: BSD-2-Clause
