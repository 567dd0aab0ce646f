#!/bin/sh
# A product on several GPUs, one of which another process keeps busy: TFLOP/s alone and beside it, by strategy.
# From the build tree, after make:
#   sh SRC/bench/slowed.sh
# Variables: SLOWED_GPUS (2), SLOWED_N (16384), SLOWED_SCHEDULES ("auto dynamic"), SLOWED_ROUNDS (5).
set -eu

gpus=${SLOWED_GPUS:-2}
n=${SLOWED_N:-16384}
rounds=${SLOWED_ROUNDS:-5}
last=$((gpus - 1))
. "$(dirname "$0")/common.sh"

# product SCHEDULE: TFLOP/s of the best round.
product() {
    keep env SEMCACHE_SCHEDULE="$1" tools/semcache run --device "cuda:$(seq -s , 0 $last)" \
        bench/level3 -t 8 -r "$rounds" -b 0 "$n" dgemm
    sed -n 's/.*"tflops": *\([0-9.]*\).*/\1/p' "$log" | tail -n 1
}

for schedule in ${SLOWED_SCHEDULES:-auto dynamic}; do
    alone=$(product "$schedule")
    tools/semcache run --device "cuda:$last" bench/level3 -c 500 -r 1000 -b 0 8192 dgemm >/dev/null 2>&1 &
    other=$!
    sleep 5 # until it computes
    beside=$(product "$schedule")
    kill "$other"
    wait "$other" 2>/dev/null || true
    awk -v n="$n" -v gpus="$gpus" -v schedule="$schedule" -v alone="$alone" -v beside="$beside" 'BEGIN {
        printf "dgemm n=%d on %d GPUs, %s: %.1f TFLOP/s alone, %.1f with one GPU shared, %.2f times the time\n",
            n, gpus, schedule, alone, beside, alone / beside }'
done
# SPDX-License-Identifier: BSD-2-Clause
