#!/bin/sh
# How unmodified programs scale over the GPUs of one machine, beside cuBLASXt on the same GPUs in the same run.
# From the build tree, after make:
#   sh SRC/bench/scale.sh
# Variables: SCALE_DEVICES (numbers of GPUs, default "1 2 4").  SCALE_SIZES (of dgemm, "4096 8192 16384 32768").
# SCALE_JACOBI (size of the Jacobi, 30000).  SCALE_XT=no (without cuBLASXt).  SCALE_ROUNDS (3).
set -eu

devices=${SCALE_DEVICES:-1 2 4}
rounds=${SCALE_ROUNDS:-3}
. "$(dirname "$0")/common.sh"

ours() {
    list=cuda:$(seq -s , 0 $(($1 - 1)))
    shift
    keep tools/semcache run --device "$list" "$@"
}

# TFLOP/s of cuBLASXt's dgemm with the best block; empty without cuBLASXt.
xt_dgemm() {
    [ "${SCALE_XT:-yes}" = yes ] && [ -x bench/xt_abac ] || return 0
    keep bench/xt_abac "$2" "$rounds" "$1"
    awk -v n="$2" -v s="$(figure dgemm_seconds)" 'BEGIN { printf "%.2f", 2e-12 * n * n * n / s }'
}

tools/semcache info --links || true
printf '%-46s %5s %10s %10s %8s\n' "dgemm, TFLOP/s, until C is on the host" GPUs semcache cuBLASXt ratio
for n in ${SCALE_SIZES:-4096 8192 16384 32768}; do
    for count in $devices; do
        xt=$(xt_dgemm "$count" "$n")
        for flags in "-f -t 8" "-t 8" "-f -w" "-f -t 1"; do
            # shellcheck disable=SC2086
            ours "$count" bench/dgemm $flags "$n" "$rounds"
            awk -v n="$n" -v flags="$flags" -v count="$count" -v ours="$(figure later_tflops)" -v xt="$xt" 'BEGIN {
                inputs = flags ~ /f/ ? "fresh" : "kept"
                used = flags ~ /w/ ? "written" : "read by " substr(flags, length(flags)) " threads"
                printf "%-46s %5d %10.2f %10s %8s\n", "n=" n ", inputs " inputs ", C " used, count, ours,
                    xt == "" ? "-" : xt, xt == "" ? "-" : sprintf("%.2f", ours / xt) }'
        done
    done
done

n=${SCALE_JACOBI:-30000}
jacobi() { # NAME OPTIONS...
    name=$1 one=
    shift
    printf '%-46s %5s %10s %10s\n' "$name n=$n" GPUs "ms/iter" "times"
    for count in $devices; do
        ours "$count" examples/jacobi "$@" "$n" 200
        seconds=$(figure seconds_per_iteration)
        one=${one:-$seconds}
        awk -v count="$count" -v s="$seconds" -v one="$one" 'BEGIN {
            printf "%-46s %5d %10.3f %10.2f\n", "", count, 1000 * s, one / s }'
    done
}
jacobi Jacobi
jacobi 'Jacobi with own loops' -o
# SPDX-License-Identifier: BSD-2-Clause
