#!/bin/sh
# CUDA's compute-sanitizer on a part of the generated calls, on a real GPU: the kernels of the CUDA module, and every
# routine in random sequences through the whole protocol. For make check-sanitizer, in the build tree; prints a table.
#
#     tests/sanitizer.sh [TOOL...]        (memcheck; racecheck and synccheck are useful for the library's own kernels)
#
# SANITIZER names the program (default: on the path, or in CUDA's folder), SEMCACHE_TEST_DEVICE the devices (cuda:0).
# SEMCACHE_TEST_SHARE=N: runs one sequence of N (20, several minutes; 1: every sequence). Exit status 1: errors; 2: no
# run.
source=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)} build=${top_builddir:-.}
SEMCACHE_TEST_DEVICE=${SEMCACHE_TEST_DEVICE:-cuda:0} SEMCACHE_TEST_SHARE=${SEMCACHE_TEST_SHARE:-20}
SEMCACHE_TEST_REQUIRE_GPU=1 top_srcdir=$source top_builddir=$build
export SEMCACHE_TEST_DEVICE SEMCACHE_TEST_SHARE SEMCACHE_TEST_REQUIRE_GPU top_srcdir top_builddir

sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer")}
[ -x "$sanitizer" ] || {
    echo "$0: no compute-sanitizer, which comes with the CUDA toolkit (SANITIZER=FILE names it)" >&2
    exit 2
}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

failed=0
echo '| tool | test | assertions | failed | errors | seconds |'
echo '| --- | --- | --- | --- | --- | --- |'
for tool in ${*:-memcheck}; do
    for test in device_kernels device_conformance blas_sequences; do
        [ -x "$build/tests/$test" ] || { echo "$0: $build/tests/$test was not built" >&2; exit 2; }
        began=$(date +%s)
        sh "$source/tests/run-one" "$sanitizer" --tool "$tool" --target-processes all --error-exitcode 9 \
            "$build/tests/$test" >"$scratch/out" 2>&1
        status=$?
        errors=$(sed -n 's/^=* *ERROR SUMMARY: \([0-9]*\) error.*/\1/p' "$scratch/out" |
            awk '{ n += $1 } END { print NR ? n : "?" }')
        asserted=$(grep -c '^ok\|^not ok' "$scratch/out") wrong=$(grep -c '^not ok' "$scratch/out")
        echo "| $tool | $test | $asserted | $wrong | $errors | $(($(date +%s) - began)) |"
        if [ $status -ne 0 ]; then
            failed=1
            grep '^not ok\|^#\|^=====' "$scratch/out" | head -60 >&2
            echo "$test: status $status" >&2
        fi
    done
done
exit $failed
# SPDX-License-Identifier: BSD-2-Clause
