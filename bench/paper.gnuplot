# Plots of doc/paper from its tables: gnuplot -e "folder='SRC/doc/paper'" SRC/bench/paper.gnuplot
set terminal svg size 640,420 dynamic background rgb 'white'
set key top left
set grid
table(name) = "<awk -F'|' '/^\\| *[0-9]/ {print $2, $3, $4, $5}' ".folder."/".name

set output folder."/paralia.svg"
set title "PARALiA's problems on the DGX-1 file, virtual time"
set logscale xy
set xlabel "Gflop"
set ylabel "Gflop/s"
set key bottom right
data = folder."/paralia.dat"
plot data using (2e-9 * $1 * $2 * $3):7 title 'cuBLASXt-like' pt 6 ps 0.5, \
     data using (2e-9 * $1 * $2 * $3):8 title 'BLASX-like' pt 4 ps 0.5, \
     data using (2e-9 * $1 * $2 * $3):9 title 'XKBLAS-like' pt 8 ps 0.5, \
     data using (2e-9 * $1 * $2 * $3):11 title 'perf' pt 7 ps 0.5

set output folder."/proact.svg"
set title "Jacobi's product on 1 to 16 V100 (PROACT, figure 10), virtual time"
unset logscale
set xlabel "GPUs"
set ylabel "speed-up"
set key top left
plot x title 'ideal' lc rgb 'grey', table("proact.md") using 1:3 with linespoints title 'ours', \
     '-' using 1:2 with points pt 6 title "PROACT's mean"
4 3.6
8 6.96
16 12.32
e

set output folder."/xkblas.svg"
set title "XKBLAS, figure 3: dgemm on the DGX-1 file, virtual time"
set xlabel "n"
set ylabel "Tflop/s"
set key bottom right
gemm(column) = "<awk -F'|' '/^\\| DGEMM \\| [0-9]/ {print $3, $".column."}' ".folder."/xkblas.md"
plot gemm(4) with linespoints title 'all', gemm(5) with linespoints title 'data on device', \
     gemm(6) with linespoints title 'no transit', gemm(8) with linespoints title 'no topology'
# SPDX-License-Identifier: BSD-2-Clause
