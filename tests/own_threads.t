#!/bin/sh
# A host BLAS whose own threads fault on a result that an emulated device is computing. The defect was a hang: the
# emulated device waited for the thread pool that waited for the device.
echo 1..1
said=$(timeout 600 "$top_builddir/tools/semcache" run --device "${SEMCACHE_TEST_DEVICE:-emu:h200x8:1}" \
    --offload always "$top_builddir/tests/own_threads" 6 2>&1)
case $said in
    ok) echo "ok 1 - a factorisation inside OpenBLAS waits for a product on a device" ;;
    'no OpenBLAS') echo "ok 1 # SKIP no OpenBLAS here" ;;
    *) echo "not ok 1 - a factorisation inside OpenBLAS waits for a product on a device"; echo "# $said" ;;
esac
# SPDX-License-Identifier: BSD-2-Clause
