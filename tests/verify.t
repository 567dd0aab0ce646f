#!/bin/sh
# SEMCACHE_VERIFY=1 as a user sees it: a program on an emulated device that omits one transfer. Asserts a wrong answer
# without verification; with verification a report, and a right answer.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
solver=$top_builddir/examples/jacobi
if [ ! -x "$solver" ]; then echo "1..0 # SKIP no example programs (no BLAS)"; exit 0; fi

count=0 failed=0
ok() { # status, title
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; fi
}
machine() { # the operation that is left out
    cat > "$scratch/bad.machine" <<END
semcache-machine 1
device 0
  memory 1G
  bandwidth 700G
  gemm s 14T
  gemm d 7T
  skip $*
link host <-> 0
  bandwidth 12G
END
}
machine copy 3
run() { # settings
    env "$@" "$top_builddir/tools/semcache" run --offload always --device "emu:$scratch/bad.machine" "$solver" 200 \
        > "$scratch/out" 2> "$scratch/said"
}

run SEMCACHE_VERIFY=0
grep -q ' ok$' "$scratch/out"; ok $((! $?)) 'a transfer that is left out makes the solver fail'
run SEMCACHE_VERIFY=1
grep -q ' ok$' "$scratch/out"; ok $? 'verified calls give the host'\''s result'
grep -q 'verify: call [0-9]*, dgemv (m 200, n 200.*elements of the third operand differ' "$scratch/said"
ok $? 'the call is reported with its arguments'
grep -q 'first operand: matrix [0-9]*, tile 0 .*device 0 has' "$scratch/said" &&
    grep -q 'verify:  .* transfer .* dgemv from host' "$scratch/said"
ok $? 'and the tile, the device and what happened to it'

# Sparse matrices: the program's transfers and kernels are left out in turn. Without verification some omissions make
# the program fail. With verification none does, since wrong results are reported and corrected. (The n-th operation
# differs between the two runs.)
sparse=$top_builddir/tests/sparse_places
if [ -x "$sparse" ]; then
    harm=0 seen=0 bad=0
    for kind in copy launch; do
        n=1
        while :; do
            machine "$kind" "$n"
            run_sparse() {
                env "$@" "$top_builddir/tools/semcache" run --offload always --device "emu:$scratch/bad.machine" \
                    "$sparse" malloc > "$scratch/out" 2> "$scratch/said"
            }
            run_sparse SEMCACHE_VERIFY=0
            grep -q 'is left out as asked' "$scratch/said" || break
            grep -q '^ok$' "$scratch/out" || harm=$((harm + 1))
            run_sparse SEMCACHE_VERIFY=1
            grep -q 'verify: call [0-9]*, sparse_mv (general.* elements of the result differ' "$scratch/said" &&
                seen=$((seen + 1))
            grep -q '^ok$' "$scratch/out" || bad=$((bad + 1))
            n=$((n + 3))
        done
    done
    ok $((harm < 4)) "$harm operations that were left out made the program fail"
    ok $((seen < 4)) "$seen times verification reported a product with a sparse matrix"
    ok "$bad" 'and always gave the host'\''s results'
    machine launch 2
    run_sparse SEMCACHE_VERIFY=1
    grep -q 'the result: matrix [0-9]*, tile 0 .*device 0 has' "$scratch/said" &&
        grep -q 'values: matrix [0-9]*' "$scratch/said" && grep -q 'verify:  .* transfer ' "$scratch/said"
    ok $? 'with the tiles, the devices and what happened to them'
    machine copy 1000000
    run_sparse SEMCACHE_VERIFY=1
    ! grep -q 'verify' "$scratch/said" && grep -q '^ok$' "$scratch/out"
    ok $? 'where nothing is left out nothing is reported'
fi
# Routines of LAPACK: a transfer or a kernel is left out. Estimates of condition numbers are not verified.
routines=$top_builddir/tests/lapack_whole
if [ -x "$routines" ]; then
    harm=0 seen=0 bad=0
    run_routines() {
        env OPENBLAS_NUM_THREADS=1 "$@" timeout 20 "$top_builddir/tools/semcache" run --offload always \
            --device "emu:$scratch/bad.machine" "$routines" 1 1 20 40 > "$scratch/out" 2> "$scratch/said"
    }
    is_right() { grep -q '^1\.\.' "$scratch/out" && ! grep '^not ok' "$scratch/out" | grep -qv condition; }
    for what in 'copy 3' 'copy 182' 'copy 301' 'launch 1' 'launch 42' 'launch 83'; do
        machine $what
        run_routines SEMCACHE_VERIFY=0
        is_right || harm=$((harm + 1))
        run_routines SEMCACHE_VERIFY=1
        grep -q 'verify: call [0-9]*, [sdcz].* and .* differ by ' "$scratch/said" && seen=$((seen + 1))
        is_right || bad=$((bad + 1))
    done
    ok $((harm < 3)) "$harm of 6 omissions in routines of LAPACK made the program fail"
    ok $((seen < 2)) "$seen times verification reported a residual"
    ok "$bad" 'and always gave right results'
    machine launch 1000000
    run_routines SEMCACHE_VERIFY=1
    ! grep -q 'verify: call' "$scratch/said" && is_right
    ok $? 'where nothing is left out nothing is reported'
fi
echo "1..$count"
exit $failed
# SPDX-License-Identifier: BSD-2-Clause
