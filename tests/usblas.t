#!/bin/sh
# The Sparse BLAS on the host and on 1, 2 and 4 emulated devices (or the devices named), including its messages about
# bad input. Where librsb is installed, the same program must give the same answers with librsb; and with semcache
# preloaded, none of librsb's functions may be called.
. "$top_srcdir/tests/tap.sh"
tool=$top_builddir/tools/semcache tests=$top_builddir/tests
[ -x "$tool" ] && [ -x "$tests/usblas" ] || { echo '1..0 # SKIP a program was not built'; exit 0; }

verdict_of() { # title, status
    sed 's/^/# /' "$scratch/out"
    report "$([ "$2" = 0 ] || grep '^not ok' "$scratch/out" || echo "status $2")" "$1"
}
run() { # title, device, program
    "$tool" run --device "$2" --offload always --check --stats "$scratch/stats" "$3" \
        > "$scratch/out" 2> "$scratch/said"
    verdict_of "$1" $?
}

if [ -n "$SEMCACHE_TEST_DEVICE" ]; then
    set -- "$SEMCACHE_TEST_DEVICE"
else
    set -- none emu:h200x8:1 emu:h200x8:2 emu:h200x8:4
fi
for device; do
    run "the Sparse BLAS on $device" "$device" "$tests/usblas"
    report "$(cat "$scratch/said")" "nothing is said on $device"
    run "librsb's additions on $device" "$device" "$tests/usblas_access"
    run "threads on $device" "$device" "$tests/usblas_threads"
done

run 'bad input' none "$tests/usblas_errors"
lines=$(sed -n 's/^# lines: //p' "$scratch/out")
report "$([ "$(grep -c '^semcache: error: ' "$scratch/said")" = "$lines" ] || cat "$scratch/said")" \
    "a line for each of $lines mistakes"

if [ -x "$tests/usblas_rsb" ]; then
    OMP_NUM_THREADS=1 USBLAS_NARROW=1 "$tests/usblas_rsb" > "$scratch/out" 2>&1
    verdict_of 'librsb gives the same answers' $?
    for device; do
        run "in place of librsb on $device" "$device" "$tests/usblas_rsb"
    done
    LD_DEBUG=bindings SEMCACHE_DEVICE=none LD_PRELOAD=$library "$tests/usblas_rsb" 2> "$scratch/bindings" \
        > "$scratch/out"
    grep 'usblas_rsb.*symbol .\(BLAS_\|blas_\|rsb__wp\)' "$scratch/bindings" > "$scratch/bound"
    report "$([ -s "$scratch/bound" ] || echo 'no bindings are known'; grep -v 'libsemcache' "$scratch/bound" |
        head -5)" "none of librsb's names is bound"
else
    skip 'librsb is not installed'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
