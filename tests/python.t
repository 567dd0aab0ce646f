#!/bin/sh
# The Python package semcache: under the command with emulated devices and without, without the command, and installed.
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
compiled=$scratch/double_it.so
cc -shared -fPIC -I"$top_srcdir/include" -o "$compiled" "$top_srcdir/tests/python/double_it.c" || exit 99

run() { # title, command
    title=$1
    shift
    "$@" "$python" "$top_srcdir/tests/python/tasks.py" "$compiled" > "$scratch/out" 2> "$scratch/err"
    verdict $? "$title" "$(grep '^not ok' "$scratch/out"; tail -5 "$scratch/out"; cat "$scratch/err")"
}
run 'two devices' "$tool" run --device emu:h200x8:2 --offload always --check
run 'one device, adapters off' env SEMCACHE_ADAPTERS=0 "$tool" run --device emu:h200x8:1 --offload always
run 'no devices' "$tool" run --device none
run 'without the command' env PYTHONPATH="$top_builddir/adapters/built/python" LIBSEMCACHE="$library" \
    SEMCACHE_DEVICE=emu:h200x8:2 SEMCACHE_OFFLOAD=always

# Threads that touch results with Python's lock held, while tasks run.
"$tool" run --device emu:h200x8:2 --offload always timeout 60 "$python" "$top_srcdir/tests/python/threads.py" \
    > "$scratch/out" 2>&1
verdict $? 'threads of Python' "$(cat "$scratch/out")"

case $device in
cuda*)
    if "$python" -c 'import cupy; assert cupy.ones(1)[0]' > /dev/null 2>&1; then
        "$tool" run --device "$device" --offload always "$python" "$top_srcdir/tests/python/reuse.py" \
            > "$scratch/out" 2>&1
        verdict $? "the memory of a token is not reused before the program's kernel has read it" "$(cat "$scratch/out")"
    else
        skip 'no CuPy'
    fi ;;
*) skip 'the memory of a token under a kernel of CuPy: no CUDA device in SEMCACHE_TEST_DEVICE' ;;
esac
end
# SPDX-License-Identifier: BSD-2-Clause
