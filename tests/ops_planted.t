#!/bin/sh
# An operation that the library does not have is added as a stranger adds it: a row of ops/operations.tab, a row of
# blas/veneers/routines.tab, and a routine that computes it on the host. No other file changes. Asserts that the core
# compiles with the operation. Emulated devices compute the operation, and programs find the veneers.
. "$top_srcdir/tests/tap.sh"
variable() {
    sed -n "/^$1 = /{ :more; /\\\\\$/{ N; b more
}; s/\\\\\n//g; s/^$1 = //; p; }" "$top_builddir/Makefile"
}
CC=$(variable CC) awk=$(variable AWK)
rows=$top_srcdir/blas/veneers/rows.awk veneers=$top_srcdir/blas/veneers/generate.awk

mkdir -p "$scratch/ops" "$scratch/blas/veneers" "$scratch/objects"
# y := x + beta y, cut into segments; C := alpha A + beta C in one task.
sed '/^# Outside the BLAS/i\
XPBY  1 - level1 n   2 sd:?xpby   n X:r(n) incx beta Y:b(n) incy\
GEADD 2 - single m*n 2 sdcz:?geadd m n alpha A:r(m,n) lda beta C:b(m,n) ldc
' "$top_srcdir/ops/operations.tab" > "$scratch/ops/operations.tab"
# A routine of LAPACK, made of two operations.
echo 'POSX 4 I potrf+potrs n*n*n/6+n*n*k 2 *sdcz:?posv uplo n k A:u(n,n)/half lda B:u(n,k)/cols ldb' \
    >> "$scratch/ops/operations.tab"
{
    cat "$top_srcdir/blas/veneers/routines.tab"
    echo 'sd:?xpby XPBY n -'
} > "$scratch/blas/veneers/routines.tab"

operations=$scratch/ops/operations.tab made=$scratch/blas/veneers
routines=$made/routines.tab
for part in enum:operations.h tables:operations.c calls:calls.h; do
    $awk -v what=${part%%:*} -f "$top_srcdir/ops/generate.awk" "$operations" > "$scratch/ops/${part#*:}" || exit 99
done
for part in prototypes:prototypes.h tables:tables.c veneers:veneers.c exports:exports.list; do
    $awk -v what=${part%%:*} -f "$rows" -f "$veneers" "$operations" "$routines" > "$made/${part#*:}" || exit 99
done

compile() { # source, object
    $CC -std=gnu11 -O0 -w -pthread -I"$scratch" -I"$top_srcdir" -I"$top_srcdir/include" -I"$top_builddir" \
        -DSC_MODULE_DIR='"/"' -DSC_DATA_DIR='"/"' -c "$1" -o "$2" >> "$scratch/said" 2>&1
}
# Two at a time: the source of an object of libcore, or what was generated for it.
number=0
for object in $(variable am_libcore_la_OBJECTS) $(variable nodist_libcore_la_OBJECTS); do
    source=$(echo "$object" | sed 's|libcore_la-||; s|\.lo$|.c|')
    number=$((number + 1))
    [ "$source" = ops/operations.c ] && source=$scratch/$source || source=$top_srcdir/$source
    compile "$source" "$scratch/objects/$number.o" &
    [ $((number % 2)) -eq 0 ] && wait
done
compile "$top_srcdir/tests/ops_planted.c" "$scratch/main.o"
wait
ar rc "$scratch/core.a" "$scratch"/objects/*.o
libraries="$(variable SIGSEGV_LIBS) -ldl -lm"
$CC -pthread -o "$scratch/planted" "$scratch/main.o" "$scratch/core.a" $libraries >> "$scratch/said" 2>&1
verdict $? "the core compiles with the operations, $number files" "$(cat "$scratch/said")"
compile "$made/veneers.c" "$scratch/veneers.o" && compile "$made/tables.c" "$scratch/tables.o"
verdict $? 'so do the veneers' "$(cat "$scratch/said")"
report "$(for name in dxpby_ sxpby_ cblas_dxpby dxpby_64_; do
    grep -q "^$name\$" "$made/exports.list" || echo "$name"
done)" 'which are exported'
for devices in 1 2 3; do
    "$scratch/planted" "emu:h200x8:$devices" > "$scratch/said" 2>&1
    verdict $? "$devices devices compute them" "$(cat "$scratch/said")"
done
end
# SPDX-License-Identifier: BSD-2-Clause
