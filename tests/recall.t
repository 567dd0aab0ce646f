#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Repeated reductions: right on the host and on devices, known without a second computation on devices.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/recall
need "$program"

"$tool" run --device none "$program" > "$scratch/out" 2>&1
verdict $? 'on the host' "$(grep -v '^ok' "$scratch/out")"
for devices in 1 3; do
    "$tool" run --device "emu:h200x8:$devices" --offload always --check "$program" devices > "$scratch/out" 2>&1
    verdict $? "on $devices devices: $(grep -c '^ok' "$scratch/out") tests" "$(grep -v '^ok' "$scratch/out")"
done
SEMCACHE_VERIFY=1 "$tool" run --device emu:h200x8:2 --offload always "$program" > "$scratch/out" 2>&1
verdict $? 'verified by the host' "$(grep -v '^ok' "$scratch/out")"
end
