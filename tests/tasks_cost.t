#!/bin/sh
# The cost of a task, or of a token that reads, on resident regions by instructions, with the queue of an emulated
# device.  bench/task_cost prints times.
. "$top_srcdir/tests/callgrind.sh"
SEMCACHE_DEVICE=emu:h200x8:1 SEMCACHE_OFFLOAD=always SEMCACHE_DATABASE=none
export SEMCACHE_DEVICE SEMCACHE_OFFLOAD SEMCACHE_DATABASE
count_instructions tasks_cost
while read -r kind most; do
    spent=$(($(instructions_in "cost_$kind") / 100))
    [ $spent -gt 0 ] && [ $spent -lt "$most" ]
    verdict $? "$kind: $spent instructions, less than $most" ''
done << 'END'
read 6000
written 12500
four 22000
token 7800
END
end
# SPDX-License-Identifier: BSD-2-Clause
