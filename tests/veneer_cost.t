#!/bin/sh
# Rule 1 of blas/README.md: a small call costs at most 20 instructions more than in the host BLAS alone. The bound is 80
# where 64-bit integers are checked for a host with 32-bit integers.
for tool in valgrind callgrind_annotate; do
    command -v $tool > /dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
OPENBLAS_NUM_THREADS=1; export OPENBLAS_NUM_THREADS
program=${top_builddir:-.}/tests/veneer_cost
test -x "${program%/*}/.libs/veneer_cost" && program=${program%/*}/.libs/veneer_cost
valgrind --tool=callgrind --callgrind-out-file="$dir/out" "$program" > "$dir/log" 2>&1 || {
    sed 's/^/# /' "$dir/log"
    echo "1..0 # SKIP callgrind cannot run it"
    exit 0
}
callgrind_annotate --inclusive=yes --threshold=100 "$dir/out" > "$dir/costs"
count=0
for routine in ddot daxpy dgemm cblas_ddot cblas_daxpy cblas_dgemm ddot_64 dgemm_64 cblas_dgemm64; do
    for way in none some; do
        count=$((count + 1))
        awk -v routine=$routine -v way=$way -v number=$count '
            function cost(line) { sub(/^ */, "", line); sub(/ .*/, "", line); gsub(/,/, "", line); return line }
            $0 ~ ":cost_host_" routine "( |$)" { host = cost($0) }
            $0 ~ ":cost_" way "_" routine "( |$)" { veneer = cost($0) }
            END {
                more = (veneer - host) / 1000
                good = host > 0 && veneer > 0 && more <= (routine ~ /64/ ? 80 : 20)
                printf "%sok %d - %s, devices: %s: %.1f instructions more than %.1f\n", good ? "" : "not ", number,
                    routine, way, more, host / 1000
            }' "$dir/costs"
    done
done
echo "1..$count"
# SPDX-License-Identifier: BSD-2-Clause
