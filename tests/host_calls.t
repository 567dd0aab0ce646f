#!/bin/sh
# A call of the BLAS on the host with all operands at home costs the same few instructions while devices are open: for
# levels 1, 2 and 3, strides 1, 8 and the leading dimension, new operands and those that devices have had, have copies
# of, or have a neighbouring part of, one device and several, and operands that are not from malloc.  The devices are
# so slow that the host gets all calls.
. "$top_srcdir/tests/callgrind.sh"
cat > "$scratch/slow.machine" << 'END'
semcache-machine 1
title a computer with slow devices
host
  call 4u
  sync 5u
device 0-1
  name slow
  memory 12G
  bandwidth 1M
  launch 7u
  gemm s 1M
  gemm d 1M
  watts 235 20
link host <-> 0-1
  latency 10m
  bandwidth 1G
END
[ -e "$top_builddir/bench/.libs/null_blas.so" ] || { echo '1..0 # SKIP no bench/null_blas'; exit 0; }
SEMCACHE_OPEN=first SEMCACHE_DATABASE=none SEMCACHE_HOST_BLAS=$top_builddir/bench/.libs/null_blas.so
export SEMCACHE_DEVICE SEMCACHE_OPEN SEMCACHE_DATABASE SEMCACHE_HOST_BLAS
for devices in 1 2; do
    SEMCACHE_DEVICE=emu:$scratch/slow.machine:$devices
    count_instructions host_calls
    grep -q '^0 calls on devices, 4200 on the host$' "$scratch/log"
    verdict $? "$devices devices: the host gets all calls" "$(cat "$scratch/log")"
    for kind in untracked home shared partly outside; do
        for call in copy_1 copy_8 copy_row gather_row axpy_row scal_1 gemv ger symv gemm; do
            case $kind.$call in shared.*) most=8000 ;; *.gemm) most=2500 ;; *) most=1000 ;; esac
            few=$(($(instructions_in cost_few_${kind}_$call) / 40))
            many=$(($(instructions_in cost_many_${kind}_$call) / 40))
            [ $few -gt 0 ] && [ $many -gt 0 ] && [ $few -lt $most ] && [ $many -lt $most ]
            verdict $? "$devices devices, $kind: $call, $few and $many instructions" ''
        done
    done
done
end
# SPDX-License-Identifier: BSD-2-Clause
