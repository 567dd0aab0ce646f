#!/bin/sh
# A library of the program has xerbla_ and cblas_xerbla of its own. Asserts that complaints reach them under a preloaded
# semcache as they do without semcache.
. "$top_srcdir/tests/tap.sh"
program=$top_builddir/tests/complaints own=$top_builddir/tests/.libs/complaints_library.so
need "$program"
need "$own"

same_as_alone() {
    cmp -s "$scratch/alone" "$scratch/out" && grep -q '^the library.s xerbla: DGEMM' "$scratch/out" &&
        grep -q '^the library.s cblas_xerbla: 7' "$scratch/out" && [ ! -s "$scratch/err" ]
}

# settings -- what the program gets
run() {
    label=$1 preloaded=$2
    shift 2
    LD_PRELOAD=$preloaded "$program" "$@" > "$scratch/alone"
    for offload in never auto always; do
        env SEMCACHE_DEVICE="$device" SEMCACHE_OFFLOAD=$offload LD_PRELOAD="$library $preloaded" \
            "$program" "$@" > "$scratch/out" 2> "$scratch/err"
        ok "$offload: $label" same_as_alone
    done
}
run 'a library that precedes the BLAS' "$own"
run 'a module that is opened with RTLD_LOCAL' '' "$own"
end
# SPDX-License-Identifier: BSD-2-Clause
