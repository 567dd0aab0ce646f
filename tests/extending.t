#!/bin/sh
# The recipes of doc/extending.md: each step changes the copy of the sources that it is run on, and what it changes
# compiles.  With SEMCACHE_TEST_LONG=1 the copy is built, and what was added runs on emulated devices.
. "$top_srcdir/tests/tap.sh"
src=$scratch/src gen=$scratch/gen
mkdir "$src" "$gen" "$gen/ops"
(cd "$top_srcdir" && tar -cf - $(find . -maxdepth 1 -type f) m4 include $(folders)) |
    tar -C "$src" -xf - || exit 99
chmod -R u+w "$src" # make distcheck has them read-only

# A step of a document, as a file of its own: step 1 is the first block of shell commands.
awk -v folder="$scratch" '/^```sh$/ { on = 1; n++; next } /^```$/ { on = 0; next } on { print > (folder "/step" n) }' \
    "$top_srcdir/doc/extending.md"
steps=$(find "$scratch" -maxdepth 1 -name 'step*' | wc -l)

# sed -i that finds nothing to change is no step.
cat > "$scratch/sed" <<'END'
sed() {
    for file; do :; done
    [ "$1" != -i ] || cp "$file" before
    command sed "$@" || exit 1
    [ "$1" != -i ] || ! cmp -s "$file" before || { echo "$file: nothing to change"; exit 1; }
    rm -f before
}
END
for i in $(seq "$steps"); do
    report "$(cd "$src" && sh -e -c '. "$1/sed"; . "$1/step$2"' sh "$scratch" "$i" 2>&1 || echo 'it fails')" \
        "step $i of $steps changes what it names"
done

for what in enum:operations.h tables:operations.c calls:calls.h; do
    awk -f "$src/ops/generate.awk" -v what="${what%:*}" "$src/ops/operations.tab" > "$gen/ops/${what#*:}"
done
mkdir -p "$gen/blas/veneers"
for what in prototypes:prototypes.h tables:tables.c veneers:veneers.c; do
    awk -f "$src/blas/veneers/rows.awk" -f "$src/blas/veneers/generate.awk" -v what="${what%:*}" \
        "$src/ops/operations.tab" "$src/blas/veneers/routines.tab" > "$gen/blas/veneers/${what#*:}"
done
changed=$(cd "$src" && find . -name '*.c' | while read -r file; do
    cmp -s "$file" "$top_srcdir/$file" || echo "$file"; done)
report "$(for file in $changed "$gen/blas/veneers/tables.c" "$gen/blas/veneers/veneers.c"; do
    [ -e "$file" ] || file=$src/$file
    ${CC:-cc} -std=gnu11 -fsyntax-only -Wall -Wextra -Werror -DHAVE_CONFIG_H -DSC_MODULE_DIR='""' -DSC_DATA_DIR='""' \
        -I"$gen" -I"$src" -I"$src/include" -I"$top_builddir" "$file" 2>&1; done)" \
    "what they change and add compiles ($(echo $changed | wc -w) files)"

[ "${SEMCACHE_TEST_LONG:-0}" = 1 ] || end

mkdir "$src/build"
(cd "$src" && autoreconf -i && cd build && ../configure -q --without-cuda CC="${CC:-cc}" CFLAGS=-O0 &&
    make -s noinst_PROGRAMS=examples/abac) > "$scratch/out" 2> "$scratch/err"
status=$?
ok 'all four additions are built together' ended 0
[ "$status" -eq 0 ] || end
unset SEMCACHE_DEVICE
OPENBLAS_NUM_THREADS=1 SEMCACHE_OFFLOAD=always SEMCACHE_CHECK=1
export OPENBLAS_NUM_THREADS SEMCACHE_OFFLOAD SEMCACHE_CHECK
run() {
    "$src/build/tools/semcache" run --stats "$scratch/stats" "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
}
offloaded() { grep -q "\"$1\": {\"offloaded\": [1-9]" "$scratch/stats"; }

cat > "$scratch/amax.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
double damax_(const int *n, const double *x, const int *incx);
int main(void)
{
    const int n = 1 << 20, one = 1;
    double *x = calloc((size_t)n, sizeof *x);

    for (int i = 0; i < n; i++)
        x[i] = i % 1000 - 700;
    x[n / 3] = -5000;
    printf("%g\n", damax_(&n, x, &one));
    return 0;
}
END
${CC:-cc} -o "$scratch/amax" "$scratch/amax.c" -L"$src/build/.libs" -lsemcache -Wl,-rpath,"$src/build/.libs"
run --device emu:h200x8:2 "$scratch/amax"
ok 'the routine is right' has out '^5000$'
ok 'and runs on devices' offloaded damax
run --device mine:2 "$src/build/examples/abac" 300 1
ok 'the back end is right' has out 'ok$'
ok 'and computes what the skeleton does not' offloaded daxpy
SEMCACHE_SCHEDULE=snake run --device emu:h200x8:3 --trace "$scratch/trace" "$src/build/examples/abac" 1500 1
ok 'the strategy is right' has out 'ok$'
"$src/build/tools/semcache" trace dump --kind pin "$scratch/trace" > "$scratch/out" 2> "$scratch/err"
ok 'the event is in the trace' has out ' pin .* base=0x'
"$src/build/tools/semcache" trace check "$scratch/trace" > "$scratch/out" 2> "$scratch/err"
status=$?
ok 'which is still checked' ended 0
end
# SPDX-License-Identifier: BSD-2-Clause
