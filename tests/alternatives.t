#!/bin/sh
# Installs the library into a scratch folder. Asserts that programs offload through the library as libblas.so.3 and
# libcblas.so.3, by LD_LIBRARY_PATH with the reference LAPACK on top, and by update-alternatives as documented. Programs
# linked in either order with --as-needed give the same result. Uninstalling leaves no file.
. "$top_srcdir/tests/tap.sh"
need "$library"
need "$top_builddir/tests/alternative"
unset LD_LIBRARY_PATH LD_PRELOAD MAKEFLAGS MFLAGS
make=${MAKE:-make}
libdir=$scratch/usr/lib folder=$scratch/usr/lib/semcache/blas
run_make() {
    # Installs the library alone: programs linked with the library would be linked again for the new folder.
    "$make" -s -C "$top_builddir" lib_LTLIBRARIES=libsemcache.la libdir=/usr/lib DESTDIR="$scratch" "$@" \
        > "$scratch/make" 2>&1 || cat "$scratch/make"
}

report "$(run_make install-libLTLIBRARIES install-exec-hook)" 'make install, of the library'
report "$(for name in libblas.so.3 libcblas.so.3; do
    [ "$(readlink -f "$folder/$name")" = "$(readlink -f "$libdir/libsemcache.so.0")" ] || echo "$folder/$name"; done)" \
    'libblas.so.3 and libcblas.so.3 are links to it'

SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=always SEMCACHE_CHECK=1
SEMCACHE_MACHINE_PATH=$top_srcdir/device/emu/machines SEMCACHE_MODULE_PATH=$top_builddir/.libs
SEMCACHE_STATS=$scratch/stats SEMCACHE_LOG=info
export SEMCACHE_DEVICE SEMCACHE_OFFLOAD SEMCACHE_CHECK SEMCACHE_MACHINE_PATH SEMCACHE_MODULE_PATH SEMCACHE_STATS
export SEMCACHE_LOG
try() { # LD_LIBRARY_PATH, the program, its arguments; messages are in $scratch/log
    path=$1 program=$2
    shift 2
    rm -f "$scratch/stats"
    LD_LIBRARY_PATH=$path "$program" "$@" > "$scratch/out" 2> "$scratch/log" || echo "status $?"
    grep -q '^right$' "$scratch/out" || cat "$scratch/out"
    grep 'semcache: \(warn\|error\)' "$scratch/log"
}
ours() { # whose, expected (0: ours)
    sed -n "s/^$1: //p" "$scratch/out" | grep -q semcache && found=0 || found=1
    [ $found = "$2" ] || cat "$scratch/out"
}
program=$top_builddir/tests/.libs/alternative
[ -x "$program" ] || program=$top_builddir/tests/alternative

report "$(try "$folder" "$program"; ours program 0)" 'as libblas.so.3 it runs the program'
report "$(grep -q '"offloaded"' "$scratch/stats" && grep -q dgemm "$scratch/stats" ||
    cat "$scratch/stats" "$scratch/log")" 'and offloads its calls'
report "$(grep 'host BLAS: ' "$scratch/log" | grep -q "$scratch" && cat "$scratch/log"
    grep -q 'host BLAS: ' "$scratch/log" || cat "$scratch/log")" 'the host BLAS is not ourselves'
report "$(SEMCACHE_HOST_BLAS=$folder/libblas.so.3; export SEMCACHE_HOST_BLAS; try "$folder" "$program" |
    grep -q 'is no host BLAS (it is semcache itself)' || cat "$scratch/log" "$scratch/out")" 'nor when asked for'

lapack=$(ls /usr/lib/*/lapack/liblapack.so.3 2>/dev/null | head -1)
if [ -n "$lapack" ]; then
    report "$(try "$folder" "$program" "$lapack"; ours lapack 0)" 'the reference LAPACK runs on it'
else
    skip 'no reference LAPACK'
fi

# Runs the commands of doc/install.md in a scratch folder that stands for the system's folder. The alternative goes
# above a second BLAS with Debian's priority for OpenBLAS, and back.
system=$scratch/system
documented() { # the commands' beginning
    sed -n "/$1/,/[^\\\\]\$/p" "$top_srcdir/doc/install.md" | sed "s/.*\($1\)/\1/;s/\`.*//
        s|update-alternatives|& --altdir $system/etc --admindir $system/var --log $system/log|
        s|LIBDIR|$libdir|g;s|/usr/lib/x86_64-linux-gnu|$system/lib|g" | sh 2>&1 | grep -v '^update-alternatives: using'
}
stands_for() { # file
    [ "$(readlink -f "$system/lib/libblas.so.3")" = "$1" ] || ls -l "$system/lib" "$system/etc"
}
if update-alternatives --version > /dev/null 2>&1; then
    mkdir -p "$system/lib" "$system/etc" "$system/var" && : > "$system/other"
    update-alternatives --altdir "$system/etc" --admindir "$system/var" --log "$system/log" --quiet --install \
        "$system/lib/libblas.so.3" libblas.so.3-x86_64-linux-gnu "$system/other" 100
    report "$(stands_for "$system/other"; documented 'update-alternatives --install'
        stands_for "$(readlink -f "$libdir/libsemcache.so.0")")" 'the documented update-alternatives puts it first'
    report "$(try "$system/lib" "$program"; grep -q '"offloaded"' "$scratch/stats" ||
        cat "$scratch/stats" "$scratch/log")" 'a program runs on it, with calls offloaded'
    report "$(documented 'update-alternatives --remove'; stands_for "$system/other")" \
        'and the other command takes it back'
else
    for what in 'update-alternatives puts it first' 'a program on it' 'takes it back'; do
        skip "$what: no update-alternatives here"
    done
fi

# last_now: the program is bound completely, and its table read-only, before the library is loaded.
for order in first last last_now; do
    program=$top_builddir/tests/.libs/linked_$order
    [ -x "$program" ] || program=$top_builddir/tests/linked_$order
    for path in "$libdir" "$folder:$libdir"; do
        report "$(try "$path" "$program"; grep -q '"dgemm": {"offloaded": 1' "$scratch/stats" ||
            cat "$scratch/stats" "$scratch/log")" \
            "-lsemcache $order, --as-needed$([ "$path" = "$libdir" ] || echo ', and as libblas.so.3'): offloaded"
    done
done
program=$top_builddir/tests/.libs/linked_own
[ -x "$program" ] || program=$top_builddir/tests/linked_own
report "$(try "$libdir" "$program"; grep -q '"calls": {}' "$scratch/stats" || cat "$scratch/stats"
    grep -q 'info: the program has a BLAS in itself' "$scratch/log" || cat "$scratch/log")" \
    'a dgemm_ of the program itself is called as ever, and a line says so'

report "$(run_make uninstall-libLTLIBRARIES uninstall-hook; find "$folder" "$libdir"/libsemcache* 2>/dev/null)" \
    'make uninstall takes all of it away'
end
# SPDX-License-Identifier: BSD-2-Clause
