#!/bin/sh
# A CUDA program with unified memory, the same source twice: linked with CUDA's libraries alone, and with
# libsemcache-cuda-um; in one run on one real GPU, the second also on more GPUs.  The residuals must agree, and both
# programs check the answer.  From the build tree, after make:
#   sh SRC/bench/um.sh [n...]
# Variables: BENCH_DEVICE (default cuda:0).  BENCH_DEVICES ("2 4": also on 2 and 4 GPUs).  BENCH_ITERATIONS (200).
set -eu
export SEMCACHE_OPEN=first

iterations=${BENCH_ITERATIONS:-200}
[ $# -gt 0 ] || set -- 1000000 10000000
out=$(mktemp) && trap 'rm -f "$out"' EXIT

# name, then the program: prints the program's line; sets $time and $residual
measure() {
    name=$1
    shift
    "$@" > "$out" || { echo "$name failed:"; cat "$out"; exit 1; }
    time=$(sed -n 's/.*seconds_per_iteration=\([^ ]*\).*/\1/p' "$out")
    residual=$(sed -n 's/.* residual=\([^ ]*\).*/\1/p' "$out")
    printf '%-34s %s\n' "$name" "$(cat "$out")"
}

for n; do
    measure "n=$n, CUDA alone" bench/cg_um_cuda "$n" "$iterations"
    alone=$time wanted=$residual
    for devices in 1 ${BENCH_DEVICES:-}; do
        where=${BENCH_DEVICE:-cuda:0}
        [ "$devices" = 1 ] || where="cuda:$(seq -s , 0 $((devices - 1)))"
        measure "n=$n, semcache, $devices GPU" tools/semcache run --device "$where" examples/cg_um "$n" "$iterations"
        awk -v ours="$time" -v alone="$alone" -v got="$residual" -v wanted="$wanted" 'BEGIN {
            apart = got - wanted; if (apart < 0) apart = -apart
            same = apart <= 1e-6 * wanted + 1e-12
            printf "    ours / alone: %.3f; residuals %s\n", ours / alone, same ? "agree" : "DIFFER: " got ", " wanted
            exit !same }'
    done
done
# SPDX-License-Identifier: BSD-2-Clause
