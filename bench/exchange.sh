#!/bin/sh
# Iterations a second of solvers on several GPUs, by the exchange of vectors: copy engines, kernels that pull or push,
# and the choice of the measurements.  From the build tree, after make (and tools/semcache tune --quick, once):
#   sh SRC/bench/exchange.sh
# Variables: EXCHANGE_DEVICES (numbers of GPUs, default "2 4").  EXCHANGE_JACOBI (sizes of the dense Jacobi and CG,
# 30000).  EXCHANGE_SPARSE (points of the sparse CG, "1000000 50000000").  EXCHANGE_ITERATIONS (300).
# EXCHANGE_BY ("copy pull push auto").  EXCHANGE_ROUNDS (3, the best counts).
# EXCHANGE_MACHINE=emu:h200x8: a trial without GPUs.
set -eu

. "$(dirname "$0")/common.sh"
iterations=${EXCHANGE_ITERATIONS:-300}

# best SETTING COUNT PROGRAM...: iterations a second.
best() {
    by=$1
    if [ -n "${EXCHANGE_MACHINE:-}" ]; then
        list=$EXCHANGE_MACHINE:$2
    else
        list=cuda:$(seq -s , 0 $(($2 - 1)))
    fi
    shift 2
    for round in $(seq "${EXCHANGE_ROUNDS:-3}"); do
        SEMCACHE_EXCHANGE=$by keep tools/semcache run --device "$list" "$@"
        figure seconds_per_iteration
    done 2>/dev/null | sort -g | awk 'NR == 1 { printf "%.1f", 1 / $1 }'
}

table() {
    name=$1
    shift
    printf '%-32s %5s' "$name" 1
    printf ' %10s\n' "$(best auto 1 "$@")"
    for count in ${EXCHANGE_DEVICES:-2 4}; do
        printf '%-32s %5d' "" "$count"
        for by in ${EXCHANGE_BY:-copy pull push auto}; do
            printf ' %10s' "$(best "$by" "$count" "$@")"
        done
        printf '\n'
    done
}

printf '%-32s %5s' 'iterations a second' GPUs
for by in ${EXCHANGE_BY:-copy pull push auto}; do
    printf ' %10s' "$by"
done
printf '\n'
for n in ${EXCHANGE_JACOBI:-30000}; do
    table "Jacobi n=$n" examples/jacobi "$n" "$iterations"
    table "CG n=$n" examples/cg "$n" "$iterations"
done
for n in ${EXCHANGE_SPARSE:-1000000 50000000}; do
    table "sparse CG, $n points" bench/sparse_cg "$n" "$iterations"
done
# SPDX-License-Identifier: BSD-2-Clause
