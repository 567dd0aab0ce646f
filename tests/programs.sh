#!/bin/sh
# Runs real programs under semcache and prints a table. Asserts that every program prints the same as without semcache,
# and prints no additional line on stderr.
#
#     tests/programs.sh [-b BUILD] [-d DEVICE] [NAME...]      (in the source tree; default: all, in ., on emu:h200x8:2)
#
# The programs come from packages (Debian's names); missing programs are named and left out. Each runs three times:
# without semcache, with SEMCACHE_OFFLOAD=auto, and with SEMCACHE_OFFLOAD=always; the last two with SEMCACHE_CHECK=1.
# The exit status is 1 if a run differs.
sources=$(cd "$(dirname "$0")" && pwd)/programs
build=. device=emu:h200x8:2
while getopts b:d: option; do
    case $option in
    b) build=$OPTARG ;;
    d) device=$OPTARG ;;
    *) echo "usage: $0 [-b BUILD] [-d DEVICE] [NAME...]" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
tool=$(cd "$build" && pwd)/tools/semcache
[ -x "$tool" ] || { echo "$0: $tool was not built" >&2; exit 2; }
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
# Emulated devices and the threads of OpenBLAS compete for the same cores.
OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
export PYTHONDONTWRITEBYTECODE LC_ALL OPENBLAS_NUM_THREADS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
    OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle
python=/usr/bin/python3 # the distribution's, which uses the distribution's BLAS

# --- the programs: have_NAME prints missing packages, start_NAME "$@" runs the program behind the words "$@" ----------
have_python() { $python -c "import $1" 2>/dev/null || echo "python3-$1"; }
have_command() { command -v "$1" >/dev/null || echo "$2"; }

have_numpy() { have_python numpy; }
start_numpy() { "$@" $python "$sources/numpy_dense.py"; }

# SciPy's own tests of its linear algebra, with a process for each file.
have_scipy() { have_python scipy; have_python pytest; }
start_scipy() {
    tests=$($python -c 'import scipy.linalg, os; print(os.path.dirname(scipy.linalg.__file__))')/tests
    for part in "$tests"/test_*.py; do
        "$@" $python -m pytest -q -p no:cacheprovider -W ignore "$part" | sed 's/ in [0-9.]*s.*//'
    done
}

have_r() { have_command Rscript r-base-core; }
start_r() { "$@" Rscript "$sources/r.R"; }

have_octave() { have_command octave-cli octave; }
start_octave() { "$@" octave-cli -q --eval "run ('$sources/octave.m'); quit"; }

have_cholmod() { [ -f /usr/include/suitesparse/cholmod.h ] || echo libsuitesparse-dev; }
start_cholmod() {
    ${CC:-cc} -o cholmod "$sources/cholmod.c" -lcholmod || return
    "$@" ./cholmod
}

have_arpack() { ls /usr/lib/*/libarpack.so >/dev/null 2>&1 || echo libarpack2-dev; }
start_arpack() {
    ${CC:-cc} -o arpack "$sources/arpack.c" -larpack -lblas -lm || return
    "$@" ./arpack
}

# HPL and DGEMM are two of HPCC's benchmarks; HPCC's benchmarks of network and memory run as well.
have_hpcc() { have_command hpcc hpcc; }
start_hpcc() {
    cp "$sources/hpccinf.txt" . && rm -f hpccoutf.txt && "$@" hpcc
    status=$?
    grep -E 'tests completed|errors in|Solution Validates|End of' hpccoutf.txt
    sed -n 's/^||Ax-b.*\.\.\. /HPL residual: /p' hpccoutf.txt
    return $status
}

# The same by four processes on a grid.
have_hpcc4() { have_hpcc; }
start_hpcc4() {
    sed 's/^1  *\([PQ]s\)$/2            \1/' "$sources/hpccinf.txt" > hpccinf.txt
    rm -f hpccoutf.txt && mpirun -n 4 "$@" hpcc
    status=$?
    grep -E 'tests completed|errors in|Solution Validates|End of' hpccoutf.txt
    sed -n 's/^||Ax-b.*\.\.\. /HPL residual: /p' hpccoutf.txt
    return $status
}

have_scalapack() { ls /usr/lib/*/libscalapack-openmpi.so >/dev/null 2>&1 || echo libscalapack-openmpi-dev; }
start_scalapack() {
    mpicc.openmpi -o scalapack "$sources/../mpi/scalapack.c" -lscalapack-openmpi -lblas -lm || return
    mpirun.openmpi -n 4 "$@" ./scalapack - 300
}

have_petsc() { pkg-config --exists PETSc || echo libpetsc-real-dev; }
start_petsc() {
    mpicc.openmpi -o petsc "$sources/../mpi/petsc.c" $(pkg-config --cflags --libs PETSc) -lm || return
    mpirun.openmpi -n 4 "$@" ./petsc - 60
}

# PETSc's own examples of KSP on four processes, which print the errors of their solutions.
petsc_examples() { ls -d /usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials 2>/dev/null | tail -1; }
have_petsc_ksp() {
    pkg-config --exists PETSc || echo libpetsc-real-dev
    [ -n "$(petsc_examples)" ] || echo libpetsc3.18-dev-examples
}
start_petsc_ksp() {
    for example in 'ex2 -m 40 -n 40' 'ex5 -m 30' 'ex7 -m 20 -n 20' ex9 ex15 'ex16 -ksp_type cg' \
        'ex45 -da_refine 1 -ksp_monitor_short'; do
        source=${example%% *} options=${example#"${example%% *}"}
        [ -x "$source" ] || mpicc.openmpi -o "$source" "$(petsc_examples)/$source.c" \
            $(pkg-config --cflags --libs PETSc) -lm || return
        echo "$example:" && mpirun.openmpi -n 4 "$@" "./$source" $options || return
    done
}

# --- the table -------------------------------------------------------------------------------------------------------
# on_devices FILE: number of offloaded calls, summed over the statistics of every process of the run.
on_devices() {
    cat "$1"* 2>/dev/null | sed -n 's/.*"offloaded": \([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# verdict NAME OFFLOAD: runs the program under semcache, and prints how its output differs from the run without
# semcache.
verdict() {
    rm -f stats*
    "start_$1" env SEMCACHE_CHECK=1 "$tool" run --device "$device" --offload "$2" --stats "$scratch/stats.%p" \
        >"$1.$2.out" 2>"$1.$2.err"
    status=$?
    calls=$(on_devices stats)
    if [ $status -ne "$(cat "$1.status")" ]; then verdict="status $status"
    elif ! cmp -s "$1.out" "$1.$2.out"; then verdict='other output'
    elif ! cmp -s "$1.err" "$1.$2.err"; then verdict='other messages'
    else verdict=same; return 0; fi
    diff "$1.out" "$1.$2.out" | head -10 >&2
    diff "$1.err" "$1.$2.err" | head -10 >&2
    return 1
}

failed=0
echo '| program | auto | calls on devices | always | calls on devices |'
echo '| --- | --- | --- | --- | --- |'
for name in ${*:-numpy scipy r octave arpack cholmod hpcc hpcc4 scalapack petsc petsc_ksp}; do
    missing=$("have_$name")
    if [ -n "$missing" ]; then
        echo "| $name | not here:" $missing "| | | |"
        continue
    fi
    "start_$name" env >"$name.out" 2>"$name.err"
    echo $? >"$name.status"
    row="| $name"
    for offload in auto always; do
        verdict "$name" $offload || failed=1
        row="$row | $verdict | $calls"
    done
    echo "$row |"
done
exit $failed
# SPDX-License-Identifier: BSD-2-Clause
