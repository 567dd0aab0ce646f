#!/bin/sh
# Programs on a GPU whose n-th call of a function of CUDA or cuBLAS fails, once or from there on (tests/cuda_faults.c,
# preloaded): right results, or a report of what was lost.  Emulated devices have tests/fault_sweep.
shim=$top_builddir/tests/.libs/cuda_faults.so
skip() {
    if [ "$SEMCACHE_TEST_REQUIRE_GPU" = 1 ]; then echo "not ok 1 - $1"; echo 1..1; exit 1; fi
    echo "1..0 # SKIP $1"
    exit 0
}
case $SEMCACHE_TEST_DEVICE in cuda*) ;; *) echo "1..0 # SKIP for real devices"; exit 0 ;; esac
[ -e "$shim" ] || skip 'built without CUDA'
[ -x "$top_builddir/examples/abac" ] || skip 'no example programs'
[ -e /dev/nvidiactl ] || skip 'no GPU'
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

count=0 failed=0
try() { # function:n[:ever], program, arguments
    fail=$1
    shift
    CUDA_FAIL=$fail LD_PRELOAD=$shim timeout -k 5 100 "$top_builddir/tools/semcache" run --offload always \
        --device "$SEMCACHE_TEST_DEVICE" "$top_builddir/examples/$@" > "$scratch/out" 2> "$scratch/said"
    status=$?
    count=$((count + 1))
    if [ $status -lt 100 ] && { grep -q ' ok$' "$scratch/out" || grep -q 'what only it had of' "$scratch/said"; }; then
        echo "ok $count - $fail: $1 $(sed -n 's/.*fails as asked/(failed)/p' "$scratch/said" | head -1)"
    else
        echo "not ok $count - $fail: $*, status $status"
        sed 's/^/# /' "$scratch/out" "$scratch/said" | head -20
        failed=1
    fi
}
for name in cudaMalloc cudaHostRegister cudaMemcpyAsync cudaMemcpy2DAsync cudaEventRecord cudaStreamWaitEvent; do
    for n in 1 2 3 5 9 20; do
        try $name:$n abac 600
        try $name:$n:ever jacobi 600
    done
done
for name in cublasDgemm_v2_64 cublasDgemv_v2_64 cublasDaxpy_v2_64; do
    for n in 1 2 7; do
        try $name:$n abac 600
        try $name:$n:ever jacobi 600
    done
done
echo "1..$count"
exit $failed
