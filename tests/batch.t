#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Batches of products on the host, and on 1 and 3 devices with every call offloaded and checked, and
# with verification on the devices of the test.  Asserts
# that the devices take batches as single calls, under the routine's name in the statistics, and products of several
# shapes at any places as one task a device.
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

    # A hundred matrices of four sizes in a shuffled pool. A device gets its products' three parts of the pool in three
    # transfers. The second call moves nothing.
    SEMCACHE_STATS=$scratch/stats SEMCACHE_CHECK=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
        "$tool" run --device "emu:h200x8:$devices" "$program" 100 > "$scratch/out" 2>&1
    verdict $? "a pool on $devices devices" "$(grep -v '^ok' "$scratch/out")"
    wrong=
    grep -q '"dgemm_batch": {"offloaded": 2, "host": 0}' "$scratch/stats" || wrong="$wrong calls"
    grep -q "\"transfers\": {\"h2d\": $((3 * devices))," "$scratch/stats" || wrong="$wrong transfers"
    up=$(sed -n 's/.*"bytes": {"h2d": \([0-9]*\),.*/\1/p' "$scratch/stats")
    [ "${up:-0}" -gt $((3 * 98 * 64 * 64 * 8)) ] && [ "$up" -le $((3 * 100 * 64 * 64 * 8)) ] || wrong="$wrong bytes=$up"
    report "$wrong" 'each part of the pool goes up once'
done
SEMCACHE_VERIFY=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
    "$tool" run --device "$device" "$program" > "$scratch/out" 2>&1
verdict $? 'with verification' "$(grep -v '^ok' "$scratch/out")"
end
