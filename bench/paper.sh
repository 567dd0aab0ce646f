#!/bin/sh
# Prints the tables of papers into doc/paper of the source tree, from the build folder:  sh SRC/bench/paper.sh
# Some minutes: no data and no GPU, only virtual time.  PAPER_ALL=1: all 630 problems of PARALiA, not a seventh.
set -e
top_srcdir=$(cd "$(dirname "$0")/.." && pwd)
export top_srcdir
make bench/paper-blasx bench/paper-xkblas bench/paper-paralia bench/paper-semcachepp bench/paper-proact >/dev/null
for name in blasx xkblas semcachepp proact; do
    "bench/paper-$name" >"$top_srcdir/doc/paper/$name.md"
done
bench/paper-paralia ${PAPER_ALL:+-a} >"$top_srcdir/doc/paper/paralia.md"
bench/paper-paralia ${PAPER_ALL:+-a} -u >"$top_srcdir/doc/paper/paralia-uneven.md"
