#!/bin/sh
# Prints how semcache compares with hand-written CUDA on one real GPU, in one run.  From the build tree, after make:
#   sh SRC/bench/run.sh
# BENCH_DEVICE (default cuda:0), BENCH_N (size of the solvers, 30000), BENCH_M (size of the products, 16384),
# BENCH_ITERATIONS (200) and BENCH_SWEEP (11586) change what is run.
set -eu

device=${BENCH_DEVICE:-cuda:0}
n=${BENCH_N:-30000}
m=${BENCH_M:-16384}
iterations=${BENCH_ITERATIONS:-200}
sweep=${BENCH_SWEEP:-11586}
source=$(dirname "$0")
. "$source/common.sh"

ours() { keep tools/semcache run --device "$device" "$@"; }

header() { printf '%-44s %12s %12s %8s   %s\n' "$1" semcache "$2" ratio target; }

# row NAME OURS PEER [TARGET]: smaller is better; met when OURS <= TARGET * PEER.
row() {
    awk -v name="$1" -v ours="$2" -v peer="$3" -v target="${4:-}" 'BEGIN {
        if (peer == "" || peer + 0 == 0) { printf "%-44s %12s %12s\n", name, ours, "not built"; exit }
        printf "%-44s %12.6f %12.6f %8.3f   ", name, ours, peer, ours / peer
        print target == "" ? "none" : "<= " target (ours <= target * peer ? " met" : " MISSED") }'
}

# value NAME OURS [OPERATOR TARGET]: an absolute figure.
value() {
    awk -v name="$1" -v ours="$2" -v sign="${3:-}" -v target="${4:-}" 'BEGIN {
        printf "%-44s %12.3f %12s %8s   ", name, ours, "", ""
        met = sign == ">=" ? ours >= target : ours < target
        print sign == "" ? "none" : sign " " target (met ? " met" : " MISSED") }'
}

# The peer's figure; empty if the peer was not built.
peer() {
    key=$1
    shift
    if [ -x "$1" ]; then keep "$@" && figure "$key"; fi
}

solvers() {
    hand=$(peer seconds_per_iteration bench/hand_jacobi "$n" "$iterations")
    ours examples/jacobi "$n" "$iterations"
    row "Jacobi n=$n, s per iteration" "$(figure seconds_per_iteration)" "$hand" 1.05
    hand=$(peer seconds_per_iteration bench/hand_jacobi -o "$n" "$iterations")
    ours examples/jacobi -o "$n" "$iterations"
    row "Jacobi with own loops n=$n" "$(figure seconds_per_iteration)" "$hand" 1.03
    hand=$(peer seconds_per_iteration bench/hand_cg "$n" "$iterations")
    ours examples/cg -t 0 "$n" "$iterations"
    row "CG n=$n, s per iteration" "$(figure seconds_per_iteration)" "$hand" 1.05
}

# Fresh: the CPU writes the inputs before every round, so the round uploads the inputs, as cuBLASXt does.
products() {
    : >"$log"
    xt=$(peer abac_seconds bench/xt_abac "$m" 3)
    xt_dgemm=$(figure dgemm_seconds)
    ours examples/abac -d pages -f "$m" 3
    row "AB+AC n=$m, s, later rounds, fresh inputs" "$(figure later_seconds)" "$xt" 1.0
    row "AB+AC n=$m, s, first round (pins)" "$(figure first_seconds)" "$xt"
    ours examples/abac -d pages "$m" 3
    row "AB+AC n=$m, s, later rounds, inputs kept" "$(figure later_seconds)" "$xt" 1.0
    ours bench/dgemm -f "$m" 3
    row "dgemm n=$m, s, later rounds, fresh inputs" "$(figure later_seconds)" "$xt_dgemm" 1.0
    value "dgemm n=$m, TFLOP/s, fresh inputs" "$(figure later_tflops)" ">=" 45
    value "dgemm n=$m, TFLOP/s, first round" "$(figure first_tflops)"
    ours bench/dgemm "$m" 3
    value "dgemm n=$m, TFLOP/s, inputs kept" "$(figure later_tflops)" ">=" 45
}

# The bound: pinning (two written arrays, one unwritten), plus the transfers, plus the product, at the rates of this
# machine's devices.
numpy_bound() {
    [ -x bench/cuda_rates ] || return 0
    keep bench/cuda_rates
    awk -v n="$m" '
        /^pin .*not touched before/ { fresh = rate() }
        /^pin .*huge pages:/ { pin = rate() }
        /^copy to device/ { up = rate() }
        /^copy to host/ { down = rate() }
        /^dgemm n = 16384/ { core = rate() * 1000 }
        function rate(  field) { split($0, field, ": "); return field[2] + 0 }
        END {
            gb = 8e-9 * n * n
            print 2 * gb / pin + gb / fresh + 2 * gb / up + gb / down + 2e-9 * n * n * n / core
        }' "$log"
}
numpy() {
    python3 -c 'import numpy' 2>/dev/null || return 0
    bound=$(numpy_bound)
    ours python3 "$source/numpy_matmul.py" "$m" 3
    row "NumPy a @ b n=$m, s, never used memory" "$(figure best_seconds)" "$bound" 1.15
}

touching() {
    ours bench/sweep 4 "$sweep"
    value "sweep over a 1 GiB result by pages, GB/s" "$(figure pages_gbs)" ">=" 40
    value "sweep over every element, GB/s" "$(figure all_gbs)"
    value "first touch, after 10 ms of other work, us" "$(figure touch_us)" "<" 60
    value "first touch, after sleeping 200 ms, us" "$(figure slept_us)"
}

header "what" "hand-written"
solvers
products
numpy
touching
# SPDX-License-Identifier: BSD-2-Clause
