#!/bin/sh
# Tasks with times run where the times say; statistics and traces show the names of tasks.
. "$top_srcdir/tests/tap.sh"
need "$tool"

"$tool" run --device emu:h200x8:1 --stats "$scratch/stats" --trace "$scratch/trace" "$top_builddir/tests/tasks_named" \
    > "$scratch/out" 2> "$scratch/err"
verdict $? 'places' "$(grep '^not ok' "$scratch/out"; cat "$scratch/err")"
counted() { # name, on devices, on the host
    grep -q "\"$1\": {\"offloaded\": $2, \"host\": $3}" "$scratch/stats"
    verdict $? "statistics of $1" "$(grep -A9 '"calls"' "$scratch/stats")"
}
counted 'cheap on the host' 1 1
counted 'cheap on both' 1 1
counted large 1 0
counted '7 has a name that is longer tha' 1 0
counted semcache_run 42 0
"$tool" trace dump "$scratch/trace" > "$scratch/dump" 2> "$scratch/err"
grep 'kernel' "$scratch/dump" | grep -q 'large own'
verdict $? 'the trace names tasks' "$(grep kernel "$scratch/dump" | head)"
"$tool" trace dump --routine large "$scratch/trace" | grep -q kernel
verdict $? 'and filters by their names' "$(head "$scratch/dump")"
"$tool" trace replay "$scratch/trace" > "$scratch/out" 2> "$scratch/err"
verdict $? 'a replay of the trace' "$(cat "$scratch/err")"
grep -q ": $(grep -c 'kernel .* own' "$scratch/dump") tasks of the program were left out" "$scratch/err"
verdict $? 'says how many tasks it leaves out' "$(cat "$scratch/err")"
end
# SPDX-License-Identifier: BSD-2-Clause
