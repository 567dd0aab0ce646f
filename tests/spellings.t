#!/bin/sh
# Every spelling of every routine is exported and works: 32- and 64-bit integers, two conventions of complex functions,
# small calls on the host and the same calls on devices. Plain names have 64-bit integers where the program's BLAS does.
. "$top_srcdir/tests/tap.sh"
need "$library"

nm -D --defined-only "$library" | sed 's/.* //' | LC_ALL=C sort > "$scratch/there"
sed -n 's/^| \(`[a-z0-9]*`[^|]*\).*/\1/p' "$top_builddir/doc/routines.md" | tr -d '` ' | tr ',' '\n' \
    > "$scratch/routines"
grep -q '^dgemmtr$' "$scratch/routines" || echo 'no dgemmtr' > "$scratch/few"
while read -r r; do
    case $r in [cz]dot[uc]) c=${r}_sub ;; *) c=$r ;; esac
    printf '%s\n' "${r}_" "$r" "scipy_${r}_" "cblas_$c" "scipy_cblas_$c" \
        "${r}_64_" "${r}_64" "scipy_${r}_64_" "cblas_${c}64_" "cblas_${c}_64" "scipy_cblas_${c}64_"
done < "$scratch/routines" | LC_ALL=C sort > "$scratch/wanted"
[ "$(wc -l < "$scratch/wanted")" -gt 1500 ] || echo 'few routines' > "$scratch/few"
report "$(cat "$scratch/few" 2>/dev/null; LC_ALL=C comm -23 "$scratch/wanted" "$scratch/there")" \
    'all spellings are exported'

preload=
try() { # title, offload, arguments of the program
    title=$1 offload=$2
    shift 2
    SEMCACHE_COMPLEX_RETURN=$1 LD_PRELOAD=$preload \
        "$tool" run --device "$device" --offload "$offload" --check \
        "$top_builddir/tests/spellings" "$@" > "$scratch/out" 2>&1
    status=$?
    report "$({ grep -v '^ok\|^1\.\.[1-9]' "$scratch/out"; [ $status = 0 ] || echo "status $status"; })" "$title"
}
for offload in never always; do
    for width in 32 64; do
        for return in gfortran g77; do
            try "$width bits, $return, offload $offload" $offload $return $width
        done
    done
done

# A program whose BLAS has 64-bit integers, loaded as a dependency.
wide=$(ls /usr/lib/*/blas64/libblas64.so.3 /usr/lib/*/libblas64.so.3 2>/dev/null | head -1)
if [ -n "$wide" ]; then
    for offload in never always; do
        for width in plain 64; do
            preload=$wide
            try "linked with libblas64.so.3, $width names, offload $offload" $offload gfortran $width
        done
    done
    SEMCACHE_HOST_BLAS=$wide "$tool" run --device none "$top_builddir/tests/spellings" > "$scratch/out" 2>&1
    report "$(grep '^not ok' "$scratch/out"; grep -q 'is no host BLAS (its integers have 64 bits)' "$scratch/out" ||
        cat "$scratch/out")" 'as the host BLAS of another program that library is refused in a line'
else
    skip 'no libblas64.so.3'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
