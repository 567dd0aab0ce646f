# Shared by the tests that count instructions; sourced first:  . "$top_srcdir/tests/callgrind.sh"
# Provides what tests/tap.sh provides, and skips the test where callgrind cannot run.
. "$top_srcdir/tests/tap.sh"
for tool_ in valgrind callgrind_annotate; do
    command -v $tool_ > /dev/null || { echo "1..0 # SKIP no $tool_"; exit 0; }
done
# Without the processor's string instructions: valgrind takes a step for each byte of a filled array.
GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS; export GLIBC_TUNABLES

# Runs tests/NAME under callgrind, with further options of callgrind.
count_instructions() {
    program=$top_builddir/tests/$1
    [ ! -x "${program%/*}/.libs/$1" ] || program=${program%/*}/.libs/$1
    shift
    LD_LIBRARY_PATH=$top_builddir/.libs valgrind --tool=callgrind "$@" \
        --callgrind-out-file="$scratch/callgrind" "$program" > "$scratch/log" 2>&1 || {
        sed 's/^/# /' "$scratch/log"
        echo "1..0 # SKIP callgrind cannot run it"
        exit 0
    }
    callgrind_annotate --inclusive=yes --threshold=100 "$scratch/callgrind" > "$scratch/costs"
}

# Prints the instructions in a function and below; 0: the function was not called.
instructions_in() {
    awk -v name="$1" '$0 ~ ":" name "( |$)" { sum = $1; gsub(/,/, "", sum); exit }
        END { print sum + 0 }' "$scratch/costs"
}
# SPDX-License-Identifier: BSD-2-Clause
