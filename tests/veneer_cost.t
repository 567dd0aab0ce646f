#!/bin/sh
# Rule 1 of blas/README.md: a small call costs at most 20 instructions more than in the host BLAS alone. The bound is 80
# where 64-bit integers are checked for a host with 32-bit integers.
. "$top_srcdir/tests/callgrind.sh"
OPENBLAS_NUM_THREADS=1; export OPENBLAS_NUM_THREADS
count_instructions veneer_cost
for routine in ddot daxpy dgemm cblas_ddot cblas_daxpy cblas_dgemm ddot_64 dgemm_64 cblas_dgemm64; do
    case $routine in *64) most=80 ;; *) most=20 ;; esac
    host=$(instructions_in cost_host_$routine)
    for way in none some; do
        veneer=$(instructions_in cost_${way}_$routine)
        more=$((veneer - host)) # of 1000 calls
        [ "$host" -gt 0 ] && [ "$veneer" -gt 0 ] && [ $more -le $((1000 * most)) ]
        verdict $? "$routine, devices: $way: $((more / 1000)) instructions more than $((host / 1000))" ''
    done
done
end
# SPDX-License-Identifier: BSD-2-Clause
