# Plot of doc/level3.md from its data: gnuplot -e "folder='SRC/doc'" SRC/bench/level3.gnuplot
set terminal svg size 900,560 dynamic background rgb 'white'
set output folder."/level3.svg"
set datafile missing '?'
set grid
set logscale x 2
set xrange [3500:19000]
set yrange [0:60]
set xtics (4096, 8192, 16384)
set key top left
set multiplot layout 2,3 title 'Level 3 on one H200, TFLOP/s by n, results read by eight threads'
rows(routine, column) = "<awk '$1 == \"".routine."\" {print $2, $".column."}' ".folder."/level3.dat"
do for [routine in "dgemm dsymm dsyrk dsyr2k dtrmm dtrsm"] {
    set title routine
    plot rows(routine, 3) using 1:2 with linespoints pt 7 title 'semcache', \
         rows(routine, 4) using 1:2 with linespoints pt 6 title 'cuBLASXt', \
         rows(routine, 5) using 1:2 with linespoints pt 8 title 'XKBLAS'
}
unset multiplot
# SPDX-License-Identifier: BSD-2-Clause
