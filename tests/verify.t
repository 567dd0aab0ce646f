#!/bin/sh
# SEMCACHE_VERIFY=1 as a user sees it: a program on a device that leaves out one transfer.
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
solver=$top_builddir/examples/jacobi
if [ ! -x "$solver" ]; then echo "1..0 # SKIP no example programs (no BLAS)"; exit 0; fi

count=0 failed=0
ok() { # status, title
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; failed=1; fi
}
cat > "$scratch/bad.machine" <<'END'
semcache-machine 1
device 0
  memory 1G
  bandwidth 700G
  gemm s 14T
  gemm d 7T
  skip copy 3
link host <-> 0
  bandwidth 12G
END
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
echo "1..$count"
exit $failed
