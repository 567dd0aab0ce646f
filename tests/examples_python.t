#!/bin/sh
# examples/fixed_point.py: an own kernel on NumPy arrays that stay.  NumPy's step on emulated devices and on the host;
# the kernels of CuPy and Numba on a CUDA device.
#
# SEMCACHE_TEST_PYTHON: a python with numpy (default: the first of /usr/bin/python3 and the path).
. "$top_srcdir/tests/tap.sh"
need "$library"
for python in $SEMCACHE_TEST_PYTHON /usr/bin/python3 python3; do
    "$python" -c 'import numpy; numpy.from_dlpack' > /dev/null 2>&1 && break
    python=
done
[ "$python" ] || { echo '1..0 # SKIP no python3 with numpy 1.22'; exit 0; }
export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1

run() { # place as the program names it, arguments of the program, --, options of semcache run
    place=$1 package=$2
    shift 2
    "$tool" run "$@" --offload always "$python" "$top_srcdir/examples/fixed_point.py" "$package" 400 40 \
        > "$scratch/out" 2> "$scratch/err"
    verdict $? "$package, $*" "$(cat "$scratch/out" "$scratch/err")"
    report "$(grep -v " on $place:.* to devices 0, to the host 0 ok\$" "$scratch/out")" \
        "$package, $*: the arrays stay at the place"
}
probe() { # a kernel without semcache: a package may not fit NumPy's version
    case $1 in
    cupy) "$python" -c 'import cupy; assert cupy.tanh(cupy.zeros(1))[0] == 0' ;;
    numba) "$python" -c 'from numba import cuda; cuda.jit("void(float64[:])")(lambda x: None)' ;;
    esac
}
run 'device 0' numpy --device emu:h200x8:1 --check
run 'device [01]' numpy --device emu:h200x8:2
run 'the host' numpy --device none
for package in cupy numba; do
    case $device in
    cuda*)
        if probe $package > /dev/null 2>&1; then
            run 'device [0-9]*' $package --device "$device"
        else
            skip "no $package that compiles a kernel"
        fi ;;
    *) skip "$package: no CUDA device in SEMCACHE_TEST_DEVICE" ;;
    esac
done
end
# SPDX-License-Identifier: BSD-2-Clause
