#!/bin/sh
# Programs on a GPU with failing calls of CUDA, cuBLAS or cuSPARSE (tests/cuda_faults.c, preloaded). A function fails
# once, or from one call on; or every function fails from one call on, as if the device was gone. Asserts right results,
# or a report of lost data. Each function is tested with one of the programs, by its first call or for good from a later
# call on; with SEMCACHE_TEST_LONG=1 with every program, and at more calls. tests/fault_sweep is the test for emulated
# devices.
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
run() { # what fails, program, arguments
    fail=$1
    shift
    CUDA_FAIL=$fail LD_PRELOAD=$shim timeout -k 5 100 "$top_builddir/tools/semcache" run --offload always \
        --device "$SEMCACHE_TEST_DEVICE" "$top_builddir/examples/$@" > "$scratch/out" 2> "$scratch/said"
}
verdict() { # status, title
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        sed 's/^/# /' "$scratch/out" "$scratch/said" | head -20
        failed=1
    fi
}
try() { # what fails, program, arguments
    run "$@"
    status=$?
    [ $status -lt 100 ] && { grep -q ' ok$' "$scratch/out" || grep -q 'what only it had of' "$scratch/said"; }
    verdict $? "$*: status $status $(sed -n 's/.*fails as asked/(failed)/p' "$scratch/said" | head -1)"
}

if [ "$SEMCACHE_TEST_LONG" = 1 ]; then eighths='1 2 3 4 5 6 7'; else eighths='1 4 7'; fi
turn=0
for program in 'abac 600' 'jacobi 600' 'cg_sparse 20000 30'; do
    run count $program # unquoted: words
    grep -q ' ok$' "$scratch/out"
    verdict $? "$program: right when nothing fails"
    sed -n 's/^cuda_faults: \(.*\) called \(.*\)/\1 \2/p' "$scratch/said" > "$scratch/called"
    number=0
    while read -r name calls <&3; do
        number=$((number + 1))
        if [ "$name" = any ]; then
            for eighth in $eighths; do
                try "any:$((1 + calls * eighth / 8)):ever" $program
                try "any:$((1 + calls * eighth / 8))" $program
            done
        elif [ "$SEMCACHE_TEST_LONG" = 1 ]; then
            try "$name:1" $program
            try "$name:$((1 + calls / 2)):ever" $program
            try "$name:$((1 + calls / 2))" $program
        elif [ $((number % 6)) = $turn ]; then
            try "$name:1" $program
        elif [ $((number % 6)) = $((turn + 3)) ]; then
            try "$name:$((1 + calls / 2)):ever" $program
        fi
    done 3< "$scratch/called"
    turn=$((turn + 1))
done
echo "1..$count"
exit $failed
# SPDX-License-Identifier: BSD-2-Clause
