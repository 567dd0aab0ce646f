#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Sparse matrices with arrays that are too small to be tracked, on the host and on devices.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/sparse_small
need "$program"
run() { # title, settings, argument of the program
    title=$1 argument=$2
    shift 2
    "$@" "$program" $argument > "$scratch/out" 2>&1
    verdict $? "$title: $(grep -c '^ok' "$scratch/out") tests" "$(grep -v '^ok' "$scratch/out")"
}
run 'on the host' '' "$tool" run --device none
run 'one device' always "$tool" run --device emu:h200x8:1 --offload always --check
run 'three devices' always "$tool" run --device emu:h200x8:3 --offload always --check
# The calls before the move depend on the number of the host's cores.
cores=$top_builddir/tests/.libs/cores.so
run 'where they are' auto env SEMCACHE_OPEN=first LD_PRELOAD="$cores" "$tool" run --device emu:h200x8:1 --check
run 'verified by the host' '' env SEMCACHE_VERIFY=1 "$tool" run --device emu:h200x8:2 --offload always
end
