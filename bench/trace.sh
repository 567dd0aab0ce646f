#!/bin/sh
# Cost of tracing: least processor time of programs with and without SEMCACHE_TRACE, in turns, also of NumPy's temporary
# arrays; then the rates of writing and reading events of 1, 4 and 16 threads.  In the build tree:
#   sh ../bench/trace.sh
# Environment: BENCH_DEVICE (emu:h200x8:1), BENCH_ROUNDS (5), BENCH_PYTHON (python3), BENCH_EVENTS (10000000).
. "$(dirname "$0")/common.sh"
export OPENBLAS_NUM_THREADS=1 # no thread waits in a loop
device=${BENCH_DEVICE:-emu:h200x8:1} rounds=${BENCH_ROUNDS:-5}
trace=${TMPDIR:-/tmp}/semcache-trace.$$
trap 'rm -f "$log" "$trace"' EXIT

# Processor time of a program and its threads.
seconds() {
    (tools/semcache run --device "$device" "$@" > /dev/null || exit 1
    times) | tail -n 1 | sed 's/[ms]/ /g' | awk '{ print 60 * ($1 + $3) + $2 + $4 }'
}
least() { printf '%s\n%s\n' "$1" "$2" | sort -g | head -n 1; }

printf '%-40s %10s %10s %7s %9s\n' program 'plain, s' 'traced, s' ratio events
for program in 'examples/jacobi 2000 200' 'examples/cg 3000' 'examples/abac 2000' 'bench/dgemm 2000'; do
    [ -x "${program%% *}" ] || continue
    plain=1e9 traced=1e9
    for round in $(seq "$rounds"); do
        # shellcheck disable=SC2086
        plain=$(least "$plain" "$(seconds $program)")
        # shellcheck disable=SC2086
        traced=$(least "$traced" "$(seconds --trace "$trace" $program)")
    done
    events=$(tools/semcache trace check "$trace" | sed -n 's/.* held: \([0-9]*\) events.*/\1/p')
    awk -v p="$plain" -v t="$traced" -v e="$events" -v name="$program" \
        'BEGIN { printf "%-40s %10.3f %10.3f %7.3f %9s\n", name, p, t, t / p, e }'
done
python=${BENCH_PYTHON:-python3}
if "$python" -c 'import numpy' 2> /dev/null; then
    for n in 10000 40000 200000; do
        sums="$python $(dirname "$0")/numpy_temporaries.py $n"
        plain=1e9 traced=1e9
        for round in $(seq "$rounds"); do
            # shellcheck disable=SC2086
            keep tools/semcache run --device "$device" $sums 2> /dev/null
            plain=$(least "$plain" "$(figure best_seconds)")
            # shellcheck disable=SC2086
            keep tools/semcache run --device "$device" --trace "$trace" $sums 2> /dev/null
            traced=$(least "$traced" "$(figure best_seconds)")
        done
        awk -v p="$plain" -v t="$traced" -v n="$n" \
            'BEGIN { printf "%-40s %8.2f us %8.2f us %7.3f\n", "sum of NumPy arrays, n = " n, p * 1e6, t * 1e6, t / p }'
    done
fi
for threads in 1 4 16; do
    bench/trace_events "${BENCH_EVENTS:-10000000}" "$trace" $threads
done
# SPDX-License-Identifier: BSD-2-Clause
