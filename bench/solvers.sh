#!/bin/sh
# Unmodified solvers through adapters, seconds of an iteration: SciPy's cg; PETSc's ex45 by CG with Jacobi, and with
# BoomerAMG of hypre (l1-Jacobi); beside the CG that hand_sparse_cg has by hand.  In the build tree:
#   sh ../bench/solvers.sh
# Environment: BENCH_SIDE (200: 8 million rows), BENCH_DEVICE (cuda:0), BENCH_DEVICES ("2 4": also several GPUs; PETSc
# takes a rank for each), BENCH_HOST=1 (also without devices; BENCH_RANKS, 1, ranks of PETSc), BENCH_PYTHON (python3).
. "$(dirname "$0")/common.sh"
side=${BENCH_SIDE:-200} python=${BENCH_PYTHON:-python3}
folder=$(dirname "$0")
rows=$((side * side * side))
scratch=$(mktemp -d)
trap 'rm -rf "$log" "$scratch"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

row() { awk -v name="$1" -v each="$2" 'BEGIN { printf "%-50s %12.3f\n", name, 1000 * each }'; }

# petsc NAME FEW MANY LAUNCHER...: the difference of two numbers of iterations, from PETSc's own log.
petsc() {
    title=$1 few=$2 many=$3
    shift 3
    for most in "$few" "$many"; do
        keep "$@" -da_grid_x "$side" -da_grid_y "$side" -da_grid_z "$side" -ksp_type cg -ksp_rtol 1e-300 \
            -ksp_max_it "$most" -log_view 2> /dev/null
        awk '$1 == "KSPSolve" { print $4 }' "$log"
    done > "$scratch/seconds"
    row "$title" "$(awk -v n=$((many - few)) '{ t[NR] = $1 } END { print (t[2] - t[1]) / n }' "$scratch/seconds")"
}
both() { # NAME LAUNCHER...
    name=$1
    shift
    petsc "PETSc, CG and Jacobi, $name" 20 220 "$@" "$scratch/ex45" -pc_type jacobi
    petsc "PETSc, CG and BoomerAMG, $name" 2 12 "$@" "$scratch/ex45" -pc_type hypre \
        -pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi
}
of_scipy() { # NAME LAUNCHER...
    name=$1
    shift
    keep "$@" "$python" "$folder/solvers_cg.py" "$side" 2> /dev/null
    row "SciPy's cg, $name" "$(figure seconds_per_iteration)"
}

printf '%-50s %12s\n' "$rows rows" 'ms'
if [ -x bench/hand_sparse_cg ]; then
    for algorithm in 1 2; do
        bench/hand_sparse_cg "$rows" 200 $algorithm > "$log" 2>&1 &&
            row "by hand, cuSPARSE's algorithm $algorithm" "$(figure seconds_per_iteration)"
    done
fi
one=${BENCH_DEVICE:-cuda:0}
run="tools/semcache run --device"
if "$python" -c 'import scipy.sparse' 2> /dev/null; then
    [ -z "${BENCH_HOST:-}" ] || of_scipy 'host'
    of_scipy "$one" $run "$one"
    for devices in ${BENCH_DEVICES:-}; do
        several=${one%:*}:$(seq -s , 0 $((devices - 1)))
        of_scipy "$several" $run "$several"
    done
fi
source=$(find /usr/share/petsc -name ex45.c -path '*ksp/ksp/tutorials*' 2> /dev/null | sort | tail -n 1)
if [ -n "$source" ] && command -v mpicc > /dev/null; then
    # shellcheck disable=SC2046
    mpicc -w -O2 -o "$scratch/ex45" "$source" $(pkg-config --cflags --libs PETSc) -lm
    [ -z "${BENCH_HOST:-}" ] || both "host, ${BENCH_RANKS:-1} ranks" mpirun -n "${BENCH_RANKS:-1}"
    both "$one" $run "$one"
    for devices in ${BENCH_DEVICES:-}; do
        both "$devices ranks" mpirun -n "$devices" $run "${one%:*}:$(seq -s , 0 $((devices - 1)))"
    done
fi
# SPDX-License-Identifier: BSD-2-Clause
