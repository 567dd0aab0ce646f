#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Batches of products on the host, and on 1 and 3 devices with every call offloaded and checked, and
# with verification on the devices of the test.  Asserts
# that the devices take batches as single calls, under the routine's name in the statistics.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/batch

"$tool" run --device none "$program" > "$scratch/out" 2>&1
verdict $? 'on the host' "$(grep -v '^ok' "$scratch/out")"
for devices in 1 3; do
    SEMCACHE_STATS=$scratch/stats SEMCACHE_CHECK=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
        "$tool" run --device "emu:h200x8:$devices" "$program" > "$scratch/out" 2>&1
    verdict $? "on $devices devices" "$(grep -v '^ok' "$scratch/out")"
    missing=
    for type in s d c z; do
        for name in gemm_batch gemm_batch_strided; do
            grep -q "\"$type$name\"" "$scratch/stats" || missing="$missing $type$name"
        done
    done
    report "$missing" 'the statistics name all routines'
done
SEMCACHE_VERIFY=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
    "$tool" run --device "$device" "$program" > "$scratch/out" 2>&1
verdict $? 'with verification' "$(grep -v '^ok' "$scratch/out")"
end
