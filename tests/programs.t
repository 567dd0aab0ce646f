#!/bin/sh
# Real programs as distributed (programs.sh, doc/programs.md), with offload auto and with every call on devices. Asserts
# that a program prints the same as without semcache. In make check-long.
. "$top_srcdir/tests/tap.sh"
need "$tool"
sh "$top_srcdir/tests/programs.sh" -b "$top_builddir" -d "$device" > "$scratch/table" 2> "$scratch/differences"
status=$?
while IFS='|' read -r nothing name auto auto_calls always always_calls rest; do
    case $name in *program*|*---*) continue ;; esac
    name=$(echo $name)
    case $auto in *'not here'*) skip "$name:${auto#*:}"; continue ;; esac
    [ "$auto" = ' same ' ] && [ "$always" = ' same ' ]
    verdict $? "$name prints the same, auto ($auto_calls calls on devices) and always ($always_calls)" \
        "auto:$auto, always:$always
$(cat "$scratch/differences")"
    [ "$always_calls" -gt 0 ]
    verdict $? "$name: calls ran on devices" "$nothing$rest"
done < "$scratch/table"
[ $status -le 1 ]
verdict $? 'all of them ran' "$(cat "$scratch/differences")"
end
# SPDX-License-Identifier: BSD-2-Clause
