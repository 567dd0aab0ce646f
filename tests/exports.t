#!/bin/sh
# libsemcache.so exports exactly the names of the lists; the public names are exactly those of the header.
. "$top_srcdir/tests/tap.sh"
need "$library"

own=$top_srcdir/libsemcache/exports.list
made="$top_builddir/blas/veneers/exports.list $top_builddir/host/exports.list $top_builddir/host/syscalls.list"
made="$made $top_builddir/sparse/exports.list $top_builddir/blas/lapack/exports.list"
sed 's/#.*//; /^[[:space:]]*$/d' "$own" $made | LC_ALL=C sort > "$scratch/wanted"
nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | grep -v '^SEMCACHE_[0-9]*$' |
    LC_ALL=C sort -u > "$scratch/there"

report "$(uniq -d "$scratch/wanted")" 'no name is listed twice'
report "$(uniq "$scratch/wanted" | LC_ALL=C comm -13 "$scratch/there" -)" 'all that is listed is exported'
report "$(uniq "$scratch/wanted" | LC_ALL=C comm -23 "$scratch/there" -)" 'nothing else is exported'

sed -n 's/^SEMCACHE_API.*[ *]\(semcache_[a-z_0-9]*\)(.*/\1/p' "$top_srcdir/include/semcache/semcache.h" \
    "$top_srcdir/include/semcache/tasks.h" |
    LC_ALL=C sort > "$scratch/header"
grep '^semcache_' "$own" | LC_ALL=C sort > "$scratch/public"
report "$(LC_ALL=C comm -3 "$scratch/header" "$scratch/public")" 'the public names are those of semcache.h and tasks.h'
report "$(nm -D --defined-only "$library" | grep '@')" 'none has a version (a call of malloc@GLIBC... would pass it by)'
nm -D --defined-only "$(ldd "$library" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')" |
    sed 's/ . / /; s/@.*//' | sort -u | sed 's/^[^ ]* //' | sort | uniq -d > "$scratch/several"
LC_ALL=C readelf -rW "$library" | awk '$4 != "0000000000000000" && NF > 5 { print $5 }' | sort -u > "$scratch/called"
nm -D --defined-only "$library" | sed 's/.* //' | sort > "$scratch/ours"
report "$(comm -12 "$scratch/called" "$scratch/ours" | comm -12 - "$scratch/several")" \
    'what libc has in several versions is called with a version (base/libc_versions.h)'
report "$(LC_ALL=C readelf -d "$library" | grep NEEDED |
    grep -v '\[\(libc\|libm\|libsigsegv\|ld-linux-x86-64\|libpthread\|libdl\)\.so')" \
    'it needs libc and libsigsegv only'
report "$(LC_ALL=C readelf -d "$library" | grep -q 'SONAME.*\[libsemcache\.so\.0\]' || echo other)" \
    'its soname is libsemcache.so.0'

# The library for CUDA programs: its exports are generated, and it needs no library of CUDA's.
um=$top_builddir/.libs/libsemcache-cuda-um.so
if [ -e "$um" ]; then
    LC_ALL=C sort "$top_builddir/cuda-um/exports.list" > "$scratch/wanted"
    nm -D --defined-only "$um" | sed 's/.* //; s/@.*//' | LC_ALL=C sort > "$scratch/there"
    report "$(uniq -d "$scratch/wanted")" 'cuda-um: no name is listed twice'
    report "$(LC_ALL=C comm -3 "$scratch/wanted" "$scratch/there")" 'cuda-um: what is listed is exported, and no more'
    libraries='cuda\|cublas\|cusparse\|cusolver\|cufft\|curand'
    report "$(grep -v "^\(__\)\{0,1\}\($libraries\)" "$scratch/there")" "cuda-um: they are CUDA's names"
    report "$(LC_ALL=C readelf -d "$um" | grep NEEDED |
        grep -v '\[\(libsemcache\|libc\|libm\|ld-linux-x86-64\|libpthread\|libdl\)\.so')" \
        "cuda-um: it needs none of CUDA's libraries"
else
    skip 'libsemcache-cuda-um was not built'
fi

end
# SPDX-License-Identifier: BSD-2-Clause
