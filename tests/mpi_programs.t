#!/bin/sh
# Programs and libraries on top of MPI, with results on devices: Fortran, Python, ScaLAPACK, PETSc. Launchers run under
# semcache as well.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/mpi.sh"
sources=$top_srcdir/tests/mpi

# Name, compiler, arguments; on failure skips with the compiler's message.
built() {
    name=$1
    shift
    command -v "$1" >/dev/null 2>&1 && "$@" -O1 -o "$scratch/$name" > "$scratch/cc" 2>&1 && return
    skip "$family, $name: $(head -1 "$scratch/cc" 2>/dev/null)"
    rm -f "$scratch/cc"
    return 1
}
ran() { # title, at least so many calls on devices, ranks, program...
    title=$1 least=$2
    shift 2
    report "$(try "$@")" "$family, $title"
    report "$(on_devices "$least")" "$family, $title: on devices"
}

# Launchers and their helpers stay unchanged: they print no message, and only the ranks open devices.
launched() {
    timeout -k 5 100 "$tool" run --device "$device" --offload always --check --stats "$scratch/stats.%p" \
        "$mpirun" -n 2 "$scratch/launched" > "$scratch/out" 2> "$scratch/err" || echo "status $?"
    complaints
    opened=$(cat "$scratch"/stats.* | tr -d '\n ' | grep -o '"devices":\["' | wc -l)
    [ "$opened" -eq 2 ] || echo "$opened processes opened devices"
    rm -f "$scratch"/stats.*
}

for family in openmpi mpich; do
    mpicc=$(command_of $family mpicc) mpif90=$(command_of $family mpif90) mpirun=$(command_of $family mpirun)
    [ -n "$mpicc" ] && [ -n "$mpirun" ] || continue
    ! built launched "$mpicc" "$sources/launched.c" -lblas ||
        report "$(launched)" "$family, the launcher preloaded"
    ! built fortran "${mpif90:-mpif90}" "$sources/fortran.f90" -lblas ||
        ran Fortran 10 2 "$scratch/fortran"
    ! built scalapack "$mpicc" "$sources/scalapack.c" -lscalapack-$family -lblas -lm ||
        ran ScaLAPACK 200 4 "$scratch/scalapack" - 110
done

# Debian's PETSc and mpi4py are built with Open MPI.
family=openmpi mpicc=$(command_of openmpi mpicc) mpirun=$(command_of openmpi mpirun)
if [ -n "$mpirun" ]; then
    if pkg-config --exists PETSc 2>/dev/null; then
        ! built petsc "${mpicc:-mpicc}" "$sources/petsc.c" $(pkg-config --cflags --libs PETSc) -lm ||
            ran PETSc 200 4 "$scratch/petsc" - 12
    else
        skip 'no PETSc (Debian: libpetsc-real-dev)'
    fi
    if /usr/bin/python3 -c 'import mpi4py, scipy' 2>/dev/null; then
        ran mpi4py 4 2 /usr/bin/python3 "$sources/python.py"
    else
        skip 'no mpi4py with SciPy (Debian: python3-mpi4py python3-scipy)'
    fi
fi
[ $count -gt 0 ] || { echo '1..0 # SKIP no MPI (Debian: libopenmpi-dev or libmpich-dev)'; exit 0; }
end
# SPDX-License-Identifier: BSD-2-Clause
