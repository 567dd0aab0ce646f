#!/bin/sh
# Memory of one address for kernels of a library (semcache_malloc, semcache_lend), with the CUDA of the tests, with and
# without libsemcache-cuda-um, and without CUDA.
. "$top_srcdir/tests/tap.sh"
um=$top_builddir/.libs/libsemcache-cuda-um.so tests=$top_builddir/tests
need "$tests/um_own"
need "$tool"

run() { # title, then settings, program and arguments
    title=$1
    shift
    "$tool" run --offload always --check "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
    report "$([ $status = 0 ] || grep -A1 '^not ok\|^Bail' "$scratch/out" || echo "status $status")" \
        "$title: $(grep -c '^ok' "$scratch/out") tests"
    report "$(head -5 "$scratch/err")" "$title: no line on stderr"
}

run 'emulated devices' --device emu:h200x8:2 "$tests/um_own" none
run 'no devices' --device none "$tests/um_own" none
SEMCACHE_MODULE_PATH=$tests/um/.libs
export SEMCACHE_MODULE_PATH
fake=$tests/.libs/um_fake_cuda.so
for library in '' "$um:"; do
    [ "$library" ] && with='with libsemcache-cuda-um' || with='alone'
    LD_PRELOAD=$library$fake
    export LD_PRELOAD
    for device in cuda cuda:0; do
        run "$with, $device" --device $device "$tests/um_own"
    done
    SEMCACHE_MEMORY_LIMIT=8M run "$with, little memory" --device cuda:0 "$tests/um_own" small
    SEMCACHE_UM_KERNELS=arguments run "$with, kernels name their memory" --device cuda:0 "$tests/um_own"
    UM_MODULE_REFUSES=99 run "$with, no one address" --device cuda:0 "$tests/um_own" none
    [ -z "$library" ] ||
        SEMCACHE_UM_KERNELS=host run "$with, kernels read host memory" --device cuda:0 "$tests/um_own" none
    run "$with, exit" --device cuda:0 "$tests/um_own" exit
    UM_MODULE_BREAKS=0 "$tool" run --offload always --check --device cuda:0 "$tests/um_own" loss \
        > "$scratch/out" 2> "$scratch/err"
    report "$([ $? = 0 ] || cat "$scratch/out")" "$with, a lost device"
    report "$(grep -c 'is lost (waiting for it)' "$scratch/err" | grep -v '^1$')" "$with, one line says so"
done
end
# SPDX-License-Identifier: BSD-2-Clause
