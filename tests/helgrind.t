#!/bin/sh
# The core with its emulated devices under helgrind: a few steps of threads, faults and forks. helgrind.supp lists
# synchronisation that helgrind cannot see, with reasons.
. "$top_srcdir/tests/tap.sh"
need "$top_builddir/tests/coherence_threads"
valgrind --version > /dev/null 2>&1 || { echo '1..0 # SKIP no valgrind'; exit 0; }
case $device in emu*) ;; *) echo '1..0 # SKIP no device under valgrind'; exit 0 ;; esac
# helgrind knows no atomic operations, which order the queues of submission threads (ThreadSanitizer does: check-tsan).
[ "${SEMCACHE_TEST_SUBMIT:-}" ] && { echo '1..0 # SKIP submission threads under helgrind'; exit 0; }
SEMCACHE_TEST_STEPS=8 valgrind --tool=helgrind --history-level=none --error-exitcode=9 \
    --suppressions="$top_srcdir/tests/helgrind.supp" "$top_builddir/tests/coherence_threads" > "$scratch/out" 2>&1
found=$?
verdict $((found == 9)) 'helgrind has nothing to report' \
    "$(grep -A12 -E '(Possible data race|lock order|Exiting)' "$scratch/out")"
verdict $found 'and the test goes well under it' "$(tail -n 30 "$scratch/out")"
end
# SPDX-License-Identifier: BSD-2-Clause
