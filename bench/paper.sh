#!/bin/sh
# Prints the tables of papers into doc/paper of the source tree, from the build folder:  sh SRC/bench/paper.sh
# Takes some minutes, without data and GPU, in virtual time.  PAPER_ALL=1: the 630 problems of PARALiA instead of every
# seventh.  With gnuplot the plots are drawn again.
set -e
top_srcdir=$(cd "$(dirname "$0")/.." && pwd)
export top_srcdir
papers=$top_srcdir/doc/paper
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Virtual seconds of ITERATIONS of CG on GPUS K20: cg_seconds GPUS N ITERATIONS
cg_seconds() {
    SEMCACHE_DEVICE=emu:k20x2:$1 SEMCACHE_MACHINE_PATH=$top_srcdir/device/emu/machines SEMCACHE_OFFLOAD=always \
        SEMCACHE_STATS=$scratch/stats bench/sparse_cg "$2" "$3" >/dev/null
    sed -n 's/.*"virtual_seconds": \([0-9.]*\).*/\1/p' "$scratch/stats"
}

# SemCache++, figure 10: an iteration is an eighth of the time of eight more iterations.
cg_table() {
    printf '\nFigure 10: CG on the 7-point stencil; in the paper 1.4 on average on two GPUs,'
    printf ' above a million unknowns\n\n'
    printf '| unknowns | 1 GPU, ms an iteration | 2 | speed-up |\n| --- | --- | --- | --- |\n'
    for n in 1000000 4000000; do
        echo "$n $(cg_seconds 1 $n 4) $(cg_seconds 1 $n 12) $(cg_seconds 2 $n 4) $(cg_seconds 2 $n 12)"
    done | awk '{
        one = ($3 - $2) / 8; two = ($5 - $4) / 8
        printf "| %d | %.3f | %.3f | %.2f |\n", $1, 1e3 * one, 1e3 * two, one / two
    }'
}

make bench/paper-blasx bench/paper-xkblas bench/paper-paralia bench/paper-semcachepp bench/paper-proact \
    bench/sparse_cg >/dev/null
for name in blasx xkblas semcachepp proact; do
    "bench/paper-$name" >"$papers/$name.md"
done
cg_table >>"$papers/semcachepp.md"
bench/paper-paralia ${PAPER_ALL:+-a} -d "$papers/paralia.dat" >"$papers/paralia.md"
bench/paper-paralia ${PAPER_ALL:+-a} -u >"$papers/paralia-uneven.md"
if command -v gnuplot >/dev/null; then
    gnuplot -e "folder='$papers'" "$top_srcdir/bench/paper.gnuplot"
fi
# SPDX-License-Identifier: BSD-2-Clause
