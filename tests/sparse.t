#!/bin/sh
# Sparse matrices in a user's program, on the host and on 1, 2 and 4 emulated devices (or the devices named). Asserts
# the solution and the bytes moved (tests/sparse_cg.c).
. "$top_srcdir/tests/tap.sh"
tool=$top_builddir/tools/semcache program=$top_builddir/tests/sparse_cg
[ -x "$tool" ] && [ -x "$program" ] || { echo '1..0 # SKIP a program was not built'; exit 0; }

if [ -n "$SEMCACHE_TEST_DEVICE" ]; then
    set -- "$SEMCACHE_TEST_DEVICE -1"
else
    set -- 'none 0' 'emu:h200x8:1 1' 'emu:h200x8:2 2' 'emu:h200x8:4 4'
fi
for run; do
    "$tool" run --device "${run% *}" --offload always --check "$program" "${run#* }" > "$scratch/out" 2>&1
    status=$?
    sed 's/^/# /' "$scratch/out"
    report "$([ $status = 0 ] || grep '^not ok' "$scratch/out" || echo "status $status")" "CG on ${run% *}"
    [ -x "$top_builddir/bench/sparse_formats" ] || continue
    "$tool" run --device "${run% *}" --offload always --check "$top_builddir/bench/sparse_formats" 8000 1 \
        > "$scratch/out" 2>&1
    report "$([ $? = 0 ] || cat "$scratch/out")" "rows, columns and coordinates on ${run% *}"
done
end
# SPDX-License-Identifier: BSD-2-Clause
