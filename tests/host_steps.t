#!/bin/sh
# Operands at home cost a call on the host the same few instructions, independent of length, stride and extent.
. "$top_srcdir/tests/callgrind.sh"
case ${SEMCACHE_TEST_DEVICE:-emu} in emu*) ;; *) echo '1..0 # SKIP no device under valgrind'; exit 0 ;; esac
count_instructions host_steps
for case in untracked home shared partly; do
    case $case in shared) most=13500 ;; *) most=5500 ;; esac
    few=$(($(instructions_in cost_few_$case) / 50))
    many=$(($(instructions_in cost_many_$case) / 50))
    [ $few -gt 0 ] && [ $many -gt 0 ] && [ $many -le $((few + 40)) ] && [ $many -lt $most ]
    verdict $? "$case: $few instructions for 16 columns, $many for 1024" ''
done
end
# SPDX-License-Identifier: BSD-2-Clause
