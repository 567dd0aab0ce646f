#!/bin/sh
# Programs at the limits of data, addresses and mappings (doc/limits.md). The limit takes effect while devices hold the
# program's arrays. Asserts right results, and at most one line on stderr.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/limits
OPENBLAS_NUM_THREADS=1 # a new thread of it waits for memory for ever
export OPENBLAS_NUM_THREADS
need "$tool"
need "$program"

well() { [ "$status" -eq 0 ] && [ "$(cat "$scratch/out")" = right ] && [ "$(wc -l < "$scratch/err")" -le 1 ]; }

for track in auto mprotect; do
    for where in malloc mapped static; do
        for how in data room space mappings; do
            env SEMCACHE_TRACK=$track timeout 300 "$tool" run -d "$device" -o always "$program" $where $how \
                > "$scratch/out" 2> "$scratch/err"
            status=$?
            ok "$where, tracked by $track, limit: $how" well
        done
    done
done
for limit in '-d 2000000' '-v 2000000' '-v 20000000'; do
    # shellcheck disable=SC3045
    (ulimit $limit && exec timeout 300 "$tool" run -d "$device" -o always "$program" malloc none) \
        > "$scratch/out" 2> "$scratch/err"
    status=$?
    ok "ulimit $limit" well
done
end
# SPDX-License-Identifier: BSD-2-Clause
