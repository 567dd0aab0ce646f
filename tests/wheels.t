#!/bin/sh
# NumPy and SciPy from PyPI, which bring their own BLAS with 64-bit integers and private names. Asserts that a test of
# theirs that passes without semcache passes under semcache. In make check-long.
#
#     python3 -m venv wheels && wheels/bin/pip install numpy scipy pytest hypothesis
#     SEMCACHE_TEST_WHEELS=wheels/bin/python
#
# SEMCACHE_TEST_WHEELS_FILES: files below site-packages (default: every file). SEMCACHE_TEST_WHEELS_MODES: of default,
# first, always.
. "$top_srcdir/tests/tap.sh"
need "$tool"
python=${SEMCACHE_TEST_WHEELS:-python3}
site=$($python -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))' 2>/dev/null)
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
ls "$site"/numpy.libs/libscipy_openblas64_* >/dev/null 2>&1 ||
    skip_all 'no NumPy wheel; SEMCACHE_TEST_WHEELS names a python that has one'
$python -c 'import pytest, scipy, hypothesis' 2>/dev/null || skip_all "$python has no pytest, scipy or hypothesis"

export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} SEMCACHE_DATABASE=none
cd "$scratch" || exit 1

# outcome FILE words...: prints the failed tests of FILE, run behind these words; $passed: number of passed tests.
outcome() {
    file=$1
    shift
    "$@" timeout -k 5 "${SEMCACHE_TEST_WHEELS_LIMIT:-1800}" \
        $python -m pytest -q -rfE -p no:cacheprovider -W ignore "$site/$file" >out 2>err </dev/null
    status=$?
    passed=$(sed -n 's/.*\b\([0-9][0-9]*\) passed.*/\1/p' out | tail -1)
    sed -n 's/^\(FAILED\|ERROR\) \([^ ]*\).*/\2/p' out | sort
    [ $status -le 1 ] || echo "status $status: $(tail -1 err)"
    grep '^semcache: error' err | sort -u
}

in_mode() {
    mode=$1
    shift
    case $mode in
    default) env -u SEMCACHE_OPEN "$tool" run "$@" ;;
    first) SEMCACHE_OPEN=first "$tool" run --device "$device" --offload auto "$@" ;;
    always) "$tool" run --device "$device" --offload always "$@" ;;
    esac
}

files=${SEMCACHE_TEST_WHEELS_FILES:-$(cd "$site" && ls numpy/linalg/tests/test_*.py numpy/_core/tests/test_einsum.py \
    numpy/_core/tests/test_mem_overlap.py numpy/_core/tests/test_multiarray.py numpy/_core/tests/test_numeric.py \
    scipy/linalg/tests/test_*.py scipy/sparse/tests/test_*.py scipy/sparse/linalg/tests/test_*.py \
    scipy/sparse/linalg/*/tests/test_*.py)}
for file in $files; do
    outcome "$file" env >alone
    for mode in ${SEMCACHE_TEST_WHEELS_MODES:-default first always}; do
        outcome "$file" in_mode $mode >under
        comm -13 alone under >worse
        [ ! -s worse ]
        verdict $? "$file, $mode: ${passed:-0} passed" "$(head -20 worse)"
    done
done
end
# SPDX-License-Identifier: BSD-2-Clause
