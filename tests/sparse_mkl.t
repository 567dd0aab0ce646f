#!/bin/sh
# MKL's names, on the host and on 1, 2 and 4 emulated devices (or what is there).
. "$top_srcdir/tests/tap.sh"
tool=$top_builddir/tools/semcache program=$top_builddir/tests/sparse_mkl
[ -x "$tool" ] && [ -x "$program" ] || { echo '1..0 # SKIP a program was not built'; exit 0; }

if [ -n "$SEMCACHE_TEST_DEVICE" ]; then
    set -- "$SEMCACHE_TEST_DEVICE"
else
    set -- none emu:h200x8:1 emu:h200x8:2 emu:h200x8:4
fi
for device; do
    "$tool" run --device "$device" --offload always --check "$program" "$device" > "$scratch/out" 2> "$scratch/said"
    status=$?
    sed 's/^/# /' "$scratch/out"
    report "$([ $status = 0 ] || grep '^not ok' "$scratch/out" || echo "status $status")" "MKL's names on $device"
done
end
