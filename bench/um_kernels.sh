#!/bin/sh
# CUDA programs with kernels of their own on managed memory: with CUDA alone, with its hints, with libsemcache-cuda-um,
# and with SEMCACHE_UM_KERNELS=arguments; in one run on real GPUs.  The checksums must agree.  From the build tree:
#   sh SRC/bench/um_kernels.sh
# Variables: BENCH_DEVICE (default cuda:0).  BENCH_CASES ("power:30000:100 stencil:512:100 sweep:4096:3
# launches:30000:20000 cg:400:100 over:6144:4 beside:256:20").  BENCH_LOG: file for semcache's log.
# UM_KERNELS_LEFT: MiB of memory that `over` leaves on the device (4096).  `cg` has a third row: memory of cudaMalloc.
set -u
um=$PWD/.libs/libsemcache-cuda-um.so
out=$(mktemp) && err=$(mktemp) && trap 'rm -f "$out" "$err"' EXIT
bad=0
export UM_KERNELS_LEFT="${UM_KERNELS_LEFT:-4096}"

measure() { # title, then the program: sets $seconds and $sum
    title=$1
    shift
    "$@" > "$out" 2> "$err" || { echo "$title failed:"; cat "$out" "$err"; bad=1; seconds=0 sum=0; return; }
    seconds=$(sed -n 's/.*seconds=\([^ ]*\).*/\1/p' "$out")
    sum=$(sed -n 's/.*checksum=\([^ ]*\).*/\1/p' "$out")
    printf '%-24s %s\n' "$title" "$(cat "$out")"
    sed -n '/^[a-z]*: .*\(GB\/s\|us each\|first sweep\)/s/^/    /p' "$err"
}

ours() { LD_PRELOAD="$um" tools/semcache run --device "${BENCH_DEVICE:-cuda:0}" "$@"; }

cases='power:30000:100 stencil:512:100 sweep:4096:3 launches:30000:20000 cg:400:100 over:6144:4 beside:256:20'
for case in ${BENCH_CASES:-$cases}; do
    name=${case%%:*} rest=${case#*:}
    set -- "$name" "${rest%%:*}" "${rest#*:}"
    echo "== $case"
    measure "CUDA alone" bench/um_kernels "$@"
    plain=$seconds wanted=$sum
    measure "CUDA with hints" bench/um_kernels "$@" hints
    hinted=$seconds
    [ "$name" != cg ] || measure "cudaMalloc by hand" bench/um_kernels "$@" device
    SEMCACHE_LOG=info SEMCACHE_OPEN=first measure "semcache" ours bench/um_kernels "$@"
    [ -z "${BENCH_LOG:-}" ] || cat "$err" >> "$BENCH_LOG"
    by_default=$seconds first=$sum
    SEMCACHE_UM_KERNELS=arguments SEMCACHE_OPEN=first measure "semcache, arguments" ours bench/um_kernels "$@"
    awk -v ours="$by_default" -v named="$seconds" -v a="$plain" -v b="$hinted" -v got="$sum" -v first="$first" \
        -v wanted="$wanted" 'BEGIN {
        best = (b > 0 && b < a) ? b : a
        alone = a > 0 ? ours / a : 0
        fastest = best > 0 ? ours / best : 0
        by_name = best > 0 ? named / best : 0
        same = agree(got, wanted) && agree(first, wanted)
        verdict = same ? "agree" : "DIFFER: " first ", " got ", " wanted
        printf("    ours / alone: %.3f; ours / best: %.3f; with arguments / best: %.3f; checksums %s\n", alone, fastest,
               by_name, verdict)
        exit !same }
        function agree(x, y) {
            return x != "-nan" && x != "nan" && (x > y ? x - y : y - x) <= 1e-9 * (y < 0 ? -y : y)
        }' || bad=1
done
exit $bad
# SPDX-License-Identifier: BSD-2-Clause
