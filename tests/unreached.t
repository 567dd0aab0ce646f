#!/bin/sh
# Programs whose calls, or whose memory, the library does not see because of the way in which it came into the process
# (doc/limits.md, "Programs out of reach"). Asserts right numbers, and what the page says of the calls.
. "$top_srcdir/tests/tap.sh"
need "$tool"
need "$library"
cc=${CC:-cc}
compile() { $cc -w -O1 -include "$scratch/multiply.h" -o "$@" 2> "$scratch/cc"; }
unset LD_LIBRARY_PATH LD_PRELOAD
libs=$top_builddir/.libs
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
command -v "${cc%% *}" > /dev/null || skip_all 'no compiler'

# C := A B with whole numbers, by the dgemm_ of a library that is opened (NAME), or by the program's own (none), or by
# the function product of a library (product:NAME) after the program's own.
cat > "$scratch/multiply.h" <<'EOT'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 300
typedef void gemm(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                  const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
static int multiply(gemm *dgemm)
{
    const int n = N;
    const double one = 1, zero = 0;
    double *a = malloc(sizeof *a * N * N), *c = malloc(sizeof *c * N * N);
    int wrong = 0;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N * N; i++)
            a[i] = round + 1;
        dgemm("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
        for (int i = 0; i < N * N; i++)
            wrong += c[i] != (double)N * (round + 1) * (round + 1);
    }
    return wrong;
}
EOT
cat > "$scratch/program.c" <<'EOT'
gemm dgemm_ __attribute__((weak));
int main(int argc, char **argv)
{
    int wrong = 0;
    void *in = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*product)(void) = in ? (int (*)(void))dlsym(in, "product") : NULL;
    gemm *opened = in ? (gemm *)dlsym(in, "dgemm_") : NULL;

    if (argc > 1 && !in) {
        puts(dlerror());
        return 2;
    }
    if (product || argc < 2)
        wrong += multiply(dgemm_);
    wrong += product ? product() : opened ? multiply(opened) : 0;
    puts(wrong ? "wrong" : "right");
    return wrong != 0;
}
EOT
printf 'gemm dgemm_;\nint product(void) { return multiply(dgemm_); }\n' > "$scratch/module.c"

# the program's name, libraries: links
links() { name=$1; shift; compile "$scratch/$name" "$scratch/program.c" "$@" -ldl; }
SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=always SEMCACHE_STATS=$scratch/stats
SEMCACHE_MACHINE_PATH=$top_srcdir/device/emu/machines SEMCACHE_MODULE_PATH=$libs
export SEMCACHE_DEVICE SEMCACHE_OFFLOAD SEMCACHE_STATS SEMCACHE_MACHINE_PATH SEMCACHE_MODULE_PATH
runs() {
    rm -f "$scratch/stats"
    timeout 100 "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
}
right() { [ "$status $(cat "$scratch/out")" = '0 right' ] && [ ! -s "$scratch/err" ]; }
offloaded() { grep -q "\"dgemm\": {\"offloaded\": $1, \"host\": 0}" "$scratch/stats"; }

# --- a library that needs libopenblas, with libblas.so.3 replaced
mkdir "$scratch/blas"
ln -s "$library" "$scratch/blas/libblas.so.3"
if links open -Wl,--no-as-needed -l:libopenblas.so.0; then
    runs env LD_LIBRARY_PATH="$scratch/blas" "$scratch/open"
    ok 'a program that needs libopenblas, libblas.so.3 replaced: right' right
    ok 'of its calls nothing is seen' test ! -e "$scratch/stats"
    runs "$tool" run "$scratch/open"
    ok 'semcache run: right' right
    ok 'all of its calls are seen' offloaded 3
else
    skip 'no libopenblas.so.0'
fi

# --- the library comes in by dlopen: malloc is libc's
links opens
runs "$scratch/opens" "$library"
ok 'the library is opened by dlopen: right' right
ok 'calls run on devices' offloaded 3
ok 'and copy their operands' grep -q '"percall_in": [1-9]' "$scratch/stats"

# --- the library is opened by another thread than the main thread, which ends first
cat > "$scratch/thread.c" <<'EOT'
#include <pthread.h>
static char **arguments;
static void *last(void *none)
{
    void *in = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);

    puts(!in || multiply((gemm *)dlsym(in, "dgemm_")) ? "wrong" : "right");
    fflush(stdout);
    if (arguments[2])
        exit(0);
    return none;
}
int main(int argc, char **argv)
{
    pthread_t thread;

    (void)argc;
    arguments = argv;
    pthread_create(&thread, NULL, last, NULL);
    pthread_exit(NULL);
}
EOT
compile "$scratch/thread" "$scratch/thread.c" -ldl -lpthread
runs "$scratch/thread" "$library" exit
ok 'opened in another thread, after the main thread has ended: right, and exit ends the process' right
rm -f "$scratch/stats"
# KILL: without threads of OpenBLAS, all threads that are left block the other signals.
timeout -s KILL 10 "$scratch/thread" "$library" > "$scratch/out" 2> "$scratch/err"
status=$?
ok 'without exit the process stays when its last thread has ended' \
    [ "$status $(cat "$scratch/out")" = '137 right' ]

# --- the library comes in through another library, behind libc
if compile "$scratch/module-over.so" -shared -fPIC "$scratch/module.c" -L"$libs" -lsemcache -Wl,-rpath,"$libs" &&
    printf 'int product(void);\nint main(void) { puts(product() ? "wrong" : "right"); return 0; }\n' \
        > "$scratch/over.c" &&
    compile "$scratch/over" "$scratch/over.c" -L"$scratch" -l:module-over.so -lc -Wl,-rpath,"$scratch"; then
    runs "$scratch/over"
    ok 'the library stands behind libc: right' right
    ok 'calls run on devices' offloaded 3
    ok 'and copy their operands' grep -q '"percall_in": [1-9]' "$scratch/stats"
else
    skip 'cannot be linked'
fi

# --- another BLAS before -lsemcache, and a library that is opened later
blas=$(ls /usr/lib/*/blas/libblas.so.3 /usr/lib/*/libblas.so.3 2> /dev/null | head -1)
if [ -n "$blas" ] && compile "$scratch/module.so" -shared -fPIC "$scratch/module.c" "$blas" &&
    links before -Wl,--no-as-needed "$blas" -L"$libs" -lsemcache -Wl,-rpath,"$libs"; then
    runs "$scratch/before" "$scratch/module.so"
    ok 'another BLAS before -lsemcache, and a library opened later: right' right
    ok "the program's calls are seen, the library's are not" offloaded 3
    links behind -Wl,--no-as-needed -L"$libs" -lsemcache -Wl,-rpath,"$libs" "$blas"
    runs "$scratch/behind" "$scratch/module.so"
    ok '-lsemcache first: right' right
    ok 'all calls are seen' offloaded 6
    runs "$tool" run "$scratch/before" "$scratch/module.so"
    ok 'semcache run: right' right
    ok 'all calls are seen' offloaded 6
else
    skip 'no libblas.so.3'
fi
# --- a BLAS with 64-bit integers under plain names that is opened later
cat > "$scratch/blas64.c" <<'EOT'
#include <stdint.h>
void dgemm_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
            const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb,
            const double *beta, double *c, const int64_t *ldc, size_t la, size_t lb)
{
    for (int64_t j = 0; j < *n; j++)
        for (int64_t i = 0; i < *m; i++) {
            double sum = 0;

            for (int64_t l = 0; l < *k; l++)
                sum += a[i + l * *lda] * b[l + j * *ldb];
            c[i + j * *ldc] = *alpha * sum;
        }
}
EOT
# Sizes that differ between integers of 32 bits and of 64 bits only above 2^31.
cat > "$scratch/wide.c" <<'EOT'
#include <stdint.h>
int product(void)
{
    gemm *dgemm = GEMM;
    const int64_t n = N;
    const double one = 1, zero = 0;
    double *a = malloc(sizeof *a * N * N), *c = malloc(sizeof *c * N * N);
    int wrong = 0;

    for (int i = 0; i < N * N; i++)
        a[i] = i % 7;
    dgemm("N", "N", (const int *)&n, (const int *)&n, (const int *)&n, &one, a, (const int *)&n, a, (const int *)&n,
          &zero, c, (const int *)&n, 1, 1);
    for (int j = 0; j < N; j += 37)
        for (int i = 0; i < N; i += 23) {
            double sum = 0;

            for (int l = 0; l < N; l++)
                sum += a[i + l * N] * a[l + j * N];
            wrong += c[i + j * N] != sum;
        }
    return wrong;
}
EOT
if compile "$scratch/blas64.so" -shared -fPIC "$scratch/blas64.c" && {
    echo 'gemm dgemm_;'
    echo '#define GEMM dgemm_'
    cat "$scratch/wide.c"
} > "$scratch/names.c" && compile "$scratch/names.so" -shared -fPIC "$scratch/names.c" "$scratch/blas64.so" && {
    echo "#define GEMM (gemm *)dlsym(dlopen(\"$scratch/blas64.so\", RTLD_NOW), \"dgemm_\")"
    cat "$scratch/wide.c"
} > "$scratch/asks.c" && compile "$scratch/asks.so" -shared -fPIC "$scratch/asks.c"; then
    cat > "$scratch/later.c" <<'EOT'
int main(int argc, char **argv)
{
    int (*product)(void) = (int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "product");

    puts(product() ? "wrong" : "right");
    return 0;
}
EOT
    compile "$scratch/later" "$scratch/later.c" -ldl
    runs "$tool" run "$scratch/later" "$scratch/asks.so"
    ok 'a BLAS with 64-bit integers, asked for its dgemm_: right' right
    ok 'the call is not seen' [ "$(grep -c dgemm "$scratch/stats")" = 0 ]
    runs "$tool" run "$scratch/later" "$scratch/names.so"
    ok 'a library that is linked with such a BLAS: integers count as integers of 32 bits' right
    ok 'and the calls are seen' offloaded 1
else
    skip 'a BLAS with 64-bit integers'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
