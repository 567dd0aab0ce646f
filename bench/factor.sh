#!/bin/sh
# Factorizations by the reference LAPACK, by semcache, by the host BLAS alone and, where it is installed, by NVBLAS.
# From the build tree, after make:
#   FACTOR_LAPACK=FOLDER sh SRC/bench/factor.sh [n]
# FOLDER holds liblapack.so.3 of the reference LAPACK (Debian's liblapack3 has it in /usr/lib/x86_64-linux-gnu/lapack;
# the file can be carried to a machine without it, together with libgfortran.so.5 and libquadmath.so.0 if need be).
# OpenBLAS's own LAPACK would not do: its factorizations call no BLAS.  FACTOR_BLAS: the host's OpenBLAS, if
# it is not found by its name.
# BENCH_DEVICE (cuda:0) and FACTOR_ROUTINES ("potrf getrf") change what is run.
set -eu

n=${1:-20000}
device=${BENCH_DEVICE:-cuda:0}
blas=${FACTOR_BLAS:-libopenblas.so.0}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/semcache-factor.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

[ -x bench/factor ] || { echo "factor.sh: run it in the build tree, after make" >&2; exit 2; }
LD_LIBRARY_PATH=${FACTOR_LAPACK:-/usr/lib/x86_64-linux-gnu/lapack}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

cat >"$scratch/nvblas.conf" <<END
NVBLAS_LOGFILE $scratch/nvblas.log
NVBLAS_CPU_BLAS_LIB $blas
NVBLAS_GPU_LIST ALL
END

row() { # what it is, command
    what=$1
    shift
    printf '%-10s %-9s ' "$routine" "$what"
    "$@" || true
}
for routine in ${FACTOR_ROUTINES:-potrf getrf}; do
    row host bench/factor -r 2 "$routine" "$n"
    row semcache tools/semcache run --device "$device" --stats "$scratch/stats" bench/factor -r 2 "$routine" "$n"
    tr -d '\n' <"$scratch/stats" |
        sed -n 's/.*\("bytes": *{[^}]*}\).*\("faults": *{[^}]*}\).*/           moved:    \1 \2\n/p'
    for nvblas in libnvblas.so.13 libnvblas.so.12 libnvblas.so; do
        if LD_PRELOAD=$nvblas true 2>&1 | grep -q .; then continue; fi
        row nvblas env NVBLAS_CONFIG_FILE="$scratch/nvblas.conf" LD_PRELOAD="$nvblas" bench/factor -r 2 "$routine" "$n"
        break
    done
done
