#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Transpositions made of copies: right on the host and on devices.  Asserts that devices did the copies ahead, that
# interrupted ones were rolled back, and that the trace of it keeps the protocol's rules.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/sweeps

# The value of a counter in the statistics.
counter() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$scratch/stats"; }

"$tool" run --device none "$program" > "$scratch/out" 2>&1
verdict $? 'on the host' "$(grep -v '^ok' "$scratch/out")"
for devices in 1 3; do
    SEMCACHE_STATS=$scratch/stats SEMCACHE_CHECK=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
        "$tool" run --device "emu:h200x8:$devices" "$program" > "$scratch/out" 2>&1
    verdict $? "on $devices devices" "$(grep -v '^ok' "$scratch/out")"
    ahead=$(counter speculated) back=$(counter rolled_back)
    [ "$ahead" -ge 100 ] && [ "$back" -ge 50 ] && [ "$((ahead - back))" -ge 30 ]
    verdict $? "done ahead on $devices devices" "$ahead times, rolled back $back times"
done
SEMCACHE_STATS=$scratch/stats SEMCACHE_CHECK=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
    "$tool" run --device emu:h200x8:3 "$program" strips > "$scratch/out" 2>&1
verdict $? 'long matrices on 3 devices' "$(grep -v '^ok' "$scratch/out")"
[ "$(counter speculated)" -eq 5 ]
verdict $? 'each transposed at once' "$(counter speculated) of 5"
SEMCACHE_STATS=$scratch/stats SEMCACHE_CHECK=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
    "$tool" run --device emu:h200x8:1 "$program" first > "$scratch/out" 2>&1
verdict $? 'first calls' "$(grep -v '^ok' "$scratch/out")"
[ "$(counter speculated) $(counter rolled_back)" = '1 0' ]
verdict $? 'the first copy counts' "$(counter speculated) ahead, $(counter rolled_back) rolled back"
SEMCACHE_CHECK=1 SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
    "$tool" run --device emu:h200x8:1 "$program" habit > "$scratch/out" 2>&1
verdict $? 'results that the program touches each time' "$(grep -v '^ok' "$scratch/out")"
SEMCACHE_TRACE=$scratch/trace SEMCACHE_OFFLOAD=always SEMCACHE_OPEN=first \
    "$tool" run --device emu:h200x8:1 "$program" > "$scratch/out" 2>&1
verdict $? 'traced' "$(grep -v '^ok' "$scratch/out")"
"$tool" trace check "$scratch/trace" > "$scratch/out" 2>&1
verdict $? 'the trace keeps the rules' "$(cat "$scratch/out")"
end
