#!/bin/sh
# Misuse of tasks under SEMCACHE_CHECK=1: one line each, on the host and on a device.
. "$top_srcdir/tests/tap.sh"
need "$tool"

"$tool" run --device emu:h200x8:1 --offload always --check "$top_builddir/tests/tasks_check" > "$scratch/out" \
    2> "$scratch/err"
verdict $? 'misuse has defined results' "$(grep '^not ok' "$scratch/out"; cat "$scratch/err")"
lines() { # number, text, title
    found=$(grep -c "$2" "$scratch/err")
    [ "$found" -eq "$1" ]
    verdict $? "$3" "$found lines
$(cat "$scratch/err")"
}
lines 2 'function of a task has written operand 0' 'a write to an operand that is read only, on both places'
lines 1 'lies in freed memory' 'a region of freed memory'
lines 1 'the holder of a token has written operand 0' 'a write to a read token'
lines 1 '1 tokens were never released' 'a token that is never released'
lines 5 'semcache: error' 'and nothing else'

end
# SPDX-License-Identifier: BSD-2-Clause
