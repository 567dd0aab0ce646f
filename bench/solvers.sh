#!/bin/sh
# Unmodified solvers through adapters, milliseconds of an iteration: SciPy's cg, eigsh, lobpcg and expm_multiply;
# PETSc's ex45 by CG with Jacobi, ILU, ICC, SOR, and with BoomerAMG of hypre (l1-Jacobi); beside the CG that
# hand_sparse_cg has by hand.  In the build tree:
#   sh ../bench/solvers.sh
# Environment: BENCH_SIDE (200: 8 million rows), BENCH_DEVICE (cuda:0), BENCH_DEVICES ("2 4": also several GPUs; PETSc
# takes a rank for each), BENCH_HOST=1 (also without devices; BENCH_RANKS, 1, ranks of PETSc), BENCH_PYTHON (python3),
# BENCH_SOLVERS ("cg eigsh lobpcg expm_multiply", SciPy's), BENCH_PRECONDITIONERS ("jacobi ilu icc sor hypre", PETSc's).
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
# Triangular solves are offered after 40 applications: both runs have more.
preconditioned() { # NAME LAUNCHER...
    name=$1
    shift
    for preconditioner in ${BENCH_PRECONDITIONERS:-jacobi ilu icc sor hypre}; do
        title="PETSc, CG and $preconditioner, $name"
        case $preconditioner in
        jacobi) petsc "$title" 20 220 "$@" "$scratch/ex45" -pc_type jacobi ;;
        hypre) petsc "$title" 2 12 "$@" "$scratch/ex45" -pc_type hypre \
            -pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi ;;
        sor) petsc "$title" 60 160 "$@" "$scratch/ex45" -pc_type sor ;;
        *) petsc "$title" 60 160 "$@" "$scratch/ex45" -pc_type bjacobi -sub_pc_type "$preconditioner" ;;
        esac
    done
}
of_scipy() { # NAME LAUNCHER...
    name=$1
    shift
    for solver in ${BENCH_SOLVERS:-cg eigsh lobpcg expm_multiply}; do
        case $solver in
        cg) steps='20 120' ;;
        eigsh) steps='2 8 1' ;;
        lobpcg) steps='5 15 1' ;;
        *) steps='1 3 1' ;;
        esac
        # shellcheck disable=SC2086
        keep "$@" "$python" "$folder/solvers_scipy.py" "$solver" "$side" $steps 2> /dev/null
        row "SciPy's $solver, $name" "$(figure seconds_per_step)"
    done
}

printf '%-50s %12s\n' "$rows rows" 'ms'
if [ -x bench/hand_sparse_cg ]; then
    for devices in 1 ${BENCH_DEVICES:-}; do
        for algorithm in 1 2; do
            bench/hand_sparse_cg -g "$devices" "$rows" 200 $algorithm > "$log" 2>&1 &&
                row "by hand, cuSPARSE's algorithm $algorithm, GPUs: $devices" "$(figure seconds_per_iteration)"
        done
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
    [ -z "${BENCH_HOST:-}" ] || preconditioned "host, ${BENCH_RANKS:-1} ranks" mpirun -n "${BENCH_RANKS:-1}"
    preconditioned "$one" $run "$one"
    for devices in ${BENCH_DEVICES:-}; do
        preconditioned "$devices ranks" mpirun -n "$devices" $run "${one%:*}:$(seq -s , 0 $((devices - 1)))"
    done
fi
# SPDX-License-Identifier: BSD-2-Clause
