#!/bin/sh
# The functions for libraries with loops of their own, where the devices compute, and where the calls are declined.
. "$top_srcdir/tests/tap.sh"
need "$tool"
program=$top_builddir/tests/library_try
run() {
    title=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    report "$(grep '^not ok' "$scratch/out")$(cat "$scratch/err")" "$title: $(grep -c '^ok' "$scratch/out") right"
    ok "$title: status" ended 0
}
run devices "$tool" run --device "$device" --offload always --check "$program" 1
run auto env SEMCACHE_OPEN=first "$tool" run --device "$device" --check "$program"
run declined "$tool" run --device "$device" --offload never "$program"
run 'no devices' "$tool" run --device none "$program"
end
# SPDX-License-Identifier: BSD-2-Clause
