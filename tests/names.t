#!/bin/sh
# In place of libblas.so.3, libsemcache has every name of the reference BLAS, and OpenBLAS's additions except for the
# names listed in doc/limits.md. tests/additions.c tests what the additions do.
. "$top_srcdir/tests/tap.sh"
need "$library"

names() { nm -D --defined-only "$1" | sed 's/.* //; s/@.*//' | grep -v '^_\|^SEMCACHE_' | LC_ALL=C sort -u; }
names "$library" > "$scratch/there"
missing() { LC_ALL=C comm -23 "$1" "$scratch/there"; }

sed '/^#/d' "$top_srcdir/tests/names/reference.txt" > "$scratch/reference"
[ "$(wc -l < "$scratch/reference")" -gt 300 ]
verdict $? 'the list of the reference BLAS'
report "$(missing "$scratch/reference")" 'all of it is exported'
for file in /usr/lib/*/blas/libblas.so.3 /usr/lib/*/blas64/libblas64.so.3 /usr/lib/*/libcblas.so.3; do
    [ -e "$file" ] || continue
    names "$file" > "$scratch/installed" # ATLAS has names of its own, which programs find in ATLAS
    report "$(missing "$scratch/installed" | grep -vx 'catlas_.*\|cblas_[sdcz]ger2[uc]\{0,1\}\|cblas_errprn')" \
        "all of $file"
done
for file in /usr/lib/*/openblas-*/libblas.so.3; do
    [ -e "$file" ] || { skip 'no OpenBLAS in the place of libblas.so.3'; continue; }
    names "$file" > "$scratch/installed"
    report "$(missing "$scratch/installed" | grep -vx '[sdcz]*sum_\|i\{0,1\}[sdcz]*a\{0,1\}m\(ax\|in\)_')" \
        "all of $file but ?sum_, ?max_, i?max_, ?amax_ and the same of minima"
done
report "$(grep -x '[sd]sum_\|d\(a\|\)max_\|idmax_' "$scratch/there")" \
    'names that a COMMON block may have are not exported'

# Debian's LAPACK and SciPy ask for names of the reference BLAS.
place=$scratch/place
mkdir "$place" && ln -s "$library" "$place/libblas.so.3"
lapack=$(ls -d /usr/lib/*/lapack 2>/dev/null | head -1)
if [ -n "${SEMCACHE_TEST_ASAN:-}" ]; then
    skip 'dlopen of AddressSanitizer is not possible'
elif [ -n "$lapack" ] && LD_LIBRARY_PATH=$lapack /usr/bin/python3 -c 'import scipy.linalg' 2>/dev/null; then
    LD_LIBRARY_PATH=$place:$lapack /usr/bin/python3 -c 'import scipy.linalg' > "$scratch/out" 2>&1
    verdict $? "import scipy.linalg, in the place of libblas.so.3" "$(cat "$scratch/out")"
else
    skip "no SciPy of Debian's"
fi

"$tool" run --device "$device" --offload always --check "$top_builddir/tests/additions" > "$scratch/out" 2>&1
verdict $? 'tests/additions' "$(cat "$scratch/out")"
if [ -e /usr/lib/x86_64-linux-gnu/blas/libblas.so.3 ]; then
    SEMCACHE_HOST_BLAS=/usr/lib/x86_64-linux-gnu/blas/libblas.so.3 "$tool" run "$top_builddir/tests/additions" lacking \
        > "$scratch/out" 2> "$scratch/err"
    verdict $? 'a host BLAS that lacks an addition: the call returns' "$(cat "$scratch/out")"
    [ "$(grep -c 'no BLAS of this process has: set SEMCACHE_HOST_BLAS' "$scratch/err")" -eq 3 ]
    verdict $? 'and one line each says so' "$(cat "$scratch/err")"
else
    skip 'no reference BLAS'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
