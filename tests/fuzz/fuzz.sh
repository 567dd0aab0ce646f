#!/bin/sh
# Fuzzes with libFuzzer (make fuzz): builds the sources with clang in fuzz.build/, and runs each target for FUZZ_SECONDS
# from its corpus. A crashing input is left in fuzz.build/ as crash-*; after the fix the input belongs in
# tests/fuzz/corpus. Environment: SRC (source folder), SOURCES, MODULE_DIR, DATA_DIR, LIBS, CLANG. Arguments: targets.
set -e
clang=${CLANG:-clang}
seconds=${FUZZ_SECONDS:-60}
"$clang" --version > /dev/null 2>&1 || { echo 'make fuzz needs clang (CLANG=...)' >&2; exit 1; }
mkdir -p fuzz.build
printf '#define SC_MODULE_DIR "%s"\n#define SC_DATA_DIR "%s"\n' "$MODULE_DIR" "$DATA_DIR" > fuzz.build/paths.h
# glibc's complex.h omits CMPLX for clang.
printf '#define CMPLX%s(a, b) __builtin_complex((%s)(a), (%s)(b))\n' '' double double F float float \
    >> fuzz.build/paths.h
flags="-g -O1 -std=gnu11 -pthread -w -I. -I$SRC -I$SRC/include -include fuzz.build/paths.h -fno-omit-frame-pointer"
flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=undefined"

sources=
for source in $SOURCES; do case $source in *.c) sources="$sources $source" ;; esac; done
# Compiles objects older than their source; after a change of headers remove fuzz.build.
for source in $sources; do
    object=fuzz.build/$(echo "$source" | tr / _).o
    [ "$object" -nt "$SRC/$source" ] || echo "$clang $flags -fsanitize=fuzzer-no-link -c $SRC/$source -o $object"
done | xargs -P "${FUZZ_JOBS:-2}" -I '{}' sh -c '{}'
rm -f fuzz.build/core.a
for source in $sources; do echo "fuzz.build/$(echo "$source" | tr / _).o"; done | xargs ar rcs fuzz.build/core.a

status=0
for target; do
    devices=
    grep -q explore/device.h "$SRC/tests/fuzz/fuzz_$target.c" && devices=$SRC/tests/explore/device.c
    $clang $flags -fsanitize=fuzzer "$SRC/tests/fuzz/fuzz_$target.c" $devices "$SRC/tests/fuzz/file.c" \
        fuzz.build/core.a $LIBS \
        -o "fuzz.build/$target"
    mkdir -p "fuzz.build/corpus.$target"
    folders=$(sed -n 's/^const char .*fuzz_corpus\[\] = {\(.*\), NULL};$/\1/p' "$SRC/tests/fuzz/fuzz_$target.c" |
        tr -d '",' | sed "s:[^ ]*:$SRC/&:g")
    echo "== $target, $seconds seconds"
    # Settings are copied and never freed: no search for leaks.
    ASAN_OPTIONS=detect_leaks=0 "fuzz.build/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -close_fd_mask=2 -detect_leaks=0 -print_final_stats=1 -artifact_prefix="fuzz.build/crash-$target-" \
        "fuzz.build/corpus.$target" $folders \
        2> "fuzz.build/$target.log" || status=1
    grep -E 'ERROR|SUMMARY|runtime error|stat::number_of_executed_units' "fuzz.build/$target.log" || :
done
exit $status
# SPDX-License-Identifier: BSD-2-Clause
