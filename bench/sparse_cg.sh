#!/bin/sh
# CG on the 7-point stencil beside the same loop written by hand with cuSPARSE and cuBLAS, in one run on one real GPU;
# with more GPUs, ours on 2 and 4 of them.  From the build tree, after make:
#   sh SRC/bench/sparse_cg.sh [n...]
# Variables: BENCH_DEVICE (default cuda:0).  BENCH_DEVICES ("2 4": also on 2 and 4 GPUs).  BENCH_ITERATIONS (200).
# BENCH_LIMITED=1: also on two GPUs and on one, with memory for half of the matrix and the vectors, plus a twentieth.
set -eu
export SEMCACHE_OPEN=first

iterations=${BENCH_ITERATIONS:-200}
[ $# -gt 0 ] || set -- 1000000 10000000 50000000

figure() { sed -n 's/.*seconds_per_iteration=\([^ ]*\).*/\1/p'; }
ours() { tools/semcache run --device "$1" bench/sparse_cg "$2" "$iterations" | tee /dev/stderr | figure; }
row() {
    awk -v name="$1" -v ours="$2" -v peer="$3" 'BEGIN {
        printf "%-40s %12.9f %12.9f %8.3f\n", name, ours, peer, ours / peer }'
}

for n; do
    for algorithm in 1 2; do
        bench/hand_sparse_cg "$n" "$iterations" $algorithm | tee /dev/stderr | figure > "hand$algorithm.$$"
    done
    hand=$(sort -g hand1.$$ hand2.$$ | head -n 1)
    rm -f hand1.$$ hand2.$$
    one=$(ours "${BENCH_DEVICE:-cuda:0}" "$n")
    row "n=$n: ours, by hand, ratio" "$one" "$hand"
    for devices in ${BENCH_DEVICES:-}; do
        several=$(ours "cuda:$(seq -s , 0 $((devices - 1)))" "$n")
        row "n=$n: one GPU, $devices GPUs, times faster" "$one" "$several"
    done
    if [ -n "${BENCH_LIMITED:-}" ]; then
        # 7 entries of 12 bytes and 4 bytes of positions a row; 4 vectors
        export SEMCACHE_MEMORY_LIMIT=$((n * (7 * 12 + 4 + 4 * 8) / 2 * 21 / 20))
        several=$(ours cuda:0,1 "$n")
        one=$(iterations=10; ours cuda:0 "$n")
        unset SEMCACHE_MEMORY_LIMIT
        row "n=$n: the matrix 1.4 of a GPU: 1, 2 GPUs" "$one" "$several"
    fi
done
# SPDX-License-Identifier: BSD-2-Clause
