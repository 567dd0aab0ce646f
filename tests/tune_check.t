#!/bin/sh
# `semcache tune' measures the overheads of calls besides kernels and bytes. `semcache tune --check' reports the errors
# of predictions.
. "$top_srcdir/tests/tap.sh"
need "$tool"
case $device in emu*) ;; *) echo '1..0 # SKIP emulated devices only: real ones are checked by hand'; exit 0 ;; esac
XDG_CACHE_HOME=$scratch/cache; export XDG_CACHE_HOME
OPENBLAS_NUM_THREADS=1; export OPENBLAS_NUM_THREADS
unset SEMCACHE_DATABASE

call() { "$tool" "$@" > "$scratch/out" 2> "$scratch/err"; status=$?; }
# The median and the 95th percentile over the calls on devices.
errors() { awk '$1 == "all" { sub(/%/, "", $3); sub(/%/, "", $4); print $3, $4 }' "$scratch/out"; }
at_most() {
    set -- $(errors) "$@"
    echo "errors: $1% and $2%" >> "$scratch/err"
    [ "$1" -le "$3" ] && [ "$2" -le "$4" ]
}

call tune --check=0
ok 'no calls are a usage error' ended 2
call tune --check=3 --device none
ok 'without devices there is nothing to compare' ended 1
ok 'in one line' one_line

call tune --quick --device emu:h200x8:1 --output "$scratch/base"
ok 'measured' ended 0
ok 'with what calls take' grep -Eq '^calls ([0-9.e-]+ ){6}[0-9.e-]+$' "$scratch/base"
SEMCACHE_DATABASE=$scratch/base; export SEMCACHE_DATABASE
call tune --check=30 --each --device emu:h200x8:1
ok 'checked' ended 0
ok 'each call' test "$(grep -c '[+-][0-9]*%$' "$scratch/out")" -eq 30
ok 'by routine and size' has out '^gemm  *< 32 MiB  *[0-9]'
ok 'predictions are within 15% (median) and 35% (95th percentile)' at_most 15 35
cp "$scratch/out" "$scratch/before"
call tune --check=30 --seed=7 --device emu:h200x8:1
ok 'other calls' ended 0
ok 'are predicted as well' at_most 15 35

sed 's/^calls .*/calls 1e-4 1e-4 1e-4 1e-4 0 0 1/' "$scratch/base" > "$scratch/wrong"
SEMCACHE_DATABASE=$scratch/wrong
call tune --check=30 --device emu:h200x8:1
ok 'wrong measurements' ended 0
! at_most 15 35; ok 'are seen to be wrong' test $? -eq 0
end
# SPDX-License-Identifier: BSD-2-Clause
