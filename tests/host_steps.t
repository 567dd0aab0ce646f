#!/bin/sh
# Operands at home cost a call on the host the same few instructions, independent of length, stride and extent.
for tool in valgrind callgrind_annotate; do
    command -v $tool > /dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
case ${SEMCACHE_TEST_DEVICE:-emu} in emu*) ;; *) echo '1..0 # SKIP no device under valgrind'; exit 0 ;; esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
valgrind --tool=callgrind --callgrind-out-file="$dir/out" "${top_builddir:-.}/tests/host_steps" > "$dir/log" 2>&1 || {
    sed 's/^/# /' "$dir/log"
    echo "1..0 # SKIP callgrind cannot run it"
    exit 0
}
callgrind_annotate --inclusive=yes --threshold=100 "$dir/out" > "$dir/costs"
count=0
for case in untracked home shared partly; do
    count=$((count + 1))
    awk -v name=$case -v number=$count '
        function cost(line) { sub(/^ */, "", line); sub(/ .*/, "", line); gsub(/,/, "", line); return line }
        $0 ~ ":cost_few_" name "( |$)" { few = cost($0) / 50 }
        $0 ~ ":cost_many_" name "( |$)" { many = cost($0) / 50 }
        END {
            good = few > 0 && many > 0 && many <= few + 40 && many < 9 * (name ~ /untracked|home/ ? 500 : 1500)
            printf "%sok %d - %s: %.0f instructions for 16 columns, %.0f for 1024\n", good ? "" : "not ", number, name,
                few, many
        }' "$dir/costs"
done
echo "1..$count"
# SPDX-License-Identifier: BSD-2-Clause
