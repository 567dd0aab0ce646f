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
# The device fails in the middle: the results that were computed ahead, too, are right.
for launch in 1000 3001 5002; do
    printf '%s\n' 'semcache-machine 1' 'title fails' host '  call 2u' '  sync 3u' 'device 0' '  name Example' \
        '  memory 16G' '  bandwidth 700G' '  launch 5u' '  gemm s 14T' '  gemm d 7T' "  fail launch $launch" \
        'link host <-> 0' '  latency 10u' '  bandwidth 12G' > "$scratch/fails.machine"
    "$tool" run --device "emu:$scratch/fails.machine" --offload always "$program" > "$scratch/out" 2> "$scratch/err"
    verdict $? "launch $launch fails" "$(grep -v '^ok' "$scratch/out")"
    ok 'and semcache says so' has err 'device 0'
done
SEMCACHE_VERIFY=1 "$tool" run --device emu:h200x8:2 --offload always "$program" > "$scratch/out" 2>&1
verdict $? 'verified by the host' "$(grep -v '^ok' "$scratch/out")"
end
