#!/bin/sh
# The cost of a plan by instructions: a repeated question costs less than 3000 (1 us at one instruction per cycle of 3
# GHz), a new one less than 150000 (50 us) on 1 to 8 devices. bench/decide prints the times.
. "$top_srcdir/tests/callgrind.sh"
count_instructions plan_cost
for kind in repeated new; do
    case $kind in repeated) plans=1000 most=3000 ;; *) plans=100 most=150000 ;; esac
    for devices in 1 2 4 8; do
        spent=$(($(instructions_in "cost_${kind}_$devices") / plans))
        [ $spent -gt 0 ] && [ $spent -lt $most ]
        verdict $? "$devices devices, $kind plan: $spent instructions, less than $most" ''
    done
done
end
# SPDX-License-Identifier: BSD-2-Clause
