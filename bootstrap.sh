#!/bin/sh
# From a bare Debian 12 or Ubuntu 24.04 to a result:
#   ./bootstrap.sh demo      an unmodified Jacobi and CG run with resident data, and a report.
#   ./bootstrap.sh check     the tests.
#   ./bootstrap.sh build     only the build.
# Further arguments go to configure.  The build is in build/ (or $BUILD).
set -eu
exec </dev/null # the script reads no input; libtool fails where stdin is closed

PACKAGES="gcc make autoconf automake libtool pkg-config gfortran perl valgrind libsigsegv-dev libdw-dev\
 libopenblas-dev libsuitesparse-dev librsb-dev"

srcdir=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$srcdir/build}
assertions= # argument of configure for builds that tests run on
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '%s\n' "bootstrap: $*" >&2; }
die() { say "$*"; exit 1; }

# Commands that a build needs.  Without the remaining packages the build has fewer parts and tests.
COMMANDS="gcc make autoreconf aclocal libtoolize perl prove"

# Prints the packages that are not installed.
missing_packages() {
    for package in $PACKAGES; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || printf '%s ' "$package"
    done
}

install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: going on with what is here (wanted: $PACKAGES)"
        return
    fi
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" = 0 ]; then
        say "installing: $missing"
        export DEBIAN_FRONTEND=noninteractive
        # Package lists may be old or absent: a failure to install is tried again with fresh ones.
        # shellcheck disable=SC2086
        apt-get install -y -q --no-install-recommends $missing >/dev/null 2>&1 ||
            { apt-get update -q >/dev/null && apt-get install -y -q --no-install-recommends $missing >/dev/null; } ||
            true
        missing=$(missing_packages)
        [ -n "$missing" ] || return 0
        missing="apt-get could not install: $missing"
    else
        missing="missing packages, to be installed by root: apt-get update &&\
 apt-get install --no-install-recommends $missing"
    fi
    for command in $COMMANDS; do
        command -v "$command" >/dev/null || die "$missing"
    done
    say "$missing"
    say "going on without"
}

# Prints the CUDA toolkit's folder, if found.
find_cuda() {
    if command -v nvcc >/dev/null; then
        nvcc=$(command -v nvcc)
        set -- "$(dirname "$(dirname "$(readlink -f "$nvcc")")")"
    else
        set --
    fi
    for folder in "${CUDA_HOME:-}" "$@" /usr/local/cuda /usr/local/cuda-[0-9]* /opt/cuda /usr/lib/cuda; do
        if [ -n "$folder" ] && [ -e "$folder/include/cublas_v2.h" ]; then
            echo "$folder"
            return
        fi
    done
}

build_all() {
    install_packages
    [ -x "$srcdir/configure" ] || (cd "$srcdir" && autoreconf -fi >/dev/null 2>&1) ||
        (cd "$srcdir" && autoreconf -fi) || die "autoreconf failed"
    [ ! -e "$srcdir/config.status" ] || die "$srcdir was configured in place: run 'make distclean' there first"
    mkdir -p "$build"
    cd "$build"
    if [ ! -e config.status ] || [ $# -gt 0 ] || ! grep -qe "$assertions" config.status; then
        cuda=$(find_cuda)
        [ ! -e Makefile ] || make -s clean >/dev/null # objects do not depend on the flags of the compiler
        "$srcdir/configure" -q ${cuda:+"--with-cuda=$cuda"} $assertions "$@"
    fi
    make -s -j"$jobs"
}

# Runs an example under semcache, and prints the moved bytes.
show() {
    device=$1
    shift
    stats=$build/demo-stats.json
    rm -f "$stats"
    echo "\$ semcache run --device $device $*"
    tools/semcache run --device "$device" --stats "$stats" "$@"
    perl "$srcdir/examples/report.pl" "$stats"
    echo
}

demo() {
    device=emu:h200x8:2 size=4000
    if [ -e /dev/nvidiactl ] && [ -e semcache-cuda.la ]; then
        device=cuda size=20000
        export SEMCACHE_OPEN=first # otherwise the host computes a third of the calls
    fi
    show $device examples/jacobi $size 100
    show $device examples/cg $size 200
}

verb=${1:-}
[ $# -eq 0 ] || shift
case $verb in
demo) build_all "$@" && demo ;;
check) assertions=--enable-assertions
    build_all "$@" && make -s -j"$jobs" check TESTS= >/dev/null && exec make -s --no-print-directory prove ;;
build) build_all "$@" ;;
*) die "usage: ./bootstrap.sh demo|check|build [configure arguments]" ;;
esac
# SPDX-License-Identifier: BSD-2-Clause
