#!/bin/sh
# make soak MINUTES=n: runs tests/soak with one random seed after the other. The seed decides the settings: number of
# devices, their memory (small: evictions never stop), checks of the protocol, and delayed or failing operations. Stops
# at the first failure, and prints how to repeat the run.
#
# The host BLAS has one thread: a fork ends OpenBLAS's threads while calls of other threads wait for them.
#
#     soak.sh MINUTES [FIRST_SEED [STEPS]]       MINUTES 0: three seeds
#
# Half of the runs notice writes outside of malloc by page faults (SEMCACHE_TRACK=mprotect). A third of the runs has
# jemalloc preloaded behind semcache, and a third tcmalloc, where they are installed.
#
# SEMCACHE_TEST_DEVICE=cuda: real devices, which do not fail.
minutes=${1:-10} seed=${2:-$(date +%s)} steps=${3:-1000}
build=${top_builddir:-.}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
end=$(($(date +%s) + 60 * minutes)) runs=0 last=$((seed + 3))

# The n-th word of the rest, by a number.
pick() { n=$(($1 % ($# - 1))); shift $((n + 1)); echo "$1"; }

# The path of a library, if installed.
find_library() {
    for folder in /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib; do
        [ ! -e "$folder/$1" ] || { echo "$folder/$1"; return; }
    done
}
jemalloc=$(find_library libjemalloc.so.2) tcmalloc=$(find_library libtcmalloc_minimal.so.4)
[ -z "$SEMCACHE_TEST_ASAN" ] || jemalloc='' tcmalloc='' # AddressSanitizer's own is to be behind ours

# A machine with delayed operations, or with one failing operation on each device.
machine() {
    kind=$(pick $((seed / 7)) alloc copy launch fill mark wait sync)
    {
        printf 'semcache-machine 1\nhost\n  call 1u\n  sync 1u\n'
        [ $((seed % 4)) != 1 ] || printf '  jitter %s 40\n' "$seed"
        printf 'device 0-3\n  name soaked\n  memory 1Gi\n  bandwidth 1T\n  launch 4u\n'
        printf '  gemm s 1T\n  gemm d 1T\n'
        [ $((seed % 4)) != 2 ] || printf '  fail %s %s\n' "$kind" $((seed * 31 % 4000 + 1))
        printf 'link host <-> 0-3\n  latency 5u\n  bandwidth 50G\nlink 0-3 -> 0-3\n  latency 5u\n  bandwidth 300G\n'
    } > "$scratch/soaked.machine"
    echo "emu:$scratch/soaked.machine:$((seed % 3 + 1))"
}

while [ $(($(date +%s) < end || (minutes == 0 && seed < last))) = 1 ]; do
    device=${SEMCACHE_TEST_DEVICE:-$(machine)}
    limit=$(pick $((seed / 3)) 300000 1000000 4000000 300000)
    check=$(pick $((seed / 5)) --check '')
    track=$(pick $((seed / 2)) auto mprotect)
    allocator=$(pick $((seed * 7 / 4)) '' "$jemalloc" "$tcmalloc")
    set -- "$build/tools/semcache" run --device "$device" --offload always $check "$build/tests/soak" "$seed" "$steps"
    if ! LD_PRELOAD=$allocator SEMCACHE_MEMORY_LIMIT=$limit SEMCACHE_TRACK=$track OPENBLAS_NUM_THREADS=1 \
        SEMCACHE_MODULE_PATH=$build/.libs timeout -k 5 600 "$@" > "$scratch/out" 2>&1 ||
        grep -q 'error:' "$scratch/out"; then
        tail -n 40 "$scratch/out"
        cat "$scratch/soaked.machine" 2>/dev/null
        echo "soak: seed $seed went wrong: LD_PRELOAD=$allocator SEMCACHE_MEMORY_LIMIT=$limit SEMCACHE_TRACK=$track $*"
        exit 1
    fi
    runs=$((runs + 1)) seed=$((seed + 1))
done
echo "soak: $runs runs of 4 times $steps steps, the last with seed $((seed - 1)): all right"
# SPDX-License-Identifier: BSD-2-Clause
