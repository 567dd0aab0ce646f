#!/bin/sh
# libsemcache-cuda-um beside CUDA itself: kernels, unmapped functions, memory of cudaMalloc. Runs with CUDA on a GPU;
# without a GPU with a CUDA that computes on the CPU (tests/um_fake_cuda.c), and emulated devices that pose as CUDA's.
. "$top_srcdir/tests/tap.sh"
um=$top_builddir/.libs/libsemcache-cuda-um.so tests=$top_builddir/tests
need "$um"
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

case $SEMCACHE_TEST_DEVICE in
cuda*)
    for kernels in host all arguments; do
        SEMCACHE_UM_KERNELS=$kernels run "beside CUDA, $kernels" --device "$SEMCACHE_TEST_DEVICE" "$tests/um_foreign"
    done ;;
*)
    SEMCACHE_MODULE_PATH=$tests/um/.libs LD_PRELOAD=$um:$tests/.libs/um_fake_cuda.so
    export SEMCACHE_MODULE_PATH LD_PRELOAD
    run 'beside the CUDA of the tests' --device cuda "$tests/um_foreign" fake
    run 'on one device' --device cuda:0 "$tests/um_foreign" fake
    SEMCACHE_UM_KERNELS=host run "kernels read host memory" --device cuda "$tests/um_foreign" fake
    SEMCACHE_UM_KERNELS=arguments run "kernels name their memory" --device cuda "$tests/um_foreign" fake
    SEMCACHE_UM_KERNELS=arguments run "blocks that kernels name" --device cuda:0 "$tests/um_place" named
    SEMCACHE_UM_KERNELS=arguments SEMCACHE_MEMORY_LIMIT=12M \
        run "more blocks than fit, by name" --device cuda:0 "$tests/um_turns" round
    for limit in 6M 8M 10M; do
        SEMCACHE_UM_KERNELS=arguments SEMCACHE_MEMORY_LIMIT=$limit \
            run "and beside calls, $limit" --device cuda:0 "$tests/um_turns" beside
    done
    SEMCACHE_UM_KERNELS=arguments run "the same on two devices" --device cuda "$tests/um_place" named two
    SEMCACHE_UM_KERNELS=arguments UM_MODULE_APART=1 \
        run "and without access to each other" --device cuda "$tests/um_place" named two
    UM_MODULE_REFUSES=99 run 'no one address' --device cuda "$tests/um_foreign" fake
    UM_MODULE_REFUSES=2 run 'one address at the third request' --device cuda "$tests/um_place"
    run 'kernels on two devices' --device cuda "$tests/um_place" two
    run 'kernels on a GPU that semcache does not use' --device cuda:0 "$tests/um_place" two
    SEMCACHE_UM_KERNELS=arguments run 'and name their memory there' --device cuda:0 "$tests/um_place" named two
    UM_MODULE_APART=1 run 'devices without access to each other' --device cuda "$tests/um_place" two
    UM_MODULE_ZONE=low run 'one address far from the arena' --device cuda "$tests/um_place"
    for devices in cuda cuda:0; do
        run "one address, $devices" --device $devices "$tests/um_place"
        SEMCACHE_MEMORY_LIMIT=8M run "memory for a part of a block, $devices" --device $devices "$tests/um_place" part
        SEMCACHE_MEMORY_LIMIT=8M run "memory for some blocks, $devices" --device $devices "$tests/um_place" small
    done
    run 'kernels are expected' --device cuda:0 "$tests/um_turns" expected
    SEMCACHE_UM_KERNELS=arguments run 'and name their memory' --device cuda:0 "$tests/um_turns" expected
    run 'kernels are expected on two devices' --device cuda "$tests/um_turns" expected
    run 'and never come' --device cuda "$tests/um_turns" none
    SEMCACHE_UM_KERNELS=arguments \
        run 'and name their memory on two devices' --device cuda "$tests/um_turns" named
    SEMCACHE_MEMORY_LIMIT=8M run 'and on more than fits' --device cuda:0 "$tests/um_turns" more
    UM_MODULE_LATE=1 run 'data that arrives late' --device cuda:0 "$tests/um_place"
    UM_MODULE_LATE=1 UM_MODULE_REFUSES_STREAMS=1 \
        run 'and streams that cannot wait' --device cuda:0 "$tests/um_place"
    UM_MODULE_LATE=1 UM_MODULE_FORGETS_STREAMS=1 "$tool" run --offload always --device cuda:0 "$tests/um_place" \
        > "$scratch/out" 2> "$scratch/err"
    report "$(grep -q '^not ok' "$scratch/out" || echo 'not found')" 'streams that do not wait are found'
    UM_FAKE_GPUS=1 run 'on a machine with one GPU' --device cuda:0 "$tests/um_place"
    SEMCACHE_UM_KERNELS=arguments UM_FAKE_GPUS=1 run 'the same by name' --device cuda:0 "$tests/um_place" named
    UM_MODULE_LATE=1 run 'late data and two devices' --device cuda "$tests/um_place" two
    run 'the end of the program' --device cuda "$tests/um_place" exit
    for kernels in all arguments; do
        SEMCACHE_UM_KERNELS=$kernels UM_MODULE_BREAKS=0 "$tool" run --offload always --check --device cuda:0 \
            "$tests/um_place" loss > "$scratch/out" 2> "$scratch/err"
        report "$([ $? = 0 ] || cat "$scratch/out")" "a lost device, $kernels"
        report "$(grep -c 'is lost (waiting for it)' "$scratch/err" | grep -v '^1$')" "one line says so, $kernels"
    done ;;
esac
end
# SPDX-License-Identifier: BSD-2-Clause
