#!/bin/sh
# Tasks of the program, and the examples of the memory model: on one and two emulated devices, without devices, and with
# little memory.  Traces fit the protocol.
. "$top_srcdir/tests/tap.sh"
tool=$top_builddir/tools/semcache
need "$tool"
programs="tasks_run tasks_litmus tasks_distribution tasks_token"
run() { # title, options of semcache run
    title=$1
    shift
    for program in $programs; do
        "$tool" run "$@" "$top_builddir/tests/$program" > "$scratch/out" 2> "$scratch/err"
        verdict $? "$title: $program" "$(grep -E '^(not ok|Bail)' "$scratch/out"; cat "$scratch/err")"
    done
}

run 'one device' --device emu:h200x8:1 --offload always --check
run 'two devices' --device emu:h200x8:2 --offload always --check --trace="$scratch/trace.%p"
for file in "$scratch"/trace.*; do
    "$tool" trace check "$file" > "$scratch/said" 2>&1
    verdict $? 'the trace fits the protocol' "$(cat "$scratch/said")"
done
"$tool" run --device emu:h200x8:2 --offload always --trace="$scratch/parts" "$top_builddir/tests/tasks_distribution" \
    > "$scratch/out" 2>&1
copies=$("$tool" trace dump "$scratch/parts" | grep -c 'kernel .* copy ')
verdict "$copies" 'tasks on the parts of a distribution work in place'
programs="tasks_run tasks_token" # with leases, which --check avoids
run 'one device, unchecked' --device emu:h200x8:1 --offload always
run 'two devices, unchecked' --device emu:h200x8:2 --offload always
SEMCACHE_MEMORY_LIMIT=2M run 'little memory, unchecked' --device emu:h200x8:2 --offload always
programs="tasks_run tasks_litmus tasks_distribution tasks_token"
run 'no devices' --device none
export SEMCACHE_MEMORY_LIMIT=2M
programs="tasks_run tasks_litmus tasks_token" # distributed arrays would not fit
run 'devices with little memory' --device emu:h200x8:2 --offload always --check

end
# SPDX-License-Identifier: BSD-2-Clause
