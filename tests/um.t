#!/bin/sh
# CUDA's calls on managed memory through libsemcache-cuda-um, without devices, and on 1, 2 and 4 emulated devices (or
# the devices named). Runs um_blas, um_sparse and um_runtime; stderr must stay empty, except for cuSPARSE's own
# complaints about misuse on a GPU.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/.libs/libsemcache-cuda-um.so"
need "$tool"

if [ -n "$SEMCACHE_TEST_DEVICE" ]; then
    set -- "$SEMCACHE_TEST_DEVICE"
else
    set -- none emu:h200x8:1 emu:h200x8:2 emu:h200x8:4
fi
for program in um_blas um_sparse um_runtime; do
    for device; do
        "$tool" run --device "$device" --offload always --check "$top_builddir/tests/$program" \
            $SEMCACHE_TEST_SEED > "$scratch/out" 2> "$scratch/err"
        status=$?
        report "$([ $status = 0 ] || grep -A1 '^not ok\|^Bail' "$scratch/out" || echo "status $status")" \
            "$program on $device: $(grep -c '^ok' "$scratch/out") tests"
        report "$(grep -v '^ \*\* On entry to cusparse' "$scratch/err" | head -5)" \
            "$program on $device: no line on stderr"
    done
done
end
# SPDX-License-Identifier: BSD-2-Clause
