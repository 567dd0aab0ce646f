#!/bin/sh
# Debian packages, built from a release tarball in a clean folder and unpacked into a scratch root. Asserts that every
# package has its files, and that lintian finds no error. No package chooses a BLAS for the system. An example runs on
# devices from the unpacked files alone: under the command, linked through CMake, and with the library as libblas.so.3.
. "$top_srcdir/tests/tap.sh"
for command in dpkg-buildpackage dh cc; do
    command -v $command > /dev/null || { echo "1..0 # SKIP no $command"; exit 0; }
done
[ "${SEMCACHE_TEST_LONG:-0}" = 1 ] || { echo '1..0 # SKIP takes minutes (make check-long)'; exit 0; }
unset MAKEFLAGS MFLAGS MAKELEVEL LD_LIBRARY_PATH LD_PRELOAD DEB_BUILD_OPTIONS
make=${MAKE:-make}
version=$(sed -n 's/^PACKAGE_VERSION = //p' "$top_builddir/Makefile")

report "$("$make" -s -C "$top_builddir" dist-gzip distdir="semcache-$version" > "$scratch/dist" 2>&1 ||
    tail -40 "$scratch/dist")" 'make dist'
tar xzf "$top_builddir/semcache-$version.tar.gz" -C "$scratch" || exit 99
mkdir "$scratch/no-blas"
report "$(cd "$scratch/no-blas" && "../semcache-$version/configure" -q --without-cuda --without-adapters \
    ac_cv_lib_blas_cblas_dgemm=no ac_cv_lib_openblas_cblas_dgemm=no > "$scratch/out" 2>&1
    grep -q 'WARNING: no BLAS to link with: .*jacobi.* install a BLAS .*libopenblas-dev' "$scratch/out" ||
    cat "$scratch/out")" 'configure without a BLAS says which programs are left out, and the remedy'
report "$(cd "$scratch/semcache-$version" && dpkg-buildpackage -us -uc -b > "$scratch/build" 2>&1 ||
    tail -40 "$scratch/build")" 'dpkg-buildpackage -us -uc -b'
cd "$scratch" || exit 99
rules() { (cd "$scratch/semcache-$version" && "$make" -s -f debian/rules packages "$@" 2>&1 | sort); }
rules > expected
for file in ./*.deb; do basename "${file%%_*}"; done | grep -v dbgsym | sort > built
report "$(diff expected built)" 'the packages are those of this machine'
printf '%s\n' libsemcache-dev libsemcache0 semcache-tools > least
report "$(rules TOOLKITS=/nowhere | diff least -)" 'without a toolkit no CUDA package is built'
report "$(DEB_BUILD_PROFILES=pkg.semcache.nocuda; export DEB_BUILD_PROFILES; rules | diff least -)" \
    'nor with the profile'
packages="$(cat least) $(grep '^libsemcache-cuda$' expected)"
root=$scratch/root
report "$(for package in $packages; do dpkg -x "$package"_*.deb "$root" || echo "$package"; done)" 'the packages unpack'

lib=$(cd "$root" && echo usr/lib/*-linux-gnu*)
listed() { # package, files
    package=$1
    shift
    report "$(dpkg -c "$package"_*.deb | sed 's/ -> .*//; s/.* \.\///' > "$scratch/files"
        for file in "$@"; do grep -qx "$file" "$scratch/files" || echo "$file"; done)" "$package has its files"
}
listed libsemcache0 "$lib/libsemcache.so.0" "$lib/semcache/blas/libblas.so.3" "$lib/semcache/blas/libcblas.so.3" \
    usr/share/semcache/machines/h200x8.machine usr/share/doc/libsemcache0/README.Debian
listed libsemcache-dev "$lib/libsemcache.so" "$lib/pkgconfig/semcache.pc" "$lib/cmake/semcache/semcache-config.cmake" \
    usr/include/semcache/semcache.h usr/include/semcache/tasks.h \
    usr/include/semcache/blas_sparse.h 'usr/share/man/man3/semcache.3.gz'
listed semcache-tools usr/bin/semcache usr/libexec/semcache/semcache-replay usr/share/man/man1/semcache.1.gz \
    usr/share/man/man5/semcache-trace.5.gz usr/share/man/man7/semcache.7.gz \
    usr/share/bash-completion/completions/semcache \
    usr/share/zsh/vendor-completions/_semcache usr/share/fish/vendor_completions.d/semcache.fish \
    usr/share/doc/semcache/README.md usr/share/doc/semcache/doc/install.md usr/share/doc/semcache/examples/jacobi.c \
    usr/share/semcache/adapters/python/semcache/__init__.py
case $packages in *cuda*) listed libsemcache-cuda "$lib/semcache/semcache-cuda.so" ;; esac
report "$(for package in ./*.deb; do
    dpkg -e "$package" control && grep -ls 'update-alternatives.*--\(install\|set\)' control/*
    rm -rf control
done)" 'no package chooses a BLAS for the system'
if command -v lintian > /dev/null; then
    report "$(lintian --allow-root --fail-on error --no-tag-display-limit ./*.changes > "$scratch/lintian" 2>&1 ||
        grep '^[EW]' "$scratch/lintian")" 'lintian finds no error'
else
    skip 'no lintian'
fi

# The program is an example from the unpacked documents; the command and the library are the unpacked ones.
blas=$(sed -n 's/^BLAS_LIBS = //p' "$top_builddir/Makefile")
# shellcheck disable=SC2086
report "$(cc -O2 "$root/usr/share/doc/semcache/examples/jacobi.c" -o jacobi ${blas:--lblas} -lm 2>&1)" \
    'the installed example compiles'
offloads() { # title; the statistics are in $scratch/stats
    report "$(grep -q '"offloaded": [1-9]' stats || head -20 out stats)" "$1"
}
semcache=$root/usr/bin/semcache
report "$("$semcache" run -d emu:h200x8:2 -o always -s "$scratch/stats" -t "$scratch/trace" ./jacobi 300 20 \
    > out 2>&1 || cat out)" 'semcache run of the example'
offloads 'its calls ran on devices'
report "$("$semcache" trace check trace > out 2>&1 || cat out)" 'semcache trace check'
report "$("$semcache" trace replay -d emu:k20x2:2 trace > out 2>&1 && grep -q '^calls on devices  *[1-9]' out ||
    cat out)" 'semcache trace replay'
rm -f stats
report "$(LD_LIBRARY_PATH=$root/$lib/semcache/blas SEMCACHE_DEVICE=emu:h200x8:2 SEMCACHE_OFFLOAD=always \
    SEMCACHE_STATS=$scratch/stats ./jacobi 300 20 > out 2>&1 || cat out)" 'the example with the library as libblas.so.3'
offloads 'its calls ran on devices, too'
if command -v cmake > /dev/null; then
    report "$(cmake -S "$top_srcdir/tests/cmake" -B user -Dsemcache_DIR="$root/$lib/cmake/semcache" > out 2>&1 &&
        cmake --build user >> out 2>&1 || cat out)" 'CMake builds with the unpacked files'
    report "$(SEMCACHE_DEVICE=emu:h200x8:2 SEMCACHE_OFFLOAD=always user/user > out 2>&1
        grep -qx "right $version devices" out || cat out)" 'and the program runs'
else
    skip 'no cmake'
fi
end
# SPDX-License-Identifier: BSD-2-Clause
