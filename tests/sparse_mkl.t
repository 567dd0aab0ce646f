#!/bin/sh
# MKL's routines on the host and on 1, 2 and 4 emulated devices (or the devices named). Asserts as well that the test
# program finds an omitted transfer or kernel.
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
    ok 'a line for each description without a result' [ "$(grep -c 'y stays as it is' "$scratch/said")" = 2 ]
done

# The n-th operation of a kind is accepted, but never done.
found() {
    cat > "$scratch/bad.machine" <<END
semcache-machine 1
device 0
  memory 1G
  bandwidth 700G
  gemm s 14T
  gemm d 7T
  skip $1 $2
link host <-> 0
  bandwidth 12G
END
    "$tool" run --device "emu:$scratch/bad.machine" --offload always "$program" emu part > "$scratch/out" 2>&1
    [ $? != 0 ] && grep -q '^not ok' "$scratch/out"
}
# A few omissions are harmless: elements that a kernel overwrites are uploaded with the rest of their sector.
for kind in copy launch; do
    seen=0
    for n in 1 2 3 5 8 13 21 34 55; do
        found $kind $n && seen=$((seen + 1))
    done
    report "$([ $seen -ge 7 ] || echo "found: $seen")" "of 9 operations that are left out, most are found: $kind"
done
end
# SPDX-License-Identifier: BSD-2-Clause
