#!/bin/sh
# The cost of a task, or of a token that reads, on resident regions by instructions, with the queue of an emulated
# device.  The least of three runs: a thread also counts its looks at a queue that a busy machine empties late.
# bench/task_cost prints times.
. "$top_srcdir/tests/callgrind.sh"
SEMCACHE_DEVICE=emu:h200x8:1 SEMCACHE_OFFLOAD=always SEMCACHE_DATABASE=none
export SEMCACHE_DEVICE SEMCACHE_OFFLOAD SEMCACHE_DATABASE
for round in 1 2 3; do
    count_instructions tasks_cost
    mv "$scratch/costs" "$scratch/costs$round"
done
while read -r kind most; do
    least=0
    for round in 1 2 3; do
        cp "$scratch/costs$round" "$scratch/costs"
        spent=$(($(instructions_in "cost_$kind") / 100))
        [ $least -gt 0 ] && [ $least -le $spent ] || least=$spent
    done
    [ $least -gt 0 ] && [ $least -lt "$most" ]
    verdict $? "$kind: $least instructions, less than $most" ''
done << 'END'
read 6000
written 12500
four 22000
token 7800
END
end
# SPDX-License-Identifier: BSD-2-Clause
