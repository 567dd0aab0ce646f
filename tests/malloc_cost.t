#!/bin/sh
# Rule M1 of host/README.md: a small allocation and its end cost a few instructions more than libc's.
. "$top_srcdir/tests/callgrind.sh"
count_instructions malloc_cost
for function in malloc calloc realloc; do
    libc=$(instructions_in cost_libc_$function)
    ours=$(instructions_in cost_ours_$function)
    more=$((ours - libc)) # of 1000 calls
    case $function in realloc) most=28 ;; *) most=18 ;; esac
    [ "$libc" -gt 0 ] && [ $more -gt 0 ] && [ $more -le $((1000 * most)) ]
    verdict $? "$function: $((more / 1000)) instructions more than $((libc / 1000))" ''
done
end
# SPDX-License-Identifier: BSD-2-Clause
