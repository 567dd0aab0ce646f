#!/bin/sh
# A user's program built against an installed tree that was moved, with CMake's find_package and with pkg-config. The
# program runs with its product on a device. A version that the installed one does not serve is refused.
. "$top_srcdir/tests/tap.sh"
need "$library"
unset MAKEFLAGS MFLAGS LD_LIBRARY_PATH LD_PRELOAD
make=${MAKE:-make}
root=$scratch/moved
mkdir "$scratch/staged"
# The library alone: programs linked with the library would be linked again for the new folder.
report "$("$make" -s -C "$top_builddir" lib_LTLIBRARIES=libsemcache.la prefix=/opt/sc libdir=/opt/sc/lib \
    DESTDIR="$scratch/staged" install-libLTLIBRARIES install-semcacheincludeHEADERS install-cmakeDATA \
    install-pkgconfigDATA > "$scratch/out" 2>&1 || cat "$scratch/out")" 'make install, of the library and its headers'
mv "$scratch/staged/opt/sc" "$root"
version=$(sed -n 's/^PACKAGE_VERSION = //p' "$top_builddir/Makefile")
SEMCACHE_DEVICE=$device SEMCACHE_OFFLOAD=always SEMCACHE_MACHINE_PATH=$top_srcdir/device/emu/machines
SEMCACHE_MODULE_PATH=$top_builddir/.libs
export SEMCACHE_DEVICE SEMCACHE_OFFLOAD SEMCACHE_MACHINE_PATH SEMCACHE_MODULE_PATH

runs() { # program
    "$@" > "$scratch/out" 2> "$scratch/err"
    status=$?
    [ "$(cat "$scratch/out")" = "right $version devices" ] || said
}
configure() { # wanted version
    cmake -S "$top_srcdir/tests/cmake" -B "$scratch/$1" -DCMAKE_PREFIX_PATH="$root" -DWANTED="$1" > "$scratch/out" 2>&1
}
if command -v cmake > /dev/null; then
    report "$(configure "$version" && cmake --build "$scratch/$version" > "$scratch/out" 2>&1 || cat "$scratch/out")" \
        'find_package finds it, and a program builds'
    report "$(runs "$scratch/$version/user")" 'the program runs, on a device'
    report "$(readelf -d "$scratch/$version/user" | grep -q 'NEEDED.*\[libsemcache\.so\.0\]' || echo missing)" \
        'it needs the library by its soname'
    report "$(configure "${version%%.*}" || cat "$scratch/out")" 'the major version alone is served'
    for other in 99.0 "${version%.*}.999"; do
        report "$(! configure "$other" || cat "$scratch/out")" "version $other is refused"
    done
    mv "$root/lib/libsemcache.so.0" "$root/lib/away"
    report "$(rm -rf "${scratch:?}/$version"; ! configure "$version" || cat "$scratch/out"
        tr -s ' \n' ' ' < "$scratch/out" | grep -q 'libsemcache.so.0 or .* is not there' || cat "$scratch/out")" \
        'without the library, a message says what is missing'
    mv "$root/lib/away" "$root/lib/libsemcache.so.0"
else
    skip 'no cmake'
fi
if command -v pkg-config > /dev/null; then
    PKG_CONFIG_PATH=$root/lib/pkgconfig; export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    report "$(${CC:-cc} "$top_srcdir/tests/cmake/user.c" -o "$scratch/user" \
        $(pkg-config --define-variable=prefix="$root" --define-variable=libdir="$root/lib" \
            --define-variable=includedir="$root/include" --cflags --libs semcache) 2>&1)" 'pkg-config: a program builds'
    report "$(LD_LIBRARY_PATH=$root/lib; export LD_LIBRARY_PATH; runs "$scratch/user")" 'and runs'
    report "$([ "$(pkg-config --modversion semcache)" = "$version" ] || pkg-config --modversion semcache)" 'its version'
else
    skip 'no pkg-config'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
